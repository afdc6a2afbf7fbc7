/* SPDX-License-Identifier: Apache-2.0 */
/* Where a reflector gets its objects: a table that can list and watch. The usual one asks an API
 * server through a transport (ki_source_http_new); a program may give its own, to keep a cache of
 * whatever has names and versions. Most programs need no table of their own for that: see
 * local_source.h.
 *
 * The code of an error, whether it is returned or passed to on_end or on_event, decides what the
 * reflector does next. It always goes on; the wait is a back-off of 0.8 s to 60 s, or
 * `retry_after_s` if that is longer, up to 75 s. "Resume" means a watch from the last version.
 *
 *   code                            after a list     after a streaming list       after a watch
 *   connection: any -errno for      wait, list       if it had events or lived    resume; at once
 *     which ki_error_is_                             for 1 s: again, the second   if it had events,
 *     retriable() is true,                           time list; else wait         or was accepted
 *     -EPROTO, -EIO,                                 and stream                   and lived for
 *     KI_ERR_CUT                                                                  1 s, else wait
 *   unreachable: -ECONNREFUSED      wait, list       wait, stream                 wait, resume
 *   resources: -ENOMEM, -EMFILE,    wait, list       wait, stream                 wait, resume
 *     -ENFILE, -ENOBUFS,
 *     KI_ERR_BUSY
 *   KI_ERR_STATUS with 429          wait, list       wait, stream                 wait, resume
 *   KI_ERR_STATUS with 410, or      list at once     stream at once without a     wait, list
 *     "too large" version           without a        version; the second time
 *                                   version, once    list
 *   final: KI_ERR_STATUS with 401   wait, list       wait, stream                 wait, list
 *     or 404, KI_ERR_TLS,
 *     KI_ERR_DENIED
 *   refusal: every other code,      wait, list       list at once: a fallback,    wait, list
 *     any other KI_ERR_STATUS                        not reported as a failure
 *     included
 *
 * So an error that may pass by itself should be a -errno: anything else makes the reflector give up
 * its watch and list again. ki_failure_classify() in reflector.h names its class. */
#ifndef KINFORMER_PARTS_SOURCE_H
#define KINFORMER_PARTS_SOURCE_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/list.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/transport.h>
#include <kinformer/parts/watch_event.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** What a list says of itself. */
typedef struct ki_list_meta {
    const char *resource_version;
    const char *continue_token; /* "" after the last page */
    int64_t remaining;          /* how many objects are left, if the server said; else -1 */
} ki_list_meta;

/** Who hears of a list or a watch; called inside ki_engine_run() only, never from inside the
 *  functions of the source. What they point to is valid during the call only; take references. Any
 *  function of the source may be called from inside them. */
typedef struct ki_source_sink {
    /** An object of a list (type KI_WATCH_EVENT_ADDED), or an event of a watch. A bookmark has an
     * object with a resource version. An error event has `error`, and `object` is the Status. */
    void (*on_event)(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user);
    /** An object or event that could not be read; the others go on. `key` and `resource_version`
     *  are "" and `type` is KI_WATCH_EVENT_MAX if not even they could be. Never for want of memory:
     * that ends the call. */
    void (*on_skipped)(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user);
    /** Bytes came, of whatever meaning: the connection lives. Also with 0, once, when a request is
     *  accepted and its answer is on the way. Without that, a watch counts as accepted with its
     *  first event; one that never was is resumed after a wait, however long it lasted. */
    void (*on_alive)(size_t bytes, void *user);
    /** An attempt failed, and the source will make the request again by itself after `delay_ns`;
     *  the call goes on. For reports only. Only if on_retry is not NULL. */
    void (*on_retry)(const ki_error *error, const ki_object *status, uint64_t delay_ns, void *user);
    /** The last call. A list that is complete has `meta`; a watch that ended in order has neither.
     *  `status` is the Status that `error` was made of, or NULL. With KI_ERR_NO_SCHEMA the source
     *  says that it has changed to another encoding: a reflector makes the same request again at
     *  once, the first time. */
    void (*on_end)(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user);
    void *user;
} ki_source_sink;

/** The table. All functions but `destroy` are called inside ki_engine_run(). */
typedef struct ki_source {
    /** Begins; *ret_call names it until on_end or cancel. A failure that is known at once may be
     *  returned; then nothing of the sink is called. */
    int (*list)(const ki_list_options *options, const ki_source_sink *sink, void *user,
                void **ret_call, ki_error *error);
    int (*watch)(const ki_list_options *options, const ki_source_sink *sink, void *user,
                 void **ret_call, ki_error *error);
    /** Ends a call at any moment, also from inside the sink: nothing of it is called any more. */
    void (*cancel)(void *call, void *user);
    /** Stops giving events, or goes on; some may still come. May be NULL. */
    void (*pause)(void *call, bool paused, void *user);
    bool no_streaming_list; /* it cannot send initial events on a watch: always list */
    bool metadata_only;     /* it gives PartialObjectMetadata, whatever the resource is */
    /** What is listed and watched, for logs: a URL without query and credentials. NULL: unknown.
     *  Lives as long as the source. */
    const char *url;
    void *user;
    void (*destroy)(void *user); /* may be NULL; runs when nobody uses the source any more */
} ki_source;

typedef struct ki_source_http_options {
    size_t size;                    /* see KI_OPTIONS_INIT */
    ki_engine *engine;              /* required */
    const ki_transport *transport;  /* required; copied */
    const ki_resource *resource;    /* required */
    const char *name_space;         /* NULL or "": all */
    bool json_only;                 /* false: protobuf where the schema tables know the kind */
    bool json_if_incomplete;        /* as soon as an object has fields that the schema tables do not
                                       know (ki_object_is_complete()), all requests ask for JSON
                                       instead; such an object is never given, and is reported to
                                       the engine once, with KI_ERR_NO_SCHEMA */
    bool metadata_only;             /* PartialObjectMetadata instead of whole objects */
    size_t max_object_bytes;        /* 0: 16 MiB */
    uint64_t watch_idle_timeout_ns; /* a watch without a byte for so long is dead; 0: no limit */
} ki_source_http_options;

/** A source that lists and watches a resource of an API server.
 *  Owner:  release by handing it to a reflector or an informer, or by its own `destroy`.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL, -ENOMEM, -E2BIG;  KI_ERR_INVALID  the namespace.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_source_http_new(const ki_source_http_options *options,
                                           ki_source *ret_source, ki_error *error);

KI_END_DECLS

#endif

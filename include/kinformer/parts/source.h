/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: where a reflector gets its objects, as a table of functions that list and watch. The
 * usual source requests them from an API server through a transport (ki_source_http_new()); a
 * program may provide its own, to cache anything that has names and versions. Most programs do not
 * need their own table for that: see local_source.h.
 *
 * The code of an error, whether it is returned or passed to on_end or on_event, determines what the
 * reflector does next. It never gives up. A wait is a backoff of 0.8 s to 60 s, or `retry_after_ms`
 * if that is longer, up to 75 s. "Resume" means a watch from the last resourceVersion.
 * A code "with 404" has that http_code, or a reason that belongs to it; KI_ERR_NOT_FOUND without
 * either is a refusal.
 *
 *   code                            after a list     after a streaming list       after a watch
 *   connection: any -errno for      wait, list       if it had events or lasted   resume; at once
 *     which ki_error_is_                             1 s: stream again, the       if it had events,
 *     retriable() is true,                           second time list;            or was accepted
 *     -EPROTO, -EIO,                                 otherwise wait, stream       and lasted 1 s,
 *     KI_ERR_TRUNCATED                                                            otherwise wait
 *   unreachable: -ECONNREFUSED      wait, list       wait, stream                 wait, resume
 *   resources: -ENOMEM, -EMFILE,    wait, list       wait, stream                 wait, resume
 *     -ENFILE, -ENOBUFS,
 *     KI_ERR_BUSY
 *   KI_ERR_STATUS with 429          wait, list       wait, stream                 wait, resume
 *   KI_ERR_STATUS with 410, or      list at once     stream at once without a     wait, list
 *     "too large" version           without a        version; the second time
 *                                   version, once    list
 *   final: KI_ERR_STATUS with 401,  wait, list       wait, stream                 wait, list
 *     KI_ERR_NOT_FOUND with 404,
 *     KI_ERR_TLS, KI_ERR_DENIED
 *   refusal: every other code,      wait, list       list at once: a fallback,    wait, list
 *     including any other                            not reported as a failure
 *     KI_ERR_STATUS
 *
 * Transient errors should therefore be a -errno: any other code makes the reflector drop its watch
 * and relist. ki_failure_classify() in reflector.h returns the class of a code. */
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

/** The metadata of a list. */
typedef struct ki_list_meta {
    size_t size; /* see KI_OPTIONS_INIT */
    const char *resource_version;
    const char *continue_token; /* "" after the last page */
    int64_t remaining; /* number of remaining objects, if the server sent it; otherwise -1 */
} ki_list_meta;

/** The callbacks that receive a list or a watch. Called inside ki_engine_run() only, never from
 *  inside the functions of the source. What they point to is valid during the call only; take
 *  references. They may call any function of the source. */
typedef struct ki_source_sink {
    size_t size; /* see KI_OPTIONS_INIT */
    /** An object of a list (type KI_WATCH_EVENT_ADDED), or an event of a watch. A bookmark has an
     *  object with a resourceVersion. An error event has `error`, and `object` is the Status. */
    void (*on_event)(ki_watch_event_type type, const ki_object *object, const ki_error *error,
                     void *user);
    /** An object or event was skipped because it could not be decoded. `key` and `resource_version`
     *  are "", and `type` is KI_WATCH_EVENT_MAX, if they could not be decoded either. Not called if
     *  memory runs out: that ends the call. */
    void (*on_skipped)(ki_watch_event_type type, const char *key, const char *resource_version,
                       const ki_error *error, void *user);
    /** Bytes of any kind were received: the connection is alive. Also called once with 0 when the
     *  request has been accepted and a response is on its way. Without that, a watch counts as
     *  accepted with its first event; a watch that was never accepted is resumed after a wait,
     *  however long it lasted. */
    void (*on_alive)(size_t bytes, void *user);
    /** An attempt failed, and the source will repeat the request after `delay_ms`; the call
     *  continues. For reports only. May be NULL. */
    void (*on_retry)(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user);
    /** The last callback. A complete list has `meta`; a watch that ended normally has neither
     *  `meta` nor `error`. `status` is the Status that `error` was made from, or NULL.
     *  KI_ERR_NO_SCHEMA means that the source has switched to another encoding: a reflector repeats
     *  the same request at once, the first time. */
    void (*on_end)(const ki_list_meta *meta, const ki_error *error, const ki_object *status,
                   void *user);
    void *user;
} ki_source_sink;

/** A source. All functions except `destroy` are called inside ki_engine_run(). */
typedef struct ki_source {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Start a list or a watch. *ret_call identifies the call until on_end or cancel. A failure
     *  that is known at once may be returned; then no callback of the sink is called. */
    int (*list)(const ki_list_options *options, const ki_source_sink *sink, void *user,
                void **ret_call, ki_error *error);
    int (*watch)(const ki_list_options *options, const ki_source_sink *sink, void *user,
                 void **ret_call, ki_error *error);
    /** Cancels a call at any time, also from inside the sink: no callback is called any more. */
    void (*cancel)(void *call, void *user);
    /** Pauses or resumes the delivery of events; some may still arrive. May be NULL. */
    void (*pause)(void *call, bool paused, void *user);
    bool no_streaming_list; /* initial events on a watch are not supported: always list */
    bool metadata_only;     /* returns PartialObjectMetadata for every resource */
    /** What is listed and watched, for logs: a URL without query and credentials. NULL: unknown.
     *  Must be valid as long as the source. */
    const char *url;
    void *user;
    void (*destroy)(void *user); /* may be NULL; called when the source is no longer used */
} ki_source;

typedef struct ki_source_http_options {
    size_t size;                   /* see KI_OPTIONS_INIT */
    ki_engine *engine;             /* required */
    const ki_transport *transport; /* required; copied */
    const ki_resource *resource;   /* required */
    const char *name_space;        /* NULL or "": all */
    bool json_only;                /* false: protobuf for kinds that the schema tables know */
    bool json_if_incomplete; /* switch to JSON for all requests as soon as an object has fields that
                                the schema tables do not know (ki_object_is_complete()); such an
                                object is never delivered, and is reported to the engine once, with
                                KI_ERR_NO_SCHEMA */
    bool metadata_only;      /* PartialObjectMetadata instead of whole objects */
    size_t max_object_bytes; /* 0: 16 MiB */
    uint64_t watch_idle_timeout_ms; /* limit for a watch without any received byte; 0: no limit */
} ki_source_http_options;

/** Creates a source that lists and watches a resource of an API server.
 *  Owner:  caller; pass it to a reflector or an informer, or call its `destroy`.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL, -ENOMEM, -E2BIG;  KI_ERR_INVALID  the namespace.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_source_http_new(const ki_source_http_options *options,
                                           ki_source *ret_source, ki_error *error);

KI_END_DECLS

#endif

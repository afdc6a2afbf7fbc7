/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer: one up-to-date cache of one resource, for any number of handlers.
 *
 * A reflector lists and watches the source and adds changes to a queue; each batch of the queue
 * becomes one version of the store, and is queued for every handler, in order. All of this runs on
 * the client's thread (client.h). Callbacks of handlers run by default on threads that handlers
 * share; ki_delivery in handler.h selects this per handler. All functions may be called on any
 * thread, including callbacks, unless stated otherwise. */
#ifndef KINFORMER_INFORMER_H
#define KINFORMER_INFORMER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/lister.h>
#include <kinformer/queue_kind.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/storage.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_informer ki_informer;
typedef struct ki_engine ki_engine;               /* <kinformer/parts/engine.h> */
typedef struct ki_source ki_source;               /* <kinformer/parts/source.h> */
typedef struct ki_index ki_index;                 /* <kinformer/index.h> */
typedef struct ki_watch_failure ki_watch_failure; /* <kinformer/health.h> */

/** Stores the object to keep instead in *ret_object (a reference; ki_object_ref(object) to keep
 *  it). It must have the same key, and should have the same uid and resourceVersion, by which a
 *  relist detects unchanged objects. Called once for each object of a list or an event, as soon as
 *  it is decoded, so that lists never need memory for all original objects; in order, on the
 *  client's thread, with no lock held.
 *
 *  After a retriable error (ki_error_is_retriable(), such as -ENOMEM) the list or the event is
 *  repeated later. After any other error, and for another key (KI_ERR_KEY) or no object
 *  (KI_ERR_INVALID), the object is skipped and reported with its key, and the store keeps its
 *  previous state. A deletion is not lost: it is delivered with the object unchanged. */
typedef int (*ki_transform)(const ki_object *object, ki_object **ret_object, void *user);

/** Called for every failed attempt to list or watch, on the client's thread: including attempts
 *  that are retried automatically, but not for a watch that the server had accepted and that is
 *  resumed at once, nor for a fallback (from a streaming list to a list, or to a list without a
 *  resourceVersion). Failures are logged with or without it. */
typedef void (*ki_watch_error_handler)(ki_informer *informer, const ki_watch_failure *failure,
                                       void *user);

/** What an informer does when its memory, or that of its factory, would exceed `max_bytes`. */
typedef enum ki_at_limit {
    /** It keeps its store as it is, which remains readable, reports that it is over its limit
     *  (`over_limit` of ki_health, on_report, on_watch_error, the log, checks and metrics), and
     *  lists again after a backoff, until the list fits. An initial list that does not fit is
     *  never reported as synced. */
    KI_AT_LIMIT_REFUSE,
    /** Objects become partial (ki_object_is_partial()): their name, namespace, uid,
     *  resourceVersion, generation, times, labels and owner references remain, as far as `keep` and
     *  `drop` keep them. `reduction` of ki_health is KI_REDUCTION_METADATA then. An index function
     *  that fails for such an object gives it no values. Whole objects are listed again, and
     *  delivered as updates, when they would use at most 3/4 of the limit. If metadata does not fit
     *  either: as above. */
    KI_AT_LIMIT_METADATA,
    /** Storage becomes KI_STORAGE_PACKED, and remains it. If packed objects do not fit either: as
     *  above. KI_ERR_UNSUPPORTED if the library was built without libzstd. */
    KI_AT_LIMIT_PACK,
    KI_AT_LIMIT_MAX
} ki_at_limit;

typedef struct ki_informer_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    ki_engine *engine;       /* NULL for informers of a client or factory; else required; kept by
                                reference */
    const ki_source *source; /* as engine; copied; owned by the informer on success */
    const ki_resource *resource; /* of the objects; NULL: unknown, any kind of object is accepted */
    const char *name;            /* for logs and reports; NULL: that of the resource */
    const char *label_selector;  /* NULL: every object */
    const char *field_selector;  /* NULL: every object */
    const char *shard_selector;  /* NULL: every object; see shard.h */
    const char *name_space;      /* only objects of this namespace; NULL or "": of all. Only for
                                    informers of a client or factory: with `source` NULL */
    uint32_t resync_ms;          /* period after which all objects are delivered again; 0: never */

    /** As in ki_store_options, in addition to the index by namespace. */
    const ki_index *const *indexes;
    size_t index_count;
    bool no_namespace_index;

    /** Which fields of objects are kept in memory, as lists of paths, such as ".spec.nodeName,
     *  .status.phase"; NULL: all. See projection.h. Handlers, indexes and `transform` receive
     *  partial objects. An update that changes no kept field besides resourceVersion is stored but
     *  not delivered, and counted (`suppressed` of ki_health), unless deliver_unkept is set. */
    const char *keep;
    const char *drop;
    bool deliver_unkept;

    ki_storage storage; /* how objects are kept in memory: see storage.h */
    /** Most memory of the informer, in bytes: objects, indexes, old versions held by readers,
     *  queues, and data being decoded; 0: no limit. See memory.h and docs/memory.md. */
    uint64_t max_bytes;
    ki_at_limit at_limit; /* what happens then */

    ki_queue_kind queue; /* default: in order of arrival */
    ki_transform transform;
    void *transform_user;
    ki_watch_error_handler on_watch_error; /* in addition to the log; may be NULL */
    void *watch_error_user;

    /* For the reflector, as in ki_reflector_options; zero is the default. */
    bool no_streaming;
    bool allow_stale_start;
    uint32_t page_size;
    uint32_t min_watch_timeout_ms;

    /** For debugging: keeps a checksum of each object and reports objects whose memory was
     *  modified, when they are replaced or deleted and at each resync. */
    bool check_mutations;
    /** For debugging: records who holds snapshots and lists of the store, and since when; see
     *  ki_store_reader() in memory.h. */
    bool track_readers;
} ki_informer_options;

/** Takes and releases references. A started informer stays alive until it has stopped, even
 *  without references. ki_informer_unref() always returns NULL; both accept NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_informer *ki_informer_ref(ki_informer *informer);
KI_API ki_informer *ki_informer_unref(ki_informer *informer);

/** Starts the informer, which runs on the client's thread. For informers of a client,
 *  ki_client_start() does this.
 *  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it was already started;  KI_ERR_STOPPED  it cannot be started again;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_start(ki_informer *informer, ki_error *error);

/** Stops the informer permanently. Its handlers are removed, as by ki_registration_remove(): a
 *  callback that another thread was about to call may still start, but no other; queued events are
 *  dropped. The stop is complete, and no callback runs or starts, when ki_informer_is_stopped()
 *  returns true. The store remains readable. Stopping twice is allowed.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_informer_stop(ki_informer *informer);

/** Returns whether the informer was stopped and nothing of it runs any more. Remains true.
 *  Blocks: no.  Since: 0.1 */
KI_API bool ki_informer_is_stopped(ki_informer *informer);

/** Returns whether the store contains the initial list. Does not include handlers: see
 *  ki_registration_has_synced(). Remains true, also after a stop.  Blocks: no.  Since: 0.1 */
KI_API bool ki_informer_has_synced(ki_informer *informer);

/** Waits until the informer and its handlers have synced. A `timeout_ms` of 0 only checks,
 *  UINT32_MAX waits forever. The message of `error` includes the latest failure; http_code and
 *  reason are those of that failure.
 *  Thread: any; on the client's thread and inside callbacks only with a `timeout_ms` of 0.
 *  Blocks: yes.
 *  Errors: -ETIMEDOUT;  KI_ERR_STOPPED  the informer was stopped;
 *          KI_ERR_BUSY  called on the client's thread or inside a callback, where it would wait
 *          forever.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_wait_for_sync(ki_informer *informer, uint32_t timeout_ms,
                                                  ki_error *error);

/** Adds a handler, at any time before the stop. It receives the existing objects as initial
 *  additions, and then all changes. `options` may be NULL. If `ret_registration` is NULL, the
 *  handler stays until the informer stops.
 *  Owner:  caller; release *ret_registration with ki_registration_unref(). On success the informer
 *          owns the handler and calls its `destroy`.
 *  Blocks: no.
 *  Errors: KI_ERR_STOPPED;  -EINVAL  unknown delivery;  KI_ERR_UNSUPPORTED  KI_DELIVERY_THREAD, and
 *          the loop has the option no_threads;  -EAGAIN  too many threads;  KI_ERR_LIMIT  the name
 *          is too long;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_add_handler(ki_informer *informer, const ki_handler *handler,
                                                const ki_handler_options *options,
                                                ki_registration **ret_registration,
                                                ki_error *error);

/** Adds a handler with one function for all changes, until the informer stops. `options` may be
 *  NULL. To remove it earlier, or to filter, use ki_informer_add_handler() with `on_change`.
 *  Blocks: no.  Errors: as ki_informer_add_handler().  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_on_change(ki_informer *informer, ki_change_fn fn, void *user,
                                              const ki_handler_options *options, ki_error *error);

/** Gets an object from the store by name; NULL if there is none. `name_space` is NULL or "" for
 *  cluster-scoped objects.
 *  Owner: caller; release with ki_object_unref().  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_object *ki_informer_get(const ki_informer *informer, const char *name_space,
                                  const char *name);

/** Lists the objects in the store of a namespace (NULL or "": of all) that a label selector, such
 *  as "app=web,tier!=db", matches (NULL or "": all). For a selector that is used often, parse it
 *  once and use ki_lister_list().
 *  Owner:  caller; release *ret_list with ki_list_unref(). The order is unspecified: see
 *          ki_list_sort().
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_selector_parse();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_list(const ki_informer *informer, const char *name_space,
                                         const char *selector, ki_list **ret_list, ki_error *error);

/** Returns the store, for reading; only the informer writes to it.  Owner: borrowed.  Since: 0.1 */
KI_API ki_store *ki_informer_store(const ki_informer *informer);

/** Returns a lister of the store, valid as long as the informer.  Since: 0.1 */
KI_API ki_lister ki_informer_lister(const ki_informer *informer);

/** Returns the resource of the informer; NULL if unknown.  Owner: borrowed.  Since: 0.1 */
KI_API const ki_resource *ki_informer_resource(const ki_informer *informer);
/** Returns the name of the informer in logs and reports.  Owner: the informer.  Since: 0.1 */
KI_API const char *ki_informer_name(const ki_informer *informer);

KI_AUTO_DEFINE(ki_informer, ki_informer_unref)

KI_END_DECLS

#endif

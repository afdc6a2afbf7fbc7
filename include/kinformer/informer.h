/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer: one cache of one resource, kept current, for any number of handlers.
 *
 * A reflector brings what the source has and what changes there; a queue takes it; each batch of it
 * becomes one version of the store, and is queued for every handler, in order. All of this happens
 * inside ki_engine_run() of the engine it was made on. Callbacks of handlers run where their
 * `delivery` says, by default on threads that they share: see registration.h. The functions here
 * may be called on any thread, also inside callbacks, unless they say otherwise. */
#ifndef KINFORMER_INFORMER_H
#define KINFORMER_INFORMER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/health.h>
#include <kinformer/lister.h>
#include <kinformer/queue_kind.h>
#include <kinformer/registration.h>
#include <kinformer/resource.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_informer ki_informer;
typedef struct ki_engine ki_engine; /* <kinformer/parts/engine.h> */
typedef struct ki_source ki_source; /* <kinformer/parts/source.h> */

/** Gives the object to keep instead in *ret_object (a reference; ki_object_ref(object) to keep it),
 *  which must have the same key, and should have the same uid and resourceVersion: by these a
 *  relist finds what has not changed. Called once for each object that a list or an event brings,
 *  as soon as it is decoded, so that lists never take the memory of their objects as they came; in
 *  order, inside ki_engine_run(), with no lock held.
 *
 *  An error that may pass (ki_error_is_retriable(), such as -ENOMEM) has the list or the event come
 *  again later. For any other, and for another key (KI_ERR_KEY) or no object (KI_ERR_INVALID), the
 *  object is left out and reported with its key; what the store has of it stays. A deletion is not
 *  lost: the object is deleted as it came. */
typedef int (*ki_transform)(const ki_object *object, ki_object **ret_object, void *user);

/** Called for every failed attempt to list or watch, inside ki_engine_run(): as on_watch_error of
 *  ki_reflector_options. */
typedef void (*ki_watch_error_handler)(ki_informer *informer, const ki_watch_failure *failure,
                                       void *user);

typedef struct ki_informer_options {
    size_t size;                 /* see KI_OPTIONS_INIT */
    ki_engine *engine;           /* required; kept by reference */
    const ki_source *source;     /* required; copied, and the informer's on success */
    const ki_resource *resource; /* what it is of; NULL: unknown, and any kind of object is taken */
    const char *name;            /* in logs and reports; NULL: the resource's */
    const char *label_selector;  /* NULL: every object */
    const char *field_selector;  /* NULL: every object */
    uint32_t resync_ms;          /* how often handlers are told of all objects; 0: never */

    const ki_index *indexes; /* as those of ki_store_options, besides the index by namespace */
    size_t index_count;
    bool no_namespace_index;

    ki_queue_kind queue; /* in order of arrival by default */
    ki_transform transform;
    void *transform_user;
    ki_watch_error_handler on_watch_error; /* besides the log; may be NULL */
    void *watch_error_user;

    /* Of the reflector: as in ki_reflector_options, zero is the default. */
    bool no_streaming;
    bool allow_stale_start;
    uint32_t page_size;
    uint64_t min_watch_timeout_ns;

    /** For finding bugs: remembers a checksum of each object and reports those whose memory was
     * changed by someone, when they are replaced or deleted and at each resync. */
    bool check_mutations;
} ki_informer_options;

/** An informer, not started.
 *  Owner:  release with ki_informer_unref(). On success the source and the indexes are its own.
 *  Blocks: no.
 *  Errors: -EINVAL  engine or source is missing;  as ki_store_new(), ki_reflector_new(); -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_new(const ki_informer_options *options,
                                        ki_informer **ret_informer, ki_error *error);

/** References. One that was started lives until it has stopped, whoever lets go of it.
 *  ki_informer_unref() always returns NULL; NULL is fine for both.  Blocks: no.  Since: 0.1 */
KI_API ki_informer *ki_informer_ref(ki_informer *informer);
KI_API ki_informer *ki_informer_unref(ki_informer *informer);

/** Begins, in ki_engine_run().
 *  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it was started before;  KI_ERR_STOPPED  it cannot be started again;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_start(ki_informer *informer, ki_error *error);

/** Ends it for good. Its handlers are removed, as by ki_registration_remove(): a callback that
 * another thread was just about to call may still begin, but no other; events that wait are
 * dropped. It is over, and no callback runs or begins, when ki_informer_is_stopped() says so, which
 * takes a ki_engine_run(). The store stays as it is. Stopping twice is fine.  Blocks: no.  Since:
 * 0.1 */
KI_API void ki_informer_stop(ki_informer *informer);

/** Whether it was stopped and nothing of it runs any more. Stays true.  Blocks: no.  Since: 0.1 */
KI_API bool ki_informer_is_stopped(ki_informer *informer);

/** Whether the store has all that the source had at the start. Says nothing of handlers:
 *  ki_registration_has_synced() does. Stays true, also after a stop.  Blocks: no.  Since: 0.1 */
KI_API bool ki_informer_has_synced(ki_informer *informer);

/** Waits until the informer and its handlers have synced. `timeout_ms` of 0 only looks, UINT32_MAX
 *  waits for ever; with any other, monotonic_ns of the engine's clock must be CLOCK_MONOTONIC. The
 *  message of `error` includes the latest failure; its http_code and reason are that failure's.
 *  Thread: any; but inside ki_engine_run() or a callback it can only look.  Blocks: yes.
 *  Errors: -ETIMEDOUT;  KI_ERR_STOPPED  it will never be;
 *          KI_ERR_BUSY  called inside, where waiting would never end.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_wait_for_sync(ki_informer *informer, uint32_t timeout_ms,
                                                  ki_error *error);

/** Adds a handler, at any time before the stop. It is told of the objects that are there as initial
 *  additions, and from then on of everything. `options` may be NULL. `ret_registration` may be
 *  NULL: then the handler stays until the informer stops.
 *  Owner:  *ret_registration: release with ki_registration_unref(). On success the handler, with
 *          its `destroy`, is the informer's.
 *  Blocks: no.
 *  Errors: KI_ERR_STOPPED;  -EINVAL  no such delivery;  KI_ERR_UNSUPPORTED  a thread is wanted and
 *          the engine has none;  -EAGAIN  no more threads;  KI_ERR_LIMIT  the name;  -ENOMEM,
 * -E2BIG. Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_add_handler(ki_informer *informer, const ki_handler *handler,
                                                const ki_handler_options *options,
                                                ki_registration **ret_registration,
                                                ki_error *error);

/** The store, for reading; only the informer writes to it.  Owner: borrowed.  Since: 0.1 */
KI_API ki_store *ki_informer_store(const ki_informer *informer);

/** A lister over the store, valid as long as the informer.  Since: 0.1 */
KI_API ki_lister ki_informer_lister(const ki_informer *informer);

/** What it is of; NULL if that is not known.  Owner: borrowed.  Since: 0.1 */
KI_API const ki_resource *ki_informer_resource(const ki_informer *informer);
/** Its name in logs and reports.  Owner: the informer.  Since: 0.1 */
KI_API const char *ki_informer_name(const ki_informer *informer);

/** Adds indexes, over the objects that are there as well. On success they are the informer's. While
 *  a batch is being applied on another thread, KI_ERR_BUSY: try again.
 *  Blocks: no.  Errors: KI_ERR_STOPPED;  as ki_store_add_indexes().  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_add_indexes(ki_informer *informer, const ki_index *indexes,
                                                size_t count, ki_error *error);

/** Set what the options can set as well.
 *  Blocks: no.  Errors: KI_ERR_EXISTS  the informer was started already.  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_set_transform(ki_informer *informer, ki_transform transform,
                                                  void *user);
KI_API KI_NODISCARD int ki_informer_set_watch_error_handler(ki_informer *informer,
                                                            ki_watch_error_handler on_watch_error,
                                                            void *user);

/** Copies the resource version up to which the reflector knows all to `text` of `size` bytes; ""
 *  before the first list. Returns its length.
 *  Blocks: no.  Errors: KI_ERR_LIMIT  it does not fit, NUL included.  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_last_sync_resource_version(ki_informer *informer, char *text,
                                                               size_t size);

/** Fills `health`, whose `size` must be set, and `reason` (may be NULL) with the last failure; its
 *  code is 0 if there is none.
 *  Blocks: no.  Errors: -EINVAL  the size.  Since: 0.1 */
KI_API KI_NODISCARD int ki_informer_get_health(ki_informer *informer, ki_health *health,
                                               ki_error *ret_reason);

KI_END_DECLS

#endif

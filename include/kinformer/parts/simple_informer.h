/* SPDX-License-Identifier: Apache-2.0 */
/* An informer that is not shared, as created by NewInformer and NewIndexerInformer of client-go: a
 * queue, a store, and one handler that is called directly. It is passive: the program adds deltas
 * to its queue, and each step takes a batch of them, updates the store and calls the handler. */
#ifndef KINFORMER_PARTS_SIMPLE_INFORMER_H
#define KINFORMER_PARTS_SIMPLE_INFORMER_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/index.h>
#include <kinformer/parts/queue.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_simple_informer ki_simple_informer;

typedef struct ki_simple_informer_options {
    size_t size;               /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;     /* NULL: the default; must outlive the informer and its store */
    const ki_random *random;   /* hash seed; NULL: from addresses, which an attacker may guess */
    const ki_handler *handler; /* copied; NULL: none */

    /** The store to update, kept by reference. It must have no transform function, and no other
     *  writer should use it. NULL: the informer creates its own, with `indexes`. */
    ki_store *store;
    const ki_index *const *indexes; /* as in ki_store_options; only without `store` */
    size_t index_count;

    ki_queue_kind queue;
    size_t max_deltas; /* as in ki_queue_options, as are the next two */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;

    /** Called for objects that were skipped and for handlers that failed. Must not write to the
     *  store. */
    const ki_error_hook *on_error;

    size_t batch_keys; /* limit per step; 0: KI_QUEUE_BATCH */

    /** Deliver objects that a relist or a watch repeats, with the uid and resourceVersion that the
     *  store already has, as updates, as client-go does. False: they are not delivered. */
    bool deliver_same_version;
} ki_simple_informer_options;

/** Creates a simple informer with an empty queue. `options` may be NULL.
 *  Owner:  caller; release with ki_simple_informer_unref(). On success only, the informer owns the
 *          handler and the indexes.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_store_new() and ki_fifo_new();  -EINVAL  the store has a transform function, both
 *          `indexes` and `store` are set, or the kind of queue is unknown.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_simple_informer_new(const ki_simple_informer_options *options,
                                               ki_simple_informer **ret_informer, ki_error *error);

/** Takes and releases references. ki_simple_informer_unref() always returns NULL; both accept NULL.
 *  Thread: any, including the handler.  Blocks: no.  Since: 0.1 */
KI_API ki_simple_informer *ki_simple_informer_ref(ki_simple_informer *informer);
KI_API ki_simple_informer *ki_simple_informer_unref(ki_simple_informer *informer);

/** Returns the queue that takes deltas, and the store that holds the objects.
 *  Owner: borrowed from the informer.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_queue *ki_simple_informer_queue(const ki_simple_informer *informer);
KI_API ki_store *ki_simple_informer_store(const ki_simple_informer *informer);

/** Processes one batch: commits one version of the store, then calls the handler, in order. Returns
 *  the number of deltas in the batch. With `wait` it waits for deltas; without, 0 means that the
 *  queue was empty.
 *
 *  An object that the store rejects, because an index function fails or a limit is reached, is
 *  skipped: it is reported to `on_error`, and the store keeps its previous state. The rest of the
 *  batch is processed.
 *
 *  Thread: one at a time.  Blocks: if `wait`, until there are deltas or the informer is stopped.
 *  Errors: KI_ERR_STOPPED  the informer was stopped;
 *          KI_ERR_BUSY     another step is running, or another writer uses the store;
 *          -ENOMEM         out of memory. After these two nothing has changed, and the batch is in
 *                          the queue again.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_simple_informer_step(ki_simple_informer *informer, bool wait,
                                                ki_error *error);

/** Stops the informer permanently: a waiting step returns, and a running step is the last. Deltas
 *  that remain in the queue are not processed.
 *  Thread: any, including the handler.  Blocks: no.  Since: 0.1 */
KI_API void ki_simple_informer_stop(ki_simple_informer *informer);

/** Returns whether the first list has been delivered to the handler. Remains true.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_simple_informer_has_synced(const ki_simple_informer *informer);

KI_AUTO_DEFINE(ki_simple_informer, ki_simple_informer_unref)

KI_END_DECLS

#endif

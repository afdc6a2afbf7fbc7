/* SPDX-License-Identifier: Apache-2.0 */
/* An informer that is not shared, as client-go's NewInformer and NewIndexerInformer make: a queue,
 * a store, and one handler that is called directly. It starts nothing: deltas are put into its
 * queue, and each step takes a batch of them, brings the store up to date and calls the handler. */
#ifndef KINFORMER_PARTS_SIMPLE_INFORMER_H
#define KINFORMER_PARTS_SIMPLE_INFORMER_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/handler.h>
#include <kinformer/parts/queue.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_simple_informer ki_simple_informer;

typedef struct ki_simple_informer_options {
    size_t size;               /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;     /* NULL: the default; must outlive the informer and its store */
    const ki_random *random;   /* seeds hashes; NULL: from addresses, which an attacker may guess */
    const ki_handler *handler; /* copied; NULL: none */

    /** The store to keep current, by reference; nobody else should write to it, and it must not
     * have a transform function. NULL: one of its own, with `indexes`. */
    ki_store *store;
    const ki_index *indexes; /* as those of ki_store_options; only without `store` */
    size_t index_count;

    ki_queue_kind queue;
    size_t max_deltas; /* as in ki_queue_options, like the next two */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;

    /** Is told of objects that were set aside and of handlers that failed. Must not write to the
     * store. */
    ki_error_hook on_error;

    size_t batch_keys; /* of one step; 0: KI_QUEUE_BATCH */

    /** Objects that a relist or a watch brings again, with the uid and resource version they have
     * in the store, are told to nobody. True: as updates, which is what client-go does. */
    bool deliver_same_version;
} ki_simple_informer_options;

/** An informer, with an empty queue. `options` may be NULL.
 *  Owner:  release with ki_simple_informer_unref(). Handler and indexes become the informer's on
 *          success only.
 *  Thread: any.  Blocks: no.
 *  Errors: as ki_store_new() and ki_fifo_new();  -EINVAL  the store has a transform function,
 *          `indexes` beside `store`, or no such kind of queue.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_simple_informer_new(const ki_simple_informer_options *options,
                                               ki_simple_informer **ret_informer, ki_error *error);

/** References. ki_simple_informer_unref() always returns NULL; NULL is fine for both.
 *  Thread: any, also from inside the handler.  Blocks: no.  Since: 0.1 */
KI_API ki_simple_informer *ki_simple_informer_ref(ki_simple_informer *informer);
KI_API ki_simple_informer *ki_simple_informer_unref(ki_simple_informer *informer);

/** Where deltas go in, and where objects are read.
 *  Owner: borrowed from the informer.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_queue *ki_simple_informer_queue(const ki_simple_informer *informer);
KI_API ki_store *ki_simple_informer_store(const ki_simple_informer *informer);

/** Processes one batch: one version of the store, then the handler's calls in order. Returns how
 * many deltas it had. With `wait` it waits for one; without, 0 means that there was nothing.
 *
 *  An object that the store does not take, for an index function that fails or a limit, is set
 * aside: told to `on_error`, and left in the store as it was. The rest goes on.
 *
 *  Thread: one at a time.  Blocks: if `wait`, until there is something or the informer is stopped.
 *  Errors: KI_ERR_STOPPED  the informer was stopped;
 *          KI_ERR_BUSY     another step is under way, or someone else writes to the store;
 *          -ENOMEM.        After these two nothing has happened, and the batch is in the queue
 * again. Since:  0.1 */
KI_API KI_NODISCARD int ki_simple_informer_step(ki_simple_informer *informer, bool wait,
                                                ki_error *error);

/** Stops it for good: a step that waits is released, and one that is under way is the last. What is
 *  left in the queue is not processed.
 *  Thread: any, also from inside the handler.  Blocks: no.  Since: 0.1 */
KI_API void ki_simple_informer_stop(ki_simple_informer *informer);

/** Whether the handler has been told of the first list. Stays true.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_simple_informer_has_synced(const ki_simple_informer *informer);

KI_END_DECLS

#endif

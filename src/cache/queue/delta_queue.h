/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of both kinds of queue, and the functions that each kind implements.
 *
 * Locking: members under "lock" require the lock; those of the consumer belong to the one thread
 * that has set `popping`. Callbacks of the user (transform, process, error hook) run with no lock
 * held. */
#ifndef KI_CACHE_QUEUE_DELTA_QUEUE_H
#define KI_CACHE_QUEUE_DELTA_QUEUE_H

#include <stdatomic.h>

#include <kinformer/parts/queue.h>

#include "base/engine.h"
#include "base/hash.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/queue/transform.h"

/** A list in a queue: one block, with a reference to each object. Skipped objects are at the end of
 *  the array, as their keys are borrowed. */
typedef struct ki__list_block {
    ki_replacement view; /* visible to the consumer */
    size_t held;         /* number of objects, including skipped ones */
    size_t bytes;        /* its share of ki_queue_bytes() */
    ki_str *unread;      /* the keys, their text and the resourceVersion: one more block, or NULL */
    ki_object *objects[];
} ki__list_block;

/** Functions of a kind; all require the lock, except `done`. */
typedef struct ki__queue_kind {
    /** Takes ownership of `delta` and returns 1; or returns 0 if it is not needed, or an error. */
    int (*push)(ki_queue *queue, const ki_delta *delta);
    /** Deletes by key. Takes ownership of `copy`, a copy of the key, if it returns 1. */
    int (*push_key)(ki_queue *queue, char *copy);
    /** Replaces the content with the list. Takes what it needs out of the block; the caller frees
     *  the rest. */
    int (*replace)(ki_queue *queue, ki__list_block **block);
    int (*resync)(ki_queue *queue);
    /** Number of queued deltas that belong to the first list. */
    size_t (*count_initial)(ki_queue *queue);
    /** Moves at least one delta to queue->batch; the queue is not empty. */
    int (*take)(ki_queue *queue, size_t max_keys);
    /** The batch was processed, or is put back. Returns the decrement of initial_left. */
    size_t (*finish)(ki_queue *queue, bool again);
    /** Drops all queued deltas; none is being processed. */
    void (*clear)(ki_queue *queue);
    /** Frees the members of this kind. */
    void (*done)(ki_queue *queue);
} ki__queue_kind;

struct ki_queue {
    const ki__queue_kind *kind;
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    ki__refs refs;
    uint64_t process; /* creating process */
    ki__transform_function transform;
    void *transform_user;
    ki_error_hook on_error;
    size_t max_deltas;
    atomic_bool synced;
    atomic_bool popping;         /* there is a consumer */
    _Atomic(size_t) event_bytes; /* as `bytes`, but without lists and resyncs, whose objects the
                                    consumer may have; written with the lock held */

    /* lock */
    ki__mutex lock;
    ki__cond ready; /* for the consumer: something was added, or the queue was closed */
    bool closed;
    bool populated;      /* content was added */
    bool waiting;        /* the consumer is waiting */
    size_t initial_left; /* unprocessed deltas of the first list */
    size_t length;       /* number of queued deltas */
    size_t bytes;        /* of their objects */

    /* A task that empties the queue, for ki_reflector_target_queue(); inside its engine only. */
    ki_engine *consumer_engine;
    ki__task *consumer; /* or NULL */
    bool consumer_posted;
    uint64_t received_ns; /* when the oldest of the queued deltas was added; 0: see the consumer */

    /* the consumer */
    ki_delta *batch;
    size_t batch_count;
    size_t batch_cap;
    const char *batch_set_back; /* see ki_deltas; or NULL */
};

/** As ki_queue_add(), ki_queue_update() and ki_queue_delete(), by `type`, and ki_queue_replace(),
 *  for already transformed objects. */
int ki__queue_put(ki_queue *queue, ki_delta_type type, const ki_object *object, ki_error *error);
int ki__queue_replace(ki_queue *queue, const ki_replacement *replacement, ki_error *error);

/** Sets received_ns, if there is a task that empties the queue; that resets it. One reading of the
 *  clock for each batch. Inside its engine only. */
static inline void ki__queue_set_received(ki_queue *queue)
{
    if (queue->consumer != NULL && queue->received_ns == 0) {
        queue->received_ns = ki__engine_now(queue->consumer_engine);
    }
}

/** Drops all queued deltas. A queue that has not synced begins again with the next list. Not while
 *  a batch is processed. */
void ki__queue_clear(ki_queue *queue);

/** Posts the task that empties the queue, if there is one and it is not posted. It clears
 *  `consumer_posted` when it runs. Inside its engine only. */
static inline void ki__queue_post_consumer(ki_queue *queue)
{
    if (queue->consumer != NULL && !queue->consumer_posted) {
        queue->consumer_posted = true;
        (void)ki__engine_post(queue->consumer_engine, queue->consumer);
    }
}

/** Creates a queue of `size` bytes, which begins with a struct ki_queue; the rest is zeroed. */
int ki__queue_new(const ki__queue_kind *kind, size_t size, const ki_queue_options *options,
                  ki_queue **ret_queue, ki_error *error);

/** Whether `more` deltas may be added: 0 or KI_ERR_LIMIT. */
int ki__queue_check_room(const ki_queue *queue, size_t more);

/** Counts a delta as queued, or no longer. */
void ki__queue_count(ki_queue *queue, const ki_delta *delta);
void ki__queue_uncount(ki_queue *queue, const ki_delta *delta);

/** Approximate memory of an object. */
size_t ki__queue_size_of(const ki_object *object);

/** Reserves space for `count` deltas in the batch. 0 or -ENOMEM. */
int ki__queue_reserve_batch(ki_queue *queue, size_t count);

/** Releases the references of a delta. */
void ki__delta_release(const ki_queue *queue, const ki_delta *delta);

/** NULL is allowed. */
void ki__list_block_free(const ki_alloc *alloc, ki__list_block *block);

/** The block of a KI_DELTA_REPLACED_ALL. */
static inline ki__list_block *ki__list_block_of(const ki_delta *delta)
{
    return (ki__list_block *)(uintptr_t)delta->replaced; /* the view is the first member */
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Merging in the queue of a handler; for handler_queue.c alone. */
#ifndef KI_CACHE_INFORMER_HANDLER_QUEUE_MERGE_H
#define KI_CACHE_INFORMER_HANDLER_QUEUE_MERGE_H

#include "cache/informer/handler_queue.h"

/** The place with this number in the ring. */
static inline ki__note *ki__handler_queue_at(const ki__handler_queue *queue, size_t number)
{
    return &queue->ring[number & (queue->cap - 1)];
}

/** Whether a resync waits, and comes after this number. */
static inline bool ki__handler_queue_is_before_resync(const ki__handler_queue *queue, size_t number)
{
    return queue->resync != NULL && number - queue->head < queue->resync_at - queue->head;
}

/** If more wait than the limit allows: makes the index, unless there is no memory. */
void ki__merge_index_make(ki__handler_queue *queue);
void ki__merge_index_drop(ki__handler_queue *queue);
/** If there is one: the notification with this number is now the last of its key. */
void ki__merge_index_add(ki__handler_queue *queue, size_t number);
/** If there is one: it is taken out. */
void ki__merge_index_forget(ki__handler_queue *queue, const ki__note *note, size_t number);

/** Whether the notification became part of one that waits, or of nothing together with one; if not,
 *  it is to be queued. */
bool ki__merge(ki__handler_queue *queue, const ki__note *note);

#endif

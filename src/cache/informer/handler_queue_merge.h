/* SPDX-License-Identifier: Apache-2.0 */
/* Merging in the queue of a handler; only for handler_queue.c. */
#ifndef KI_CACHE_INFORMER_HANDLER_QUEUE_MERGE_H
#define KI_CACHE_INFORMER_HANDLER_QUEUE_MERGE_H

#include "cache/informer/handler_queue.h"

/** The slot with this number in the ring. */
static inline ki__note *ki__handler_queue_at(const ki__handler_queue *queue, size_t number)
{
    return &queue->ring[number & (queue->cap - 1)];
}

/** Whether a resync is queued after this number. */
static inline bool ki__handler_queue_is_before_resync(const ki__handler_queue *queue, size_t number)
{
    return queue->resync != NULL && number - queue->head < queue->resync_at - queue->head;
}

/** Builds the index if the queue exceeds the limit, unless out of memory. */
void ki__merge_index_make(ki__handler_queue *queue);
void ki__merge_index_drop(ki__handler_queue *queue);
/** Records the notification with this number as the last of its key, if there is an index. */
void ki__merge_index_add(ki__handler_queue *queue, size_t number);
/** Removes a dequeued notification from the index, if there is one. */
void ki__merge_index_forget(ki__handler_queue *queue, const ki__note *note, size_t number);

/** Whether the notification was merged into a pending one, or cancelled out with one; if not, it
 *  must be queued. */
bool ki__merge(ki__handler_queue *queue, const ki__note *note);

#endif

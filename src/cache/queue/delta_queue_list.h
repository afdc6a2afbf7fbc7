/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares a list for a queue. */
#ifndef KI_CACHE_QUEUE_DELTA_QUEUE_LIST_H
#define KI_CACHE_QUEUE_DELTA_QUEUE_LIST_H

#include "cache/queue/delta_queue.h"

/** Creates a block with the objects of a list, transformed by `transform` unless it is NULL.
 *  Objects for which that fails are skipped and reported; returns their number, or an error. */
int ki__list_block_new(const ki_queue *queue, const ki_replacement *list,
                       ki__transform_function transform, ki__list_block **ret_block,
                       ki_error *error);

#endif

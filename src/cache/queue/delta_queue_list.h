/* SPDX-License-Identifier: Apache-2.0 */
/* A list on its way into a queue. */
#ifndef KI_CACHE_QUEUE_DELTA_QUEUE_LIST_H
#define KI_CACHE_QUEUE_DELTA_QUEUE_LIST_H

#include "cache/queue/delta_queue.h"

/** A block with the objects of a list, or with what `transform`, unless NULL, makes of them. What
 *  it fails for is left out and reported; returns how many those were, or an error. */
int ki__list_block_new(const ki_queue *queue, const ki_replacement *list,
                       ki__transform_function transform, ki__list_block **ret_block,
                       ki_error *error);

#endif

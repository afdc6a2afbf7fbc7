/* SPDX-License-Identifier: Apache-2.0 */
/* A list on its way into a queue. */
#ifndef KI_CACHE_QUEUE_LIST_H
#define KI_CACHE_QUEUE_LIST_H

#include "cache/queue.h"

/** A block with what the transform function makes of the objects of a list. What it fails for is
 *  left out and reported; returns how many those were, or an error. */
int ki__list_block_new(const ki_queue *queue, const ki_replacement *list,
                       ki__list_block **ret_block, ki_error *error);

/** What the transform function makes of an object, as a reference. The key was checked. */
int ki__queue_transform(const ki_queue *queue, const ki_object *object, ki_object **ret_object,
                        ki_error *error);

#endif

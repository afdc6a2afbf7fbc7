/* SPDX-License-Identifier: Apache-2.0 */
/* A binary min-heap whose elements store their position, so that any of them can be removed. */
#ifndef KI_BASE_HEAP_H
#define KI_BASE_HEAP_H

#include <kinformer/alloc.h>

/** Embed one in each element; recover the element with KI__CONTAINER_OF. */
typedef struct ki__heap_node {
    size_t position; /* index in the heap plus 1; 0 if not in a heap */
} ki__heap_node;

/** Whether `a` is popped before `b`. Elements that compare equal are popped in any order. */
typedef bool (*ki__heap_before)(const ki__heap_node *a, const ki__heap_node *b);

typedef struct ki__heap {
    ki__heap_node **nodes;
    size_t count;
    size_t cap;
    size_t max; /* maximum number of elements */
    ki__heap_before before;
    const ki_alloc *alloc;
} ki__heap;

/** An empty heap for up to `max` elements (not 0). Allocates nothing. */
void ki__heap_init(ki__heap *heap, const ki_alloc *alloc, ki__heap_before before, size_t max);

/** Frees the table, not the elements, which are then in no heap. */
void ki__heap_done(ki__heap *heap);

/** Inserts an element that is in no heap. -ENOMEM or KI_ERR_LIMIT leave the heap unchanged. */
int ki__heap_push(ki__heap *heap, ki__heap_node *node);

/** Reserves capacity for `count` elements; pushing up to that many then cannot fail. -ENOMEM or
 *  KI_ERR_LIMIT leave the heap unchanged. */
int ki__heap_reserve(ki__heap *heap, size_t count);

/** The first element, or NULL. */
ki__heap_node *ki__heap_peek(const ki__heap *heap);

/** Removes any element of this heap; no effect if it is in no heap. */
void ki__heap_remove(ki__heap *heap, ki__heap_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A binary min-heap of elements that know their own place, so any of them can be removed. */
#ifndef KI_BASE_HEAP_H
#define KI_BASE_HEAP_H

#include <kinformer/alloc.h>

/** Embed one in each element; recover the element with KI__CONTAINER_OF. */
typedef struct ki__heap_node {
    size_t position; /* index in the heap plus 1; 0 while in none */
} ki__heap_node;

/** Whether `a` comes out before `b`. Those where neither is so come out in any order. */
typedef bool (*ki__heap_before)(const ki__heap_node *a, const ki__heap_node *b);

typedef struct ki__heap {
    ki__heap_node **nodes;
    size_t count;
    size_t cap;
    size_t max; /* most elements it may hold */
    ki__heap_before before;
    const ki_alloc *alloc;
} ki__heap;

/** An empty heap for up to `max` elements (not 0). Allocates nothing. */
void ki__heap_init(ki__heap *heap, const ki_alloc *alloc, ki__heap_before before, size_t max);

/** Frees the table, not the elements, which are in no heap afterwards. */
void ki__heap_done(ki__heap *heap);

/** Adds an element that is in no heap. -ENOMEM or KI_ERR_LIMIT leave the heap as it was. */
int ki__heap_push(ki__heap *heap, ki__heap_node *node);

/** Takes memory for `count` elements, so that pushing up to that many cannot fail. -ENOMEM or
 *  KI_ERR_LIMIT leave the heap as it was. */
int ki__heap_reserve(ki__heap *heap, size_t count);

/** The first element, or NULL. */
ki__heap_node *ki__heap_peek(const ki__heap *heap);

/** Takes any element of this heap out; one that is in no heap is left alone. */
void ki__heap_remove(ki__heap *heap, ki__heap_node *node);

#endif

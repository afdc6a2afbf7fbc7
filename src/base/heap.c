/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: nodes[i]->position == i + 1, and no node comes before its parent. */
#include "base/heap.h"

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"

void ki__heap_init(ki__heap *heap, const ki_alloc *alloc, ki__heap_before before, size_t max)
{
    ki_assert(max != 0);
    *heap = (ki__heap){
        .max = max,
        .before = before,
        .alloc = ki__alloc_or_default(alloc),
    };
}

void ki__heap_done(ki__heap *heap)
{
    for (size_t i = 0; i < heap->count; i++) {
        heap->nodes[i]->position = 0;
    }
    ki__free(heap->alloc, heap->nodes);
    heap->nodes = NULL;
    heap->count = 0;
    heap->cap = 0;
}

static void place(ki__heap *heap, size_t i, ki__heap_node *node)
{
    heap->nodes[i] = node;
    node->position = i + 1;
}

/* Moves `node` from `i` up to its position; returns that position. */
static size_t sift_up(ki__heap *heap, size_t i, ki__heap_node *node)
{
    while (i > 0 && heap->before(node, heap->nodes[(i - 1) / 2])) {
        place(heap, i, heap->nodes[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    place(heap, i, node);
    return i;
}

/* Moves `node` from `i` down to its position. */
static void sift_down(ki__heap *heap, size_t i, ki__heap_node *node)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && heap->before(heap->nodes[child + 1], heap->nodes[child])) {
            child++;
        }
        if (!heap->before(heap->nodes[child], node)) {
            break;
        }
        place(heap, i, heap->nodes[child]);
        i = child;
    }
    place(heap, i, node);
}

int ki__heap_reserve(ki__heap *heap, size_t count)
{
    if (count > heap->max) {
        return KI_ERR_LIMIT;
    }
    void *nodes = heap->nodes;
    int r = ki__array_reserve(heap->alloc, &nodes, &heap->cap, count, sizeof(*heap->nodes));
    heap->nodes = nodes;
    return r;
}

int ki__heap_push(ki__heap *heap, ki__heap_node *node)
{
    ki_assert(node->position == 0);
    int r = ki__heap_reserve(heap, heap->count + 1);
    if (r < 0) {
        return r;
    }
    (void)sift_up(heap, heap->count++, node);
    return 0;
}

ki__heap_node *ki__heap_peek(const ki__heap *heap)
{
    return heap->count != 0 ? heap->nodes[0] : NULL;
}

/* Index of `node`; asserts that it is in this heap. */
static size_t index_of(const ki__heap *heap, const ki__heap_node *node)
{
    size_t i = node->position - 1;
    ki_assert(i < heap->count && heap->nodes[i] == node);
    return i;
}

void ki__heap_remove(ki__heap *heap, ki__heap_node *node)
{
    if (node->position == 0) {
        return;
    }
    size_t i = index_of(heap, node);
    node->position = 0;
    ki__heap_node *last = heap->nodes[--heap->count];
    if (last != node) {
        sift_down(heap, sift_up(heap, i, last), last);
    }
}

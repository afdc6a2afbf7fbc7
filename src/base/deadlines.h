/* SPDX-License-Identifier: Apache-2.0 */
/* A min-heap of deadlines for very many elements. Unlike in base/heap.h, the times are stored in
 * the heap itself, so that finding the next one does not touch the elements, which are scattered in
 * memory. */
#ifndef KI_BASE_DEADLINES_H
#define KI_BASE_DEADLINES_H

#include <kinformer/alloc.h>

/** Embed one in each element; recover the element with KI__CONTAINER_OF. */
typedef struct ki__deadline {
    size_t position; /* index in the heap plus 1; 0 if not in a heap */
} ki__deadline;

typedef struct ki__deadline_slot {
    uint64_t when_ns;
    ki__deadline *deadline;
} ki__deadline_slot;

typedef struct ki__deadlines {
    ki__deadline_slot *slots;
    size_t count;
    size_t cap;
    const ki_alloc *alloc;
} ki__deadlines;

/** An empty heap. Allocates nothing. */
void ki__deadlines_init(ki__deadlines *deadlines, const ki_alloc *alloc);

/** Frees the heap, not the elements, which are then in no heap. */
void ki__deadlines_done(ki__deadlines *deadlines);

/** Reserves capacity for `count` elements in total; putting that many then cannot fail. -ENOMEM. */
int ki__deadlines_reserve(ki__deadlines *deadlines, size_t count);

/** Frees memory far in excess of what `count` elements need. `count` must not be less than the
 *  current number of elements. */
void ki__deadlines_trim(ki__deadlines *deadlines, size_t count);

/** Inserts an element, for which capacity must be reserved, or changes its time. */
void ki__deadlines_put(ki__deadlines *deadlines, ki__deadline *deadline, uint64_t when_ns);

/** Time of the first element; UINT64_MAX if the heap is empty. */
static inline uint64_t ki__deadlines_next(const ki__deadlines *deadlines)
{
    return deadlines->count != 0 ? deadlines->slots[0].when_ns : UINT64_MAX;
}

/** Time of an element of this heap. */
static inline uint64_t ki__deadlines_when(const ki__deadlines *deadlines,
                                          const ki__deadline *deadline)
{
    return deadlines->slots[deadline->position - 1].when_ns;
}

static inline bool ki__deadline_is_set(const ki__deadline *deadline)
{
    return deadline->position != 0;
}

/** Removes and returns the first element if its time is `now_ns` or earlier; else NULL. */
ki__deadline *ki__deadlines_pop_due(ki__deadlines *deadlines, uint64_t now_ns);

/** Removes and returns the last element of the array, in constant time; NULL if empty. */
ki__deadline *ki__deadlines_pop_any(ki__deadlines *deadlines);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A min-heap by time for very many elements. Unlike in base/heap.h the times stand in the heap
 * itself, so that finding the next one need not look at the elements, which are anywhere in memory.
 */
#ifndef KI_BASE_DEADLINES_H
#define KI_BASE_DEADLINES_H

#include <kinformer/alloc.h>

/** Embed one in each element; recover the element with KI__CONTAINER_OF. */
typedef struct ki__deadline {
    size_t position; /* index in the heap plus 1; 0 while in none */
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

/** Frees the heap, not the elements, which are in no heap afterwards. */
void ki__deadlines_done(ki__deadlines *deadlines);

/** Reserves space for `count` elements in all: putting that many cannot fail then. -ENOMEM. */
int ki__deadlines_reserve(ki__deadlines *deadlines, size_t count);

/** Gives memory back that is far more than `count` elements need. Not less than are there. */
void ki__deadlines_trim(ki__deadlines *deadlines, size_t count);

/** Puts an element in, for which there must be room, or gives it another time. */
void ki__deadlines_put(ki__deadlines *deadlines, ki__deadline *deadline, uint64_t when_ns);

/** The time of the first element; UINT64_MAX if there is none. */
static inline uint64_t ki__deadlines_next(const ki__deadlines *deadlines)
{
    return deadlines->count != 0 ? deadlines->slots[0].when_ns : UINT64_MAX;
}

/** The time of an element of this heap. */
static inline uint64_t ki__deadlines_when(const ki__deadlines *deadlines,
                                          const ki__deadline *deadline)
{
    return deadlines->slots[deadline->position - 1].when_ns;
}

static inline bool ki__deadline_is_set(const ki__deadline *deadline)
{
    return deadline->position != 0;
}

/** Takes the first element out if its time is `now_ns` or earlier; else NULL. */
ki__deadline *ki__deadlines_pop_due(ki__deadlines *deadlines, uint64_t now_ns);

/** Takes any element out, from the end of the heap and so at no cost; NULL if there is none. */
ki__deadline *ki__deadlines_pop_any(ki__deadlines *deadlines);

#endif

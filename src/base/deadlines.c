/* SPDX-License-Identifier: Apache-2.0 */
/* A 4-ary heap: half as deep as a binary one, and siblings are adjacent in memory. Invariant:
 * slots[i].deadline->position == i + 1, and no slot is earlier than its parent. */
#include "base/deadlines.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { CHILDREN = 4, CAP_MIN = 64 };

void ki__deadlines_init(ki__deadlines *deadlines, const ki_alloc *alloc)
{
    *deadlines = (ki__deadlines){.alloc = ki__alloc_or_default(alloc)};
}

void ki__deadlines_done(ki__deadlines *deadlines)
{
    for (size_t i = 0; i < deadlines->count; i++) {
        deadlines->slots[i].deadline->position = 0;
    }
    ki__free(deadlines->alloc, deadlines->slots);
    deadlines->slots = NULL;
    deadlines->count = 0;
    deadlines->cap = 0;
}

int ki__deadlines_reserve(ki__deadlines *deadlines, size_t count)
{
    void *slots = deadlines->slots;
    int r = ki__array_reserve(deadlines->alloc, &slots, &deadlines->cap, count,
                              sizeof(*deadlines->slots));
    deadlines->slots = slots;
    return r;
}

void ki__deadlines_trim(ki__deadlines *deadlines, size_t count)
{
    ki_assert(count >= deadlines->count);
    size_t cap = deadlines->cap / 2;
    if (cap < CAP_MIN || count > cap / 4) {
        return;
    }
    void *slots =
        ki__realloc_array(deadlines->alloc, deadlines->slots, cap, sizeof(*deadlines->slots));
    if (slots != NULL) { /* otherwise keep the larger table */
        deadlines->slots = slots;
        deadlines->cap = cap;
    }
}

static void place(ki__deadlines *deadlines, size_t i, ki__deadline_slot slot)
{
    deadlines->slots[i] = slot;
    slot.deadline->position = i + 1;
}

/* Moves `slot` from `i` up to its position. */
static void sift_up(ki__deadlines *deadlines, size_t i, ki__deadline_slot slot)
{
    while (i > 0) {
        size_t parent = (i - 1) / CHILDREN;
        if (deadlines->slots[parent].when_ns <= slot.when_ns) {
            break;
        }
        place(deadlines, i, deadlines->slots[parent]);
        i = parent;
    }
    place(deadlines, i, slot);
}

static size_t earliest_child(const ki__deadlines *deadlines, size_t first)
{
    size_t end = deadlines->count - first < CHILDREN ? deadlines->count : first + CHILDREN;
    size_t best = first;
    for (size_t i = first + 1; i < end; i++) {
        if (deadlines->slots[i].when_ns < deadlines->slots[best].when_ns) {
            best = i;
        }
    }
    return best;
}

/* Moves `slot` from `i` down to its position. */
static void sift_down(ki__deadlines *deadlines, size_t i, ki__deadline_slot slot)
{
    while (CHILDREN * i + 1 < deadlines->count) {
        size_t child = earliest_child(deadlines, CHILDREN * i + 1);
        if (deadlines->slots[child].when_ns >= slot.when_ns) {
            break;
        }
        place(deadlines, i, deadlines->slots[child]);
        i = child;
    }
    place(deadlines, i, slot);
}

void ki__deadlines_put(ki__deadlines *deadlines, ki__deadline *deadline, uint64_t when_ns)
{
    ki__deadline_slot slot = {when_ns, deadline};
    if (deadline->position == 0) {
        ki_assert(deadlines->count < deadlines->cap);
        sift_up(deadlines, deadlines->count++, slot);
        return;
    }
    size_t i = deadline->position - 1;
    ki_assert(i < deadlines->count && deadlines->slots[i].deadline == deadline);
    if (when_ns < deadlines->slots[i].when_ns) {
        sift_up(deadlines, i, slot);
    } else {
        sift_down(deadlines, i, slot);
    }
}

ki__deadline *ki__deadlines_pop_due(ki__deadlines *deadlines, uint64_t now_ns)
{
    if (deadlines->count == 0 || deadlines->slots[0].when_ns > now_ns) {
        return NULL;
    }
    ki__deadline *first = deadlines->slots[0].deadline;
    ki__deadline_slot last = deadlines->slots[--deadlines->count];
    if (deadlines->count != 0) {
        sift_down(deadlines, 0, last);
    }
    first->position = 0;
    return first;
}

ki__deadline *ki__deadlines_pop_any(ki__deadlines *deadlines)
{
    if (deadlines->count == 0) {
        return NULL;
    }
    ki__deadline *last = deadlines->slots[--deadlines->count].deadline;
    last->position = 0;
    return last;
}

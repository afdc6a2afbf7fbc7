/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic reference counts. */
#ifndef KI_BASE_REFS_H
#define KI_BASE_REFS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

typedef struct ki__refs {
    _Atomic uint32_t count;
} ki__refs;

/** Starts with one reference, the creator's. */
static inline void ki__refs_init(ki__refs *refs)
{
    atomic_init(&refs->count, 1);
}

/** Adds a reference; the caller must already hold one. */
static inline void ki__refs_take(ki__refs *refs)
{
    uint32_t before = atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
    ki_assert(before != 0 && before != UINT32_MAX);
}

/** Takes a reference unless the count is 0, for weak lists that members leave before they are
 *  freed. Returns whether it was taken. */
static inline bool ki__refs_try_take(ki__refs *refs)
{
    uint32_t count = atomic_load_explicit(&refs->count, memory_order_relaxed);
    while (count != 0 &&
           !atomic_compare_exchange_weak_explicit(&refs->count, &count, count + 1,
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    return count != 0;
}

/** Drops a reference. Returns whether it was the last: the caller then frees the object, and sees
 *  all earlier writes by other holders. */
static inline bool ki__refs_drop(ki__refs *refs)
{
    uint32_t before = atomic_fetch_sub_explicit(&refs->count, 1, memory_order_acq_rel);
    ki_assert(before != 0);
    return before == 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counting references from any thread. */
#ifndef KI_BASE_REFS_H
#define KI_BASE_REFS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

typedef struct ki__refs {
    _Atomic uint32_t count;
} ki__refs;

/** One reference, the maker's. */
static inline void ki__refs_init(ki__refs *refs)
{
    atomic_init(&refs->count, 1);
}

/** One more, for someone who has one. */
static inline void ki__refs_take(ki__refs *refs)
{
    uint32_t before = atomic_fetch_add_explicit(&refs->count, 1, memory_order_relaxed);
    ki_assert(before != 0 && before != UINT32_MAX);
}

/** One less. Whether it was the last: the caller then frees, and sees all that others did before.
 */
static inline bool ki__refs_drop(ki__refs *refs)
{
    uint32_t before = atomic_fetch_sub_explicit(&refs->count, 1, memory_order_acq_rel);
    ki_assert(before != 0);
    return before == 1;
}

#endif

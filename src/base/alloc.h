/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of the library is allocated here, with sizes checked for overflow. */
#ifndef KI_BASE_ALLOC_H
#define KI_BASE_ALLOC_H

#include <kinformer/alloc.h>

#include "base/shared.h"

/** Returns `alloc`, or the default table if it is NULL. */
static inline const ki_alloc *ki__alloc_or_default(const ki_alloc *alloc)
{
    return alloc != NULL ? alloc : ki_alloc_default();
}

/** Allocates `size` bytes, uninitialized; NULL if out of memory. A size of 0 is allowed. */
KI__SHARED void *ki__alloc(const ki_alloc *alloc, size_t size);

/** Like ki__alloc(), but zeroed. */
KI__SHARED void *ki__alloc_zero(const ki_alloc *alloc, size_t size);

/** Allocates `count` elements of `size` bytes, uninitialized; NULL also on overflow. */
KI__SHARED void *ki__alloc_array(const ki_alloc *alloc, size_t count, size_t size);

/** Resizes `block`, which may be NULL. Returns NULL on failure and leaves `block` unchanged. */
void *ki__realloc_array(const ki_alloc *alloc, void *block, size_t count, size_t size);

/** Frees `block`, which may be NULL. */
KI__SHARED void ki__free(const ki_alloc *alloc, void *block);

/** Prefaults heap memory before many small, long-lived allocations; call it every 64 KiB. Outside
 *  the main thread glibc grows its heap by only as much as each block needs, with a system call and
 *  a page fault per page: about a tenth of the CPU time of an initial sync. This allocates one
 *  larger block, populates its pages with one call and frees it, so that the following allocations
 *  reuse them. It does not help where blocks are recycled: call it for lists, not for events. */
void ki__alloc_ahead(const ki_alloc *alloc);

/** Returns unused memory to the system if the allocator supports it. May take some milliseconds:
 *  call it after a list, not per event. */
void ki__alloc_trim(const ki_alloc *alloc);

/** Ensures capacity for `need` elements in the array *block of *cap elements; grows by doubling.
 *  Returns 0, or -ENOMEM with nothing changed. */
KI__SHARED int ki__array_reserve(const ki_alloc *alloc, void **block, size_t *cap, size_t need,
                                 size_t size);

#endif

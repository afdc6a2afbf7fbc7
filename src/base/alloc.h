/* SPDX-License-Identifier: Apache-2.0 */
/* The only way the library gets memory. Sizes are checked for overflow here, once. */
#ifndef KI_BASE_ALLOC_H
#define KI_BASE_ALLOC_H

#include <kinformer/alloc.h>

#include "base/shared.h"

/** `alloc`, or the default table if it is NULL. */
static inline const ki_alloc *ki__alloc_or_default(const ki_alloc *alloc)
{
    return alloc != NULL ? alloc : ki_alloc_default();
}

/** `size` bytes, not cleared; NULL if there is no memory. A size of 0 gives a block nevertheless.
 */
KI__SHARED void *ki__alloc(const ki_alloc *alloc, size_t size);

/** The same, all zeros. */
KI__SHARED void *ki__alloc_zero(const ki_alloc *alloc, size_t size);

/** `count` elements of `size` bytes, not cleared; NULL also when the product does not fit. */
KI__SHARED void *ki__alloc_array(const ki_alloc *alloc, size_t count, size_t size);

/** Resizes `block`, which may be NULL; NULL leaves it as it was. */
void *ki__realloc_array(const ki_alloc *alloc, void *block, size_t count, size_t size);

/** Frees `block`, which may be NULL. */
KI__SHARED void ki__free(const ki_alloc *alloc, void *block);

/** Says that much more will be taken, in blocks of a few KiB, and kept: to be called every 64 KiB.
 *  Outside the main thread, glibc's heap grows by no more than what each block needs, with a system
 *  call and then a fault for each page: about a tenth of the processor time of a first sync. So one
 *  larger block is taken, its pages are requested at once, and it is released: what comes next
 *  finds them there. Where blocks are used again it has no use: it is for lists, not for events. */
void ki__alloc_ahead(const ki_alloc *alloc);

/** Gives memory that is not in use back to the system, if the allocator knows how to. May take some
 *  milliseconds: it is for the time after a list, not for events. */
void ki__alloc_trim(const ki_alloc *alloc);

/** Reserves space for at least `need` elements in the array *block of *cap elements, growing by
 *  doubling. 0, or -ENOMEM with everything as it was. */
KI__SHARED int ki__array_reserve(const ki_alloc *alloc, void **block, size_t *cap, size_t need,
                                 size_t size);

#endif

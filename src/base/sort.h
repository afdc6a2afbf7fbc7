/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting in place: takes no memory, does not recurse, and no input makes it slow. */
#ifndef KI_BASE_SORT_H
#define KI_BASE_SORT_H

#include <stddef.h>

#include "base/shared.h"

/** Less than 0, 0 or more than 0, as `a` comes before, with or after `b`. */
typedef int (*ki__sort_compare)(const void *a, const void *b);

/** Sorts `count` elements of `size` bytes in n log n steps. Equal elements come out in any order:
 *  where that matters, let the comparison look at their first places. */
KI__SHARED void ki__sort(void *elements, size_t count, size_t size, ki__sort_compare compare);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* In-place sort: no allocation, no recursion, O(n log n) on any input. */
#ifndef KI_BASE_SORT_H
#define KI_BASE_SORT_H

#include <stddef.h>

#include "base/shared.h"

/** Less than, equal to or greater than 0 if `a` sorts before, with or after `b`. */
typedef int (*ki__sort_compare)(const void *a, const void *b);

/** Sorts `count` elements of `size` bytes. Not stable: where the order of equal elements matters,
 *  compare their original positions too. */
KI__SHARED void ki__sort(void *elements, size_t count, size_t size, ki__sort_compare compare);

#endif

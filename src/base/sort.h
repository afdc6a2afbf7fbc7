/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting that needs no memory, no recursion, and n log n steps whatever the input. */
#ifndef KI_BASE_SORT_H
#define KI_BASE_SORT_H

#include <stddef.h>

/** Sorts `count` elements of `size` bytes (at most KI__SORT_MAX_SIZE). Equal elements may change
 *  places. */
enum { KI__SORT_MAX_SIZE = 64 };
void ki__sort(void *base, size_t count, size_t size, int (*compare)(const void *a, const void *b));

#endif

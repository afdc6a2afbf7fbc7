/* SPDX-License-Identifier: Apache-2.0 */
/* Heapsort. */
#include "base/sort.h"

#include <string.h>

#include "base/assert.h"

/* Lets the element at `root` sink to where it belongs in the heap of `count` elements. */
static void sink(char *base, size_t root, size_t count, size_t size,
                 int (*compare)(const void *a, const void *b))
{
    char moving[KI__SORT_MAX_SIZE];
    memcpy(moving, base + root * size, size);
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && compare(base + child * size, base + (child + 1) * size) < 0) {
            child++;
        }
        if (compare(moving, base + child * size) >= 0) {
            break;
        }
        memcpy(base + root * size, base + child * size, size);
        root = child;
    }
    memcpy(base + root * size, moving, size);
}

static void swap(char *a, char *b, size_t size)
{
    char kept[KI__SORT_MAX_SIZE];
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

void ki__sort(void *base, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
    ki_assert(size <= KI__SORT_MAX_SIZE);
    for (size_t i = count / 2; i-- > 0;) {
        sink(base, i, count, size, compare);
    }
    for (size_t end = count; end > 1; end--) {
        swap(base, (char *)base + (end - 1) * size, size);
        sink(base, 0, end - 1, size, compare);
    }
}

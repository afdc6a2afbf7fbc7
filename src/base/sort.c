/* SPDX-License-Identifier: Apache-2.0 */
/* Heapsort. The C library's qsort may allocate, and may be quadratic on crafted input. */
#include "base/sort.h"

#include <string.h>

typedef struct array {
    unsigned char *bytes;
    size_t size;
    ki__sort_compare compare;
} array;

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    unsigned char piece[64];
    while (size != 0) {
        size_t n = size < sizeof(piece) ? size : sizeof(piece);
        memcpy(piece, a, n);
        memcpy(a, b, n);
        memcpy(b, piece, n);
        a += n;
        b += n;
        size -= n;
    }
}

/* Restores the max-heap at `root`, whose two subtrees are heaps. */
static void sift_down(const array *a, size_t root, size_t count)
{
    while (root < count / 2) {
        size_t child = 2 * root + 1;
        unsigned char *greatest = a->bytes + child * a->size;
        if (child + 1 < count && a->compare(greatest, greatest + a->size) < 0) {
            child++;
            greatest += a->size;
        }
        unsigned char *top = a->bytes + root * a->size;
        if (a->compare(top, greatest) >= 0) {
            return;
        }
        swap(top, greatest, a->size);
        root = child;
    }
}

void ki__sort(void *elements, size_t count, size_t size, ki__sort_compare compare)
{
    array a = {.bytes = elements, .size = size, .compare = compare};
    for (size_t i = count / 2; i > 0; i--) {
        sift_down(&a, i - 1, count);
    }
    for (size_t end = count; end > 1; end--) {
        swap(a.bytes, a.bytes + (end - 1) * size, size);
        sift_down(&a, 0, end - 1);
    }
}

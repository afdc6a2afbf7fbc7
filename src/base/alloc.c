/* SPDX-License-Identifier: Apache-2.0 */
/* The default allocator and checked allocation through any allocator table. No other file of the
 * library may call malloc. */
#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *default_alloc(size_t size, void *user)
{
    (void)user;
    return malloc(size);
}

static void *default_realloc(void *block, size_t size, void *user)
{
    (void)user;
    return realloc(block, size);
}

static void default_free(void *block, void *user)
{
    (void)user;
    free(block);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
static void default_trim(void *user)
{
    (void)user;
    (void)malloc_trim(0);
}
#else
#define default_trim NULL
#endif

const ki_alloc *ki_alloc_default(void)
{
    static const ki_alloc table = {
        .alloc = default_alloc,
        .realloc = default_realloc,
        .free = default_free,
        .trim = default_trim,
    };
    return &table;
}

/* AHEAD_BYTES is below glibc's mmap threshold (a larger block would be mapped separately) and below
 * its trim threshold (freeing it would shrink the heap again). */
void ki__alloc_ahead(const ki_alloc *alloc)
{
    enum { AHEAD_BYTES = 96 << 10, PAGE_BYTES = 4 << 10 };
#if defined(__GLIBC__) && defined(MADV_POPULATE_WRITE) && !defined(__SANITIZE_ADDRESS__)
    char *block = alloc == ki_alloc_default() ? malloc(AHEAD_BYTES) : NULL;
    if (block != NULL) {
        size_t skip = -(uintptr_t)block % PAGE_BYTES;
        /* Kernels before 5.14 reject this; the pages are then faulted in one by one. */
        (void)madvise(block + skip, AHEAD_BYTES - PAGE_BYTES, MADV_POPULATE_WRITE);
        free(block);
    }
#else
    (void)alloc;
#endif
}

void ki__alloc_trim(const ki_alloc *alloc)
{
    if (alloc->trim != NULL) {
        alloc->trim(alloc->user);
    }
}

void *ki__alloc(const ki_alloc *alloc, size_t size)
{
    return alloc->alloc(size != 0 ? size : 1, alloc->user);
}

void *ki__alloc_zero(const ki_alloc *alloc, size_t size)
{
    void *block = ki__alloc(alloc, size);
    if (block != NULL) {
        memset(block, 0, size);
    }
    return block;
}

void *ki__alloc_array(const ki_alloc *alloc, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        return NULL;
    }
    return ki__alloc(alloc, total);
}

void *ki__realloc_array(const ki_alloc *alloc, void *block, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        return NULL;
    }
    if (block == NULL) {
        return ki__alloc(alloc, total);
    }
    return alloc->realloc(block, total != 0 ? total : 1, alloc->user);
}

void ki__free(const ki_alloc *alloc, void *block)
{
    if (block != NULL) {
        alloc->free(block, alloc->user);
    }
}

int ki__array_reserve(const ki_alloc *alloc, void **block, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) {
        return 0;
    }
    size_t grown = *cap < 8 ? 8 : *cap;
    while (grown < need) {
        if (__builtin_mul_overflow(grown, (size_t)2, &grown)) {
            return -ENOMEM;
        }
    }
    void *moved = ki__realloc_array(alloc, *block, grown, size);
    if (moved == NULL) {
        return -ENOMEM;
    }
    *block = moved;
    *cap = grown;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that looks for words in all memory that is freed or moved. For one thread. */
#ifndef TESTS_SUPPORT_WATCHED_ALLOC_H
#define TESTS_SUPPORT_WATCHED_ALLOC_H

#include <stdlib.h>
#include <string.h>

#include <kinformer/alloc.h>

typedef struct watched_alloc {
    ki_alloc table;
    const char *const *words; /* ends with NULL; none may be found */
    size_t found;             /* how many blocks had one */
    size_t freed;
} watched_alloc;

static inline void watched_look(watched_alloc *watched, void *block)
{
    size_t size = ((size_t *)block)[-2];
    watched->freed++;
    for (size_t i = 0; watched->words[i] != NULL; i++) {
        if (memmem(block, size, watched->words[i], strlen(watched->words[i])) != NULL) {
            watched->found++;
            return;
        }
    }
}

static inline void *watched_new(size_t size, void *user)
{
    (void)user;
    size_t *block = calloc(1, size + 2 * sizeof(size_t)); /* others may have left words there */
    if (block == NULL) {
        return NULL;
    }
    block[0] = size;
    return block + 2;
}

static inline void watched_free(void *block, void *user)
{
    watched_look(user, block);
    free((size_t *)block - 2);
}

/* Always moves, so the old place counts as freed. */
static inline void *watched_move(void *block, size_t size, void *user)
{
    size_t old = ((size_t *)block)[-2];
    void *moved = watched_new(size, user);
    if (moved != NULL) {
        memcpy(moved, block, old < size ? old : size);
        watched_free(block, user);
    }
    return moved;
}

static inline void watched_alloc_init(watched_alloc *watched, const char *const *words)
{
    *watched = (watched_alloc){.words = words};
    watched->table = (ki_alloc){
        .alloc = watched_new,
        .realloc = watched_move,
        .free = watched_free,
        .user = watched,
    };
}

#endif

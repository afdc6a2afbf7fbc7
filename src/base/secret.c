/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: allocated bytes stay in their block until ki__secrets_done() has wiped it. */
#include "base/secret.h"

#include <stdalign.h>

#include "base/alloc.h"

enum { BLOCK_BYTES = 4096 };

typedef struct ki__secrets_block {
    struct ki__secrets_block *before;
    size_t size; /* of `bytes` */
    size_t used;
    alignas(max_align_t) char bytes[];
} ki__secrets_block;

void ki__wipe(void *bytes, size_t len)
{
    if (len != 0) {
        explicit_bzero(bytes, len);
    }
}

void ki__secrets_init(ki__secrets *secrets, const ki_alloc *alloc)
{
    *secrets = (ki__secrets){.alloc = ki__alloc_or_default(alloc)};
}

void ki__secrets_done(ki__secrets *secrets)
{
    ki__secrets_block *block = secrets->last;
    while (block != NULL) {
        ki__secrets_block *before = block->before;
        ki__wipe(block, sizeof(*block) + block->size);
        ki__free(secrets->alloc, block);
        block = before;
    }
    secrets->last = NULL;
}

static ki__secrets_block *add_block(ki__secrets *secrets, size_t size)
{
    size_t total;
    if (__builtin_add_overflow(size, sizeof(ki__secrets_block), &total)) {
        return NULL;
    }
    ki__secrets_block *block = ki__alloc_zero(secrets->alloc, total);
    if (block != NULL) {
        block->size = size;
        block->before = secrets->last;
        secrets->last = block;
    }
    return block;
}

void *ki__secrets_take(ki__secrets *secrets, size_t size)
{
    size_t rounded;
    if (__builtin_add_overflow(size, alignof(max_align_t) - 1, &rounded)) {
        return NULL;
    }
    rounded -= rounded % alignof(max_align_t);
    ki__secrets_block *block = secrets->last;
    if (block == NULL || block->size - block->used < rounded) {
        block = add_block(secrets, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
        if (block == NULL) {
            return NULL;
        }
    }
    void *bytes = block->bytes + block->used;
    block->used += rounded;
    return bytes;
}

void *ki__secrets_take_array(ki__secrets *secrets, size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? NULL : ki__secrets_take(secrets, total);
}

char *ki__secrets_copy(ki__secrets *secrets, ki_str text)
{
    if (text.len == SIZE_MAX) {
        return NULL;
    }
    char *copy = ki__secrets_take(secrets, text.len + 1);
    if (copy != NULL && text.len != 0) {
        memcpy(copy, text.ptr, text.len);
    }
    return copy;
}

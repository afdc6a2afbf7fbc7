/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/copy_on_write.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { CHUNK_ITEMS = 254 };

void *ki__edit_new(ki__edit *edit, size_t size)
{
    ki__block *block = ki__alloc_zero(edit->alloc, size);
    if (block != NULL) {
        block->birth = edit->number;
        edit->grown += size;
    }
    return block;
}

void ki__edit_free(ki__edit *edit, void *block, size_t size)
{
    edit->grown -= size;
    ki__free(edit->alloc, block);
}

int ki__edit_reserve(ki__edit *edit)
{
    if (edit->garbage->count < edit->garbage->cap) {
        return 0;
    }
    size_t size = sizeof(ki__garbage_chunk) + CHUNK_ITEMS * sizeof(ki__garbage_item);
    ki__garbage_chunk *chunk = ki__alloc(edit->alloc, size);
    if (chunk == NULL) {
        return -ENOMEM;
    }
    *chunk = (ki__garbage_chunk){
        .next = edit->garbage,
        .block = chunk,
        .bytes = size,
        .cap = CHUNK_ITEMS,
        .items = (ki__garbage_item *)(void *)(chunk + 1),
    };
    edit->garbage = chunk;
    edit->discarded += size;
    return 0;
}

void ki__edit_discard(ki__edit *edit, void *ptr, uint32_t id, size_t bytes)
{
    ki__garbage_chunk *chunk = edit->garbage;
    ki_assert(chunk->count < chunk->cap);
    uint32_t size = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    chunk->items[chunk->count++] = (ki__garbage_item){ptr, id, size};
    edit->discarded += size;
}

void ki__edit_restore(ki__edit *edit, const void *ptr, uint32_t id)
{
    for (ki__garbage_chunk *chunk = edit->garbage; chunk != NULL; chunk = chunk->next) {
        for (uint32_t i = chunk->count; i-- > 0;) {
            if (chunk->items[i].ptr == ptr && chunk->items[i].id == id) {
                edit->discarded -= chunk->items[i].bytes;
                chunk->items[i] = chunk->items[--chunk->count];
                return;
            }
        }
    }
    ki_assert(false);
}

void ki__edit_replaced(ki__edit *edit, void *block, size_t size)
{
    if (ki__edit_owns(edit, block)) {
        ki__edit_free(edit, block, size);
    } else {
        edit->grown -= size;
        ki__edit_discard(edit, block, KI__GARBAGE_BLOCK, size);
    }
}

void *ki__edit_copy(ki__edit *edit, void *block, size_t used, size_t size, size_t new_size)
{
    if (!ki__edit_owns(edit, block) && ki__edit_reserve(edit) < 0) {
        return NULL;
    }
    ki__block *copy = ki__alloc(edit->alloc, new_size);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, block, used);
    if (new_size > used) {
        memset((char *)copy + used, 0, new_size - used);
    }
    copy->birth = edit->number;
    edit->grown += new_size;
    ki__edit_replaced(edit, block, size);
    return copy;
}

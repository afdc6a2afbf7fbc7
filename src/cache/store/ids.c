/* SPDX-License-Identifier: Apache-2.0 */
/* Taking only decreases free_count and increases next, and releasing appends after the initial
 * part; so rolling back only needs the old counts. */
#include "cache/store/ids.h"

#include <string.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"

void ki__ids_init(ki__ids *ids, const ki_alloc *alloc, uint32_t max)
{
    *ids = (ki__ids){.alloc = alloc, .max = max};
}

void ki__ids_done(ki__ids *ids)
{
    ki__free(ids->alloc, ids->free);
    ids->free = NULL;
}

int ki__ids_take(ki__ids *ids, uint32_t *ret_id)
{
    if (ids->free_count != 0) {
        *ret_id = ids->free[--ids->free_count];
        return 0;
    }
    if (ids->next >= ids->max) {
        return KI_ERR_LIMIT;
    }
    *ret_id = ids->next++;
    return 0;
}

void ki__ids_untake(ki__ids *ids, uint32_t id)
{
    if (ids->next > ids->begin_next) {
        ki_assert(id == ids->next - 1);
        ids->next--;
    } else {
        ki_assert(ids->free[ids->free_count] == id);
        ids->free_count++;
    }
}

int ki__ids_reserve(ki__ids *ids, size_t more)
{
    void *block = ids->free;
    int r =
        ki__array_reserve(ids->alloc, &block, &ids->cap, ids->end_count + more, sizeof(*ids->free));
    ids->free = block;
    return r;
}

void ki__ids_release(ki__ids *ids, uint32_t id)
{
    ki_assert(ids->end_count < ids->cap);
    ids->free[ids->end_count++] = id;
}

void ki__ids_commit(ki__ids *ids)
{
    size_t given = ids->end_count - ids->begin_count;
    if (given != 0 && ids->free_count != ids->begin_count) {
        memmove(ids->free + ids->free_count, ids->free + ids->begin_count,
                given * sizeof(*ids->free));
    }
    ids->free_count += given;
    ids->begin_count = ids->free_count;
    ids->end_count = ids->free_count;
    ids->begin_next = ids->next;
}

void ki__ids_abort(ki__ids *ids)
{
    ids->free_count = ids->begin_count;
    ids->end_count = ids->begin_count;
    ids->next = ids->begin_next;
}

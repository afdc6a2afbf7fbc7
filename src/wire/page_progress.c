/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressing set of hashes, at most half full. A server that finds hash collisions only
 * affects the page count of its own list. */
#include "wire/page_progress.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST_CAP = 1 << 10 };

void ki__progress_init(ki__progress *progress, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *progress = (ki__progress){.alloc = alloc, .hash_key = hash_key};
}

void ki__progress_reset(ki__progress *progress)
{
    ki__free(progress->alloc, progress->seen);
    ki__progress_init(progress, progress->alloc, progress->hash_key);
}

/* Inserts a hash; false if present. There must be a free slot. */
static bool insert(uint64_t *slots, size_t cap, uint64_t hash)
{
    size_t at = (size_t)hash & (cap - 1);
    while (slots[at] != 0) {
        if (slots[at] == hash) {
            return false;
        }
        at = (at + 1) & (cap - 1);
    }
    slots[at] = hash;
    return true;
}

/* Keeps the set at most half full. */
static bool make_room(ki__progress *progress)
{
    if (progress->seen_count < progress->seen_cap / 2) {
        return true;
    }
    size_t cap = progress->seen_cap != 0 ? progress->seen_cap * 2 : FIRST_CAP;
    if (cap > SIZE_MAX / 4 / sizeof(uint64_t)) {
        return false;
    }
    uint64_t *slots = ki__alloc_zero(progress->alloc, cap * sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < progress->seen_cap; i++) {
        if (progress->seen[i] != 0) {
            (void)insert(slots, cap, progress->seen[i]);
        }
    }
    ki__free(progress->alloc, progress->seen);
    progress->seen = slots;
    progress->seen_cap = cap;
    return true;
}

void ki__progress_note_key(ki__progress *progress, ki_str key)
{
    if (key.len == 0) {
        return;
    }
    if (!progress->later || !make_room(progress)) {
        progress->has_new = true;
        return;
    }
    uint64_t hash = ki__hash_str(progress->hash_key, key);
    if (insert(progress->seen, progress->seen_cap, hash != 0 ? hash : 1)) {
        progress->seen_count++;
        progress->has_new = true;
    }
}

static bool is_repeated(ki__progress *progress, ki_str token)
{
    uint64_t hash = ki__hash_str(progress->hash_key, token);
    if (progress->tokens != 0 && (hash == progress->mark || hash == progress->last_token)) {
        return true;
    }
    if (progress->tokens == progress->next_mark) {
        progress->mark = hash;
        progress->next_mark = progress->tokens * 2 + 1;
    }
    progress->last_token = hash;
    progress->tokens++;
    return false;
}

int ki__progress_next_page(ki__progress *progress, ki_str token, ki_error *error)
{
    progress->pages_without_new = progress->has_new ? 0 : progress->pages_without_new + 1;
    progress->has_new = false;
    progress->later = true;
    if (is_repeated(progress, token)) {
        return ki__error_set(error, KI_ERR_INVALID, "pagination loop: continue token repeated");
    }
    if (progress->pages_without_new >= KI__PAGES_WITHOUT_NEW_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "pagination loop: %u pages in a row without a new object",
                             (unsigned)progress->pages_without_new);
    }
    return 0;
}

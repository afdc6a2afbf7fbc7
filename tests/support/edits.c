/* SPDX-License-Identifier: Apache-2.0 */
#include "support/edits.h"

#include "base/alloc.h"

void test_edit_begin(test_copy_on_write *edit, const ki_alloc *alloc, uint64_t number)
{
    edit->first = (ki__garbage_chunk){
        .cap = sizeof(edit->items) / sizeof(edit->items[0]),
        .items = edit->items,
    };
    edit->edit = (ki__edit){.alloc = alloc, .number = number, .garbage = &edit->first};
}

size_t test_edit_garbage(const test_copy_on_write *edit)
{
    size_t count = 0;
    for (const ki__garbage_chunk *chunk = edit->edit.garbage; chunk != NULL; chunk = chunk->next) {
        count += chunk->count;
    }
    return count;
}

static void drop(test_copy_on_write *edit, bool blocks)
{
    const ki_alloc *alloc = edit->edit.alloc;
    ki__garbage_chunk *chunk = edit->edit.garbage;
    while (chunk != NULL) {
        ki__garbage_chunk *next = chunk->next;
        for (uint32_t i = 0; blocks && i < chunk->count; i++) {
            ki__free(alloc, chunk->items[i].ptr);
        }
        ki__free(alloc, chunk->block);
        chunk = next;
    }
    edit->first.count = 0;
    edit->edit.garbage = &edit->first;
}

void test_edit_collect(test_copy_on_write *edit)
{
    drop(edit, true);
}

void test_edit_forget(test_copy_on_write *edit)
{
    drop(edit, false);
}

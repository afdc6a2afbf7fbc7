/* SPDX-License-Identifier: Apache-2.0 */
/* Edits without a store, for tests of the structures that are copied on write: a row of versions,
 * of which each has a list of what the next one no longer has. */
#ifndef TESTS_SUPPORT_EDITS_H
#define TESTS_SUPPORT_EDITS_H

#include "cache/store/copy_on_write.h"

/** One edit and the garbage of the version before it. It must not move while it is in use. */
typedef struct test_copy_on_write {
    ki__edit edit;
    ki__garbage_chunk first;
    ki__garbage_item items[3]; /* few, so that chunks are added soon */
} test_copy_on_write;

/** Begins the edit that builds version `number`. */
void test_edit_begin(test_copy_on_write *edit, const ki_alloc *alloc, uint64_t number);

/** How many blocks the edit has made garbage. */
size_t test_edit_garbage(const test_copy_on_write *edit);

/** Frees all blocks that the edit has made garbage: the version before it is gone, and so are all
 *  older ones. */
void test_edit_collect(test_copy_on_write *edit);

/** Forgets the garbage: the edit was taken back and the version before it keeps everything. */
void test_edit_forget(test_copy_on_write *edit);

#endif

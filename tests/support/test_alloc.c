/* SPDX-License-Identifier: Apache-2.0 */
/* Each block carries its size in front, so that frees can be accounted. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* As large as the strictest alignment, so that what follows stays aligned. */
union header {
    size_t size;
    max_align_t align;
};

static bool account(test_alloc *a, size_t size, size_t old_size)
{
    a->calls++;
    bool fail =
        a->fail_at != 0 && (a->fail_onwards ? a->calls >= a->fail_at : a->calls == a->fail_at);
    fail = fail || (a->limit_bytes != 0 && a->live_bytes - old_size + size > a->limit_bytes);
    if (fail) {
        a->failures++;
        return false;
    }
    a->live_bytes += size - old_size;
    if (a->live_bytes > a->peak_bytes) {
        a->peak_bytes = a->live_bytes;
    }
    return true;
}

static void *new_block(size_t size)
{
    union header *block = malloc(sizeof(*block) + size);
    if (block == NULL) {
        fail_msg("the machine has no memory for a test");
    }
    block->size = size;
    return memset(block + 1, 0xa5, size); /* makes reads of uninitialized memory visible */
}

static void *counted_alloc(size_t size, void *user)
{
    test_alloc *a = user;
    pthread_mutex_lock(a->lock);
    bool ok = account(a, size, 0);
    if (ok) {
        a->live_blocks++;
    }
    pthread_mutex_unlock(a->lock);
    return ok ? new_block(size) : NULL;
}

/* Always moves, so that a pointer kept across growth is found out. */
static void *counted_realloc(void *data, size_t size, void *user)
{
    test_alloc *a = user;
    union header *old = (union header *)data - 1;
    pthread_mutex_lock(a->lock);
    bool ok = account(a, size, old->size);
    pthread_mutex_unlock(a->lock);
    if (!ok) {
        return NULL;
    }
    void *moved = new_block(size);
    memcpy(moved, data, size < old->size ? size : old->size);
    free(old);
    return moved;
}

static void counted_free(void *data, void *user)
{
    test_alloc *a = user;
    union header *block = (union header *)data - 1;
    pthread_mutex_lock(a->lock);
    a->live_blocks--;
    a->live_bytes -= block->size;
    pthread_mutex_unlock(a->lock);
    free(block);
}

static void counted_trim(void *user)
{
    ((test_alloc *)user)->trims++;
}

void test_alloc_init(test_alloc *alloc)
{
    *alloc = (test_alloc){
        .table = {0, counted_alloc, counted_realloc, counted_free, alloc, counted_trim},
        .lock = malloc(sizeof(pthread_mutex_t)),
    };
    if (alloc->lock == NULL || pthread_mutex_init(alloc->lock, NULL) != 0) {
        fail_msg("no lock for the test allocator");
    }
}

void test_alloc_done(test_alloc *alloc)
{
    size_t blocks = alloc->live_blocks;
    pthread_mutex_destroy(alloc->lock);
    free(alloc->lock);
    assert_int_equal(blocks, 0);
}

static int run_failing(test_scenario scenario, void *user, uint64_t fail_at, bool onwards,
                       uint64_t *ret_failures)
{
    test_alloc alloc;
    test_alloc_init(&alloc);
    alloc.fail_at = fail_at;
    alloc.fail_onwards = onwards;
    int r = scenario(&alloc.table, user);
    if (r != 0 && r != -ENOMEM) {
        fail_msg("allocation %llu failing gave %d instead of 0 or -ENOMEM",
                 (unsigned long long)fail_at, r);
    }
    if (alloc.live_blocks != 0) {
        fail_msg("allocation %llu failing (onwards: %d) leaked %zu blocks",
                 (unsigned long long)fail_at, onwards, alloc.live_blocks);
    }
    *ret_failures = alloc.failures;
    test_alloc_done(&alloc);
    return r;
}

void test_alloc_sweep(test_scenario scenario, void *user)
{
    uint64_t failures;
    assert_int_equal(run_failing(scenario, user, 0, false, &failures), 0);
    bool refused = false;
    for (int onwards = 0; onwards <= 1; onwards++) {
        for (uint64_t n = 1;; n++) {
            int r = run_failing(scenario, user, n, onwards != 0, &failures);
            if (failures == 0) {
                assert_int_equal(r, 0);
                break; /* the scenario makes fewer than n allocations */
            }
            refused = refused || r == -ENOMEM;
        }
    }
    assert_true(refused);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes: cmocka, and allocators that count, fail and limit. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

/* cmocka wants these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/str.h>

/** An allocator that knows what it gave out. All calls may come from any thread. */
typedef struct test_alloc {
    ki_alloc table;     /* hand this to the code under test */
    uint64_t calls;     /* alloc and realloc calls so far */
    uint64_t fail_at;   /* the call that fails, from 1; 0: none */
    bool fail_onwards;  /* and every one after it */
    uint64_t failures;  /* calls that were made to fail */
    size_t live_blocks; /* given out and not yet freed */
    size_t live_bytes;  /* as requested */
    size_t peak_bytes;  /* most live_bytes ever */
    size_t limit_bytes; /* live_bytes never passes this; 0: no limit */
    unsigned trims;     /* calls of trim */
    void *lock;         /* a mutex */
} test_alloc;

void test_alloc_init(test_alloc *alloc);
/** Fails the test if anything is still allocated. */
void test_alloc_done(test_alloc *alloc);

/** A scenario to run again and again: builds, uses and releases everything with `alloc`; returns 0,
 *  or the first error it met, having released everything and checked that nothing was half done. */
typedef int (*test_scenario)(const ki_alloc *alloc, void *user);

/** Runs the scenario once undisturbed (it must return 0), then with the n-th allocation failing for
 *  every n, once with only that one failing and once with all from there on. Each run must leak
 *  nothing, and return 0 or -ENOMEM; at least one failing run must have returned -ENOMEM. */
void test_alloc_sweep(test_scenario scenario, void *user);

/** A small deterministic generator for tests (splitmix64). */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** Appends `text` to `buf`, `times` times; what does not fit fails the test. */
static inline void test_add(ki_buf *buf, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        assert_int_equal(ki_buf_add_text(buf, text), 0);
    }
}

#define assert_str(view, text)                                                              \
    do {                                                                                    \
        ki_str assert_str_view = (view);                                                    \
        assert_int_equal(assert_str_view.len, strlen(text));                                \
        assert_memory_equal(assert_str_view.ptr != NULL ? assert_str_view.ptr : "", (text), \
                            strlen(text));                                                  \
    } while (0)

#endif

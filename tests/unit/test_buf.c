/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "support/test.h"

/* The invariant of src/base/buf.c, and the content. */
static void check(const ki_buf *buf, const char *content, size_t len)
{
    assert_int_equal(buf->len, len);
    if (buf->data == NULL) {
        assert_int_equal(len, 0);
        assert_int_equal(buf->cap, 0);
    } else {
        assert_true(buf->len < buf->cap);
        assert_true(buf->cap <= buf->max + 1);
        assert_int_equal(buf->data[buf->len], '\0');
        assert_memory_equal(buf->data, content, len);
    }
}

static void new_buffer_is_empty_and_owns_nothing(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_buf buf;
    ki_buf_init(&buf, &alloc.table, 10);
    check(&buf, "", 0);
    assert_string_equal(ki_buf_text(&buf), "");
    assert_int_equal(ki_buf_str(&buf).len, 0);
    ki_buf_clear(&buf);
    ki_buf_done(&buf);
    ki_buf_done(NULL);
    assert_int_equal(alloc.calls, 0);
    test_alloc_done(&alloc);
}

static void adding_appends_in_each_of_its_forms(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    assert_int_equal(ki_buf_add(&buf, "a\0b", 3), 0);
    assert_int_equal(ki_buf_add_char(&buf, '\xff'), 0);
    assert_int_equal(ki_buf_add_str(&buf, ki_str_make("cde", 2)), 0);
    assert_int_equal(ki_buf_add_text(&buf, "f"), 0);
    check(&buf,
          "a\0b\xff"
          "cdf",
          7);
    ki_buf_done(&buf);
}

static void adding_nothing_changes_nothing(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1);
    for (int round = 0; round < 2; round++) { /* the second time the buffer is full */
        const char *content = round == 0 ? "" : "x";
        assert_int_equal(ki_buf_add(&buf, NULL, 0), 0);
        assert_int_equal(ki_buf_add_str(&buf, ki_str_from(NULL)), 0);
        assert_int_equal(ki_buf_add_text(&buf, NULL), 0);
        assert_int_equal(ki_buf_add_text(&buf, ""), 0);
        check(&buf, content, strlen(content));
        assert_string_equal(ki_buf_text(&buf), content);
        if (round == 0) {
            assert_int_equal(ki_buf_add_char(&buf, 'x'), 0);
        }
    }
    ki_buf_done(&buf);
}

static void limit_is_exact_whatever_the_steps(void **state)
{
    (void)state;
    static const size_t limits[] = {1, 2, 63, 64, 65, 127, 128, 129, 1000};
    char bytes[1001];
    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        size_t max = limits[i];
        ki_buf buf;
        ki_buf_init(&buf, NULL, max);
        assert_int_equal(ki_buf_add(&buf, bytes, max + 1), KI_ERR_LIMIT);
        check(&buf, bytes, 0);
        assert_int_equal(ki_buf_add(&buf, bytes, max), 0);
        check(&buf, bytes, max);
        assert_int_equal(ki_buf_add_char(&buf, 'x'), KI_ERR_LIMIT);
        assert_int_equal(ki_buf_add(&buf, bytes, SIZE_MAX), KI_ERR_LIMIT);
        check(&buf, bytes, max);
        ki_buf_done(&buf);
        for (size_t n = 0; n < max; n++) {
            assert_int_equal(ki_buf_add_char(&buf, 'x'), 0);
        }
        assert_int_equal(ki_buf_add_char(&buf, 'x'), KI_ERR_LIMIT);
        check(&buf, bytes, max);
        ki_buf_done(&buf);
    }
}

static void limit_of_zero_holds_nothing(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 0);
    assert_int_equal(ki_buf_add_char(&buf, 'x'), KI_ERR_LIMIT);
    assert_int_equal(ki_buf_add_text(&buf, ""), 0);
    check(&buf, "", 0);
    ki_buf_done(&buf);
}

static void limit_too_large_for_memory_does_not_overflow(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    alloc.limit_bytes = 1000; /* or the test would take what it asks for */
    ki_buf buf;
    ki_buf_init(&buf, &alloc.table, SIZE_MAX);
    assert_int_equal(ki_buf_add_text(&buf, "abc"), 0);
    char *room = NULL;
    assert_int_equal(ki_buf_reserve(&buf, SIZE_MAX, &room), KI_ERR_LIMIT);
    assert_int_equal(ki_buf_reserve(&buf, SIZE_MAX - 3, &room), KI_ERR_LIMIT);
    assert_int_equal(ki_buf_reserve(&buf, SIZE_MAX / 8, &room), -ENOMEM);
    assert_null(room);
    check(&buf, "abc", 3);
    ki_buf_done(&buf);
    test_alloc_done(&alloc);
}

static void growth_allocates_seldom(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_buf buf;
    ki_buf_init(&buf, &alloc.table, 1 << 20);
    for (int i = 0; i < 1 << 20; i++) {
        assert_int_equal(ki_buf_add_char(&buf, (char)i), 0);
    }
    assert_true(alloc.calls <= 16);
    assert_int_equal(buf.cap, (1 << 20) + 1); /* and never past what may be filled */
    for (int i = 0; i < 1 << 20; i++) {
        if (buf.data[i] != (char)i) {
            fail_msg("byte %d was lost", i);
        }
    }
    ki_buf_done(&buf);
    test_alloc_done(&alloc);
}

static void reserved_room_counts_once_committed(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_buf buf;
    ki_buf_init(&buf, &alloc.table, 200);
    char *room;
    assert_int_equal(ki_buf_reserve(&buf, 1, &room), 0);
    check(&buf, "", 0);
    assert_int_equal(ki_buf_add_text(&buf, "ab"), 0);
    assert_int_equal(ki_buf_reserve(&buf, 198, &room), 0);
    assert_ptr_equal(room, buf.data + 2);
    check(&buf, "ab", 2);
    memset(room, 'z', 198); /* over the NUL and all that was requested */
    ki_buf_commit(&buf, 0);
    check(&buf, "ab", 2);
    memset(room, 'z', 198);
    ki_buf_commit(&buf, 3);
    check(&buf, "abzzz", 5);
    assert_int_equal(ki_buf_reserve(&buf, 195, &room), 0);
    assert_ptr_equal(room, buf.data + 5);
    memset(room, 'z', 195);
    ki_buf_commit(&buf, 195);
    assert_int_equal(strlen(ki_buf_text(&buf)), 200);
    ki_buf_done(&buf);
    test_alloc_done(&alloc);
}

static void clear_keeps_the_memory_and_done_gives_it_back(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_buf buf;
    ki_buf_init(&buf, &alloc.table, 100);
    assert_int_equal(ki_buf_add_text(&buf, "hello"), 0);
    ki_buf_clear(&buf);
    check(&buf, "", 0);
    assert_string_equal(ki_buf_text(&buf), "");
    assert_int_equal(ki_buf_add_text(&buf, "bye"), 0);
    assert_int_equal(alloc.calls, 1);
    check(&buf, "bye", 3);
    ki_buf_done(&buf);
    assert_int_equal(alloc.live_blocks, 0);
    check(&buf, "", 0);
    assert_int_equal(ki_buf_add_text(&buf, "again"), 0);
    check(&buf, "again", 5);
    ki_buf_done(&buf);
    ki_buf_done(&buf);
    test_alloc_done(&alloc);
}

/* Fills a buffer by unequal steps; on failure it must hold exactly what was added before. */
static int fill(const ki_alloc *alloc, void *user)
{
    (void)user;
    char expected[2000];
    size_t len = 0;
    int r = 0;
    ki_buf buf;
    ki_buf_init(&buf, alloc, sizeof(expected));
    for (size_t step = 1; r == 0 && len + step <= sizeof(expected); step = step * 3 / 2 + 1) {
        memset(expected + len, (int)('a' + step % 26), step);
        r = ki_buf_add(&buf, expected + len, step);
        len += r == 0 ? step : 0;
        check(&buf, expected, len);
    }
    ki_buf_done(&buf);
    return r;
}

static void failed_allocation_leaves_the_content(void **state)
{
    (void)state;
    test_alloc_sweep(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_buffer_is_empty_and_owns_nothing),
        cmocka_unit_test(adding_appends_in_each_of_its_forms),
        cmocka_unit_test(adding_nothing_changes_nothing),
        cmocka_unit_test(limit_is_exact_whatever_the_steps),
        cmocka_unit_test(limit_of_zero_holds_nothing),
        cmocka_unit_test(limit_too_large_for_memory_does_not_overflow),
        cmocka_unit_test(growth_allocates_seldom),
        cmocka_unit_test(reserved_room_counts_once_committed),
        cmocka_unit_test(clear_keeps_the_memory_and_done_gives_it_back),
        cmocka_unit_test(failed_allocation_leaves_the_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

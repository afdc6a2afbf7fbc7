/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include <kinformer/error.h>
#include <kinformer/key.h>

#include "support/test.h"

static void join_makes_keys_with_and_without_namespace(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki_key_join(ki_str_from("default"), ki_str_from("web-0"), &out), 0);
    assert_string_equal(out.data, "default/web-0");
    ki_buf_clear(&out);
    assert_int_equal(ki_key_join(ki_str_from(NULL), ki_str_from("node-1"), &out), 0);
    assert_string_equal(out.data, "node-1");
    assert_int_equal(ki_key_join(ki_str_from(""), ki_str_from(".x"), &out), 0);
    assert_string_equal(out.data, "node-1.x");
    assert_int_equal(out.len, 8);
    ki_buf_done(&out);
}

static void join_refuses_what_would_not_split_again(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"", ""},    {"ns", ""},   {"", "a/b"}, {"ns", "a/b"},
                                         {"n/s", ""}, {"n/s", "a"}, {"/", "a"},  {"ns", "/"}};
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki_buf_add_text(&out, "kept"), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int r = ki_key_join(ki_str_from(bad[i][0]), ki_str_from(bad[i][1]), &out);
        assert_int_equal(r, KI_ERR_KEY);
        assert_string_equal(out.data, "kept");
    }
    ki_buf_done(&out);
}

static void join_adds_all_or_nothing_at_the_limit(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, 5);
    assert_int_equal(ki_key_join(ki_str_from("abc"), ki_str_from("de"), &out), KI_ERR_LIMIT);
    assert_int_equal(out.len, 0);
    assert_int_equal(ki_key_join(ki_str_from("abc"), ki_str_from("d"), &out), 0);
    assert_string_equal(out.data, "abc/d");
    assert_int_equal(ki_key_join(ki_str_from(""), ki_str_from("x"), &out), KI_ERR_LIMIT);
    assert_string_equal(out.data, "abc/d");
    ki_buf_done(&out);
}

static void split_gives_views_into_the_key(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name_space, *name;
    } cases[] = {
        {"default/web-0", "default", "web-0"},
        {"node-1", "", "node-1"},
        {"/node-1", "", "node-1"}, /* client-go reads it so, too */
        {"a/b", "a", "b"},
        {"n", "", "n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_str key = ki_str_from(cases[i].key);
        ki_str name_space = ki_str_from("x");
        ki_str name = ki_str_from("x");
        assert_int_equal(ki_key_split(key, &name_space, &name), 0);
        assert_str(name_space, cases[i].name_space);
        assert_str(name, cases[i].name);
        assert_ptr_equal(name.ptr + name.len, key.ptr + key.len);
    }
}

static void split_refuses_bad_keys_and_leaves_the_results_alone(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "/", "ns/", "a/b/c", "a/b/", "//", "//a", "a//b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki_str name_space = ki_str_from("x");
        ki_str name = ki_str_from("y");
        assert_int_equal(ki_key_split(ki_str_from(bad[i]), &name_space, &name), KI_ERR_KEY);
        assert_str(name_space, "x");
        assert_str(name, "y");
    }
    ki_str name_space;
    ki_str name;
    assert_int_equal(ki_key_split(ki_str_make(NULL, 0), &name_space, &name), KI_ERR_KEY);
}

static void a_joined_key_splits_into_its_parts(void **state)
{
    (void)state;
    static const char letters[] = {'a', '.', '-', '/', '\0', '\xff'};
    uint64_t seed = 4;
    ki_buf out;
    ki_buf_init(&out, NULL, 64);
    for (int round = 0; round < 20000; round++) {
        char text[16];
        for (size_t i = 0; i < sizeof(text); i++) {
            text[i] = letters[test_random(&seed) % sizeof(letters)];
        }
        ki_str name_space = ki_str_make(text, test_random(&seed) % 6);
        ki_str name = ki_str_make(text + 8, test_random(&seed) % 6);
        bool good = name.len != 0 && memchr(name.ptr, '/', name.len) == NULL &&
                    memchr(name_space.ptr, '/', name_space.len) == NULL;
        ki_buf_clear(&out);
        assert_int_equal(ki_key_join(name_space, name, &out), good ? 0 : KI_ERR_KEY);
        if (good) {
            ki_str namespace_again;
            ki_str name_again;
            assert_int_equal(ki_key_split(ki_buf_str(&out), &namespace_again, &name_again), 0);
            assert_true(ki_str_eq(namespace_again, name_space));
            assert_true(ki_str_eq(name_again, name));
        }
    }
    ki_buf_done(&out);
}

static int join_into_a_buffer(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf out;
    ki_buf_init(&out, alloc, 1000);
    int r = 0;
    for (int i = 0; i < 30 && r == 0; i++) {
        size_t before = out.len;
        r = ki_key_join(ki_str_from("kube-system"), ki_str_from("coredns"), &out);
        assert_int_equal(out.len, r == 0 ? before + 19 : before);
        assert_true(out.data == NULL || out.data[out.len] == '\0');
    }
    ki_buf_done(&out);
    return r;
}

static void failing_allocations_leave_the_buffer_as_it_was(void **state)
{
    (void)state;
    test_alloc_sweep(join_into_a_buffer, NULL);
}

static int compare(const char *a, const char *b, int *order)
{
    return ki_resource_version_compare(ki_str_from(a), ki_str_from(b), order);
}

static void versions_order_as_numbers_of_any_length(void **state)
{
    (void)state;
    static const char *const ascending[] = {
        "1",
        "2",
        "9",
        "10",
        "11",
        "99",
        "100",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999999999999999998",
        "99999999999999999999999999999999999999999",
        "100000000000000000000000000000000000000000",
    };
    enum { COUNT = sizeof(ascending) / sizeof(ascending[0]) };
    for (int a = 0; a < COUNT; a++) {
        for (int b = 0; b < COUNT; b++) {
            int order = 99;
            assert_int_equal(compare(ascending[a], ascending[b], &order), 0);
            assert_int_equal((order > 0) - (order < 0), (a > b) - (a < b));
        }
    }
}

static void versions_that_are_not_numbers_have_no_order(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "0",   "00",  "01",  "-1",    "+1",  " 1",
                                      "1 ", "1.0", "1e3", "0x1", "1\xb2", "abc", "1,2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int order = 99;
        assert_int_equal(compare(bad[i], "5", &order), KI_ERR_INVALID);
        assert_int_equal(compare("5", bad[i], &order), KI_ERR_INVALID);
        assert_int_equal(compare(bad[i], bad[i], &order), KI_ERR_INVALID);
        assert_int_equal(order, 99);
    }
    int order = 99;
    assert_int_equal(
        ki_resource_version_compare(ki_str_make("1\0", 2), ki_str_make("1\0", 2), &order),
        KI_ERR_INVALID);
}

static void one_byte_that_is_no_digit_is_found_wherever_it_stands(void **state)
{
    (void)state;
    for (size_t len = 1; len <= 26; len++) {
        for (size_t at = 0; at < len; at++) {
            for (int byte = 0; byte < 256; byte++) {
                char version[26];
                memset(version, '7', len);
                version[at] = (char)byte;
                int order = 99;
                bool digit = byte >= (at == 0 ? '1' : '0') && byte <= '9';
                int r = ki_resource_version_compare(ki_str_make(version, len),
                                                    ki_str_make(version, len), &order);
                assert_int_equal(r, digit ? 0 : KI_ERR_INVALID);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_makes_keys_with_and_without_namespace),
        cmocka_unit_test(join_refuses_what_would_not_split_again),
        cmocka_unit_test(join_adds_all_or_nothing_at_the_limit),
        cmocka_unit_test(split_gives_views_into_the_key),
        cmocka_unit_test(split_refuses_bad_keys_and_leaves_the_results_alone),
        cmocka_unit_test(a_joined_key_splits_into_its_parts),
        cmocka_unit_test(failing_allocations_leave_the_buffer_as_it_was),
        cmocka_unit_test(versions_order_as_numbers_of_any_length),
        cmocka_unit_test(versions_that_are_not_numbers_have_no_order),
        cmocka_unit_test(one_byte_that_is_no_digit_is_found_wherever_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

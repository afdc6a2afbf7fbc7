/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "object/json/json_scan.h"
#include "object/json/json_skip.h"
#include "support/test.h"
#include "support/test_json.h"

/* ---- the block functions, against one byte at a time ---- */

static bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20 || (unsigned char)c >= 0x80;
}

static void compare_masks(const char *block)
{
    uint64_t special = ki__json_special_64(block);
    uint32_t quotes = ki__json_quotes_32(block);
    ki__json_masks masks = ki__json_masks_64(block);
    unsigned count = 0;
    for (unsigned i = 0; i < 64; i++) {
        char c = block[i];
        assert_int_equal(special >> i & 1, is_special(c));
        assert_int_equal(masks.quote >> i & 1, c == '"');
        assert_int_equal(masks.slash >> i & 1, c == '\\');
        assert_int_equal(masks.open >> i & 1, c == '{' || c == '[');
        assert_int_equal(masks.close >> i & 1, c == '}' || c == ']');
        if (i < 32) {
            assert_int_equal(quotes >> i & 1, c == '"' || c == '\\');
        }
        count += is_special(c);
    }
    assert_int_equal(ki__json_bits(special), count);
}

static void masks_show_every_byte_at_every_place(void **state)
{
    (void)state;
    print_message("block functions: %s\n", KI__JSON_SIMD);
    static const char fill[] = {'a', '"', '\0', '\xff', '\x7f'};
    for (size_t f = 0; f < sizeof(fill); f++) {
        for (unsigned at = 0; at < 64; at++) {
            for (int c = 0; c < 256; c++) {
                char block[64];
                memset(block, fill[f], sizeof(block));
                block[at] = (char)c;
                compare_masks(block);
            }
        }
    }
}

static void masks_tell_random_bytes(void **state)
{
    (void)state;
    uint64_t random = 5;
    static const char likely[] = "\"\\{}[]|;:,\x1f\x20\x21\x7f\x80\xff";
    for (int i = 0; i < 20000; i++) {
        char block[64];
        for (size_t k = 0; k < sizeof(block); k++) {
            uint64_t r = test_random(&random);
            block[k] = (r & 1) != 0 ? likely[(r >> 8) % (sizeof(likely) - 1)] : (char)(r >> 16);
        }
        compare_masks(block);
    }
}

/* ---- skipping ---- */

/* A copy with nothing behind its padding. */
static char *padded(const char *text, size_t len)
{
    char *copy = calloc(1, len + KI__JSON_PADDING);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

/* Where the value at `p` ends, found by the checking pass. */
static const char *end_of_value(const char *p, const char *end)
{
    ki__json_scan scan;
    ki__json_scan_init(&scan, ki_str_make(p, (size_t)(end - p)), 1024, NULL);
    return ki__json_scan_value(&scan, p);
}

/* Skipping and checking must find the same end, from every place where a value may begin. */
static void skipping_ends_where_the_check_ends(void **state)
{
    (void)state;
    uint64_t random = 6;
    ki_buf text;
    ki_buf_init(&text, NULL, SIZE_MAX);
    for (int round = 0; round < 400; round++) {
        ki_buf_clear(&text);
        test_json_random_map(&text, &random, 1 + (unsigned)(round % 100));
        char *copy = padded(text.data, text.len);
        const char *end = copy + text.len;
        for (const char *p = copy; p != end; p++) {
            const char *value_end = end_of_value(p, end);
            bool scalar = *p != '{' && *p != '[' && *p != '"';
            if (value_end == NULL || (scalar && strchr(",]} \t\r\n", *value_end) == NULL)) {
                continue; /* text in a string that only looks like a value */
            }
            assert_ptr_equal(ki__json_skip_value(p), value_end);
        }
        free(copy);
    }
    ki_buf_done(&text);
}

static void deep_and_long_values_are_skipped(void **state)
{
    (void)state;
    static char text[20000];
    for (size_t depth = 1; depth <= 1024; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth + 1);
        assert_ptr_equal(ki__json_skip_value(text), text + depth * 2);
    }
    /* Backslashes in a row, and a quote behind them that counts or does not. */
    for (size_t count = 0; count < 200; count++) {
        size_t len = 0;
        text[len++] = '[';
        text[len++] = '"';
        memset(text + len, '\\', count);
        len += count;
        memcpy(text + len, "\"]\"]    ", 8);
        const char *expected = text + len + (count % 2 == 0 ? 2 : 4);
        assert_ptr_equal(ki__json_skip_value(text), expected);
    }
}

static void the_end_of_strings_is_found(void **state)
{
    (void)state;
    static char text[1000];
    for (size_t len = 0; len < 200; len++) {
        memset(text, 'x', sizeof(text));
        text[len] = '"';
        assert_ptr_equal(ki__json_find_quote(text), text + len);
        assert_ptr_equal(ki__json_string_end(text), text + len);
        text[len] = '\\';
        text[len + 1] = '"';
        text[len + 2] = '"';
        assert_ptr_equal(ki__json_find_quote(text), text + len);
        assert_ptr_equal(ki__json_string_end(text), text + len + 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_show_every_byte_at_every_place),
        cmocka_unit_test(masks_tell_random_bytes),
        cmocka_unit_test(skipping_ends_where_the_check_ends),
        cmocka_unit_test(deep_and_long_values_are_skipped),
        cmocka_unit_test(the_end_of_strings_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

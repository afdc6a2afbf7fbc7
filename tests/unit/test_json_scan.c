/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/json/json_scan.h"
#include "support/test.h"

/* Checks a copy that ends where the text ends, so that a sanitizer sees every byte read beyond. */
static int check(const char *text, size_t len, ki_error *error)
{
    char *copy = malloc(len != 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    int r = ki__json_check(ki_str_make(copy, len), 128, error);
    free(copy);
    return r;
}

static void accepts(const char *text)
{
    ki_error error = KI_ERROR_INIT;
    if (check(text, strlen(text), &error) != 0) {
        fail_msg("refused %s: %s at %zu", text, error.message, error.offset);
    }
}

static void refuses_at(const char *text, int code, size_t offset)
{
    ki_error error = KI_ERROR_INIT;
    int r = check(text, strlen(text), &error);
    if (r != code || error.code != code || error.offset != offset) {
        fail_msg("%s: got %s at %zu (%s), not %s at %zu", text, ki_error_name(r), error.offset,
                 error.message, ki_error_name(code), offset);
    }
    assert_true(error.message[0] != '\0');
}

static void values_of_every_type_are_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "true",
        "false",
        "null",
        "0",
        "\"\"",
        "[]",
        "{}",
        "[[]]",
        "{\"a\":{}}",
        "[{},[]]",
        " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : null } \n",
        "[1,\"a\",true,false,null,{\"x\":[]}]",
        "{\"\":\"\"}",
        "[\"a\",\"b\"]",
        "{\"a\":1,\"a\":2}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        accepts(texts[i]);
    }
}

static void numbers_follow_the_grammar(void **state)
{
    (void)state;
    static const char *const good[] = {"0",
                                       "-0",
                                       "1",
                                       "-1",
                                       "10",
                                       "0.0",
                                       "0.10",
                                       "1e1",
                                       "1E1",
                                       "1e+1",
                                       "1e-1",
                                       "0e0",
                                       "-0.0e-0",
                                       "1234567890.0987654321",
                                       "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        accepts(good[i]);
    }
    refuses_at("-", KI_ERR_SYNTAX, 1);
    refuses_at("01", KI_ERR_SYNTAX, 1);
    refuses_at("-01", KI_ERR_SYNTAX, 2);
    refuses_at("1.", KI_ERR_SYNTAX, 2);
    refuses_at("1.e1", KI_ERR_SYNTAX, 2);
    refuses_at(".5", KI_ERR_SYNTAX, 0);
    refuses_at("+1", KI_ERR_SYNTAX, 0);
    refuses_at("1e", KI_ERR_SYNTAX, 2);
    refuses_at("1e+", KI_ERR_SYNTAX, 3);
    refuses_at("1e1.5", KI_ERR_SYNTAX, 3);
    refuses_at("0x10", KI_ERR_SYNTAX, 1);
    refuses_at("--1", KI_ERR_SYNTAX, 1);
    refuses_at("1 2", KI_ERR_SYNTAX, 2);
    refuses_at("NaN", KI_ERR_SYNTAX, 0);
    refuses_at("Infinity", KI_ERR_SYNTAX, 0);
    refuses_at("-Infinity", KI_ERR_SYNTAX, 1);
}

static void literals_are_exact(void **state)
{
    (void)state;
    refuses_at("t", KI_ERR_SYNTAX, 1);
    refuses_at("tru", KI_ERR_SYNTAX, 3);
    refuses_at("trux", KI_ERR_SYNTAX, 3);
    refuses_at("True", KI_ERR_SYNTAX, 0);
    refuses_at("nul", KI_ERR_SYNTAX, 3);
    refuses_at("nulll", KI_ERR_SYNTAX, 4);
    refuses_at("falsy", KI_ERR_SYNTAX, 4);
    refuses_at("undefined", KI_ERR_SYNTAX, 0);
}

static void structure_is_checked(void **state)
{
    (void)state;
    refuses_at("", KI_ERR_SYNTAX, 0);
    refuses_at("  ", KI_ERR_SYNTAX, 2);
    refuses_at("{", KI_ERR_SYNTAX, 1);
    refuses_at("[", KI_ERR_SYNTAX, 1);
    refuses_at("[1", KI_ERR_SYNTAX, 2);
    refuses_at("[1,", KI_ERR_SYNTAX, 3);
    refuses_at("[1,]", KI_ERR_SYNTAX, 3);
    refuses_at("[,1]", KI_ERR_SYNTAX, 1);
    refuses_at("[1 2]", KI_ERR_SYNTAX, 3);
    refuses_at("[1}", KI_ERR_SYNTAX, 2);
    refuses_at("{]", KI_ERR_SYNTAX, 1);
    refuses_at("{\"a\"", KI_ERR_SYNTAX, 4);
    refuses_at("{\"a\":", KI_ERR_SYNTAX, 5);
    refuses_at("{\"a\":1", KI_ERR_SYNTAX, 6);
    refuses_at("{\"a\":1,", KI_ERR_SYNTAX, 7);
    refuses_at("{\"a\":1,}", KI_ERR_SYNTAX, 7);
    refuses_at("{\"a\" 1}", KI_ERR_SYNTAX, 5);
    refuses_at("{\"a\",1}", KI_ERR_SYNTAX, 4);
    refuses_at("{\"a\":1]", KI_ERR_SYNTAX, 6);
    refuses_at("{\"a\":1 \"b\":2}", KI_ERR_SYNTAX, 7);
    refuses_at("{a:1}", KI_ERR_SYNTAX, 1);
    refuses_at("{'a':1}", KI_ERR_SYNTAX, 1);
    refuses_at("{1:1}", KI_ERR_SYNTAX, 1);
    refuses_at("{null:1}", KI_ERR_SYNTAX, 1);
    refuses_at("{\"a\"::1}", KI_ERR_SYNTAX, 5);
    refuses_at("]", KI_ERR_SYNTAX, 0);
    refuses_at("{}}", KI_ERR_SYNTAX, 2);
    refuses_at("{}x", KI_ERR_SYNTAX, 2);
    refuses_at("[] []", KI_ERR_SYNTAX, 3);
    refuses_at("[1] // no", KI_ERR_SYNTAX, 4);
    refuses_at("/* no */ 1", KI_ERR_SYNTAX, 0);
    refuses_at("[\v1]", KI_ERR_SYNTAX, 1);
    refuses_at("[\f1]", KI_ERR_SYNTAX, 1);
    refuses_at("[1\xc2\xa0]", KI_ERR_SYNTAX, 2);
    refuses_at("\xef\xbb\xbf{}", KI_ERR_SYNTAX, 0);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(check("{}\0", 3, &error), KI_ERR_SYNTAX);
    assert_int_equal(check("\0", 1, &error), KI_ERR_SYNTAX);
}

static void strings_need_their_end_and_no_control_characters(void **state)
{
    (void)state;
    refuses_at("\"", KI_ERR_SYNTAX, 1);
    refuses_at("\"abc", KI_ERR_SYNTAX, 4);
    refuses_at("\"abc\\", KI_ERR_SYNTAX, 5);
    refuses_at("\"abc\\\"", KI_ERR_SYNTAX, 6);
    refuses_at("'a'", KI_ERR_SYNTAX, 0);
    for (int c = 0; c < 0x20; c++) {
        char text[] = {'"', 'a', (char)c, '"'};
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(check(text, sizeof(text), &error), KI_ERR_SYNTAX);
        assert_int_equal(error.offset, 2);
    }
    accepts("\"\x7f\"");
}

static void escapes_are_checked(void **state)
{
    (void)state;
    accepts("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABCD\\uabcd\"");
    accepts("\"\\ud834\\udd1e\"");
    accepts("\"\\ud834\"");        /* lone: reads as U+FFFD */
    accepts("\"\\udd1e\\ud834\""); /* both lone */
    refuses_at("\"\\a\"", KI_ERR_ENCODING, 1);
    refuses_at("\"\\x41\"", KI_ERR_ENCODING, 1);
    refuses_at("\"\\'\"", KI_ERR_ENCODING, 1);
    refuses_at("\"\\U0041\"", KI_ERR_ENCODING, 1);
    refuses_at("\"ab\\u\"", KI_ERR_ENCODING, 5);
    refuses_at("\"\\u004\"", KI_ERR_ENCODING, 6);
    refuses_at("\"\\u00g0\"", KI_ERR_ENCODING, 5);
    refuses_at("\"\\u 041\"", KI_ERR_ENCODING, 3);
    refuses_at("\"\\u00", KI_ERR_SYNTAX, 5);
    refuses_at("\"\\\n\"", KI_ERR_ENCODING, 1);
}

/* Every sequence of one to four bytes made of interesting ones, against the table of RFC 3629. */
static bool is_utf8(const unsigned char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t point;
        size_t n;
        if (s[i] < 0x80) {
            point = s[i];
            n = 1;
        } else if ((s[i] & 0xe0) == 0xc0) {
            point = s[i] & 0x1fU;
            n = 2;
        } else if ((s[i] & 0xf0) == 0xe0) {
            point = s[i] & 0x0fU;
            n = 3;
        } else if ((s[i] & 0xf8) == 0xf0) {
            point = s[i] & 0x07U;
            n = 4;
        } else {
            return false;
        }
        if (i + n > len) {
            return false;
        }
        for (size_t k = 1; k < n; k++) {
            if ((s[i + k] & 0xc0) != 0x80) {
                return false;
            }
            point = point << 6 | (s[i + k] & 0x3fU);
        }
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (point < least[n] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
            return false;
        }
        i += n;
    }
    return true;
}

static void utf8_is_checked(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                          0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef,
                                          0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
    enum { COUNT = sizeof(bytes) };
    for (size_t n = 0; n < (size_t)COUNT * COUNT * COUNT * COUNT; n++) {
        unsigned char text[6] = {'"',
                                 bytes[n % COUNT],
                                 bytes[n / COUNT % COUNT],
                                 bytes[n / COUNT / COUNT % COUNT],
                                 bytes[n / COUNT / COUNT / COUNT],
                                 '"'};
        ki_str view = ki_str_make((const char *)text, sizeof(text));
        bool good = is_utf8(text + 1, 4);
        int r = ki__json_check(view, 1, NULL);
        if (r != (good ? 0 : KI_ERR_ENCODING)) {
            fail_msg("%02x %02x %02x %02x: %d", text[1], text[2], text[3], text[4], r);
        }
    }
    refuses_at("\"\xe2\x82", KI_ERR_ENCODING, 1);
    refuses_at("\"ab\xc3\"", KI_ERR_ENCODING, 3);
}

/* Whatever stops a string must be seen at every place in the blocks that are looked at at once. */
static void what_ends_plain_text_is_found_at_every_place(void **state)
{
    (void)state;
    static char text[5000];
    for (size_t len = 0; len < 4500; len = len < 300 || len > 4000 ? len + 1 : len + 37) {
        memset(text, 'x', len + 2);
        text[0] = '"';
        text[len + 1] = '"';
        assert_int_equal(check(text, len + 2, NULL), 0);
        assert_int_equal(check(text, len + 1, NULL), KI_ERR_SYNTAX);
        if (len == 0) {
            continue;
        }
        ki_error error = KI_ERROR_INIT;
        text[len] = '\n';
        assert_int_equal(check(text, len + 2, &error), KI_ERR_SYNTAX);
        assert_int_equal(error.offset, len);
        text[len] = '\xff';
        assert_int_equal(check(text, len + 2, &error), KI_ERR_ENCODING);
        assert_int_equal(error.offset, len);
        text[len] = '\\';
        assert_int_equal(check(text, len + 2, &error), KI_ERR_SYNTAX);
        assert_int_equal(error.offset, len + 2);
    }
}

static void depth_is_limited(void **state)
{
    (void)state;
    char text[3000];
    for (int depth = 1; depth <= 1024; depth = depth < 70 ? depth + 1 : depth * 2) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        ki_str view = ki_str_make(text, (size_t)depth * 2);
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki__json_check(view, (uint32_t)depth, &error), 0);
        assert_int_equal(ki__json_check(view, (uint32_t)depth - 1, &error), KI_ERR_DEPTH);
        assert_int_equal(error.offset, depth - 1);
    }
}

/* Maps and lists mixed at random must be closed in the right order, at any depth. */
static void brackets_must_match_at_any_depth(void **state)
{
    (void)state;
    uint64_t random = 3;
    static char text[8192];
    for (int round = 0; round < 300; round++) {
        bool maps[1024];
        size_t depth = 1 + test_random(&random) % 1024;
        size_t len = 0;
        for (size_t i = 0; i < depth; i++) {
            maps[i] = (test_random(&random) & 1) != 0;
            memcpy(text + len, maps[i] ? "{\"\":" : "[", maps[i] ? 4 : 1);
            len += maps[i] ? 4 : 1;
        }
        text[len++] = '0';
        size_t closing = len;
        for (size_t i = depth; i-- > 0;) {
            text[len++] = maps[i] ? '}' : ']';
        }
        assert_int_equal(ki__json_check(ki_str_make(text, len), 1024, NULL), 0);
        size_t wrong = closing + test_random(&random) % depth;
        text[wrong] = text[wrong] == '}' ? ']' : '}';
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki__json_check(ki_str_make(text, len), 1024, &error), KI_ERR_SYNTAX);
        assert_int_equal(error.offset, wrong);
    }
}

static void errors_name_line_and_column(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    static const char text[] = "{\n  \"a\": 1,\n  \"b\" 2\n}";
    assert_int_equal(check(text, strlen(text), &error), KI_ERR_SYNTAX);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 7);
    assert_string_equal(error.message, "expected a colon after the field name");
    assert_int_equal(check("[1", 2, &error), KI_ERR_SYNTAX);
    assert_string_equal(error.message, "unexpected end of text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_type_are_accepted),
        cmocka_unit_test(numbers_follow_the_grammar),
        cmocka_unit_test(literals_are_exact),
        cmocka_unit_test(structure_is_checked),
        cmocka_unit_test(strings_need_their_end_and_no_control_characters),
        cmocka_unit_test(escapes_are_checked),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(what_ends_plain_text_is_found_at_every_place),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(brackets_must_match_at_any_depth),
        cmocka_unit_test(errors_name_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

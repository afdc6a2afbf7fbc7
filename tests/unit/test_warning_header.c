/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/utf8.h"
#include "support/test.h"
#include "wire/warning_header.h"

typedef struct one {
    const char *value;
    const char *said; /* "code text|code text"; '!' at the end if the rest is not well formed */
} one;

static const one cases[] = {
    {"", ""},
    {" \t", ""},
    {",, ,", ""},
    {"299 - \"old\"", "299 old|"},
    {"299 - \"\"", "299 |"},
    {"  299   agent.test:8080\t\"two blanks\"  ", "299 two blanks|"},
    {"299 - \"a\" \"Wed, 21 Oct 2015 07:28:00 GMT\"", "299 a|"},
    {"299 - \"a\", 299 - \"b\" \"date\" ,110 - \"c\"", "299 a|299 b|110 c|"},
    {"299 - \"a, b\"", "299 a, b|"},
    {"299 - \"say \\\"hi\\\" \\\\ \\x\"", "299 say \"hi\" \\ x|"},
    {"299 - \"bell\x07 esc\x1b[31m del\x7f tab\tend\"", "299 bell esc[31m del tabend|"},
    {"299 - \"c1 \xc2\x9b[31m rlo \xe2\x80\xae iso \xe2\x81\xa6 ls \xe2\x80\xa8.\"",
     "299 c1 [31m rlo  iso  ls .|"},
    {"299 - \"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\"",
     "299 \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80|"},
    {"299 - \"bad \xff\xc3\"", "299 bad ??|"},
    {"299", "!"},
    {"299 ", "!"},
    {"299 -", "!"},
    {"299 - ", "!"},
    {"299 - old", "!"},
    {"299 - \"old", "!"},
    {"299 - \"old\\", "!"},
    {"299 - \"old\\\"", "!"},
    {"299 \"old\"", "!"},
    {"29 - \"old\"", "!"},
    {"099 - \"old\"", "!"},
    {"2999 - \"old\"", "!"},
    {"299- \"old\"", "!"},
    {"299 -\"old\"", "!"},
    {"299 - \"a\" b", "!"},
    {"299 - \"a\"b", "!"},
    {"299 - \"a\" \"date", "!"},
    {"299 - \"a\" \"date\" more", "!"},
    {"299 - \"a\", what", "299 a|!"},
};

static void read_all(ki_str value, char *text, size_t size)
{
    ki__warning warning;
    size_t at = 0;
    int r;
    text[0] = '\0';
    while ((r = ki__warning_next(&value, &warning)) > 0) {
        assert_int_equal(strlen(warning.text), warning.len);
        at += (size_t)snprintf(text + at, size - at, "%d %s|", warning.code, warning.text);
    }
    if (r < 0) {
        assert_int_equal(r, KI_ERR_SYNTAX);
        assert_int_equal(ki__warning_next(&value, &warning), 0);
        snprintf(text + at, size - at, "!");
    }
}

static void warnings_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        read_all(ki_str_from(cases[i].value), text, sizeof(text));
        assert_string_equal(text, cases[i].said);
    }
}

/* Cut anywhere, the value is read to its end, and what comes out is fit to be shown. */
static void any_part_of_a_value_is_safe(void **state)
{
    (void)state;
    static const char whole[] = "299 - \"\xe2\x82\xac \\\"x\\\"\" \"date\", 110 h:1 \"b\"";
    for (size_t len = 0; len < sizeof(whole); len++) {
        ki_str value = ki_str_make(whole, len);
        ki__warning warning;
        while (ki__warning_next(&value, &warning) > 0) {
            assert_true(ki__utf8_valid(ki_str_make(warning.text, warning.len)));
        }
        assert_int_equal(value.len, 0);
    }
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    ki_str none = ki_str_make(NULL, 0);
    char value[4096] = "299 - \"";
    for (size_t i = 0; i < 700; i++) {
        memcpy(value + 7 + i * 3, "\xe2\x82\xac", 3);
    }
    memcpy(value + 7 + 2100, "\"", 2);
    ki_str rest = ki_str_from(value);
    ki__warning warning;
    assert_int_equal(ki__warning_next(&none, &warning), 0);
    assert_int_equal(ki__warning_next(&rest, &warning), 1);
    assert_int_equal(warning.len, KI__WARNING_TEXT_MAX / 3 * 3);
    assert_true(ki__utf8_valid(ki_str_make(warning.text, warning.len)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_are_read),
        cmocka_unit_test(any_part_of_a_value_is_safe),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

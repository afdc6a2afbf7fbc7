/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people, and what strangers put into it. */
#include <locale.h>

#include "cli/text.h"
#include "support/test.h"

static ki_buf out;

static int setup(void **state)
{
    (void)state;
    cli_text_init(&out);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ki_buf_done(&out);
    return 0;
}

static const char *escaped(const char *text)
{
    ki_buf_clear(&out);
    cli_put_escaped(&out, ki_str_from(text));
    return ki_buf_text(&out);
}

static const char *json(const char *text, unsigned int indent)
{
    ki_buf_clear(&out);
    cli_put_json(&out, ki_str_from(text), indent);
    return ki_buf_text(&out);
}

static void control_characters_do_not_pass(void **state)
{
    (void)state;
    assert_string_equal(escaped("a\033[2Jb"), "a\\x1b[2Jb");
    assert_string_equal(escaped("a\nb\r\tc"), "a\\nb\\r\\tc");
    assert_string_equal(escaped("\x01\x7f"), "\\x01\\x7f");
    assert_string_equal(escaped("\xc2\x9b"
                                "31m"),
                        "\\u009b31m"); /* CSI in one character */
    ki_buf_clear(&out);
    cli_put_escaped(&out, ki_str_make("a\0b", 3));
    assert_string_equal(ki_buf_text(&out), "a\\x00b");
}

static void what_turns_or_hides_text_does_not_pass(void **state)
{
    (void)state;
    assert_string_equal(escaped("\xe2\x80\xae"
                                "gpj"),
                        "\\u202egpj");
    assert_string_equal(escaped("a\xe2\x80\x8b"
                                "b"),
                        "a\\u200bb");
    assert_string_equal(escaped("\xef\xbb\xbf"), "\\ufeff");
    assert_string_equal(escaped("\xf3\xa0\x81\x81"), "\\U000e0041");
}

static void bytes_that_are_no_text_are_shown_as_bytes(void **state)
{
    (void)state;
    assert_string_equal(escaped("\xff\xfe"), "\\xff\\xfe");
    assert_string_equal(escaped("\xc0\x9b"), "\\xc0\\x9b");          /* overlong */
    assert_string_equal(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* a surrogate */
    assert_string_equal(escaped("\xe2\x80"), "\\xe2\\x80");          /* cut */
}

static void other_text_passes(void **state)
{
    (void)state;
    assert_string_equal(escaped("größer 日本 \\ \xf0\x9f\x98\x80"),
                        "größer 日本 \\ \xf0\x9f\x98\x80");
}

static void json_stays_json_and_harmless(void **state)
{
    (void)state;
    assert_string_equal(json("{ \"a\" :\n [1, \"x y\" ] , \"b\":{} }", 0),
                        "{\"a\":[1,\"x y\"],\"b\":{}}");
    assert_string_equal(json("\"\xc2\x9b\x7f\xe2\x80\xae\"", 0), "\"\\u009b\\u007f\\u202e\"");
    assert_string_equal(json("\"\xf3\xa0\x81\x81\"", 0), "\"\\udb40\\udc41\"");
    assert_string_equal(json("\"\\\"\\\\\"", 0), "\"\\\"\\\\\"");
    assert_string_equal(json("\"{,:}\"", 0), "\"{,:}\"");
}

static void json_can_be_indented(void **state)
{
    (void)state;
    assert_string_equal(json("{\"a\":[1,{}],\"b\":[ ]}", 2),
                        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

static void quoted_text_is_json(void **state)
{
    (void)state;
    cli_put_quoted(&out, ki_str_from("a\"b\\c\n\xff"));
    assert_string_equal(ki_buf_text(&out), "\"a\\\"b\\\\c\\u000a\\ufffd\"");
}

static void width_is_that_of_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(cli_text_width(ki_str_from("abc")), 3);
    assert_int_equal(cli_text_width(ki_str_from("größer")), 6);
    assert_int_equal(cli_text_width(ki_str_from("日本")), 4);
    assert_int_equal(cli_text_width(ki_str_from("")), 0);
}

static void what_is_too_wide_is_cut_between_characters(void **state)
{
    (void)state;
    cli_put(&out, "> abcdef");
    cli_text_cut(&out, 2, 4);
    assert_string_equal(ki_buf_text(&out), "> abc…");
    cli_text_cut(&out, 2, 4);
    assert_string_equal(ki_buf_text(&out), "> abc…");
    ki_buf_clear(&out);
    cli_put(&out, "日本語");
    cli_text_cut(&out, 0, 4);
    assert_string_equal(ki_buf_text(&out), "日…");
}

static void ages_read_as_kubectl_shows_them(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *text;
    } ages[] = {
        {-5, "0s"},       {0, "0s"},        {119, "119s"},       {120, "2m"},
        {330, "5m30s"},   {600, "10m"},     {10799, "179m"},     {10800, "3h"},
        {13800, "3h50m"}, {28800, "8h"},    {172800, "2d"},      {180000, "2d2h"},
        {691200, "8d"},   {63072000, "2y"}, {64072000, "2y11d"}, {INT64_C(3000000000), "95y"}};
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        ki_buf_clear(&out);
        cli_put_age(&out, ages[i].seconds);
        assert_string_equal(ki_buf_text(&out), ages[i].text);
    }
}

static void sizes_and_counts_are_easy_to_read(void **state)
{
    (void)state;
    cli_put_bytes(&out, 999);
    cli_put_char(&out, ' ');
    cli_put_bytes(&out, 1000);
    cli_put_char(&out, ' ');
    cli_put_bytes(&out, 999950);
    cli_put_char(&out, ' ');
    cli_put_bytes(&out, UINT64_MAX);
    cli_put_char(&out, ' ');
    cli_put_count(&out, 7);
    cli_put_char(&out, ' ');
    cli_put_count(&out, 1234567);
    assert_string_equal(ki_buf_text(&out), "999 B 1.0 kB 1.0 MB 18.4 EB 7 1,234,567");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        TEST(control_characters_do_not_pass),
        TEST(what_turns_or_hides_text_does_not_pass),
        TEST(bytes_that_are_no_text_are_shown_as_bytes),
        TEST(other_text_passes),
        TEST(json_stays_json_and_harmless),
        TEST(json_can_be_indented),
        TEST(quoted_text_is_json),
        TEST(width_is_that_of_the_terminal),
        TEST(what_is_too_wide_is_cut_between_characters),
        TEST(ages_read_as_kubectl_shows_them),
        TEST(sizes_and_counts_are_easy_to_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

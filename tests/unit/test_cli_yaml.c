/* SPDX-License-Identifier: Apache-2.0 */
/* YAML output: what it looks like, and that our own reader reads the same values from it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "cli/yaml.h"
#include "client/config/yaml_reader.h"
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

static ki_object *parse(const char *json)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &object, &error), 0);
    return object;
}

static const char *yaml(const char *json)
{
    ki_object *object = parse(json);
    ki_value root = ki_object_root(object);
    ki_buf_clear(&out);
    cli_put_yaml(&out, &root, 0, false);
    (void)ki_object_unref(object);
    return ki_buf_text(&out);
}

/* ---- the same values ---- */

static void assert_same_scalar(const ki_value *value, const ki__yaml_node *node)
{
    ki_type type = ki_value_type(value);
    ki__yaml_type read = ki__yaml_type_of(node);
    ki_buf text;
    cli_text_init(&text);
    cli_put_value(&text, value, true);
    if (type == KI_TYPE_STRING) {
        assert_int_equal(read, KI__YAML_STRING);
        assert_int_equal(node->text.len, text.len);
        assert_memory_equal(node->text.ptr, ki_buf_text(&text), text.len);
    } else if (type == KI_TYPE_NUMBER) {
        assert_true(read == KI__YAML_INT || read == KI__YAML_FLOAT);
        assert_true(strtod(node->text.ptr, NULL) == strtod(ki_buf_text(&text), NULL));
    } else if (type == KI_TYPE_BOOL) {
        assert_int_equal(read, KI__YAML_BOOL);
        assert_string_equal(node->text.ptr, ki_buf_text(&text));
    } else {
        assert_int_equal(read, KI__YAML_NULL);
    }
    ki_buf_done(&text);
}

enum { DEPTH = 64 };

/* Walks both, side by side. */
static void assert_same(const ki_value *root, const ki__yaml *read)
{
    struct {
        ki_value_iter iter;
        uint32_t node;
    } stack[DEPTH];
    size_t depth = 1;
    assert_int_equal(ki_value_iter_begin(root, &stack[0].iter), 0);
    stack[0].node = ki__yaml_at(read, read->root)->child;
    while (depth > 0) {
        ki_value key;
        ki_value value;
        uint32_t node = stack[depth - 1].node;
        if (ki_value_iter_next(&stack[depth - 1].iter, &key, &value) <= 0) {
            assert_int_equal(node, KI__YAML_NONE);
            depth--;
            continue;
        }
        assert_int_not_equal(node, KI__YAML_NONE);
        if (ki_value_type(&key) == KI_TYPE_STRING) {
            assert_same_scalar(&key, ki__yaml_at(read, node));
            node = ki__yaml_at(read, node)->next;
        }
        const ki__yaml_node *child = ki__yaml_at(read, node);
        stack[depth - 1].node = child->next;
        ki_type type = ki_value_type(&value);
        if (type != KI_TYPE_MAP && type != KI_TYPE_LIST) {
            assert_int_equal(child->kind, KI__YAML_SCALAR);
            assert_same_scalar(&value, child);
            continue;
        }
        assert_int_equal(child->kind, type == KI_TYPE_MAP ? KI__YAML_MAPPING : KI__YAML_SEQUENCE);
        assert_true(depth < DEPTH);
        assert_int_equal(ki_value_iter_begin(&value, &stack[depth].iter), 0);
        stack[depth++].node = child->child;
    }
}

static void assert_round_trip(const char *json)
{
    ki__yaml read = {0};
    ki_error error = KI_ERROR_INIT;
    ki_object *object = parse(json);
    ki_value root = ki_object_root(object);
    (void)yaml(json);
    if (ki__yaml_read(ki_buf_str(&out), KI__YAML_DEPTH_MAX, NULL, &read, &error) < 0) {
        fail_msg("%s: line %u of\n%s", error.message, error.line, ki_buf_text(&out));
    }
    assert_same(&root, &read);
    ki__yaml_done(&read);
    (void)ki_object_unref(object);
}

/* ---- tests ---- */

static void containers_are_blocks(void **state)
{
    (void)state;
    assert_string_equal(
        yaml("{\"b\":{\"c\":1,\"d\":{}},\"a\":[1,[2,[3]],{\"x\":[],\"y\":[{}]}]}"),
        "b:\n  c: 1\n  d: {}\na:\n- 1\n- - 2\n  - - 3\n- x: []\n  \"y\":\n  - {}\n");
    assert_string_equal(yaml("{\"a\":{\"l\":[{\"k\":{\"m\":true}},null]}}"),
                        "a:\n  l:\n  - k:\n      m: true\n  - null\n");
    assert_string_equal(yaml("{}"), "{}\n");
}

static const char *scalar(const char *json)
{
    char text[256];
    (void)snprintf(text, sizeof(text), "{\"k\":%s}", json);
    const char *got = yaml(text);
    assert_memory_equal(got, "k: ", 3);
    assert_round_trip(text);
    return got + 3;
}

static void what_looks_like_something_else_is_quoted(void **state)
{
    (void)state;
    static const char *const quoted[] = {
        "yes",  "No",       "on",     "y",    "null",        "~",     "True",       "1",
        "1e3",  "-1.5",     "0x1f",   "0o17", "1_000",       "12:30", "2024-01-02", ".5",
        ".inf", "- a",      "a: b",   "a:",   "a #b",        "#a",    "---",        "...",
        "",     " a",       "a ",     "@a",   "`a",          "%a",    "*a",         "&a",
        "!a",   "|",        ">",      "{a",   "[a",          "?",     ":",          "=",
        "<<",   "2024-1-2", "1e-3-4", "+1",   "2024-01-02T", "'a'",   "0b1",        "-"};
    for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
        char json[64];
        char expected[64];
        (void)snprintf(json, sizeof(json), "\"%s\"", quoted[i]);
        (void)snprintf(expected, sizeof(expected), "\"%s\"\n", quoted[i]);
        assert_string_equal(scalar(json), expected);
    }
}

static void plain_text_stays_plain(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "nginx:1.27", "10.1.2.3",   "a b",     "--port=80", "-x",  "3f2a-1",    "500m",
        "a/b",        "http://a/b", "nothing", "1Gi",       "a#b", "yesterday", "a, b",
        "\xc3\xa9",   "a'b",        "v1",      "node-1",    "e3",  "a\\\\b"};
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        char json[64];
        (void)snprintf(json, sizeof(json), "\"%s\"", plain[i]);
        const char *got = scalar(json);
        assert_int_not_equal(got[0], '"');
        assert_int_not_equal(got[0], '|');
    }
}

static void lines_are_literal_where_they_can_be(void **state)
{
    (void)state;
    assert_string_equal(scalar("\"a\\nb\""), "|-\n  a\n  b\n");
    assert_string_equal(scalar("\"a\\n\\n b\\n\""), "|\n  a\n\n   b\n");
    assert_string_equal(scalar("\"a\\n\\n\""), "|+\n  a\n\n");
    assert_string_equal(scalar("\"\\na\""), "\"\\na\"\n");
    assert_string_equal(scalar("\" a\\nb\""), "\" a\\nb\"\n");
    assert_string_equal(scalar("\"a\\r\\nb\""), "\"a\\r\\nb\"\n");
    assert_string_equal(scalar("\"a\\n  \""), "|-\n  a\n    \n");
    assert_string_equal(yaml("{\"a\":[\"x\\ny\"],\"b\":{\"c\":\"x\\ny\\n\"}}"),
                        "a:\n- |-\n  x\n  y\nb:\n  c: |\n    x\n    y\n");
}

static void harmful_characters_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(scalar("\"a\\u001b[2J\\nb\""), "\"a\\x1b[2J\\nb\"\n");
    assert_string_equal(scalar("\"\\u202e\\u0085\\ufeff\\uffff\""),
                        "\"\\u202e\\u0085\\ufeff\\uffff\"\n");
    assert_string_equal(scalar("\"\\udb40\\udc41\""), "\"\\U000e0041\"\n");
    assert_string_equal(scalar("\"\\ud83d\\ude00\""), "\xf0\x9f\x98\x80\n");
    assert_string_equal(scalar("\"a\\tb\""), "\"a\\tb\"\n");
}

static void numbers_are_numbers_for_every_reader(void **state)
{
    (void)state;
    assert_string_equal(scalar("1e3"), "1.0e+3\n");
    assert_string_equal(scalar("-1.5E-3"), "-1.5e-3\n");
    assert_string_equal(scalar("12345678901234567890"), "12345678901234567890\n");
    assert_string_equal(scalar("0.25"), "0.25\n");
}

static void long_names_are_explicit_keys(void **state)
{
    (void)state;
    char json[2200] = "{\"m\":{\"";
    size_t at = strlen(json);
    memset(json + at, 'a', 2000);
    (void)snprintf(json + at + 2000, sizeof(json) - at - 2000, "\":{\"b\":1},\"z\":2}}");
    assert_round_trip(json);
    assert_non_null(strstr(ki_buf_text(&out), "\n  ? aaa"));
    assert_round_trip("{\"y\":1,\"a: b\":2,\"\":3,\"a\\nb\":4,\"1\":5,\"null\":6,\"-\":7}");
}

/* Strings made of what breaks readers, in every place. */
static void random_values_round_trip(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",       "1",       " ",       "\\n",      ":",       "#",
        "-",       "'",       "\\\"",    "\\\\",     "{",       "]",
        ",",       "&",       "*",       "!",        "|",       ">",
        "%",       "@",       "`",       "?",        "\\t",     "\\r",
        "\\u0000", "\\u001b", "\\u00a0", "\xc3\xa9", "\\u2028", "\\ud83d\\ude00",
        ".",       "e",       "yes",     "null",     "---",     "...",
        "0x",      "=",       "<<",      "~",        "  ",      "\\n\\n",
        "_",       "+",       "\\ufffe", "\\u007f",  "T",       "00",
        "\\n ",    " \\n",    "true"};
    enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };
    uint32_t random = 12345;
    for (int round = 0; round < 3000; round++) {
        char strings[4][128];
        for (size_t i = 0; i < 4; i++) {
            int at = 0;
            strings[i][0] = '\0';
            random = random * 1664525U + 1013904223U;
            for (uint32_t n = (random >> 16) % 6; n > 0; n--) {
                random = random * 1664525U + 1013904223U;
                at += snprintf(strings[i] + at, sizeof(strings[i]) - (size_t)at, "%s",
                               pieces[(random >> 16) % PIECES]);
            }
        }
        char json[1024];
        (void)snprintf(json, sizeof(json),
                       "{\"k%s\":\"%s\",\"l\":[\"%s\",[\"%s\"],{\"x%s\":\"%s\",\"z\":[\"%s\"]}]}",
                       strings[0], strings[1], strings[2], strings[3], strings[1], strings[0],
                       strings[3]);
        assert_round_trip(json);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(containers_are_blocks),          TEST(what_looks_like_something_else_is_quoted),
        TEST(plain_text_stays_plain),         TEST(lines_are_literal_where_they_can_be),
        TEST(harmful_characters_are_escaped), TEST(numbers_are_numbers_for_every_reader),
        TEST(long_names_are_explicit_keys),   TEST(random_values_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as we read it, shown as JSON; what we refuse, and where. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/config/kubeconfig.h"
#include "client/config/yaml_reader.h"
#include "support/test.h"

static const struct {
    const char *text;
    const char *json; /* NULL: no document */
} accepted[] = {
    {"", NULL},
    {"# only a comment\n", NULL},
    {"---\n", "null"},
    {"a", "\"a\""},
    {"a: b\n", "{\"a\":\"b\"}"},
    {"\xef\xbb\xbf"
     "a: b\n",
     "{\"a\":\"b\"}"},
    {"a: b\r\nc: d\r\n", "{\"a\":\"b\",\"c\":\"d\"}"},
    {"{\"a\": [1, -2, 0, 1.5, 2e3, 1E-2], \"b\": {}}", "{\"a\":[1,-2,0,1.5,2e3,1E-2],\"b\":{}}"},
    {"{\t\"a\":\t[\n\t\t]\n}", "{\"a\":[]}"},
    {"- true\n- True\n- FALSE\n- false\n", "[true,true,false,false]"},
    {"- null\n- ~\n-\n- Null\n- NULL\n", "[null,null,null,null,null]"},
    {"- yes\n- no\n- on\n- y\n- 0b1\n- 1_000\n- 1:20\n- 2001-01-01\n",
     "[\"yes\",\"no\",\"on\",\"y\",\"0b1\",\"1_000\",\"1:20\",\"2001-01-01\"]"},
    {"- 'true'\n- \"1\"\n- ''\n", "[\"true\",\"1\",\"\"]"},
    {"- - a\n  - b\n- c: d\n  e: [f]\n", "[[\"a\",\"b\"],{\"c\":\"d\",\"e\":[\"f\"]}]"},
    {"a: |\n  one\n   two\n\n  three\nb: >-\n  four\n  five\n",
     "{\"a\":\"one\\u000a two\\u000a\\u000athree\\u000a\",\"b\":\"four five\"}"},
    {"a: |2- # kkk 99 comment\n    one1\n  two2\n", "{\"a\":\"  one1\\u000atwo2\"}"},
    {"a: plain text\n  continues k1\nb: 'it''s\n  k'\n",
     "{\"a\":\"plain text continues k1\",\"b\":\"it's k\"}"},
    {"\"a\\x6bb\": \"k\\u00e4\\tq \\\n  z\"", "{\"akb\":\"k\xc3\xa4\\u0009q z\"}"},
    {"\"\\U0001F511k\\_\\N\\L\\P\\0\\/\\\"\\\\\"",
     "\"\xf0\x9f\x94\x91k\xc2\xa0\xc2\x85\xe2\x80\xa8\xe2\x80\xa9\\u0000/\\\"\\\\\""},
    {"k\xc3\xa4se: \xf0\x9f\x94\x91 k\xc3\xa4se k\nx: y1\n",
     "{\"k\xc3\xa4se\":\"\xf0\x9f\x94\x91 k\xc3\xa4se k\",\"x\":\"y1\"}"},
    {"? a\n: b\n", "{\"a\":\"b\"}"},
    {"1: a\ntrue: b\n", "{\"1\":\"a\",\"true\":\"b\"}"},
    {"\"<<\": a\n", "{\"<<\":\"a\"}"},
    {"a: b\n...\n", "{\"a\":\"b\"}"},
    {"a: C:\\kube\\x41\\users\n", "{\"a\":\"C:\\\\kube\\\\x41\\\\users\"}"},
    {"a: b#c # d\n", "{\"a\":\"b#c\"}"},
    {"a: http://h:1/p?q=r&s\n", "{\"a\":\"http://h:1/p?q=r&s\"}"},
};

static void accepted_texts_give_the_values_they_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        ki__yaml yaml;
        ki_error error = KI_ERROR_INIT;
        if (ki__yaml_read(ki_str_from(accepted[i].text), KI__YAML_CONFIG_DEPTH, NULL, &yaml,
                          &error) < 0) {
            fail_msg("%s: %s", accepted[i].text, error.message);
        }
        if (accepted[i].json == NULL) {
            assert_int_equal(yaml.root, KI__YAML_NONE);
        } else {
            ki_str json;
            uint32_t line;
            assert_int_equal(ki__yaml_to_json(&yaml, yaml.root, &yaml.secrets, &json, &line), 0);
            assert_string_equal(json.ptr, accepted[i].json);
        }
        ki__yaml_done(&yaml);
    }
}

static const struct {
    const char *text;
    int code;
    uint32_t line;
    uint32_t column;
    const char *message; /* NULL: the words of libyaml */
} rejected[] = {
    {"a: !!str b\n", KI_ERR_UNSUPPORTED, 1, 4, "tags are not allowed"},
    {"a: !x {}\n", KI_ERR_UNSUPPORTED, 1, 4, "tags are not allowed"},
    {"a:\n- ! []\n", KI_ERR_UNSUPPORTED, 2, 3, "tags are not allowed"},
    {"a: &x b\n", KI_ERR_UNSUPPORTED, 1, 4, "anchors and aliases are not allowed"},
    {"a: &x []\n", KI_ERR_UNSUPPORTED, 1, 4, "anchors and aliases are not allowed"},
    {"a: &x {}\n", KI_ERR_UNSUPPORTED, 1, 4, "anchors and aliases are not allowed"},
    {"a: b\nc: *x\n", KI_ERR_UNSUPPORTED, 2, 4, "anchors and aliases are not allowed"},
    {"<<: {a: b}\n", KI_ERR_UNSUPPORTED, 1, 1, "merge keys are not allowed"},
    {"a: b\n---\nc: d\n", KI_ERR_UNSUPPORTED, 2, 1, "more than one document"},
    {"[a]: b\n", KI_ERR_UNSUPPORTED, 1, 1, "keys must be strings"},
    {"? {a: b}\n: c\n", KI_ERR_UNSUPPORTED, 1, 3, "keys must be strings"},
    {"~: a\n", KI_ERR_TYPE, 1, 1, "key is missing"},
    {"a: b\nc: d\n'a': e\n", KI_ERR_INVALID, 3, 1, "duplicate key"},
    {"a: {x: 1, y: 2, x: 3}\n", KI_ERR_INVALID, 1, 17, "duplicate key"},
    {"{a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11, l: 12,\n"
     " m: 13, n: 14, c: 15}",
     KI_ERR_INVALID, 2, 16, "duplicate key"},
    {"a: [b\n", KI_ERR_SYNTAX, 2, 1, NULL},
    {"a: b: c\n", KI_ERR_SYNTAX, 1, 5, NULL},
    {"a: \"\\q\"\n", KI_ERR_SYNTAX, 1, 5, NULL},
    {"a: \"\\k\"\n", KI_ERR_SYNTAX, 1, 5, NULL},
    {"a: \"\\xk1\"\n", KI_ERR_SYNTAX, 1, 7, NULL},
    {"a: \"\\ud800\"\n", KI_ERR_SYNTAX, 1, 7, NULL},
    {"%YAML 1.1\n---\na: b\n", KI_ERR_UNSUPPORTED, 1, 1, "directives are not allowed"},
    {"a: b\n\tc: d\n", KI_ERR_SYNTAX, 2, 1, NULL},
    {"a: b\nc: \xff\n", KI_ERR_ENCODING, 2, 4, "not UTF-8"},
    {"a: b\n\x01", KI_ERR_ENCODING, 2, 1, NULL},
    {"\xff\xfe"
     "a\0",
     KI_ERR_ENCODING, 1, 1, "not UTF-8"},
};

static void rejected_texts_say_what_and_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
        ki__yaml yaml;
        ki_error error = KI_ERROR_INIT;
        ki_str text = ki_str_from(rejected[i].text);
        int r = ki__yaml_read(text, KI__YAML_CONFIG_DEPTH, NULL, &yaml, &error);
        if (r != rejected[i].code || error.line != rejected[i].line ||
            error.column != rejected[i].column || error.message[0] == '\0' ||
            (rejected[i].message != NULL && strcmp(error.message, rejected[i].message) != 0)) {
            fail_msg("%s: gave %s at %u:%u: %s", rejected[i].text, ki_error_name(r), error.line,
                     error.column, error.message);
        }
        assert_int_equal(ki__yaml_read(text, KI__YAML_CONFIG_DEPTH, NULL, &yaml, NULL),
                         rejected[i].code);
    }
}

static int read_deep(const ki_buf *buf, size_t max_depth)
{
    ki__yaml yaml;
    ki_error error = KI_ERROR_INIT;
    int r = ki__yaml_read(ki_buf_str(buf), max_depth, NULL, &yaml, &error);
    if (r >= 0) {
        ki__yaml_done(&yaml);
    }
    return r;
}

static int read_buf(const ki_buf *buf)
{
    return read_deep(buf, KI__YAML_CONFIG_DEPTH);
}

/* A sequence with so many others in it, down to the last. */
static int read_nested(size_t depth, size_t max_depth)
{
    ki_buf buf;
    ki_buf_init(&buf, NULL, SIZE_MAX);
    test_add(&buf, "[", depth);
    test_add(&buf, "]", depth);
    int r = read_deep(&buf, max_depth);
    ki_buf_done(&buf);
    return r;
}

static void depth_is_for_the_reader_to_say(void **state)
{
    (void)state;
    assert_int_equal(read_nested(1, 1), 0);
    assert_int_equal(read_nested(2, 1), KI_ERR_DEPTH);
    assert_int_equal(read_nested(KI__YAML_DEPTH_MAX, KI__YAML_DEPTH_MAX), 0);
    assert_int_equal(read_nested(KI__YAML_DEPTH_MAX + 1, KI__YAML_DEPTH_MAX), KI_ERR_DEPTH);
    assert_int_equal(read_nested(KI__YAML_DEPTH_MAX + 1, SIZE_MAX), KI_ERR_DEPTH);
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    static const char *const opening[] = {"[", "{a: ", "- ", "? "};
    for (size_t i = 0; i < sizeof(opening) / sizeof(opening[0]); i++) {
        ki_buf buf;
        ki_buf_init(&buf, NULL, SIZE_MAX);
        test_add(&buf, opening[i], KI__YAML_CONFIG_DEPTH + 1);
        int r = read_buf(&buf);
        assert_true(r == KI_ERR_DEPTH || r == KI_ERR_UNSUPPORTED);
        ki_buf_done(&buf);
    }
    ki_buf buf;
    ki_buf_init(&buf, NULL, SIZE_MAX);
    test_add(&buf, "[", KI__YAML_CONFIG_DEPTH);
    test_add(&buf, "]", KI__YAML_CONFIG_DEPTH);
    assert_int_equal(read_buf(&buf), 0);
    ki_buf_done(&buf);
}

static void the_number_of_values_has_a_limit(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, SIZE_MAX);
    test_add(&buf, "[", 1);
    test_add(&buf, "a,", KI__YAML_NODES_MAX - 2);
    test_add(&buf, "]", 1);
    assert_int_equal(read_buf(&buf), 0);
    ki_buf_clear(&buf);
    test_add(&buf, "[", 1);
    test_add(&buf, "a,", KI__YAML_NODES_MAX - 1);
    test_add(&buf, "]", 1);
    assert_int_equal(read_buf(&buf), KI_ERR_LIMIT);
    ki_buf_done(&buf);
}

/* Texts of a megabyte that have been slow in other readers. */
static void hostile_texts_end_soon(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        const char *piece;
    } texts[] = {
        {"", "["},     {"", "{"},      {"", "- "},    {"", "? "},          {"", "{a: "},
        {"", "[{"},    {"", "a: b: "}, {"a: ", "\n"}, {"a: \"", "\\x41 "}, {"a: \"", "\\\n "},
        {"", "'a': "}, {"[", "a,"},    {"", "&a "},   {"", "!a "},         {"a: |\n", "  k\n"},
        {"", "a\n"},   {"{", "a,"},    {"", "#\n"},   {"", "\xc3\xa4 "},   {"a: >\n", "\n  k\n"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_buf buf;
        ki_buf_init(&buf, NULL, SIZE_MAX);
        test_add(&buf, texts[i].head, 1);
        test_add(&buf, texts[i].piece, 1024 * 1024 / strlen(texts[i].piece));
        clock_t begin = clock();
        (void)read_buf(&buf);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 10) { /* far from the tenth of a second that it takes, far from hours */
            fail_msg("%s%s...: %f s", texts[i].head, texts[i].piece, seconds);
        }
        ki_buf_done(&buf);
    }
}

static void values_are_found_by_their_keys(void **state)
{
    (void)state;
    ki__yaml yaml;
    ki_str text = ki_str_from("{a: 1, b: {c: 2}, d: }");
    assert_int_equal(ki__yaml_read(text, KI__YAML_CONFIG_DEPTH, NULL, &yaml, NULL), 0);
    uint32_t b = ki__yaml_get(&yaml, yaml.root, "b");
    uint32_t c = ki__yaml_get(&yaml, b, "c");
    assert_str(ki__yaml_at(&yaml, c)->text, "2");
    assert_int_equal(ki__yaml_type_of(ki__yaml_at(&yaml, c)), KI__YAML_INT);
    assert_true(ki__yaml_is_null(ki__yaml_at(&yaml, ki__yaml_get(&yaml, yaml.root, "d"))));
    assert_int_equal(ki__yaml_get(&yaml, yaml.root, "c"), KI__YAML_NONE);
    assert_int_equal(ki__yaml_get(&yaml, c, "c"), KI__YAML_NONE);
    assert_int_equal(ki__yaml_get(&yaml, KI__YAML_NONE, "c"), KI__YAML_NONE);
    ki__yaml_done(&yaml);
}

static void types_are_those_of_the_core_schema(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ki__yaml_type type;
    } cases[] = {
        {"", KI__YAML_NULL},        {"~", KI__YAML_NULL},        {"nUll", KI__YAML_STRING},
        {"true", KI__YAML_BOOL},    {"TRUE", KI__YAML_BOOL},     {"tRue", KI__YAML_STRING},
        {"0", KI__YAML_INT},        {"-12", KI__YAML_INT},       {"+007", KI__YAML_INT},
        {"0x1F", KI__YAML_INT},     {"0o17", KI__YAML_INT},      {"0x", KI__YAML_STRING},
        {"0o8", KI__YAML_STRING},   {"-0x1", KI__YAML_STRING},   {"1.", KI__YAML_FLOAT},
        {".5", KI__YAML_FLOAT},     {"-1.5e+3", KI__YAML_FLOAT}, {"1e3", KI__YAML_FLOAT},
        {".", KI__YAML_STRING},     {"1e", KI__YAML_STRING},     {"e3", KI__YAML_STRING},
        {".inf", KI__YAML_FLOAT},   {"-.Inf", KI__YAML_FLOAT},   {".nan", KI__YAML_FLOAT},
        {"-.nan", KI__YAML_STRING}, {"-", KI__YAML_STRING},      {"+", KI__YAML_STRING},
        {"1 2", KI__YAML_STRING},   {"12a", KI__YAML_STRING},    {"1.2.3", KI__YAML_STRING},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__yaml_node node = {.text = ki_str_from(cases[i].text)};
        if (ki__yaml_type_of(&node) != cases[i].type) {
            fail_msg("%s", cases[i].text);
        }
        node.quoted = true;
        assert_int_equal(ki__yaml_type_of(&node), KI__YAML_STRING);
    }
}

static void numbers_that_json_has_not_are_refused(void **state)
{
    (void)state;
    static const char *const numbers[] = {"+1", "01",   "0x1",  "0o1", ".5",
                                          "1.", ".inf", ".nan", "-.5"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char text[32];
        snprintf(text, sizeof(text), "\n- %s", numbers[i]);
        ki__yaml yaml;
        assert_int_equal(ki__yaml_read(ki_str_from(text), KI__YAML_CONFIG_DEPTH, NULL, &yaml, NULL),
                         0);
        ki_str json;
        uint32_t line = 0;
        assert_int_equal(ki__yaml_to_json(&yaml, yaml.root, &yaml.secrets, &json, &line),
                         KI_ERR_UNSUPPORTED);
        assert_int_equal(line, 2);
        ki__yaml_done(&yaml);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    ki__yaml yaml;
    int r = ki__yaml_read(ki_str_from(user), KI__YAML_CONFIG_DEPTH, alloc, &yaml, NULL);
    if (r < 0) {
        return r;
    }
    ki_str json;
    uint32_t line;
    r = ki__yaml_to_json(&yaml, yaml.root, &yaml.secrets, &json, &line);
    ki__yaml_done(&yaml);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    char text[] = "{a: [b, {c: d}], e: 1, f: 2, g: 3, h: 4, i: 5, j: 6, k: 7, l: 8, m: 9, n: 10,"
                  " o: 11, p: 12, q: 13}";
    test_alloc_sweep(scenario, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_texts_give_the_values_they_hold),
        cmocka_unit_test(rejected_texts_say_what_and_where),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(depth_is_for_the_reader_to_say),
        cmocka_unit_test(the_number_of_values_has_a_limit),
        cmocka_unit_test(hostile_texts_end_soon),
        cmocka_unit_test(values_are_found_by_their_keys),
        cmocka_unit_test(types_are_those_of_the_core_schema),
        cmocka_unit_test(numbers_that_json_has_not_are_refused),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

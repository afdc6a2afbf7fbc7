/* SPDX-License-Identifier: Apache-2.0 */
/* The public YAML reader: documents of a text, one by one. Values: test_yaml_reader.c. */
#include <errno.h>

#include <kinformer/yaml.h>

#include "support/test.h"

/* The documents as JSON, separated by spaces; or the code of the error. */
static int convert(const char *yaml, ki_buf *out, ki_error *error)
{
    size_t offset = 0;
    int r;
    while ((r = ki_yaml_to_json(ki_str_from(yaml), &offset, out, error)) > 0) {
        test_add(out, " ", 1);
    }
    return r;
}

static void documents_are_converted_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        const char *json;
    } cases[] = {
        {"", ""},
        {"# nothing\n---\n...\n--- \n", ""},
        {"a: 1\n", "{\"a\":1} "},
        {"{\"a\": [true, null, \"x\"]}", "{\"a\":[true,null,\"x\"]} "},
        {"---\na: b\n---\n# none\n---\nc: |\n  d\n  e\n",
         "{\"a\":\"b\"} {\"c\":\"d\\u000ae\\u000a\"} "},
        {"- x\n---\ny", "[\"x\"] \"y\" "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf out;
        ki_buf_init(&out, NULL, 1024);
        assert_int_equal(convert(cases[i].yaml, &out, NULL), 0);
        assert_string_equal(ki_buf_text(&out), cases[i].json);
        ki_buf_done(&out);
    }
}

static void errors_have_their_place_in_the_text(void **state)
{
    (void)state;
    static const char text[] = "a: 1\n---\nb: [\n";
    ki_buf out;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&out, NULL, 1024);
    assert_int_equal(convert(text, &out, &error), KI_ERR_SYNTAX);
    assert_string_equal(ki_buf_text(&out), "{\"a\":1} ");
    assert_int_equal(error.line, 4);
    assert_true(error.offset > 5);
    ki_buf_clear(&out);
    assert_int_equal(convert("---\n---\na: .inf\n", &out, &error), KI_ERR_UNSUPPORTED);
    assert_string_equal(error.message, "line 3: number cannot be represented in JSON");
    assert_int_equal(out.len, 0);
    ki_buf_done(&out);
}

static void a_full_buffer_is_an_error_and_nothing_is_added(void **state)
{
    (void)state;
    ki_buf out;
    size_t offset = 0;
    ki_str text = ki_str_from("a: 1\n---\nb: 22\n");
    ki_buf_init(&out, NULL, 14);
    assert_int_equal(ki_yaml_to_json(text, &offset, &out, NULL), 1);
    assert_int_equal(offset, 5);
    assert_int_equal(ki_yaml_to_json(text, &offset, &out, NULL), KI_ERR_LIMIT);
    assert_int_equal(offset, 5);
    assert_string_equal(out.data, "{\"a\":1}");
    ki_buf_done(&out);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_buf out;
    size_t offset = 0;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&out, alloc, 1024);
    int r = ki_yaml_to_json(ki_str_from("---\n---\na: {b: [c, 1]}\n"), &offset, &out, &error);
    assert_true(r == 1 || (out.len == 0 && offset == 0));
    ki_buf_done(&out);
    return r == 1 ? 0 : r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_converted_one_by_one),
        cmocka_unit_test(errors_have_their_place_in_the_text),
        cmocka_unit_test(a_full_buffer_is_an_error_and_nothing_is_added),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "support/path.h"
#include "support/test.h"

#define RESULTS_MAX ((size_t)1 << 20)

ki_path *test_path(const char *text)
{
    ki_path *path = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_path_compile(text, NULL, &path, &error) < 0) {
        fail_msg("offset %zu: %s: %s", error.offset, error.message, text);
    }
    return path;
}

static void collect(const ki_path *path, const ki_value *root, ki_buf *out)
{
    ki_path_iter *iter;
    ki_value value;
    int r;
    assert_int_equal(ki_path_iter_begin(path, root, &iter), 0);
    while ((r = ki_path_iter_next(iter, &value)) > 0) {
        if (out->len != 0) {
            assert_int_equal(ki_buf_add_char(out, ' '), 0);
        }
        assert_int_equal(ki_value_write_json(&value, out), 0);
    }
    assert_int_equal(r, 0);
    assert_int_equal(ki_path_iter_next(iter, &value), 0); /* the end stays the end */
    ki_path_iter_end(iter);
}

/* The first value must be the first of `results`. */
static void check_first(const ki_path *path, const ki_value *root, const char *results)
{
    ki_value value;
    int r = ki_path_first(path, root, &value);
    if (results[0] == '\0') {
        assert_int_equal(r, KI_ERR_NOT_FOUND);
        return;
    }
    assert_int_equal(r, 0);
    ki_buf out;
    ki_buf_init(&out, NULL, RESULTS_MAX);
    assert_int_equal(ki_value_write_json(&value, &out), 0);
    assert_true(strncmp(ki_buf_text(&out), results, out.len) == 0);
    assert_true(results[out.len] == '\0' || results[out.len] == ' ');
    ki_buf_done(&out);
}

void test_path_cases(const char *json, const test_path_case *cases, size_t count)
{
    ki_object *object = test_json(json);
    ki_value root = ki_object_root(object);
    for (size_t i = 0; i < count; i++) {
        ki_path *path = test_path(cases[i].path);
        ki_buf out;
        ki_buf_init(&out, NULL, RESULTS_MAX);
        collect(path, &root, &out);
        if (strcmp(ki_buf_text(&out), cases[i].results) != 0) {
            fail_msg("%s gave\n  %s\ninstead of\n  %s", cases[i].path, ki_buf_text(&out),
                     cases[i].results);
        }
        check_first(path, &root, cases[i].results);
        ki_buf_done(&out);
        ki_path_unref(path);
    }
    ki_object_unref(object);
}

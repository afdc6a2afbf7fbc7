/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as things to own and to share, the getters of objects, and running out of memory.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "support/path.h"
#include "support/test.h"

static const char pod[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\",\"labels\":{\"app.kubernetes.io/name\":"
    "\"web\"}},\"spec\":{\"nodeName\":\"n\\u0031\",\"priority\":7,\"hostNetwork\":true,"
    "\"containers\":[{\"name\":\"a\",\"image\":\"x:1\",\"weight\":0.25},{\"name\":\"b\","
    "\"image\":\"y:2\"}]},\"status\":{\"conditions\":[{\"type\":\"Initialized\",\"status\":"
    "\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]}}";

static void text_is_kept_and_references_are_counted(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    char text[] = " {.spec['a','b\\.c']} ";
    ki_path *path = NULL;
    assert_int_equal(ki_path_compile(text, &alloc.table, &path, NULL), 0);
    assert_int_equal(alloc.live_blocks, 1);
    memset(text, 'x', sizeof(text) - 1); /* it has a copy */
    assert_string_equal(ki_path_text(path), " {.spec['a','b\\.c']} ");
    assert_ptr_equal(ki_path_ref(path), path);
    assert_null(ki_path_unref(path));
    assert_string_equal(ki_path_text(path), " {.spec['a','b\\.c']} ");
    assert_null(ki_path_unref(path));
    assert_null(ki_path_ref(NULL));
    assert_null(ki_path_unref(NULL));
    test_alloc_done(&alloc);
}

static void failing_leaves_the_output_alone(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_path *path = (ki_path *)&alloc;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_path_compile(".a[", &alloc.table, &path, &error), KI_ERR_SYNTAX);
    assert_ptr_equal(path, &alloc);
    alloc.fail_at = alloc.calls + 1;
    assert_int_equal(ki_path_compile(".a", &alloc.table, &path, &error), -ENOMEM);
    assert_int_equal(error.code, -ENOMEM);
    assert_ptr_equal(path, &alloc);
    test_alloc_done(&alloc);
}

static void getters_read_what_the_path_leads_to(void **state)
{
    (void)state;
    ki_object *object = test_json(pod);
    ki_path *node = test_path("spec.nodeName");
    ki_path *priority = test_path("{.spec.priority}");
    ki_path *host = test_path("$.spec.hostNetwork");
    ki_path *weight = test_path(".spec.containers[*].weight");
    ki_path *ready = test_path(".status.conditions[?(@.type==\"Ready\")].status");
    ki_path *label = test_path(".metadata.labels['app.kubernetes.io/name']");
    ki_path *missing = test_path(".spec.missing");
    char text[8] = "before";
    int64_t integer = -1;
    double real = -1;
    bool flag = false;
    ki_value value;
    assert_int_equal(ki_object_get_string(object, node, text, 2), KI_ERR_LIMIT);
    assert_string_equal(text, "before");
    assert_int_equal(ki_object_get_string(object, node, text, sizeof(text)), 2);
    assert_string_equal(text, "n1");
    assert_int_equal(ki_object_get_string(object, ready, text, sizeof(text)), 5);
    assert_string_equal(text, "False");
    assert_int_equal(ki_object_get_string(object, label, text, sizeof(text)), 3);
    assert_string_equal(text, "web");
    assert_int_equal(ki_object_get_int64(object, priority, &integer), 0);
    assert_int_equal(integer, 7);
    assert_int_equal(ki_object_get_int64(object, weight, &integer), KI_ERR_RANGE);
    assert_int_equal(ki_object_get_double(object, weight, &real), 0);
    assert_true(real == 0.25);
    assert_int_equal(ki_object_get_bool(object, host, &flag), 0);
    assert_true(flag);
    assert_int_equal(ki_object_get(object, ready, &value), 0);
    assert_true(ki_value_equals(&value, ki_str_from("False")));
    assert_int_equal(ki_object_get_bool(object, node, &flag), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_string(object, host, text, sizeof(text)), KI_ERR_TYPE);
    assert_int_equal(ki_object_get_int64(object, missing, &integer), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_double(object, missing, &real), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_string(object, missing, text, 1), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_object_get_bool(object, missing, &flag), KI_ERR_NOT_FOUND);
    assert_true(ki_object_has(object, node));
    assert_false(ki_object_has(object, missing));
    ki_path *paths[] = {node, priority, host, weight, ready, label, missing};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ki_path_unref(paths[i]);
    }
    ki_object_unref(object);
}

static void first_allocates_nothing_without_descent(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ".spec.nodeName",
        ".spec.containers[-1].image",
        ".status.conditions[?(@.type==\"Ready\")].status",
        ".status.conditions[?(@.type>\"Initialized\" && @.status!=\"True\")].status",
        ".spec.containers[*]['image','name']",
        ".spec.containers[0:][?(@.x)]",
        ".*.*[*].*",
        ".missing",
    };
    ki_object *object = test_json(pod);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        test_alloc alloc;
        ki_path *path;
        ki_value value;
        test_alloc_init(&alloc);
        assert_int_equal(ki_path_compile(texts[i], &alloc.table, &path, NULL), 0);
        assert_int_equal(alloc.calls, 1);
        int r = ki_object_get(object, path, &value);
        assert_true(r == 0 || r == KI_ERR_NOT_FOUND);
        assert_int_equal(alloc.calls, 1);
        ki_path_unref(path);
        test_alloc_done(&alloc);
    }
    ki_object_unref(object);
}

/* Compiles, asks for the first value and for all; whatever fails, fails cleanly. */
static int compile_and_walk(const ki_alloc *alloc, void *user)
{
    const char *text = user;
    ki_object *object = test_json(pod);
    ki_value root = ki_object_root(object);
    ki_path *path = NULL;
    ki_path_iter *iter = NULL;
    ki_value value = {.len = 42};
    int r = ki_path_compile(text, alloc, &path, NULL);
    if (r == 0) {
        r = ki_path_first(path, &root, &value);
        assert_true(r == 0 || value.len == 42);
    }
    if (r == 0) {
        r = ki_path_iter_begin(path, &root, &iter);
    }
    if (r == 0) {
        while ((r = ki_path_iter_next(iter, &value)) > 0) {
        }
        assert_int_equal(ki_path_iter_next(iter, &value), r);
    }
    ki_path_iter_end(iter);
    ki_path_unref(path);
    ki_object_unref(object);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const texts[] = {
        ".spec.nodeName",
        ".spec.containers[*].name",
        ".status.conditions[?(@.type==\"Ready\")].status",
        "..name",
        "..*",
        "..containers..name",
        ".spec.containers[?(@..image=='y:2')].name",
        "..['name','image']",
        /* Nine steps with a choice: more than are at hand without an allocation. */
        "..[*,*]..[*,*]..[?(@.*)]..['image','name']",
        "..*..*..*..image",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[128];
        memcpy(text, texts[i], strlen(texts[i]) + 1);
        test_alloc_sweep(compile_and_walk, text);
    }
}

/* Filters decode strings with escapes when they have to put them in order. */
static int compare_encoded(const ki_alloc *alloc, void *user)
{
    const ki_object *object = user;
    ki_path *path;
    ki_value value;
    int r = ki_path_compile(".l[?(@.a<@.b)].id", alloc, &path, NULL);
    if (r < 0) {
        return r;
    }
    r = ki_object_get(object, path, &value);
    ki_path_unref(path);
    return r;
}

static void decoding_may_fail(void **state)
{
    (void)state;
    ki_object *object = test_json("{\"l\":[{\"a\":\"x\\ny\",\"b\":\"x\\n\",\"id\":1},"
                                  "{\"a\":\"x\\n\",\"b\":\"x\\nz\",\"id\":2}]}");
    test_alloc_sweep(compare_encoded, object);
    ki_object_unref(object);
}

typedef struct shared {
    ki_path *path;
    ki_object *object;
} shared;

static void *read_many_times(void *user)
{
    const shared *s = user;
    size_t *wrong = NULL;
    for (int i = 0; i < 2000; i++) {
        ki_path *path = ki_path_ref(s->path);
        char text[8];
        if (ki_object_get_string(s->object, path, text, sizeof(text)) != 5) {
            wrong = (size_t *)user;
        }
        ki_path_unref(path);
    }
    return wrong;
}

static void many_threads_share_a_path(void **state)
{
    (void)state;
    shared s = {test_path("..[?(@.type==\"Ready\")].status"), test_json(pod)};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_many_times, &s), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    ki_path_unref(s.path);
    ki_object_unref(s.object);
}

static void elements_by_one_of_their_members(void **state)
{
    (void)state;
    static const test_path_case cases[] = {
        {".c[name=a].i", "1"},
        {"c[ name=a ].i", "1"},
        {"c[name='b c'].i", "2"},
        {"c[name=\"b c\"].i", "2"},
        {"c[name=a.b/c:d-e_f].i", "3"},
        {"c[name=x].i", ""},
        {"c[type=x].i", ""},
        {"c[i=1].name", ""},
        {"m[name=a]", ""},
        {"..[name=a].i", "1"},
    };
    const char *json = "{\"c\":[{\"name\":\"a\",\"i\":1},{\"name\":\"b c\",\"i\":2},"
                       "{\"name\":\"a.b/c:d-e_f\",\"i\":3},7],\"m\":{\"name\":\"a\"}}";
    TEST_PATH_CASES(json, cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_by_one_of_their_members),
        cmocka_unit_test(text_is_kept_and_references_are_counted),
        cmocka_unit_test(failing_leaves_the_output_alone),
        cmocka_unit_test(getters_read_what_the_path_leads_to),
        cmocka_unit_test(first_allocates_nothing_without_descent),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(decoding_may_fail),
        cmocka_unit_test(many_threads_share_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

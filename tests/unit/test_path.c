/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as things to own and to share, the getters of objects, and running out of memory.
 * threads: yes */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <kinformer/encoding.h>

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

/* ---- paths used once ---- */

/* The pod in both encodings: what reads from one reads from the other. */
static void both(const char *json, ki_object *ret_pods[2])
{
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    ret_pods[0] = test_json(json);
    assert_int_equal(ki_object_write_protobuf(ret_pods[0], &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &ret_pods[1], NULL), 0);
    ki_buf_done(&bytes);
}

static const char rich_pod[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-0\",\"labels\":{"
    "\"app.kubernetes.io/name\":\"web\",\"empty\":\"\"},\"annotations\":{\"example.com/json\":"
    "\"{\\\"a\\\":1}\"},\"creationTimestamp\":\"2026-01-31T12:00:00Z\",\"finalizers\":[\"example."
    "com/a\","
    "\"example.com\\/"
    "b\"]},\"spec\":{\"nodeName\":\"n\\u0031\",\"priority\":7,\"hostNetwork\":true,\"containers\":["
    "{\"name\":\"a\",\"image\":"
    "\"x:1\"},{\"name\":\"b\",\"image\":\"y:2\"}]},\"status\":{\"conditions\":[{\"type\":"
    "\"Initialized\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"False\"}]}}";

static void fields_are_read_by_the_text_of_their_path(void **state)
{
    (void)state;
    ki_object *pods[2];
    char text[32];
    both(rich_pod, pods);
    for (int i = 0; i < 2; i++) {
        const ki_object *o = pods[i];
        assert_int_equal(ki_object_int64_or(o, "spec.priority", -1), 7);
        assert_int_equal(ki_object_int64_or(o, "spec.nodeName", -1), -1);
        assert_int_equal(ki_object_int64_or(o, "spec.missing.below", -1), -1);
        assert_true(ki_object_double_or(o, ".spec.priority", 0.5) == 7.0);
        assert_true(ki_object_double_or(o, ".spec.missing", 0.5) == 0.5);
        assert_true(ki_object_bool_or(o, "{.spec.hostNetwork}", false));
        assert_true(ki_object_bool_or(o, "spec.hostPID", true)); /* absent: the default */
        assert_ptr_equal(ki_object_string_or(o, "spec.nodeName", "none", text, 3), text);
        assert_string_equal(text, "n1"); /* was stored with an escape */
        assert_string_equal(ki_object_string_or(o, "spec.nodeName", "none", text, 2), "none");
        assert_null(ki_object_string_or(o, "spec.nodeName", NULL, text, 0));
        assert_string_equal(text, "n1");
        assert_string_equal(ki_object_string_or(o, "spec.containers[-1].image", "", text, 9),
                            "y:2");
        assert_string_equal(ki_object_string_or(o, "metadata.creationTimestamp", "", text, 32),
                            "2026-01-31T12:00:00Z"); /* protobuf stores seconds */
        assert_true(ki_object_equals(o, "status.conditions[type=Ready].status", "False"));
        assert_true(ki_object_equals(o, "status.conditions[?(@.type!='Ready')].status", "True"));
        assert_true(ki_object_equals(o, "metadata.labels['app.kubernetes.io/name']", "web"));
        assert_false(ki_object_equals(o, "spec.nodeName", "n2"));
        assert_false(ki_object_equals(o, "spec.missing", "")); /* nothing is not "" */
        ki_value containers = ki_object_at(o, "spec.containers");
        ki_value image = ki_value_at(&containers, "[name=b].image");
        assert_true(ki_value_equals_text(&image, "y:2"));
        ki_value all = ki_object_at(o, "$"); /* the object itself */
        assert_int_equal(ki_value_type(&all), KI_TYPE_MAP);
        ki_object_unref(pods[i]);
    }
}

static void labels_are_views_and_annotations_values(void **state)
{
    (void)state;
    ki_object *pods[2];
    char text[32];
    both(rich_pod, pods);
    for (int i = 0; i < 2; i++) {
        const ki_object *o = pods[i];
        assert_str(ki_object_label(o, "app.kubernetes.io/name"), "web");
        assert_non_null(ki_object_label(o, "missing").ptr); /* for %.*s */
        assert_int_equal(ki_object_label(o, "missing").len, 0);
        assert_false(ki_object_has_label(o, "missing"));
        assert_true(ki_object_has_label(o, "empty"));
        assert_str(ki_object_label(o, "empty"), "");
        assert_true(ki_object_label_is(o, "empty", ""));
        assert_false(ki_object_label_is(o, "missing", ""));
        assert_true(ki_object_label_is(o, "app.kubernetes.io/name", "web"));
        assert_false(ki_object_label_is(o, "app.kubernetes.io/name", "we"));
        assert_false(ki_object_has_label(o, "web\",\"empty")); /* names are no JSON */
        ki_value note = ki_object_annotation(o, "example.com/json");
        assert_string_equal(ki_value_string_or(&note, "", text, sizeof(text)), "{\"a\":1}");
        assert_true(ki_object_has_annotation(o, "example.com/json"));
        ki_value none = ki_object_annotation(o, "example.com/none");
        assert_int_equal(ki_value_type(&none), KI_TYPE_NONE);
        assert_false(ki_object_has_annotation(o, "example.com/none"));
        assert_true(ki_object_has_finalizer(o, "example.com/b"));
        assert_false(ki_object_has_finalizer(o, "example.com"));
        ki_object_unref(pods[i]);
    }
    ki_object *odd = test_json("{\"metadata\":{\"labels\":{\"a\":\"x\\u0031\",\"b\":\"y\"}}}");
    assert_str(ki_object_label(odd, "a"), ""); /* there is no view of what is encoded */
    assert_true(ki_object_has_label(odd, "a"));
    assert_true(ki_object_label_is(odd, "a", "x1"));
    assert_str(ki_object_label(odd, "b"), "y");
    ki_object_unref(odd);
    ki_object *bare = test_json("{}");
    assert_false(ki_object_has_label(bare, "a"));
    assert_str(ki_object_label(bare, "a"), "");
    assert_false(ki_object_has_annotation(bare, "a"));
    assert_false(ki_object_has_finalizer(bare, "a"));
    ki_object_unref(bare);
}

static void no_path_and_no_value_read_as_nothing(void **state)
{
    (void)state;
    ki_object *object = test_json(pod);
    ki_value none = {0};
    char longest[514];
    ki_value found[] = {
        ki_object_at(object, ".spec["),
        ki_object_at(object, ""),
        ki_object_at(object, NULL),
        ki_object_at(NULL, ".spec"),
        ki_value_at(NULL, ".spec"),
        ki_value_at(&none, ".spec"),
        ki_object_at(object, "spec.nodeName[0]"),
        ki_object_at(object, ".spec.containers[?(@.a==1||@.a==1||@.a==1||@.a==1||@.a==1||@.a==1)]"),
    };
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        assert_int_equal(ki_value_type(&found[i]), KI_TYPE_NONE);
    }
    assert_int_equal(ki_value_int64_or(&none, 5), 5);
    assert_true(ki_value_double_or(NULL, 0.5) == 0.5);
    assert_true(ki_value_bool_or(&none, true));
    assert_string_equal(ki_value_string_or(&none, "x", longest, sizeof(longest)), "x");
    assert_false(ki_value_equals_text(&none, NULL));
    memset(longest, ' ', sizeof(longest) - 1); /* blanks may stand around a path */
    memcpy(longest, ".spec.priority", 14);
    longest[512] = '\0';
    assert_int_equal(ki_object_int64_or(object, longest, -1), 7);
    longest[512] = ' ';
    longest[513] = '\0';
    assert_int_equal(ki_object_int64_or(object, longest, -1), -1); /* over 512 bytes */
    char steps[300];
    memset(steps, 0, sizeof(steps));
    for (size_t i = 0; i < 65; i++) {
        memcpy(steps + 3 * i, "[0]", 3);
    }
    none = ki_object_at(object, steps); /* more steps than there may be */
    assert_int_equal(ki_value_type(&none), KI_TYPE_NONE);
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
        cmocka_unit_test(fields_are_read_by_the_text_of_their_path),
        cmocka_unit_test(labels_are_views_and_annotations_values),
        cmocka_unit_test(no_path_and_no_value_read_as_nothing),
        cmocka_unit_test(first_allocates_nothing_without_descent),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(decoding_may_fail),
        cmocka_unit_test(many_threads_share_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

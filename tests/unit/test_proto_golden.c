/* SPDX-License-Identifier: Apache-2.0 */
/* What Go made of objects of every kind, against what is read from the same protobuf here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>
#include <kinformer/path.h>

#include "support/golden.h"
#include "support/same_value.h"
#include "support/test.h"

static const char folder[] = TEST_DATA_DIR "/protobuf";

typedef struct pair {
    ki_object *proto;
    ki_object *json; /* Go's */
} pair;

static void show(const ki_value *a, const ki_value *b)
{
    ki_buf left;
    ki_buf right;
    ki_buf_init(&left, NULL, SAME_TEXT_MAX);
    ki_buf_init(&right, NULL, SAME_TEXT_MAX);
    if (ki_value_write_json(a, &left) == 0 && ki_value_write_json(b, &right) == 0) {
        print_message("  here: %.400s\n  Go:   %.400s\n", ki_buf_text(&left), ki_buf_text(&right));
    }
    ki_buf_done(&left);
    ki_buf_done(&right);
}

static ki_object *from_json(ki_str json)
{
    const ki_object_options options = {.max_depth = 1024};
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json.ptr, json.len, &options, &object, &error) < 0) {
        fail_msg("%s at %zu in %.*s", error.message, error.offset, KI_STR_ARG(json));
    }
    return object;
}

static pair make_pair(const golden_record *record)
{
    pair p = {0};
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &p.proto,
                                &error) < 0) {
        fail_msg("%.*s %.*s: %s at %zu", KI_STR_ARG(record->api_version), KI_STR_ARG(record->kind),
                 error.message, error.offset);
    }
    p.json = from_json(record->json);
    return p;
}

static void drop_pair(pair p)
{
    ki_object_unref(p.proto);
    ki_object_unref(p.json);
}

/* ---- values ---- */

static void check_values(const golden_record *record, void *user)
{
    (void)user;
    pair p = make_pair(record);
    ki_value here = ki_object_root(p.proto);
    ki_value there = ki_object_root(p.json);
    if (!same_value(&here, &there, show)) {
        fail_msg("%.*s %.*s differs", KI_STR_ARG(record->api_version), KI_STR_ARG(record->kind));
    }
    drop_pair(p);
}

static void every_value_reads_as_in_gos_json(void **state)
{
    (void)state;
    (void)golden_each(folder, check_values, NULL);
}

/* ---- writing ---- */

static void check_written(const golden_record *record, void *user)
{
    (void)user;
    pair p = make_pair(record);
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_object_write_json(p.proto, &text), 0);
    ki_object *written = from_json(ki_buf_str(&text));
    ki_value here = ki_object_root(written);
    ki_value there = ki_object_root(p.json);
    if (!same_value(&here, &there, show)) {
        fail_msg("%.*s %.*s differs", KI_STR_ARG(record->api_version), KI_STR_ARG(record->kind));
    }
    ki_object_unref(written);
    ki_buf_done(&text);
    drop_pair(p);
}

static void written_as_json_it_is_gos_json(void **state)
{
    (void)state;
    (void)golden_each(folder, check_written, NULL);
}

/* ---- accessors ---- */

static void check_same_map(const ki_value *here, const ki_value *there)
{
    assert_true(same_value(here, there, show));
}

static void check_accessors(const golden_record *record, void *user)
{
    size_t *complete = user;
    pair p = make_pair(record);
    const ki_object *a = p.proto;
    const ki_object *b = p.json;
    assert_string_equal(ki_object_key(a), ki_object_key(b));
    assert_string_equal(ki_object_name(a), ki_object_name(b));
    assert_string_equal(ki_object_namespace(a), ki_object_namespace(b));
    assert_string_equal(ki_object_uid(a), ki_object_uid(b));
    assert_string_equal(ki_object_resource_version(a), ki_object_resource_version(b));
    assert_string_equal(ki_object_kind(a), ki_object_kind(b));
    assert_string_equal(ki_object_api_version(a), ki_object_api_version(b));
    assert_int_equal(ki_object_generation(a), ki_object_generation(b));
    assert_int_equal(ki_object_creation_time(a), ki_object_creation_time(b));
    assert_int_equal(ki_object_deletion_time(a), ki_object_deletion_time(b));
    assert_int_equal(ki_object_is_deleting(a), ki_object_is_deleting(b));
    ki_value here[] = {ki_object_labels(a), ki_object_annotations(a), ki_object_owner_references(a),
                       ki_object_finalizers(a)};
    ki_value there[] = {ki_object_labels(b), ki_object_annotations(b),
                        ki_object_owner_references(b), ki_object_finalizers(b)};
    for (size_t i = 0; i < 4; i++) {
        check_same_map(&here[i], &there[i]);
    }
    ki_owner left = {0};
    ki_owner right = {0};
    assert_int_equal(ki_object_controller(a, &left), ki_object_controller(b, &right));
    assert_int_equal(left.controller, right.controller);
    *complete += ki_object_is_complete(a);
    size_t strings = strlen(ki_object_key(a)) + strlen(ki_object_namespace(a)) +
                     strlen(ki_object_uid(a)) + strlen(ki_object_resource_version(a)) +
                     strlen(ki_object_kind(a)) + strlen(ki_object_api_version(a));
    size_t need = record->protobuf.len + 80 + 64 + strings + 8;
    assert_true(ki_object_memory(a) <= need + (need / 64 > 16 ? need / 64 : 16));
    ki_str bytes = ki_object_bytes(a);
    assert_true(ki_str_eq(bytes, record->protobuf));
    assert_int_equal(ki_object_encoding(a), KI_ENCODING_PROTOBUF);
    drop_pair(p);
}

static void accessors_give_what_they_give_for_json(void **state)
{
    (void)state;
    size_t complete = 0;
    size_t count = golden_each(folder, check_accessors, &complete);
    assert_int_equal(complete, count); /* the tables know every kind and field of them */
}

/* ---- paths ---- */

enum { DEPTH_MAX = 64 };

typedef struct trail {
    const pair *pair;
    ki_buf path;
    size_t paths;
} trail;

/* Whether the path so far leads to the same single value in both. */
static void check_path(trail *t, const ki_value *there)
{
    ki_path *path;
    ki_error error = KI_ERROR_INIT;
    ki_value here;
    ki_value again;
    if (ki_path_compile(ki_buf_text(&t->path), NULL, &path, &error) < 0) {
        fail_msg("%s: %s", ki_buf_text(&t->path), error.message);
    }
    if (ki_object_get(t->pair->proto, path, &here) < 0 ||
        ki_object_get(t->pair->json, path, &again) < 0 || !same_value(&here, there, show) ||
        again.bytes != there->bytes) {
        fail_msg("%s differs", ki_buf_text(&t->path));
    }
    t->paths++;
    ki_path_unref(path);
}

/* Adds ['name'] for a member. A path is a C string: of a name with a NUL it cannot tell. */
static bool add_name(ki_buf *path, const ki_value *key)
{
    ki_buf name;
    ki_buf_init(&name, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_value_copy_string(key, &name), 0);
    test_add(path, "['", 1);
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '\'' || name.data[i] == '\\') {
            test_add(path, "\\", 1);
        }
        assert_int_equal(ki_buf_add_char(path, name.data[i]), 0);
    }
    test_add(path, "']", 1);
    bool can = name.len == 0 || memchr(name.data, '\0', name.len) == NULL;
    ki_buf_done(&name);
    return can;
}

static void visit_leaves(trail *t, const ki_value *there)
{
    ki_value_iter iter;
    ki_value key;
    ki_value child;
    size_t before = t->path.len;
    size_t index = 0;
    bool leaf = ki_value_iter_begin(there, &iter) < 0;
    if (leaf || ki_value_count(there) == 0) {
        check_path(t, there);
        return;
    }
    while (ki_value_iter_next(&iter, &key, &child) > 0) {
        bool can = true;
        if (ki_value_type(&key) == KI_TYPE_NONE) {
            char text[32];
            (void)snprintf(text, sizeof(text), "[%zu]", index++);
            test_add(&t->path, text, 1);
        } else {
            can = add_name(&t->path, &key);
        }
        if (can) {
            visit_leaves(t, &child);
        }
        t->path.len = before;
        t->path.data[before] = '\0';
    }
}

static void check_paths(const golden_record *record, void *user)
{
    size_t *paths = user;
    pair p = make_pair(record);
    trail t = {.pair = &p};
    ki_buf_init(&t.path, NULL, SAME_TEXT_MAX);
    test_add(&t.path, "$", 1);
    ki_value root = ki_object_root(p.json);
    visit_leaves(&t, &root);
    *paths += t.paths;
    ki_buf_done(&t.path);
    drop_pair(p);
}

static void every_path_leads_to_the_same(void **state)
{
    (void)state;
    size_t paths = 0;
    size_t records = golden_each(folder, check_paths, &paths);
    print_message("%zu objects, %zu paths\n", records, paths);
    assert_true(paths > records);
}

static void check_descent(const golden_record *record, void *user)
{
    const ki_path *path = user;
    pair p = make_pair(record);
    size_t counts[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        ki_value root = ki_object_root(i == 0 ? p.proto : p.json);
        ki_path_iter *iter;
        ki_value value;
        int r;
        assert_int_equal(ki_path_iter_begin(path, &root, &iter), 0);
        while ((r = ki_path_iter_next(iter, &value)) > 0) {
            counts[i]++;
        }
        assert_int_equal(r, 0);
        ki_path_iter_end(iter);
    }
    assert_int_equal(counts[0], counts[1]);
    drop_pair(p);
}

static void descents_meet_as_many_values(void **state)
{
    (void)state;
    static const char *const texts[] = {"..*", "..name", "..[0]", "..[?(@.name)].name", "..[-1:]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_path *path;
        assert_int_equal(ki_path_compile(texts[i], NULL, &path, NULL), 0);
        (void)golden_each(folder, check_descent, path);
        ki_path_unref(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_reads_as_in_gos_json),
        cmocka_unit_test(written_as_json_it_is_gos_json),
        cmocka_unit_test(accessors_give_what_they_give_for_json),
        cmocka_unit_test(every_path_leads_to_the_same),
        cmocka_unit_test(descents_meet_as_many_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Every accessor and every setter of the headers that gen-views writes for the definitions of
 * tests/data/crds, against what paths read, on random objects that are valid by their schemas. The
 * headers are generated while the tests are built. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/yaml.h>

#include "crd_headers.h"

#define VIEW_HEADERS "crd_headers.h"
#include "support/edit_checks.h"
#include "support/test.h"
#include "support/view_checks.h"

/* Its fields are checked by test_view_golden and test_view_edit_golden. */
static void check_ki_meta_v1_ObjectMeta(const view_check *check, ki_meta_v1_ObjectMeta view)
{
    view_check_value(check, &view.value);
}
static void edit_ki_meta_v1_ObjectMeta(edit_walk *walk, const ki_value *from,
                                       ki_meta_v1_ObjectMeta_edit at)
{
    char name[4096];
    ki_value_iter iter = {0};
    ki_value key;
    ki_value value;
    assert_int_equal(ki_value_iter_begin(from, &iter), 0);
    while (edit_next(&iter, &key, &value)) {
        assert_true(edit_read_key(&key, name));
        ki_place_set_value(at.place, name, value);
        walk->writes++;
    }
}

#include "apiserver/validate/crd_schema.h"
#include "support/every_accessor.h"
#include "support/every_setter.h"
#include "support/same_value.h"
#include "support/schema_random.h"

enum { OBJECTS = 400, SETTERS_EACH = 4, FILE_MAX = 1 << 20 };

typedef struct totals {
    view_walk walk;
    edit_walk writes;
    size_t definitions;
    size_t kinds;
    size_t objects;
} totals;

/* An object with every field set must be the same, by path and by view. */
static void check_setters(totals *all, const view_kind *views, const edit_kind *setters,
                          const ki_object *object)
{
    edit_walk *writes = &all->writes;
    for (writes->mode = BUILD; writes->mode <= IN_PLACE; writes->mode++) {
        view_walk again = {0};
        ki_object *made = edit_check_object(writes, setters, object, object);
        views->check(&again, made, made);
        (void)ki_object_unref(made);
    }
}

static void check_version(ki_object *definition, const ki_value *version, totals *all)
{
    char group[128];
    char kind[128];
    char name[64];
    char api_version[256];
    ki_value schema = ki_value_at(version, "schema.openAPIV3Schema");
    ki_value value = ki_value_at(version, "name");
    ki__structural *structural;
    uint64_t state = 17;
    (void)snprintf(api_version, sizeof(api_version), "%s/%s",
                   ki_object_string_or(definition, "spec.group", "", group, sizeof(group)),
                   ki_value_string_or(&value, "", name, sizeof(name)));
    (void)ki_object_string_or(definition, "spec.names.kind", "", kind, sizeof(kind));
    const view_kind *views = view_kind_of(ki_str_from(api_version), ki_str_from(kind));
    if (views == NULL) {
        fail_msg("no view of %s %s", api_version, kind);
        return;
    }
    const edit_kind *setters = edit_kind_of(edit_kinds, sizeof(edit_kinds) / sizeof(edit_kinds[0]),
                                            ki_str_from(api_version), ki_str_from(kind));
    assert_int_equal(ki__structural_new(definition, &schema, NULL, &structural), 0);
    for (int i = 0; i < OBJECTS; i++) {
        ki_object *object = schema_random_object(structural, api_version, kind, &state);
        views->check(&all->walk, object, object);
        if (i % SETTERS_EACH == 0) {
            check_setters(all, views, setters, object);
        }
        ki_object_unref(object);
    }
    ki__structural_free(structural);
    all->kinds++;
    all->objects += OBJECTS;
}

/* The schemas must be such as an API server accepts. */
static void check_definition(ki_object *definition, totals *all)
{
    ki__invalid errors;
    ki__crd_notes notes;
    ki_value_iter iter;
    ki_value version;
    ki_value versions = ki_object_at(definition, "spec.versions");
    ki__invalid_init(&errors, NULL);
    assert_int_equal(ki__crd_check_schemas(definition, NULL, &errors, &notes), 0);
    if (!ki__invalid_is_empty(&errors)) {
        fail_msg("%s: %s", ki_object_name(definition), ki_buf_text(&errors.texts));
    }
    ki__invalid_done(&errors);
    assert_false(notes.patterns);
    assert_int_equal(ki_value_iter_begin(&versions, &iter), 0);
    while (ki_value_iter_next(&iter, NULL, &version) > 0) {
        check_version(definition, &version, all);
    }
    all->definitions++;
}

static void check_file(const char *path, totals *all)
{
    static char text[FILE_MAX];
    ki_buf json;
    ki_object *definition;
    size_t offset = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    ki_buf_init(&json, NULL, FILE_MAX);
    assert_int_equal(ki_yaml_to_json(ki_str_make(text, len), &offset, &json, NULL), 1);
    assert_int_equal(ki_object_from_json(json.data, json.len, NULL, &definition, NULL), 0);
    check_definition(definition, all);
    ki_object_unref(definition);
    ki_buf_done(&json);
}

static void accessors_and_setters_agree_with_paths(void **state)
{
    (void)state;
    totals all = {.writes.is_by_meaning = true};
    ki_buf_init(&all.writes.text, NULL, SAME_TEXT_MAX);
    struct dirent **entries;
    int count = scandir(TEST_DATA_DIR "/crds", &entries, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (entries[i]->d_name[0] != '.') {
            (void)snprintf(path, sizeof(path), TEST_DATA_DIR "/crds/%s", entries[i]->d_name);
            check_file(path, &all);
        }
        free(entries[i]);
    }
    free(entries);
    print_message("%zu definitions, %zu kinds, %zu objects, %zu fields, %zu reads, %zu of absent "
                  "fields\n",
                  all.definitions, all.kinds, all.objects, all.walk.fields, all.walk.reads,
                  all.walk.absent);
    print_message("%zu fields set, %zu writes, %zu by key\n", all.writes.fields, all.writes.writes,
                  all.writes.keys);
    assert_true(all.definitions >= 30);
    assert_int_equal(all.kinds, sizeof(view_kinds) / sizeof(view_kinds[0]));
    assert_int_equal(all.walk.fields, view_field_count); /* each was there once, or more often */
    assert_int_equal(all.writes.fields, edit_field_count);
    assert_true(all.writes.keys > 1000);
    ki_buf_done(&all.writes.text);
}

/* ---- what the checks above do not use ---- */

static void constants_and_paths_are_those_of_the_schema(void **state)
{
    (void)state;
    assert_string_equal(KI_SHAPES_EXAMPLE_COM_V1_ShapeSpec_texts_A_B, "A-B");
    assert_string_equal(KI_SHAPES_EXAMPLE_COM_V1_ShapeSpec_texts_A_B_2, "A_B");
    assert_string_equal(KI_SHAPES_EXAMPLE_COM_V1_ShapeSpec_texts_empty, "");
    assert_string_equal(KI_SHAPES_EXAMPLE_COM_V1_ShapeSpec_texts_other, "=");
    assert_string_equal(KI_SHAPES_EXAMPLE_COM_V1_ShapeSpec_texts_other_2, "!=");
    assert_string_equal(KI_CERT_MANAGER_IO_V1_CertificateSpec_usages_digital_signature,
                        "digital signature");
    assert_string_equal(KI_PATH(shapes_example_com_v1, Shape, spec.inner.more.x),
                        "spec.inner.more.x");
    assert_string_equal(
        KI_PATH(gateway_networking_k8s_io_v1, HTTPRoute, spec.rules[0].matches[0].path.value),
        "spec.rules[0].matches[0].path.value");
    assert_string_equal(KI_PATH(cert_manager_io_v1, Certificate, metadata.name), "metadata.name");
}

static void absent_fields_have_the_defaults_of_the_schema(void **state)
{
    (void)state;
    ki_shapes_example_com_v1_ShapeSpec none = {{0}};
    assert_true(
        ki_text_is(ki_shapes_example_com_v1_ShapeSpec_text(none), "a \"quoted\" \\ default?\?/"));
    assert_true(ki_shapes_example_com_v1_ShapeSpec_flag(none));
    assert_int_equal(ki_shapes_example_com_v1_ShapeSpec_small(none), -7);
    assert_int_equal(ki_shapes_example_com_v1_ShapeSpec_large(none), INT64_C(9007199254740993));
    assert_true(ki_shapes_example_com_v1_ShapeSpec_ratio(none) == 0.25);
    assert_true(ki_text_is(ki_shapes_example_com_v1_ShapeSpec_ref(none), "none"));
    assert_int_equal(ki_shapes_example_com_v1_ShapeSpec_schema(none), 3);
    assert_true(ki_shapes_example_com_v1_ShapeSpec_a_b_2(none));
}

static void objects_of_other_kinds_have_no_view(void **state)
{
    (void)state;
    static const char text[] = "{\"apiVersion\": \"shapes.example.com/v2\", \"kind\": \"Shape\","
                               " \"metadata\": {\"name\": \"a\"}}";
    ki_object *object;
    assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &object, NULL), 0);
    assert_false(ki_view_exists(ki_shapes_example_com_v1_Shape_of(object)));
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_and_setters_agree_with_paths),
        cmocka_unit_test(constants_and_paths_are_those_of_the_schema),
        cmocka_unit_test(absent_fields_have_the_defaults_of_the_schema),
        cmocka_unit_test(objects_of_other_kinds_have_no_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes by field: every byte of an object is counted once, in both encodings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/field_sizes.h>
#include <kinformer/packed.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>

#include "support/golden.h"
#include "support/objects.h"
#include "support/test.h"

typedef struct seen {
    char text[4096]; /* "path bytes values\n", a '+' after the path of a rest */
    size_t len;
    uint64_t sum;
    uint64_t last;
    size_t rows;
    const ki_object *object; /* has all these paths; NULL: not checked */
} seen;

static void check_path(const ki_object *object, const char *text)
{
    ki_path *path = NULL;
    ki_projection *projection = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_value value;
    if (strstr(text, "\xef\xbf\xbd") != NULL) {
        return; /* of a name with a NUL, which no path can have */
    }
    if (ki_path_compile(text[0] != '\0' ? text : "$", NULL, &path, &error) < 0) {
        fail_msg("%s: %s", text, error.message);
    }
    ki_value root = ki_object_root(object);
    if (ki_path_first(path, &root, &value) < 0) {
        fail_msg("%s: not found", text);
    }
    (void)ki_path_unref(path);
    int r = ki_projection_new(text[0] != '\0' ? text : NULL, NULL, NULL, &projection, &error);
    if (r < 0 && strstr(text, "['']") == NULL) { /* not in `keep` */
        fail_msg("%s: %s", text, error.message);
    }
    (void)ki_projection_unref(projection);
}

static void see(const ki_field_size *field, void *user)
{
    seen *s = user;
    assert_true(s->rows == 0 || field->bytes <= s->last || field->path[0] == '\0');
    assert_true(field->values != 0);
    s->last = field->bytes;
    s->sum += field->bytes;
    s->rows++;
    if (s->object != NULL) {
        check_path(s->object, field->path);
    }
    int n = snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s%s %llu %llu\n", field->path,
                     field->rest ? "+" : "", (unsigned long long)field->bytes,
                     (unsigned long long)field->values);
    s->len += s->len + (size_t)n < sizeof(s->text) ? (size_t)n : 0;
}

static seen visit(const ki_field_sizes *sizes, uint64_t min_bytes, const ki_object *object)
{
    seen s = {.object = object};
    assert_int_equal(ki_field_sizes_visit(sizes, min_bytes, see, &s), 0);
    assert_int_equal(s.sum, ki_field_sizes_total(sizes));
    return s;
}

static ki_field_sizes *new_sizes(const ki_object *object)
{
    ki_field_sizes *sizes = NULL;
    assert_int_equal(ki_field_sizes_new(NULL, &sizes, NULL), 0);
    if (object != NULL) {
        assert_int_equal(ki_field_sizes_add(sizes, object, NULL), 0);
    }
    return sizes;
}

static const char pod[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\",\"y.z/w\":\"22\"}},"
    "\"spec\": {\"containers\":[{\"image\":\"a\"}, {\"image\":\"bbbbb\",\"env\":[1,2]}]}}";

static void bytes_of_json_belong_to_paths(void **state)
{
    (void)state;
    ki_object *object = test_json(pod);
    ki_field_sizes *sizes = new_sizes(object);
    assert_int_equal(ki_field_sizes_total(sizes), strlen(pod));
    seen all = visit(sizes, 1, object);
    assert_string_equal(all.text, ".spec.containers[*].image 27 2\n"
                                  ".spec.containers+ 15 1\n"
                                  ".metadata+ 14 1\n"
                                  ".kind 13 1\n"
                                  ".metadata.labels['y.z/w'] 12 1\n"
                                  ".metadata.labels+ 11 1\n"
                                  ".metadata.name 11 1\n"
                                  ".spec+ 10 1\n"
                                  ".spec.containers[*].env+ 8 1\n"
                                  ".metadata.labels.x 8 1\n"
                                  ".spec.containers[*]+ 6 2\n"
                                  ".spec.containers[*].env[*] 3 2\n"
                                  "+ 2 1\n");
    seen large = visit(sizes, 12, object);
    assert_string_equal(large.text, ".spec.containers[*].image 27 2\n"
                                    ".metadata+ 25 1\n"
                                    ".metadata.labels+ 19 1\n"
                                    ".spec.containers[*]+ 17 2\n"
                                    ".spec.containers+ 15 1\n"
                                    ".kind 13 1\n"
                                    "+ 12 1\n"
                                    ".metadata.labels['y.z/w'] 12 1\n");
    seen none = visit(sizes, UINT64_MAX, object);
    assert_int_equal(none.rows, 1);
    (void)ki_field_sizes_unref(sizes);
    (void)ki_object_unref(object);
}

static ki_object *as_protobuf(const ki_object *json)
{
    ki_buf bytes;
    ki_object *object = NULL;
    ki_buf_init(&bytes, NULL, 1 << 20);
    assert_int_equal(ki_object_write_protobuf(json, &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &object, NULL), 0);
    ki_buf_done(&bytes);
    return object;
}

static void bytes_of_protobuf_belong_to_paths(void **state)
{
    (void)state;
    ki_object *json =
        test_json("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                  "\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:data\":{\"f:k\":{}}}}]},"
                  "\"data\":{\"k\":\"0123456789\",\"long\":\"x\"}}");
    ki_object *object = as_protobuf(json);
    ki_field_sizes *sizes = new_sizes(object);
    seen all = visit(sizes, 1, object);
    assert_int_equal(ki_field_sizes_total(sizes), ki_object_bytes(object).len);
    /* a tag and a length of the entry, of the key and of the value: 6 bytes */
    assert_non_null(strstr(all.text, ".data.k 17 1\n"));
    assert_non_null(strstr(all.text, ".data.long 11 1\n"));
    assert_non_null(strstr(all.text, ".metadata.name 3 1\n"));
    assert_non_null(strstr(all.text, ".metadata.managedFields[*].manager 3 1\n"));
    /* the content of fieldsV1, two tags and two lengths */
    assert_non_null(strstr(all.text, ".metadata.managedFields[*].fieldsV1 25 1\n"));
    assert_null(strstr(all.text, "f:data"));
    (void)ki_field_sizes_unref(sizes);
    (void)ki_object_unref(object);
    (void)ki_object_unref(json);
}

/* ---- all kinds ---- */

static void check_one(const ki_object *object, ki_field_sizes *sum)
{
    ki_field_sizes *sizes = new_sizes(object);
    assert_int_equal(ki_field_sizes_total(sizes), ki_object_bytes(object).len);
    (void)visit(sizes, 1, object);
    (void)visit(sizes, 100, object);
    (void)ki_field_sizes_unref(sizes);
    uint64_t before = ki_field_sizes_total(sum);
    assert_int_equal(ki_field_sizes_add(sum, object, NULL), 0);
    assert_int_equal(ki_field_sizes_total(sum), before + ki_object_bytes(object).len);
}

static void check_record(const golden_record *record, void *user)
{
    ki_object *object = NULL;
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &object, NULL),
        0);
    check_one(object, user);
    (void)ki_object_unref(object);
    const ki_object_options options = {.max_depth = 1024};
    assert_int_equal(
        ki_object_from_json(record->json.ptr, record->json.len, &options, &object, NULL), 0);
    check_one(object, user);
    (void)ki_object_unref(object);
}

static void every_byte_of_every_kind_is_counted_once(void **state)
{
    (void)state;
    ki_field_sizes *sum = new_sizes(NULL);
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_record, sum) > 100);
    (void)visit(sum, 1, NULL);
    (void)visit(sum, ki_field_sizes_total(sum) / 100, NULL);
    (void)ki_field_sizes_unref(sum);
}

/* ---- limits ---- */

static void put(ki_buf *out, const char *text)
{
    assert_int_equal(ki_buf_add_text(out, text), 0);
}

static void maps_of_many_members_are_counted_as_a_whole(void **state)
{
    (void)state;
    ki_buf json;
    ki_buf_init(&json, NULL, 1 << 20);
    put(&json, "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"},\"data\":{");
    for (int i = 0; i < 1000; i++) {
        char member[32];
        (void)snprintf(member, sizeof(member), "%s\"k%04d\":\"v\"", i != 0 ? "," : "", i);
        put(&json, member);
    }
    put(&json, "},\"");
    for (int i = 0; i < 600; i++) {
        put(&json, "x");
    }
    put(&json, "\":1,\"deep\":");
    for (int i = 0; i < 60; i++) {
        put(&json, "[");
    }
    for (int i = 0; i < 60; i++) {
        put(&json, "]");
    }
    put(&json, "}");
    ki_object *object = test_json(ki_buf_text(&json));
    ki_field_sizes *sizes = new_sizes(object);
    seen all = visit(sizes, 1, object);
    assert_true(all.rows > 128 && all.rows < 160);
    assert_non_null(strstr(all.text, ".data+ "));
    assert_non_null(strstr(all.text, ".data.k0000 12 1\n"));
    assert_null(strstr(all.text, "xxx"));
    (void)ki_field_sizes_unref(sizes);
    (void)ki_object_unref(object);
    ki_buf_done(&json);
}

static void names_are_quoted(void **state)
{
    (void)state;
    ki_object *object = test_json("{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"},"
                                  "\"a'b\\\\\\u001b\\n\\u0000]\":{\"\":1,\"[*]\":2}}");
    ki_field_sizes *sizes = new_sizes(object);
    seen all = visit(sizes, 1, NULL);
    assert_non_null(strstr(all.text, "['a\\'b\\\\\x1b\\n\xef\xbf\xbd]']"));
    assert_non_null(strstr(all.text, "]']['[*]'] 7 1\n"));
    (void)ki_field_sizes_unref(sizes);
    (void)ki_object_unref(object);
}

static void packed_objects_count_as_plain_ones(void **state)
{
    (void)state;
    const ki_store_options options = {.size = sizeof(options), .storage = KI_STORAGE_PACKED};
    ki_store *store = NULL;
    if (ki_store_new(&options, &store, NULL) == KI_ERR_UNSUPPORTED) {
        skip();
    }
    char json[4096];
    int len = snprintf(json, sizeof(json),
                       "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"},\"data\":\"%01000d\"}", 0);
    ki_object *object = test_json(json);
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    ki_object *stored = ki_store_get(store, "a");
    assert_true(ki_object_is_packed(stored));
    size_t memory = ki_object_memory(stored);
    ki_field_sizes *sizes = new_sizes(stored);
    seen all = visit(sizes, 1, object);
    assert_int_equal(all.sum, len);
    assert_non_null(strstr(all.text, ".data 1009 1\n"));
    assert_int_equal(ki_object_memory(stored), memory);
    (void)ki_field_sizes_unref(sizes);
    (void)ki_object_unref(stored);
    (void)ki_object_unref(object);
    (void)ki_store_unref(store);
}

static int add_and_visit(const ki_alloc *alloc, void *user)
{
    ki_field_sizes *sizes = NULL;
    seen s = {.rows = 0};
    int r = ki_field_sizes_new(alloc, &sizes, NULL);
    for (int i = 0; r == 0 && i < 2; i++) {
        r = ki_field_sizes_add(sizes, user, NULL);
    }
    if (r == 0) {
        r = ki_field_sizes_visit(sizes, 1, see, &s);
        assert_int_equal(s.sum, r == 0 ? ki_field_sizes_total(sizes) : 0);
    }
    (void)ki_field_sizes_unref(sizes);
    return r;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    ki_buf json;
    ki_buf_init(&json, NULL, 1 << 20);
    put(&json, "{\"kind\":\"A\",\"metadata\":{\"name\":\"a\"}");
    for (int i = 0; i < 100; i++) { /* more than the first nodes */
        char member[32];
        (void)snprintf(member, sizeof(member), ",\"k%04d\":\"v\"", i);
        put(&json, member);
    }
    put(&json, "}");
    ki_object *object = test_json(ki_buf_text(&json));
    test_alloc_sweep(add_and_visit, object);
    (void)ki_object_unref(object);
    ki_buf_done(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_json_belong_to_paths),
        cmocka_unit_test(bytes_of_protobuf_belong_to_paths),
        cmocka_unit_test(every_byte_of_every_kind_is_counted_once),
        cmocka_unit_test(maps_of_many_members_are_counted_as_a_whole),
        cmocka_unit_test(names_are_quoted),
        cmocka_unit_test(packed_objects_count_as_plain_ones),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

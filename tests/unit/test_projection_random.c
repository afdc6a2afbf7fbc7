/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of every kind with random projections: what is kept reads as in the whole object,
 * anything else is KI_ERR_NOT_KEPT, both encodings agree, and so do the decoders of watches when
 * their input comes byte by byte. */
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/projecting.h"
#include "support/test.h"
#include "support/wire.h"

static const char folder[] = TEST_DATA_DIR "/protobuf";

enum { TIMES = 12, BYTEWISE = 3 };

static ki_object *make(const golden_record *record, ki_encoding encoding,
                       const ki_projection *projection)
{
    const ki_object_options options = {
        .max_depth = 1024, .projection = projection, .size = sizeof(options)};
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = encoding == KI_ENCODING_JSON
                ? ki_object_from_json(record->json.ptr, record->json.len, &options, &object, &error)
                : ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, &options,
                                          &object, &error);
    if (r < 0) {
        fail_msg("%.*s: %s", KI_STR_ARG(record->kind), error.message);
    }
    return object;
}

static ki_object *written(const ki_object *object)
{
    const ki_object_options options = {.max_depth = 1024};
    ki_object *again = NULL;
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_object_write_json(object, &text), 0);
    assert_int_equal(ki_object_from_json(text.data, text.len, &options, &again, NULL), 0);
    ki_buf_done(&text);
    return again;
}

static void check_metadata(const ki_object *full, const ki_object *part)
{
    assert_string_equal(ki_object_key(full), ki_object_key(part));
    assert_string_equal(ki_object_name(full), ki_object_name(part));
    assert_string_equal(ki_object_namespace(full), ki_object_namespace(part));
    assert_string_equal(ki_object_uid(full), ki_object_uid(part));
    assert_string_equal(ki_object_resource_version(full), ki_object_resource_version(part));
    assert_string_equal(ki_object_kind(full), ki_object_kind(part));
    assert_string_equal(ki_object_api_version(full), ki_object_api_version(part));
    assert_int_equal(ki_object_generation(full), ki_object_generation(part));
}

static void check_object(const rules *all, const ki_object *full, const ki_object *part)
{
    const rule_place top = {.count = 0};
    ki_value left = ki_object_root(full);
    ki_value right = ki_object_root(part);
    assert_true(ki_object_is_partial(part));
    assert_false(ki_object_is_partial(full));
    check_metadata(full, part);
    if (!rules_hold(all, &left, &right, &top) || !rules_hold_by_path(all, &left, &right)) {
        fail_msg("%s: keep \"%s\", drop \"%s\"", ki_object_kind(full), all->keep, all->drop);
    }
}

static void check_encodings(const rules *all, const ki_object *json, const ki_object *proto)
{
    ki_value left = ki_object_root(json);
    ki_value right = ki_object_root(proto);
    ki_object *a = written(json);
    ki_object *b = written(proto);
    ki_value left_text = ki_object_root(a);
    ki_value right_text = ki_object_root(b);
    if (!same_value(&left, &right, NULL) || !same_value(&left_text, &right_text, NULL)) {
        fail_msg("%s: encodings differ with keep \"%s\", drop \"%s\"", ki_object_kind(json),
                 all->keep, all->drop);
    }
    ki_object_unref(a);
    ki_object_unref(b);
}

static void check_projected(const ki_object *full, const ki_projection *projection,
                            const ki_object *expected)
{
    ki_object *object = NULL;
    assert_int_equal(ki_object_project(full, projection, &object, NULL), 0);
    assert_true(ki_str_eq(ki_object_bytes(object), ki_object_bytes(expected)) ||
                ki_object_encoding(full) == KI_ENCODING_PROTOBUF);
    ki_value a = ki_object_root(object);
    ki_value b = ki_object_root(expected);
    assert_true(same_value(&a, &b, NULL));
    ki_object_unref(object);
}

static size_t decoded;

/* The object of a watch with one event, whose bytes come one by one. */
static void check_bytewise(ki_encoding encoding, ki_str body, const ki_projection *projection,
                           const ki_object *expected)
{
    const ki__wire_options options = {.encoding = encoding,
                                      .default_kind = ki_object_kind(expected),
                                      .default_api_version = ki_object_api_version(expected),
                                      .max_depth = 1024,
                                      .projection = projection};
    ki__watch_decoder decoder;
    ki_object *object = NULL;
    ki__watch_decoder_init(&decoder, &options);
    for (size_t at = 0; at < body.len; at++) {
        ki__watch_event event = {0};
        size_t taken = 0;
        ki_error error = KI_ERROR_INIT;
        char *byte = test_calloc(1, 1); /* so that reading past it is found */
        *byte = body.ptr[at];
        int r = ki__watch_decoder_feed(&decoder, byte, 1, &taken, &event, &error);
        test_free(byte);
        if (r < 0) {
            fail_msg("%s: %s", ki_object_kind(expected), error.message);
        }
        assert_int_equal(taken, 1);
        if (r == 1 && event.item.object == NULL && event.item.error.code == KI_ERR_KEY) {
            continue; /* watches skip objects without a valid name */
        }
        if (r == 1 && event.item.object == NULL) {
            fail_msg("%s: %s", ki_object_kind(expected), event.item.error.message);
        }
        assert_true(r == 0 || object == NULL);
        object = r == 1 ? event.item.object : object;
    }
    assert_int_equal(ki__watch_decoder_finish(&decoder, NULL), 0);
    ki__watch_decoder_done(&decoder);
    if (object == NULL) {
        return;
    }
    decoded++;
    assert_true(ki_object_is_partial(object));
    ki_value a = ki_object_root(object);
    ki_value b = ki_object_root(expected);
    assert_true(same_value(&a, &b, NULL));
    assert_true(ki_str_eq(ki_object_bytes(object), ki_object_bytes(expected)) ||
                encoding == KI_ENCODING_PROTOBUF);
    ki_object_unref(object);
}

static void check_events(const golden_record *record, const ki_projection *projection,
                         const ki_object *json, const ki_object *proto)
{
    ki_buf body;
    ki_buf_init(&body, NULL, 1 << 24);
    assert_int_equal(ki_buf_add_text(&body, "{\"type\":\"ADDED\",\"object\":"), 0);
    assert_int_equal(ki_buf_add_str(&body, record->json), 0);
    assert_int_equal(ki_buf_add_text(&body, "}\n"), 0);
    check_bytewise(KI_ENCODING_JSON, ki_buf_str(&body), projection, json);
    ki_buf_clear(&body);
    test_put_event(&body, "ADDED", record->protobuf);
    check_bytewise(KI_ENCODING_PROTOBUF, ki_buf_str(&body), projection, proto);
    ki_buf_done(&body);
}

static size_t made;

static void check_record(const golden_record *record, void *user)
{
    uint64_t *seed = user;
    static rules all;
    ki_object *json = make(record, KI_ENCODING_JSON, NULL);
    ki_object *proto = make(record, KI_ENCODING_PROTOBUF, NULL);
    for (int i = 0; i < TIMES; i++) {
        ki_projection *projection = NULL;
        rules_random(&all, json, seed);
        ki_error error = KI_ERROR_INIT;
        int r = ki_projection_new(all.keep, all.drop, NULL, &projection, &error);
        if (r < 0 && r != KI_ERR_INVALID) {
            fail_msg("keep \"%s\", drop \"%s\": %s", all.keep, all.drop, error.message);
        }
        if (r < 0 || all.count == 0) { /* drops what must be kept */
            (void)ki_projection_unref(projection);
            continue;
        }
        made++;
        ki_object *some = make(record, KI_ENCODING_JSON, projection);
        ki_object *some_proto = make(record, KI_ENCODING_PROTOBUF, projection);
        check_object(&all, json, some);
        check_object(&all, proto, some_proto);
        check_encodings(&all, some, some_proto);
        check_projected(json, projection, some);
        check_projected(proto, projection, some_proto);
        if (i < BYTEWISE) {
            check_events(record, projection, some, some_proto);
        }
        (void)ki_projection_unref(projection);
        ki_object_unref(some);
        ki_object_unref(some_proto);
    }
    ki_object_unref(json);
    ki_object_unref(proto);
}

static void kept_fields_read_as_in_the_whole_object(void **state)
{
    (void)state;
    uint64_t seed = 18;
    size_t records = golden_each(folder, check_record, &seed);
    assert_true(records > 500);
    assert_true(made > records * TIMES / 2);
    assert_true(decoded > records / 2); /* names of the others are not valid */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_fields_read_as_in_the_whole_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies that Go's own serializers and framers wrote (tools/gen-schema): both encodings must have
 * the same content. */
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/wire.h"

static ki_buf read_body(const char *name)
{
    char path[1024];
    ki_buf body;
    char *room;
    ki_buf_init(&body, NULL, SIZE_MAX);
    (void)snprintf(path, sizeof(path), "%s/wire/%s", TEST_DATA_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(ki_buf_reserve(&body, 1 << 16, &room), 0);
    size_t len = fread(room, 1, 1 << 16, file);
    assert_true(len != 0 && feof(file) != 0);
    ki_buf_commit(&body, len);
    (void)fclose(file);
    return body;
}

/* The body `name` in both encodings, in every cut. */
static void both_are(test_tracer tracer, const char *name, const char *expected)
{
    static const char *const suffixes[] = {"json", "pb"};
    for (size_t i = 0; i < 2; i++) {
        char file[100];
        ki__wire_options options = {.encoding = i == 0 ? KI_ENCODING_JSON : KI_ENCODING_PROTOBUF,
                                    .expected_kind = NULL};
        (void)snprintf(file, sizeof(file), "%s.%s", name, suffixes[i]);
        ki_buf body = read_body(file);
        test_trace_is(tracer, &options, ki_buf_str(&body), expected);
        ki_buf_done(&body);
    }
}

static void lists_of_go_are_read(void **state)
{
    (void)state;
    both_are(test_trace_list, "pods.list",
             "default/pod-0@100 Pod v1\ndefault/pod-1@101 Pod v1\ndefault/pod-2@102 Pod v1\n"
             "default/pod-3@103 Pod v1\ndefault/pod-4@104 Pod v1\n"
             "complete PodList v1 @900 continue=next remaining=7 objects=5 aside=0\n");
    both_are(test_trace_list, "partial.list",
             "default/pod-0@100 PartialObjectMetadata meta.k8s.io/v1\ncomplete "
             "PartialObjectMetadataList meta.k8s.io/v1 @901 continue= remaining=-1 objects=1 "
             "aside=0\n");
}

static void a_status_of_go_is_the_error_of_a_list(void **state)
{
    (void)state;
    both_are(test_trace_list, "gone.list",
             "failed KI_ERR_STATUS 410 Expired at 0: too old resource version: 1 (900)\n");
}

static void watches_of_go_are_read(void **state)
{
    (void)state;
    both_are(test_trace_watch, "pods.watch",
             "ADDED default/pod-0@100 Pod v1\nBOOKMARK(end) @104 Pod v1\n"
             "MODIFIED default/pod-1@101 Pod v1\nDELETED default/pod-2@102 Pod v1\n"
             "ERROR status failed KI_ERR_STATUS 410 Expired at 0: too old resource version: 1 "
             "(900)\ncomplete objects=4 aside=0\n");
}

/* Items of a protobuf list have no envelope, yet their fields are known. */
static void fields_of_items_are_read(void **state)
{
    (void)state;
    ki_buf body = read_body("pods.list.pb");
    ki__list_decoder decoder;
    ki__wire_options options = {.encoding = KI_ENCODING_PROTOBUF};
    ki__wire_item item;
    size_t taken;
    ki__list_decoder_init(&decoder, &options);
    assert_int_equal(ki__list_decoder_feed(&decoder, body.data, body.len, &taken, &item, NULL), 1);
    assert_true(ki_object_is_complete(item.object));
    ki_value root = ki_object_root(item.object);
    ki_value spec;
    ki_value node;
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &spec), 0);
    assert_int_equal(ki_value_member(&spec, ki_str_from("nodeName"), &node), 0);
    assert_true(ki_value_equals(&node, ki_str_from("node-1")));
    ki_object_unref(item.object);
    ki__list_decoder_done(&decoder);
    ki_buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_go_are_read),
        cmocka_unit_test(a_status_of_go_is_the_error_of_a_list),
        cmocka_unit_test(watches_of_go_are_read),
        cmocka_unit_test(fields_of_items_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

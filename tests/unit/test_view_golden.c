/* SPDX-License-Identifier: Apache-2.0 */
/* Every accessor of every typed view of the built-in kinds, on every golden vector and in both
 * encodings, against what paths read from Go's JSON; see every_accessor.h. */
#include <kinformer/encoding.h>

#include "api_headers.h"

#define VIEW_HEADERS "api_headers.h"
#include "support/every_accessor.h"
#include "support/golden.h"

static void check_record(const golden_record *record, void *user)
{
    const ki_object_options options = {.max_depth = 1024};
    ki_object *proto = NULL;
    ki_object *json = NULL;
    const view_kind *kind = view_kind_of(record->api_version, record->kind);
    if (kind == NULL) {
        fail_msg("no view of %.*s %.*s", KI_STR_ARG(record->api_version), KI_STR_ARG(record->kind));
        return;
    }
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &proto, NULL), 0);
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, &options, &json, NULL),
                     0);
    kind->check(user, proto, json);
    kind->check(user, json, json);
    ki_object_unref(proto);
    ki_object_unref(json);
}

static void every_accessor_reads_what_its_path_reads(void **state)
{
    (void)state;
    view_walk walk = {0};
    size_t records = golden_each(TEST_DATA_DIR "/protobuf", check_record, &walk);
    print_message("%zu objects, %zu fields, %zu reads, %zu of absent fields\n", records,
                  walk.fields, walk.reads, walk.absent);
    assert_true(records > 2000);
    assert_int_equal(walk.fields, view_field_count); /* each was there once, or more often */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_accessor_reads_what_its_path_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

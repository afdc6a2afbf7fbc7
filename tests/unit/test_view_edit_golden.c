/* SPDX-License-Identifier: Apache-2.0 */
/* Every setter of every typed view of the built-in kinds, on every golden vector and in both
 * encodings; see every_setter.h. */
#include <kinformer/encoding.h>

#include "api_headers.h"

#define VIEW_HEADERS "api_headers.h"
#include "support/every_setter.h"
#include "support/golden.h"
#include "support/same_value.h"

static void check_record(const golden_record *record, void *user)
{
    edit_walk *walk = user;
    ki_object *proto = NULL;
    ki_object *json = NULL;
    const edit_kind *kind = edit_kind_of(edit_kinds, sizeof(edit_kinds) / sizeof(edit_kinds[0]),
                                         record->api_version, record->kind);
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &proto, NULL), 0);
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, NULL, &json, NULL), 0);
    for (walk->mode = BUILD; walk->mode <= IN_PLACE; walk->mode++) {
        (void)ki_object_unref(edit_check_object(walk, kind, json, json));
        (void)ki_object_unref(edit_check_object(walk, kind, proto, json));
    }
    ki_object_unref(proto);
    ki_object_unref(json);
}

static void every_setter_writes_what_its_path_reads(void **state)
{
    (void)state;
    edit_walk walk = {.mode = BUILD};
    ki_buf_init(&walk.text, NULL, SAME_TEXT_MAX);
    size_t records = golden_each(TEST_DATA_DIR "/protobuf", check_record, &walk);
    print_message("%zu objects, %zu fields, %zu writes, %zu by key; %zu strings with NUL\n",
                  records, walk.fields, walk.writes, walk.keys, walk.cut);
    assert_true(records > 2000);
    assert_true(walk.keys > 1000);
    assert_true(walk.cut < walk.writes / 100);
    assert_int_equal(walk.fields, edit_field_count); /* each was set once, or more often */
    ki_buf_done(&walk.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setter_writes_what_its_path_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What tells one state of an object from another is the same in a list and in a watch. */
#include <kinformer/buf.h>
#include <kinformer/encoding.h>

#include "object/object.h"
#include "support/objects.h"
#include "support/test.h"

#define METADATA "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}"

static void json_of_a_list_and_of_a_watch_have_one_content(void **state)
{
    (void)state;
    ki_object *listed = test_json("{" METADATA ",\"spec\":{\"x\":1}}");
    ki_object *watched =
        test_json("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," METADATA ",\"spec\":{\"x\":1}}");
    ki_object *changed = test_json("{" METADATA ",\"spec\":{\"x\":2}}");
    assert_true(ki__object_is_same_state(listed, watched));
    assert_false(ki__object_is_same_state(listed, changed));
    ki_object_unref(listed);
    ki_object_unref(watched);
    ki_object_unref(changed);
}

static void protobuf_of_a_list_and_of_a_watch_have_one_content(void **state)
{
    (void)state;
    ki_object *json = test_json("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"," METADATA "}");
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 4096);
    assert_int_equal(ki_object_write_protobuf(json, &bytes, NULL), 0);
    ki_object *watched = NULL;
    ki_object *listed = NULL;
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &watched, NULL), 0);
    ki_str body = ki_str_make(ki__object_bytes(watched) + watched->body.at, watched->body.len);
    assert_true(body.len < bytes.len); /* an envelope is around it */
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.default_kind = "Pod";
    options.default_api_version = "v1";
    assert_int_equal(ki_object_from_protobuf(body.ptr, body.len, &options, &listed, NULL), 0);
    assert_true(ki__object_is_same_state(listed, watched));
    ki_buf_done(&bytes);
    ki_object_unref(json);
    ki_object_unref(watched);
    ki_object_unref(listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_a_list_and_of_a_watch_have_one_content),
        cmocka_unit_test(protobuf_of_a_list_and_of_a_watch_have_one_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merging a part of an object into an edit. Text is written with ' for ". */
#include <errno.h>
#include <string.h>

#include <kinformer/edit.h>

#include "support/objects.h"
#include "support/test.h"

/* With defaults of the server, and with a container and an entry that another client has added. */
#define DEPLOYMENT                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'a','resourceVersion':'5'," \
    "'labels':{'mine':'1','other':'2'}},'spec':{'replicas':1,'template':{'spec':{'containers':" \
    "[{'name':'added','image':'x:1'},{'name':'web','image':'web:1','ports':[{'containerPort':"  \
    "80,'protocol':'TCP'}],'imagePullPolicy':'Always'}],'dnsPolicy':'ClusterFirst'}}}}"

static ki_edit *edit_of(const char *json)
{
    ki_edit *edit = NULL;
    ki_object *object = json != NULL ? test_object(NULL, json) : NULL;
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    ki_object_unref(object);
    return edit;
}

static void expect_patch(ki_edit *edit, const char *expected)
{
    ki_buf patch;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, 4096);
    if (ki_edit_merge_patch(edit, &patch, &error) < 0) {
        fail_msg("%s", error.message);
    }
    for (size_t i = 0; i < patch.len; i++) {
        patch.data[i] = (char)(patch.data[i] == '"' ? '\'' : patch.data[i]);
    }
    assert_string_equal(ki_buf_text(&patch), expected);
    ki_buf_done(&patch);
    ki_edit_unref(edit);
}

static void expect_error(ki_edit *edit, int code, const char *message)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_edit_merge_format(edit, "{later: 'ignored'}");
    assert_int_equal(ki_edit_object(edit, &object, &error), code);
    assert_null(object);
    assert_string_equal(error.message, message);
    ki_edit_unref(edit);
}

static void merge_desired(ki_edit *edit, const char *image, int replicas)
{
    ki_edit_merge_format(edit,
                         "{spec: {replicas: %d, template: {spec: {containers: [{name: 'web', "
                         "image: %s, ports: [{containerPort: 80}]}]}}}}",
                         replicas, image);
}

static void equal_state_is_no_change(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(DEPLOYMENT);
    merge_desired(edit, "web:1", 1);
    expect_patch(edit, "{}");
}

static void elements_are_found_by_their_keys(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(DEPLOYMENT);
    merge_desired(edit, "web:\"2\"", 3);
    expect_patch(edit, "{'spec':{'replicas':3,'template':{'spec':{'containers':[{'name':'added',"
                       "'image':'x:1'},{'name':'web','image':'web:\\'2\\'','ports':[{"
                       "'containerPort':80,'protocol':'TCP'}],'imagePullPolicy':'Always'}]}}}}");
}

static void missing_elements_are_added(void **state)
{
    (void)state;
    ki_edit *edit = edit_of("{'apiVersion':'v1','kind':'Pod','spec':{'containers':[]}}");
    ki_edit_merge_json(edit,
                       ki_str_from("{\"spec\": {\"containers\": [{\"name\": \"a\"}], \"x\": {}}}"));
    ki_edit_set_string(edit, "spec.containers[name=a].image", "b");
    expect_patch(edit, "{'spec':{'containers':[{'name':'a','image':'b'}],'x':{}}}");
}

static void null_removes_a_field(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(DEPLOYMENT);
    ki_edit_merge_format(edit, "{metadata: {labels: {other: null, none: null}}}");
    expect_patch(edit, "{'metadata':{'labels':{'other':null}}}");
}

/* Nothing is known of its lists. */
static void lists_of_custom_kinds_are_replaced(void **state)
{
    (void)state;
    ki_edit *edit = edit_of("{'apiVersion':'a.com/v1','kind':'Deployment','spec':{'m':{'a':1},"
                            "'containers':[{'name':'a'},{'name':'b'}]}}");
    ki_edit_merge_format(edit, "{spec: {m: {b: 2}, containers: [{name: 'b', x: 1}]}}");
    expect_patch(edit, "{'spec':{'m':{'b':2},'containers':[{'name':'b','x':1}]}}");
}

/* An edit that began with nothing has the kind that was merged into it. */
static void the_kind_may_be_merged(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(NULL);
    ki_edit_merge_format(edit, "{apiVersion: 'v1', kind: %s, spec: {containers: [{name: %s}]}}",
                         "Pod", "a");
    ki_edit_merge_format(edit, "{spec: {containers: [{name: %s}]}}", "b");
    expect_patch(edit, "{'apiVersion':'v1','kind':'Pod','spec':{'containers':[{'name':'a'},"
                       "{'name':'b'}]}}");
}

static void what_is_no_map_is_refused(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(DEPLOYMENT);
    ki_edit_merge_json(edit, ki_str_from("[1]"));
    expect_error(edit, KI_ERR_TYPE, "merge: must be a map, found list");
    edit = edit_of(DEPLOYMENT);
    ki_edit_merge_format(edit, "%s", "{}");
    expect_error(edit, KI_ERR_TYPE, "merge: must be a map, found string");
    edit = edit_of(DEPLOYMENT);
    ki_edit_merge_format(edit, NULL);
    expect_error(edit, -EINVAL, "format: must not be NULL");
    ki_edit_merge_json(NULL, ki_str_from("{}"));
    ki_edit_merge_format(NULL, "{}");
}

static void errors_have_their_place(void **state)
{
    (void)state;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_edit *edit = edit_of(DEPLOYMENT);
    ki_edit_merge_json(edit, ki_str_from("{\"a\":\n x}"));
    assert_int_equal(ki_edit_object(edit, &object, &error), KI_ERR_SYNTAX);
    assert_memory_equal(error.message, "merge: ", 7);
    assert_int_equal(error.line, 2);
    ki_edit_unref(edit);
    edit = edit_of(DEPLOYMENT);
    ki_edit_merge_json(edit, (ki_str){0});
    assert_int_equal(ki_edit_object(edit, &object, &error), KI_ERR_SYNTAX);
    ki_edit_unref(edit);
    edit = edit_of(DEPLOYMENT);
    ki_edit_merge_format(edit, "{a: %c}", 'x');
    assert_int_equal(ki_edit_object(edit, &object, &error), KI_ERR_SYNTAX);
    assert_int_equal(error.offset, 4);
    ki_edit_unref(edit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_state_is_no_change),
        cmocka_unit_test(elements_are_found_by_their_keys),
        cmocka_unit_test(missing_elements_are_added),
        cmocka_unit_test(null_removes_a_field),
        cmocka_unit_test(lists_of_custom_kinds_are_replaced),
        cmocka_unit_test(the_kind_may_be_merged),
        cmocka_unit_test(what_is_no_map_is_refused),
        cmocka_unit_test(errors_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

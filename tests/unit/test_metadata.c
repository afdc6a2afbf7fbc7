/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata that are not valid, and what the Status says of them. tests/e2e asks a real server the
 * same. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define MAPS "/api/v1/namespaces/ns/configmaps"
#define SPACES "/api/v1/namespaces"
#define ROLES "/apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles"
#define SETS "/apis/apps/v1/namespaces/ns/statefulsets"
#define X63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OWNER "'apiVersion':'v1','kind':'ConfigMap','name':'o','uid':'u'"

/* What of the first cause is expected, with ' for ", and "..." for the rest. */
typedef struct refused {
    const char *target;
    const char *metadata;
    const char *field;
    const char *message;
} refused;

static bool begins(const char *text, const char *expected)
{
    size_t len = strlen(expected);
    bool open = len > 3 && strcmp(expected + len - 3, "...") == 0;
    size_t compared = open ? len - 3 : len;
    for (size_t i = 0; i < compared; i++) {
        if (text[i] != (expected[i] == '\'' ? '"' : expected[i]) &&
            !(expected[i] == '\'' && text[i] == '\'')) {
            return false;
        }
    }
    return open || text[len] == '\0';
}

/* The first cause as it is after JSON was decoded. */
static void cause(test_api *api, const char *member, char *text, size_t size)
{
    ki_object *status;
    ki_value root;
    ki_value value;
    assert_int_equal(ki_object_from_json(api->body.data, api->body.len, NULL, &status, NULL), 0);
    root = ki_object_root(status);
    assert_int_equal(ki_value_member(&root, ki_str_from("details"), &value), 0);
    root = value;
    assert_int_equal(ki_value_member(&root, ki_str_from("causes"), &value), 0);
    root = value;
    assert_int_equal(ki_value_element(&root, 0, &value), 0);
    root = value;
    assert_int_equal(ki_value_member(&root, ki_str_from(member), &value), 0);
    assert_true(ki_value_get_string(&value, text, size) >= 0);
    ki_object_unref(status);
}

static const refused cases[] = {
    {MAPS, "'name':'Upper'", "metadata.name",
     "Invalid value: 'Upper': a lowercase RFC 1123 subdomain must consist of..."},
    {MAPS, "'name':'a..b'", "metadata.name", "Invalid value: 'a..b': a lowercase RFC 1123..."},
    {MAPS, "'name':''", "metadata.name", "Required value: name or generateName is required"},
    {MAPS, "'name':'" X63 X63 X63 X63 "aa'", "metadata.name",
     "Invalid value: '" X63 X63 X63 X63 "aa': must be no more than 253 characters"},
    {MAPS, "'generateName':'a_'", "metadata.generateName", "Invalid value: 'a_': a lowercase..."},
    {SPACES, "'name':'a.b'", "metadata.name", "Invalid value: 'a.b': must not contain dots"},
    {SPACES, "'name':'" X63 "a'", "metadata.name",
     "Invalid value: '" X63 "a': must be no more than 63 characters"},
    {SPACES, "'name':'-'", "metadata.name",
     "Invalid value: '-': a lowercase RFC 1123 label must..."},
    {SETS, "'name':'a.b'", "metadata.name", "Invalid value: 'a.b': must not contain dots"},
    {ROLES, "'name':'.'", "metadata.name", "Invalid value: '.': may not be ..."},
    {ROLES, "'name':'a/b'", "metadata.name", "Invalid value: 'a/b': may not contain ..."},
    {MAPS, "'name':'m','labels':{'':'v'}", "metadata.labels",
     "Invalid value: '': name part must be non-empty"},
    {MAPS, "'name':'m','labels':{'/a':'v'}", "metadata.labels",
     "Invalid value: '/a': prefix part must be non-empty"},
    {MAPS, "'name':'m','labels':{'a/b/c':'v'}", "metadata.labels",
     "Invalid value: 'a/b/c': a valid label key must consist of alphanumeric characters..."},
    {MAPS, "'name':'m','labels':{'" X63 "a':'v'}", "metadata.labels",
     "Invalid value: '" X63 "a': name part must be no more than 63 bytes"},
    {MAPS, "'name':'m','labels':{'B.c/d':'v'}", "metadata.labels",
     "Invalid value: 'B.c/d': prefix part a lowercase RFC 1123 subdomain must..."},
    {MAPS, "'name':'m','labels':{'a':'" X63 "a'}", "metadata.labels",
     "Invalid value: '" X63 "a': must be no more than 63 bytes"},
    {MAPS, "'name':'m','labels':{'a':'b c'}", "metadata.labels",
     "Invalid value: 'b c': a valid label must be an empty string or consist of..."},
    {MAPS, "'name':'m','annotations':{'A b':'v'}", "metadata.annotations",
     "Invalid value: 'A b': name part must consist of..."},
    {MAPS, "'name':'m','ownerReferences':[{}]", "metadata.ownerReferences.apiVersion",
     "Invalid value: '': version must not be empty"},
    {MAPS, "'name':'m','ownerReferences':[{'apiVersion':'apps/','kind':'k','name':'n','uid':'u'}]",
     "metadata.ownerReferences.apiVersion", "Invalid value: 'apps/': version must not be empty"},
    {MAPS, "'name':'m','ownerReferences':[{'apiVersion':'v1','kind':'k','name':'n'}]",
     "metadata.ownerReferences.uid", "Invalid value: '': must not be empty"},
    {MAPS, "'name':'m','ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'n','uid':'u'}]",
     "metadata.ownerReferences",
     "Invalid value: {'apiVersion':'v1','kind':'Event','name':'n','uid':'u'}: /v1, Kind=Event is "
     "disallowed from being an owner"},
    {MAPS,
     "'name':'m','ownerReferences':[{" OWNER ",'controller':true},{" OWNER ",'controller':true}]",
     "metadata.ownerReferences", "Invalid value: [{'apiVersion':..."},
    {MAPS, "'name':'m','finalizers':['bare']", "metadata.finalizers[0]",
     "Invalid value: 'bare': name is neither a standard finalizer name nor is it fully qualified"},
    {MAPS, "'name':'m','finalizers':['a b/c']", "metadata.finalizers",
     "Invalid value: 'a b/c': prefix part a lowercase..."},
    {MAPS, "'name':'m','finalizers':['orphan', 'foregroundDeletion']", "metadata.finalizers",
     "Invalid value: ['orphan','foregroundDeletion']: finalizer orphan and foregroundDeletion "
     "cannot be both set"},
};

static void what_breaks_a_rule_is_refused(void **state)
{
    (void)state;
    test_api api;
    char body[2048];
    char text[2048];
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)snprintf(body, sizeof(body), "{'metadata':{%s}}", cases[i].metadata);
        test_api_call(&api, "POST", cases[i].target, body);
        assert_status(&api, 422);
        assert_string_equal(test_api_at(&api, ".reason"), "Invalid");
        cause(&api, "field", text, sizeof(text));
        assert_string_equal(text, cases[i].field);
        cause(&api, "message", text, sizeof(text));
        if (!begins(text, cases[i].message)) {
            fail_msg("%s: %s", cases[i].metadata, text);
        }
    }
    assert_int_equal(api.model->head, 1);
    test_api_done(&api);
}

static void what_keeps_the_rules_is_taken(void **state)
{
    static const struct {
        const char *target;
        const char *metadata;
    } fine[] = {
        {MAPS, "'name':'a.b-c.1'"},
        {MAPS, "'generateName':'a.b-'"},
        {MAPS, "'generateName':'" X63 X63 "-'"},
        {ROLES, "'name':'system:Node_1'"},
        {MAPS, "'name':'l','labels':{'example.com/A_b.c':'','x':'A-1.2_3'}"},
        {MAPS, "'name':'n','annotations':{'Example.COM/A_b.c':'any \\u0000 text'}"},
        {MAPS, "'name':'o','ownerReferences':[{" OWNER ",'controller':true},{" OWNER "}]"},
        {MAPS, "'name':'p','finalizers':['kubernetes','example.com/x']"},
        {SPACES, "'name':'1a','namespace':'ignored'"},
    };
    (void)state;
    test_api api;
    char body[2048];
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        (void)snprintf(body, sizeof(body), "{'metadata':{%s}}", fine[i].metadata);
        test_api_call(&api, "POST", fine[i].target, body);
        assert_status(&api, 201);
    }
    test_api_done(&api);
}

static void annotations_have_a_limit_together(void **state)
{
    (void)state;
    test_api api;
    ki_buf body;
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t over = 0; over < 2; over++) {
        ki_buf_init(&body, NULL, SIZE_MAX);
        assert_int_equal(
            ki_buf_add_text(&body, "{'metadata':{'name':'a','annotations':{'k':'1','l':'"), 0);
        for (size_t i = 0; i < (256 << 10) - 3 + over; i++) {
            assert_int_equal(ki_buf_add_char(&body, 'x'), 0);
        }
        assert_int_equal(ki_buf_add_text(&body, "'}}}"), 0);
        test_api_call(&api, "POST", MAPS "?dryRun=All", body.data);
        assert_status(&api, over == 0 ? 201 : 422);
        ki_buf_done(&body);
    }
    assert_string_equal(test_api_at(&api, ".details.causes[0].message"),
                        "Too long: may not be more than 262144 bytes");
    test_api_done(&api);
}

static void all_errors_are_reported_once(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", MAPS,
                  "{'metadata':{'name':'A','labels':{'a':'b c','d':'b c'},'finalizers':['x']}}");
    assert_status(&api, 422);
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "metadata.name");
    assert_string_equal(test_api_at(&api, ".details.causes[1].field"), "metadata.labels");
    assert_string_equal(test_api_at(&api, ".details.causes[2].field"), "metadata.finalizers[0]");
    assert_string_equal(test_api_at(&api, ".details.causes[3].field"), "");
    assert_non_null(strstr(api.body.data, "is invalid: [metadata.name: Invalid value: "));
    test_api_done(&api);
}

static void an_update_keeps_what_only_the_server_sets(void **state)
{
    static const struct {
        const char *patch;
        int status;
        const char *field;
    } patches[] = {
        {"{'metadata':{'labels':{'a':'b c'}}}", 422, "metadata.labels"},
        {"{'metadata':{'deletionTimestamp':'2020-01-01T00:00:00Z'}}", 422,
         "metadata.deletionTimestamp"},
        {"{'metadata':{'deletionGracePeriodSeconds':5}}", 422,
         "metadata.deletionGracePeriodSeconds"},
        {"{'metadata':{'uid':'x'}}", 422, "metadata.uid"},
        {"{'metadata':{'resourceVersion':'x'}}", 500, ""},
        {"{'metadata':{'creationTimestamp':'2020-01-01T00:00:00Z','generation':9}}", 200, ""},
    };
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_call(&api, "POST", MAPS, "{'metadata':{'name':'a','finalizers':['a/b']}}");
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        test_api_call(&api, "PATCH", MAPS "/a", patches[i].patch);
        assert_status(&api, patches[i].status);
        assert_string_equal(test_api_at(&api, ".details.causes[0].field"), patches[i].field);
    }
    test_api_call(&api, "DELETE", MAPS "/a", "");
    test_api_call(&api, "PATCH", MAPS "/a", "{'metadata':{'finalizers':['a/b','c/d']}}");
    assert_status(&api, 422);
    assert_string_equal(test_api_at(&api, ".details.causes[0].reason"), "FieldValueForbidden");
    test_api_call(&api, "PATCH", MAPS "/a",
                  "{'metadata':{'deletionTimestamp':'2020-01-01T00:00:00Z'}}");
    assert_status(&api, 200); /* it stays as it was */
    test_api_call(&api, "PATCH", MAPS "/a", "{'metadata':{'deletionGracePeriodSeconds':5}}");
    assert_status(&api, 422);
    test_api_done(&api);
}

static int run_cases(const ki_alloc *alloc, void *user)
{
    test_api api;
    (void)user;
    test_api_init(&api, alloc, NULL, NULL);
    test_api_call(&api, "POST", MAPS,
                  "{'metadata':{'generateName':'A-','labels':{'a b':'c d'},'annotations':{'E f':''}"
                  ",'ownerReferences':[{'controller':true},{'controller':true}],'finalizers':['x',"
                  "'orphan','foregroundDeletion']}}");
    test_api_call(&api, "POST", MAPS, "{'metadata':{'name':'a','finalizers':['a/b']}}");
    test_api_call(&api, "DELETE", MAPS "/a", "");
    test_api_call(&api, "PATCH", MAPS "/a",
                  "{'metadata':{'finalizers':['c/d'],'deletionGracePeriodSeconds':7}}");
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    test_alloc_sweep(run_cases, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_breaks_a_rule_is_refused),
        cmocka_unit_test(what_keeps_the_rules_is_taken),
        cmocka_unit_test(annotations_have_a_limit_together),
        cmocka_unit_test(all_errors_are_reported_once),
        cmocka_unit_test(an_update_keeps_what_only_the_server_sets),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources by their schema: pruned, defaulted, validated. tests/e2e asks a real server the
 * same, and more. */
#include <stdio.h>
#include <string.h>

#include "support/api.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/example.com/v1/widgets"

static void define(test_api *api, const char *method, const char *properties)
{
    char body[4096];
    (void)snprintf(
        body, sizeof(body),
        "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Cluster'"
        ",'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,"
        "'storage':true,'subresources':{'status':{}},'schema':{'openAPIV3Schema':{'type':'object',"
        "'properties':{'spec':{'type':'object','properties':{%s}},'status':{'type':'object',"
        "'properties':{'n':{'type':'integer'}}}}}}}]}}",
        properties);
    test_api_call(api, method, strcmp(method, "PUT") == 0 ? CRDS "/widgets.example.com" : CRDS,
                  body);
}

static void write_widget(test_api *api, const char *spec)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{'metadata':{'name':'w'},'spec':{%s}}", spec);
    test_api_call(api, "POST", WIDGETS "?dryRun=All", body);
}

static void start(test_api *api, const char *properties)
{
    test_api_init(api, NULL, NULL, NULL);
    define(api, "POST", properties);
    assert_status(api, 201);
}

static const char *warning(test_api *api, const char *target, const char *body)
{
    static char text[256];
    ki__api_exchange *x = test_api_open(api, "POST", target, body);
    const char *first = ki__api_exchange_warning(x, 0);
    (void)snprintf(text, sizeof(text), "%s", first != NULL ? first : "");
    ki__api_exchange_free(x);
    return text;
}

static void unknown_fields_are_removed(void **state)
{
    (void)state;
    test_api api;
    start(&api, "'a':{'type':'object','properties':{'b':{'type':'string'}}},"
                "'l':{'type':'array','items':{'type':'object','properties':{'x':{'type':'integer'}}"
                "}},'p':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{"
                "'q':{'type':'object','properties':{'r':{'type':'string'}}}}},"
                "'m':{'type':'object','additionalProperties':{'type':'object','properties':{'y':{"
                "'type':'integer'}}}}");
    write_widget(&api, "'a':{'b':'c','d':1},'z':[1],'l':[{'x':1,'y':2}],'p':{'other':{'s':1},'q':{"
                       "'r':'t','u':2}},'m':{'k':{'y':1,'z':2}}");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".spec"),
                        "{\"a\":{\"b\":\"c\"},\"l\":[{\"x\":1}],\"p\":{\"other\":{\"s\":1},\"q\":{"
                        "\"r\":\"t\"}},\"m\":{\"k\":{\"y\":1}}}");
    static const char body[] = "{'metadata':{'name':'w','odd':1},'spec':{'l':[{},{'y':2}]},'t':1}";
    assert_string_equal(warning(&api, WIDGETS "?dryRun=All", body),
                        "unknown field \"metadata.odd\"");
    assert_string_equal(warning(&api, WIDGETS "?dryRun=All&fieldValidation=Ignore", body), "");
    test_api_call(&api, "POST", WIDGETS "?fieldValidation=Strict", body);
    assert_status(&api, 400);
    assert_non_null(strstr(api.body.data,
                           "strict decoding error: unknown field \\\"metadata.odd\\\", unknown "
                           "field \\\"spec.l[1].y\\\", unknown field \\\"t\\\""));
    test_api_call(&api, "POST", WIDGETS "?fieldValidation=Maybe", body);
    assert_status(&api, 422);
    test_api_done(&api);
}

static void what_is_missing_gets_its_default(void **state)
{
    (void)state;
    test_api api;
    start(&api, "'n':{'type':'integer','default':3},'s':{'type':'string','nullable':true,'default':"
                "'x'},'o':{'type':'object','default':{},'properties':{'i':{'type':'string',"
                "'default':'y'}}},'l':{'type':'array','items':{'type':'object','properties':{'k':{"
                "'type':'integer','default':1}}}},'e':{'type':'string'}");
    write_widget(&api, "'l':[{},{'k':2}],'n':null,'e':null,'s':null");
    assert_status(&api, 201);
    assert_string_equal(test_api_at(&api, ".spec"),
                        "{\"l\":[{\"k\":1},{\"k\":2}],\"n\":3,\"s\":null,\"o\":{\"i\":\"y\"}}");
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'w'},'spec':{}}");
    test_api_call(&api, "PATCH", WIDGETS "/w", "{'spec':{'n':5}}");
    assert_string_equal(test_api_at(&api, ".spec.n"), "5");
    test_api_call(&api, "PATCH", WIDGETS "/w", "{'spec':{'n':null}}");
    assert_string_equal(test_api_at(&api, ".spec.n"), "3");
    test_api_done(&api);
}

static const struct {
    const char *property;
    const char *value;
    const char *reason;
    const char *field;
    const char *message; /* its beginning */
} refused[] = {
    {"{'type':'integer'}", "'5'", "FieldValueTypeInvalid", "spec.x",
     "Invalid value: \"string\": spec.x in body must be of type integer: \"string\""},
    {"{'type':'integer','minimum':1}", "0", "FieldValueInvalid", "spec.x",
     "Invalid value: 0: spec.x in body should be greater than or equal to 1"},
    {"{'type':'number','exclusiveMaximum':true,'maximum':2.5}", "2.5", "FieldValueInvalid",
     "spec.x", "Invalid value: 2.5: spec.x in body should be less than 2.5"},
    {"{'type':'integer','multipleOf':2}", "3", "FieldValueInvalid", "spec.x",
     "Invalid value: 3: spec.x in body should be a multiple of 2"},
    {"{'type':'integer','format':'int32'}", "3000000000", "FieldValueInvalid", "<nil>",
     "Invalid value: \"\": Checked value must be of type integer with format int32"},
    {"{'type':'string','enum':['a','b']}", "'c'", "FieldValueNotSupported", "spec.x",
     "Unsupported value: \"c\": supported values: \"a\", \"b\""},
    {"{'type':'string','pattern':'^a+$'}", "'b'", "FieldValueInvalid", "spec.x",
     "Invalid value: \"b\": spec.x in body should match '^a+$'"},
    {"{'type':'string','format':'ipv4'}", "'b'", "FieldValueTypeInvalid", "spec.x",
     "Invalid value: \"b\": spec.x in body must be of type ipv4: \"b\""},
    {"{'type':'string','minLength':2}", "'b'", "FieldValueInvalid", "spec.x",
     "Invalid value: \"b\": spec.x in body should be at least 2 chars long"},
    {"{'type':'string','maxLength':2}", "'bcd'", "FieldValueTooLong", "spec.x",
     "Too long: may not be more than 2 bytes"},
    {"{'type':'array','items':{'type':'string'},'minItems':1}", "[]", "FieldValueInvalid", "spec.x",
     "Invalid value: 0: spec.x in body should have at least 1 items"},
    {"{'type':'array','items':{'type':'string'},'maxItems':1}", "['a','b']", "FieldValueTooMany",
     "spec.x", "Too many: 2: must have at most 1 item"},
    {"{'type':'object','maxProperties':0}", "{'a':1}", "", "", ""},
    {"{'type':'object','required':['q'],'properties':{'q':{'type':'string'}}}", "{}",
     "FieldValueRequired", "spec.x.q", "Required value"},
    {"{'type':'array','items':{'type':'integer'}}", "[1,'a']", "FieldValueTypeInvalid", "spec.x[1]",
     "Invalid value: \"string\": spec.x[1] in body must be of type integer"},
    {"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}", "['a','b','a']",
     "FieldValueDuplicate", "spec.x[2]", "Duplicate value: \"a\""},
    {"{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],'items'"
     ":{'type':'object','properties':{'k':{'type':'string'}}}}",
     "[{'k':'a'},{'k':'a'}]", "FieldValueDuplicate", "spec.x[1]", "Duplicate value: {\"k\":\"a\"}"},
    {"{'x-kubernetes-int-or-string':true}", "true", "FieldValueTypeInvalid", "spec.x",
     "Invalid value: \"boolean\": spec.x in body must be of type integer,string"},
    {"{'type':'string','not':{'pattern':'a'}}", "'a'", "FieldValueInvalid", "<nil>",
     "Invalid value: \"\": \"spec.x\" must not validate the schema (not)"},
    {"{'type':'string','oneOf':[{'pattern':'a'},{'pattern':'b'}]}", "'ab'", "FieldValueInvalid",
     "<nil>", "Invalid value: \"\": \"spec.x\" must validate one and only one schema"},
    {"{'type':'object','x-kubernetes-embedded-resource':true,"
     "'x-kubernetes-preserve-unknown-fields':true}",
     "{'kind':'A'}", "FieldValueRequired", "spec.x.apiVersion", "Required value"},
    {"{'type':'string','nullable':true}", "null", "", "", ""},
    {"{'x-kubernetes-int-or-string':true}", "'a'", "", "", ""},
    {"{'type':'integer'}", "5.0", "", "", ""},
    {"{'type':'string','anyOf':[{'pattern':'a'},{'pattern':'b'}]}", "'ab'", "", "", ""},
};

static void what_is_not_as_the_schema_says_is_refused(void **state)
{
    (void)state;
    test_api api;
    start(&api, "");
    char text[1024];
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        (void)snprintf(text, sizeof(text), "'x':%s", refused[i].property);
        define(&api, "PUT", text);
        assert_status(&api, 200);
        (void)snprintf(text, sizeof(text), "'x':%s", refused[i].value);
        write_widget(&api, text);
        assert_status(&api, refused[i].reason[0] != '\0' ? 422 : 201);
        assert_string_equal(test_api_at(&api, ".details.causes[0].reason"), refused[i].reason);
        assert_string_equal(test_api_at(&api, ".details.causes[0].field"), refused[i].field);
        const char *message = test_api_at(&api, ".details.causes[0].message");
        if (strncmp(message, refused[i].message, strlen(refused[i].message)) != 0) {
            fail_msg("%s: %s", refused[i].property, message);
        }
    }
    test_api_done(&api);
}

static void what_was_there_before_the_schema_may_stay(void **state)
{
    (void)state;
    test_api api;
    start(&api, "'a':{'type':'integer'},'b':{'type':'integer'}");
    test_api_call(&api, "POST", WIDGETS, "{'metadata':{'name':'w'},'spec':{'a':50,'b':1}}");
    define(&api, "PUT", "'a':{'type':'integer','maximum':9},'b':{'type':'integer'}");
    test_api_call(&api, "PATCH", WIDGETS "/w", "{'spec':{'b':2}}");
    assert_status(&api, 200);
    test_api_call(&api, "PATCH", WIDGETS "/w", "{'spec':{'a':51}}");
    assert_status(&api, 422);
    test_api_call(&api, "PATCH", WIDGETS "/w/status", "{'status':{'n':'x'}}");
    assert_status(&api, 422);
    assert_string_equal(test_api_at(&api, ".details.causes[0].field"), "status.n");
    test_api_call(&api, "PATCH", WIDGETS "/w/status", "{'status':{'n':1,'o':2},'spec':{'b':7}}");
    assert_string_equal(test_api_at(&api, ".status"), "{\"n\":1}");
    assert_string_equal(test_api_at(&api, ".spec.b"), "2");
    assert_string_equal(test_api_at(&api, ".metadata.generation"), "2");
    test_api_done(&api);
}

static void schemas_that_cannot_be_used_are_refused(void **state)
{
    static const struct {
        const char *properties;
        const char *field;
    } cases[] = {
        {"'x':{}", "spec.validation.openAPIV3Schema.properties[spec].properties[x].type"},
        {"'x':{'type':'text'}",
         "spec.validation.openAPIV3Schema.properties[spec].properties[x].type"},
        {"'x':{'type':'array'}",
         "spec.validation.openAPIV3Schema.properties[spec].properties[x].items"},
        {"'x':{'type':'array','items':{'type':'string','pattern':'['}}",
         "spec.validation.openAPIV3Schema.properties[spec].properties[x].items.pattern"},
        {"'x':{'type':'string','anyOf':[{},{'pattern':'*'}]}",
         "spec.validation.openAPIV3Schema.properties[spec].properties[x].anyOf[1].pattern"},
    };
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        define(&api, "POST", cases[i].properties);
        assert_status(&api, 422);
        assert_string_equal(test_api_at(&api, ".details.causes[0].field"), cases[i].field);
    }
    define(&api, "POST",
           "'x':{'type':'string','x-kubernetes-validations':[{'rule':'self.size()>1'}]}");
    assert_status(&api, 201);
    write_widget(&api, "'x':''");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void what_is_not_enforced_is_warned_of(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    static const char body[] =
        "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Cluster'"
        ",'names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,"
        "'storage':true,'schema':{'openAPIV3Schema':{'type':'object',%s}}}]}}";
    char text[1024];
    (void)snprintf(text, sizeof(text), body, "'x-kubernetes-validations':[{'rule':'true'}]");
    assert_string_equal(warning(&api, CRDS "?dryRun=All", text),
                        "x-kubernetes-validations are not evaluated by this server");
    (void)snprintf(text, sizeof(text), body,
                   "'properties':{'x':{'type':'string','pattern':'\\\\pL'}}");
    assert_non_null(strstr(warning(&api, CRDS "?dryRun=All", text), "are not enforced"));
    test_api_done(&api);
}

/* A schema and an object that fit into the limits, and would take long if nothing else ended it. */
static void work_has_a_limit(void **state)
{
    (void)state;
    test_api api;
    ki_buf body;
    test_api_init(&api, NULL, NULL, NULL);
    ki_buf_init(&body, NULL, SIZE_MAX);
    assert_int_equal(
        ki_buf_add_text(
            &body,
            "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':"
            "'Cluster','names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1',"
            "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
            "'x-kubernetes-preserve-unknown-fields':true,'anyOf':[{}"),
        0);
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(ki_buf_add_text(&body, ",{'required':['nope'],'minProperties':9}"), 0);
    }
    assert_int_equal(ki_buf_add_text(&body, "],'oneOf':[{'required':['nope']}"), 0);
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(ki_buf_add_text(&body, ",{'required':['nope'],'minProperties':9}"), 0);
    }
    assert_int_equal(ki_buf_add_text(&body, "]}}}]}}"), 0);
    test_api_call(&api, "POST", CRDS, body.data);
    assert_status(&api, 201);
    ki_buf_clear(&body);
    assert_int_equal(ki_buf_add_text(&body, "{'metadata':{'name':'w'},'spec':['"), 0);
    for (int i = 0; i < 1 << 20; i++) {
        assert_int_equal(ki_buf_add_char(&body, 'x'), 0);
    }
    assert_int_equal(ki_buf_add_text(&body, "']}"), 0);
    test_api_call(&api, "POST", WIDGETS, body.data);
    assert_status(&api, 413);
    ki_buf_done(&body);
    test_api_done(&api);
}

/* Errors beyond the limit are not looked for, nor are their places. */
static void errors_have_a_limit(void **state)
{
    (void)state;
    test_api api;
    ki_buf body;
    char text[64];
    test_api_init(&api, NULL, NULL, NULL);
    ki_buf_init(&body, NULL, SIZE_MAX);
    assert_int_equal(
        ki_buf_add_text(
            &body,
            "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':"
            "'Cluster','names':{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1',"
            "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
            "'properties':{'x':{'type':'string'}"),
        0);
    for (int i = 0; i < 60000; i++) {
        (void)snprintf(text, sizeof(text), ",'p%d':{}", i);
        assert_int_equal(ki_buf_add_text(&body, text), 0);
    }
    assert_int_equal(ki_buf_add_text(&body, "}}}}]}}"), 0);
    test_api_call(&api, "POST", CRDS, body.data);
    assert_status(&api, 422);
    assert_string_equal(test_api_at(&api, ".details.causes[999].reason"), "FieldValueRequired");
    assert_string_equal(test_api_at(&api, ".details.causes[1000].reason"), "");
    ki_buf_done(&body);
    test_api_done(&api);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    test_api api;
    (void)user;
    test_api_init(&api, alloc, NULL, NULL);
    define(&api, "POST",
           "'a':{'type':'string','pattern':'^\\u0061$','enum':['a','b'],'default':'a'},'l':{'type':"
           "'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k'],'items':{"
           "'type':'object','required':['k'],'properties':{'k':{'type':'string'},'d':{'type':"
           "'integer','default':1}}}},'o':{'type':'object','oneOf':[{'required':['x']},{'required':"
           "['y']}],'x-kubernetes-embedded-resource':true,"
           "'x-kubernetes-preserve-unknown-fields':true},'\\u0062':{'type':'integer'}");
    write_widget(&api, "'a':'c','l':[{'k':'x','z':1},{'k':'x'},{}],'o':{'metadata':{'labels':{'a':"
                       "'b c'}}},'q':[1]");
    test_api_call(&api, "POST", WIDGETS,
                  "{'metadata':{'name':'w','finalizers':['f']},'spec':{'l':[{'k':'x'}]}}");
    test_api_call(&api, "PATCH", WIDGETS "/w", "{'spec':{'a':'b','l':[{'k':'y'}]}}");
    int r = api.failed;
    test_api_done(&api);
    return r;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_fields_are_removed),
        cmocka_unit_test(what_is_missing_gets_its_default),
        cmocka_unit_test(what_is_not_as_the_schema_says_is_refused),
        cmocka_unit_test(what_was_there_before_the_schema_may_stay),
        cmocka_unit_test(schemas_that_cannot_be_used_are_refused),
        cmocka_unit_test(what_is_not_enforced_is_warned_of),
        cmocka_unit_test(work_has_a_limit),
        cmocka_unit_test(errors_have_a_limit),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

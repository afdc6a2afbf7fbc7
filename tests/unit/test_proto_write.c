/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

#include "support/golden.h"
#include "support/objects.h"
#include "support/test.h"

enum { OUT_MAX = 1 << 20 };

#define CORE(kind, rest) "{'apiVersion':'v1','kind':'" kind "'," rest "}"
#define CRD(schema)                                                              \
    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition'," \
    "'spec':{'versions':[{'schema':{'openAPIV3Schema':" schema "}}]}}"

/* JSON with ' for " to protobuf that must be good. */
static ki_buf written(const char *json)
{
    ki_object *object = test_object(NULL, json);
    ki_error error = KI_ERROR_INIT;
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    if (ki_object_write_protobuf(object, &out, &error) != 0) {
        fail_msg("%s: %s", json, error.message);
    }
    ki_object_unref(object);
    return out;
}

static void assert_same(const char *json, const char *other)
{
    ki_buf a = written(json);
    ki_buf b = written(other);
    if (!ki_str_eq(ki_buf_str(&a), ki_buf_str(&b))) {
        fail_msg("%s\n%s", json, other);
    }
    ki_buf_done(&a);
    ki_buf_done(&b);
}

static void bytes_of_a_config_map(void **state)
{
    (void)state;
    static const char expected[] = "k8s\0"
                                   "\x0a\x0f"
                                   "\x0a\x02v1\x12\x09"
                                   "ConfigMap"
                                   "\x12\x23"
                                   "\x0a\x11"
                                   "\x0a\x01n\x12\0\x1a\0\x22\0\x2a\0\x32\0\x38\0\x42\0"
                                   "\x12\x06\x0a\x01"
                                   "a\x12\x01"
                                   "1"
                                   "\x12\x06\x0a\x01"
                                   "b\x12\x01"
                                   "2"
                                   "\x1a\0\x22";
    ki_buf out = written(CORE("ConfigMap", "'data':{'b':'2','a':'1'},'metadata':{'name':'n'}"));
    assert_int_equal(out.len, sizeof(expected));
    assert_memory_equal(out.data, expected, sizeof(expected));
    ki_buf_done(&out);
}

/* All that Go makes no difference of. */
static void spellings_of_one_object(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        /* order, space, unknown members, null */
        {CORE("Pod", "'metadata':{'name':'a','uid':'u'},'spec':{'nodeName':'n'}"),
         " {\n'spec' : { 'nodeName':'n' } , 'metadata':{'uid':'u','name':'a'}, 'kind':'Pod',"
         "'apiVersion':'v1'} "},
        {CORE("Pod", "'spec':{'nodeName':'n'}"),
         CORE("Pod", "'what':{'a':[1,{}]},'spec':{'x':1,'nodeName':'n','NodeName':'y'}")},
        {CORE("Pod", "'spec':{}"), CORE("Pod", "'spec':null,'metadata':null,'status':{}")},
        {CORE("Pod", "'spec':{}"),
         CORE("Pod", "'metadata':{'creationTimestamp':null,'labels':null,'finalizers':[],"
                     "'annotations':{},'deletionTimestamp':null,'name':null,'generation':null}")},
        /* escapes, in names, keys and text */
        {CORE("Pod", "'spec':{'nodeName':'a/b'},'metadata':{'labels':{'k':'v'}}"),
         CORE("Pod", "'\\u0073pec':{'n\\u006fdeName':'a\\/b'},"
                     "'metadata':{'labels':{'\\u006b':'\\u0076'}}")},
        {CORE("Pod", "'metadata':{'labels':{'a':'1','b':'2','c':'3'}}"),
         CORE("Pod", "'metadata':{'labels':{'c':'3','\\u0062':'2','a':'1'}}")},
        /* the first of two */
        {CORE("Pod", "'metadata':{'labels':{'a':'1','b':'2'}},'spec':{'nodeName':'n'}"),
         CORE("Pod", "'metadata':{'labels':{'a':'1','b':'2','\\u0061':'3','b':'4'}},"
                     "'spec':{'nodeName':'n','nodeName':'m'}")},
        /* nothing in a list is the zero of its type */
        {CORE("Pod", "'metadata':{'finalizers':['','a']},'spec':{'containers':[{}]}"),
         CORE("Pod", "'metadata':{'finalizers':[null,'a']},'spec':{'containers':[null]}")},
        {CORE("Pod", "'metadata':{'labels':{'a':''}}"),
         CORE("Pod", "'metadata':{'labels':{'a':null}}")},
        /* times */
        {CORE("Pod", "'metadata':{'creationTimestamp':'2024-05-01T10:00:00Z'}"),
         CORE("Pod", "'metadata':{'creationTimestamp':'2024-05-01T12:00:00.999+02:00'}")},
        {CORE("Pod", "'metadata':{}"),
         CORE("Pod", "'metadata':{'creationTimestamp':'0001-01-01T00:00:00Z'}")},
        {"{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','spec':{'renewTime':"
         "'2024-05-01T10:00:00.123456Z'}}",
         "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','spec':{'renewTime':"
         "'2024-05-01T10:00:00.123456789Z'}}"},
        /* bytes */
        {CORE("Secret", "'data':{'a':'Zm9v/w==','b':''}"),
         CORE("Secret", "'data':{'b':'','a':'Zm9v\\/w\\u003d=\\n'}")},
        /* numbers */
        {CORE("Pod", "'spec':{'priority':1000}"), CORE("Pod", "'spec':{'priority':1e3}")},
        {CORE("Pod", "'spec':{'overhead':{'cpu':'2','x':'0','y':'1Gi'}}"),
         CORE("Pod", "'spec':{'overhead':{'cpu':2,'x':null,'y':'1\\u0047i'}}")},
        /* messages around one value */
        {CRD("{'additionalProperties':{},'items':{'type':'a'}}"),
         CRD("{'items':{'type':'a','x':1},'additionalProperties':{'type':null}}")},
        {CRD("{'dependencies':{'a':[],'b':{}}}"), CRD("{'dependencies':{'b':{},'a':null}}")},
        {CRD("{'enum':[null,1]}"), CRD("{'enum':[ null , 1 ]}")},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_same(pairs[i][0], pairs[i][1]);
    }
}

/* What Go does make a difference of. */
static void things_that_are_not_the_same(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {CORE("Secret", "'data':{'a':''}"), CORE("Secret", "'data':{'a':null}")},
        {CORE("Secret", "'immutable':false"), CORE("Secret", "'immutable':null")},
        {CORE("Pod", "'spec':{'terminationGracePeriodSeconds':0}"), CORE("Pod", "'spec':{}")},
        {CORE("Pod", "'metadata':{'deletionTimestamp':'0001-01-01T00:00:00Z'}"),
         CORE("Pod", "'metadata':{}")},
        {CRD("{'additionalProperties':true}"), CRD("{'additionalProperties':{}}")},
        {CRD("{'additionalProperties':false}"), CRD("{'additionalProperties':null}")},
        {CRD("{'default':{'a':1}}"), CRD("{'default':{'a': 1}}")},
        {CRD("{'maximum':0}"), CRD("{}")},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        ki_buf a = written(pairs[i][0]);
        ki_buf b = written(pairs[i][1]);
        if (ki_str_eq(ki_buf_str(&a), ki_buf_str(&b))) {
            fail_msg("%s\n%s", pairs[i][0], pairs[i][1]);
        }
        ki_buf_done(&a);
        ki_buf_done(&b);
    }
}

/* ---- Go ---- */

static void write_as_go_does(const golden_record *record, void *user)
{
    ki_buf *out = user;
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_buf_clear(out);
    if (ki_object_from_json(record->json.ptr, record->json.len, NULL, &object, &error) < 0 ||
        ki_object_write_protobuf(object, out, &error) < 0) {
        fail_msg("%.*s: %s", KI_STR_ARG(record->json), error.message);
    }
    if (!ki_str_eq(ki_buf_str(out), record->rewritten)) {
        fail_msg("not as Go writes it: %.*s", KI_STR_ARG(record->json));
    }
    ki_object_unref(object);
}

static void golden_vectors_are_written_as_go_writes_them(void **state)
{
    (void)state;
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", write_as_go_does, &out) > 2000);
    ki_buf_done(&out);
}

/* ---- protobuf objects ---- */

static ki_object *from_protobuf(ki_str bytes, const char *api_version, const char *kind)
{
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.default_api_version = api_version;
    options.default_kind = kind;
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_protobuf(bytes.ptr, bytes.len, &options, &object, NULL), 0);
    return object;
}

static void protobuf_objects_give_their_own_bytes(void **state)
{
    (void)state;
    ki_buf json = written(CORE("Pod", "'metadata':{'name':'a'}"));
    ki_object *object = from_protobuf(ki_buf_str(&json), NULL, NULL);
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    assert_int_equal(ki_object_write_protobuf(object, &out, NULL), 0);
    assert_true(ki_str_eq(ki_buf_str(&out), ki_buf_str(&json)));
    out.max = out.len + 5;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_object_write_protobuf(object, &out, &error), KI_ERR_LIMIT);
    assert_int_equal(error.code, KI_ERR_LIMIT);
    assert_true(ki_str_eq(ki_buf_str(&out), ki_buf_str(&json)));
    ki_object_unref(object);
    ki_buf_done(&out);
    ki_buf_done(&json);
}

static void a_message_alone_gets_an_envelope(void **state)
{
    (void)state;
    static const char expected[] = "k8s\0"
                                   "\x0a\x09\x0a\x02v9\x12\x03Odd"
                                   "\x12\x03\x0a\x01z"
                                   "\x1a\0\x22";
    ki_object *object = from_protobuf(ki_str_from("\x0a\x01z"), "v9", "Odd");
    ki_buf out;
    ki_buf_init(&out, NULL, sizeof(expected));
    assert_int_equal(ki_object_write_protobuf(object, &out, NULL), 0);
    assert_int_equal(out.len, sizeof(expected));
    assert_memory_equal(out.data, expected, sizeof(expected));
    for (size_t max = 0; max < sizeof(expected); max++) {
        ki_buf_clear(&out);
        out.max = max;
        assert_int_equal(ki_object_write_protobuf(object, &out, NULL), KI_ERR_LIMIT);
        assert_int_equal(out.len, 0);
    }
    ki_object_unref(object);
    ki_buf_done(&out);
}

/* ---- errors ---- */

static const struct {
    const char *json;
    const char *message;
} wrong[] = {
    {CORE("Pod", "'spec':[]"), "a map is needed at .spec"},
    {CORE("Pod", "'spec':{'nodeName':5}"), "a string is needed at .spec.nodeName"},
    {CORE("Pod", "'spec':{'nodeName':['x']}"), "a string is needed at .spec.nodeName"},
    {CORE("Pod", "'spec':{'containers':{}}"), "a list is needed at .spec.containers"},
    {CORE("Pod", "'spec':{'containers':[{},{'ports':[{'containerPort':'x'}]}]}"),
     "an integer of 32 bits is needed at .spec.containers[1].ports[0].containerPort"},
    {CORE("Pod", "'spec':{'containers':[{'ports':[{'containerPort':2147483648}]}]}"),
     "an integer of 32 bits is needed at .spec.containers[0].ports[0].containerPort"},
    {CORE("Pod", "'spec':{'containers':[{'ports':[{'containerPort':-2147483649}]}]}"),
     "an integer of 32 bits is needed at .spec.containers[0].ports[0].containerPort"},
    {CORE("Pod", "'spec':{'containers':[{'ports':[{'containerPort':1.5}]}]}"),
     "an integer of 32 bits is needed at .spec.containers[0].ports[0].containerPort"},
    {CORE("Pod", "'metadata':{'generation':9223372036854775808}"),
     "an integer of 64 bits is needed at .metadata.generation"},
    {CORE("Pod", "'spec':{'hostNetwork':'true'}"), "true or false is needed at .spec.hostNetwork"},
    {CORE("Pod", "'spec':{'volumes':[{'emptyDir':1}]}"),
     "a map is needed at .spec.volumes[0].emptyDir"},
    {CORE("Pod", "'spec':{'overhead':{'a':'1','cpu':true}}"),
     "a quantity is needed at .spec.overhead[cpu]"},
    {CORE("Pod", "'spec':{'overhead':{'cpu':'1 core'}}"),
     "a quantity is needed at .spec.overhead[cpu]"},
    {CORE("Pod", "'spec':{'overhead':{'cpu':''}}"), "a quantity is needed at .spec.overhead[cpu]"},
    {CORE("Pod", "'spec':{'nodeSelector':[]}"), "a map is needed at .spec.nodeSelector"},
    {CORE("Pod", "'spec':{'nodeSelector':'x'}"), "a map is needed at .spec.nodeSelector"},
    {CORE("Pod", "'spec':{'nodeSelector':{'b':'x','a':1}}"),
     "a string is needed at .spec.nodeSelector[a]"},
    {CORE("Pod", "'status':{'startTime':'yesterday'}"),
     "a time (RFC 3339) is needed at .status.startTime"},
    {CORE("Pod", "'status':{'startTime':17}"), "a time (RFC 3339) is needed at .status.startTime"},
    {CORE("Pod", "'status':{'startTime':'                                                  "
                 "                                                    '}"),
     "a time (RFC 3339) is needed at .status.startTime"},
    {CORE("Secret", "'data':{'a':'not base64'}"), "a string in base64 is needed at .data[a]"},
    {CORE("Secret", "'data':{'a':'Zg\\u003d'}"), "a string in base64 is needed at .data[a]"},
    {CORE("Secret", "'data':{'a':[102]}"), "a string in base64 is needed at .data[a]"},
    {CORE("Service", "'spec':{'ports':[{'targetPort':{}}]}"),
     "an integer of 32 bits or a string is needed at .spec.ports[0].targetPort"},
    {CORE("Service", "'spec':{'ports':[{'targetPort':1e10}]}"),
     "an integer of 32 bits or a string is needed at .spec.ports[0].targetPort"},
    {CRD("{'maximum':'1'}"),
     "a number is needed at .spec.versions[0].schema.openAPIV3Schema.maximum"},
    {CRD("{'maximum':1e999}"),
     "a number is needed at .spec.versions[0].schema.openAPIV3Schema.maximum"},
    {CRD("{'additionalProperties':1}"),
     "a map, true or false is needed at "
     ".spec.versions[0].schema.openAPIV3Schema.additionalProperties"},
    {CRD("{'additionalProperties':{'type':1}}"),
     "a string is needed at "
     ".spec.versions[0].schema.openAPIV3Schema.additionalProperties.type"},
    {CRD("{'items':'x'}"),
     "a map or a list is needed at .spec.versions[0].schema.openAPIV3Schema.items"},
    {CRD("{'items':[{},1]}"),
     "a map is needed at .spec.versions[0].schema.openAPIV3Schema.items[1]"},
    {CRD("{'dependencies':{'q':['x',1]}}"),
     "a string is needed at .spec.versions[0].schema.openAPIV3Schema.dependencies[q][1]"},
    {"{'apiVersion':'authentication.k8s.io/v1','kind':'TokenReview','status':{'user':"
     "{'extra':{'a':['x',{}]}}}}",
     "a string is needed at .status.user.extra[a][1]"},
    {"{'apiVersion':'authentication.k8s.io/v1','kind':'TokenReview','status':{'user':"
     "{'extra':{'a':'x'}}}}",
     "a list is needed at .status.user.extra[a]"},
    {"{'apiVersion':'node.k8s.io/v1','kind':'RuntimeClass','overhead':7}",
     "a map is needed at .overhead"},
};

static void what_a_field_cannot_hold_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ki_object *object = test_object(NULL, wrong[i].json);
        ki_error error = KI_ERROR_INIT;
        ki_buf out;
        ki_buf_init(&out, NULL, OUT_MAX);
        assert_int_equal(ki_buf_add_text(&out, "before"), 0);
        int r = ki_object_write_protobuf(object, &out, &error);
        if (r != KI_ERR_INVALID || error.code != r ||
            strcmp(error.message, wrong[i].message) != 0) {
            fail_msg("%s\ngave %d %s", wrong[i].json, r, error.message);
        }
        assert_int_equal(error.line, 1);
        assert_int_equal(error.column, error.offset + 1);
        assert_string_equal(ki_buf_text(&out), "before");
        assert_int_equal(out.len, 6);
        assert_int_equal(ki_object_write_protobuf(object, &out, NULL), KI_ERR_INVALID);
        ki_buf_done(&out);
        ki_object_unref(object);
    }
}

static void the_place_is_that_of_the_value(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, "{'apiVersion':'v1','kind':'Pod',\n 'spec':{\n"
                                          "  'nodeName': 5}}");
    ki_error error = KI_ERROR_INIT;
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    assert_int_equal(ki_object_write_protobuf(object, &out, &error), KI_ERR_INVALID);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 15);
    assert_int_equal(out.len, 0);
    ki_buf_done(&out);
    ki_object_unref(object);
}

static void a_kind_without_schema_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {"{'apiVersion':'example.com/v1','kind':'Thing','metadata':{}}",
         "no schema for this kind: example.com/v1 Thing"},
        {"{'apiVersion':'v2','kind':'Pod'}", "no schema for this kind: v2 Pod"},
        {"{'kind':'Pod'}", "no schema for this kind:  Pod"},
        {"{}", "no schema for this kind:  "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = test_object(NULL, cases[i].json);
        ki_error error = KI_ERROR_INIT;
        ki_buf out;
        ki_buf_init(&out, NULL, OUT_MAX);
        assert_int_equal(ki_object_write_protobuf(object, &out, &error), KI_ERR_NO_SCHEMA);
        assert_string_equal(error.message, cases[i].message);
        assert_null(out.data);
        ki_object_unref(object);
    }
}

/* A schema in a schema, `depth` times: two messages for each map. */
static int write_deep(size_t depth, ki_buf *out, ki_error *error)
{
    ki_buf json;
    ki_buf_init(&json, NULL, OUT_MAX);
    test_add(&json,
             "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
             "\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":",
             1);
    test_add(&json, "{\"additionalProperties\":", depth);
    test_add(&json, "{}", 1);
    test_add(&json, "}", depth);
    test_add(&json, "}}]}}", 1);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.max_depth = 1024;
    ki_object *object;
    assert_int_equal(ki_object_from_json(json.data, json.len, &options, &object, NULL), 0);
    int r = ki_object_write_protobuf(object, out, error);
    ki_object_unref(object);
    ki_buf_done(&json);
    return r;
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    ki_buf out;
    ki_buf_init(&out, NULL, OUT_MAX);
    assert_int_equal(write_deep(500, &out, &error), 0);
    ki_buf_clear(&out);
    int r = 0;
    size_t depth = 500;
    while (r == 0) {
        ki_buf_clear(&out);
        r = write_deep(++depth, &out, &error);
    }
    assert_int_equal(r, KI_ERR_DEPTH);
    assert_int_equal(error.code, KI_ERR_DEPTH);
    assert_int_equal(out.len, 0);
    ki_buf_done(&out);
}

#define MANY                                                                                       \
    CORE("Pod", "'metadata':{'name':'a','labels':{'b':'1','a':'2'},'creationTimestamp':"           \
                "'2024-05-01T10:00:00Z'},'spec':{'containers':[{'name':'x','resources':{'limits':" \
                "{'cpu':'2'}},'livenessProbe':{'httpGet':{'port':'h\\u0069'}}}],'volumes':[{"      \
                "'name':'v','emptyDir':{}}]}")

static void the_limit_of_the_buffer_is_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {
        MANY,
        CORE("Secret", "'data':{'a':'Zm9vYmFy','b':'Zm9v','c':'Z\\/8='}"),
        CRD("{'additionalProperties':{'enum':[1,'x']},'items':[{}],'dependencies':{'a':['b']}}"),
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_buf whole = written(texts[i]);
        ki_object *object = test_object(NULL, texts[i]);
        for (size_t max = 0; max <= whole.len; max++) {
            ki_error error = KI_ERROR_INIT;
            ki_buf out;
            ki_buf_init(&out, NULL, max);
            int r = ki_object_write_protobuf(object, &out, &error);
            assert_int_equal(r, max < whole.len ? KI_ERR_LIMIT : 0);
            assert_int_equal(error.code, r);
            assert_int_equal(out.len, r < 0 ? 0 : whole.len);
            ki_buf_done(&out);
        }
        ki_object_unref(object);
        ki_buf_done(&whole);
    }
}

static int scenario(const ki_alloc *alloc, void *user)
{
    const char *json = user;
    ki_object *object = test_object(NULL, json);
    ki_error error = KI_ERROR_INIT;
    ki_buf out;
    ki_buf_init(&out, alloc, OUT_MAX);
    int r = ki_buf_add_text(&out, "before");
    if (r == 0) {
        r = ki_object_write_protobuf(object, &out, &error);
        assert_int_equal(error.code, r);
        if (r < 0) {
            assert_int_equal(out.len, 6);
        } else {
            ki_buf expected = written(json);
            assert_int_equal(out.len, expected.len + 6);
            assert_memory_equal(out.data + 6, expected.data, expected.len);
            ki_buf_done(&expected);
        }
        assert_memory_equal(out.data, "before", 6);
    }
    ki_buf_done(&out);
    ki_object_unref(object);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static char many[] = MANY;
    static char secret[] = CORE("Secret", "'data':{'a':'Zm9vYmFy','b':'Zm9v','c':'Z\\/8='}");
    static char crd[] =
        CRD("{'additionalProperties':{'enum':[1,'x']},'items':[{}],'dependencies':{'a':['b']}}");
    test_alloc_sweep(scenario, many);
    test_alloc_sweep(scenario, secret);
    test_alloc_sweep(scenario, crd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_config_map),
        cmocka_unit_test(spellings_of_one_object),
        cmocka_unit_test(things_that_are_not_the_same),
        cmocka_unit_test(golden_vectors_are_written_as_go_writes_them),
        cmocka_unit_test(protobuf_objects_give_their_own_bytes),
        cmocka_unit_test(a_message_alone_gets_an_envelope),
        cmocka_unit_test(what_a_field_cannot_hold_is_named),
        cmocka_unit_test(the_place_is_that_of_the_value),
        cmocka_unit_test(a_kind_without_schema_is_refused),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(the_limit_of_the_buffer_is_kept),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

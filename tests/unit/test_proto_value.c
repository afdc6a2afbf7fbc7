/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf values: what each type reads as, what is shown and in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/path.h>

#include "object/proto/proto_value.h"
#include "support/proto.h"
#include "support/same_value.h"
#include "support/test.h"

static const char core[] = "v1";
static const char crd_group[] = "apiextensions.k8s.io/v1";
static const char crd_kind[] = "CustomResourceDefinition";

/* The value at a path, which must be there. */
static ki_value value_at(const ki_object *object, const char *text)
{
    ki_path *path;
    ki_value value = {0};
    assert_int_equal(ki_path_compile(text, NULL, &path, NULL), 0);
    int r = ki_object_get(object, path, &value);
    if (r < 0) {
        fail_msg("%s: %d", text, r);
    }
    ki_path_unref(path);
    return value;
}

static int look_for(const ki_object *object, const char *text)
{
    ki_path *path;
    ki_value value;
    assert_int_equal(ki_path_compile(text, NULL, &path, NULL), 0);
    int r = ki_object_get(object, path, &value);
    ki_path_unref(path);
    return r;
}

/* What a value is as JSON, with ' for ". */
static void check_json(const ki_value *value, const char *expected)
{
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_value_write_json(value, &text), 0);
    for (size_t i = 0; i < text.len; i++) {
        text.data[i] = text.data[i] == '"' ? '\'' : text.data[i];
    }
    assert_string_equal(ki_buf_text(&text), expected);
    ki_buf_done(&text);
}

typedef struct shown {
    const char *text; /* of the object */
    const char *path;
    const char *json;
} shown;

static void check_shown(const char *api_version, const char *kind, const shown *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ki_object *object = test_proto_object(api_version, kind, cases[i].text);
        ki_value value = value_at(object, cases[i].path);
        check_json(&value, cases[i].json);
        ki_object_unref(object);
    }
}

#define CHECK_SHOWN(api_version, kind, cases) \
    check_shown(api_version, kind, cases, sizeof(cases) / sizeof((cases)[0]))

/* ---- messages ---- */

static void members_come_as_on_the_wire_then_those_that_are_absent(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"", "$",
         "{'kind':'Pod','apiVersion':'v1','metadata':{},'spec':{'containers':null},"
         "'status':{}}"},
        {"3:{1:'Running'} 2:{10:'n' 2:{2:'i' 1:'c'}}", "$",
         "{'kind':'Pod','apiVersion':'v1','status':{'phase':'Running'},'spec':{'nodeName':'n',"
         "'containers':[{'image':'i','name':'c','resources':{}}]},'metadata':{}}"},
    };
    CHECK_SHOWN(core, "Pod", cases);
}

static void zero_is_shown_where_go_shows_it(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{3:'' 10:'' 11:0}", ".spec", "{'containers':null}"},
        {"2:{4:0 25:0 30:0 31:''}", ".spec",
         "{'terminationGracePeriodSeconds':0,'priority':0,'enableServiceLinks':false,"
         "'preemptionPolicy':'','containers':null}"},
        {"2:{2:{1:'' 2:'' 6:{2:0 3:0}}}", ".spec.containers[0]",
         "{'name':'','ports':[{'containerPort':0}],'resources':{}}"},
        {"2:{2:{6:{}}}", ".spec.containers[0]",
         "{'ports':[{'containerPort':0}],'name':'','resources':{}}"},
        {"3:{2:{}}", ".status.conditions[0]",
         "{'type':'','status':'','lastProbeTime':null,'lastTransitionTime':null}"},
        {"1:{8:{} 9:{} 10:0 7:0}", ".metadata",
         "{'deletionTimestamp':null,'deletionGracePeriodSeconds':0}"},
    };
    CHECK_SHOWN(core, "Pod", cases);
}

static void inline_messages_show_their_members_in_place(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{1:{1:'v' 2:{6:{1:'s'}}}}", ".spec.volumes[0]",
         "{'name':'v','secret':{'secretName':'s'}}"},
        {"2:{1:{2:{2:{} 6:{}} 1:'v'}}", ".spec.volumes[0]",
         "{'emptyDir':{},'secret':{},'name':'v'}"},
        {"2:{1:{2:{}}}", ".spec.volumes[0]", "{'name':''}"},
        {"2:{1:{1:'v'}}", ".spec.volumes[0]", "{'name':'v'}"},
        {"2:{1:{1:'v' 2:{6:{1:'s'}}}}", ".spec.volumes[0].secret.secretName", "'s'"},
    };
    CHECK_SHOWN(core, "Pod", cases);
    ki_object *pod = test_proto_object(core, "Pod", "2:{1:{1:'v' 2:{6:{1:'s'}}} 1:{1:'w'}}");
    assert_int_equal(look_for(pod, ".spec.volumes[0].emptyDir"), KI_ERR_NOT_FOUND);
    assert_int_equal(look_for(pod, ".spec.volumes[1].secret"), KI_ERR_NOT_FOUND);
    assert_int_equal(look_for(pod, ".spec.volumes[0].volumeSource"), KI_ERR_NOT_FOUND);
    assert_int_equal(look_for(pod, ".spec.volumes[0]['']"), KI_ERR_NOT_FOUND);
    ki_object_unref(pod);
    /* Inline messages in inline messages. */
#define RULES(text) "2:{2:{3:{" text "}}}"
#define RULES_PATH ".spec.matchConstraints.resourceRules[0]"
    static const shown rules[] = {
        {RULES("2:{2:{3:'pods' 1:''} 1:'CREATE'} 1:'n'"), RULES_PATH,
         "{'resources':['pods'],'apiGroups':[''],'operations':['CREATE'],'resourceNames':['n']}"},
        {RULES("2:{2:{} 1:'CREATE' 1:'UPDATE'}"), RULES_PATH, "{'operations':['CREATE','UPDATE']}"},
        {RULES("2:{2:{4:'*'}}"), RULES_PATH ".scope", "'*'"},
        {RULES("1:'n' 2:{1:'x'}"), RULES_PATH ".operations[0]", "'x'"},
    };
    CHECK_SHOWN("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", rules);
}

/* ---- scalars ---- */

static void numbers_and_booleans_read_as_go_reads_them(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{25:7}", ".spec.priority", "7"},
        {"2:{25:-7}", ".spec.priority", "-7"},
        {"2:{25:4294967295}", ".spec.priority", "-1"}, /* cut to 32 bits, as Go does */
        {"2:{25:4294967296}", ".spec.priority", "0"},
        {"2:{4:9223372036854775807}", ".spec.terminationGracePeriodSeconds", "9223372036854775807"},
        {"2:{4:-9223372036854775808}", ".spec.terminationGracePeriodSeconds",
         "-9223372036854775808"},
        {"2:{30:2}", ".spec.enableServiceLinks", "true"},
        {"2:{14:{4:1 4:-2 4:3}}", ".spec.securityContext.supplementalGroups", "[1,-2,3]"},
        {"2:{14:{4:1 4:-2 4:3}}", ".spec.securityContext.supplementalGroups[-1]", "3"},
        {"2:{11:4294967296}", ".spec.hostNetwork", "true"},
    };
    CHECK_SHOWN(core, "Pod", cases);
    ki_object *pod = test_proto_object(core, "Pod", "2:{25:7 30:1}");
    ki_value value = value_at(pod, ".spec.priority");
    ki_str text;
    int64_t number;
    double real;
    bool flag;
    assert_int_equal(ki_value_number_text(&value, &text), KI_ERR_NOT_PLAIN);
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 7);
    assert_int_equal(ki_value_double(&value, &real), 0);
    assert_true(real == 7);
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_TYPE);
    assert_int_equal(ki_value_bool(&value, &flag), KI_ERR_TYPE);
    value = value_at(pod, ".spec.enableServiceLinks");
    assert_int_equal(ki_value_bool(&value, &flag), 0);
    assert_true(flag);
    assert_int_equal(ki_value_int64(&value, &number), KI_ERR_TYPE);
    ki_object_unref(pod);
}

#define SCHEMA(text) "2:{7:{4:{1:{" text "}}}}"
#define SCHEMA_PATH ".spec.versions[0].schema.openAPIV3Schema"

static void doubles_read_as_go_writes_them(void **state)
{
    (void)state;
    static const shown cases[] = {
        {SCHEMA("9:d1.5"), SCHEMA_PATH ".maximum", "1.5"},
        {SCHEMA("9:d0"), SCHEMA_PATH ".maximum", "0"},
        {SCHEMA("9:d-0.1"), SCHEMA_PATH ".maximum", "-0.1"},
        {SCHEMA("9:d1e300"), SCHEMA_PATH ".maximum", "1e+300"},
        {SCHEMA("9:dinf"), SCHEMA_PATH ".maximum", "null"}, /* of which JSON knows nothing */
        {SCHEMA("9:dnan"), SCHEMA_PATH ".maximum", "null"},
    };
    CHECK_SHOWN(crd_group, crd_kind, cases);
    static const struct {
        const char *text;
        int code;
        int64_t number;
    } integers[] = {
        {SCHEMA("9:d3"), 0, 3},
        {SCHEMA("9:d-9007199254740993"), 0, -INT64_C(9007199254740992)},
        {SCHEMA("9:d1000000000000000128"), 0, INT64_C(1000000000000000100)}, /* as JSON has it */
        {SCHEMA("9:d9223372036854775808"), KI_ERR_RANGE, 0},
        {SCHEMA("9:d2.5"), KI_ERR_RANGE, 0},
        {SCHEMA("9:dinf"), KI_ERR_TYPE, 0},
    };
    for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
        ki_object *object = test_proto_object(crd_group, crd_kind, integers[i].text);
        ki_value value = value_at(object, SCHEMA_PATH ".maximum");
        int64_t number = 0;
        assert_int_equal(ki_value_int64(&value, &number), integers[i].code);
        assert_int_equal(number, integers[i].number);
        ki_object_unref(object);
    }
}

static void bytes_read_as_base64(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{1:'a' 2:'hello'}", ".data.a", "'aGVsbG8='"},
        {"2:{1:'a' 2:''} 2:{1:'b'}", ".data", "{'a':'','b':''}"},
    };
    CHECK_SHOWN(core, "Secret", cases);
    ki_object *secret = test_proto_object(core, "Secret", "2:{1:'a' 2:x'00ff80'}");
    ki_value value = value_at(secret, ".data.a");
    ki_str text;
    char room[8];
    assert_int_equal(ki_value_type(&value), KI_TYPE_STRING);
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_PLAIN);
    assert_int_equal(ki_value_get_string(&value, room, sizeof(room)), 4);
    assert_string_equal(room, "AP+A");
    assert_true(ki_value_equals(&value, ki_str_from("AP+A")));
    assert_false(ki_value_equals(&value, ki_str_from("AP+B")));
    assert_false(ki_value_equals(&value, ki_str_from("AP+")));
    ki_object_unref(secret);
    /* Absent, it is nil, which JSON shows as null where it shows it. */
    static const shown request[] = {
        {"2:{}", ".spec.request", "null"},
        {"2:{1:''}", ".spec.request", "''"},
    };
    CHECK_SHOWN("certificates.k8s.io/v1", "CertificateSigningRequest", request);
}

static void text_that_is_no_utf8_is_repaired(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object(
        core, "Pod",
        "1:{12:{1:x'61ff62' 2:x'ff'} 12:{1:'plain' 2:x'e28082'}} 2:{10:x'6ec328'} 3:{3:x'ef04'}");
    ki_value value = value_at(pod, ".spec.nodeName");
    ki_str text;
    char room[16];
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_PLAIN);
    assert_int_equal(ki_value_get_string(&value, room, sizeof(room)), 5);
    assert_string_equal(room, "n\xef\xbf\xbd(");
    assert_int_equal(ki_value_get_string(&value, room, 5), KI_ERR_LIMIT);
    assert_true(ki_value_equals(&value, ki_str_from("n\xef\xbf\xbd(")));
    assert_false(ki_value_equals(&value, ki_str_from("n\xc3("))); /* not even the stored bytes */
    assert_false(ki_value_equals(&value, ki_str_from("n\xef\xbf\xbd")));
    assert_false(ki_value_equals(&value, ki_str_from("n\xef\xbf\xbd)")));
    assert_false(ki_value_equals(&value, ki_str_from("n\xef\xbf\xbd((")));
    ki_value message = value_at(pod, ".status.message"); /* begins as U+FFFD does */
    assert_true(ki_value_equals(&message, ki_str_from("\xef\xbf\xbd\x04")));
    ki_value annotations = ki_object_annotations(pod);
    assert_int_equal(ki_value_member(&annotations,
                                     ki_str_from("a\xef\xbf\xbd"
                                                 "b"),
                                     &value),
                     0);
    assert_true(ki_value_equals(&value, ki_str_from("\xef\xbf\xbd")));
    assert_int_equal(ki_value_member(&annotations,
                                     ki_str_from("a\xff"
                                                 "b"),
                                     &value),
                     KI_ERR_NOT_FOUND);
    check_json(&annotations, "{'a\xef\xbf\xbd"
                             "b':'\xef\xbf\xbd','plain':'\xe2\x80\x82'}");
    ki_object_unref(pod);
}

static void strings_are_escaped_in_json(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{10:x'22'}", ".spec.nodeName", "'\\''"},
        {"2:{10:x'5c2f'}", ".spec.nodeName", "'\\\\/'"},
        {"2:{10:x'0a0d09'}", ".spec.nodeName", "'\\n\\r\\t'"},
        {"2:{10:x'00011f7f20'}", ".spec.nodeName", "'\\u0000\\u0001\\u001f\x7f '"},
        {"2:{10:x'616263646566676869226a6b6c6d'}", ".spec.nodeName", "'abcdefghi\\'jklm'"},
        {"2:{10:x'61626364656667c3a4686969690a'}", ".spec.nodeName", "'abcdefg\xc3\xa4hiii\\n'"},
    };
    CHECK_SHOWN(core, "Pod", cases);
}

/* ---- special types ---- */

static void times_read_as_rfc_3339(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"3:{7:{1:1700000000 2:0}}", ".status.startTime", "'2023-11-14T22:13:20Z'"},
        {"3:{7:{1:1700000000 2:999999999}}", ".status.startTime", "'2023-11-14T22:13:20Z'"},
        {"3:{7:{1:0}}", ".status.startTime", "'1970-01-01T00:00:00Z'"},
        {"3:{7:{2:5}}", ".status.startTime", "'1970-01-01T00:00:00Z'"},
        {"3:{7:{99:1}}", ".status.startTime", "'1970-01-01T00:00:00Z'"},
        {"3:{7:{1:-1}}", ".status.startTime", "'1969-12-31T23:59:59Z'"},
        {"3:{7:{}}", ".status.startTime", "null"},
        {"3:{7:{1:-62135596800}}", ".status.startTime", "null"}, /* Go's time that is none */
        {"1:{9:{}}", ".metadata.deletionTimestamp", "null"},
    };
    CHECK_SHOWN(core, "Pod", cases);
    ki_object *pod = test_proto_object(core, "Pod", "3:{7:{1:1700000000}} 1:{8:{1:-62135596800}}");
    ki_value value = value_at(pod, ".status.startTime");
    ki_str text;
    char room[32];
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_PLAIN);
    assert_int_equal(ki_value_get_string(&value, room, sizeof(room)), 20);
    assert_string_equal(room, "2023-11-14T22:13:20Z");
    assert_true(ki_value_equals(&value, ki_str_from("2023-11-14T22:13:20Z")));
    assert_false(ki_value_equals(&value, ki_str_from("2023-11-14T22:13:21Z")));
    assert_int_equal(look_for(pod, ".metadata.creationTimestamp"), KI_ERR_NOT_FOUND);
    ki_object_unref(pod);
}

static void micro_times_and_durations_read_as_text(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{3:{1:1700000000 2:123456789}}", ".spec.acquireTime", "'2023-11-14T22:13:20.123456Z'"},
        {"2:{3:{1:1700000000}}", ".spec.acquireTime", "'2023-11-14T22:13:20.000000Z'"},
        {"2:{3:{2:-1000}}", ".spec.acquireTime", "'1969-12-31T23:59:59.999999Z'"},
        {"2:{3:{}}", ".spec.acquireTime", "null"},
        {"2:{3:{1:-62135596800}}", ".spec.acquireTime", "null"},
        {"2:{3:{1:-62135596800 2:999}}", ".spec.acquireTime", "null"},
        {"2:{3:{1:-62135596800 2:1000}}", ".spec.acquireTime", "'0001-01-01T00:00:00.000001Z'"},
    };
    CHECK_SHOWN("coordination.k8s.io/v1", "Lease", cases);
    /* No kind has a duration today. */
    static const ki__schema_field duration = {.number = 1, .type = KI__SCHEMA_DURATION};
    ki_value value = ki__proto_value_of(&duration, ki_str_make("\x08\x80\xd2\xf4\x98\x1b", 6));
    check_json(&value, "'7.3s'");
    assert_true(ki_value_equals(&value, ki_str_from("7.3s")));
    value = ki__proto_value_of(&duration, ki_str_make("", 0));
    check_json(&value, "'0s'");
}

static void quantities_and_int_or_strings_read_as_json_shows_them(void **state)
{
    (void)state;
    static const shown pods[] = {
        {"2:{32:{1:'cpu' 2:{1:'100m'}} 32:{1:'x' 2:{}} 32:{1:'y'} 32:{2:{1:'1'}}}",
         ".spec.overhead", "{'cpu':'100m','x':'0','y':'0','':'1'}"},
    };
    CHECK_SHOWN(core, "Pod", pods);
    static const shown services[] = {
        {"2:{1:{3:80 4:{1:0 2:8080 3:''}}}", ".spec.ports[0]", "{'port':80,'targetPort':8080}"},
        {"2:{1:{3:80 4:{1:1 2:0 3:'http'}}}", ".spec.ports[0].targetPort", "'http'"},
        {"2:{1:{4:{2:-1}}}", ".spec.ports[0].targetPort", "-1"},
        {"2:{1:{4:{}}}", ".spec.ports[0].targetPort", "0"},
        {"2:{1:{}}", ".spec.ports[0]", "{'port':0,'targetPort':0}"},
        {"2:{1:{4:{1:1}}}", ".spec.ports[0].targetPort", "''"},
        {"2:{1:{4:{1:7 2:1}}}", ".spec.ports[0].targetPort", "null"}, /* Go writes none at all */
    };
    CHECK_SHOWN(core, "Service", services);
}

static void embedded_json_reads_as_json(void **state)
{
    (void)state;
    static const shown cases[] = {
        {"2:{1:x'7b2261223a5b312c325d7d'} 3:5", ".data", "{'a':[1,2]}"},
        {"2:{1:x'7b2261223a5b312c325d7d'} 3:5", ".data.a[1]", "2"},
        {"2:{1:' {} '} 3:5", ".data", "{}"},
        {"2:{1:'[]'} 3:5", ".data", "[]"},
        {"2:{1:x'2274657874220a'}", ".data", "'text'"},
        {"2:{1:'12'} #3200", ".data", "12"}, /* not 12 and what comes after it */
        {"2:{1:' 1.5e3 '} 3:5", ".data", "1.5e3"},
        {"2:{1:'true'} #7200", ".data", "true"}, /* nor here */
        {"2:{1:'false'}", ".data", "false"},
        {"2:{1:'null'}", ".data", "null"},
        {"2:{1:' null '}", ".data", "null"},
        {"2:{1:''}", ".data", "null"},
        {"2:{}", ".data", "null"},
        {"", ".data", "null"},
        {"2:{1:'{'}", ".data", "'ew=='"}, /* no JSON */
        {"2:{1:'nul'}", ".data", "'bnVs'"},
        {"2:{1:x'22ff22'}", ".data", "'Iv8i'"},
    };
    CHECK_SHOWN("apps/v1", "ControllerRevision", cases);
    ki_object *object = test_proto_object("apps/v1", "ControllerRevision", "2:{1:'12'} #3200");
    ki_value value = value_at(object, ".data");
    ki_str text;
    int64_t number;
    double real;
    assert_int_equal(ki_value_number_text(&value, &text), 0);
    assert_str(text, "12");
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 12);
    assert_int_equal(ki_value_double(&value, &real), 0);
    assert_true(real == 12);
    ki_object_unref(object);
}

static void embedded_json_that_is_too_deep_is_bytes(void **state)
{
    (void)state;
    for (size_t depth = 128; depth <= 129; depth++) {
        ki_buf text;
        ki_buf_init(&text, NULL, 4096);
        test_add(&text, "2:{1:'", 1);
        test_add(&text, "[", depth);
        test_add(&text, "]", depth);
        test_add(&text, "'}", 1);
        ki_object *object = test_proto_object("apps/v1", "ControllerRevision", ki_buf_text(&text));
        ki_value value = value_at(object, ".data");
        assert_int_equal(ki_value_type(&value), depth == 128 ? KI_TYPE_LIST : KI_TYPE_STRING);
        ki_object_unref(object);
        ki_buf_done(&text);
    }
}

static void lists_in_messages_and_choices_read_as_json_shows_them(void **state)
{
    (void)state;
    static const shown reviews[] = {
        {"2:{5:{1:'a' 2:{1:'x' 1:'y'}} 5:{1:'b' 2:{}} 5:{1:'c'} 5:{1:'d' 2:{9:1}}}", ".spec.extra",
         "{'a':['x','y'],'b':[],'c':[],'d':[]}"},
        {"2:{5:{1:'a' 2:{9:1 1:'x' 1:'y'}}}", ".spec.extra.a[1]", "'y'"},
    };
    CHECK_SHOWN("authorization.k8s.io/v1", "SubjectAccessReview", reviews);
    static const shown resources[] = {
        {"2:{}", ".resources[0]",
         "{'name':'','namespaced':false,'kind':'','verbs':null,'singularName':''}"},
        {"2:{4:{}}", ".resources[0].verbs", "[]"},
        {"2:{4:{1:'get' 1:'list'}}", ".resources[0].verbs", "['get','list']"},
    };
    CHECK_SHOWN(core, "APIResourceList", resources);
    static const shown schemas[] = {
        {SCHEMA("30:{1:1}"), SCHEMA_PATH, "{'additionalProperties':true}"},
        {SCHEMA("30:{1:0}"), SCHEMA_PATH, "{'additionalProperties':false}"},
        {SCHEMA("30:{}"), SCHEMA_PATH, "{'additionalProperties':false}"},
        {SCHEMA("30:{1:1 2:{5:'t'}}"), SCHEMA_PATH ".additionalProperties.type", "'t'"},
        {SCHEMA("24:{1:{5:'t'}}"), SCHEMA_PATH ".items", "{'type':'t'}"},
        {SCHEMA("24:{1:{5:'t'} 2:{5:'u'} 2:{}}"), SCHEMA_PATH ".items", "[{'type':'u'},{}]"},
        {SCHEMA("24:{}"), SCHEMA_PATH ".items", "null"},
        {SCHEMA("32:{1:'a' 2:{2:'x' 2:'y'}} 32:{1:'b' 2:{1:{5:'t'}}} 32:{1:'c'}"),
         SCHEMA_PATH ".dependencies", "{'a':['x','y'],'b':{'type':'t'},'c':null}"},
        {SCHEMA("20:{1:'1'} 20:{1:'[2]'} 20:{}"), SCHEMA_PATH ".enum", "[1,[2],null]"},
        {SCHEMA("29:{1:'a' 2:{5:'t'}} 29:{1:'b'}"), SCHEMA_PATH ".properties",
         "{'a':{'type':'t'},'b':{}}"},
    };
    CHECK_SHOWN(crd_group, crd_kind, schemas);
}

/* ---- maps, lists and walks ---- */

static void maps_are_found_by_key_the_first_counts(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object(
        core, "Pod",
        "1:{11:{1:'a' 2:'1'} 11:{2:'2' 1:'b'} 11:{1:'a' 2:'3'} 11:{2:'4'} 11:{1:'c'}} 11:'x'");
    ki_value labels = ki_object_labels(pod);
    ki_value value;
    assert_int_equal(ki_value_count(&labels), 5);
    static const char *const found[][2] = {{"a", "1"}, {"b", "2"}, {"", "4"}, {"c", ""}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ki_value_member(&labels, ki_str_from(found[i][0]), &value), 0);
        assert_true(ki_value_equals(&value, ki_str_from(found[i][1])));
    }
    assert_int_equal(ki_value_member(&labels, ki_str_from("d"), &value), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_value_element(&labels, 0, &value), KI_ERR_TYPE);
    ki_object_unref(pod);
}

/* Walks everything below a value; places must go forward. */
static size_t walk_forward(const ki_value *value)
{
    ki_value_iter iter;
    ki_value key;
    ki_value child;
    size_t count = 1;
    if (ki_value_iter_begin(value, &iter) < 0) {
        return 1;
    }
    uintptr_t place = (uintptr_t)iter.next;
    while (ki_value_iter_next(&iter, &key, &child) > 0) {
        assert_true((uintptr_t)iter.next >= place);
        place = (uintptr_t)iter.next;
        count += walk_forward(&child);
    }
    assert_int_equal(ki_value_iter_next(&iter, &key, &child), 0);
    assert_true((uintptr_t)iter.next >= place);
    return count;
}

static void walks_go_forward_in_the_bytes(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object(
        core, "Pod",
        "3:{1:'Running' 2:{1:'Ready'}} 1:{1:'w' 11:{1:'a' 2:'1'} 17:{7:{1:'[1,[2]]'}} 3:'n'}"
        "2:{1:{2:{6:{1:'s'} 2:{}} 1:'v'} 1:{} 2:{1:'c' 6:{3:80} 6:{3:81}}}");
    ki_value root = ki_object_root(pod);
    assert_int_equal(walk_forward(&root), 40);
    ki_object_unref(pod);
}

static void unknown_fields_are_left_out_and_reported(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object(
        core, "Pod", "1:{1:'w' 99:'x'} 2:{10:'n' 60:{1:1} 1:{1:'v' 2:{99:{}}} 1:{1:'w'}} 99:d1");
    assert_false(ki_object_is_complete(pod));
    ki_value root = ki_object_root(pod);
    check_json(&root, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'w'},'spec':{'nodeName':"
                      "'n','volumes':[{'name':'v'},{'name':'w'}],'containers':null},'status':{}}");
    static const struct {
        const char *path;
        int code;
    } cases[] = {
        {".spec.newField", KI_ERR_NO_SCHEMA},
        {".metadata.newField", KI_ERR_NO_SCHEMA},
        {".newField.deeper", KI_ERR_NO_SCHEMA},
        {".spec.volumes[0].newSource", KI_ERR_NO_SCHEMA}, /* unknown in what is inline */
        {".spec.volumes[*].newSource", KI_ERR_NO_SCHEMA},
        {".spec.volumes[1].newSource", KI_ERR_NOT_FOUND},
        {".status.newField", KI_ERR_NOT_FOUND},
        {".spec.hostname", KI_ERR_NOT_FOUND}, /* known, so it is certain */
        {".spec.nodeName", 0},
        {".spec['newField','nodeName']", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(look_for(pod, cases[i].path), cases[i].code);
    }
    ki_object_unref(pod);
    pod = test_proto_object(core, "Pod", "2:{10:'n'}");
    assert_true(ki_object_is_complete(pod));
    assert_int_equal(look_for(pod, ".spec.newField"), KI_ERR_NOT_FOUND);
    ki_object_unref(pod);
}

static void walks_of_paths_report_missing_schemas_too(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object(core, "Pod", "2:{10:'n' 60:1}");
    ki_value root = ki_object_root(pod);
    static const struct {
        const char *path;
        int first;
        int second;
    } cases[] = {
        {".spec.newField", KI_ERR_NO_SCHEMA, KI_ERR_NO_SCHEMA},
        {".spec['nodeName','newField']", 1, 0},
        {".status.newField", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_path *path;
        ki_path_iter *iter;
        ki_value value;
        assert_int_equal(ki_path_compile(cases[i].path, NULL, &path, NULL), 0);
        assert_int_equal(ki_path_iter_begin(path, &root, &iter), 0);
        assert_int_equal(ki_path_iter_next(iter, &value), cases[i].first);
        assert_int_equal(ki_path_iter_next(iter, &value), cases[i].second);
        ki_path_iter_end(iter);
        ki_path_unref(path);
    }
    ki_object_unref(pod);
}

static void paths_filter_slice_and_descend(void **state)
{
    (void)state;
    static const char pod[] =
        "2:{2:{1:'a' 2:'x:1' 6:{3:80} 6:{3:443}} 2:{1:'b' 2:'y:2'} 2:{1:'c' 2:'x:1'}}"
        "3:{2:{1:'Ready' 2:'True' 4:{1:1700000000}} 2:{1:'Other' 2:'False'} 7:{1:5}}";
    static const shown cases[] = {
        {pod, ".status.conditions[?(@.type=='Ready')].status", "'True'"},
        {pod, ".status.conditions[?(@.lastTransitionTime>'2023')].type", "'Ready'"},
        {pod, ".spec.containers[1:].name", "'b'"},
        {pod, ".spec.containers[-1].name", "'c'"},
        {pod, ".spec.containers[?(@.ports[0].containerPort<100)].name", "'a'"},
        {pod, "..containerPort", "80"},
        {pod, "..ports[1].containerPort", "443"},
        {pod, ".spec.containers[?(@.image=='x:1')].name", "'a'"},
        {pod, ".status['startTime','phase']", "'1970-01-01T00:00:05Z'"},
    };
    CHECK_SHOWN(core, "Pod", cases);
}

/* ---- the tables ---- */

/* What the reader relies on, and tables of another release might not keep. */
static void the_tables_need_no_more_than_the_reader_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < ki__schema_message_count; i++) {
        const ki__schema_message *message = &ki__schema_messages[i];
        for (size_t j = 0; j < message->field_count; j++) {
            const ki__schema_field *field = &ki__schema_fields[message->first_field + j];
            bool time = field->type == KI__SCHEMA_TIME || field->type == KI__SCHEMA_MICRO_TIME;
            /* Whether a plain message is zero would need a look at all that is in it. */
            assert_true((field->flags & KI__SCHEMA_OMIT_ZERO) == 0 || time);
            assert_true((field->flags & KI__SCHEMA_INLINE) == 0 ||
                        field->flags == KI__SCHEMA_INLINE);
            assert_true((field->flags & KI__SCHEMA_REPEATED) == 0 ||
                        (field->flags & (KI__SCHEMA_MAP | KI__SCHEMA_POINTER)) == 0);
        }
    }
}

/* ---- memory ---- */

static int write_scenario(const ki_alloc *alloc, void *user)
{
    const ki_object *object = user;
    ki_buf out;
    ki_buf_init(&out, alloc, SAME_TEXT_MAX);
    int r = ki_buf_add_text(&out, "before");
    if (r >= 0) {
        r = ki_object_write_json(object, &out);
        if (r < 0) {
            assert_string_equal(ki_buf_text(&out), "before");
        }
    }
    ki_buf_done(&out);
    return r;
}

static void writing_survives_every_failed_allocation_and_limit(void **state)
{
    (void)state;
    ki_buf text;
    ki_buf_init(&text, NULL, SAME_TEXT_MAX);
    test_add(&text, "2:{7:{4:{1:{", 1);
    test_add(&text, "28:{5:'t' ", 60); /* deeper than what needs no memory */
    test_add(&text, "}", 64);
    ki_object *object = test_proto_object(crd_group, crd_kind, ki_buf_text(&text));
    test_alloc_sweep(write_scenario, object);
    ki_buf whole;
    ki_buf_init(&whole, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_object_write_json(object, &whole), 0);
    for (size_t max = 0; max <= whole.len; max++) {
        ki_buf out;
        ki_buf_init(&out, NULL, max);
        assert_int_equal(ki_object_write_json(object, &out), max < whole.len ? KI_ERR_LIMIT : 0);
        assert_int_equal(out.len, max < whole.len ? 0 : whole.len);
        ki_buf_done(&out);
    }
    ki_buf_done(&whole);
    ki_buf_done(&text);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_as_on_the_wire_then_those_that_are_absent),
        cmocka_unit_test(zero_is_shown_where_go_shows_it),
        cmocka_unit_test(inline_messages_show_their_members_in_place),
        cmocka_unit_test(numbers_and_booleans_read_as_go_reads_them),
        cmocka_unit_test(doubles_read_as_go_writes_them),
        cmocka_unit_test(bytes_read_as_base64),
        cmocka_unit_test(text_that_is_no_utf8_is_repaired),
        cmocka_unit_test(strings_are_escaped_in_json),
        cmocka_unit_test(times_read_as_rfc_3339),
        cmocka_unit_test(micro_times_and_durations_read_as_text),
        cmocka_unit_test(quantities_and_int_or_strings_read_as_json_shows_them),
        cmocka_unit_test(embedded_json_reads_as_json),
        cmocka_unit_test(embedded_json_that_is_too_deep_is_bytes),
        cmocka_unit_test(lists_in_messages_and_choices_read_as_json_shows_them),
        cmocka_unit_test(maps_are_found_by_key_the_first_counts),
        cmocka_unit_test(walks_go_forward_in_the_bytes),
        cmocka_unit_test(unknown_fields_are_left_out_and_reported),
        cmocka_unit_test(walks_of_paths_report_missing_schemas_too),
        cmocka_unit_test(paths_filter_slice_and_descend),
        cmocka_unit_test(the_tables_need_no_more_than_the_reader_does),
        cmocka_unit_test(writing_survives_every_failed_allocation_and_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

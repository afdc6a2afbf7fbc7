/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf objects as a whole: envelopes, kinds, metadata, limits, memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/field_selector.h>
#include <kinformer/label_selector.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/selector.h>

#include "object/object.h"
#include "support/proto.h"
#include "support/same_value.h"
#include "support/test.h"

#define BYTES_MAX ((size_t)1 << 24)

static const char pod_text[] =
    "1:{1:'web-0' 3:'shop' 5:'u-1' 6:'77' 7:3 8:{1:1700000000} 9:{1:1700000001}"
    " 11:{1:'app' 2:'web'} 11:{1:'n' 2:'7'} 12:{1:'note' 2:'x'}"
    " 13:{1:'ReplicaSet' 3:'other' 4:'u-0' 5:'apps/v1'}"
    " 13:{1:'ReplicaSet' 3:'web' 4:'u-2' 5:'apps/v1' 6:1} 14:'a/b' 14:'c'}"
    "2:{10:'node-1'}";

/* ---- making ---- */

typedef struct input {
    const char *text; /* as test_proto() reads it, or */
    const char *kind; /* of the options */
    const char *api_version;
    size_t max_bytes;
    const ki_alloc *alloc;
} input;

static int make(const input *in, ki_object **ret_object, ki_error *error)
{
    const ki_object_options options = {.alloc = in->alloc,
                                       .max_bytes = in->max_bytes,
                                       .default_kind = in->kind,
                                       .default_api_version = in->api_version};
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, BYTES_MAX);
    test_proto(&bytes, in->text);
    int r = ki_object_from_protobuf(bytes.data, bytes.len, &options, ret_object, error);
    ki_buf_done(&bytes);
    return r;
}

/* An envelope: the magic and what test_proto() reads. */
#define ENVELOPE(text) "#6b387300 " text

static void an_envelope_names_the_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *kind;
        const char *api_version;
    } cases[] = {
        {ENVELOPE("1:{1:'v1' 2:'Pod'} 2:{1:{1:'w'}} 3:'' 4:''"), "Pod", "v1"},
        {ENVELOPE("2:{1:{1:'w'}} 1:{2:'Pod' 1:'v1'}"), "Pod", "v1"}, /* in any order */
        {ENVELOPE("1:{1:'v1' 2:'Pod'} 2:{1:{1:'w'}} 4:'application/vnd.kubernetes.protobuf'"),
         "Pod", "v1"},
        {ENVELOPE("1:{1:'v1' 2:'Pod' 9:1} 2:{1:{1:'w'}} 9:'x'"), "Pod", "v1"},
        {ENVELOPE("1:{} 2:{1:{1:'w'}}"), "Default", "example.org/v1"}, /* the options' */
        {ENVELOPE("2:{1:{1:'w'}}"), "Default", "example.org/v1"},
        {ENVELOPE("1:{2:'Pod'} 2:{1:{1:'w'}}"), "Pod", "example.org/v1"},
        {"1:{1:'w'}", "Default", "example.org/v1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const input in = {cases[i].text, "Default", "example.org/v1", 0, NULL};
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        if (make(&in, &object, &error) < 0) {
            fail_msg("%s: %s", cases[i].text, error.message);
        }
        assert_string_equal(ki_object_kind(object), cases[i].kind);
        assert_string_equal(ki_object_api_version(object), cases[i].api_version);
        assert_string_equal(ki_object_name(object), "w");
        assert_int_equal(ki_object_is_complete(object), strcmp(cases[i].api_version, "v1") == 0);
        assert_int_equal(ki_object_encoding(object), KI_ENCODING_PROTOBUF);
        ki_object_unref(object);
    }
}

static void an_envelope_may_be_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {ENVELOPE("1:{1:'v1' 2:'Pod'}"),
                                        ENVELOPE("1:{1:'v1' 2:'Pod'} 2:''"), ""};
    for (size_t i = 0; i < 3; i++) {
        const input in = {texts[i], "Pod", "v1", 0, NULL};
        ki_object *object;
        ki_buf json;
        assert_int_equal(make(&in, &object, NULL), 0);
        assert_string_equal(ki_object_key(object), "");
        ki_buf_init(&json, NULL, BYTES_MAX);
        assert_int_equal(ki_object_write_json(object, &json), 0);
        assert_string_equal(ki_buf_text(&json),
                            "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{},\"spec\":{"
                            "\"containers\":null},\"status\":{}}");
        ki_buf_done(&json);
        ki_object_unref(object);
    }
    ki_object *object;
    assert_int_equal(ki_object_from_protobuf(NULL, 0, NULL, &object, NULL), 0);
    assert_string_equal(ki_object_kind(object), "");
    assert_false(ki_object_is_complete(object));
    assert_int_equal(ki_object_bytes(object).len, 0);
    ki_object_unref(object);
}

static void bad_envelopes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        size_t offset;
    } cases[] = {
        {"#6b3873", KI_ERR_SYNTAX, 0}, /* no magic, then a group */
        {"#6b387301", KI_ERR_SYNTAX, 0},
        {ENVELOPE("1:7"), KI_ERR_INVALID, 4},
        {ENVELOPE("2:7"), KI_ERR_INVALID, 4},
        {ENVELOPE("2:{} 2:{}"), KI_ERR_INVALID, 6},
        {ENVELOPE("1:{1:'v1' 1:'v1'}"), KI_ERR_INVALID, 10},
        {ENVELOPE("1:{2:7}"), KI_ERR_INVALID, 6},
        {ENVELOPE("#0a05"), KI_ERR_SYNTAX, 5},
        {ENVELOPE("1:x'0a05'"), KI_ERR_SYNTAX, 7},
        {ENVELOPE("1:{1:'v1' 2:'Pod'} 2:{1:{1:7}}"), KI_ERR_INVALID, 19},
        {ENVELOPE("1:{1:x'7600'}"), KI_ERR_INVALID, 8}, /* a NUL */
        {ENVELOPE("1:{1:'v1' 2:'Pod'} 2:{} 3:'gzip'"), KI_ERR_UNSUPPORTED, 17},
        {ENVELOPE("1:{1:'v1' 2:'Pod'} 2:{} 4:'application/json'"), KI_ERR_UNSUPPORTED, 17},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const input in = {cases[i].text, NULL, NULL, 0, NULL};
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = make(&in, &object, &error);
        if (r != cases[i].code || error.offset != cases[i].offset || error.code != r) {
            fail_msg("%s: %d at %zu: %s", cases[i].text, r, error.offset, error.message);
        }
        assert_int_equal(make(&in, &object, NULL), r);
        assert_null(object);
    }
}

/* ---- unknown kinds ---- */

static void unknown_kinds_are_kept_and_their_metadata_read(void **state)
{
    (void)state;
    ki_object *object = test_proto_object("example.org/v1", "Thing", pod_text);
    assert_false(ki_object_is_complete(object));
    assert_string_equal(ki_object_key(object), "shop/web-0");
    assert_int_equal(ki_object_generation(object), 3);
    ki_value value = ki_object_root(object);
    ki_value member;
    assert_int_equal(ki_value_member(&value, ki_str_from("spec"), &member), KI_ERR_NO_SCHEMA);
    assert_int_equal(ki_value_member(&value, ki_str_from("kind"), &member), 0);
    assert_true(ki_value_equals(&member, ki_str_from("Thing")));
    assert_int_equal(ki_value_member(&value, ki_str_from("metadata"), &member), 0);
    assert_int_equal(ki_value_count(&value), 3);
    ki_object_unref(object);
}

static void of_unknown_kinds_field_1_may_be_anything(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1:7 2:{}",
        "1:'w'",               /* no message */
        "1:{1:7}",             /* other types */
        "1:{1:'a'} 1:{1:'b'}", /* a list */
        "1:{1:x'6100'}",       /* a name with a NUL */
        "1:{1:'a' 11:{1:1}}",
        "2:'x'",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_object *object = test_proto_object("example.org/v1", "Thing", texts[i]);
        assert_string_equal(ki_object_key(object), "");
        assert_int_equal(ki_object_creation_time(object), 0);
        assert_false(ki_object_is_complete(object));
        ki_buf json;
        ki_buf_init(&json, NULL, BYTES_MAX);
        assert_int_equal(ki_object_write_json(object, &json), 0);
        assert_non_null(strstr(ki_buf_text(&json), "\"kind\":\"Thing\""));
        ki_value root = ki_object_root(object);
        ki_value member;
        assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &member), KI_ERR_NO_SCHEMA);
        ki_buf_done(&json);
        ki_object_unref(object);
    }
}

static void unknown_kinds_must_be_well_formed(void **state)
{
    (void)state;
    const input in = {"1:{1:'w'} #0a05", "Thing", "example.org/v1", 0, NULL};
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(make(&in, &object, &error), KI_ERR_SYNTAX);
    assert_int_equal(error.offset, 6);
}

/* ---- metadata ---- */

static void accessors_read_the_metadata(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object("v1", "Pod", pod_text);
    assert_true(ki_object_is_complete(pod));
    assert_string_equal(ki_object_key(pod), "shop/web-0");
    assert_string_equal(ki_object_name(pod), "web-0");
    assert_string_equal(ki_object_namespace(pod), "shop");
    assert_string_equal(ki_object_uid(pod), "u-1");
    assert_string_equal(ki_object_resource_version(pod), "77");
    assert_int_equal(ki_object_generation(pod), 3);
    assert_int_equal(ki_object_creation_time(pod), 1700000000);
    assert_int_equal(ki_object_deletion_time(pod), 1700000001);
    assert_true(ki_object_is_deleting(pod));
    assert_str(ki_object_label(pod, "app"), "web");
    assert_true(ki_object_has_label(pod, "app"));
    assert_false(ki_object_has_label(pod, "a"));
    assert_true(ki_object_has_annotation(pod, "note"));
    ki_owner owner = {0};
    assert_int_equal(ki_object_controller(pod, &owner), 0);
    assert_str(owner.kind, "ReplicaSet");
    assert_str(owner.name, "web");
    assert_str(owner.uid, "u-2");
    assert_str(owner.api_version, "apps/v1");
    ki_value finalizers = ki_object_finalizers(pod);
    ki_value second = ki_value_at(&finalizers, "[1]");
    assert_true(ki_value_equals_text(&second, "c"));
    ki_object_unref(pod);
}

static void what_is_absent_is_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "1:{}", "1:{1:'' 8:{} 9:{} 7:0}",
                                        "1:{9:{1:-62135596800}}", "2:{10:'n'}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_object *pod = test_proto_object("v1", "Pod", texts[i]);
        assert_string_equal(ki_object_key(pod), "");
        assert_int_equal(ki_object_generation(pod), 0);
        assert_int_equal(ki_object_creation_time(pod), 0);
        assert_int_equal(ki_object_deletion_time(pod), 0);
        assert_false(ki_object_is_deleting(pod));
        ki_value values[] = {ki_object_labels(pod), ki_object_annotations(pod),
                             ki_object_owner_references(pod), ki_object_finalizers(pod)};
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(ki_value_type(&values[j]), KI_TYPE_NONE);
        }
        ki_owner owner = {0};
        assert_int_equal(ki_object_controller(pod, &owner), KI_ERR_NOT_FOUND);
        ki_object_unref(pod);
    }
}

/* What stands after metadata may have the very tag of what stands last in it. */
static void labels_end_with_the_metadata(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object("v1", "Pod", "1:{11:{1:'a' 2:'b'}} 11:{1:'c' 2:'d'}");
    ki_value labels = ki_object_labels(pod);
    assert_int_equal(ki_value_count(&labels), 1);
    assert_false(ki_object_has_label(pod, "c"));
    ki_str text;
    assert_int_equal(ki__object_label_text(pod, ki_str_from("c"), &text), 0);
    assert_int_equal(ki__object_label_text(pod, ki_str_from("a"), &text), 1);
    assert_str(text, "b");
    ki_object_unref(pod);
}

static void lists_have_the_metadata_of_lists(void **state)
{
    (void)state;
    ki_object *list = test_proto_object("v1", "PodList", "1:{2:'90' 3:'c'} 2:{1:{1:'a'}} 2:{}");
    assert_string_equal(ki_object_resource_version(list), "90");
    assert_string_equal(ki_object_name(list), "");
    ki_buf json;
    ki_buf_init(&json, NULL, BYTES_MAX);
    assert_int_equal(ki_object_write_json(list, &json), 0);
    assert_non_null(strstr(ki_buf_text(&json), "\"items\":[{\"metadata\":{\"name\":\"a\"},"));
    ki_buf_done(&json);
    ki_object_unref(list);
    list = test_proto_object("meta.k8s.io/v1beta1", "PartialObjectMetadataList", "2:{2:'90'} 1:{}");
    assert_string_equal(ki_object_resource_version(list), "90"); /* there it is field 2 */
    ki_object_unref(list);
}

static void identity_strings_are_repaired_and_limited(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object("v1", "Pod", "1:{1:x'61ff62' 3:x'ff' 5:x'c3a4'}");
    assert_string_equal(ki_object_name(pod), "a\xef\xbf\xbd"
                                             "b");
    assert_string_equal(ki_object_key(pod), "\xef\xbf\xbd/a\xef\xbf\xbd"
                                            "b");
    assert_string_equal(ki_object_uid(pod), "\xc3\xa4");
    ki_object_unref(pod);
    static const struct {
        const char *byte;
        size_t count;
        int code;
    } cases[] = {
        {"61", 1024, 0},
        {"61", 1025, KI_ERR_LIMIT},
        {"ff", 341, 0}, /* each reads as three */
        {"ff", 342, KI_ERR_LIMIT},
        {"00", 1, KI_ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf text;
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        ki_buf_init(&text, NULL, BYTES_MAX);
        test_add(&text, "1:{3:'n' 6:x'", 1);
        test_add(&text, cases[i].byte, cases[i].count);
        test_add(&text, "'}", 1);
        const input in = {ki_buf_text(&text), "Pod", "v1", 0, NULL};
        assert_int_equal(make(&in, &object, &error), cases[i].code);
        if (cases[i].code < 0) {
            assert_non_null(strstr(error.message, "metadata.resourceVersion"));
            assert_true(error.offset >= 7 && error.offset <= 9);
        }
        ki_object_unref(object);
        ki_buf_done(&text);
    }
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    const input large = {pod_text, "Pod", "v1", 20, NULL};
    assert_int_equal(make(&large, &object, &error), KI_ERR_LIMIT);
    const ki_object_options deep = {.max_depth = 1025};
    assert_int_equal(ki_object_from_protobuf("", 0, &deep, &object, &error), -EINVAL);
    assert_int_equal(ki_object_from_protobuf(NULL, 1, NULL, &object, &error), -EINVAL);
}

/* ---- the rest ---- */

static void the_bytes_stay_as_they_came(void **state)
{
    (void)state;
    ki_buf message;
    ki_buf bytes;
    ki_object *pod;
    ki_buf_init(&message, NULL, BYTES_MAX);
    ki_buf_init(&bytes, NULL, BYTES_MAX);
    test_proto(&message, pod_text);
    test_proto_envelope(&bytes, "v1", "Pod", ki_buf_str(&message));
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &pod, NULL), 0);
    assert_true(ki_str_eq(ki_object_bytes(pod), ki_buf_str(&bytes)));
    assert_true(ki_object_memory(pod) <= bytes.len * 65 / 64 + 200);
    assert_string_equal(ki_object_key(pod), "shop/web-0");
    ki_object *again = ki_object_ref(pod);
    assert_null(ki_object_unref(pod));
    assert_string_equal(ki_object_name(again), "web-0");
    ki_object_unref(again);
    ki_buf_done(&bytes);
    ki_buf_done(&message);
}

static bool matches(const ki_object *object, const char *text)
{
    ki_selector *selector;
    assert_int_equal(ki_selector_parse(text, NULL, &selector, NULL), 0);
    bool fits = ki_selector_matches(selector, object);
    ki_value labels = ki_object_labels(object);
    assert_int_equal(ki_selector_matches_labels(selector, &labels), fits);
    ki_selector_unref(selector);
    return fits;
}

static void selectors_match_labels_and_fields(void **state)
{
    (void)state;
    ki_object *pod = test_proto_object("v1", "Pod", pod_text);
    ki_object *bare = test_proto_object("v1", "Pod", "1:{1:'w'}");
    ki_object *odd = test_proto_object("v1", "Pod", "1:{11:{2:'web' 1:'app'} 11:{1:'n' 2:x'ff'}}");
    assert_true(matches(pod, "app=web"));
    assert_true(matches(pod, "app in (a,web),n,!x"));
    assert_true(matches(pod, "n>6,n<8"));
    assert_false(matches(pod, "app!=web"));
    assert_false(matches(pod, "note=x"));
    assert_false(matches(bare, "app=web"));
    assert_true(matches(bare, "app!=web,!app"));
    assert_true(matches(odd, "app=web,n!=7,n"));
    assert_false(matches(odd, "n>1"));
    ki_field_selector *fields;
    assert_int_equal(
        ki_field_selector_parse("spec.nodeName=node-1,metadata.name=web-0", NULL, &fields, NULL),
        0);
    assert_true(ki_field_selector_matches(fields, pod));
    assert_false(ki_field_selector_matches(fields, bare));
    ki_field_selector_unref(fields);
    ki_object_unref(odd);
    ki_object_unref(bare);
    ki_object_unref(pod);
}

static int make_scenario(const ki_alloc *alloc, void *user)
{
    input in = *(const input *)user;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    in.alloc = alloc;
    int r = make(&in, &object, &error);
    if (r < 0) {
        assert_int_equal(error.code, r);
        assert_null(object);
        return r;
    }
    assert_string_equal(ki_object_key(object), "shop/web-0");
    ki_object_unref(object);
    return 0;
}

static void making_survives_every_failed_allocation(void **state)
{
    (void)state;
    input known = {pod_text, "Pod", "v1", 0, NULL};
    test_alloc_sweep(make_scenario, &known);
    input unknown = {pod_text, "Thing", "example.org/v1", 0, NULL};
    test_alloc_sweep(make_scenario, &unknown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_envelope_names_the_kind),
        cmocka_unit_test(an_envelope_may_be_empty),
        cmocka_unit_test(bad_envelopes_are_refused),
        cmocka_unit_test(unknown_kinds_are_kept_and_their_metadata_read),
        cmocka_unit_test(of_unknown_kinds_field_1_may_be_anything),
        cmocka_unit_test(unknown_kinds_must_be_well_formed),
        cmocka_unit_test(accessors_read_the_metadata),
        cmocka_unit_test(what_is_absent_is_empty),
        cmocka_unit_test(labels_end_with_the_metadata),
        cmocka_unit_test(lists_have_the_metadata_of_lists),
        cmocka_unit_test(identity_strings_are_repaired_and_limited),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(the_bytes_stay_as_they_came),
        cmocka_unit_test(selectors_match_labels_and_fields),
        cmocka_unit_test(making_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

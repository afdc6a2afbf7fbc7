/* SPDX-License-Identifier: Apache-2.0 */
/* threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "support/test.h"

static const char pod[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-0\","
    "\"namespace\":\"shop\",\"uid\":\"0f3c\",\"resourceVersion\":\"12345\",\"generation\":7,"
    "\"creationTimestamp\":\"2024-02-29T12:30:00Z\",\"deletionTimestamp\":null,"
    "\"labels\":{\"app\":\"web\",\"n\":1},\"annotations\":{\"note\":\"a\\nb\"},"
    "\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"x\"},{\"apiVersion\":\"apps/v1\","
    "\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"77\",\"controller\":true}],"
    "\"finalizers\":[\"a/b\"]},\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}}";

static ki_object *make(const char *json)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(json, strlen(json), NULL, &object, &error) < 0) {
        fail_msg("refused: %s (at %zu)", error.message, error.offset);
    }
    return object;
}

static void accessors_give_the_metadata(void **state)
{
    (void)state;
    ki_object *object = make(pod);
    assert_string_equal(ki_object_key(object), "shop/web-0");
    assert_string_equal(ki_object_name(object), "web-0");
    assert_string_equal(ki_object_namespace(object), "shop");
    assert_string_equal(ki_object_uid(object), "0f3c");
    assert_string_equal(ki_object_resource_version(object), "12345");
    assert_string_equal(ki_object_kind(object), "Pod");
    assert_string_equal(ki_object_api_version(object), "v1");
    assert_int_equal(ki_object_generation(object), 7);
    assert_int_equal(ki_object_creation_time(object), 1709209800);
    assert_int_equal(ki_object_deletion_time(object), 0);
    assert_false(ki_object_is_deleting(object));
    assert_str(ki_object_label(object, "app"), "web");
    assert_false(ki_object_has_label(object, "n")); /* is there, and no string */
    assert_false(ki_object_has_label(object, "x"));
    ki_value value = ki_object_annotation(object, "note");
    assert_true(ki_value_equals_text(&value, "a\nb"));
    ki_owner owner = {0};
    assert_int_equal(ki_object_controller(object, &owner), 0);
    assert_str(owner.name, "web");
    assert_str(owner.api_version, "apps/v1");
    assert_str(owner.kind, "ReplicaSet");
    assert_str(owner.uid, "77");
    ki_object *owners[3] = {make("{\"metadata\":{\"uid\":\"77\"}}"),
                            make("{\"metadata\":{\"uid\":\"7\"}}"), make("{}")};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ki_object_is_controlled_by(object, owners[i]), i == 0);
        assert_false(ki_object_is_controlled_by(owners[i], object));
        ki_object_unref(owners[i]);
    }
    value = ki_object_finalizers(object);
    assert_int_equal(ki_value_type(&value), KI_TYPE_LIST);
    assert_str(ki_object_bytes(object), pod);
    ki_object_unref(object);
}

static void what_is_absent_is_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", " {\"metadata\":null} ",
                                        "{\"metadata\":{\"name\":null,\"labels\":null}}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_object *object = make(texts[i]);
        assert_string_equal(ki_object_key(object), "");
        assert_string_equal(ki_object_name(object), "");
        assert_string_equal(ki_object_uid(object), "");
        assert_string_equal(ki_object_kind(object), "");
        ki_value labels = ki_object_labels(object);
        assert_int_equal(ki_value_type(&labels), KI_TYPE_NONE);
        ki_owner owner = {0};
        assert_int_equal(ki_object_controller(object, &owner), KI_ERR_NOT_FOUND);
        assert_int_equal(ki_object_generation(object), 0);
        ki_object_unref(object);
    }
}

static void values_are_read_in_place(void **state)
{
    (void)state;
    ki_object *object = make(pod);
    ki_value root = ki_object_root(object);
    ki_value spec;
    ki_value node;
    ki_str text;
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &spec), 0);
    assert_int_equal(ki_value_member(&spec, ki_str_from("nodeName"), &node), 0);
    assert_int_equal(ki_value_string(&node, &text), 0);
    assert_str(text, "n1");
    assert_int_equal(ki_value_count(&root), 5);
    ki_object_unref(object);
}

/* ---- keys and identity ---- */

static void keys_need_a_name(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *key;
        const char *name;
        const char *name_space;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"a\"}}", "a", "a", ""},
        {"{\"metadata\":{\"namespace\":\"n\"}}", "", "", "n"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"}}", "n/a", "a", "n"},
        {"{\"metadata\":{\"name\":\"a\",\"namespace\":\"\"}}", "a", "a", ""},
        {"{\"metadata\":{\"name\":\"\",\"namespace\":\"n\"}}", "", "", "n"},
        {"{\"metadata\":{\"name\":\"\\u0061\\u00e9\",\"namespace\":\"\\u006e\"}}", "n/a\xc3\xa9",
         "a\xc3\xa9", "n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = make(cases[i].json);
        assert_string_equal(ki_object_key(object), cases[i].key);
        assert_string_equal(ki_object_name(object), cases[i].name);
        assert_string_equal(ki_object_namespace(object), cases[i].name_space);
        ki_object_unref(object);
    }
}

static void identity_is_decoded(void **state)
{
    (void)state;
    ki_object *object =
        make("{\"\\u006bind\":\"\\u0050od\",\"apiVersion\":\"apps\\/v1\",\"metadata\":"
             "{\"u\\u0069d\":\"\\ud83d\\ude00\",\"resourceVersion\":\"\\ud800\"}}");
    assert_string_equal(ki_object_kind(object), "Pod");
    assert_string_equal(ki_object_api_version(object), "apps/v1");
    assert_string_equal(ki_object_uid(object), "\xf0\x9f\x98\x80");
    assert_string_equal(ki_object_resource_version(object), "\xef\xbf\xbd");
    ki_object_unref(object);
}

static void defaults_stand_in_for_kind_and_version(void **state)
{
    (void)state;
    static const char *const texts[] = {"{}", "{\"kind\":null,\"apiVersion\":\"\"}",
                                        "{\"kind\":\"Own\",\"apiVersion\":\"own/v1\"}"};
    for (size_t i = 0; i < 3; i++) {
        ki_object *object = NULL;
        assert_int_equal(ki_object_from_json(texts[i], strlen(texts[i]),
                                             KI_OPTIONS(ki_object_options, .default_kind = "P\\n",
                                                        .default_api_version = "v1"),
                                             &object, NULL),
                         0);
        assert_string_equal(ki_object_kind(object), i < 2 ? "P\\n" : "Own"); /* taken as it is */
        assert_string_equal(ki_object_api_version(object), i < 2 ? "v1" : "own/v1");
        ki_object_unref(object);
    }
}

#define TYPED "{\"apiVersion\":\"v1\",\"kind\":\"Pod\""

/* An item of a list must read and be written as what a watch brings of the same object. */
static void items_of_lists_get_the_kind_that_they_lack(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *written;
    } cases[] = {
        {"{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"x\":1}}",
         TYPED ",\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"x\":1}}"},
        {" { }", TYPED " }"},
        {"  {\"spec\":{\"x\":1},\"metadata\":{\"labels\":{\"a\":\"b\"}}}",
         TYPED ",\"spec\":{\"x\":1},\"metadata\":{\"labels\":{\"a\":\"b\"}}}"},
        {"{}", TYPED "}"},
        {"{\n\"a\":1}", TYPED ",\n\"a\":1}"},
        {"{\"apiVersion\":\"v2\"}", "{\"kind\":\"Pod\",\"apiVersion\":\"v2\"}"},
        {"{\"kind\":\"Own\"}", "{\"apiVersion\":\"v1\",\"kind\":\"Own\"}"},
        {"{\"kind\":null,\"apiVersion\":\"\"}", "{\"kind\":null,\"apiVersion\":\"\"}"},
        {"{\"\\u006bind\":\"\",\"apiVersion\":null}", "{\"\\u006bind\":\"\",\"apiVersion\":null}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = NULL;
        assert_int_equal(ki_object_from_json(cases[i].json, strlen(cases[i].json),
                                             KI_OPTIONS(ki_object_options, .default_kind = "Pod",
                                                        .default_api_version = "v1"),
                                             &object, NULL),
                         0);
        assert_true(ki_str_eq(ki_object_bytes(object), ki_str_from(cases[i].written)));
        bool has_both = strstr(cases[i].json, "spec") != NULL;
        ki_value root = ki_object_root(object);
        ki_value value;
        assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &value),
                         has_both ? 0 : KI_ERR_NOT_FOUND);
        assert_true(ki_object_has_label(object, "a") == has_both);
        assert_int_equal(ki_value_member(&root, ki_str_from("kind"), &value), 0);
        assert_int_equal(ki_value_member(&root, ki_str_from("apiVersion"), &value), 0);
        ki_object_unref(object);
    }
}

static void times_and_generation_are_read_or_zero(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        int64_t creation;
        int64_t deletion;
        int64_t generation;
        bool deleting;
    } cases[] = {
        {"\"creationTimestamp\":\"1970-01-01T00:01:00Z\"", 60, 0, 0, false},
        {"\"creationTimestamp\":\"1970\\u002d01-01T00:01:00Z\"", 60, 0, 0, false},
        {"\"creationTimestamp\":\"yesterday\"", 0, 0, 0, false},
        {"\"creationTimestamp\":null", 0, 0, 0, false},
        {"\"deletionTimestamp\":\"1970-01-01T01:01:00+01:00\"", 0, 60, 0, true},
        {"\"deletionTimestamp\":\"\"", 0, 0, 0, true},
        {"\"deletionTimestamp\":null", 0, 0, 0, false},
        {"\"generation\":5", 0, 0, 5, false},
        {"\"generation\":-5e0", 0, 0, -5, false},
        {"\"generation\":5.5", 0, 0, 0, false},
        {"\"generation\":null", 0, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char json[200];
        (void)snprintf(json, sizeof(json), "{\"metadata\":{%s}}", cases[i].member);
        ki_object *object = make(json);
        assert_int_equal(ki_object_creation_time(object), cases[i].creation);
        assert_int_equal(ki_object_deletion_time(object), cases[i].deletion);
        assert_int_equal(ki_object_generation(object), cases[i].generation);
        assert_int_equal(ki_object_is_deleting(object), cases[i].deleting);
        ki_object_unref(object);
    }
}

static void the_controller_is_the_owner_that_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *owners;
        const char *name; /* NULL: there is none */
    } cases[] = {
        {"[]", NULL},
        {"null", NULL},
        {"[{\"name\":\"a\"},{\"name\":\"b\",\"controller\":false}]", NULL},
        {"[{\"name\":\"a\",\"controller\":\"true\"}]", NULL},
        {"[1,null,\"x\",[],{\"controller\":true,\"name\":\"c\"},{\"controller\":true}]", "c"},
        {"[{\"controller\":true,\"name\":\"\\u0063\"}]", ""}, /* encoded text is empty */
        {"[{\"controller\":true,\"name\":7}]", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char json[200];
        (void)snprintf(json, sizeof(json), "{\"metadata\":{\"ownerReferences\":%s}}",
                       cases[i].owners);
        ki_object *object = make(json);
        ki_owner owner = {0};
        int r = ki_object_controller(object, &owner);
        assert_int_equal(r, cases[i].name != NULL ? 0 : KI_ERR_NOT_FOUND);
        if (r == 0) {
            assert_str(owner.name, cases[i].name);
            assert_true(owner.controller);
        }
        ki_object_unref(object);
    }
}

/* ---- what is refused ---- */

static void refuses(const char *json, int code, size_t offset, const char *message)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_from_json(json, strlen(json), NULL, &object, &error);
    if (r != code || error.offset != offset || strcmp(error.message, message) != 0) {
        fail_msg("%s gave %s at %zu: %s", json, ki_error_name(r), error.offset, error.message);
    }
    assert_int_equal(error.line, 1);
    assert_null(object);
}

static void only_maps_are_objects(void **state)
{
    (void)state;
    refuses("[]", KI_ERR_INVALID, 0, "an object must be a map, not a list");
    refuses(" 1", KI_ERR_INVALID, 1, "an object must be a map, not a number");
    refuses("null", KI_ERR_INVALID, 0, "an object must be a map, not a null");
    refuses("", KI_ERR_SYNTAX, 0, "unexpected end of text");
    refuses("[", KI_ERR_SYNTAX, 1, "unexpected end of text");
    refuses("{}{}", KI_ERR_SYNTAX, 2, "unexpected text after the value");
}

static void metadata_of_a_wrong_type_is_refused(void **state)
{
    (void)state;
    refuses("{\"metadata\":[]}", KI_ERR_INVALID, 12, "metadata must be a map, not a list");
    refuses("{\"kind\":1}", KI_ERR_INVALID, 8, "kind must be a string, not a number");
    refuses("{\"apiVersion\":{}}", KI_ERR_INVALID, 14, "apiVersion must be a string, not a map");
    static const struct {
        const char *name;
        const char *type;
    } fields[] = {
        {"name", "string"},
        {"namespace", "string"},
        {"uid", "string"},
        {"resourceVersion", "string"},
        {"creationTimestamp", "string"},
        {"deletionTimestamp", "string"},
        {"labels", "map"},
        {"annotations", "map"},
        {"ownerReferences", "list"},
        {"finalizers", "list"},
        {"generation", "number"},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        char json[100];
        char message[100];
        (void)snprintf(json, sizeof(json), "{\"metadata\":{\"%s\":true}}", fields[i].name);
        (void)snprintf(message, sizeof(message), "metadata.%s must be a %s, not a bool",
                       fields[i].name, fields[i].type);
        refuses(json, KI_ERR_INVALID, strlen(fields[i].name) + 16, message);
    }
}

static void a_nul_in_an_identity_is_refused(void **state)
{
    (void)state;
    refuses("{\"metadata\":{\"name\":\"a\\u0000\"}}", KI_ERR_INVALID, 20,
            "metadata.name must not contain NUL");
    refuses("{\"kind\":\"\\u0000\"}", KI_ERR_INVALID, 8, "kind must not contain NUL");
    ki_object *object = make("{\"metadata\":{\"labels\":{\"a\\u0000\":\"\\u0000\"}}}");
    ki_value labels = ki_object_labels(object);
    ki_value value;
    assert_int_equal(ki_value_member(&labels, ki_str_make("a\0", 2), &value), 0);
    assert_true(ki_value_equals(&value, ki_str_make("\0", 1)));
    ki_object_unref(object);
}

static void members_named_twice_are_refused_at_the_top_and_in_metadata(void **state)
{
    (void)state;
    refuses("{\"spec\":1,\"spec\":1}", KI_ERR_INVALID, 10, "duplicate field spec");
    refuses("{\"x\":1,\"y\":2,\"\\u0078\":3}", KI_ERR_INVALID, 13, "duplicate field \\u0078");
    refuses("{\"metadata\":{},\"\\u006detadata\":{}}", KI_ERR_INVALID, 15,
            "duplicate field \\u006detadata");
    refuses("{\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}", KI_ERR_INVALID, 24,
            "duplicate field metadata.name");
    refuses("{\"metadata\":{\"x\":1,\"\\u0078\":1}}", KI_ERR_INVALID, 19,
            "duplicate field metadata.\\u0078");
    /* Long names are cut for the message, and not within a character. */
    char json[400];
    char name[101];
    char message[100];
    (void)snprintf(name, sizeof(name), "%063d\xe2\x82\xac, and more of it", 0);
    (void)snprintf(json, sizeof(json), "{\"%s\":1,\"%s\":1}", name, name);
    (void)snprintf(message, sizeof(message), "duplicate field %.63s", name);
    refuses(json, KI_ERR_INVALID, strlen(name) + 6, message);
    /* The same name on different levels, and twice anywhere else, is valid. */
    ki_object_unref(make("{\"name\":1,\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\",\"x\":"
                         "\"2\"}},\"spec\":{\"a\":1,\"a\":2}}"));
}

/* A map of `count` members whose names are numbers, at the top or in metadata. */
static void many_members(ki_buf *json, bool top, size_t count)
{
    ki_buf_init(json, NULL, SIZE_MAX);
    test_add(json, top ? "{" : "{\"metadata\":{", 1);
    for (size_t i = 0; i < count; i++) {
        char member[32];
        (void)snprintf(member, sizeof(member), "%s\"%zu\":0", i != 0 ? "," : "", i);
        test_add(json, member, 1);
    }
    test_add(json, top ? "}" : "}}", 1);
}

static void the_number_of_members_is_limited_where_names_matter(void **state)
{
    (void)state;
    for (int top = 0; top <= 1; top++) {
        ki_buf json;
        many_members(&json, top != 0, top != 0 ? 512 : 511); /* "metadata" is one as well */
        ki_object_unref(make(ki_buf_text(&json)));
        ki_buf_done(&json);
        many_members(&json, top != 0, top != 0 ? 513 : 512);
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_object_from_json(json.data, json.len, NULL, &object, &error),
                         KI_ERR_LIMIT);
        assert_string_equal(error.message, top != 0 ? "the object has too many members"
                                                    : "metadata has too many members");
        ki_buf_done(&json);
    }
}

/* All of one hash: without a limit, comparing long names of this kind with each other would take
 * time that grows with the square of their number. */
static void names_made_to_collide_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "gharmoya", "yhyevqvb", "znzxhurc", "eguufzdd", "zropdxed", "ydvywqme", "iqsxzgoe",
        "jhhzacye", "mqimtxdf", "nkadgfgf", "hmanuizf", "osvxzhag", "drsnhacg", "yaulmzkg",
        "lykqzfpg", "mefymllh", "ygkqvoqh", "ohupyrwh", "tlrrdjxh", "ltevwebi",
    };
    ki_buf json;
    ki_buf_init(&json, NULL, SIZE_MAX);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char member[32];
        (void)snprintf(member, sizeof(member), "%s\"%s\":0", i != 0 ? "," : "{", names[i]);
        test_add(&json, member, 1);
        if (i == 3) { /* a few may well be */
            test_add(&json, "}", 1);
            ki_object *object = make(ki_buf_text(&json));
            ki_value root = ki_object_root(object);
            ki_value value;
            assert_int_equal(ki_value_member(&root, ki_str_from("eguufzdd"), &value), 0);
            ki_object_unref(object);
            json.len--;
        }
    }
    test_add(&json, "}", 1);
    /* The seventh meets the six before it, which makes 21 pairs. */
    refuses(ki_buf_text(&json), KI_ERR_LIMIT, 79, "too many field names with the same hash");
    ki_buf_done(&json);
    refuses("{\"gharmoya\":0,\"yhyevqvb\":0,\"gharmoya\":0}", KI_ERR_INVALID, 27,
            "duplicate field gharmoya");
}

static void identity_strings_are_limited(void **state)
{
    (void)state;
    for (size_t extra = 0; extra <= 1; extra++) {
        ki_buf json;
        ki_buf_init(&json, NULL, SIZE_MAX);
        test_add(&json, "{\"metadata\":{\"name\":\"", 1);
        test_add(&json, "n", 1024 + extra);
        test_add(&json, "\",\"namespace\":\"", 1);
        test_add(&json, "\\u00e9", 512); /* two bytes each once decoded */
        test_add(&json, "\"}}", 1);
        if (extra != 0) {
            refuses(ki_buf_text(&json), KI_ERR_LIMIT, 20,
                    "metadata.name must not have more than 1024 bytes");
        } else {
            ki_object *object = make(ki_buf_text(&json));
            assert_int_equal(strlen(ki_object_key(object)), 2049);
            assert_int_equal(strlen(ki_object_namespace(object)), 1024);
            ki_object_unref(object);
        }
        ki_buf_done(&json);
    }
}

/* The most that the strings of one object can take. */
static void all_identity_strings_may_have_their_limit(void **state)
{
    (void)state;
    for (int escaped = 0; escaped <= 1; escaped++) {
        static const char *const names[] = {"name", "namespace", "uid", "resourceVersion"};
        ki_buf json;
        ki_buf_init(&json, NULL, SIZE_MAX);
        test_add(&json, "{\"metadata\":", 1);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            char member[32];
            (void)snprintf(member, sizeof(member), "%s\"%s\":\"", i != 0 ? "," : "{", names[i]);
            test_add(&json, member, 1);
            test_add(&json, escaped != 0 ? "\\ud83d\\ude00" : "\xf0\x9f\x98\x80", 256);
            test_add(&json, "\"", 1);
        }
        test_add(&json, "}}", 1);
        char text[1025];
        memset(text, '\\', 1024); /* defaults are no JSON: nothing in them is an escape */
        text[1024] = '\0';
        ki_object *object = NULL;
        assert_int_equal(ki_object_from_json(json.data, json.len,
                                             KI_OPTIONS(ki_object_options, .default_kind = text,
                                                        .default_api_version = text),
                                             &object, NULL),
                         0);
        assert_int_equal(strlen(ki_object_key(object)), 2049);
        assert_string_equal(ki_object_name(object), ki_object_key(object) + 1025);
        assert_memory_equal(ki_object_namespace(object), ki_object_key(object), 1024);
        assert_string_equal(ki_object_uid(object), ki_object_name(object));
        assert_string_equal(ki_object_resource_version(object), ki_object_name(object));
        assert_memory_equal(ki_object_name(object), "\xf0\x9f\x98\x80", 4);
        assert_string_equal(ki_object_kind(object), text);
        assert_string_equal(ki_object_api_version(object), text);
        assert_memory_equal(ki_object_bytes(object).ptr, json.data, json.len);
        ki_object_unref(object);
        ki_buf_done(&json);
    }
}

static void size_and_depth_are_limited(void **state)
{
    (void)state;
    static const char json[] = "{\"a\":{\"b\":[]}}";
    size_t len = strlen(json);
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_object_from_json(
                         json, len, KI_OPTIONS(ki_object_options, .max_bytes = len, .max_depth = 3),
                         &object, &error),
                     0);
    object = ki_object_unref(object);
    assert_int_equal(ki_object_from_json(json, len,
                                         KI_OPTIONS(ki_object_options, .max_bytes = len - 1),
                                         &object, &error),
                     KI_ERR_LIMIT);
    assert_int_equal(ki_object_from_json(json, len, KI_OPTIONS(ki_object_options, .max_depth = 2),
                                         &object, &error),
                     KI_ERR_DEPTH);
    assert_int_equal(error.offset, 10);
    assert_null(object);
    /* The default is 128. */
    for (size_t depth = 128; depth <= 129; depth++) {
        ki_buf deep;
        ki_buf_init(&deep, NULL, SIZE_MAX);
        test_add(&deep, "{\"a\":", 1);
        test_add(&deep, "[", depth - 1);
        test_add(&deep, "]", depth - 1);
        test_add(&deep, "}", 1);
        assert_int_equal(ki_object_from_json(deep.data, deep.len, NULL, &object, &error),
                         depth == 128 ? 0 : KI_ERR_DEPTH);
        ki_buf_done(&deep);
    }
    ki_object_unref(object);
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    static char name[1100];
    memset(name, 'k', 1025);
    assert_int_equal(ki_object_from_json("{}", 2, KI_OPTIONS(ki_object_options, .max_depth = 1025),
                                         &object, &error),
                     -EINVAL);
    assert_int_equal(ki_object_from_json(
                         "{}", 2, KI_OPTIONS(ki_object_options, .max_bytes = ((size_t)1 << 30) + 1),
                         &object, &error),
                     -EINVAL);
    assert_int_equal(ki_object_from_json("{}", 2,
                                         KI_OPTIONS(ki_object_options, .default_kind = name),
                                         &object, &error),
                     KI_ERR_LIMIT);
    assert_int_equal(ki_object_from_json(NULL, 2, NULL, &object, &error), -EINVAL);
    assert_int_equal(ki_object_from_json(NULL, 0, NULL, &object, &error), KI_ERR_SYNTAX);
    struct {
        ki_object_options known;
        int unknown;
    } later = {.known = {.size = sizeof(later)}, .unknown = 1};
    assert_int_equal(ki_object_from_json("{}", 2, &later.known, &object, &error), -E2BIG);
    assert_int_equal(ki_object_from_json("{}", 2, &(ki_object_options){.size = 1}, &object, &error),
                     -EINVAL);
    assert_null(object);
}

/* ---- memory and life ---- */

static void an_object_is_one_block_of_little_more_than_its_bytes(void **state)
{
    (void)state;
    static const char json[] =
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
        "\"checkout-service-6d5f8b9c7d-x7x2p\",\"namespace\":\"production\",\"uid\":"
        "\"3d9b0f0e-1c1f-4d3c-8a55-6f2b7e1d9c10\",\"resourceVersion\":\"184467440\"}}";
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, strlen(json),
                                         KI_OPTIONS(ki_object_options, .alloc = &alloc.table),
                                         &object, NULL),
                     0);
    assert_int_equal(alloc.calls, 1);
    assert_int_equal(alloc.live_bytes, ki_object_memory(object));
    assert_true(ki_object_memory(object) <= strlen(json) + 200 + 16);
    assert_int_equal(ki_object_encoding(object), KI_ENCODING_JSON);
    ki_object_unref(object);
    test_alloc_done(&alloc);
}

static void references_are_counted(void **state)
{
    (void)state;
    ki_object *object = make("{}");
    assert_ptr_equal(ki_object_ref(object), object);
    assert_null(ki_object_unref(object));
    assert_string_equal(ki_object_key(object), "");
    assert_null(ki_object_unref(object));
    assert_null(ki_object_ref(NULL));
    assert_null(ki_object_unref(NULL));
}

static void *use_object(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        ki_object *object = ki_object_ref(arg);
        ki_value value = ki_object_root(object);
        assert_int_not_equal(ki_value_count(&value), 0);
        ki_object_unref(object);
    }
    return ki_object_unref(arg);
}

static void threads_share_an_object(void **state)
{
    (void)state;
    ki_object *object = make(pod);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_object, ki_object_ref(object)), 0);
    }
    ki_object_unref(object); /* one of the threads frees it */
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void written_json_is_what_came(void **state)
{
    (void)state;
    ki_object *object = make(" {\"a\" : 1.50}\n");
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    assert_int_equal(ki_object_write_json(object, &buf), 0);
    assert_string_equal(ki_buf_text(&buf), "{\"a\" : 1.50}");
    assert_str(ki_object_bytes(object), " {\"a\" : 1.50}\n");
    ki_buf_done(&buf);
    ki_buf_init(&buf, NULL, 11);
    assert_int_equal(ki_object_write_json(object, &buf), KI_ERR_LIMIT);
    assert_int_equal(buf.len, 0);
    ki_buf_done(&buf);
    ki_object_unref(object);
}

/* Every text that is cut short is refused, and every object is made from memory of just its size.
 */
static void cut_objects_are_refused(void **state)
{
    (void)state;
    for (size_t len = 0; len < strlen(pod); len++) {
        char *copy = malloc(len != 0 ? len : 1);
        assert_non_null(copy);
        memcpy(copy, pod, len);
        ki_object *object = NULL;
        assert_int_equal(ki_object_from_json(copy, len, NULL, &object, NULL), KI_ERR_SYNTAX);
        free(copy);
    }
}

static int scenario_make(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_object *object = NULL;
    int r = ki_object_from_json(pod, strlen(pod), KI_OPTIONS(ki_object_options, .alloc = alloc),
                                &object, NULL);
    if (r < 0) {
        assert_null(object);
        return r;
    }
    ki_object_unref(ki_object_ref(object));
    ki_object_unref(object);
    return 0;
}

static void making_survives_failing_allocations(void **state)
{
    (void)state;
    test_alloc_sweep(scenario_make, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessors_give_the_metadata),
        cmocka_unit_test(what_is_absent_is_empty),
        cmocka_unit_test(values_are_read_in_place),
        cmocka_unit_test(keys_need_a_name),
        cmocka_unit_test(identity_is_decoded),
        cmocka_unit_test(defaults_stand_in_for_kind_and_version),
        cmocka_unit_test(items_of_lists_get_the_kind_that_they_lack),
        cmocka_unit_test(times_and_generation_are_read_or_zero),
        cmocka_unit_test(the_controller_is_the_owner_that_says_so),
        cmocka_unit_test(only_maps_are_objects),
        cmocka_unit_test(metadata_of_a_wrong_type_is_refused),
        cmocka_unit_test(a_nul_in_an_identity_is_refused),
        cmocka_unit_test(members_named_twice_are_refused_at_the_top_and_in_metadata),
        cmocka_unit_test(the_number_of_members_is_limited_where_names_matter),
        cmocka_unit_test(names_made_to_collide_are_refused),
        cmocka_unit_test(identity_strings_are_limited),
        cmocka_unit_test(all_identity_strings_may_have_their_limit),
        cmocka_unit_test(size_and_depth_are_limited),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(an_object_is_one_block_of_little_more_than_its_bytes),
        cmocka_unit_test(references_are_counted),
        cmocka_unit_test(threads_share_an_object),
        cmocka_unit_test(written_json_is_what_came),
        cmocka_unit_test(cut_objects_are_refused),
        cmocka_unit_test(making_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

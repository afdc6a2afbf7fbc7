/* SPDX-License-Identifier: Apache-2.0 */
#include "support/schema_random.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/validate/conform.h"
#include "apiserver/validate/invalid.h"
#include "support/test.h"

enum { TRIES = 2000, ITEMS_MAX = 3 };

static bool one_in(uint64_t *state, uint64_t count)
{
    return test_random(state) % count == 0;
}

#define PICK(state, texts) (texts)[test_random(state) % (sizeof(texts) / sizeof((texts)[0]))]

static bool is(const ki__structural_node *node, const char *format)
{
    return ki_str_eq_text(node->format, format);
}

/* ---- scalars ---- */

static void put_time(ki_json *json, uint64_t *state)
{
    static const char *const zones[] = {"Z", "+02:00", "-07:30"};
    char text[64];
    unsigned number = (unsigned)test_random(state);
    (void)snprintf(text, sizeof(text), "20%02u-%02u-%02uT%02u:%02u:%02u%s%s", number % 100,
                   number / 100 % 12 + 1, number / 1200 % 28 + 1, number / 7 % 24, number / 11 % 60,
                   number / 13 % 60, one_in(state, 2) ? ".125" : "", PICK(state, zones));
    ki_json_string(json, NULL, text);
}

static void put_string(ki_json *json, const ki__structural_node *node, uint64_t *state)
{
    static const char *const texts[] = {"web",           "a \"b\"",          "\\",
                                        "z\xc3\xbcrich", "\xf0\x9f\x98\x80", "x\ny",
                                        "\x01",          "example.com/v1"};
    static const char *const durations[] = {"30s", "1h5m", "5m"};
    static const char *const quantities[] = {"250m", "1.5Gi", "100", "2e3"};
    bool is_quantity = node->pattern_text.len != 0 &&
                       memchr(node->pattern_text.ptr, 'K', node->pattern_text.len) != NULL;
    char text[64];
    if (is(node, "date-time")) {
        put_time(json, state);
    } else if (is(node, "byte")) {
        uint64_t bytes = test_random(state);
        ki_json_base64(json, NULL, ki_str_make((const char *)&bytes, bytes % sizeof(bytes)));
    } else if (is(node, "date")) {
        ki_json_string(json, NULL, "2026-01-31");
    } else if (is_quantity) {
        ki_json_string(json, NULL, PICK(state, quantities));
    } else if (node->pattern_text.len != 0) {
        ki_json_string(json, NULL, PICK(state, durations));
    } else {
        (void)snprintf(text, sizeof(text), "%s%u", PICK(state, texts),
                       (unsigned)(test_random(state) % 100000));
        ki_json_string(json, NULL, text);
    }
}

static void put_integer(ki_json *json, const ki__structural_node *node, uint64_t *state)
{
    static const int64_t edges[] = {0, 1, -1, INT32_MAX, INT32_MIN};
    int64_t low = node->minimum.set ? node->minimum.integer : -1000;
    int64_t high = node->maximum.set ? node->maximum.integer : low + 100000;
    int64_t number = low + (int64_t)(test_random(state) % (uint64_t)(high - low + 1));
    if (!node->minimum.set && !node->maximum.set && one_in(state, 3)) {
        number = PICK(state, edges);
        bool wide = !is(node, "int32") && !node->int_or_string && one_in(state, 2);
        number = wide ? (one_in(state, 2) ? INT64_MAX : INT64_MIN) : number;
    }
    ki_json_int64(json, NULL, number);
}

static void put_number(ki_json *json, const ki__structural_node *node, uint64_t *state)
{
    static const double edges[] = {0, -0.5, 1e300, 3, 1.0 / 3};
    if (node->minimum.set || one_in(state, 2)) {
        ki_json_double(json, NULL, (double)(test_random(state) % 1000) / 1000);
    } else {
        ki_json_double(json, NULL, PICK(state, edges));
    }
}

/* ---- lists and maps ---- */

static void put_anything(ki_json *json, uint64_t *state)
{
    static const char *const texts[] = {"{}",   "[]",          "1",
                                        "true", "\"\\u00e9\"", "{\"a\": {\"b\": [1, null, {}]}}",
                                        "[[]]", "-2.5e3",      "[\"x\", {\"y\": false}]"};
    ki_json_raw(json, NULL, PICK(state, texts));
}

/* An embedded resource has a kind, an apiVersion and metadata. */
static void put_open_map(ki_json *json, const ki__structural_node *node, uint64_t *state)
{
    ki_json_begin_map(json, NULL);
    if (node->embedded) {
        ki_json_string(json, "apiVersion", "v1");
        ki_json_string(json, "kind", "ConfigMap");
        ki_json_raw(json, "metadata", "{\"name\": \"web\"}");
    }
    if (node->preserve || one_in(state, 2)) {
        ki_json_name(json, ki_str_from("unknown"));
        put_anything(json, state);
    }
    ki_json_end(json);
}

static void put_object(ki_json *json, const ki__structural *schema, const ki__structural_node *node,
                       uint64_t *state)
{
    ki_json_begin_map(json, NULL);
    for (size_t i = 0; i < node->property_count; i++) {
        const ki__structural_property *property = &schema->properties[node->property + i];
        if (property->node != 0 && (property->required != 0 || !one_in(state, 3))) {
            ki_json_name(json, property->name);
            schema_random_value(json, schema, property->node, state);
        }
    }
    ki_json_end(json);
}

static void put_map(ki_json *json, const ki__structural *schema, const ki__structural_node *node,
                    uint64_t *state)
{
    static const char *const names[] = {"a", "b.c/d", "\"e\"", "\xc3\xa9", "f g", "limits"};
    ki_json_begin_map(json, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (one_in(state, 3)) {
            ki_json_name(json, ki_str_from(names[i]));
            if (node->more_node != 0) {
                schema_random_value(json, schema, node->more_node, state);
            } else {
                put_anything(json, state);
            }
        }
    }
    ki_json_end(json);
}

static void put_list(ki_json *json, const ki__structural *schema, const ki__structural_node *node,
                     uint64_t *state)
{
    size_t least = node->min_items > 0 ? (size_t)node->min_items : 0;
    size_t count = least + test_random(state) % ITEMS_MAX;
    ki_json_begin_list(json, NULL);
    for (size_t i = 0; i < count; i++) {
        schema_random_value(json, schema, node->items, state);
    }
    ki_json_end(json);
}

/* ---- values ---- */

static bool put_enumerated(ki_json *json, const ki__structural_node *node, uint64_t *state)
{
    ki_value value;
    size_t count = ki_value_count(&node->enumeration);
    if (count == 0) {
        return false;
    }
    assert_int_equal(
        ki_value_element(&node->enumeration, (int64_t)(test_random(state) % count), &value), 0);
    ki_json_value(json, NULL, &value);
    return true;
}

void schema_random_value(ki_json *json, const ki__structural *schema, uint32_t number,
                         uint64_t *state)
{
    const ki__structural_node *node = &schema->nodes[number];
    unsigned types = node->types;
    if (node->int_or_string) {
        types = one_in(state, 2) ? KI__STRUCTURAL_INTEGER : KI__STRUCTURAL_STRING;
    }
    if (node->nullable && one_in(state, 5)) {
        ki_json_null(json, NULL);
    } else if (put_enumerated(json, node, state)) {
        return;
    } else if (types == KI__STRUCTURAL_OBJECT && node->more == KI__STRUCTURAL_MORE_ALLOWED) {
        put_map(json, schema, node, state);
    } else if (types == KI__STRUCTURAL_OBJECT && node->property_count != 0) {
        put_object(json, schema, node, state);
    } else if (types == KI__STRUCTURAL_OBJECT) {
        put_open_map(json, node, state);
    } else if (types == KI__STRUCTURAL_ARRAY) {
        put_list(json, schema, node, state);
    } else if (types == KI__STRUCTURAL_STRING) {
        put_string(json, node, state);
    } else if (types == KI__STRUCTURAL_INTEGER) {
        put_integer(json, node, state);
    } else if (types == KI__STRUCTURAL_NUMBER) {
        put_number(json, node, state);
    } else if (types == KI__STRUCTURAL_BOOLEAN) {
        ki_json_bool(json, NULL, one_in(state, 2));
    } else {
        put_anything(json, state);
    }
}

/* ---- objects ---- */

static ki_object *make(const ki__structural *schema, const char *api_version, const char *kind,
                       uint64_t *state)
{
    const ki__structural_node *root = &schema->nodes[KI__STRUCTURAL_ROOT];
    ki_json *json;
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_json_new(NULL, &json, NULL), 0);
    ki_json_begin_map(json, NULL);
    ki_json_string(json, "apiVersion", api_version);
    ki_json_string(json, "kind", kind);
    ki_json_raw(json, "metadata", "{\"name\": \"web\", \"namespace\": \"shop\"}");
    for (size_t i = 0; i < root->property_count; i++) {
        const ki__structural_property *property = &schema->properties[root->property + i];
        bool is_own = ki_str_eq_text(property->name, "apiVersion") ||
                      ki_str_eq_text(property->name, "kind") ||
                      ki_str_eq_text(property->name, "metadata");
        if (!is_own && property->node != 0) {
            ki_json_name(json, property->name);
            schema_random_value(json, schema, property->node, state);
        }
    }
    ki_json_end(json);
    if (ki_json_object(json, &object, &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki_json_unref(json);
    return object;
}

static bool is_valid(const ki__structural *schema, const ki_object *object)
{
    ki__invalid errors;
    ki_value root = ki_object_root(object);
    ki_value none = {0};
    ki__invalid_init(&errors, NULL);
    assert_int_equal(ki__conform(schema, KI__STRUCTURAL_ROOT, &root, &none, "", &errors), 0);
    bool valid = ki__invalid_is_empty(&errors);
    ki__invalid_done(&errors);
    return valid;
}

ki_object *schema_random_object(const ki__structural *schema, const char *api_version,
                                const char *kind, uint64_t *state)
{
    for (int i = 0; i < TRIES; i++) {
        ki_object *object = make(schema, api_version, kind, state);
        if (is_valid(schema, object)) {
            return object;
        }
        ki_object_unref(object);
    }
    fail_msg("%s %s: no valid object found", api_version, kind);
    return NULL;
}

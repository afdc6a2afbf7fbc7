/* SPDX-License-Identifier: Apache-2.0 */
/* An object {"live", "config", "managed", "schema"}: the config is applied, by force, to the live
 * object, whose owners are managed. Lists of owners that can be read must be the same when they are
 * written and read again; what was applied must give an object, and the same one once more. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "apiserver/patch/server_side_apply.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static ki_value member(const ki_object *object, const char *name)
{
    ki_value root = ki_object_root(object);
    ki_value value;
    return ki_value_member(&root, ki_str_from(name), &value) == 0 ? value : (ki_value){0};
}

static bool expected(int r)
{
    return r == 0 || r == KI_ERR_LIMIT || r == KI_ERR_INVALID;
}

static bool same_fields(const ki__field_set *a, const ki__field_set *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = ki_str_eq(a->paths[i], b->paths[i]);
    }
    return same;
}

static void same_again(ki__managers *managers)
{
    static const char head[] = "{\"x\":";
    ki_object_options options = {.size = sizeof(options), .max_bytes = 64 << 20, .max_depth = 1000};
    ki__managers again;
    ki_object *object;
    ki_buf text;
    ki_buf_init(&text, NULL, 64 << 20);
    must(ki_buf_add_text(&text, head) == 0 && ki__managers_write(managers, &text) == 0);
    must(managers->count != 0 || ki_buf_add_text(&text, "[]") == 0);
    must(ki_buf_add_char(&text, '}') == 0);
    must(ki_object_from_json(text.data, text.len, &options, &object, NULL) == 0);
    ki_value list = member(object, "x");
    ki__managers_init(&again, NULL);
    must(ki__managers_read(&again, &list) == 0 && again.count == managers->count);
    for (size_t i = 0; i < again.count; i++) {
        must(strcmp(again.items[i].name, managers->items[i].name) == 0);
        must(same_fields(&again.items[i].fields, &managers->items[i].fields));
    }
    ki__managers_done(&again);
    ki_object_unref(object);
    ki_buf_done(&text);
}

/* Applies; NULL if that is refused. */
static ki_object *apply(const ki__apply_write *write, const ki_value *live, const ki_value *config,
                        ki__managers *managers)
{
    ki_object_options options = {.size = sizeof(options), .max_bytes = 64 << 20, .max_depth = 1000};
    ki__apply_conflicts conflicts = {.alloc = ki_alloc_default()};
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_buf out;
    ki_buf_init(&out, NULL, 64 << 20);
    int r = ki__apply_config(write, live, config, managers, &conflicts, &out, &error);
    must(expected(r) && conflicts.count == 0);
    must(r != 0 || ki_object_from_json(out.data, out.len, &options, &object, NULL) == 0);
    ki_buf_done(&out);
    return object;
}

/* Whether a value is what a request may have as its body, or what can be stored. */
static bool is_object(const ki_value *value)
{
    ki_object *object = NULL;
    ki_buf text;
    ki_buf_init(&text, NULL, 64 << 20);
    must(ki_value_write_json(value, &text) == 0);
    int r = ki_object_from_json(text.data, text.len, NULL, &object, NULL);
    ki_object_unref(object);
    ki_buf_done(&text);
    return r == 0;
}

static void apply_twice(const ki_object *input, ki__managers *managers)
{
    ki_value live = member(input, "live");
    ki_value config = member(input, "config");
    ki_value schema = member(input, "schema");
    ki__apply_write write = {
        .type = ki_value_type(&schema) == KI_TYPE_MAP
                    ? ki__merge_type_custom(schema)
                    : ki__merge_type_builtin(ki_str_from("v1"), ki_str_from("Pod")),
        .who = {.name = "fuzz", .api_version = "v1", .applies = true},
        .force = true,
    };
    if (ki_value_type(&config) == KI_TYPE_NONE || !is_object(&config) ||
        (ki_value_type(&live) != KI_TYPE_NONE && !is_object(&live))) {
        return;
    }
    ki_object *first = apply(&write, &live, &config, managers);
    if (first != NULL) {
        ki_value before = ki_object_root(first);
        same_again(managers);
        ki_object *second = apply(&write, &before, &config, managers);
        must(second != NULL);
        must(ki_str_eq(ki_object_bytes(first), ki_object_bytes(second)));
        ki_object_unref(second);
    }
    ki_object_unref(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_object *input;
    ki__managers managers;
    if (ki_object_from_json(len != 0 ? (const char *)bytes : "", len, NULL, &input, NULL) < 0) {
        return 0;
    }
    ki_value list = member(input, "managed");
    ki__managers_init(&managers, NULL);
    int r = ki__managers_read(&managers, &list);
    must(expected(r));
    if (r == 0) {
        same_again(&managers);
        ki__managers_drop_empty(&managers);
        apply_twice(input, &managers);
    }
    ki__managers_done(&managers);
    ki_object_unref(input);
    return 0;
}

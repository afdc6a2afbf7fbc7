/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/merge_type.h"

#include "base/sort.h"
#include "object/json/json_value.h"

static void take_steps(const ki__merge_type *type, size_t bytes)
{
    if (type->steps != NULL) {
        size_t cost = bytes / KI__MERGE_STEP_BYTES + 1;
        *type->steps -= cost < *type->steps ? (uint32_t)cost : *type->steps;
    }
}

/* The member of a map in the schema of a type. The lookup is linear: a schema can be large and is
 * used for each field of an object, so the bytes skipped are charged. */
static ki_value member(const ki__merge_type *type, const ki_value *map, ki_str name)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    bool found = false;
    if ((type->steps != NULL && *type->steps == 0) || ki_value_type(map) != KI_TYPE_MAP ||
        ki_value_iter_begin(map, &iter) < 0) {
        return (ki_value){0};
    }
    while (!found && ki_value_iter_next(&iter, &key, &value) > 0) {
        found = ki_value_equals(&key, name);
    }
    take_steps(type, (size_t)((const char *)iter.next - (const char *)map->bytes));
    return found ? value : (ki_value){0};
}

static ki_value member_text(const ki__merge_type *type, const ki_value *map, const char *name)
{
    return member(type, map, ki_str_from(name));
}

static const ki__merge_rule *find_rule(const ki__schema_field *field)
{
    size_t low = 0;
    size_t high = ki__merge_rule_count;
    size_t wanted = (size_t)(field - ki__schema_fields);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki__merge_rules[middle].field < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < ki__merge_rule_count && ki__merge_rules[low].field == wanted;
    return found ? &ki__merge_rules[low] : NULL;
}

/* ---- object types ---- */

ki__merge_type ki__merge_type_builtin(ki_str api_version, ki_str kind)
{
    return (ki__merge_type){.message = ki__schema_of_kind(api_version, kind), .is_root = true};
}

ki__merge_type ki__merge_type_custom(ki_value schema)
{
    return (ki__merge_type){.schema = schema, .is_root = true};
}

/* ---- nested types ---- */

static ki__merge_type type_of_field(const ki__schema_field *field)
{
    const unsigned omitted = KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY | KI__SCHEMA_OMIT_ZERO;
    return (ki__merge_type){
        .message = field->type == KI__SCHEMA_MESSAGE ? &ki__schema_messages[field->message] : NULL,
        .many = (field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0,
        .named = true,
        .shown = (field->flags & omitted) == 0,
        .rule = find_rule(field),
    };
}

static ki__merge_type type_of_property(const ki__merge_type *map, ki_str name)
{
    ki_value properties = member_text(map, &map->schema, "properties");
    ki_value property = member(map, &properties, name);
    if (ki_value_type(&property) == KI_TYPE_MAP) {
        return (ki__merge_type){.schema = property, .named = true, .steps = map->steps};
    }
    ki_value others = member_text(map, &map->schema, "additionalProperties");
    bool has_schema = ki_value_type(&others) == KI_TYPE_MAP;
    return (ki__merge_type){.schema = has_schema ? others : (ki_value){0}, .steps = map->steps};
}

static bool has_whole(const ki__merge_type *many)
{
    return many->rule != NULL && many->rule->whole != 0;
}

ki__merge_type ki__merge_type_member(const ki__merge_type *map, ki_str name)
{
    if (map->is_root && map->message == NULL && ki_str_eq_text(name, "metadata")) {
        return (ki__merge_type){
            .message = &ki__schema_messages[KI__SCHEMA_OBJECT_META], .named = true, .shown = true};
    }
    if (map->message != NULL && !map->many) {
        const ki__schema_field *field = ki__schema_field_by_name(map->message, name);
        return field != NULL ? type_of_field(field) : (ki__merge_type){0};
    }
    if (map->message != NULL) {
        return (ki__merge_type){.message = map->message, .whole = has_whole(map)};
    }
    return type_of_property(map, name);
}

ki__merge_type ki__merge_type_element(const ki__merge_type *list)
{
    return (ki__merge_type){
        .message = list->many ? list->message : NULL,
        .whole = has_whole(list),
        .schema = member_text(list, &list->schema, "items"),
        .steps = list->steps,
    };
}

/* ---- merge strategy ---- */

static bool is_text(const ki__merge_type *type, const char *name, const char *text)
{
    ki_value value = member_text(type, &type->schema, name);
    return ki_value_equals(&value, ki_str_from(text));
}

ki__merge_how ki__merge_type_how(const ki__merge_type *type)
{
    if (type->whole) {
        return KI__MERGE_ATOMIC;
    }
    if (type->rule != NULL) {
        return (ki__merge_how)type->rule->how;
    }
    if (ki_value_type(&type->schema) != KI_TYPE_MAP) {
        return KI__MERGE_USUAL;
    }
    static const char list_type[] = "x-kubernetes-list-type";
    return is_text(type, "x-kubernetes-map-type", "atomic") ? KI__MERGE_ATOMIC
           : is_text(type, list_type, "set")                ? KI__MERGE_SET
           : is_text(type, list_type, "map")                ? KI__MERGE_KEYS
                                                            : KI__MERGE_USUAL;
}

bool ki__merge_type_is_whole(const ki__merge_type *type, ki_type value)
{
    ki__merge_how how = ki__merge_type_how(type);
    if (value == KI_TYPE_MAP) {
        return how == KI__MERGE_ATOMIC;
    }
    return value != KI_TYPE_LIST || how == KI__MERGE_ATOMIC || how == KI__MERGE_USUAL;
}

/* ---- keys ---- */

static int compare_names(const void *a, const void *b)
{
    return ki_str_cmp(*(const ki_str *)a, *(const ki_str *)b);
}

size_t ki__merge_type_keys(const ki__merge_type *list, ki_str keys[KI__MERGE_KEYS_MAX])
{
    size_t count = 0;
    if (list->rule != NULL) {
        for (; count < list->rule->key_count; count++) {
            keys[count] = ki__schema_name(list->rule->keys[count]);
        }
    } else {
        ki_value names = member_text(list, &list->schema, "x-kubernetes-list-map-keys");
        ki_value_iter iter;
        ki_value name;
        if (ki_value_type(&names) == KI_TYPE_LIST && ki_value_iter_begin(&names, &iter) == 0) {
            while (count < KI__MERGE_KEYS_MAX && ki_value_iter_next(&iter, NULL, &name) > 0) {
                count += ki_value_string(&name, &keys[count]) == 0 ? 1 : 0;
            }
        }
    }
    ki__sort(keys, count, sizeof(keys[0]), compare_names);
    return count;
}

bool ki__merge_type_key_default(const ki__merge_type *list, ki_str key, ki_value *ret_value)
{
    /* The only key with a default in the built-in kinds. Padded, as required for JSON values. */
    static const char tcp[] = "\"TCP\"                                                            ";
    if (list->rule != NULL) {
        *ret_value = ki__json_value_at(tcp, tcp + 5);
        return ki_str_eq_text(key, "protocol");
    }
    ki_value items = member_text(list, &list->schema, "items");
    ki_value properties = member_text(list, &items, "properties");
    ki_value property = member(list, &properties, key);
    *ret_value = member_text(list, &property, "default");
    return ki_value_type(ret_value) != KI_TYPE_NONE;
}

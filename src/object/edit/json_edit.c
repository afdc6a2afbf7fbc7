/* SPDX-License-Identifier: Apache-2.0 */
/* Copies members, and sets or removes one by path: the text around the change is copied. */
#include "object/edit/json_edit.h"

#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "object/edit/json_out.h"
#include "object/json/json_skip.h"

static bool is_skipped(const ki_value *key, const char *const *skip)
{
    for (; *skip != NULL; skip++) {
        if (ki_value_equals(key, ki_str_from(*skip))) {
            return true;
        }
    }
    return false;
}

void ki__json_copy_members(const ki_value *map, const char *const *skip, ki__out *out)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_iter_begin(map, &iter) < 0) {
        return;
    }
    while (out->error == 0 && ki_value_iter_next(&iter, &key, &value) > 0) {
        if (!is_skipped(&key, skip)) {
            ki__put_name_value(out, &key);
            ki__put_value(out, &value);
        }
    }
}

/* ---- paths ---- */

/* Follows the path as far as it exists. *ret_value is the last member found, or the root; returns
 * the number of steps found, or KI_ERR_TYPE. */
static int follow(const ki_object *object, const char *const *path, size_t steps,
                  ki_value *ret_value)
{
    ki_value value = ki_object_root(object);
    size_t found = 0;
    for (; found < steps; found++) {
        if (ki_value_type(&value) != KI_TYPE_MAP) {
            return KI_ERR_TYPE;
        }
        ki_value next;
        if (ki_value_member(&value, ki_str_from(path[found]), &next) < 0) {
            break;
        }
        value = next;
    }
    *ret_value = value;
    return (int)found;
}

/* Appends a range of the object's text. */
static void add_range(ki__out *out, const char *from, const char *to)
{
    ki__out_str(out, ki_str_make(from, (size_t)(to - from)));
}

static void add_nested(ki__out *out, const char *const *path, size_t steps, ki_str json)
{
    for (size_t i = 0; i < steps; i++) {
        ki__out_text(out, i != 0 ? "{" : "");
        ki__put_name_str(out, ki_str_from(path[i]));
    }
    ki__out_str(out, json);
    for (size_t i = 1; i < steps; i++) {
        ki__out_char(out, '}');
    }
}

int ki__json_set(const ki_object *object, const char *const *path, size_t steps, ki_str json,
                 ki_buf *buf)
{
    ki_value value;
    ki_str text = ki_object_bytes(object);
    int found = follow(object, path, steps, &value);
    if (found < 0) {
        return found;
    }
    ki__out out = ki__out_to(buf);
    const char *place = value.bytes;
    const char *after = ki__json_skip_value(place);
    if ((size_t)found == steps) {
        add_range(&out, text.ptr, place);
        ki__out_str(&out, json);
        add_range(&out, after, text.ptr + text.len);
        return out.error;
    }
    if (*place != '{') {
        return KI_ERR_TYPE;
    }
    bool empty = *ki__json_skip_space(place + 1) == '}';
    add_range(&out, text.ptr, after - 1);
    ki__out_text(&out, empty ? "" : ","); /* white space may precede it */
    add_nested(&out, path + found, steps - (size_t)found, json);
    add_range(&out, after - 1, text.ptr + text.len);
    return out.error;
}

/* The range of a member, including the comma to remove with it. */
static bool member_range(const ki_value *map, const char *name, const char **ret_from,
                         const char **ret_to)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    const char *before = NULL; /* end of the previous member */
    if (ki_value_iter_begin(map, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        const char *end = ki__json_skip_value(value.bytes);
        if (ki_value_equals(&key, ki_str_from(name))) {
            const char *next = ki__json_skip_space(end);
            bool last = *next != ',';
            *ret_from = last && before != NULL ? before : key.bytes;
            *ret_to = last ? end : next + 1;
            return true;
        }
        before = end;
    }
    return false;
}

int ki__json_remove(const ki_object *object, const char *const *path, size_t steps, ki_buf *buf)
{
    ki_value map;
    ki_str text = ki_object_bytes(object);
    const char *from;
    const char *to;
    int found = steps != 0 ? follow(object, path, steps - 1, &map) : KI_ERR_TYPE;
    if (found < 0) {
        return found;
    }
    if ((size_t)found < steps - 1 || ki_value_type(&map) != KI_TYPE_MAP ||
        !member_range(&map, path[steps - 1], &from, &to)) {
        return ki_buf_add_str(buf, text);
    }
    ki__out out = ki__out_to(buf);
    add_range(&out, text.ptr, from);
    add_range(&out, to, text.ptr + text.len);
    return out.error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copying members, and setting and removing one by its path: all of them copy the text around the
 * place that changes. */
#include "object/edit/json_edit.h"

#include <kinformer/error.h>

#include "object/edit/json_emit.h"
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

int ki__json_copy_members(const ki_value *map, const char *const *skip, bool *first, ki_buf *out)
{
    ki_iter iter;
    ki_value key;
    ki_value value;
    if (ki_value_type(map) != KI_TYPE_MAP || ki_value_iter(map, &iter) < 0) {
        return 0;
    }
    while (ki_iter_next(&iter, &key, &value) > 0) {
        if (is_skipped(&key, skip)) {
            continue;
        }
        int r = *first ? 0 : ki_buf_add_char(out, ',');
        r = r < 0 ? r : ki_value_write_json(&key, out);
        r = r < 0 ? r : ki_buf_add_char(out, ':');
        r = r < 0 ? r : ki_value_write_json(&value, out);
        if (r < 0) {
            return r;
        }
        *first = false;
    }
    return 0;
}

/* ---- by path ---- */

/* Follows the path as far as there are members. *ret_value is the last one found, or the root; the
 * result is how many steps were found, or KI_ERR_TYPE. */
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

/* The text from one place to another, of which the object has both. */
static int add_range(ki_buf *out, const char *from, const char *to)
{
    return ki_buf_add(out, from, (size_t)(to - from));
}

static int add_nested(ki_buf *out, const char *const *path, size_t steps, ki_str json)
{
    int r = 0;
    for (size_t i = 0; i < steps && r == 0; i++) {
        r = i != 0 ? ki_buf_add_char(out, '{') : 0;
        r = r < 0 ? r : ki__emit_string(out, ki_str_from(path[i]));
        r = r < 0 ? r : ki_buf_add_char(out, ':');
    }
    r = r < 0 ? r : ki_buf_add_str(out, json);
    for (size_t i = 1; i < steps && r == 0; i++) {
        r = ki_buf_add_char(out, '}');
    }
    return r;
}

int ki__json_set(const ki_object *object, const char *const *path, size_t steps, ki_str json,
                 ki_buf *out)
{
    ki_value value;
    ki_str text = ki_object_bytes(object);
    int found = follow(object, path, steps, &value);
    if (found < 0) {
        return found;
    }
    const char *place = value.bytes;
    const char *after = ki__json_skip_value(place);
    if ((size_t)found == steps) {
        int r = add_range(out, text.ptr, place);
        r = r < 0 ? r : ki_buf_add_str(out, json);
        return r < 0 ? r : add_range(out, after, text.ptr + text.len);
    }
    if (*place != '{') {
        return KI_ERR_TYPE;
    }
    bool empty = *ki__json_skip_space(place + 1) == '}';
    int r = add_range(out, text.ptr, after - 1);
    r = r < 0 || empty ? r : ki_buf_add_char(out, ',');
    r = r < 0 ? r : add_nested(out, path + found, steps - (size_t)found, json);
    return r < 0 ? r : add_range(out, after - 1, text.ptr + text.len);
}

/* Where the member begins and ends, with the one comma that goes with it. */
static bool member_range(const ki_value *map, const char *name, const char **ret_from,
                         const char **ret_to)
{
    ki_iter iter;
    ki_value key;
    ki_value value;
    const char *before = NULL; /* the end of the member before it */
    if (ki_value_iter(map, &iter) < 0) {
        return false;
    }
    while (ki_iter_next(&iter, &key, &value) > 0) {
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

int ki__json_remove(const ki_object *object, const char *const *path, size_t steps, ki_buf *out)
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
        return ki_buf_add_str(out, text);
    }
    int r = add_range(out, text.ptr, from);
    return r < 0 ? r : add_range(out, to, text.ptr + text.len);
}

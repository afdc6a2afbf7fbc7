/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON values in place. All text was validated when its object was created. In a value,
 * `schema` points to the shortcuts if it is the root of an object and is NULL otherwise. For a
 * root, `detail` is the number of bytes before it; otherwise the length of a map known to be flat,
 * or 0. */
#include "object/json/json_value.h"

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "object/json/json_flat.h"
#include "object/json/json_number.h"
#include "object/json/json_skip.h"
#include "object/json/json_string.h"

static const char *place(const ki_value *value)
{
    return value->bytes;
}

static ki_type json_type(const ki_value *value)
{
    return ki__json_type_at(place(value));
}

/* ---- strings ---- */

static ki_str raw_string(const char *p)
{
    return ki_str_make(p + 1, (size_t)(ki__json_string_end(p + 1) - p) - 1);
}

static int json_string(const ki_value *value, ki_str *ret_text)
{
    const char *p = place(value) + 1;
    const char *end = ki__json_find_quote(p);
    if (*end != '"') {
        return KI_ERR_NOT_PLAIN;
    }
    *ret_text = ki_str_make(p, (size_t)(end - p));
    return 0;
}

static size_t json_decode(const ki_value *value, char *out, size_t size)
{
    return ki__json_decode(raw_string(place(value)), out, size);
}

/* Whether the string at `p` decodes to `text`. *ret_after is the position after it. */
static inline bool string_is(const char *p, ki_str text, const char **ret_after)
{
    const char *end = ki__json_find_quote(p + 1);
    if (*end != '"') {
        end = ki__json_string_end(end);
        *ret_after = end + 1;
        return ki__json_raw_equals(ki_str_make(p + 1, (size_t)(end - p) - 1), text);
    }
    *ret_after = end + 1;
    size_t len = (size_t)(end - p) - 1;
    return len == text.len && (len == 0 || memcmp(p + 1, text.ptr, len) == 0);
}

static bool json_equals(const ki_value *value, ki_str text)
{
    const char *after;
    return string_is(place(value), text, &after);
}

/* ---- numbers and booleans ---- */

static int json_number_text(const ki_value *value, ki_str *ret_text)
{
    const char *p = place(value);
    *ret_text = ki_str_make(p, (size_t)(ki__json_skip_value(p) - p));
    return 0;
}

static int json_int64(const ki_value *value, int64_t *ret_number)
{
    const char *p = place(value);
    return ki__json_int64(ki_str_make(p, (size_t)(ki__json_skip_value(p) - p)), ret_number);
}

static int json_double(const ki_value *value, double *ret_number)
{
    const char *p = place(value);
    return ki__json_double(ki_str_make(p, (size_t)(ki__json_skip_value(p) - p)), ret_number);
}

static bool json_bool(const ki_value *value)
{
    return *place(value) == 't';
}

/* ---- maps and lists ---- */

/* Whether the shortcuts cover the member `name` of a root; *ret_offset is 0 if it is absent. */
static bool find_shortcut(const ki__json_shortcuts *shortcuts, ki_str name, uint32_t *ret_offset)
{
    if (ki_str_eq_text(name, "spec")) {
        *ret_offset = shortcuts->spec;
    } else if (ki_str_eq_text(name, "status")) {
        *ret_offset = shortcuts->status;
    } else if (ki_str_eq_text(name, "metadata")) {
        *ret_offset = shortcuts->metadata;
    } else {
        return false;
    }
    return true;
}

/* `p` is after a member name; returns its value. */
static inline const char *after_colon(const char *p)
{
    return ki__json_skip_space(ki__json_skip_space(p) + 1);
}

/* `p` is at a value; returns the next name or value, or the closing bracket. */
static inline const char *next_item(const char *p)
{
    p = ki__json_skip_space(ki__json_skip_value(p));
    return *p == ',' ? ki__json_skip_space(p + 1) : p;
}

static int json_member(const ki_value *map, ki_str name, ki_value *ret_member)
{
    const char *p = place(map);
    const char *end = p + map->len;
    if (map->schema == NULL && map->detail != 0 && ki__json_flat_can_find(name)) {
        p = ki__json_flat_find(p, (size_t)map->detail, name);
        if (p == NULL) {
            return KI_ERR_NOT_FOUND;
        }
        *ret_member = ki__json_value_at(p, end);
        return 0;
    }
    uint32_t offset;
    if (map->schema != NULL && find_shortcut(map->schema, name, &offset)) {
        if (offset == 0) {
            return KI_ERR_NOT_FOUND;
        }
        *ret_member = ki__json_value_at(p - (size_t)map->detail + offset, end);
        return 0;
    }
    p = ki__json_skip_space(p + 1);
    while (*p == '"') {
        bool found = string_is(p, name, &p);
        p = after_colon(p);
        if (found) {
            *ret_member = ki__json_value_at(p, end);
            return 0;
        }
        p = next_item(p);
    }
    return KI_ERR_NOT_FOUND;
}

/* Either `next` is the last returned value and detail[0] is 1; or, at the start and the end, it is
 * the next name, value or closing bracket and detail[0] is 0. */
static void json_iter_init(ki_value_iter *iter)
{
    iter->next = ki__json_skip_space(place(&iter->container) + 1);
}

static int json_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value)
{
    const char *p = iter->next;
    const char *end = place(&iter->container) + iter->container.len;
    if (iter->detail[0] != 0) {
        p = next_item(p);
    }
    bool map = *place(&iter->container) == '{';
    iter->next = p;
    iter->detail[0] = 0;
    if (*p == (map ? '}' : ']')) {
        return 0;
    }
    ki_value key = {0};
    if (map) {
        key = ki__json_value_at(p, end);
        p = after_colon(ki__json_string_end(p + 1) + 1);
    }
    if (ret_key != NULL) {
        *ret_key = key;
    }
    *ret_value = ki__json_value_at(p, end);
    iter->next = p;
    iter->detail[0] = 1;
    return 1;
}

static int json_write(const ki_value *value, ki_buf *out)
{
    const char *p = place(value);
    return ki_buf_add(out, p, (size_t)(ki__json_skip_value(p) - p));
}

const ki__value_ops ki__json_value_ops = {
    .type = json_type,
    .string = json_string,
    .decode = json_decode,
    .equals = json_equals,
    .number_text = json_number_text,
    .int64 = json_int64,
    .real = json_double,
    .boolean = json_bool,
    .member = json_member,
    .iter_init = json_iter_init,
    .iter_next = json_iter_next,
    .write_json = json_write,
};

ki_value ki__json_root(ki_str text, const ki__json_shortcuts *shortcuts)
{
    const char *p = ki__json_skip_space(text.ptr);
    ki_value root = ki__json_value_at(p, text.ptr + text.len);
    root.schema = shortcuts;
    root.detail = (uint64_t)(p - text.ptr);
    return root;
}

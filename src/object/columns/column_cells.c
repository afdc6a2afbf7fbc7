/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that any kind may have, by paths. Those of single kinds are in kind_cells.c. */
#include "object/columns/column_cells.h"

#include "object/columns/cell_values.h"
#include "object/edit/json_emit.h"
#include "object/text/rfc3339.h"

/* ---- values ---- */

static ki_value value_below(ki_value value, const char *path)
{
    while (*path != '\0') {
        const char *dot = strchr(path, '.');
        size_t len = dot != NULL ? (size_t)(dot - path) : strlen(path);
        ki_value child;
        bool found = ki_value_member(&value, ki_str_make(path, len), &child) == 0;
        value = found ? child : (ki_value){0};
        path += len + (dot != NULL ? 1 : 0);
    }
    return value;
}

ki_value ki__cell_value_at(const ki_object *object, const char *path)
{
    return value_below(ki_object_root(object), path);
}

int64_t ki__cell_time_at(const ki_object *object, const char *path)
{
    char text[64];
    int64_t seconds;
    ki_value value = ki__cell_value_at(object, path);
    bool is_time = ki_value_get_string(&value, text, sizeof(text)) >= 0 &&
                   ki__rfc3339_read(ki_str_from(text), &seconds) == 0;
    return is_time ? seconds : 0;
}

static int64_t number_at(const ki_object *object, const char *path, int64_t otherwise)
{
    ki_value value = ki__cell_value_at(object, path);
    int64_t number;
    return ki_value_int64(&value, &number) == 0 ? number : otherwise;
}

static size_t count_at(const ki_object *object, const char *path)
{
    ki_value value = ki__cell_value_at(object, path);
    size_t count;
    return ki_value_count(&value, &count) == 0 ? count : 0;
}

/* ---- texts ---- */

int ki__cell_add_value(const ki_value *value, const char *otherwise, ki_buf *out)
{
    switch (ki_value_type(value)) {
    case KI_TYPE_STRING:
        if (!ki_value_equals(value, ki_str_from(""))) {
            return ki_value_copy_string(value, out);
        }
        break;
    case KI_TYPE_NUMBER:
    case KI_TYPE_BOOL:
        return ki_value_write_json(value, out);
    case KI_TYPE_NONE:
    case KI_TYPE_NULL:
    case KI_TYPE_LIST:
    case KI_TYPE_MAP:
    case KI_TYPE_MAX:
        break;
    }
    return ki_buf_add_text(out, otherwise);
}

int ki__cell_add_age(int64_t from, int64_t to, ki_buf *out)
{
    int64_t age;
    if (from == 0) {
        return ki_buf_add_text(out, "<unknown>");
    }
    return ki_age_write(__builtin_sub_overflow(to, from, &age) ? INT64_MIN : age, out);
}

int ki__cell_add_list(const ki_object *object, const char *path, const char *below,
                      const char *otherwise, ki_buf *out)
{
    ki_value list = ki__cell_value_at(object, path);
    ki_iter iter;
    ki_value element;
    size_t begin = out->len;
    int r = 0;
    if (ki_value_type(&list) != KI_TYPE_LIST || ki_value_iter(&list, &iter) < 0) {
        return ki_buf_add_text(out, otherwise);
    }
    while (r == 0 && ki_iter_next(&iter, NULL, &element) > 0) {
        ki_value part = value_below(element, below);
        if (ki_value_type(&part) == KI_TYPE_STRING) {
            r = ki_buf_add_text(out, out->len != begin ? "," : "");
            r = r < 0 ? r : ki_value_copy_string(&part, out);
        }
    }
    return r < 0 || out->len != begin ? r : ki_buf_add_text(out, otherwise);
}

/* ---- cells ---- */

static int write_text(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    ki_value value = ki__cell_value_at(o, c->path);
    return ki__cell_add_value(&value, c->other, out);
}

static int write_number(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    return ki__emit_i64(out, number_at(o, c->path, 0));
}

static int write_flag(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    ki_value value = ki__cell_value_at(o, c->path);
    bool flag = false;
    return ki_buf_add_text(out, ki_value_bool(&value, &flag) == 0 && flag ? "true" : "false");
}

static int write_ago(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    int64_t then = ki__cell_time_at(o, c->path);
    then = then != 0 ? then : ki__cell_time_at(o, c->other);
    return ki__cell_add_age(then != 0 ? then : ki_object_creation_time(o), now_s, out);
}

static int write_since(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    int64_t then = ki__cell_time_at(o, c->path);
    return then != 0 ? ki__cell_add_age(then, now_s, out) : ki_buf_add_text(out, "<none>");
}

static int write_count(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    size_t count = count_at(o, c->path) + (c->other != NULL ? count_at(o, c->other) : 0);
    return ki__emit_u64(out, count);
}

static int write_ratio(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    int r = ki__emit_i64(out, number_at(o, c->path, 0));
    r = r < 0 ? r : ki_buf_add_char(out, '/');
    return r < 0 ? r : ki__emit_i64(out, number_at(o, c->other, 1));
}

static int write_list(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    return ki__cell_add_list(o, c->path, c->other, "<none>", out);
}

static int write_labels(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    ki_value map = ki__cell_value_at(o, c->path);
    ki_iter iter;
    ki_value key;
    ki_value value;
    size_t begin = out->len;
    int r = 0;
    if (ki_value_type(&map) != KI_TYPE_MAP || ki_value_iter(&map, &iter) < 0) {
        return ki_buf_add_text(out, "<none>");
    }
    while (r == 0 && ki_iter_next(&iter, &key, &value) > 0) {
        r = ki_buf_add_text(out, out->len != begin ? "," : "");
        r = r < 0 ? r : ki_value_copy_string(&key, out);
        r = r < 0 ? r : ki_buf_add_char(out, '=');
        r = r < 0 ? r : ki__cell_add_value(&value, "", out);
    }
    return r < 0 || out->len != begin ? r : ki_buf_add_text(out, "<none>");
}

static int write_role(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)now_s;
    ki_value reference = ki__cell_value_at(o, c->path);
    ki_value kind = value_below(reference, "kind");
    ki_value name = value_below(reference, "name");
    int r = ki__cell_add_value(&kind, "", out);
    r = r < 0 ? r : ki_buf_add_char(out, '/');
    return r < 0 ? r : ki__cell_add_value(&name, "", out);
}

static int write_name(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)c;
    (void)now_s;
    return ki_buf_add_text(out, ki_object_name(o));
}

static int write_age(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)c;
    return ki__cell_add_age(ki_object_creation_time(o), now_s, out);
}

static int write_created(const ki_column *c, const ki_object *o, int64_t now_s, ki_buf *out)
{
    (void)c;
    (void)now_s;
    return ki__emit_time(out, ki_object_creation_time(o));
}

const ki__cell ki__cell_text = {write_text, KI_CELL_TEXT};
const ki__cell ki__cell_number = {write_number, KI_CELL_NUMBER};
const ki__cell ki__cell_flag = {write_flag, KI_CELL_BOOL};
const ki__cell ki__cell_ago = {write_ago, KI_CELL_TIME};
const ki__cell ki__cell_since = {write_since, KI_CELL_TIME};
const ki__cell ki__cell_count = {write_count, KI_CELL_NUMBER};
const ki__cell ki__cell_ratio = {write_ratio, KI_CELL_TEXT};
const ki__cell ki__cell_list = {write_list, KI_CELL_TEXT};
const ki__cell ki__cell_labels = {write_labels, KI_CELL_TEXT};
const ki__cell ki__cell_role = {write_role, KI_CELL_TEXT};
const ki__cell ki__cell_name = {write_name, KI_CELL_NAME};
const ki__cell ki__cell_age = {write_age, KI_CELL_TIME};
const ki__cell ki__cell_created = {write_created, KI_CELL_TIME};

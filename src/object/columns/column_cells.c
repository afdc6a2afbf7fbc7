/* SPDX-License-Identifier: Apache-2.0 */
/* Generic cells, defined by paths. Those of single kinds are in kind_cells.c. */
#include "object/columns/column_cells.h"

#include "object/columns/cell_values.h"
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
    return ki_value_count(&value);
}

/* ---- text ---- */

ki_value_iter ki__cell_walk(const ki_value *value, ki_type type)
{
    ki_value_iter iter;
    bool walks = ki_value_type(value) == type && ki_value_iter_begin(value, &iter) == 0;
    return walks ? iter : (ki_value_iter){0};
}

void ki__cell_add_value(const ki_value *value, const char *otherwise, ki__out *out)
{
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_STRING && !ki_value_equals(value, ki_str_from(""))) {
        ki__out_content(out, value);
    } else if (type == KI_TYPE_NUMBER || type == KI_TYPE_BOOL) {
        ki__out_fail(out, ki_value_write_json(value, out->buf));
    } else {
        ki__out_text(out, otherwise);
    }
}

void ki__cell_add_age(int64_t from, int64_t to, ki__out *out)
{
    int64_t age;
    if (from == 0) {
        ki__out_text(out, "<unknown>");
        return;
    }
    bool valid = !__builtin_sub_overflow(to, from, &age);
    ki__out_fail(out, ki_age_write(valid ? age : INT64_MIN, out->buf));
}

void ki__cell_add_list(const ki_object *object, const char *path, const char *below,
                       const char *otherwise, ki__out *out)
{
    ki_value list = ki__cell_value_at(object, path);
    ki_value element;
    size_t begin = out->buf->len;
    ki_value_iter iter = ki__cell_walk(&list, KI_TYPE_LIST);
    while (ki_value_iter_next(&iter, NULL, &element) > 0) {
        ki_value part = value_below(element, below);
        if (ki_value_type(&part) == KI_TYPE_STRING) {
            ki__cell_add_comma(begin, out);
            ki__out_content(out, &part);
        }
    }
    ki__cell_add_if_empty(begin, otherwise, out);
}

/* ---- cells ---- */

static void write_text(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value value = ki__cell_value_at(o, c->path);
    ki__cell_add_value(&value, c->other, out);
}

static void write_number(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki__out_i64(out, number_at(o, c->path, 0));
}

static void write_flag(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value value = ki__cell_value_at(o, c->path);
    bool flag = false;
    ki__out_text(out, ki_value_bool(&value, &flag) == 0 && flag ? "true" : "false");
}

static void write_ago(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    int64_t then = ki__cell_time_at(o, c->path);
    then = then != 0 ? then : ki__cell_time_at(o, c->other);
    ki__cell_add_age(then != 0 ? then : ki_object_creation_time(o), now_s, out);
}

static void write_since(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    int64_t then = ki__cell_time_at(o, c->path);
    if (then != 0) {
        ki__cell_add_age(then, now_s, out);
    } else {
        ki__out_text(out, "<none>");
    }
}

static void write_count(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    size_t count = count_at(o, c->path) + (c->other != NULL ? count_at(o, c->other) : 0);
    ki__out_u64(out, count);
}

static void write_ratio(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki__out_i64(out, number_at(o, c->path, 0));
    ki__out_char(out, '/');
    ki__out_i64(out, number_at(o, c->other, 1));
}

static void write_list(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki__cell_add_list(o, c->path, c->other, "<none>", out);
}

static void write_labels(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value map = ki__cell_value_at(o, c->path);
    ki_value key;
    ki_value value;
    size_t begin = out->buf->len;
    ki_value_iter iter = ki__cell_walk(&map, KI_TYPE_MAP);
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        ki__cell_add_comma(begin, out);
        ki__out_content(out, &key);
        ki__out_char(out, '=');
        ki__cell_add_value(&value, "", out);
    }
    ki__cell_add_if_empty(begin, "<none>", out);
}

static void write_role(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)now_s;
    ki_value reference = ki__cell_value_at(o, c->path);
    ki_value kind = value_below(reference, "kind");
    ki_value name = value_below(reference, "name");
    ki__cell_add_value(&kind, "", out);
    ki__out_char(out, '/');
    ki__cell_add_value(&name, "", out);
}

static void write_name(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki__out_text(out, ki_object_name(o));
}

static void write_age(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)c;
    ki__cell_add_age(ki_object_creation_time(o), now_s, out);
}

static void write_created(const ki_column *c, const ki_object *o, int64_t now_s, ki__out *out)
{
    (void)c;
    (void)now_s;
    ki__out_time(out, ki_object_creation_time(o));
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

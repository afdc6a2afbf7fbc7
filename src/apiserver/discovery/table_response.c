/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/table_response.h"

#include <errno.h>

#include <kinformer/path.h>

#include "object/edit/json_emit.h"
#include "object/text/rfc3339.h"

/* ---- ages ---- */

static int add_unit(ki_buf *out, int64_t number, const char *unit)
{
    int r = ki__emit_i64(out, number);
    return r < 0 ? r : ki_buf_add_text(out, unit);
}

/* A large unit, and a small one unless there is nothing of it. */
static int add_two(ki_buf *out, int64_t seconds, int64_t large, const char *large_unit,
                   int64_t small, const char *small_unit)
{
    int r = add_unit(out, seconds / large, large_unit);
    int64_t rest = seconds % large / small;
    return r < 0 || rest == 0 ? r : add_unit(out, rest, small_unit);
}

int ki__api_age(int64_t seconds, int64_t now, ki_buf *out)
{
    const int64_t minute = 60;
    const int64_t hour = 60 * minute;
    const int64_t day = 24 * hour;
    const int64_t year = 365 * day;
    int64_t age = now - seconds;
    if (age < 0) {
        return ki_buf_add_text(out, age < -1 ? "<invalid>" : "0s");
    }
    if (age < 2 * minute) {
        return add_unit(out, age, "s");
    }
    if (age < 10 * minute) {
        return add_two(out, age, minute, "m", 1, "s");
    }
    if (age < 3 * hour) {
        return add_unit(out, age / minute, "m");
    }
    if (age < 8 * hour) {
        return add_two(out, age, hour, "h", minute, "m");
    }
    if (age < 2 * day) {
        return add_unit(out, age / hour, "h");
    }
    if (age < 8 * day) {
        return add_two(out, age, day, "d", hour, "h");
    }
    if (age < 2 * year) {
        return add_unit(out, age / day, "d");
    }
    return age < 8 * year ? add_two(out, age, year, "y", day, "d") : add_unit(out, age / year, "y");
}

/* ---- the object of a row ---- */

int ki__api_table_metadata(const ki_object *object, ki_buf *out)
{
    ki_value metadata = ki__api_value_at(object, "metadata");
    int r = ki_buf_add_text(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
                                 "\"meta.k8s.io/v1\",\"metadata\":");
    if (ki_value_type(&metadata) == KI_TYPE_MAP) {
        r = r < 0 ? r : ki_value_write_json(&metadata, out);
    } else {
        r = r < 0 ? r : ki_buf_add_text(out, "{}");
    }
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

static int write_object(const ki__api_exchange *x, const ki_object *object, ki_buf *out)
{
    if (strcmp(x->route.include_object, "None") == 0) {
        return ki_buf_add_text(out, "null");
    }
    if (strcmp(x->route.include_object, "Object") == 0) {
        return ki_buf_add_str(out, ki_object_bytes(object));
    }
    return ki__api_table_metadata(object, out);
}

/* ---- columns of definitions ---- */

static ki_value member(const ki_value *map, const char *name)
{
    ki_value value;
    return ki_value_member(map, ki_str_from(name), &value) == 0 ? value : (ki_value){0};
}

/* Whether the definition of a type names columns. */
static bool custom_columns(const ki__api_type *type, ki_iter *ret_iter)
{
    ki_value version;
    if (!ki__api_type_version(type, &version)) {
        return false;
    }
    ki_value columns = member(&version, "additionalPrinterColumns");
    return ki_value_type(&columns) == KI_TYPE_LIST && ki_value_iter(&columns, ret_iter) == 0;
}

static int write_column(const char *name, const char *type, const char *format, int64_t priority,
                        bool first, ki_buf *out)
{
    int r = ki__emit_text(out, first ? "{" : ",{", NULL);
    r = r < 0 ? r : ki__emit_member(out, "name", ki_str_from(name), true);
    r = r < 0 ? r : ki__emit_member(out, "type", ki_str_from(type), false);
    r = r < 0 ? r : ki__emit_member(out, "format", ki_str_from(format), false);
    r = r < 0 ? r : ki_buf_add_text(out, ",\"description\":\"\",\"priority\":");
    r = r < 0 ? r : ki__emit_i64(out, priority);
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

static int write_custom_column(const ki_value *column, ki_buf *out)
{
    char name[128] = "";
    char type[32] = "string";
    int64_t priority = 0;
    ki_value value = member(column, "name");
    (void)ki__api_copy_text(&value, name, sizeof(name));
    value = member(column, "type");
    (void)ki__api_copy_text(&value, type, sizeof(type));
    value = member(column, "priority");
    if (ki_value_int64(&value, &priority) < 0) {
        priority = 0;
    }
    return write_column(name, type, "", priority, false, out);
}

/* A date is shown as its age. */
static int write_custom_value(const ki_value *value, bool date, int64_t now, ki_buf *out)
{
    char text[64];
    int64_t seconds;
    if (!date || !ki__api_copy_text(value, text, sizeof(text)) ||
        ki__rfc3339_read(ki_str_from(text), &seconds) < 0) {
        return ki_value_write_json(value, out);
    }
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki__api_age(seconds, now, out);
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int write_custom_cell(const ki__api_exchange *x, const ki_value *column,
                             const ki_object *object, int64_t now, ki_buf *out)
{
    ki_buf text;
    ki_path *path = NULL;
    ki_value json_path = member(column, "jsonPath");
    ki_value type = member(column, "type");
    ki_value value;
    ki_buf_init(&text, x->alloc, 4096);
    int r = ki_value_type(&json_path) == KI_TYPE_STRING ? ki_value_copy_string(&json_path, &text)
                                                        : KI_ERR_NOT_FOUND;
    r = r < 0 ? r : ki_path_compile(ki_buf_text(&text), x->alloc, &path, NULL);
    r = r < 0 ? r : ki_object_get(object, path, &value);
    bool date = ki_value_equals(&type, ki_str_from("date"));
    if (r == 0) {
        r = write_custom_value(&value, date, now, out);
    } else if (r != -ENOMEM) { /* a path that leads nowhere, or is none, is an empty cell */
        r = ki_buf_add_text(out, date ? "\"<unknown>\"" : "null");
    }
    ki_path_unref(path);
    ki_buf_done(&text);
    return r;
}

/* ---- tables ---- */

int ki__api_table_columns(const ki__api_exchange *x, ki_buf *out)
{
    ki_iter iter;
    ki_value column;
    if (custom_columns(x->shown, &iter)) {
        int r = ki_buf_add_char(out, '[');
        r = r < 0 ? r : write_column("Name", "string", "name", 0, true, out);
        while (r == 0 && ki_iter_next(&iter, NULL, &column) > 0) {
            r = write_custom_column(&column, out);
        }
        return r < 0 ? r : ki_buf_add_char(out, ']');
    }
    int r = ki_buf_add_char(out, '[');
    const ki__api_column *c = ki__api_columns_of(x->shown->resource);
    for (size_t i = 0; c[i].name != NULL && r == 0; i++) {
        const char *format = strcmp(c[i].name, "Name") == 0 ? "name" : "";
        r = write_column(c[i].name, c[i].type, format, c[i].priority, i == 0, out);
    }
    return r < 0 ? r : ki_buf_add_char(out, ']');
}

static int write_cells(const ki__api_exchange *x, const ki_object *object, ki_buf *out)
{
    ki_iter iter;
    ki_value column;
    int64_t now = ki__api_model_seconds(x->model);
    if (custom_columns(x->shown, &iter)) {
        int r = ki__emit_string(out, ki_str_from(ki_object_name(object)));
        while (r == 0 && ki_iter_next(&iter, NULL, &column) > 0) {
            r = ki_buf_add_char(out, ',');
            r = r < 0 ? r : write_custom_cell(x, &column, object, now, out);
        }
        return r;
    }
    int r = 0;
    const ki__api_column *c = ki__api_columns_of(x->shown->resource);
    for (size_t i = 0; c[i].name != NULL && r == 0; i++) {
        r = i != 0 ? ki_buf_add_char(out, ',') : 0;
        r = r < 0 ? r : c[i].cell(object, &c[i], now, out);
    }
    return r;
}

int ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki_buf *out)
{
    int r = ki_buf_add_text(out, "{\"cells\":[");
    r = r < 0 ? r : write_cells(x, object, out);
    r = r < 0 ? r : ki_buf_add_text(out, "],\"object\":");
    r = r < 0 ? r : write_object(x, object, out);
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

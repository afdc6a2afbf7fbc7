/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/table_response.h"

#include <errno.h>

#include <kinformer/path.h>

#include "object/columns/kind_columns.h"
#include "object/edit/json_out.h"
#include "object/text/rfc3339.h"
#include "object/value.h"

#define TEXT_MAX ((size_t)1 << 30) /* upper bound for any object and any string in it */

/* ---- the object of a row ---- */

void ki__api_table_metadata(const ki_object *object, ki__out *out)
{
    ki_value root = ki_object_root(object);
    ki_value metadata = ki__value_child(&root, "metadata");
    ki__out_text(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":"
                      "\"meta.k8s.io/v1\",\"metadata\":");
    if (ki_value_type(&metadata) == KI_TYPE_MAP) {
        ki__put_value(out, &metadata);
    } else {
        ki__out_text(out, "{}");
    }
    ki__out_char(out, '}');
}

static void write_object(const ki__api_exchange *x, const ki_object *object, ki__out *out)
{
    if (strcmp(x->route.include_object, "None") == 0) {
        ki__out_text(out, "null");
        return;
    }
    if (strcmp(x->route.include_object, "Object") == 0) {
        ki__out_str(out, ki_object_bytes(object));
        return;
    }
    ki__api_table_metadata(object, out);
}

/* ---- columns of definitions ---- */

/* Whether the definition of a type has additionalPrinterColumns. */
static bool custom_columns(const ki__api_type *type, ki_value_iter *ret_iter)
{
    ki_value version;
    if (!ki__api_type_version(type, &version)) {
        return false;
    }
    ki_value columns = ki__value_child(&version, "additionalPrinterColumns");
    return ki_value_type(&columns) == KI_TYPE_LIST && ki_value_iter_begin(&columns, ret_iter) == 0;
}

static void write_column(const char *name, const char *type, const char *format, int64_t priority,
                         ki__out *out)
{
    ki__put_map(out);
    ki__put_member(out, "name", name);
    ki__put_member(out, "type", type);
    ki__put_member(out, "format", format);
    ki__put_member(out, "description", "");
    ki__put_name(out, "priority");
    ki__put_i64(out, priority);
    ki__put_end(out);
}

/* A string member that fits into the buffer, or `otherwise`. */
static const char *member_text(const ki_value *map, const char *name, const char *otherwise,
                               char *room, size_t size)
{
    ki_value value = ki__value_child(map, name);
    return ki_value_get_string(&value, room, size) >= 0 ? room : otherwise;
}

static void write_custom_column(const ki_value *column, ki__out *out)
{
    char name[128];
    char type[32];
    int64_t priority;
    ki_value value = ki__value_child(column, "priority");
    if (ki_value_int64(&value, &priority) < 0) {
        priority = 0;
    }
    write_column(member_text(column, "name", "", name, sizeof(name)),
                 member_text(column, "type", "string", type, sizeof(type)), "", priority, out);
}

/* Dates are shown as ages. */
static void write_custom_value(const ki_value *value, bool date, int64_t now, ki__out *out)
{
    char text[64];
    int64_t seconds;
    if (!date || ki_value_get_string(value, text, sizeof(text)) < 0 ||
        ki__rfc3339_read(ki_str_from(text), &seconds) < 0) {
        ki__put_value(out, value);
        return;
    }
    ki__put_comma(out);
    ki__out_char(out, '"');
    if (out->error == 0) {
        ki__out_fail(out, ki_age_write(now - seconds, out->buf));
    }
    ki__out_char(out, '"');
}

static void write_custom_cell(const ki__api_exchange *x, const ki_value *column,
                              const ki_object *object, int64_t now, ki__out *out)
{
    ki_buf text;
    ki_path *path = NULL;
    ki_value json_path = ki__value_child(column, "jsonPath");
    ki_value type = ki__value_child(column, "type");
    ki_value value;
    ki_buf_init(&text, x->alloc, 4096);
    int r = ki_value_type(&json_path) == KI_TYPE_STRING ? ki_value_copy_string(&json_path, &text)
                                                        : KI_ERR_NOT_FOUND;
    r = r < 0 ? r : ki_path_compile(ki_buf_text(&text), x->alloc, &path, NULL);
    r = r < 0 ? r : ki_object_get(object, path, &value);
    bool date = ki_value_equals(&type, ki_str_from("date"));
    if (r == 0) {
        write_custom_value(&value, date, now, out);
    } else if (r != -ENOMEM) { /* an invalid path, or one without a match, gives an empty cell */
        ki__put_json(out, ki_str_from(date ? "\"<unknown>\"" : "null"));
    } else {
        ki__out_fail(out, r);
    }
    ki_path_unref(path);
    ki_buf_done(&text);
}

/* ---- tables ---- */

void ki__api_table_columns(const ki__api_exchange *x, ki__out *out)
{
    ki_value_iter iter;
    ki_value column;
    ki__put_list(out);
    if (custom_columns(x->shown, &iter)) {
        write_column("Name", "string", "name", 0, out);
        while (out->error == 0 && ki_value_iter_next(&iter, NULL, &column) > 0) {
            write_custom_column(&column, out);
        }
    } else {
        const ki_column *c = NULL;
        for (size_t i = 0; (c = ki_column_at(x->shown->resource, i)) != NULL; i++) {
            bool is_name = ki_column_cell_type(c) == KI_CELL_NAME;
            write_column(ki_column_title(c), ki__column_table_type(c), is_name ? "name" : "",
                         ki_column_is_wide(c) ? 1 : 0, out);
        }
    }
    ki__put_end(out);
}

/* A cell is a JSON value: numbers and booleans as they are, everything else as a string. */
static void write_cell(const ki_column *column, const ki_object *object, int64_t now, ki_buf *text,
                       ki__out *out)
{
    ki_cell_type type = ki_column_cell_type(column);
    ki_buf_clear(text);
    ki__out_fail(out, ki_column_write(column, object, now, text));
    if (type == KI_CELL_NUMBER || type == KI_CELL_BOOL) {
        ki__put_json(out, ki_buf_str(text));
    } else {
        ki__put_string(out, ki_buf_str(text));
    }
}

static void write_cells(const ki__api_exchange *x, const ki_object *object, ki__out *out)
{
    ki_value_iter iter;
    ki_value column;
    int64_t now = ki__api_model_seconds(x->model);
    if (custom_columns(x->shown, &iter)) {
        ki__put_string(out, ki_str_from(ki_object_name(object)));
        while (out->error == 0 && ki_value_iter_next(&iter, NULL, &column) > 0) {
            write_custom_cell(x, &column, object, now, out);
        }
        return;
    }
    ki_buf text;
    ki_buf_init(&text, x->alloc, TEXT_MAX);
    const ki_column *c = ki_column_at(x->shown->resource, 0);
    for (size_t i = 1; c != NULL && out->error == 0; c = ki_column_at(x->shown->resource, i++)) {
        write_cell(c, object, now, &text, out);
    }
    ki_buf_done(&text);
}

void ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki__out *out)
{
    ki__put_map(out);
    ki__put_name(out, "cells");
    ki__put_list(out);
    write_cells(x, object, out);
    ki__put_end(out);
    ki__put_name(out, "object");
    write_object(x, object, out);
    ki__put_end(out);
}

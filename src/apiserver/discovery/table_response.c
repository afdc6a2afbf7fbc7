/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/table_response.h"

#include <errno.h>

#include <kinformer/path.h>

#include "object/columns/kind_columns.h"
#include "object/edit/json_emit.h"
#include "object/text/rfc3339.h"
#include "object/value.h"

#define TEXT_MAX ((size_t)1 << 30) /* no object is larger, nor a text in it */

/* ---- the object of a row ---- */

int ki__api_table_metadata(const ki_object *object, ki_buf *out)
{
    ki_value root = ki_object_root(object);
    ki_value metadata = ki__value_child(&root, "metadata");
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

/* Whether the definition of a type names columns. */
static bool custom_columns(const ki__api_type *type, ki_iter *ret_iter)
{
    ki_value version;
    if (!ki__api_type_version(type, &version)) {
        return false;
    }
    ki_value columns = ki__value_child(&version, "additionalPrinterColumns");
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

/* A member that is a string and fits into `room`, or `otherwise`. */
static const char *member_text(const ki_value *map, const char *name, const char *otherwise,
                               char *room, size_t size)
{
    ki_value value = ki__value_child(map, name);
    return ki_value_get_string(&value, room, size) >= 0 ? room : otherwise;
}

static int write_custom_column(const ki_value *column, ki_buf *out)
{
    char name[128];
    char type[32];
    int64_t priority;
    ki_value value = ki__value_child(column, "priority");
    if (ki_value_int64(&value, &priority) < 0) {
        priority = 0;
    }
    return write_column(member_text(column, "name", "", name, sizeof(name)),
                        member_text(column, "type", "string", type, sizeof(type)), "", priority,
                        false, out);
}

/* A date is shown as its age. */
static int write_custom_value(const ki_value *value, bool date, int64_t now, ki_buf *out)
{
    char text[64];
    int64_t seconds;
    if (!date || ki_value_get_string(value, text, sizeof(text)) < 0 ||
        ki__rfc3339_read(ki_str_from(text), &seconds) < 0) {
        return ki_value_write_json(value, out);
    }
    int r = ki_buf_add_char(out, '"');
    r = r < 0 ? r : ki_age_write(now - seconds, out);
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int write_custom_cell(const ki__api_exchange *x, const ki_value *column,
                             const ki_object *object, int64_t now, ki_buf *out)
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
    const ki_column *first = ki_column_first(x->shown->resource);
    for (const ki_column *c = first; c != NULL && r == 0; c = ki_column_next(c)) {
        bool is_name = ki_column_cell_type(c) == KI_CELL_NAME;
        r = write_column(ki_column_title(c), ki__column_table_type(c), is_name ? "name" : "",
                         ki_column_is_wide(c) ? 1 : 0, c == first, out);
    }
    return r < 0 ? r : ki_buf_add_char(out, ']');
}

/* A cell is a JSON value: numbers and booleans as they are, everything else as a string. */
static int write_cell(const ki_column *column, const ki_object *object, int64_t now, ki_buf *text,
                      ki_buf *out)
{
    ki_cell_type type = ki_column_cell_type(column);
    ki_buf_clear(text);
    int r = ki_column_write(column, object, now, text);
    if (r < 0) {
        return r;
    }
    return type == KI_CELL_NUMBER || type == KI_CELL_BOOL ? ki_buf_add_str(out, ki_buf_str(text))
                                                          : ki__emit_string(out, ki_buf_str(text));
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
    ki_buf text;
    ki_buf_init(&text, x->alloc, TEXT_MAX);
    const ki_column *first = ki_column_first(x->shown->resource);
    for (const ki_column *c = first; c != NULL && r == 0; c = ki_column_next(c)) {
        r = c != first ? ki_buf_add_char(out, ',') : 0;
        r = r < 0 ? r : write_cell(c, object, now, &text, out);
    }
    ki_buf_done(&text);
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

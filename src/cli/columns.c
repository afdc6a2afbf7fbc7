/* SPDX-License-Identifier: Apache-2.0 */
/* Columns: their titles, and what stands in them. */
#include "cli/columns.h"

#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/text.h"

static cli_column *add(cli_columns *columns, ki_str title)
{
    cli_column *column = &columns->items[columns->count++];
    *column = (cli_column){.title = strndup(title.ptr, title.len)};
    if (column->title == NULL) {
        cli_fail_memory();
    }
    return column;
}

void cli_columns_done(cli_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->items[i].title);
        (void)ki_path_unref(columns->items[i].path);
    }
    columns->count = 0;
}

/* ---- those of a person ---- */

/* Where the column that begins at `text` ends: at a comma that no bracket or quote is around. */
static size_t length_of(const char *text)
{
    size_t depth = 0;
    char quote = '\0';
    size_t i = 0;
    for (; text[i] != '\0' && (text[i] != ',' || depth != 0 || quote != '\0'); i++) {
        char c = text[i];
        if (quote != '\0') {
            quote = (char)(c == quote ? '\0' : quote);
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[' || c == '(') {
            depth++;
        } else if ((c == ']' || c == ')') && depth > 0) {
            depth--;
        }
    }
    return i;
}

static int parse_one(ki_str text, cli_columns *columns, ki_error *error)
{
    const char *colon = text.len != 0 ? memchr(text.ptr, ':', text.len) : NULL;
    if (colon == NULL || colon == text.ptr || colon == text.ptr + text.len - 1) {
        return cli_fail(error, KI_ERR_SYNTAX, "a column is TITLE:PATH, not \"%.*s\"",
                        KI_STR_ARG(text));
    }
    if (columns->count == CLI_TABLE_COLUMNS) {
        return cli_fail(error, KI_ERR_LIMIT, "over %d columns", CLI_TABLE_COLUMNS);
    }
    cli_column *column = add(columns, ki_str_make(text.ptr, (size_t)(colon - text.ptr)));
    char *path = strndup(colon + 1, (size_t)(text.ptr + text.len - colon - 1));
    if (path == NULL) {
        cli_fail_memory();
    }
    int r = ki_path_compile(path, NULL, &column->path, error);
    free(path);
    return r;
}

int cli_columns_parse(const char *text, cli_columns *ret_columns, ki_error *error)
{
    cli_columns columns = {.count = 0};
    for (;;) {
        size_t len = length_of(text);
        int r = parse_one(ki_str_make(text, len), &columns, error);
        if (r < 0) {
            cli_columns_done(&columns);
            return r;
        }
        text += len;
        if (*text == '\0') {
            break;
        }
        text++;
    }
    *ret_columns = columns;
    return 0;
}

/* ---- those of a resource ---- */

static void put_namespace(const ki_object *object, ki_buf *out)
{
    cli_put_escaped(out, ki_str_from(ki_object_namespace(object)));
}

static void put_name(const ki_object *object, ki_buf *out)
{
    cli_put_escaped(out, ki_str_from(ki_object_name(object)));
}

static void put_age(const ki_object *object, ki_buf *out)
{
    cli_put_age_of(out, object);
}

void cli_columns_of(const ki_resource *resource, bool with_namespace, bool wide,
                    cli_columns *ret_columns)
{
    ret_columns->count = 0;
    if (with_namespace) {
        add(ret_columns, ki_str_from("NAMESPACE"))->cell = put_namespace;
    }
    add(ret_columns, ki_str_from("NAME"))->cell = put_name;
    const cli_kind_column *kinds = cli_kind_columns(resource);
    for (const cli_kind_column *c = kinds; c->title != NULL; c++) {
        if (!c->wide) {
            add(ret_columns, ki_str_from(c->title))->cell = c->cell;
        }
    }
    add(ret_columns, ki_str_from("AGE"))->cell = put_age;
    for (const cli_kind_column *c = kinds; c->title != NULL && wide; c++) {
        if (c->wide) {
            add(ret_columns, ki_str_from(c->title))->cell = c->cell;
        }
    }
}

void cli_columns_add_label(cli_columns *columns, const char *label)
{
    if (columns->count < CLI_TABLE_COLUMNS) {
        add(columns, ki_str_from(label))->is_label = true;
    }
}

/* ---- rows ---- */

static void put_label(const char *label, const ki_object *object, ki_buf *out)
{
    ki_value value;
    if (ki_object_label(object, ki_str_from(label), &value) == 0) {
        cli_put_value(out, &value, false);
    }
}

static void put_path(const ki_path *path, const ki_object *object, ki_buf *out)
{
    ki_path_iter *iter = NULL;
    ki_value root = ki_object_root(object);
    ki_value value;
    size_t begin = out->len;
    if (ki_path_iter_new(path, &root, &iter) < 0) {
        cli_fail_memory();
    }
    while (ki_path_iter_next(iter, &value) > 0) {
        cli_put(out, out->len != begin ? "," : "");
        cli_put_value(out, &value, false);
    }
    (void)ki_path_iter_free(iter);
}

void cli_columns_head(const cli_columns *columns, cli_table *table)
{
    cli_table_row(table, CLI_COLOR_NONE);
    for (size_t i = 0; i < columns->count; i++) {
        cli_put_escaped(cli_table_cell(table), ki_str_from(columns->items[i].title));
    }
    cli_table_end_row(table);
}

void cli_columns_row(const cli_columns *columns, const ki_object *object, cli_table *table)
{
    cli_table_row(table, CLI_COLOR_NONE);
    for (size_t i = 0; i < columns->count; i++) {
        const cli_column *column = &columns->items[i];
        ki_buf *out = cli_table_cell(table);
        size_t begin = out->len;
        if (column->path != NULL) {
            put_path(column->path, object, out);
        } else if (column->is_label) {
            put_label(column->title, object, out);
        } else {
            column->cell(object, out);
        }
        if (out->len == begin) {
            cli_put(out, "<none>");
        }
    }
    cli_table_end_row(table);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Columns: their titles and cell values. */
#include "cli/columns.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/projection.h>
#include <kinformer/resource_table.h>

#include "cli/report_failure.h"
#include "cli/text.h"

static char *copy_of(ki_str text)
{
    char *copy = strndup(text.ptr, text.len);
    if (copy == NULL) {
        cli_fail_memory();
    }
    return copy;
}

static cli_column *add(cli_columns *columns, ki_str title, cli_column_type type)
{
    cli_column *column = &columns->items[columns->count++];
    *column = (cli_column){.title = copy_of(title), .type = type, .absent = "<none>"};
    return column;
}

void cli_columns_done(cli_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->items[i].title);
        free(columns->items[i].label);
        (void)ki_path_unref(columns->items[i].path);
    }
    columns->count = 0;
}

/* ---- custom columns ---- */

/* Length of the column at `text`: up to a comma outside brackets and quotes. */
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
        return cli_fail(error, KI_ERR_SYNTAX, "custom-columns: expected TITLE:PATH, not \"%.*s\"",
                        KI_STR_ARG(text));
    }
    if (columns->count == CLI_TABLE_COLUMNS) {
        return cli_fail(error, KI_ERR_LIMIT, "custom-columns: more than %d columns",
                        CLI_TABLE_COLUMNS);
    }
    cli_column *column =
        add(columns, ki_str_make(text.ptr, (size_t)(colon - text.ptr)), CLI_COLUMN_PATH);
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

/* ---- computed columns ---- */

static char *upper_case(ki_str text)
{
    char *copy = copy_of(text);
    for (char *c = copy; *c != '\0'; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
    return copy;
}

static void begin_columns(cli_columns *columns, bool with_namespace)
{
    columns->count = 0;
    if (with_namespace) {
        add(columns, ki_str_from("NAMESPACE"), CLI_COLUMN_NAMESPACE)->absent = "";
    }
}

void cli_columns_of(const ki_resource *resource, bool with_namespace, bool wide,
                    cli_columns *ret_columns)
{
    begin_columns(ret_columns, with_namespace);
    const ki_column *c = ki_column_at(resource, 0);
    for (size_t i = 1; c != NULL && ret_columns->count < CLI_TABLE_COLUMNS;
         c = ki_column_at(resource, i++)) {
        if (wide || !ki_column_is_wide(c)) {
            char *title = upper_case(ki_str_from(ki_column_title(c)));
            bool is_name = ki_column_cell_type(c) == KI_CELL_NAME;
            cli_column *column = add(ret_columns, ki_str_from(title),
                                     is_name ? CLI_COLUMN_NAME : CLI_COLUMN_COMPUTED);
            column->column = c;
            column->absent = "";
            free(title);
        }
    }
}

/* ---- the server's columns ---- */

void cli_columns_of_rows(const cli_rows *rows, bool with_namespace, bool wide,
                         cli_columns *ret_columns)
{
    begin_columns(ret_columns, with_namespace);
    bool named = false; /* the first such column is the name; others only look like names */
    for (size_t i = 0; i < rows->column_count && ret_columns->count < CLI_TABLE_COLUMNS; i++) {
        const cli_row_column *from = &rows->columns[i];
        if (wide || !from->wide) {
            bool is_name = from->is_name && !named;
            named = named || is_name;
            cli_column *column = add(ret_columns, ki_str_from(from->title),
                                     is_name ? CLI_COLUMN_NAME : CLI_COLUMN_CELL);
            column->index = i;
            column->absent = "";
        }
    }
}

void cli_columns_show_kind(cli_columns *columns, const ki_resource *resource)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->items[i].type == CLI_COLUMN_NAME) {
            columns->items[i].kind = resource;
        }
    }
}

/* ---- additional columns ---- */

void cli_columns_add_label(cli_columns *columns, const char *label)
{
    if (columns->count < CLI_TABLE_COLUMNS) {
        add(columns, ki_str_from(label), CLI_COLUMN_LABEL)->label = copy_of(ki_str_from(label));
    }
}

void cli_columns_add_label_column(cli_columns *columns, const char *label)
{
    if (columns->count == CLI_TABLE_COLUMNS) {
        return;
    }
    const char *slash = strrchr(label, '/');
    cli_columns_add_label(columns, label);
    cli_column *column = &columns->items[columns->count - 1];
    free(column->title);
    column->title = upper_case(ki_str_from(slash != NULL ? slash + 1 : label));
    column->absent = "";
}

void cli_columns_add_labels(cli_columns *columns)
{
    if (columns->count < CLI_TABLE_COLUMNS) {
        (void)add(columns, ki_str_from("LABELS"), CLI_COLUMN_LABELS);
    }
}

void cli_columns_add_first(cli_columns *columns, const char *title)
{
    if (columns->count == CLI_TABLE_COLUMNS) {
        return;
    }
    cli_column first = *add(columns, ki_str_from(title), CLI_COLUMN_TEXT);
    memmove(columns->items + 1, columns->items, (columns->count - 1) * sizeof(first));
    columns->items[0] = first;
}

/* ---- rows ---- */

static void put_label(const char *label, const ki_object *object, ki_buf *out)
{
    ki_value labels = ki_object_labels(object);
    ki_value value;
    if (ki_value_member(&labels, ki_str_from(label), &value) == 0) {
        cli_put_value(out, &value, false);
    }
}

static void put_path(const ki_path *path, const ki_object *object, ki_buf *out)
{
    ki_path_iter *iter = NULL;
    ki_value root = ki_object_root(object);
    ki_value value;
    size_t begin = out->len;
    if (ki_path_iter_begin(path, &root, &iter) < 0) {
        cli_fail_memory();
    }
    int r;
    while ((r = ki_path_iter_next(iter, &value)) > 0) {
        cli_put(out, out->len != begin ? "," : "");
        cli_put_value(out, &value, false);
    }
    cli_put(out, r == KI_ERR_NOT_KEPT ? "<not kept>" : "");
    (void)ki_path_iter_end(iter);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted by name, as in kubectl: "app=web,tier=front". */
static void put_labels(const ki_object *object, ki_buf *out)
{
    ki_value labels = ki_object_labels(object);
    ki_value key;
    ki_value value;
    ki_value_iter iter;
    size_t count = ki_value_count(&labels);
    if (ki_value_type(&labels) != KI_TYPE_MAP || count == 0 ||
        ki_value_iter_begin(&labels, &iter) < 0) {
        return;
    }
    char **texts = calloc(count, sizeof(*texts));
    if (texts == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < count && ki_value_iter_next(&iter, &key, &value) > 0; i++) {
        ki_buf text;
        cli_text_init(&text);
        cli_put_value(&text, &key, false);
        cli_put_char(&text, '=');
        cli_put_value(&text, &value, false);
        texts[i] = copy_of(ki_buf_str(&text));
        ki_buf_done(&text);
    }
    qsort(texts, count, sizeof(*texts), by_name);
    for (size_t i = 0; i < count; i++) {
        cli_put(out, i != 0 ? "," : "");
        cli_put(out, texts[i]);
        free(texts[i]);
    }
    free(texts);
}

static void compute(const ki_column *column, const ki_object *object, ki_buf *text)
{
    if (ki_column_write(column, object, (int64_t)time(NULL), text) < 0) {
        cli_fail_memory();
    }
}

static void put_computed(const ki_column *column, const ki_object *object, ki_buf *out)
{
    ki_buf text;
    cli_text_init(&text);
    compute(column, object, &text);
    cli_put_escaped(out, ki_buf_str(&text));
    ki_buf_done(&text);
}

static bool has_content(ki_str text)
{
    return text.len != 0 && !ki_str_eq_text(text, "<none>") && !ki_str_eq_text(text, "<unset>");
}

void cli_put_summary(ki_buf *out, const ki_resource *resource, const ki_object *object)
{
    ki_buf text;
    size_t begin = out->len;
    cli_text_init(&text);
    if (ki_object_is_partial(object)) {
        resource = NULL; /* what columns need may not be there */
    }
    const ki_column *c = resource != NULL ? ki_column_at(resource, 0) : NULL;
    for (size_t i = 1; c != NULL; c = ki_column_at(resource, i++)) {
        ki_cell_type type = ki_column_cell_type(c);
        if (ki_column_is_wide(c) || type == KI_CELL_NAME || type == KI_CELL_TIME) {
            continue;
        }
        ki_buf_clear(&text);
        compute(c, object, &text);
        if (has_content(ki_buf_str(&text))) {
            cli_put(out, out->len != begin ? "  " : "");
            cli_put_escaped(out, ki_buf_str(&text));
        }
    }
    ki_buf_done(&text);
}

/* A cell of the server's table: only the first line of its text, as in kubectl. */
static void put_cell(const ki_object *row, size_t index, ki_buf *out)
{
    ki_value cell = cli_rows_cell(row, index);
    ki_type type = ki_value_type(&cell);
    if (type == KI_TYPE_NONE || type == KI_TYPE_NULL) {
        return;
    }
    if (type != KI_TYPE_STRING) {
        cli_put_value_json(out, &cell);
        return;
    }
    ki_buf text;
    cli_text_init(&text);
    cli_put_value(&text, &cell, true);
    size_t len = strcspn(ki_buf_text(&text), "\f\n\r");
    cli_put_escaped(out, ki_str_make(ki_buf_text(&text), len));
    cli_put(out, len < text.len ? "..." : "");
    ki_buf_done(&text);
}

void cli_put_kind(ki_buf *out, const ki_resource *resource)
{
    cli_put(out, ki_resource_singular(resource));
    cli_put(out, ki_resource_group(resource)[0] != '\0' ? "." : "");
    cli_put(out, ki_resource_group(resource));
}

static void put_name(const cli_column *column, const ki_object *object, ki_buf *out)
{
    if (column->kind != NULL) {
        cli_put_kind(out, column->kind);
        cli_put_char(out, '/');
    }
    cli_put_escaped(out, ki_str_from(ki_object_name(object)));
}

static void put_column(const cli_column *column, const ki_object *object, ki_buf *out)
{
    switch (column->type) {
    case CLI_COLUMN_NAMESPACE:
        cli_put_escaped(out, ki_str_from(ki_object_namespace(object)));
        break;
    case CLI_COLUMN_NAME:
        put_name(column, object, out);
        break;
    case CLI_COLUMN_CELL:
        put_cell(object, column->index, out);
        break;
    case CLI_COLUMN_COMPUTED:
        put_computed(column->column, object, out);
        break;
    case CLI_COLUMN_PATH:
        put_path(column->path, object, out);
        break;
    case CLI_COLUMN_LABEL:
        put_label(column->label, object, out);
        break;
    case CLI_COLUMN_LABELS:
        put_labels(object, out);
        break;
    case CLI_COLUMN_TEXT:
    case CLI_COLUMN_TYPE_MAX:
        break;
    }
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
        put_column(column, object, out);
        if (out->len == begin) {
            cli_put(out, column->absent);
        }
    }
    cli_table_end_row(table);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns. */
#include "cli/text_table.h"

#include <string.h>

#include "cli/text.h"

enum { INDENT = 8 };

void cli_table_init(cli_table *table, size_t columns)
{
    *table = (cli_table){.columns = columns, .gap = CLI_TABLE_GAP};
    cli_text_init(&table->rows);
}

void cli_table_init_headed(cli_table *table, const cli_heading *headings, size_t count,
                           size_t line_width)
{
    bool wide = line_width >= CLI_TABLE_WIDE;
    cli_table_init(table, 0);
    table->gap = wide ? CLI_TABLE_GAP : CLI_TABLE_GAP - 1;
    table->line_width = line_width;
    cli_table_row(table, CLI_COLOR_NONE);
    for (size_t i = 0; i < count; i++) {
        if (headings[i].wide && !wide) {
            continue;
        }
        table->right |= headings[i].number ? UINT64_C(1) << table->columns : 0;
        table->colored |= headings[i].colored ? UINT64_C(1) << table->columns : 0;
        table->columns++;
        cli_put(cli_table_cell(table), headings[i].title);
    }
    cli_table_end_row(table);
}

void cli_table_done(cli_table *table)
{
    ki_buf_done(&table->rows);
}

static void end_cell(cli_table *table)
{
    if (table->cell == 0) {
        return;
    }
    size_t column = table->cell - 1;
    ki_str text = ki_str_make(table->rows.data + table->begin, table->rows.len - table->begin);
    size_t width = cli_text_width(text);
    if (width > table->widths[column]) {
        table->widths[column] = width;
    }
    cli_put_str(&table->rows, ki_str_make("", 1)); /* NUL */
}

void cli_table_row(cli_table *table, cli_color color)
{
    cli_put_char(&table->rows, (char)color);
    table->cell = 0;
}

ki_buf *cli_table_cell(cli_table *table)
{
    end_cell(table);
    table->cell++;
    table->begin = table->rows.len;
    return &table->rows;
}

ki_buf *cli_table_line(cli_table *table)
{
    cli_put_char(&table->rows, (char)CLI_COLOR_MAX);
    table->in_line = true;
    return &table->rows;
}

void cli_table_end_row(cli_table *table)
{
    if (table->in_line) {
        cli_put_str(&table->rows, ki_str_make("", 1)); /* NUL */
        table->in_line = false;
        return;
    }
    while (table->cell < table->columns) {
        (void)cli_table_cell(table);
    }
    end_cell(table);
    table->cell = 0;
}

static void put_gap(ki_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cli_put_char(out, ' ');
    }
}

static void print_cell(const cli_table *table, size_t column, ki_str text, cli_color color,
                       size_t used, ki_buf *out)
{
    bool colored = (table->colored & (UINT64_C(1) << column)) != 0 && color != CLI_COLOR_NONE;
    size_t begin = out->len;
    bool last = column + 1 == table->columns;
    bool right = (table->right & (UINT64_C(1) << column)) != 0;
    size_t missing = !last || right ? table->widths[column] - cli_text_width(text) : 0;
    put_gap(out, right ? missing : 0);
    if (last && table->line_width != 0) {
        cli_put_str(out, text);
        cli_text_cut(out, begin, table->line_width > used ? table->line_width - used : 1);
        return;
    }
    cli_put(out, colored ? cli_term_color(color) : "");
    cli_put_str(out, text);
    cli_put(out, colored ? cli_term_plain() : "");
    put_gap(out, last ? 0 : table->gap + (right ? 0 : missing));
}

static void trim(ki_buf *out, size_t from)
{
    while (out->len > from && out->data[out->len - 1] == ' ') {
        out->len--;
        out->data[out->len] = '\0';
    }
}

static size_t print_line(const cli_table *table, ki_str text, ki_buf *out)
{
    size_t begin = out->len;
    put_gap(out, INDENT);
    cli_put_str(out, text);
    if (table->line_width != 0) {
        cli_text_cut(out, begin, table->line_width);
    }
    cli_put_char(out, '\n');
    return text.len;
}

void cli_table_print(cli_table *table, ki_buf *out)
{
    const char *at = table->rows.data;
    const char *end = at + table->rows.len;
    while (at < end) {
        cli_color color = (cli_color)*at++;
        size_t begin = out->len;
        if (color == CLI_COLOR_MAX) {
            at += print_line(table, ki_str_from(at), out) + 1;
            continue;
        }
        size_t used = 0;
        for (size_t column = 0; column < table->columns; column++) {
            ki_str text = ki_str_from(at);
            print_cell(table, column, text, color, used, out);
            used += table->widths[column] + table->gap;
            at += text.len + 1;
        }
        trim(out, begin);
        cli_put_char(out, '\n');
    }
    ki_buf_clear(&table->rows);
}

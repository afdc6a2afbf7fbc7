/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns: for all rows at once, or incrementally, with columns that only grow. */
#ifndef KI_CLI_TEXT_TABLE_H
#define KI_CLI_TEXT_TABLE_H

#include <kinformer/buf.h>

#include "cli/term.h"

enum { CLI_TABLE_COLUMNS = 64, CLI_TABLE_GAP = 3 };

typedef struct cli_table {
    size_t columns;
    size_t widths[CLI_TABLE_COLUMNS];
    size_t gap;        /* between columns; initially CLI_TABLE_GAP */
    uint64_t colored;  /* bit mask of columns in the color of their row */
    uint64_t right;    /* bit mask of right-aligned columns */
    size_t line_width; /* maximum width; the last column is truncated to it; 0: unlimited */
    ki_buf rows;       /* per row a color (CLI_COLOR_MAX: a line) and its NUL-terminated cells */
    size_t cell;       /* index of the current cell */
    size_t begin;      /* offset of the current cell */
    bool in_line;      /* currently writing a line */
} cli_table;

/** A column with a title. */
typedef struct cli_heading {
    const char *title;
    bool wide;    /* only on wide terminals */
    bool number;  /* right-aligned */
    bool colored; /* has the color of its row */
} cli_heading;

void cli_table_init(cli_table *table, size_t columns);
/** Creates a table with these columns for a terminal width, and its first row: the titles. Below
 *  CLI_TABLE_WIDE, `wide` columns are omitted, and gaps are smaller. */
enum { CLI_TABLE_WIDE = 120 };
void cli_table_init_headed(cli_table *table, const cli_heading *headings, size_t count,
                           size_t line_width);
void cli_table_done(cli_table *table);

/** Starts a row. For each cell put escaped text into the buffer that cli_table_cell() returns, then
 *  start the next one or end the row. Missing cells are empty. */
void cli_table_row(cli_table *table, cli_color color);
ki_buf *cli_table_cell(cli_table *table);
void cli_table_end_row(cli_table *table);

/** Starts a line without columns between rows; it is indented, and truncated like rows. Put escaped
 *  text into the buffer, then end it like a row. */
ki_buf *cli_table_line(cli_table *table);

/** Appends the rows to `out` and removes them, keeping the column widths. */
void cli_table_print(cli_table *table, ki_buf *out);

#endif

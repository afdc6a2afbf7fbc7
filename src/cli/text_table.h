/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns: for all rows at once, or as they come, when columns only ever grow wider. */
#ifndef KI_CLI_TEXT_TABLE_H
#define KI_CLI_TEXT_TABLE_H

#include <kinformer/buf.h>

#include "cli/term.h"

enum { CLI_TABLE_COLUMNS = 64, CLI_TABLE_GAP = 3 };

typedef struct cli_table {
    size_t columns;
    size_t widths[CLI_TABLE_COLUMNS];
    size_t gap;        /* between columns; CLI_TABLE_GAP at first */
    uint64_t colored;  /* columns that take the colour of their row, as bits */
    uint64_t right;    /* columns that end in one line, as numbers do */
    size_t line_width; /* the last column is cut so that a line has no more; 0: it is not */
    ki_buf rows;       /* of each a colour (of a line CLI_COLOR_MAX), then its cells, each with a
                          NUL behind it */
    size_t cell;       /* of the row that is being written */
    size_t begin;      /* of the cell that is being written */
    bool in_line;      /* what is being written is a line */
} cli_table;

/** A column with a title. */
typedef struct cli_heading {
    const char *title;
    bool wide;    /* only where there is room */
    bool number;  /* ends in one line */
    bool colored; /* takes the colour of its row */
} cli_heading;

void cli_table_init(cli_table *table, size_t columns);
/** A table with these columns, for a terminal that is so wide, and its first row: the titles. With
 *  less than CLI_TABLE_WIDE the columns that need room are left out, and gaps are smaller. */
enum { CLI_TABLE_WIDE = 120 };
void cli_table_init_headed(cli_table *table, const cli_heading *headings, size_t count,
                           size_t line_width);
void cli_table_done(cli_table *table);

/** Begins a row. Then each of its cells: put escaped text into the buffer that cli_table_cell()
 *  gives, and begin the next one, or end the row. Cells that are left away are empty. */
void cli_table_row(cli_table *table, cli_color color);
ki_buf *cli_table_cell(cli_table *table);
void cli_table_end_row(cli_table *table);

/** A line between rows that has no columns; it is indented, and cut as rows are. Put escaped text
 *  into the buffer, then end it as a row. */
ki_buf *cli_table_line(cli_table *table);

/** Appends the rows to `out` and forgets them, but not how wide the columns are. */
void cli_table_print(cli_table *table, ki_buf *out);

#endif

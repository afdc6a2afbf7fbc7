/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of the server's tables, with kubectl's columns: those of a built-in kind, or the
 * additionalPrinterColumns of a custom resource.
 *
 * A source of rows is the library's HTTP source on a transport that requests meta.k8s.io/v1 Table
 * and converts each row to an object: its metadata (or the whole object) and CLI_ROW_CELLS, the
 * list of its cells. Lists, watches and informers treat rows like any objects. A server without
 * table support sends plain objects, which pass unchanged; then there are no columns. */
#ifndef KI_CLI_ROWS_H
#define KI_CLI_ROWS_H

#include <kinformer/client.h>
#include <kinformer/object.h>
#include <kinformer/parts/source.h>

#include "cli/text_table.h"

/** The member of a row that holds its cells. */
#define CLI_ROW_CELLS "kinformer.cells"
/** The member that holds its position in the server's order. */
#define CLI_ROW_PLACE "kinformer.place"

typedef struct cli_row_column {
    char *title;  /* in upper case */
    bool wide;    /* only with -o wide */
    bool is_name; /* the name of an object */
} cli_row_column;

typedef struct cli_rows {
    ki_transport inner;
    bool whole; /* rows contain the whole object, not only its metadata */
    cli_row_column columns[CLI_TABLE_COLUMNS];
    size_t column_count; /* 0: the server sent no table */
    uint64_t changes;    /* how often the columns changed */
    uint64_t places;     /* number of rows so far */
} cli_rows;

/** Creates a source of the rows of a resource. `rows` is filled as tables arrive, must not move,
 *  and must outlive the loop of the client.
 *  Owner: as ki_source_http_new(); cli_rows_done() afterwards. */
KI_NODISCARD int cli_rows_source(cli_rows *rows, ki_client *client, const ki_resource *resource,
                                 const char *name_space, bool whole, ki_source *ret_source,
                                 ki_error *error);
void cli_rows_done(cli_rows *rows);

/** Cell `index` of a row; KI_TYPE_NONE if it does not exist. */
ki_value cli_rows_cell(const ki_object *row, size_t index);

/** The position of a row: the server's order is not always by name. */
int64_t cli_rows_place(const ki_object *row);

/** Converts a list or a watch event: a table becomes a list or an event of rows, anything else is
 *  unchanged. Appends to `out`.
 *  Errors: KI_ERR_SYNTAX etc.  invalid JSON;  KI_ERR_LIMIT  too many columns or bytes. */
KI_NODISCARD int cli_rows_convert_list(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error);
KI_NODISCARD int cli_rows_convert_event(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of the server's own tables, with the columns that kubectl shows: those of a
 * built-in kind, or the additionalPrinterColumns of a custom resource.
 *
 * A source of rows is the library's HTTP source on a transport that asks for meta.k8s.io/v1 Table,
 * and makes an object of each row: its metadata (or the whole object) and CLI_ROW_CELLS, the list
 * of its cells. Lists, watches and informers work on rows as on any objects. A server that does
 * not know tables sends plain objects, which pass unchanged; then there are no columns. */
#ifndef KI_CLI_ROWS_H
#define KI_CLI_ROWS_H

#include <kinformer/client.h>
#include <kinformer/object.h>
#include <kinformer/parts/source.h>

#include "cli/text_table.h"

/** The member of a row that has its cells. */
#define CLI_ROW_CELLS "kinformer.cells"
/** The one that has its place in the order of the server. */
#define CLI_ROW_PLACE "kinformer.place"

typedef struct cli_row_column {
    char *title;  /* in upper case */
    bool wide;    /* only with -o wide */
    bool is_name; /* of an object */
} cli_row_column;

typedef struct cli_rows {
    ki_transport inner;
    bool whole; /* rows have the whole object, not only its metadata */
    cli_row_column columns[CLI_TABLE_COLUMNS];
    size_t column_count; /* 0: the server sent no table */
    uint64_t changes;    /* how often the columns were others than before */
    uint64_t places;     /* rows so far */
} cli_rows;

/** Makes a source of the rows of a resource. `rows` is filled by it as tables arrive, must stay
 *  where it is, and must outlive the loop of the client.
 *  Owner: as ki_source_http_new(); cli_rows_done() afterwards. */
KI_NODISCARD int cli_rows_source(cli_rows *rows, ki_client *client, const ki_resource *resource,
                                 const char *name_space, bool whole, ki_source *ret_source,
                                 ki_error *error);
void cli_rows_done(cli_rows *rows);

/** Cell number `index` of a row; of KI_TYPE_NONE if it has none. */
ki_value cli_rows_cell(const ki_object *row, size_t index);

/** The place of a row: the server's order is not always that of names. */
int64_t cli_rows_place(const ki_object *row);

/** Makes lines of a list or of one event of a watch: what is a table becomes a list or an event of
 *  rows, everything else stays as it is. Appends to `out`.
 *  Errors: KI_ERR_SYNTAX and so on: it is no JSON;  KI_ERR_LIMIT  too many columns or bytes. */
KI_NODISCARD int cli_rows_convert_list(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error);
KI_NODISCARD int cli_rows_convert_event(cli_rows *rows, ki_str json, ki_buf *out, ki_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns an object is shown in: those that kubectl shows of the common kinds, or those that
 * a person asks for. */
#ifndef KI_CLI_COLUMNS_H
#define KI_CLI_COLUMNS_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/resource.h>

#include "cli/table.h"

/** Appends the text of a cell, escaped. */
typedef void (*cli_cell)(const ki_object *object, ki_buf *out);

typedef struct cli_column {
    char *title;
    cli_cell cell; /* or: */
    ki_path *path; /* or: */
    bool is_label; /* the title is its name */
} cli_column;

typedef struct cli_columns {
    cli_column items[CLI_TABLE_COLUMNS];
    size_t count;
} cli_columns;

/** Columns of a person: "NAME:.metadata.name,NODE:.spec.nodeName".
 *  Owner: cli_columns_done().  Errors: KI_ERR_SYNTAX and those of ki_path_compile(). */
KI_NODISCARD int cli_columns_parse(const char *text, cli_columns *ret_columns, ki_error *error);

/** The columns of a resource: namespace (if asked for), name, what its kind has, age. */
void cli_columns_of(const ki_resource *resource, bool with_namespace, bool wide,
                    cli_columns *ret_columns);

/** One more, with the value of a label; nothing if there is no room. */
void cli_columns_add_label(cli_columns *columns, const char *label);

void cli_columns_done(cli_columns *columns);

/** The titles, and a row for an object. */
void cli_columns_head(const cli_columns *columns, cli_table *table);
void cli_columns_row(const cli_columns *columns, const ki_object *object, cli_table *table);

/** A column that only a few kinds have. */
typedef struct cli_kind_column {
    const char *title;
    cli_cell cell;
    bool wide; /* only if asked for much */
} cli_kind_column;

/** What kubectl shows of a kind besides name and age; ends with a title of NULL. */
const cli_kind_column *cli_kind_columns(const ki_resource *resource);

/** In one line what matters of an object, from the same; nothing for kinds without. */
void cli_kind_summary(const ki_resource *resource, const ki_object *object, ki_buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of an object: those of the server's table, those computed by the library if there is
 * no table, or custom ones. */
#ifndef KI_CLI_COLUMNS_H
#define KI_CLI_COLUMNS_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/parts/columns.h>
#include <kinformer/path.h>
#include <kinformer/resource.h>

#include "cli/rows.h"
#include "cli/text_table.h"

typedef enum cli_column_type {
    CLI_COLUMN_NAMESPACE, /* the namespace of the object */
    CLI_COLUMN_NAME,      /* the name of the object, prefixed with `kind` if set */
    CLI_COLUMN_CELL,      /* cell number `index` of the server's table */
    CLI_COLUMN_COMPUTED,  /* computed by the library with `column`, without a table */
    CLI_COLUMN_PATH,      /* the values at `path` */
    CLI_COLUMN_LABEL,     /* the value of `label` */
    CLI_COLUMN_LABELS,    /* all labels */
    CLI_COLUMN_TEXT,      /* `absent` */
    CLI_COLUMN_TYPE_MAX
} cli_column_type;

typedef struct cli_column {
    char *title;
    cli_column_type type;
    const char *absent; /* placeholder for missing values */
    const ki_column *column;
    ki_path *path;
    char *label;
    size_t index;
    const ki_resource *kind; /* of a name: prefix such as "pod/"; NULL: none */
} cli_column;

typedef struct cli_columns {
    cli_column items[CLI_TABLE_COLUMNS];
    size_t count;
} cli_columns;

/** Parses custom columns: "NAME:.metadata.name,NODE:.spec.nodeName".
 *  Owner: cli_columns_done().  Errors: KI_ERR_SYNTAX and those of ki_path_compile(). */
KI_NODISCARD int cli_columns_parse(const char *text, cli_columns *ret_columns, ki_error *error);

/** The columns of a resource as computed by the library, for servers without tables; starting with
 *  the namespace, if requested. */
void cli_columns_of(const ki_resource *resource, bool with_namespace, bool wide,
                    cli_columns *ret_columns);

/** The columns of the server's table, which must have been received. */
void cli_columns_of_rows(const cli_rows *rows, bool with_namespace, bool wide,
                         cli_columns *ret_columns);

/** Prefixes names with the kind, as kubectl does for several resources: "pod/web". The resource
 *  must outlive the columns. */
void cli_columns_show_kind(cli_columns *columns, const ki_resource *resource);

/** Adds a column for a label; no effect if there are too many. */
void cli_columns_add_label(cli_columns *columns, const char *label);
/** The same for kubectl's -L: the title in upper case without its prefix, and empty cells for
 *  objects without the label. */
void cli_columns_add_label_column(cli_columns *columns, const char *label);
/** Adds a column with all labels, as kubectl's --show-labels. */
void cli_columns_add_labels(cli_columns *columns);
/** Inserts a first column whose text is in `absent`. */
void cli_columns_add_first(cli_columns *columns, const char *title);

void cli_columns_done(cli_columns *columns);

/** Adds the titles, or the row of an object. */
void cli_columns_head(const cli_columns *columns, cli_table *table);
void cli_columns_row(const cli_columns *columns, const ki_object *object, cli_table *table);

/** Appends a kind in the form of kubectl's name prefix: "pod", "deployment.apps". */
void cli_put_kind(ki_buf *out, const ki_resource *resource);

/** Appends an object in one line: the cells of its kind except its name and times. Nothing for
 *  kinds that have only those. */
void cli_put_summary(ki_buf *out, const ki_resource *resource, const ki_object *object);

#endif

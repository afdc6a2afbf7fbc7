/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns an object is shown in: those of the server's table, those that the library computes
 * where there is no table, or those that a person asks for. */
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
    CLI_COLUMN_NAME,      /* the name of the object, behind that of its kind if there is one */
    CLI_COLUMN_CELL,      /* cell number `index` of the server's table */
    CLI_COLUMN_COMPUTED,  /* `column` of the library, where there is no table */
    CLI_COLUMN_PATH,      /* the values at `path` */
    CLI_COLUMN_LABEL,     /* the value of `label` */
    CLI_COLUMN_LABELS,    /* all labels */
    CLI_COLUMN_TEXT,      /* `absent` */
    CLI_COLUMN_TYPE_MAX
} cli_column_type;

typedef struct cli_column {
    char *title;
    cli_column_type type;
    const char *absent; /* what stands there for nothing */
    const ki_column *column;
    ki_path *path;
    char *label;
    size_t index;
    const ki_resource *kind; /* of a name: "pod/" is put in front; NULL: nothing is */
} cli_column;

typedef struct cli_columns {
    cli_column items[CLI_TABLE_COLUMNS];
    size_t count;
} cli_columns;

/** Columns of a person: "NAME:.metadata.name,NODE:.spec.nodeName".
 *  Owner: cli_columns_done().  Errors: KI_ERR_SYNTAX and those of ki_path_compile(). */
KI_NODISCARD int cli_columns_parse(const char *text, cli_columns *ret_columns, ki_error *error);

/** The columns of a resource as the library computes them, for servers that send no table; the
 *  namespace first, if requested. */
void cli_columns_of(const ki_resource *resource, bool with_namespace, bool wide,
                    cli_columns *ret_columns);

/** The columns of the server's table, which must have come. */
void cli_columns_of_rows(const cli_rows *rows, bool with_namespace, bool wide,
                         cli_columns *ret_columns);

/** Puts the kind in front of names, as kubectl does for several resources: "pod/web". The resource
 *  must outlive the columns. */
void cli_columns_show_kind(cli_columns *columns, const ki_resource *resource);

/** One more, with the value of a label; nothing if there are too many. */
void cli_columns_add_label(cli_columns *columns, const char *label);
/** The same as kubectl's -L has it: the title in upper case and without its prefix, and nothing for
 *  objects without the label. */
void cli_columns_add_label_column(cli_columns *columns, const char *label);
/** One more with all labels, as kubectl's --show-labels. */
void cli_columns_add_labels(cli_columns *columns);
/** One more in front, with the text in its `absent`. */
void cli_columns_add_first(cli_columns *columns, const char *title);

void cli_columns_done(cli_columns *columns);

/** The titles, and a row for an object. */
void cli_columns_head(const cli_columns *columns, cli_table *table);
void cli_columns_row(const cli_columns *columns, const ki_object *object, cli_table *table);

/** A kind as kubectl puts it in front of names: "pod", "deployment.apps". */
void cli_put_kind(ki_buf *out, const ki_resource *resource);

/** An object in one line: the cells of its kind, but for its name and times. Nothing for kinds that
 *  have only those. */
void cli_put_summary(ki_buf *out, const ki_resource *resource, const ki_object *object);

#endif

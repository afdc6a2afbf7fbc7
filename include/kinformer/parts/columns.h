/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that `kubectl get` prints for an object, computed from the object alone: READY,
 * STATUS and RESTARTS of a pod, ROLES of a node, and so on. They work on cached objects and need no
 * request; the tables that a server returns have the same columns.
 *
 *     const ki_column *c;
 *     for (size_t i = 0; (c = ki_column_at(resource, i)) != NULL; i++) {
 *         r = ki_column_write(c, object, now_s, &cell);
 *     }
 *
 * All functions are thread-safe and never block. */
#ifndef KINFORMER_PARTS_COLUMNS_H
#define KINFORMER_PARTS_COLUMNS_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** A column of a resource. Static and immutable. */
typedef struct ki_column ki_column;

/** The type of the cells in a column. */
typedef enum ki_cell_type {
    KI_CELL_NAME,   /* the name of the object */
    KI_CELL_TEXT,   /* any other text */
    KI_CELL_NUMBER, /* decimal digits, with '-' in front if negative */
    KI_CELL_BOOL,   /* "true" or "false" */
    KI_CELL_TIME, /* a timestamp, or an age ("5m"), which changes over time even if the object does
                     not */
    KI_CELL_TYPE_MAX
} ki_cell_type;

/** Returns column number `index` of a resource, from 0; NULL after the last. Common built-in
 *  resources have specific columns; all other resources have Name and Age.  Since: 0.1 */
KI_API const ki_column *ki_column_at(const ki_resource *resource, size_t index);

/** Returns the title of a column in the server's spelling, such as "Ready"; kubectl prints it in
 *  upper case.
 *  Owner: static text.  Since: 0.1 */
KI_API const char *ki_column_title(const ki_column *column);

/** Returns the type of the cells in a column.  Since: 0.1 */
KI_API ki_cell_type ki_column_cell_type(const ki_column *column);

/** Returns whether kubectl shows the column only with -o wide.  Since: 0.1 */
KI_API bool ki_column_is_wide(const ki_column *column);

/** Appends the text of a cell: the value of `column` for `object`. Ages are relative to `now_s`, in
 *  seconds since 1970. The object's kind is not checked. A cell without a value is empty or
 *  "<none>", as in the tables of a server. The text is taken from the object and may contain
 *  control characters.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_column_write(const ki_column *column, const ki_object *object,
                                        int64_t now_s, ki_buf *out);

/** Appends a number of seconds in kubectl's format for ages: "5s", "3m20s", "4d2h". Values below
 *  -1, too large for clock skew, are written as "<invalid>".
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged.  Since: 0.1 */
KI_API KI_NODISCARD int ki_age_write(int64_t seconds, ki_buf *out);

KI_END_DECLS

#endif

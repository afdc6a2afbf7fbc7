/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that `kubectl get` shows of an object, computed from the object alone: READY, STATUS
 * and RESTARTS of a pod, ROLES of a node, and so on. Works on cached objects and needs no request;
 * a server's own tables have the same columns.
 *
 *     for (const ki_column *c = ki_column_first(resource); c != NULL; c = ki_column_next(c)) {
 *         r = ki_column_write(c, object, now_s, &cell);
 *     }
 *
 * All functions may be called on any thread and never block. */
#ifndef KINFORMER_PARTS_COLUMNS_H
#define KINFORMER_PARTS_COLUMNS_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

/** One column of a kind. Static and immutable. */
typedef struct ki_column ki_column;

/** The type of the cells of a column. */
typedef enum ki_cell_type {
    KI_CELL_NAME,   /* the name of the object */
    KI_CELL_TEXT,   /* any other text */
    KI_CELL_NUMBER, /* decimal digits, with '-' in front if negative */
    KI_CELL_BOOL,   /* "true" or "false" */
    KI_CELL_TIME, /* a date, or the time since ("5m"), which changes although the object does not */
    KI_CELL_TYPE_MAX
} ki_cell_type;

/** The first column of a resource. The common built-in resources have columns of their own, all
 *  others Name and Age. Never NULL.  Since: 0.1 */
KI_API const ki_column *ki_column_first(const ki_resource *resource);

/** The column after this one; NULL after the last.  Since: 0.1 */
KI_API const ki_column *ki_column_next(const ki_column *column);

/** The title as servers spell it, such as "Ready"; kubectl prints it in upper case.
 *  Owner: static text.  Since: 0.1 */
KI_API const char *ki_column_title(const ki_column *column);

/** What the cells of the column contain.  Since: 0.1 */
KI_API ki_cell_type ki_column_cell_type(const ki_column *column);

/** Whether kubectl shows the column with -o wide only.  Since: 0.1 */
KI_API bool ki_column_is_wide(const ki_column *column);

/** Appends the text of a cell: the column of this object. Ages are relative to `now_s`, in seconds
 *  since 1970. The object's kind is not checked; a cell without a value is empty or "<none>", as
 *  servers have it. The text is the object's: it may contain control characters.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then as it was.  Since: 0.1 */
KI_API KI_NODISCARD int ki_column_write(const ki_column *column, const ki_object *object,
                                        int64_t now_s, ki_buf *out);

/** Appends a number of seconds as kubectl shows ages: "5s", "3m20s", "4d2h". Below -1, which no
 *  difference of clocks explains, it is "<invalid>".
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then as it was.  Since: 0.1 */
KI_API KI_NODISCARD int ki_age_write(int64_t seconds, ki_buf *out);

KI_END_DECLS

#endif

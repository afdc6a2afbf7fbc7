/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as rows of a table, as `kubectl get` shows them: the columns that a real server has for
 * the common kinds, those that its definition names for a custom resource, else name and age. */
#ifndef KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H
#define KI_APISERVER_DISCOVERY_TABLE_RESPONSE_H

#include "apiserver/exchange.h"

typedef struct ki__api_column ki__api_column;

/** One cell: appends a value of JSON. `now` is in seconds. */
typedef int (*ki__api_cell)(const ki_object *object, const ki__api_column *column, int64_t now,
                            ki_buf *out);

struct ki__api_column {
    const char *name;
    const char *type; /* "string", "integer", "boolean" or "date" */
    int priority;     /* 1: only if more is asked for */
    ki__api_cell cell;
    const char *path; /* for the cell: names with dots between them */
    const char *other;
};

/** The columns of a built-in kind, which end with one that has no name. */
const ki__api_column *ki__api_columns_of(const ki_resource *resource);

/** Appends the columns of the exchange's type as a list. */
int ki__api_table_columns(const ki__api_exchange *x, ki_buf *out);

/** Appends the row of an object, with as much of the object as is asked for. */
int ki__api_table_row(const ki__api_exchange *x, const ki_object *object, ki_buf *out);

/** Appends the metadata of an object, as an object of its own. */
int ki__api_table_metadata(const ki_object *object, ki_buf *out);

/** Appends how long ago a time was, in few characters: "5s", "3m20s", "4d2h". */
int ki__api_age(int64_t seconds, int64_t now, ki_buf *out);

/* ---- cells that custom columns use, too ---- */

/** The value at a path; of KI_TYPE_NONE if there is none. */
ki_value ki__api_value_at(const ki_object *object, const char *path);
/** Copies a string that fits; false if it is none, or does not. */
bool ki__api_copy_text(const ki_value *value, char *text, size_t size);
int ki__api_cell_age(const ki_object *object, const ki__api_column *column, int64_t now,
                     ki_buf *out);

#endif

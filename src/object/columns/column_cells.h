/* SPDX-License-Identifier: Apache-2.0 */
/* How the cells of columns are computed. A cell is plain text; users of the table quote or escape
 * it. Missing values are shown as real servers show them. */
#ifndef KI_OBJECT_COLUMNS_COLUMN_CELLS_H
#define KI_OBJECT_COLUMNS_COLUMN_CELLS_H

#include <kinformer/parts/columns.h>

#include "object/edit/json_out.h"

/** Appends the text of a cell. */
typedef void (*ki__cell_write)(const ki_column *column, const ki_object *object, int64_t now_s,
                               ki__out *out);

typedef struct ki__cell {
    ki__cell_write write;
    ki_cell_type type;
} ki__cell;

struct ki_column {
    const char *title;      /* NULL: end of a kind's columns */
    const char *table_type; /* type in a server's table: "string", "integer", "boolean" or "date" */
    bool wide;
    const ki__cell *cell;
    const char *path;  /* dotted path for the cell */
    const char *other; /* a second path, or a text, depending on the cell */
};

/* The value at `path`. */
extern const ki__cell ki__cell_text;   /* if absent, the text `other` */
extern const ki__cell ki__cell_number; /* if absent, 0 */
extern const ki__cell ki__cell_flag;   /* if absent, false */
extern const ki__cell ki__cell_ago;    /* time since then, or since `other`, or since creation */
extern const ki__cell ki__cell_since;  /* time since then; if absent, "<none>" */
extern const ki__cell ki__cell_count;  /* size of a map or list, plus that at `other`, if any */
extern const ki__cell ki__cell_ratio;  /* "2/3": the number of that at `other`, default 1 */
extern const ki__cell ki__cell_list;   /* "a,b": the strings at `other` of each element */
extern const ki__cell ki__cell_labels; /* "a=b,c=d" */
extern const ki__cell ki__cell_role;   /* "Role/reader", from a reference with kind and name */

/* For any object. */
extern const ki__cell ki__cell_name;
extern const ki__cell ki__cell_age;
extern const ki__cell ki__cell_created;

/* For a single kind. */
extern const ki__cell ki__cell_pod_ready;
extern const ki__cell ki__cell_pod_status;
extern const ki__cell ki__cell_pod_restarts;
extern const ki__cell ki__cell_service_external_ip;
extern const ki__cell ki__cell_service_ports;
extern const ki__cell ki__cell_node_status;
extern const ki__cell ki__cell_node_roles;
extern const ki__cell ki__cell_node_address; /* the first of type `other` */
extern const ki__cell ki__cell_event_object;
extern const ki__cell ki__cell_volume_claim;
extern const ki__cell ki__cell_job_status;
extern const ki__cell ki__cell_job_duration;
extern const ki__cell ki__cell_ingress_ports;

#endif

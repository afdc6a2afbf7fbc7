/* SPDX-License-Identifier: Apache-2.0 */
/* How the cells of columns are computed. A cell is plain text; users of the table quote or escape
 * it. What an object does not have is shown as real servers show it. */
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
    const char *title;      /* NULL: the end of a kind's columns */
    const char *table_type; /* in a server's table: "string", "integer", "boolean" or "date" */
    bool wide;
    const ki__cell *cell;
    const char *path;  /* for the cell: names with dots between them */
    const char *other; /* a second path, or a text; the cell says which */
};

/* The value at `path`. */
extern const ki__cell ki__cell_text;   /* if none, the text `other` */
extern const ki__cell ki__cell_number; /* if none, 0 */
extern const ki__cell ki__cell_flag;   /* if none, false */
extern const ki__cell ki__cell_ago;    /* the time since then, or since `other`, or the creation */
extern const ki__cell ki__cell_since;  /* the time since then; if none, "<none>" */
extern const ki__cell ki__cell_count;  /* the size of a map or list, with that at `other`, if any */
extern const ki__cell ki__cell_ratio; /* "2/3": the number of that at `other`, 1 if there is none */
extern const ki__cell ki__cell_list;  /* "a,b": the strings at `other` of each element */
extern const ki__cell ki__cell_labels; /* "a=b,c=d" */
extern const ki__cell ki__cell_role;   /* "Role/reader", of a reference with kind and name */

/* Of any object. */
extern const ki__cell ki__cell_name;
extern const ki__cell ki__cell_age;
extern const ki__cell ki__cell_created;

/* Of one kind. */
extern const ki__cell ki__cell_pod_ready;
extern const ki__cell ki__cell_pod_status;
extern const ki__cell ki__cell_pod_restarts;
extern const ki__cell ki__cell_service_external_ip;
extern const ki__cell ki__cell_service_ports;
extern const ki__cell ki__cell_node_status;
extern const ki__cell ki__cell_node_roles;
extern const ki__cell ki__cell_node_address; /* the first whose type is `other` */
extern const ki__cell ki__cell_event_object;
extern const ki__cell ki__cell_volume_claim;
extern const ki__cell ki__cell_job_status;
extern const ki__cell ki__cell_job_duration;
extern const ki__cell ki__cell_ingress_ports;

#endif

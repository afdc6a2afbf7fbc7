/* SPDX-License-Identifier: Apache-2.0 */
/* Selects objects of a cache: by name, by --where, by the label of --by-label. */
#ifndef KI_CLI_SELECT_H
#define KI_CLI_SELECT_H

#include <kinformer/object.h>
#include <kinformer/path.h>

#include "cli/args.h"
#include "cli/session.h"

enum { CLI_CONDITIONS_MAX = 16 };

/** One --where. */
typedef struct cli_condition {
    char *text; /* the path; its value follows in the same block */
    const char *value;
    ki_path *path;
} cli_condition;

typedef struct cli_selection {
    cli_condition conditions[CLI_CONDITIONS_MAX];
    size_t condition_count;
    char *label;             /* of --by-label; NULL: none */
    const char *label_value; /* NULL: any */
} cli_selection;

/** Parses the option values; `by_label` may be NULL.
 *  Owner: cli_selection_done(), on failure too.  Errors: KI_ERR_INVALID etc., with a message for
 *  the user. */
KI_NODISCARD int cli_selection_parse(cli_selection *selection, const cli_words *where,
                                     const char *by_label, ki_error *error);
void cli_selection_done(cli_selection *selection);

/** Adds the required indexes to the informer of a target. */
KI_NODISCARD int cli_selection_prepare(const cli_selection *selection, cli_target *target,
                                       ki_error *error);

/** Whether an object is selected. `names` are object names; empty: all. */
bool cli_selection_has(const cli_selection *selection, const cli_words *names,
                       const ki_object *object);

/** Objects, as references. */
typedef struct cli_found {
    ki_object **items;
    size_t count;
    size_t cap;
} cli_found;

void cli_found_add(cli_found *found, const ki_object *object);
void cli_found_done(cli_found *found);

/** Adds the selected objects of a target, using its indexes: sorted by key; with --by-label by its
 *  values first. */
void cli_selection_find(const cli_selection *selection, const cli_words *names,
                        const cli_target *target, cli_found *found);

/** Sorts by the values at a path as kubectl's --sort-by does: numbers and quantities by value,
 *  other text in natural order (p2 before p10), objects without a value first.
 *  Errors: KI_ERR_NOT_FOUND  no object has a value there. */
KI_NODISCARD int cli_found_sort(cli_found *found, const ki_path *path, ki_error *error);

/** Compares two texts as cli_found_sort() does: negative, positive, or 0. */
int cli_natural_order(ki_str a, ki_str b);
/** Parses a quantity such as "500m" or "2Gi"; false if it is not one. */
bool cli_read_quantity(ki_str text, double *ret_number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk over an object (conform.c) and the checks of one value (conform_value.c,
 * conform_list.c) share. */
#ifndef KI_APISERVER_VALIDATE_CONFORM_PARTS_H
#define KI_APISERVER_VALIDATE_CONFORM_PARTS_H

#include "apiserver/validate/conform.h"

typedef struct ki__conform_frame ki__conform_frame;

typedef struct ki__conform_walk {
    const ki__structural *schema;
    ki__invalid *errors;
    const ki_alloc *alloc;
    ki_buf path;     /* of the value at hand */
    size_t prefix;   /* what of it texts leave out */
    size_t failures; /* of the value at hand */
    uint32_t steps;
    size_t old_steps; /* that looking for something in the old object takes */
    ki_buf text;      /* used again and again */
    ki_buf shown;
    ki_buf detail;
    ki__conform_frame *frames;
    size_t depth;
    size_t cap;
    unsigned char *seen; /* required names of the open maps */
    size_t seen_count;
    size_t seen_cap;
    size_t branches; /* that are open: what fails inside may not matter */
} ki__conform_walk;

/** Takes steps; KI_ERR_LIMIT if too few are left. */
int ki__conform_take(ki__conform_walk *w, size_t steps);

/** Adds an error for the value at hand. `shown` is the value, `detail` what is wrong. */
int ki__conform_add(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                    const char *detail);

/** The same with a text that begins with the path: "spec.size in body " and `rest`. */
int ki__conform_add_in_body(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                            const char *rest);

/** An error that is of no field. */
int ki__conform_add_loose(ki__conform_walk *w, const char *detail);

/** What messages call the value at hand. */
ki_str ki__conform_name(const ki__conform_walk *w);

/** Checks one value, but not what is in it. *matches counts what applied, which tells later which
 *  of several schemas was meant. */
int ki__conform_value(ki__conform_walk *w, const ki__structural_node *n, const ki_value *value,
                      uint32_t *matches);

/** Checks that a list that is a set or a map has nothing twice. */
int ki__conform_list(ki__conform_walk *w, const ki__structural_node *n, const ki_value *list);

/** Checks apiVersion, kind and metadata of an object inside another. */
int ki__conform_embedded(ki__conform_walk *w, const ki_value *object);

#endif

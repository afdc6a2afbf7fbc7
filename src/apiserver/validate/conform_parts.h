/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the traversal of an object (conform.c) and the checks of a single value
 * (conform_value.c, conform_list.c). */
#ifndef KI_APISERVER_VALIDATE_CONFORM_PARTS_H
#define KI_APISERVER_VALIDATE_CONFORM_PARTS_H

#include "apiserver/validate/conform.h"

typedef struct ki__conform_frame ki__conform_frame;

typedef struct ki__conform_walk {
    const ki__structural *schema;
    ki__invalid *errors;
    const ki_alloc *alloc;
    ki_buf path;     /* of the current value */
    size_t prefix;   /* length of the part that messages omit */
    size_t failures; /* of the current value */
    uint32_t steps;
    size_t old_steps; /* cost of finding a value in the old object */
    ki_buf text;      /* scratch buffer */
    ki_buf shown;
    ki_buf detail;
    ki__conform_frame *frames;
    size_t depth;
    size_t cap;
    unsigned char *seen; /* flags of required names for the open maps */
    size_t seen_count;
    size_t seen_cap;
    size_t branches; /* number of open alternatives: errors inside may be discarded */
} ki__conform_walk;

/** Consumes steps; KI_ERR_LIMIT if too few are left. */
int ki__conform_take(ki__conform_walk *w, size_t steps);

/** Adds an error for the current value. `shown` is the value, `detail` the reason. */
int ki__conform_add(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                    const char *detail);

/** The same with a message that begins with the path: "spec.size in body " and `rest`. */
int ki__conform_add_in_body(ki__conform_walk *w, ki__invalid_reason reason, ki_str shown,
                            const char *rest);

/** Adds an error without a field. */
int ki__conform_add_loose(ki__conform_walk *w, const char *detail);

/** The name of the current value in messages. */
ki_str ki__conform_name(const ki__conform_walk *w);

/** Validates a value without its members or elements. *matches counts the checks that applied, to
 *  select the best of several alternatives. */
int ki__conform_value(ki__conform_walk *w, const ki__structural_node *n, const ki_value *value,
                      uint32_t *matches);

/** Rejects duplicates in a list of type set or map. */
int ki__conform_list(ki__conform_walk *w, const ki__structural_node *n, const ki_value *list);

/** Validates apiVersion, kind and metadata of an embedded object. */
int ki__conform_embedded(ki__conform_walk *w, const ki_value *object);

#endif

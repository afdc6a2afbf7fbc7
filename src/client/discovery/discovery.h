/* SPDX-License-Identifier: Apache-2.0 */
/* The resources of a server in order, with all their names in a sorted table. Immutable (built by
 * discovery_build.h). */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_H

#include <kinformer/buf.h>
#include <kinformer/discovery.h>

#include "base/refs.h"

enum {
    KI__DISCOVERY_RESOURCES_MAX = 20000, /* over all versions */
    KI__DISCOVERY_VERSIONS_MAX = 4096,   /* groups times versions */
    KI__DISCOVERY_TEXT_MAX = 16 << 20    /* bytes of names */
};

/** The forms of a resource's name, in order of preference. */
typedef enum ki__discovery_form {
    KI__FORM_NAME, /* plural or singular */
    KI__FORM_SHORT,
    KI__FORM_KIND
} ki__discovery_form;

typedef struct ki__discovery_name {
    const char *text; /* in lower case; inside `text` of the discovery */
    uint32_t entry;
    uint8_t len;
    uint8_t form;
} ki__discovery_name;

typedef struct ki__discovery_entry {
    const ki_resource *resource; /* a reference */
    uint32_t verbs;
    const char *categories; /* concatenated C strings, ending with an empty one; in `text` */
} ki__discovery_entry;

struct ki_discovery {
    ki__refs refs;
    const ki_alloc *alloc;
    ki__discovery_entry *entries; /* core first, then groups in the server's order; within each the
                                     preferred version first */
    size_t count;
    ki__discovery_name *names; /* by text, then form, then entry */
    size_t name_count;
    const char **failures; /* in `text` */
    size_t failure_count;
    size_t left_out;
    ki_buf text;
};

/** Order of the names in the table; for ki__sort(). */
int ki__discovery_name_compare(const void *a, const void *b);

/** Index of the first entry with this name; *ret_end is the index after the last. */
size_t ki__discovery_names_of(const ki_discovery *discovery, ki_str text, size_t *ret_end);

/** Sets `error` to KI_ERR_NOT_FOUND for `name`; `word` is its part before the first '.', in lower
 *  case. Suggests similar names, and lists the group versions whose discovery failed. */
int ki__discovery_not_found(const ki_discovery *discovery, const char *name, ki_str word,
                            ki_error *error);

/** ASCII to lower case. */
static inline char ki__discovery_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#endif

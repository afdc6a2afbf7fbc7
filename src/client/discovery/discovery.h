/* SPDX-License-Identifier: Apache-2.0 */
/* The resources of a server: in order, with all their names in a sorted table. Immutable (created
 * by discovery_build.h). */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_H

#include <kinformer/buf.h>
#include <kinformer/discovery.h>

#include "base/refs.h"

enum {
    KI__DISCOVERY_RESOURCES_MAX = 20000, /* of all versions together */
    KI__DISCOVERY_VERSIONS_MAX = 4096,   /* groups times versions */
    KI__DISCOVERY_TEXT_MAX = 16 << 20    /* bytes of names */
};

/** What a name is to its resource, in the order in which they are preferred. */
typedef enum ki__discovery_form {
    KI__FORM_NAME, /* plural or singular */
    KI__FORM_SHORT,
    KI__FORM_KIND
} ki__discovery_form;

typedef struct ki__discovery_name {
    const char *text; /* in lower case; in `text` of the discovery */
    uint32_t entry;
    uint8_t len;
    uint8_t form;
} ki__discovery_name;

typedef struct ki__discovery_entry {
    const ki_resource *resource; /* counted */
    uint32_t verbs;
    const char *categories; /* C strings one after the other, the last one empty; in `text` */
} ki__discovery_entry;

struct ki_discovery {
    ki__refs refs;
    const ki_alloc *alloc;
    ki__discovery_entry *entries; /* core first, then groups as the server has them; of each its
                                     preferred version first */
    size_t count;
    ki__discovery_name *names; /* by text, then form, then entry */
    size_t name_count;
    const char **failures; /* in `text` */
    size_t failure_count;
    size_t left_out;
    ki_buf text;
};

/** Orders names as they stand in the table; for ki__sort(). */
int ki__discovery_name_compare(const void *a, const void *b);

/** The first of all names that are spelt so; *ret_end is the place after the last of them. */
size_t ki__discovery_names_of(const ki_discovery *discovery, ki_str text, size_t *ret_end);

/** Fills `error` with KI_ERR_NOT_FOUND for `name`, whose part before the first '.', in lower case,
 *  is `word`: with names that it could have meant, and with what could not be read. */
int ki__discovery_not_found(const ki_discovery *discovery, const char *name, ki_str word,
                            ki_error *error);

/** ASCII in lower case. */
static inline char ki__discovery_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A discovery under construction: group versions in order of appearance, and the resources of each,
 * added in any order. Invalid entries are skipped and counted; only running out of memory and the
 * limits are fatal. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_BUILD_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_BUILD_H

#include "client/discovery/discovery.h"

/* State of a group version. */
typedef enum ki__discovery_state {
    KI__DISCOVERY_KNOWN,  /* its resources were, or will be, added */
    KI__DISCOVERY_WANTED, /* its resources have to be requested */
    KI__DISCOVERY_FAILED
} ki__discovery_state;

typedef struct ki__discovery_version {
    uint32_t group;   /* offset of a C string in `text`; "" is core */
    uint32_t version; /* likewise */
    ki__discovery_state state;
} ki__discovery_version;

/* A resource, and where its names are in `drafts`. */
typedef struct ki__discovery_draft {
    const ki_resource *resource;
    uint32_t verbs;
    uint32_t categories; /* offset of the first; ends with an empty one */
    uint32_t rank;       /* of its group version */
    uint32_t order;
    uint32_t first_name;
    uint32_t name_count;
} ki__discovery_draft;

typedef struct ki__discovery_draft_name {
    uint32_t text;
    uint8_t len;
    uint8_t form;
} ki__discovery_draft_name;

typedef struct ki__discovery_builder {
    const ki_alloc *alloc;
    ki__discovery_version *versions;
    size_t version_count;
    size_t version_cap;
    ki__discovery_draft *drafts;
    size_t draft_count;
    size_t draft_cap;
    ki__discovery_draft_name *names;
    size_t name_count;
    size_t name_cap;
    ki_buf text;
    size_t left_out;
} ki__discovery_builder;

/** A resource as described by the server. */
typedef struct ki__discovery_row {
    const char *name;
    const char *kind;
    const char *singular; /* "": not given */
    bool namespaced;
    uint32_t verbs;
    const char *const *short_names; /* NULL-terminated */
    const char *const *categories;  /* likewise; NULL: none */
} ki__discovery_row;

/** An empty builder. Allocates nothing. `alloc` must outlive it and its result. */
void ki__discovery_builder_init(ki__discovery_builder *builder, const ki_alloc *alloc);
void ki__discovery_builder_done(ki__discovery_builder *builder);

/** Counts a skipped entry. KI_ERR_LIMIT: as many as the limit of resources. */
int ki__discovery_builder_leave_out(ki__discovery_builder *builder);

/** Adds a group version; its number is *ret_number. KI_ERR_INVALID if it is invalid or a duplicate:
 *  then it is counted as skipped.  -ENOMEM, KI_ERR_LIMIT. */
int ki__discovery_builder_version(ki__discovery_builder *builder, ki_str group, ki_str version,
                                  ki__discovery_state state, size_t *ret_number);

/** Adds a resource of a group version, or counts it as skipped. -ENOMEM, KI_ERR_LIMIT. */
int ki__discovery_builder_add(ki__discovery_builder *builder, size_t number,
                              const ki__discovery_row *row);

static inline const char *ki__discovery_builder_text(const ki__discovery_builder *builder,
                                                     uint32_t offset)
{
    return builder->text.data + offset;
}

/** Builds the discovery; the builder is empty then. After -ENOMEM or KI_ERR_LIMIT only
 *  ki__discovery_builder_done() is allowed. */
int ki__discovery_builder_finish(ki__discovery_builder *builder, ki_discovery **ret_discovery);

#endif

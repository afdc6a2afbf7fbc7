/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.managedFields: who owns which fields of an object, and what writes make of that. An
 * owner is a manager and how it wrote: by applying, or by anything else (with which version of the
 * API); and the subresource that it wrote through. */
#ifndef KI_APISERVER_PATCH_MANAGED_FIELDS_H
#define KI_APISERVER_PATCH_MANAGED_FIELDS_H

#include "object/edit/field_set.h"

enum {
    KI__MANAGER_NAME_MAX = 128,
    KI__MANAGERS_MAX = 1000,
    KI__MANAGERS_UPDATING_MAX = 10, /* of those that do not apply; the oldest are made one */
};

typedef struct ki__manager {
    char name[KI__MANAGER_NAME_MAX + 1];
    char api_version[320];
    char subresource[64]; /* "": none */
    bool applies;         /* else it updates */
    bool has_time;
    int64_t time; /* seconds since 1970 */
    ki__field_set fields;
} ki__manager;

typedef struct ki__managers {
    const ki_alloc *alloc;
    ki__field_text text; /* of all sets; others may put theirs there */
    ki__manager *items;
    size_t count;
    size_t cap;
} ki__managers;

void ki__managers_init(ki__managers *managers, const ki_alloc *alloc);
void ki__managers_done(ki__managers *managers);

/** Reads the list of managedFields; what is no list is an empty one.
 *  Errors: KI_ERR_INVALID  it cannot be used;  KI_ERR_LIMIT, -ENOMEM. Then some may be there. */
int ki__managers_read(ki__managers *managers, const ki_value *list);

/** Whether a list says that all shall be forgotten: it is empty, or has one empty entry. */
bool ki__managers_is_reset(const ki_value *list);

/** Appends the list, in the order that servers give it. Nothing is written for an empty one. */
int ki__managers_write(ki__managers *managers, ki_buf *buf);

/** The owner that is like another in all but fields and time; NULL if there is none. */
ki__manager *ki__managers_find(ki__managers *managers, const ki__manager *like);

/** Adds one without fields.  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__managers_add(ki__managers *managers, const ki__manager *like, ki__manager **ret_manager);

/** Forgets those without fields. */
void ki__managers_drop_empty(ki__managers *managers);

/** Makes the oldest of those that update one, if they are too many. */
int ki__managers_limit(ki__managers *managers);

/** Takes the name of a manager from text, as far as it fits; what cannot be printed is left out.
 *  "unknown" if nothing is left. */
void ki__manager_set_name(ki__manager *manager, ki_str text);

#endif

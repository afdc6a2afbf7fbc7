/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.managedFields: which manager owns which fields of an object, and how writes change that.
 * An entry is identified by manager, operation (Apply or Update), apiVersion for updates, and
 * subresource. */
#ifndef KI_APISERVER_PATCH_MANAGED_FIELDS_H
#define KI_APISERVER_PATCH_MANAGED_FIELDS_H

#include "object/edit/field_set.h"

enum {
    KI__MANAGER_NAME_MAX = 128,
    KI__MANAGERS_MAX = 1000,
    KI__MANAGERS_UPDATING_MAX = 10, /* of updating managers; the oldest are merged */
};

typedef struct ki__manager {
    char name[KI__MANAGER_NAME_MAX + 1];
    char api_version[320];
    char subresource[64]; /* "": none */
    bool applies;         /* operation Apply; otherwise Update */
    bool has_time;
    int64_t time; /* seconds since 1970 */
    ki__field_set fields;
} ki__manager;

typedef struct ki__managers {
    const ki_alloc *alloc;
    ki__field_text text; /* strings of all sets; callers may add their own */
    ki__manager *items;
    size_t count;
    size_t cap;
} ki__managers;

void ki__managers_init(ki__managers *managers, const ki_alloc *alloc);
void ki__managers_done(ki__managers *managers);

/** Decodes managedFields; anything but a list counts as empty.
 *  Errors: KI_ERR_INVALID  unusable;  KI_ERR_LIMIT, -ENOMEM. Some entries may have been added
 *  then. */
int ki__managers_read(ki__managers *managers, const ki_value *list);

/** Whether a list resets managedFields: it is empty, or has one empty entry. */
bool ki__managers_is_reset(const ki_value *list);

/** Appends the list in kube-apiserver's order; nothing if it is empty. */
int ki__managers_write(ki__managers *managers, ki_buf *buf);

/** The entry equal to `like` except for fields and time; NULL if there is none. */
ki__manager *ki__managers_find(ki__managers *managers, const ki__manager *like);

/** Adds an entry without fields.  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__managers_add(ki__managers *managers, const ki__manager *like, ki__manager **ret_manager);

/** Removes entries without fields. */
void ki__managers_drop_empty(ki__managers *managers);

/** Merges the oldest updating entries if there are too many. */
int ki__managers_limit(ki__managers *managers);

/** Sets the name of a manager, truncated to fit and without unprintable characters; "unknown" if
 *  nothing remains. */
void ki__manager_set_name(ki__manager *manager, ki_str text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How writes change field ownership, and server-side apply. Everything here is a pure function of
 * the objects, the owners and the writer. */
#ifndef KI_APISERVER_PATCH_SERVER_SIDE_APPLY_H
#define KI_APISERVER_PATCH_SERVER_SIDE_APPLY_H

#include "apiserver/patch/managed_fields.h"
#include "object/edit/merge_type.h"

/** The fields that a write can change, and therefore own. */
typedef enum ki__apply_part {
    KI__APPLY_ALL,
    KI__APPLY_MAIN,   /* everything but the status */
    KI__APPLY_STATUS, /* the status only */
} ki__apply_part;

/** One write. */
typedef struct ki__apply_write {
    ki__merge_type type;
    ki__apply_part part;
    ki__manager who; /* `applies` selects the operation; its time is set if known */
    bool force;      /* take ownership of conflicting fields */
} ki__apply_write;

/** A field that another manager owns. */
typedef struct ki__apply_conflict {
    size_t manager; /* index */
    ki_str path;    /* valid as long as the managers are */
} ki__apply_conflict;

typedef struct ki__apply_conflicts {
    const ki_alloc *alloc;
    ki__apply_conflict *items; /* by manager, then by path */
    size_t count;
    size_t cap;
} ki__apply_conflicts;

/** Updates the owners for a change from `old`, which may be of KI_TYPE_NONE, to `now`.
 *  Errors: KI_ERR_LIMIT, -ENOMEM: the managers are unusable then. */
int ki__apply_update(const ki__apply_write *write, const ki_value *old, const ki_value *now,
                     ki__managers *managers);

/** Applies `config` to `old`, which may be of KI_TYPE_NONE: appends the object without
 *  managedFields and updates the owners. If other managers own fields that would change, only
 *  reports the conflicts. `conflicts` has its allocator set, and must be freed. Without owners,
 *  existing fields count as owned by another manager.
 *  Errors: KI_ERR_INVALID  a list element without a unique merge key;
 *          KI_ERR_LIMIT, -ENOMEM. */
int ki__apply_config(const ki__apply_write *write, const ki_value *old, const ki_value *config,
                     ki__managers *managers, ki__apply_conflicts *conflicts, ki_buf *out,
                     ki_error *error);

/** Drops conflicts about fields whose value is equal in `last`, which the client applied with
 *  client-side apply, and in `live`: the client owns these already.
 *  Errors: KI_ERR_INVALID  as for ki__apply_config();  KI_ERR_LIMIT, -ENOMEM. */
int ki__apply_ignore_unchanged(const ki__apply_write *write, const ki_value *last,
                               const ki_value *live, ki__managers *managers,
                               ki__apply_conflicts *conflicts);

#endif

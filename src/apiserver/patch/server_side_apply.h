/* SPDX-License-Identifier: Apache-2.0 */
/* What writes mean for the owners of fields, and server-side apply. Everything here is a function
 * of the objects, who owns what, and who writes. */
#ifndef KI_APISERVER_PATCH_SERVER_SIDE_APPLY_H
#define KI_APISERVER_PATCH_SERVER_SIDE_APPLY_H

#include "apiserver/patch/managed_fields.h"
#include "object/edit/merge_type.h"

/** Which fields a write can change, and so own. */
typedef enum ki__apply_part {
    KI__APPLY_ALL,
    KI__APPLY_MAIN,   /* all but the status */
    KI__APPLY_STATUS, /* the status only */
} ki__apply_part;

/** One write. */
typedef struct ki__apply_write {
    ki__merge_type type;
    ki__apply_part part;
    ki__manager who; /* `applies` tells which kind of write it is, its time when it was, if known */
    bool force;      /* take fields from others that own them with another value */
} ki__apply_write;

/** A field that somebody else owns. */
typedef struct ki__apply_conflict {
    size_t manager; /* index */
    ki_str path;    /* valid as long as the managers */
} ki__apply_conflict;

typedef struct ki__apply_conflicts {
    const ki_alloc *alloc;
    ki__apply_conflict *items; /* by manager, then by path */
    size_t count;
    size_t cap;
} ki__apply_conflicts;

/** Changes the owners for an update of `old`, which may be of KI_TYPE_NONE, to `now`.
 *  Errors: KI_ERR_LIMIT, -ENOMEM: the managers are worth nothing then. */
int ki__apply_update(const ki__apply_write *write, const ki_value *old, const ki_value *now,
                     ki__managers *managers);

/** Applies `config` to `old`, which may be of KI_TYPE_NONE: appends the object without
 *  managedFields, and changes the owners; or, if others own what would change, tells only that.
 *  `conflicts` has its allocator set, and must be freed. Without owners, what is there counts as
 *  somebody's.
 *  Errors: KI_ERR_INVALID  an element of a list that cannot be told apart from others;
 *          KI_ERR_LIMIT, -ENOMEM. */
int ki__apply_config(const ki__apply_write *write, const ki_value *old, const ki_value *config,
                     ki__managers *managers, ki__apply_conflicts *conflicts, ki_buf *out,
                     ki_error *error);

/** Drops the conflicts about fields that `last`, which a client applied in its own way before, has
 *  as `live` has them: these are that client's.
 *  Errors: KI_ERR_INVALID  as for ki__apply_config();  KI_ERR_LIMIT, -ENOMEM. */
int ki__apply_forgive(const ki__apply_write *write, const ki_value *last, const ki_value *live,
                      ki__managers *managers, ki__apply_conflicts *conflicts);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection of the dependents of deleted objects, as by the garbage collector of a real
 * cluster. The model reports every write; an index maps owner uids to dependents; work is queued as
 * tasks, which ki__garbage_run() processes a few objects at a time. Each action is a separate
 * write. */
#ifndef KI_APISERVER_VERBS_GARBAGE_H
#define KI_APISERVER_VERBS_GARBAGE_H

#include <kinformer/alloc.h>
#include <kinformer/object.h>

#include "apiserver/model.h"
#include "base/map.h"

enum {
    KI__GARBAGE_UID_SIZE = 64, /* longer ones are not uids of this server */
    KI__GARBAGE_GONE_MAX = 512,
    KI__GARBAGE_OWNERS_MAX = 1 << 20,
};

/** Propagation policy: what happens to the dependents of a deleted object. */
typedef enum ki__api_policy {
    KI__API_POLICY_UNSAID, /* by its finalizers; otherwise background */
    KI__API_POLICY_BACKGROUND,
    KI__API_POLICY_FOREGROUND,
    KI__API_POLICY_ORPHAN,
} ki__api_policy;

/** An object referenced as an owner; it need not exist. */
typedef struct ki__garbage_owner {
    ki__api_key **dependents; /* repeated for duplicate references */
    size_t count;
    size_t cap;
    char uid[KI__GARBAGE_UID_SIZE];
} ki__garbage_owner;

typedef enum ki__garbage_kind {
    KI__GARBAGE_GONE,  /* owner `uid` is gone: process its dependents */
    KI__GARBAGE_OWNER, /* `object` waits for its dependents to be deleted or released */
    KI__GARBAGE_CHECK, /* `object` was created after its owner was deleted */
} ki__garbage_kind;

typedef struct ki__garbage_task {
    ki__garbage_kind kind;
    char uid[KI__GARBAGE_UID_SIZE];
    ki__api_type *type;
    ki_object *object; /* owned reference */
    size_t next;       /* number of dependents still to be processed; SIZE_MAX: all */
    bool blocked;      /* some processed dependents still exist */
} ki__garbage_task;

typedef struct ki__garbage {
    const ki_alloc *alloc;
    ki__map owners;          /* of ki__garbage_owner, by uid */
    ki__garbage_task *tasks; /* starting at `first` */
    size_t first;
    size_t count;
    size_t cap;
    char (*gone)[KI__GARBAGE_UID_SIZE]; /* uids of the most recently removed objects */
    size_t gone_next;
    size_t waiting; /* number of owners that wait for their dependents */
    bool stale;     /* the index is outdated after a restore and must be rebuilt */
    bool running;   /* set during its own writes, which are reported as well */
} ki__garbage;

/** 0 or -ENOMEM. */
int ki__garbage_new(const ki_alloc *alloc, const ki_random *random, ki__garbage **ret_garbage);
ki__garbage *ki__garbage_free(ki__garbage *garbage);

/** Before a write: records the owners of the new state (NULL for a deletion), and reserves space
 *  for the commit. -ENOMEM or KI_ERR_LIMIT have no effect. `garbage` may be NULL, as below. */
int ki__garbage_prepare(ki__garbage *garbage, ki__api_key *key, const ki_object *before,
                        const ki_object *object);
/** After the write. */
void ki__garbage_commit(ki__garbage *garbage, ki__api_key *key, const ki_object *before,
                        ki_object *object, bool deleted);

/** The model was restored to an earlier version. */
void ki__garbage_reset(ki__garbage *garbage);

/** Whether there are tasks. */
static inline bool ki__garbage_is_pending(const ki__garbage *garbage)
{
    return garbage != NULL && (garbage->count != 0 || garbage->stale) && !garbage->running;
}

/** Processes at most `limit` dependents. 0, or -ENOMEM: another call continues. */
int ki__garbage_run(ki__api_model *model, size_t limit);

/** Whether an object has a finalizer. */
bool ki__garbage_has_finalizer(const ki_object *object, const char *finalizer);

/* ---- internal ---- */

/** Whether an object is in foreground deletion. */
bool ki__garbage_is_foreground(const ki_object *object);

ki__garbage_owner *ki__garbage_find(const ki__garbage *garbage, const char *uid);

/** The uid of an owner reference; false if it has no valid one. */
bool ki__garbage_reference(const ki_value *reference, char uid[KI__GARBAGE_UID_SIZE]);

/** Removes the first task. */
void ki__garbage_pop(ki__garbage *garbage);

/** Rebuilds the index. 0 or -ENOMEM. */
int ki__garbage_rebuild(ki__api_model *model);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection: what the garbage collector of a real cluster does with the dependents of
 * objects that are deleted. The model reports every write; an index knows the dependents of each
 * owner by its uid; what is to be done waits as tasks, which are worked off a few objects at a time
 * (ki__garbage_run()). Everything that is done is a write of its own. */
#ifndef KI_APISERVER_VERBS_GARBAGE_H
#define KI_APISERVER_VERBS_GARBAGE_H

#include <kinformer/alloc.h>
#include <kinformer/object.h>

#include "apiserver/model.h"
#include "base/map.h"

enum {
    KI__GARBAGE_UID_SIZE = 64, /* longer ones are no uids of ours */
    KI__GARBAGE_GONE_MAX = 512,
    KI__GARBAGE_OWNERS_MAX = 1 << 20,
};

/** What to do with the dependents of an object that is deleted. */
typedef enum ki__api_policy {
    KI__API_POLICY_UNSAID, /* as its finalizers say; else in the background */
    KI__API_POLICY_BACKGROUND,
    KI__API_POLICY_FOREGROUND,
    KI__API_POLICY_ORPHAN,
} ki__api_policy;

/** An object that others name as their owner; it need not be there. */
typedef struct ki__garbage_owner {
    ki__api_key **dependents; /* one that names it twice is there twice */
    size_t count;
    size_t cap;
    char uid[KI__GARBAGE_UID_SIZE];
} ki__garbage_owner;

typedef enum ki__garbage_kind {
    KI__GARBAGE_GONE,  /* the owner `uid` is gone: its dependents follow */
    KI__GARBAGE_OWNER, /* `object` waits for its dependents, or for their release */
    KI__GARBAGE_CHECK, /* `object` came after its owner had gone */
} ki__garbage_kind;

typedef struct ki__garbage_task {
    ki__garbage_kind kind;
    char uid[KI__GARBAGE_UID_SIZE];
    ki__api_type *type;
    ki_object *object; /* a reference */
    size_t next;       /* dependents that are still to be looked at; SIZE_MAX: all */
    bool blocked;      /* some of those that were are still there */
} ki__garbage_task;

typedef struct ki__garbage {
    const ki_alloc *alloc;
    ki__map owners;          /* of ki__garbage_owner, by uid */
    ki__garbage_task *tasks; /* from `first` on */
    size_t first;
    size_t count;
    size_t cap;
    char (*gone)[KI__GARBAGE_UID_SIZE]; /* uids of the objects that were removed last */
    size_t gone_next;
    size_t waiting; /* owners that wait for their dependents */
    bool stale;     /* the index is of another past: it has to be made again */
    bool running;   /* its own writes are reported as well */
} ki__garbage;

/** 0 or -ENOMEM. */
int ki__garbage_new(const ki_alloc *alloc, const ki_random *random, ki__garbage **ret_garbage);
ki__garbage *ki__garbage_free(ki__garbage *garbage);

/** Before a write: records the owners of the new state (NULL for a deletion), and reserves space
 *  for subsequent changes. -ENOMEM or KI_ERR_LIMIT have no effect. `garbage` may be NULL, as for
 *  the next. */
int ki__garbage_prepare(ki__garbage *garbage, ki__api_key *key, const ki_object *before,
                        const ki_object *object);
/** After the write. */
void ki__garbage_commit(ki__garbage *garbage, ki__api_key *key, const ki_object *before,
                        ki_object *object, bool deleted);

/** The past was changed. */
void ki__garbage_reset(ki__garbage *garbage);

/** Whether there is something to do. */
static inline bool ki__garbage_waits(const ki__garbage *garbage)
{
    return garbage != NULL && (garbage->count != 0 || garbage->stale) && !garbage->running;
}

/** Works off at most `limit` dependents. 0, or -ENOMEM: another call continues. */
int ki__garbage_run(ki__api_model *model, size_t limit);

/** Whether an object has a finalizer. */
bool ki__garbage_has_finalizer(const ki_object *object, const char *finalizer);

/* ---- for the files of it ---- */

/** Whether an object is being deleted, and waits for its dependents to be. */
bool ki__garbage_is_foreground(const ki_object *object);

ki__garbage_owner *ki__garbage_find(const ki__garbage *garbage, const char *uid);

/** The uid of an owner reference; false if it has none that can be one. */
bool ki__garbage_reference(const ki_value *reference, char uid[KI__GARBAGE_UID_SIZE]);

/** Ends the first task. */
void ki__garbage_pop(ki__garbage *garbage);

/** Makes the index again. 0 or -ENOMEM. */
int ki__garbage_rebuild(ki__api_model *model);

#endif

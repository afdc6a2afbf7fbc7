/* SPDX-License-Identifier: Apache-2.0 */
/* The scope of a call of `reconcile`: what requests on its thread inherit from it. Its time limit,
 * the term of the leader, in which alone it may write, and the key that writes are recorded for.
 * The functions without a scope argument use that of the calling thread, if it has one. */
#ifndef KI_CONTROLLER_SCOPE_H
#define KI_CONTROLLER_SCOPE_H

#include "controller/controller.h"

typedef struct ki__scope {
    struct ki__scope *outer; /* of this thread, or NULL */
    ki_controller *controller;
    const char *key;
    uint64_t deadline_ns; /* by the queue's clock; UINT64_MAX: none */
    int64_t term;
} ki__scope;

void ki__scope_enter(ki__scope *scope, ki_controller *controller, const char *key);
/** Counts a timeout. */
void ki__scope_leave(const ki__scope *scope);

/** Whether the calling thread is in a call of `reconcile`. */
bool ki__scope_is_inside(void);

/** Whether a request may be made now, with the time that is left for it; UINT64_MAX: no limit.
 *  Errors: -ETIMEDOUT;  KI_ERR_NOT_LEADER  for a write. */
int ki__scope_admit(bool writes, uint64_t *ret_left_ns, ki_error *error);

/** The leader that must hold *ret_term for a write to be sent; NULL: none. */
ki_leader *ki__scope_fence(int64_t *ret_term);

/** Whether the controller watches the resource, and no cache has this object: it can be created
 *  without reading it first. False outside of reconcile. */
bool ki__scope_lacks(const ki_resource *resource, const char *name_space, const char *name);

/** Records a write, if the controller has a ki_consistency and watches the resource. */
void ki__scope_wrote(const ki_resource *resource, const ki_object *object);

#endif

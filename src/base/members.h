/* SPDX-License-Identifier: Apache-2.0 */
/* Weak lists: the parts of a client that metrics and checks are about, by their engine. Neither
 * side owns the other. A member leaves before it is freed, and the list is disbanded before its
 * owner is freed; either may happen first. One lock protects all lists. It is taken when a member
 * is created or freed and for each scrape, never for an event; only `visit` is called with it. */
#ifndef KI_BASE_MEMBERS_H
#define KI_BASE_MEMBERS_H

#include <stdbool.h>

#include "base/list.h"

typedef enum ki__member_kind {
    KI__MEMBER_INFORMER,
    KI__MEMBER_CONTROLLER,
    KI__MEMBER_QUEUE,
    KI__MEMBER_LEADER,
    KI__MEMBER_RECORDER,
    KI__MEMBER_KINDS
} ki__member_kind;

/** Embedded in the member; zero-initialized. */
typedef struct ki__member {
    ki__list link;
    bool joined;
    ki__member_kind kind;
    const void *owner; /* the client it belongs to, of several on an engine; NULL: any */
} ki__member;

/** Returns whether it joined; false if it is already in a list. */
bool ki__members_join(ki__list *members, ki__member *member, ki__member_kind kind,
                      const void *owner);
/** Sets the owner of a member. */
void ki__members_set_owner(ki__member *member, const void *owner);
/** No effect if it is in no list. */
void ki__members_leave(ki__member *member);
/** All members of this owner leave. */
void ki__members_remove(ki__list *members, const void *owner);
/** All members leave. */
void ki__members_remove_all(ki__list *members);
/** Visits the members in the order of joining. `visit` may take references with
 *  ki__refs_try_take(), and must not call anything else. */
void ki__members_visit(ki__list *members, void (*visit)(ki__member *member, void *user),
                       void *user);

/** Called in the child of fork(), where the thread that held the lock may not exist. The lists of
 *  the parent are never used there, so their state does not matter. */
void ki__members_reset_lock(void);

#endif

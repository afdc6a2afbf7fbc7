/* SPDX-License-Identifier: Apache-2.0 */
#include "base/members.h"

#include "base/sync.h"

static ki__mutex lock = {PTHREAD_MUTEX_INITIALIZER};

bool ki__members_join(ki__list *members, ki__member *member, ki__member_kind kind,
                      const void *owner)
{
    ki__mutex_lock(&lock);
    bool joins = !member->joined;
    if (joins) {
        member->joined = true;
        member->kind = kind;
        member->owner = owner;
        ki__list_push_back(members, &member->link);
    }
    ki__mutex_unlock(&lock);
    return joins;
}

void ki__members_set_owner(ki__member *member, const void *owner)
{
    ki__mutex_lock(&lock);
    member->owner = owner;
    ki__mutex_unlock(&lock);
}

void ki__members_leave(ki__member *member)
{
    ki__mutex_lock(&lock);
    if (member->joined) {
        member->joined = false;
        ki__list_remove(&member->link);
    }
    ki__mutex_unlock(&lock);
}

void ki__members_remove(ki__list *members, const void *owner)
{
    ki__mutex_lock(&lock);
    KI__LIST_FOR_EACH (link, members) {
        ki__member *member = KI__CONTAINER_OF(link, ki__member, link);
        if (member->owner == owner) {
            member->joined = false;
            ki__list_remove(link);
        }
    }
    ki__mutex_unlock(&lock);
}

void ki__members_remove_all(ki__list *members)
{
    ki__mutex_lock(&lock);
    ki__list *link;
    while ((link = ki__list_pop_front(members)) != NULL) {
        KI__CONTAINER_OF(link, ki__member, link)->joined = false;
    }
    ki__mutex_unlock(&lock);
}

void ki__members_visit(ki__list *members, void (*visit)(ki__member *member, void *user), void *user)
{
    ki__mutex_lock(&lock);
    KI__LIST_FOR_EACH (link, members) {
        visit(KI__CONTAINER_OF(link, ki__member, link), user);
    }
    ki__mutex_unlock(&lock);
}

void ki__members_reset_lock(void)
{
    lock = (ki__mutex){PTHREAD_MUTEX_INITIALIZER};
}

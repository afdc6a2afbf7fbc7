/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive doubly linked list: a ring through a head that belongs to no element. */
#ifndef KI_BASE_LIST_H
#define KI_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ki__list {
    struct ki__list *prev;
    struct ki__list *next;
} ki__list;

/** The struct of type `type` whose member `member` is the one at `pointer`. For a pointer to const
 *  name a const `type`; the way through an integer is what lets one macro serve both. */
#define KI__CONTAINER_OF(pointer, type, member) \
    ((type *)((uintptr_t)(pointer)-offsetof(type, member)))

/** Walks the links of a list; the current one may be removed or freed, its successor may not. */
#define KI__LIST_FOR_EACH(link, head)                                              \
    for (ki__list *link = (head)->next, *link##_next = link->next; link != (head); \
         link = link##_next, link##_next = link->next)

/** Makes an empty list, or a link that is in no list. */
static inline void ki__list_init(ki__list *head)
{
    head->prev = head;
    head->next = head;
}

static inline bool ki__list_is_empty(const ki__list *head)
{
    return head->next == head;
}

static inline void ki__list_insert_between(ki__list *link, ki__list *prev, ki__list *next)
{
    link->prev = prev;
    link->next = next;
    prev->next = link;
    next->prev = link;
}

static inline void ki__list_push_back(ki__list *head, ki__list *link)
{
    ki__list_insert_between(link, head->prev, head);
}

static inline void ki__list_push_front(ki__list *head, ki__list *link)
{
    ki__list_insert_between(link, head, head->next);
}

/** Takes `link` out of its list and makes it a list of its own, so that removing twice is safe. A
 *  link that was never in a list must have been through ki__list_init(). */
static inline void ki__list_remove(ki__list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ki__list_init(link);
}

/** Takes the first link out, or gives NULL if the list is empty. */
static inline ki__list *ki__list_pop_front(ki__list *head)
{
    if (ki__list_is_empty(head)) {
        return NULL;
    }
    ki__list *link = head->next;
    ki__list_remove(link);
    return link;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive circular doubly linked list with a sentinel head. */
#ifndef KI_BASE_LIST_H
#define KI_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ki__list {
    struct ki__list *prev;
    struct ki__list *next;
} ki__list;

/** The struct of type `type` that contains `pointer` as `member`. For a pointer to const use a
 *  const `type`; the cast through an integer lets one macro serve both. */
#define KI__CONTAINER_OF(pointer, type, member) \
    ((type *)((uintptr_t)(pointer)-offsetof(type, member)))

/** Iterates over the links of a list; the current one, but not the next, may be removed or
 *  freed. */
#define KI__LIST_FOR_EACH(link, head)                                              \
    for (ki__list *link = (head)->next, *link##_next = link->next; link != (head); \
         link = link##_next, link##_next = link->next)

/** Initializes an empty list, or a link that is in no list. */
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

/** Removes `link` from its list and reinitializes it, so that removing twice is safe. A link that
 *  was never in a list must have been initialized with ki__list_init(). */
static inline void ki__list_remove(ki__list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ki__list_init(link);
}

/** Removes and returns the first link; NULL if the list is empty. */
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

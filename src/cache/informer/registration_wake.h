/* SPDX-License-Identifier: Apache-2.0 */
/* Waking the threads that deliver to handlers, after a batch was queued for them. Queueing reports
 * whether a registration has to be woken (registration.h); an informer queues with its lock held,
 * so it collects those in a list and wakes them after releasing it.
 *
 * Threads are not woken for a while when batch follows batch, as a wake-up costs more than
 * delivering a hundred events: see ki__wake_list_hold(). Inside the engine only. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_WAKE_H
#define KI_CACHE_INFORMER_REGISTRATION_WAKE_H

#include "cache/informer/registration.h"

typedef struct ki__wake_list {
    ki__list now;   /* seats; each holds a reference */
    ki__list later; /* the same, of threads that may sleep on */
    size_t deltas;  /* how many came since the first was put into `later`, */
    size_t batches; /* and in how many batches */
} ki__wake_list;

void ki__wake_list_init(ki__wake_list *list);

/** Adds one that has to be woken. */
void ki__wake_list_add(ki__wake_list *list, ki_registration *registration);

/** Wakes those that must not wait; to be called after each batch, with no lock held. */
void ki__wake_list_send(ki__wake_list *list);
/** Wakes all. The same. */
void ki__wake_list_send_all(ki__wake_list *list);

/** After a batch of so many deltas, or none: wakes all, unless more may come soon. Whether some
 *  sleep on: then this must be called again when the engine has done what it has at hand. */
bool ki__wake_list_hold(ki__wake_list *list, size_t deltas);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Waking the threads that deliver to handlers, after a batch was queued for them. Queueing reports
 * whether a registration has to be woken (registration.h); an informer queues with its lock held,
 * so it collects those in a list and wakes them after releasing it.
 *
 * While batches follow each other closely, wake-ups are delayed, since one costs more than
 * delivering a hundred events: see ki__wake_list_hold(). Inside the engine only. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_WAKE_H
#define KI_CACHE_INFORMER_REGISTRATION_WAKE_H

#include "cache/informer/registration.h"

typedef struct ki__wake_list {
    ki__list now;   /* seats; each holds a reference */
    ki__list later; /* the same, for threads whose wake-up may be delayed */
    size_t deltas;  /* number since the first was added to `later`, */
    size_t batches; /* and their number of batches */
} ki__wake_list;

void ki__wake_list_init(ki__wake_list *list);

/** Adds one that has to be woken. */
void ki__wake_list_add(ki__wake_list *list, ki_registration *registration);

/** Sends wake-ups that must not be delayed; call after each batch, with no lock held. */
void ki__wake_list_send(ki__wake_list *list);
/** Sends all wake-ups. The same. */
void ki__wake_list_send_all(ki__wake_list *list);

/** After a batch of `deltas`, or none: sends all wake-ups, unless more may come soon. Whether some
 *  are delayed: then call this again when the engine has finished its current work. */
bool ki__wake_list_hold(ki__wake_list *list, size_t deltas);

#endif

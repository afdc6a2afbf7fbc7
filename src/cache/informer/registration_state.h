/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a registration share. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_STATE_H
#define KI_CACHE_INFORMER_REGISTRATION_STATE_H

#include <stdatomic.h>

#include "base/engine.h"
#include "base/place.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/registration.h"

struct ki_registration {
    ki__refs refs;
    ki_engine *engine;
    ki_handler handler;
    ki_handler_options options;
    ki__registration_owner owner;
    ki__registration_seat seat;
    ki__task task; /* holds a reference while it is posted; for delivery inside the engine */
    ki__job job;   /* the same for delivery on a thread */
    ki__mutex lock;
    ki__cond changed;
    ki__handler_queue queue;
    atomic_bool removed;
    bool entered;    /* it is a user of the pool */
    bool over;       /* removed, and the handler destroyed */
    bool delivering; /* somebody is inside deliver() */
    bool left;       /* by an exception or so, and that was logged */
    ki__place delivers_at;
    bool destroying;      /* somebody is about to destroy the handler */
    size_t waking;        /* how many are about to tell that something waits */
    bool calling_initial; /* initial adds are under way */
    bool begun;           /* something was queued once */
    bool upstream_synced;
    bool synced;
    bool told_synced; /* the handler */
    bool owner_knows; /* the owner, of the same */
    bool woken;       /* and nobody came yet */
    bool refused;     /* whoever came while another delivers: the wake-up counts for nothing */
    uint64_t merged;  /* once the queue is gone */
    /* For who queues: */
    bool sharing;     /* there is room for the batch that comes next, as shared notes */
    size_t may_share; /* so many notes, in so many batches, can be shared without looking: */
    size_t may_batch; /* who delivers only makes more room */
    /* Written by who delivers only: */
    _Atomic uint64_t delivered;
    _Atomic uint64_t failed;
    _Atomic size_t in_hand; /* notes that were taken out, and whose turn has not come */
    char name[];
};

/** Takes no lock. */
static inline bool ki__registration_is_removed(const ki_registration *registration)
{
    return atomic_load_explicit(&registration->removed, memory_order_acquire);
}

/** As ki__registration_must_poke(), with the lock held. */
bool ki__registration_must_poke_locked(ki_registration *registration);

#endif

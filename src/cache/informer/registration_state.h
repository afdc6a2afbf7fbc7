/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a registration: its members, and its states with their setters.
 *
 *   registration.c           creation, queries, removal, destruction
 *   registration_state.c     states and transitions
 *   registration_queue.c     queueing by the informer
 *   registration_wake.c      waking the delivering thread
 *   registration_delivery.c  calling the handler
 *
 * One lock protects all of it. It is never held during callbacks. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_STATE_H
#define KI_CACHE_INFORMER_REGISTRATION_STATE_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/engine.h"
#include "base/place.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/registration.h"

/* Life cycle of a registration. */
typedef enum ki__reg_life {
    KI__REG_ACTIVE,
    KI__REG_REMOVED,    /* no callback begins, except one already decided on */
    KI__REG_DESTROYING, /* no callback runs, and a thread is about to destroy the handler */
    KI__REG_OVER,       /* the handler is destroyed */
    KI__REG_LIFE_MAX
} ki__reg_life;

/* Sync progress. */
typedef enum ki__reg_sync {
    KI__REG_FRESH,         /* nothing was queued yet: the first list can be a snapshot */
    KI__REG_LISTING,       /* not fresh, but the informer has not synced */
    KI__REG_CATCHING_UP,   /* informer synced; initial events pending or being delivered */
    KI__REG_SYNCED,        /* all initial events were delivered; the owner was not notified yet */
    KI__REG_OWNER_KNOWS,   /* on_synced() has not been called, if there is one */
    KI__REG_HANDLER_KNOWS, /* it was called, or is being called */
    KI__REG_SYNC_MAX
} ki__reg_sync;

/* Whether a thread delivers: at most one at a time, which makes callbacks sequential. */
typedef enum ki__reg_turn {
    KI__REG_IDLE,
    KI__REG_DELIVERING,
    KI__REG_DELIVERING_INITIAL, /* events of the first list are in the delivering thread's hand */
    KI__REG_TURN_MAX
} ki__reg_turn;

/* Whether a wake-up is pending. See registration_wake.c. */
typedef enum ki__reg_wake {
    KI__REG_ASLEEP, /* none: the next queued event needs a wake-up */
    KI__REG_WOKEN,  /* a wake-up is pending */
    KI__REG_WASTED, /* the woken thread was turned away because another one delivers */
    KI__REG_WAKE_MAX
} ki__reg_wake;

struct ki_registration {
    ki__refs refs;
    ki_engine *engine;
    ki_handler handler;
    ki_handler_options options;
    ki__registration_owner owner;
    ki__registration_entry entry;
    ki__task task; /* holds a reference while posted; for delivery inside the engine */
    ki__job job;   /* the same for delivery on a thread */
    ki__mutex lock;
    ki__cond changed;
    ki__handler_queue queue;
    _Atomic ki__reg_life life; /* written with the lock held, read without */
    ki__reg_sync sync;
    ki__reg_turn turn;
    ki__reg_wake wake;
    size_t in_wake_hook; /* calls of the program's wake() that run or are about to */
    ki__place delivers_at;
    bool left_logged; /* a callback that did not return, e.g. due to an exception, was logged */
    uint64_t merged;  /* once the queue is freed */
    /* For queueing: */
    bool sharing;     /* space is reserved for the next batch as shared notifications */
    size_t may_share; /* notifications and batches that can be shared without a check: */
    size_t may_batch; /* delivery only increases this */
    /* Written only by the delivering thread: */
    _Atomic uint64_t delivered;
    uint64_t left_out;      /* events that cancelled each other out, for the next change */
    _Atomic size_t in_hand; /* dequeued notifications that have not been delivered yet */
    bool has_hand;          /* dequeued notifications are being delivered; lock held */
    uint32_t hand_ms;       /* time of the first of them; lock held */
    struct {                /* last ki__registration_get_lag(); lock held */
        uint64_t delivered;
        uint64_t since_ns; /* first seen in this callback; 0: in none */
    } seen;
    char name[];
};

/* ---- registration_state.c: require the lock ---- */

/** Each asserts that the table allows the transition. */
void ki__registration_set_life(ki_registration *registration, ki__reg_life life);
void ki__registration_set_sync(ki_registration *registration, ki__reg_sync sync);
static inline void ki__registration_set_turn(ki_registration *registration, ki__reg_turn turn)
{
    static const unsigned int next[KI__REG_TURN_MAX] = {
        [KI__REG_IDLE] = 1U << KI__REG_DELIVERING,
        [KI__REG_DELIVERING] = 1U << KI__REG_DELIVERING_INITIAL | 1U << KI__REG_IDLE,
        [KI__REG_DELIVERING_INITIAL] = 1U << KI__REG_DELIVERING,
    };
    ki_assert((next[registration->turn] & (1U << turn)) != 0);
    registration->turn = turn;
}

/* Asleep again as soon as any thread begins to deliver. */
static inline void ki__registration_set_wake(ki_registration *registration, ki__reg_wake wake)
{
    static const unsigned int next[KI__REG_WAKE_MAX] = {
        [KI__REG_ASLEEP] = 1U << KI__REG_ASLEEP | 1U << KI__REG_WOKEN,
        [KI__REG_WOKEN] = 1U << KI__REG_ASLEEP | 1U << KI__REG_WASTED,
        [KI__REG_WASTED] = 1U << KI__REG_ASLEEP,
    };
    ki_assert((next[registration->wake] & (1U << wake)) != 0);
    registration->wake = wake;
}

/** Whether it has synced; updates the state first. */
bool ki__registration_look_at_sync(ki_registration *registration);
/** Something is being queued: it is no longer fresh. */
void ki__registration_note_queued(ki_registration *registration);

/** Whether it was removed, or is in a later state. Needs no lock. */
static inline bool ki__registration_is_removed(const ki_registration *registration)
{
    return atomic_load_explicit(&registration->life, memory_order_acquire) != KI__REG_ACTIVE;
}

static inline bool ki__registration_on_thread(const ki_registration *registration)
{
    return registration->options.delivery == KI_DELIVERY_THREAD;
}

/** Whether on_synced() must be called now. The owner is notified first, by the delivering thread:
 *  see notify_owner(). Requires the lock. */
static inline bool ki__registration_must_call_on_synced(ki_registration *registration)
{
    return registration->options.on_synced != NULL && registration->sync != KI__REG_HANDLER_KNOWS &&
           ki__registration_look_at_sync(registration);
}

/* ---- registration_wake.c ---- */

/** Whether the caller must call ki__registration_wake() after releasing the lock. Requires the
 *  lock. */
bool ki__registration_claim_wake(ki_registration *registration);
/** Withdraws a posted task that has not run, and its reference. The caller has another. */
void ki__registration_withdraw(ki_registration *registration);

/* ---- registration_delivery.c ---- */

void ki__registration_run_task(ki__task *task);
void ki__registration_run_job(ki__job *job);

/* Active handler callbacks of this thread, innermost first. */
typedef struct ki__handler_call {
    const ki_registration *registration;
    const struct ki__handler_call *outer;
} ki__handler_call;

void ki__handler_call_begin(ki__handler_call *call, const ki_registration *registration);
void ki__handler_call_end(const ki__handler_call *call);
/** Whether this thread is inside a callback of this handler. */
bool ki__registration_is_inside(const ki_registration *registration);

/* ---- registration.c ---- */

/** Destroys the handler if it is removed and no callback runs. Without the lock. */
void ki__registration_finish(ki_registration *registration);

#endif

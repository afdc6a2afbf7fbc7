/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a registration share: its members, and its states with their setters.
 *
 *   registration.c           making, asking, removing, destroying
 *   registration_state.c     the states: which may follow which
 *   registration_queue.c     what an informer puts into the queue
 *   registration_wake.c      waking whoever delivers
 *   registration_delivery.c  delivering: calling the handler
 *
 * One lock keeps all of it. It is never held while something is called. */
#ifndef KI_CACHE_INFORMER_REGISTRATION_STATE_H
#define KI_CACHE_INFORMER_REGISTRATION_STATE_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/engine.h"
#include "base/place.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/registration.h"

/* The life of a registration. */
typedef enum ki__reg_life {
    KI__REG_ACTIVE,
    KI__REG_REMOVED,    /* no callback begins any more, but one that was decided on before */
    KI__REG_DESTROYING, /* no callback runs, and somebody is about to destroy the handler */
    KI__REG_OVER,       /* the handler is destroyed */
    KI__REG_LIFE_MAX
} ki__reg_life;

/* How far it is on the way to having synced. */
typedef enum ki__reg_sync {
    KI__REG_FRESH,         /* nothing was queued yet: the first list can come as a snapshot */
    KI__REG_LISTING,       /* something was, but the informer has not synced */
    KI__REG_CATCHING_UP,   /* the informer has; initial events wait or are being delivered */
    KI__REG_SYNCED,        /* all initial events were delivered; the owner does not know yet */
    KI__REG_OWNER_KNOWS,   /* on_synced() is still to be called, if there is one */
    KI__REG_HANDLER_KNOWS, /* it was called, or is being called */
    KI__REG_SYNC_MAX
} ki__reg_sync;

/* Whether somebody delivers: at most one thread at a time, which makes calls sequential. */
typedef enum ki__reg_turn {
    KI__REG_IDLE,
    KI__REG_DELIVERING,
    KI__REG_DELIVERING_INITIAL, /* events of the first list are in the hands of who delivers */
    KI__REG_TURN_MAX
} ki__reg_turn;

/* Whether somebody was woken to deliver. See registration_wake.c. */
typedef enum ki__reg_wake {
    KI__REG_ASLEEP, /* nobody: what is queued next has to wake somebody */
    KI__REG_WOKEN,  /* somebody is being woken, and has not come yet */
    KI__REG_WASTED, /* came while another was delivering, and was sent away */
    KI__REG_WAKE_MAX
} ki__reg_wake;

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
    _Atomic ki__reg_life life; /* written with the lock held, read without */
    ki__reg_sync sync;
    ki__reg_turn turn;
    ki__reg_wake wake;
    size_t in_wake_hook; /* calls of the program's wake() that run or are about to */
    ki__place delivers_at;
    bool left_logged; /* that a callback was left by an exception or so */
    uint64_t merged;  /* once the queue is gone */
    /* For who queues: */
    bool sharing;     /* there is space for the batch that comes next, as shared notifications */
    size_t may_share; /* so many, in so many batches, can be shared without looking: who */
    size_t may_batch; /* delivers only makes more room */
    /* Written by who delivers only: */
    _Atomic uint64_t delivered;
    uint64_t left_out;      /* events that cancelled each other out, for the next change */
    _Atomic size_t in_hand; /* notifications that were taken out, and whose turn has not come */
    char name[];
};

/* ---- registration_state.c: with the lock held ---- */

/** Each stops the program if the table does not allow the step. */
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

/* Asleep again as soon as somebody begins to deliver, woken or not. */
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

/** Whether it has synced; finds out first if it has meanwhile. */
bool ki__registration_look_at_sync(ki_registration *registration);
/** Something is being queued: it is not fresh any more. */
void ki__registration_note_queued(ki_registration *registration);

/** Whether it was removed, or more than that. Needs no lock. */
static inline bool ki__registration_is_removed(const ki_registration *registration)
{
    return atomic_load_explicit(&registration->life, memory_order_acquire) != KI__REG_ACTIVE;
}

static inline bool ki__registration_on_thread(const ki_registration *registration)
{
    return registration->options.delivery == KI_DELIVERY_THREAD;
}

/** Whether on_synced() is to be called now. The owner is notified first, by the delivering thread:
 *  see notify_owner(). With the lock held. */
static inline bool ki__registration_must_call_on_synced(ki_registration *registration)
{
    return registration->options.on_synced != NULL && registration->sync != KI__REG_HANDLER_KNOWS &&
           ki__registration_look_at_sync(registration);
}

/* ---- registration_wake.c ---- */

/** Whether the caller has to wake somebody, by ki__registration_wake() with no lock held. With the
 *  lock held. */
bool ki__registration_claim_wake(ki_registration *registration);
/** Takes back what was posted and has not run, and its reference. The caller has another. */
void ki__registration_withdraw(ki_registration *registration);

/* ---- registration_delivery.c ---- */

void ki__registration_run_task(ki__task *task);
void ki__registration_run_job(ki__job *job);

/* The calls of handlers that are under way on this thread, the innermost first. */
typedef struct ki__handler_call {
    const ki_registration *registration;
    const struct ki__handler_call *outer;
} ki__handler_call;

void ki__handler_call_begin(ki__handler_call *call, const ki_registration *registration);
void ki__handler_call_end(const ki__handler_call *call);
/** Whether this thread is inside a call of this handler. */
bool ki__registration_is_inside(const ki_registration *registration);

/* ---- registration.c ---- */

/** Destroys the handler if it is removed and nobody calls it any more. Without the lock. */
void ki__registration_finish(ki_registration *registration);

#endif

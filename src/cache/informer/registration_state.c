/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a registration. Every change goes through a setter, which knows the table of what
 * may follow what. */
#include "cache/informer/registration_state.h"

#include "base/assert.h"

#define A(name) (1U << KI__REG_##name)

/* One that was never shown to anybody goes from active to over: see ki__registration_abandon(). */
static const unsigned int lives[] = {
    [KI__REG_ACTIVE] = A(REMOVED) | A(OVER),
    [KI__REG_REMOVED] = A(DESTROYING),
    [KI__REG_DESTROYING] = A(OVER),
    [KI__REG_OVER] = 0,
};
_Static_assert(sizeof(lives) / sizeof(lives[0]) == KI__REG_LIFE_MAX, "a row for each");

/* Always forward. The owner is told before the handler, so that one state tells both. */
static const unsigned int syncs[] = {
    [KI__REG_FRESH] = A(LISTING) | A(CATCHING_UP),
    [KI__REG_LISTING] = A(CATCHING_UP),
    [KI__REG_CATCHING_UP] = A(SYNCED),
    [KI__REG_SYNCED] = A(OWNER_KNOWS),
    [KI__REG_OWNER_KNOWS] = A(HANDLER_KNOWS),
    [KI__REG_HANDLER_KNOWS] = 0,
};
_Static_assert(sizeof(syncs) / sizeof(syncs[0]) == KI__REG_SYNC_MAX, "a row for each");

static const unsigned int turns[] = {
    [KI__REG_IDLE] = A(DELIVERING),
    [KI__REG_DELIVERING] = A(DELIVERING_INITIAL) | A(IDLE),
    [KI__REG_DELIVERING_INITIAL] = A(DELIVERING),
};
_Static_assert(sizeof(turns) / sizeof(turns[0]) == KI__REG_TURN_MAX, "a row for each");

/* Asleep again as soon as somebody begins to deliver, woken or not. */
static const unsigned int wakes[] = {
    [KI__REG_ASLEEP] = A(ASLEEP) | A(WOKEN),
    [KI__REG_WOKEN] = A(ASLEEP) | A(WASTED),
    [KI__REG_WASTED] = A(ASLEEP),
};
_Static_assert(sizeof(wakes) / sizeof(wakes[0]) == KI__REG_WAKE_MAX, "a row for each");

static void check(unsigned int allowed, unsigned int next)
{
    ki_assert((allowed & (1U << next)) != 0);
}

void ki__registration_set_life(ki_registration *registration, ki__reg_life life)
{
    check(lives[atomic_load_explicit(&registration->life, memory_order_relaxed)], life);
    atomic_store_explicit(&registration->life, life, memory_order_release);
}

void ki__registration_set_sync(ki_registration *registration, ki__reg_sync sync)
{
    check(syncs[registration->sync], sync);
    registration->sync = sync;
}

void ki__registration_set_turn(ki_registration *registration, ki__reg_turn turn)
{
    check(turns[registration->turn], turn);
    registration->turn = turn;
}

void ki__registration_set_wake(ki_registration *registration, ki__reg_wake wake)
{
    check(wakes[registration->wake], wake);
    registration->wake = wake;
}

/* One that was removed stays as it is: nothing more is delivered to it. */
bool ki__registration_look_at_sync(ki_registration *registration)
{
    ki_registration *reg = registration;
    if (reg->sync == KI__REG_CATCHING_UP && !ki__registration_is_removed(reg) &&
        reg->turn != KI__REG_DELIVERING_INITIAL && ki__handler_queue_initial(&reg->queue) == 0) {
        ki__registration_set_sync(reg, KI__REG_SYNCED);
    }
    return reg->sync >= KI__REG_SYNCED;
}

void ki__registration_note_queued(ki_registration *registration)
{
    if (registration->sync == KI__REG_FRESH) {
        ki__registration_set_sync(registration, KI__REG_LISTING);
    }
}

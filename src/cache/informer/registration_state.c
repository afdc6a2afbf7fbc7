/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a registration. Every change goes through a setter, which has the transition table;
 * those that change with every event are inline, in registration_state.h. */
#include "cache/informer/registration_state.h"

#include "base/assert.h"

#define A(name) (1U << KI__REG_##name)

/* One that was never published goes from active to over: see ki__registration_abandon(). */
static const unsigned int lives[] = {
    [KI__REG_ACTIVE] = A(REMOVED) | A(OVER),
    [KI__REG_REMOVED] = A(DESTROYING),
    [KI__REG_DESTROYING] = A(OVER),
    [KI__REG_OVER] = 0,
};
_Static_assert(sizeof(lives) / sizeof(lives[0]) == KI__REG_LIFE_MAX, "a row for each");

/* Always forward. The owner is notified before the handler, so one state covers both. */
static const unsigned int syncs[] = {
    [KI__REG_FRESH] = A(LISTING) | A(CATCHING_UP),
    [KI__REG_LISTING] = A(CATCHING_UP),
    [KI__REG_CATCHING_UP] = A(SYNCED),
    [KI__REG_SYNCED] = A(OWNER_KNOWS),
    [KI__REG_OWNER_KNOWS] = A(HANDLER_KNOWS),
    [KI__REG_HANDLER_KNOWS] = 0,
};
_Static_assert(sizeof(syncs) / sizeof(syncs[0]) == KI__REG_SYNC_MAX, "a row for each");

void ki__registration_set_life(ki_registration *registration, ki__reg_life life)
{
    ki__reg_life before = atomic_load_explicit(&registration->life, memory_order_relaxed);
    ki_assert((lives[before] & (1U << life)) != 0);
    atomic_store_explicit(&registration->life, life, memory_order_release);
}

void ki__registration_set_sync(ki_registration *registration, ki__reg_sync sync)
{
    ki_assert((syncs[registration->sync] & (1U << sync)) != 0);
    registration->sync = sync;
}

/* A removed one does not change: nothing more is delivered to it. */
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

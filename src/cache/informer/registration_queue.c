/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing for a handler when a batch is applied. Each function returns whether a thread must be
 * woken: see registration_wake.c. */
#include "base/assert.h"
#include "base/time_units.h"
#include "cache/informer/registration_state.h"

bool ki__registration_is_fresh(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    bool fresh = registration->sync == KI__REG_FRESH && !ki__registration_is_removed(registration);
    ki__mutex_unlock(&registration->lock);
    return fresh;
}

bool ki__registration_begin(ki_registration *registration, ki_snapshot *snapshot)
{
    ki_registration *reg = registration;
    bool wake = false;
    ki__mutex_lock(&reg->lock);
    bool take = !ki__registration_is_removed(reg);
    if (take) {
        ki_assert(reg->sync == KI__REG_FRESH);
        ki__registration_note_queued(reg);
        reg->queue.time_ms = (uint32_t)(ki__engine_now(reg->engine) / KI__MS_NS);
        ki__handler_queue_begin(&reg->queue, snapshot);
        wake = ki__registration_claim_wake(reg);
    }
    ki__mutex_unlock(&reg->lock);
    if (!take) {
        (void)ki_snapshot_unref(snapshot);
    }
    return wake;
}

/* Reserves space for own notifications; then nothing is shared until they were delivered. Requires
 * the lock. */
static int reserve(ki_registration *reg, size_t count)
{
    reg->may_share = 0;
    reg->may_batch = 0;
    return ki__handler_queue_reserve(&reg->queue, count);
}

static bool concerns(const ki_registration *reg, const ki__note *note)
{
    if (note->type == KI__NOTE_SYNC) {
        return reg->entry.syncing;
    }
    return !note->same_version || reg->options.deliver_unchanged;
}

/* Requires the lock. */
static int reserve_shared(ki_registration *reg, size_t count)
{
    int r = ki__handler_queue_reserve_shared(&reg->queue, count);
    reg->may_share = 0;
    reg->may_batch = 0;
    if (r > 0) {
        ki__handler_queue_shareable(&reg->queue, &reg->may_share, &reg->may_batch);
    }
    return r;
}

int ki__registration_reserve_batch(ki_registration *registration, const ki__applier *applier,
                                   const ki__notes *notes)
{
    ki_registration *reg = registration;
    int r = 1;
    if (notes == NULL || notes->count > reg->may_share || reg->may_batch == 0) {
        ki__mutex_lock(&reg->lock);
        if (ki__registration_is_removed(reg)) {
            r = 0;
        } else if (notes != NULL) {
            r = reserve_shared(reg, notes->count);
        } else {
            bool unchanged = reg->options.deliver_unchanged;
            r = reserve(reg, ki__apply_count(applier, unchanged, reg->entry.syncing));
        }
        ki__mutex_unlock(&reg->lock);
    }
    reg->sharing = r > 0;
    if (reg->sharing) {
        reg->may_share -= notes->count;
        reg->may_batch--;
    }
    return r < 0 ? r : 0;
}

/* Requires the lock. */
static void push_each(ki_registration *reg, ki__applier *applier)
{
    ki__note note;
    ki__apply_rewind(applier);
    while (ki__apply_next_whole(applier, &note)) {
        if (!concerns(reg, &note)) {
            continue;
        }
        ki__registration_note_queued(reg);
        if (note.object == NULL) {
            reg->queue.time_ms = applier->time_ms;
            ki__handler_queue_resync(&reg->queue, ki_snapshot_ref(applier->before));
        } else {
            ki__handler_queue_push(&reg->queue, &note);
        }
    }
    ki__handler_queue_unreserve(&reg->queue);
}

bool ki__registration_push_batch(ki_registration *registration, ki__applier *applier,
                                 ki__notes *notes)
{
    ki_registration *reg = registration;
    ki__mutex_lock(&reg->lock);
    bool removed = ki__registration_is_removed(reg);
    if (!removed && reg->sharing) {
        ki__registration_note_queued(reg);
        ki__handler_queue_share(&reg->queue, notes);
    } else if (!removed) {
        push_each(reg, applier);
    }
    reg->sharing = false;
    bool wake = ki__registration_claim_wake(reg);
    ki__mutex_unlock(&reg->lock);
    return wake;
}

bool ki__registration_owner_synced(ki_registration *registration)
{
    ki_registration *reg = registration;
    ki__mutex_lock(&reg->lock);
    ki__registration_set_sync(reg, KI__REG_CATCHING_UP);
    if (ki__registration_look_at_sync(reg)) {
        ki__registration_set_sync(reg, KI__REG_OWNER_KNOWS);
    }
    bool wake = ki__registration_claim_wake(reg);
    ki__mutex_unlock(&reg->lock);
    return wake;
}

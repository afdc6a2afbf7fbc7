/* SPDX-License-Identifier: Apache-2.0 */
/* Queueing for a handler: what an informer does with its registrations when a batch is applied. */
#include "base/assert.h"
#include "cache/informer/registration_state.h"

bool ki__registration_is_fresh(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    bool fresh = !registration->begun && !registration->removed;
    ki__mutex_unlock(&registration->lock);
    return fresh;
}

void ki__registration_begin(ki_registration *registration, ki_snapshot *snapshot)
{
    ki_registration *reg = registration;
    ki__mutex_lock(&reg->lock);
    bool take = !reg->removed;
    if (take) {
        ki_assert(!reg->begun);
        reg->begun = true;
        ki__handler_queue_begin(&reg->queue, snapshot);
    }
    ki__mutex_unlock(&reg->lock);
    if (!take) {
        (void)ki_snapshot_unref(snapshot);
    }
}

/* Makes room for notes of its own; then nothing is shared until they are told. With the lock held.
 */
static int reserve(ki_registration *reg, size_t count)
{
    reg->may_share = 0;
    reg->may_batch = 0;
    return ki__handler_queue_reserve(&reg->queue, count);
}

int ki__registration_reserve(ki_registration *registration, size_t count)
{
    ki__mutex_lock(&registration->lock);
    int r = registration->removed ? 0 : reserve(registration, count);
    ki__mutex_unlock(&registration->lock);
    return r;
}

void ki__registration_push(ki_registration *registration, const ki__note *note)
{
    ki__mutex_lock(&registration->lock);
    if (!registration->removed) {
        registration->begun = true;
        ki__handler_queue_push(&registration->queue, note);
    }
    ki__mutex_unlock(&registration->lock);
}

static bool concerns(const ki_registration *reg, const ki__note *note)
{
    if (note->type == KI__NOTE_SYNC) {
        return reg->seat.syncing;
    }
    return !note->same_version || reg->options.deliver_unchanged;
}

/* With the lock held. */
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
            r = reserve(reg, ki__apply_count(applier, unchanged, reg->seat.syncing));
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

/* With the lock held. */
static void push_each(ki_registration *reg, ki__applier *applier)
{
    ki__note note;
    ki__apply_rewind(applier);
    while (ki__apply_next_whole(applier, &note)) {
        if (!concerns(reg, &note)) {
            continue;
        }
        reg->begun = true;
        if (note.object == NULL) {
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
        reg->begun = true;
        ki__handler_queue_share(&reg->queue, notes);
    } else if (!removed) {
        push_each(reg, applier);
    }
    reg->sharing = false;
    bool poke = ki__registration_must_poke_locked(reg);
    ki__mutex_unlock(&reg->lock);
    return poke;
}

void ki__registration_synced(ki_registration *registration)
{
    ki__mutex_lock(&registration->lock);
    registration->upstream_synced = true;
    registration->begun = true;
    ki__mutex_unlock(&registration->lock);
}

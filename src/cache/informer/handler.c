/* SPDX-License-Identifier: Apache-2.0 */
/* Maps notifications to callbacks of a handler; the counterpart of ResourceEventHandlerFuncs and
 * FilteringResourceEventHandler in client-go's controller.go. */
#include "cache/informer/handler.h"

#include "cache/informer/notes.h"
#include "object/object.h"

const char *ki_change_name(const ki_change *change)
{
    static const char *const names[KI_CHANGE_TYPE_MAX] = {
        [KI_CHANGE_ADDED] = "added",
        [KI_CHANGE_UPDATED] = "updated",
        [KI_CHANGE_DELETED] = "deleted",
        [KI_CHANGE_SYNC] = "sync",
    };
    bool known = change != NULL && (unsigned)change->type < KI_CHANGE_TYPE_MAX;
    return known ? names[change->type] : "unknown";
}

static bool passes_filter(const ki_handler *handler, const ki_object *object)
{
    return handler->filter == NULL || handler->filter(object, handler->user);
}

/* ---- notification to change ---- */

/* Each sets the members specific to its type, in place: copying a whole ki_change right after its
 * members were stored would stall the processor on these stores. */

static bool find_update(const ki_handler *h, const ki__note *note, ki_change *change)
{
    bool old_passes = passes_filter(h, note->old);
    bool passes = passes_filter(h, note->object);
    if (passes && old_passes) {
        change->type = KI_CHANGE_UPDATED;
        change->old = note->old;
    } else if (passes) {
        change->type = KI_CHANGE_ADDED;
    } else {
        change->type = KI_CHANGE_DELETED;
        change->old = note->old;
        change->object = note->old;
    }
    return passes || old_passes;
}

/* Returns whether the handler receives the change. */
static bool find_change(const ki_handler *h, const ki__note *note, ki_change *change)
{
    switch (note->type) {
    case KI__NOTE_ADD:
        change->type = KI_CHANGE_ADDED;
        change->initial = note->is_initial;
        return passes_filter(h, note->object);
    case KI__NOTE_UPDATE:
        return find_update(h, note, change);
    case KI__NOTE_DELETE:
        /* The handler received `old`, regardless of the final state. */
        change->type = KI_CHANGE_DELETED;
        change->old = note->old;
        change->final_state_unknown = note->final_state_unknown;
        return passes_filter(h, note->old);
    case KI__NOTE_SYNC:
        change->type = KI_CHANGE_SYNC;
        change->old = note->object;
        return passes_filter(h, note->object);
    }
    return false;
}

/* ---- callbacks ---- */

static void call_update(const ki_handler *h, const ki_change *change)
{
    if (h->on_update != NULL) {
        h->on_update(change->old, change->object, h->user);
    }
}

static void call_one_of_five(const ki_handler *h, const ki_change *change)
{
    const ki_object *object = change->object;
    if (change->merged != 0 && h->on_merged != NULL) {
        h->on_merged(object, change->merged, h->user);
    }
    switch (change->type) {
    case KI_CHANGE_ADDED:
        if (h->on_add != NULL) {
            h->on_add(object, change->initial, h->user);
        }
        return;
    case KI_CHANGE_UPDATED:
        call_update(h, change);
        return;
    case KI_CHANGE_DELETED:
        if (h->on_delete != NULL) {
            h->on_delete(object, change->final_state_unknown, h->user);
        }
        return;
    case KI_CHANGE_SYNC:
        if (h->on_sync != NULL) {
            h->on_sync(object, h->user);
        } else {
            call_update(h, change);
        }
        return;
    case KI_CHANGE_TYPE_MAX:
        return;
    }
}

void ki__handler_notify_left_out(const ki_handler *handler, uint64_t *left_out)
{
    uint64_t merged = *left_out;
    if (handler->on_change != NULL) {
        return;
    }
    *left_out = 0;
    if (merged != 0 && handler->on_merged != NULL) {
        handler->on_merged(NULL, merged, handler->user);
    }
}

static void notify_plain(const ki_handler *handler, const ki__note *note, uint64_t *left_out)
{
    ki_change change = {
        .size = sizeof(change),
        .object = note->object,
        .merged = note->merged,
    };
    if (!find_change(handler, note, &change)) {
        return;
    }
    if (handler->on_change != NULL) {
        change.merged += *left_out;
        *left_out = 0;
        handler->on_change(&change, handler->user);
    } else {
        call_one_of_five(handler, &change);
    }
}

/* A new reference to the plain object; to the packed one if there is no memory, or it is damaged:
 * then reading it returns errors. */
static const ki_object *unpack(const ki_object *object)
{
    ki_object *plain = NULL;
    if (object == NULL || ki__object_unpack(object, &plain) >= 0) {
        return plain;
    }
    return ki_object_ref(object);
}

void ki__handler_notify(const ki_handler *handler, const ki__note *note, bool as_stored,
                        uint64_t *left_out)
{
    bool packed = note->object->packed || (note->old != NULL && note->old->packed);
    if (!packed || as_stored) {
        notify_plain(handler, note, left_out);
        return;
    }
    ki__note plain = *note;
    plain.object = unpack(note->object);
    plain.old = note->old == note->object ? ki_object_ref(plain.object) : unpack(note->old);
    notify_plain(handler, &plain, left_out);
    ki__note_unref(&plain);
}

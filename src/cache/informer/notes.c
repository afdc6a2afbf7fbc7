/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/informer/notes.h"

#include <errno.h>

#include "base/alloc.h"
#include "object/object.h"

/* The object of an add or update is in the store, unless that has a packed copy; later it is the
 * old one of another notification. */
size_t ki__note_bytes(const ki__note *note)
{
    size_t bytes = sizeof(*note);
    if (note->old != NULL && note->old != note->object) {
        bytes += ki__object_footprint(note->old);
    }
    if (note->type == KI__NOTE_DELETE || note->apart) {
        bytes += ki__object_footprint(note->object);
    }
    return bytes;
}

void ki__note_unref(ki__note *note)
{
    (void)ki_object_unref(note->old);
    (void)ki_object_unref(note->object);
    note->old = NULL;
    note->object = NULL;
}

/* Whether every handler receives the same notifications at the same position: resyncs and unchanged
 * objects are only for handlers that requested them, and `on_synced` of a handler may come between
 * initial notifications and others. */
static bool is_for_all(const ki__applier *applier)
{
    const ki__note *notes = applier->notes;
    if (applier->note_count == 0 || applier->note_count > KI_QUEUE_BATCH) {
        return false;
    }
    for (size_t i = 0; i < applier->note_count; i++) {
        if (notes[i].type == KI__NOTE_SYNC || notes[i].same_version ||
            notes[i].is_initial != notes[0].is_initial) {
            return false;
        }
    }
    return true;
}

int ki__notes_new(const ki__applier *applier, ki__notes **ret_notes)
{
    if (!is_for_all(applier)) {
        *ret_notes = NULL;
        return 0;
    }
    size_t count = applier->note_count;
    ki__notes *notes = ki__alloc(applier->alloc, sizeof(*notes) + count * sizeof(notes->notes[0]));
    if (notes == NULL) {
        return -ENOMEM;
    }
    ki__refs_init(&notes->refs);
    notes->alloc = applier->alloc;
    notes->is_initial = applier->notes[0].is_initial;
    notes->count = count;
    notes->bytes = 0;
    notes->counter = applier->note_bytes;
    for (size_t i = 0; i < count; i++) {
        notes->notes[i] = applier->notes[i];
        (void)ki_object_ref(notes->notes[i].old);
        (void)ki_object_ref(notes->notes[i].object);
        notes->bytes += ki__note_bytes(&notes->notes[i]);
    }
    ki__note_bytes_add(notes->counter, notes->bytes);
    *ret_notes = notes;
    return 0;
}

ki__notes *ki__notes_ref(ki__notes *notes)
{
    ki__refs_take(&notes->refs);
    return notes;
}

ki__notes *ki__notes_unref(ki__notes *notes)
{
    if (notes != NULL && ki__refs_drop(&notes->refs)) {
        for (size_t i = 0; i < notes->count; i++) {
            ki__note_unref(&notes->notes[i]);
        }
        ki__note_bytes_add(notes->counter, 0 - notes->bytes);
        ki__free(notes->alloc, notes);
    }
    return NULL;
}

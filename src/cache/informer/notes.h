/* SPDX-License-Identifier: Apache-2.0 */
/* The notifications of one batch, created once and shared by the queues of all handlers that
 * receive all of them. Immutable; holders of a reference may read them on any thread. */
#ifndef KI_CACHE_INFORMER_NOTES_H
#define KI_CACHE_INFORMER_NOTES_H

#include <stdatomic.h>

#include "base/refs.h"
#include "cache/informer/apply_deltas.h"

typedef struct ki__notes {
    ki__refs refs;
    const ki_alloc *alloc;
    bool is_initial;            /* all of them are initial adds, or none is */
    size_t bytes;               /* their memory, counted in: */
    _Atomic(uint64_t) *counter; /* or NULL */
    size_t count;
    ki__note notes[]; /* each with references to its objects */
} ki__notes;

/** The notifications of the current batch in *ret_notes; NULL if they cannot be shared: none at
 *  all, a list or a resync, or not the same for all handlers. 0 or -ENOMEM. */
int ki__notes_new(const ki__applier *applier, ki__notes **ret_notes);

ki__notes *ki__notes_ref(ki__notes *notes);
/** Always returns NULL; NULL is allowed. */
ki__notes *ki__notes_unref(ki__notes *notes);

/** Memory of a notification: itself, and the objects that the store has no longer. */
size_t ki__note_bytes(const ki__note *note);

/** Adds to a counter of such memory, or subtracts modulo 2^64. NULL: there is none. */
static inline void ki__note_bytes_add(_Atomic(uint64_t) *counter, size_t bytes)
{
    if (counter != NULL) {
        atomic_fetch_add_explicit(counter, bytes, memory_order_relaxed);
    }
}

/** Releases the references of one notification. */
void ki__note_unref(ki__note *note);

#endif

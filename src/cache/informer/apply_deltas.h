/* SPDX-License-Identifier: Apache-2.0 */
/* Applies deltas to a store, and creates the notifications for handlers. */
#ifndef KI_CACHE_INFORMER_APPLY_DELTAS_H
#define KI_CACHE_INFORMER_APPLY_DELTAS_H

#include <stdatomic.h>

#include <kinformer/parts/queue.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "cache/informer/skipped_objects.h"

typedef enum ki__note_type {
    KI__NOTE_ADD,
    KI__NOTE_UPDATE,
    KI__NOTE_DELETE,
    KI__NOTE_SYNC, /* `object` is unchanged */
} ki__note_type;

/** A change of an object in the store. Objects are borrowed; see ki__apply(). */
typedef struct ki__note {
    const ki_object *old;    /* the previous object; NULL in additions */
    const ki_object *object; /* of a deletion: its final state, or the last known one, `old` */
    ki__note_type type;
    bool is_initial;          /* of an addition: part of the first list */
    bool final_state_unknown; /* of a deletion: the DELETED event was missed */
    bool same_version;        /* of an update: uid and resourceVersion are unchanged */
    bool apart;               /* `object` is not that of the store, which is packed */
    uint32_t merged;          /* in a handler's queue: number of notifications merged into it */
    uint32_t time_ms;         /* when it was received: see ki__applier */
} ki__note;

typedef struct ki__applier {
    ki_store *store; /* a reference */
    const ki_alloc *alloc;
    ki_error_hook on_error;
    bool keep_same_version;        /* notify of updates with an unchanged version */
    bool suppress;                 /* do not notify of updates that change no kept field */
    uint64_t skipped;              /* objects of committed batches that the store rejected */
    uint64_t suppressed;           /* updates of committed batches without a notification */
    _Atomic(uint64_t) *note_bytes; /* memory of notifications in the queues; NULL: not counted */

    /* the current batch */
    uint32_t time_ms; /* set before it is prepared: monotonic, modulo 2^32; goes into its notes */
    bool silent;      /* set before it is prepared: no notifications are needed */
    bool committed;
    ki__skipped_objects skipped_now; /* reported at its end, if it was committed */
    size_t skipped_now_count;
    size_t unkept_count; /* updates of which no kept field changed */
    ki_txn *txn;         /* prepared and not committed, or NULL */
    ki_snapshot *before; /* keeps the old objects alive */
    ki_object **held;    /* objects in notes that nothing else holds */
    size_t held_count;
    size_t held_cap;
    ki__note *notes;
    size_t note_count;
    size_t note_cap;
    size_t same_count;     /* number of notifications with an unchanged version, */
    size_t sync_count;     /* of resyncs of one object, */
    size_t sync_all_count; /* and of resyncs of all objects */
    size_t next;           /* next notification to return */
    bool syncing;          /* inside the iteration of a resync of all objects */
    ki_snapshot_iter iter; /* of that iteration */
} ki__applier;

/** -EINVAL if the store has a transform function: stored objects would differ from queued ones. */
int ki__applier_init(ki__applier *applier, ki_store *store, const ki_alloc *alloc, ki_error *error);
void ki__applier_done(ki__applier *applier);

/** Applies a batch as one version of the store, which is published by ki__apply_commit(). Objects
 *  that the store rejects are skipped, and reported at the end. After a transient error (-ENOMEM,
 *  KI_ERR_BUSY) nothing has changed, and the batch can be retried. The notifications are valid
 *  until ki__apply_end(), their objects also as long as the batch is held. */
int ki__apply_prepare(ki__applier *applier, const ki_deltas *deltas, ki_error *error);

/** Publishes the version. Cannot fail. */
void ki__apply_commit(ki__applier *applier);

/** Prepares and commits. */
int ki__apply(ki__applier *applier, const ki_deltas *deltas, ki_error *error);

/** Number of notifications for a handler that receives unchanged objects and resyncs, or not. A
 *  resync of all objects does not count. */
size_t ki__apply_count(const ki__applier *applier, bool same_version, bool sync);

/** The next notification, in the order of delivery; false after the last. */
bool ki__apply_next(ki__applier *applier, ki__note *ret_note);

/** The same, but a resync of all objects is a single notification without an object: it covers the
 *  objects in `before`. */
bool ki__apply_next_whole(ki__applier *applier, ki__note *ret_note);

/** Restarts with the first notification. */
void ki__apply_rewind(ki__applier *applier);

/** Releases the batch, and drops its version if it was not committed. */
void ki__apply_end(ki__applier *applier);

#endif

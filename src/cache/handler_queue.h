/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of one handler: what it is still to be told, in order.
 *
 * Up to a limit everything is kept. Beyond it, notes of one key merge: a later update goes into
 * the add or update that waits (its `old` stays, so that it is still what the handler saw last), a
 * delete takes the place of an update that waits, and an object that came and went while the
 * handler looked elsewhere is left out. A delete of what the handler knows is never lost, nor is a
 * change of identity: the delete and the add of it stay two. So a handler that stands still costs
 * the limit and a few notes a key, not more. What was merged is counted.
 *
 * The objects that are there when a handler comes are not queued one by one: the queue keeps the
 * snapshot and walks it, before all that is queued. So with a resync of all objects, in its place
 * among the notes: it costs nothing but the snapshot, and what comes after it merges into nothing
 * from before, which would tell the handler of the future and then of the past. A resync that comes
 * while another waits is merged into that one.
 *
 * Not for several threads at once: its owner has a lock. */
#ifndef KI_CACHE_HANDLER_QUEUE_H
#define KI_CACHE_HANDLER_QUEUE_H

#include <kinformer/store.h>

#include "base/hash.h"
#include "base/map.h"
#include "cache/apply.h"

/** Its members are private. */
typedef struct ki__handler_queue {
    const ki_alloc *alloc;
    size_t limit;
    ki__note *ring;
    size_t cap;            /* 0 or a power of two */
    size_t count;          /* places in use, those left out as well */
    size_t dead;           /* those left out */
    size_t head;           /* number of the first in the ring; numbers only rise */
    size_t initial_count;  /* initial adds in the ring */
    uint64_t merged;       /* in all */
    ki_snapshot *snapshot; /* that is being walked, or NULL */
    ki_snapshot_iter walk;
    size_t walk_left;     /* objects of the walk that are still to come */
    bool walk_is_initial; /* they are initial adds, and not a resync */
    ki_snapshot *resync;  /* that waits, or NULL */
    size_t resync_at;     /* number of the note before which it comes */
    bool indexed;         /* `last` holds the last waiting note of every key in the ring */
    size_t index_at;      /* from this count on, an index is made */
    ki__map last;         /* key to number + 1 */
} ki__handler_queue;

/** Allocates nothing. */
void ki__handler_queue_init(ki__handler_queue *queue, const ki_alloc *alloc, ki__hash_key hash_key,
                            size_t limit);

/** Forgets all that waits and frees everything. The queue may be used again. */
void ki__handler_queue_done(ki__handler_queue *queue);

/** Gives all objects of a snapshot as initial adds, before all else. Nothing may have been queued
 *  yet. The reference of the caller becomes the queue's. */
void ki__handler_queue_begin(ki__handler_queue *queue, ki_snapshot *snapshot);

/** Tells of all objects of a snapshot, after all that waits. The reference of the caller becomes
 * the queue's. Needs no room. */
void ki__handler_queue_resync(ki__handler_queue *queue, ki_snapshot *snapshot);

/** Makes room, so that pushing `count` notes cannot fail. -ENOMEM leaves all as it was. */
int ki__handler_queue_reserve(ki__handler_queue *queue, size_t count);

/** Queues a note, for which room was made. Takes references of its own. */
void ki__handler_queue_push(ki__handler_queue *queue, const ki__note *note);

/** Takes the next note out; false if there is none. Its references become the caller's, who ends
 *  it with ki__note_unref(). */
bool ki__handler_queue_pop(ki__handler_queue *queue, ki__note *ret_note);

void ki__note_unref(ki__note *note);

/** How many notes wait. */
size_t ki__handler_queue_len(const ki__handler_queue *queue);

/** How many of them are initial adds. */
size_t ki__handler_queue_initial(const ki__handler_queue *queue);

#endif

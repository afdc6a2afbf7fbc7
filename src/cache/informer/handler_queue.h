/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of one handler: pending notifications, in order.
 *
 * Up to a limit everything is kept. Beyond it, notifications of the same key are merged: an update
 * is merged into a queued add or update (whose `old` stays, so that it is still the last delivered
 * object), a delete replaces a queued update, and an object that was added and deleted meanwhile is
 * dropped. A delete of an object that the handler received is never lost, nor is a change of
 * identity: its delete and add stay separate. So a stalled handler costs the limit and a few
 * notifications per key. If there is no memory for the index of queued keys, nothing is merged
 * until the queue has grown by an eighth and it is tried again. Merged events are counted.
 *
 * Objects that exist when a handler is added are not queued one by one: the queue holds the
 * snapshot and iterates over it, before all queued notifications. The same holds for a resync of
 * all objects, at its position among the notifications: it costs only the snapshot, and later
 * events are not merged into earlier ones, which would deliver a newer state before an older one. A
 * resync that is due while another is queued is merged into it.
 *
 * Handlers that keep up share the notifications of a batch. When a handler falls behind, its shared
 * notifications become its own, which can be merged.
 *
 * Not thread-safe: its owner has a lock. */
#ifndef KI_CACHE_INFORMER_HANDLER_QUEUE_H
#define KI_CACHE_INFORMER_HANDLER_QUEUE_H

#include <kinformer/store.h>

#include "base/hash.h"
#include "base/map.h"
#include "cache/informer/notes.h"

/** Members are private. */
typedef struct ki__handler_queue {
    const ki_alloc *alloc;
    size_t limit;
    uint32_t time_ms; /* set by the owner before a snapshot is queued, as in notes */
    ki__note *ring;
    size_t cap;                    /* 0 or a power of two */
    size_t count;                  /* slots in use, including dropped ones */
    size_t dead;                   /* dropped ones */
    size_t head;                   /* number of the first in the ring; numbers only increase */
    size_t initial_count;          /* number of initial adds in the ring */
    _Atomic(uint64_t) *note_bytes; /* set by the owner, or NULL: memory of notifications */
    uint64_t merged;               /* total */
    uint64_t left_out;             /* of them: events that cancelled out since the last take */
    ki_snapshot *snapshot;         /* being iterated, or NULL */
    ki_snapshot_iter walk;
    size_t walk_left;     /* remaining objects of the iteration */
    bool walk_is_initial; /* they are initial adds rather than a resync */
    uint32_t walk_ms;     /* when it was queued, as in notes */
    ki_snapshot *resync;  /* queued resync, or NULL */
    uint32_t resync_ms;   /* likewise */
    size_t resync_at;     /* number of the notification it precedes */
    size_t reserved;      /* reserved slots */
    ki__notes **shared;   /* ring of batches; only while nothing is queued after them */
    size_t shared_cap;    /* 0 or a power of two */
    size_t shared_count;
    size_t shared_head; /* position of the first */
    size_t shared_at;   /* index of the next notification in the first */
    size_t shared_left; /* notifications in all of them */
    size_t shared_initial;
    bool indexed;    /* `last` holds the last pending notification of every key in the ring */
    size_t index_at; /* count from which on an index is built */
    ki__map last;    /* key to number + 1 */
} ki__handler_queue;

/** Allocates nothing. */
void ki__handler_queue_init(ki__handler_queue *queue, const ki_alloc *alloc, ki__hash_key hash_key,
                            size_t limit);

/** Drops all pending notifications and frees everything. The queue may be used again. */
void ki__handler_queue_done(ki__handler_queue *queue);

/** Delivers all objects of a snapshot as initial adds, before all else. Nothing may have been
 *  queued yet. Takes over the caller's reference. */
void ki__handler_queue_begin(ki__handler_queue *queue, ki_snapshot *snapshot);

/** Delivers all objects of a snapshot as a resync, after all queued notifications. Takes over the
 *  caller's reference. Needs no space. */
void ki__handler_queue_resync(ki__handler_queue *queue, ki_snapshot *snapshot);

/** Reserves space, so that pushing `count` notifications cannot fail. -ENOMEM has no effect. */
int ki__handler_queue_reserve(ki__handler_queue *queue, size_t count);

/** Queues a notification, for which space was reserved. Takes its own references. */
void ki__handler_queue_push(ki__handler_queue *queue, const ki__note *note);

/** Ends a reservation after all pushes. */
void ki__handler_queue_unreserve(ki__handler_queue *queue);

/** Reserves space for a shared batch. 1: it can be shared; 0: not, but there is space for its
 *  notifications; -ENOMEM has no effect. Only the last reservation of this and the above counts. */
int ki__handler_queue_reserve_shared(ki__handler_queue *queue, size_t count);

/** Minimum number of notifications and batches that can be shared while nothing else is queued. */
void ki__handler_queue_shareable(const ki__handler_queue *queue, size_t *ret_notes,
                                 size_t *ret_batches);

/** Queues a batch that can be shared, as determined by one of the above. Takes a reference. */
void ki__handler_queue_share(ki__handler_queue *queue, ki__notes *notes);

/** Dequeued notifications: the next `count`, either all initial or none of them. */
enum { KI__HAND_MAX = 64, KI__HAND_OWN = 16 };
typedef struct ki__hand {
    const ki__note *notes;
    size_t count;
    uint64_t left_out; /* events that cancelled out before them */
    /* private: owners of their objects */
    bool owns; /* the single notification has its own references */
    ki__notes *shared;
    ki_snapshot *snapshot;
    ki__note own[KI__HAND_OWN];
} ki__hand;

/** Dequeues up to `max` notifications, not 0; false if there are none. Notifications that may be
 *  merged are taken one at a time. Release with ki__hand_done(), which needs no lock. */
bool ki__handler_queue_take(ki__handler_queue *queue, size_t max, ki__hand *ret_hand);
void ki__hand_done(ki__hand *hand);

/** Number of pending notifications. Called several times per event. */
static inline size_t ki__handler_queue_len(const ki__handler_queue *queue)
{
    size_t resync = queue->resync != NULL ? ki_snapshot_count(queue->resync) : 0;
    return queue->walk_left + queue->shared_left + queue->count - queue->dead + resync;
}

/** Time of the first pending notification; false if there is none. */
bool ki__handler_queue_oldest(const ki__handler_queue *queue, uint32_t *ret_time_ms);

/** Number of pending initial adds. */
size_t ki__handler_queue_initial(const ki__handler_queue *queue);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a work queue. Every known key has one entry, found by one hash table lookup, with
 * the state of the key:
 *
 *   state              its link is in               transition on:  add     get         done
 *   idle               `idle`, if not delayed                       queued  -           -
 *   queued             the line, see line.c                         -       processing  -
 *   processing         `processing`                                 dirty   -           idle
 *   processing, dirty  `processing`                                 -       -           queued
 *
 * In addition a key may be delayed: it is in `delayed` then, and is added when its time comes.
 *
 * Keys that are idle and not delayed are kept, since most keys return: a queue in steady use, or
 * with a burst occasionally, neither allocates nor changes the table. As many are kept as were
 * active at once, from KI__IDLE_MIN to KI__IDLE_MAX; the number shrinks with use. */
#ifndef KI_WORKQUEUE_WORKQUEUE_STATE_H
#define KI_WORKQUEUE_WORKQUEUE_STATE_H

#include <stdatomic.h>

#include <kinformer/rate_limiter.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>
#include <kinformer/workqueue_stats.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/deadlines.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/members.h"
#include "base/refs.h"
#include "base/shared.h"

typedef enum ki__work_state {
    WORK_IDLE,
    WORK_QUEUED,
    WORK_PROCESSING,
    WORK_DIRTY, /* and processing */
    WORK_STATE_MAX
} ki__work_state;

typedef enum ki__work_event { WORK_ADD, WORK_GET, WORK_DONE, WORK_EVENT_MAX } ki__work_event;

typedef struct ki__work_entry {
    union {
        ki__list link; /* see the table above */
        struct {       /* in_heap: see line.c */
            struct ki__work_entry *prev;
            struct ki__work_entry *next;
        } heap;
    };
    struct ki__work_entry *next_in_bucket;
    ki__deadline delay;
    uint64_t hash;
    int64_t rank; /* time of queueing, 0 if it was not read, minus priority x age_ns */
    union {
        uint64_t started_ns;          /* processing: time of get; 0 if it was not measured */
        struct ki__work_entry *child; /* queued and in_heap */
    };
    uint32_t room; /* capacity for the key and its NUL */
    uint16_t len;
    int16_t priority;       /* queued or dirty */
    int16_t delay_priority; /* delayed: that of the add */
    int16_t work_priority;  /* processing: that of get; changed only there, so its worker reads it
                               without the lock */
    uint8_t state;          /* ki__work_state */
    bool in_heap;           /* if queued */
    char bytes[];           /* the key, NUL-terminated */
} ki__work_entry;

struct ki_workqueue {
    ki__refs refs;
    uint64_t process; /* creating process */
    const ki_alloc *alloc;
    const ki_clock *clock;
    ki_rate_limiter limiter;
    void (*wake)(void *user);
    void *wake_user;
    size_t max_key_bytes;
    int64_t age_ns;             /* waiting time that equals one level of priority */
    _Atomic bool measure_times; /* written with the lock held */
    _Atomic bool time_adds;     /* measure_times or is_ordered; written with the lock held */
    ki__member member;          /* for metrics */

    ki__lock lock;    /* protects all members below; held during no callback except the clock */
    ki__signal ready; /* signaled for get */
    ki__signal drained;
    ki__work_entry **buckets; /* hash table of entries */
    size_t bucket_count;      /* 0 or a power of two */
    size_t key_count;
    size_t max_keys;
    ki__hash_key hash_key;
    ki__list line;        /* queued keys, and in the heap if there are priorities: see line.c */
    ki__work_entry *heap; /* its root */
    bool is_ordered;      /* a key had a priority */
    int64_t last_ns;      /* time of the last add since then */
    ki__list processing;  /* in the order of get, so the first one has run longest */
    ki__list idle;        /* least recently used first */
    ki__deadlines delayed;
    ki__deadlines holds; /* those that may still expire: see hold.c */
    size_t hold_len;     /* all holds, also those that are being ended */
    size_t idle_len;
    size_t idle_max; /* idle entries kept */
    uint64_t rests;  /* how often an entry became idle */
    size_t line_len;
    size_t processing_len;
    size_t dirty_len;    /* number of dirty ones in processing */
    size_t waiters;      /* number of threads that sleep in get */
    size_t woken;        /* of these, signaled and not yet awake; at most waiters */
    size_t drainers;     /* number of threads in shut_down_with_drain */
    uint64_t timer_ns;   /* earliest timed wake-up of a waiter */
    uint64_t shut_downs; /* calls of shut_down, each of which reholds the drainers */
    bool shutting_down;
    bool wake_needed; /* a try_get found nothing, and there was no wake-up since */
    uint64_t adds;
    uint64_t failed_adds; /* out of memory, or too many keys */
    uint64_t retries;
    uint64_t started_sum_ns; /* of those in processing, modulo 2^64 */
    ki_durations latency;
    ki_durations work;
    char name[]; /* in metrics; "" if it has none */
};

enum { KI__QUEUE_NAME_MAX = 255, KI__IDLE_MIN = 256, KI__IDLE_MAX = 16384 };

static inline bool ki__workqueue_measures(const ki_workqueue *queue)
{
    return atomic_load_explicit(&queue->measure_times, memory_order_relaxed);
}

static inline bool ki__workqueue_times_adds(const ki_workqueue *queue)
{
    return atomic_load_explicit(&queue->time_adds, memory_order_relaxed);
}

static inline uint64_t ki__workqueue_hash(const ki_workqueue *queue, ki_str key)
{
    return ki__hash_str(queue->hash_key, key);
}

/* keys.c: entries; the lock must be held */

/** The entry of `key`, or NULL if it is unknown. */
static inline ki__work_entry *ki__workqueue_find(const ki_workqueue *queue, uint64_t hash,
                                                 ki_str key)
{
    if (queue->bucket_count == 0) {
        return NULL;
    }
    ki__work_entry *entry = queue->buckets[hash & (queue->bucket_count - 1)];
    while (entry != NULL && !(entry->hash == hash && entry->len == key.len &&
                              ki__bytes_eq(entry->bytes, key.ptr, key.len))) {
        entry = entry->next_in_bucket;
    }
    return entry;
}

/** Creates the entry of a new key: idle, not delayed, and not in `idle`, so the caller must change
 *  its state. -ENOMEM or KI_ERR_LIMIT. */
int ki__workqueue_learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry);
/** Keeps an entry that is idle and not delayed for reuse, or frees it. */
void ki__workqueue_rest(ki_workqueue *queue, ki__work_entry *entry);
/** Frees all entries. */
void ki__workqueue_drop_all(ki_workqueue *queue);
/** The table above, by state and event; WORK_STATE_MAX marks impossible transitions. */
extern const uint8_t ki__work_next[WORK_STATE_MAX][WORK_EVENT_MAX];

/* line.c; the lock must be held */

/** Adds and removes an entry whose rank and priority are set; for keys in the heap, or if
 *  is_ordered. */
void ki__line_add(ki_workqueue *queue, ki__work_entry *entry);
void ki__line_remove(ki_workqueue *queue, ki__work_entry *entry);
/** The first of the queued entries; there must be one. */
ki__work_entry *ki__line_first(const ki_workqueue *queue);
/** Sets rank and priority of an entry that is about to be queued, if there are priorities. `now_ns`
 *  is 0 if it was not read. */
void ki__line_rank(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns, int priority);
/** Raises the priority of an entry that is queued or dirty; a lower one has no effect. */
void ki__line_raise(ki_workqueue *queue, ki__work_entry *entry, int priority);
/** When the entry was queued; 0 if the time was not read then. */
uint64_t ki__line_since(const ki_workqueue *queue, const ki__work_entry *entry);

/** Updates how many idle entries are kept, when a key becomes active. */
static inline void ki__workqueue_note_active(ki_workqueue *queue)
{
    size_t active = queue->key_count - queue->idle_len;
    if (active > queue->idle_max && active <= KI__IDLE_MAX) {
        queue->idle_max = active;
    }
}

/** Removes an entry from `idle`, if it is there, before its state changes. */
static inline void ki__workqueue_wake_entry(ki_workqueue *queue, ki__work_entry *entry)
{
    if (entry->state == WORK_IDLE && !ki__list_is_empty(&entry->link)) {
        ki__list_remove(&entry->link);
        queue->idle_len--;
        ki__workqueue_note_active(queue);
    }
}

/** Changes the state of an entry by the table; the event must be possible. Whether it is newly
 *  queued, so that a waiter has something to get. Inline, as the event is a constant at each
 *  call. */
static inline bool ki__workqueue_step(ki_workqueue *queue, ki__work_entry *entry,
                                      ki__work_event event)
{
    uint8_t next = ki__work_next[entry->state][event];
    ki_assert(next != WORK_STATE_MAX);
    if (next == entry->state) {
        return false;
    }
    queue->dirty_len += (size_t)(next == WORK_DIRTY) - (size_t)(entry->state == WORK_DIRTY);
    if (event == WORK_GET) {
        if (queue->is_ordered) {
            ki__line_remove(queue, entry);
        } else {
            ki__list_remove(&entry->link);
        }
        queue->line_len--;
        ki__list_push_back(&queue->processing, &entry->link);
        queue->processing_len++;
    } else if (event == WORK_DONE) {
        ki__list_remove(&entry->link);
        queue->processing_len--;
    } else {
        ki__workqueue_wake_entry(queue, entry);
    }
    entry->state = next;
    if (next == WORK_QUEUED) {
        if (queue->is_ordered) {
            ki__line_add(queue, entry);
        } else {
            ki__list_push_back(&queue->line, &entry->link);
        }
        queue->line_len++;
    }
    return next == WORK_QUEUED;
}

/* workqueue.c */

/** As ki_workqueue_add(), with a valid priority, counted as a retry or not. Takes the lock; the
 *  functions below require it. */
int ki__workqueue_add(ki_workqueue *queue, ki_str key, int priority, bool is_retry);

static inline bool ki__priority_is_valid(int32_t priority)
{
    return priority >= KI_PRIORITY_MIN && priority <= KI_PRIORITY_MAX;
}

/** Number of keys that could not be added: out of memory, or queue full. Takes the lock. */
KI__SHARED uint64_t ki__workqueue_failed_adds(ki_workqueue *queue);

static inline uint64_t ki__workqueue_now(const ki_workqueue *queue)
{
    return queue->clock->monotonic_ns(queue->clock->user);
}

/** Adds an entry, or raises its priority. 1, or 0 if it was already queued. `now_ns` is 0 if it was
 *  not read. */
int ki__workqueue_add_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns,
                            int priority);
/** Ends the processing of an entry. Whether pollers must be notified. */
bool ki__workqueue_done_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns);
/** Wakes waiters for `count` new keys, or one for an earlier deadline. */
void ki__workqueue_wake_waiters(ki_workqueue *queue, size_t count);
/** Unlocks and calls the wake function, if a poller is waiting for it. */
void ki__workqueue_unlock_to_wake(ki_workqueue *queue);
static inline void ki__workqueue_unlock_and_wake(ki_workqueue *queue)
{
    if (queue->wake_needed) {
        ki__workqueue_unlock_to_wake(queue);
    } else {
        ki__lock_release(&queue->lock);
    }
}

/* delay.c; the lock must be held */

/** Adds the keys that are due; returns how many are newly queued. *now_ns is read unless it is
 *  set. */
size_t ki__workqueue_release_due(ki_workqueue *queue, uint64_t *now_ns);
/** Drops all delays. */
void ki__workqueue_drop_delayed(ki_workqueue *queue);

/* hold.c: keys that no worker holds while they are processed, but a hold with a deadline. These
 * functions take the lock. */

typedef struct ki__hold {
    ki__deadline deadline; /* set while it may expire */
    ki_work work;
    const void *owner;
    int ended; /* 0, or why the hold was taken away: -ETIMEDOUT or -ECANCELED */
} ki__hold;

/** Moves a key from its worker to a hold that expires at `when_ns`. -ENOMEM leaves it there. */
int ki__hold_begin(ki_workqueue *queue, ki__hold *hold, ki_work *work, uint64_t when_ns);
/** Claims a hold, so that it can no longer expire: 0, or why it has ended before. A caller that has
 *  claimed a hold, or received it as expired or canceled, calls ki__hold_done(), once. */
int ki__hold_claim(ki_workqueue *queue, ki__hold *hold);
/** Cancels one hold of an owner; NULL if there is none. */
ki__hold *ki__hold_cancel(ki_workqueue *queue, const void *owner);
/** Marks the key as done. */
void ki__hold_done(ki_workqueue *queue, ki__hold *hold);

/** What a worker can take besides keys. */
typedef struct ki__hold_taker {
    size_t max;        /* take no key while there are so many holds */
    ki__hold *expired; /* set if the result is KI__HOLD_EXPIRED */
} ki__hold_taker;

enum { KI__HOLD_EXPIRED = 2 };

/** As ki_workqueue_next() and ki_workqueue_try_get(), or KI__HOLD_EXPIRED. KI_ERR_STOPPED only when
 *  there are no holds. */
int ki__hold_next(ki_workqueue *queue, ki_work *work, ki__hold_taker *taker);
int ki__hold_try_get(ki_workqueue *queue, ki_work *ret_work, ki__hold_taker *taker);
/** As ki__workqueue_next_deadline(), with holds, of which there may be `max`. */
uint64_t ki__hold_next_deadline(ki_workqueue *queue, size_t max);

/* The following require the lock. */

/** A hold whose deadline has passed, or NULL. *now_ns is read unless it is set. */
ki__hold *ki__hold_pop_expired(ki_workqueue *queue, uint64_t *now_ns);

/* workqueue_stats.c */

void ki__durations_observe(ki_durations *durations, uint64_t from_ns, uint64_t to_ns);
/** Copies the key that has been processed longest, "" if none is, to `text` of `size` bytes (not
 *  0); a longer key is truncated. Takes the lock. */
KI__SHARED void ki__workqueue_longest_running(ki_workqueue *queue, char *text, size_t size);
/** Enables measuring of times, also for keys that are queued or processed. Takes the lock. */
void ki__workqueue_measure(ki_workqueue *queue);

/* rate_limiter.c */

/** Copies a limiter of the program. -EINVAL also if a function is missing; -E2BIG. */
int ki__rate_limiter_take(ki_rate_limiter *ours, const ki_rate_limiter *theirs, ki_error *error);
/** Copies the options, with defaults for allocator and max_keys. */
int ki__rate_limiter_options(const ki_rate_limiter_options *theirs, ki_rate_limiter_options *ours);

/** ki_workqueue_add_after() and ki_workqueue_timeout() in nanoseconds. The latter is an absolute
 *  time: 0 for now, UINT64_MAX if no key is delayed. */
int ki__workqueue_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ns);
uint64_t ki__workqueue_next_deadline(ki_workqueue *queue);
/** Converts such a time to a timeout. */
int ki__workqueue_timeout_until(ki_workqueue *queue, uint64_t next_ns);

/** ki_rate_limiter_bucket() with one token per `interval_ns`. */
int ki__rate_limiter_bucket(uint64_t interval_ns, uint32_t burst,
                            const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a work queue. Every known key has one entry, found by one look into a hash table,
 * and what is the matter with the key is its state:
 *
 *   state              where its link is     becomes, on        add     get         done
 *   idle               in `idle`, if not delayed                queued  -           -
 *   queued             in `line`                                -       processing  -
 *   processing         in `processing`                          dirty   -           idle
 *   processing, dirty  in `processing`                          -       -           queued
 *
 * Beside that a key may be delayed: then it is in `delayed`, and gets an add when its time comes. A
 * few keys that are idle and not delayed are kept, for most keys come again: a queue in steady use
 * asks for no memory and changes no table. */
#ifndef KI_WORKQUEUE_WORKQUEUE_STATE_H
#define KI_WORKQUEUE_WORKQUEUE_STATE_H

#include <kinformer/workqueue.h>

#include "base/assert.h"
#include "base/deadlines.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/refs.h"
#include "base/sync.h"

typedef enum ki__work_state {
    WORK_IDLE,
    WORK_QUEUED,
    WORK_PROCESSING,
    WORK_DIRTY, /* and processing */
    WORK_STATE_MAX
} ki__work_state;

typedef enum ki__work_event { WORK_ADD, WORK_GET, WORK_DONE, WORK_EVENT_MAX } ki__work_event;

typedef struct ki__work_entry {
    ki__list link; /* as the table above says */
    struct ki__work_entry *next_in_bucket;
    ki__deadline delay;
    uint64_t hash;
    uint64_t added_ns;   /* when it came to wait; only if times are measured */
    uint64_t started_ns; /* when it was got; likewise */
    uint32_t room;       /* for the key and its zero byte */
    uint16_t len;
    uint8_t state; /* ki__work_state */
    char bytes[];  /* the key and a zero byte */
} ki__work_entry;

struct ki_workqueue {
    ki__refs refs;
    uint64_t process; /* that made it */
    const ki_alloc *alloc;
    const ki_clock *clock;
    ki_rate_limiter limiter;
    void (*wake)(void *user);
    void *wake_user;
    size_t max_key_bytes;
    bool measure_times;

    ki__mutex lock; /* of all that follows; no function of the user's but the clock runs with it */
    ki__cond ready; /* waited for in get */
    ki__cond drained;
    ki__work_entry **buckets; /* the entries by their hashes */
    size_t bucket_count;      /* 0 or a power of two */
    size_t key_count;
    size_t max_keys;
    ki__hash_key hash_key;
    ki__list line;
    ki__list processing; /* in the order of get, so the first one runs longest */
    ki__list idle;       /* the one that is idle longest first */
    ki__deadlines delayed;
    size_t idle_len;
    size_t line_len;
    size_t processing_len;
    size_t dirty_len;    /* of those in processing */
    size_t waiters;      /* in get */
    size_t drainers;     /* in shut_down_with_drain */
    uint64_t timer_ns;   /* the earliest time that one of the waiters wakes at by itself */
    uint64_t shut_downs; /* calls of shut_down, each of which releases the drainers */
    bool shutting_down;
    bool wake_wanted; /* a try_get found nothing, and nobody was woken since */
    uint64_t adds;
    uint64_t failed_adds; /* for want of memory, or with too many keys */
    uint64_t retries;
    uint64_t started_sum_ns; /* of those in processing, modulo 2^64 */
    ki_durations latency;
    ki_durations work;
};

static inline uint64_t ki__workqueue_hash(const ki_workqueue *queue, ki_str key)
{
    return ki__hash_str(queue->hash_key, key);
}

/* keys.c: entries; with the lock held */

/** The entry of `key`, or NULL if it is not known. */
ki__work_entry *ki__workqueue_find(const ki_workqueue *queue, uint64_t hash, ki_str key);
/** A new entry for a key that is not known: idle, not delayed, and not in `idle`, so it has to
 *  become something. -ENOMEM or KI_ERR_LIMIT. */
int ki__workqueue_learn(ki_workqueue *queue, uint64_t hash, ki_str key, ki__work_entry **ret_entry);
/** Puts an entry that is idle and not delayed among those that are kept, or ends it. */
void ki__workqueue_rest(ki_workqueue *queue, ki__work_entry *entry);
/** Ends all entries. */
void ki__workqueue_unlearn_all(ki_workqueue *queue);
/** The table above, by state and event; WORK_STATE_MAX stands for what cannot be. */
extern const uint8_t ki__work_next[WORK_STATE_MAX][WORK_EVENT_MAX];

/** Takes an entry out of `idle`, if it is there, because something is to become of it. */
static inline void ki__workqueue_rouse(ki_workqueue *queue, ki__work_entry *entry)
{
    if (entry->state == WORK_IDLE && !ki__list_is_empty(&entry->link)) {
        ki__list_remove(&entry->link);
        queue->idle_len--;
    }
}

/** Moves an entry on as the table says; the event must be possible. Whether it waits now and did
 *  not before, which is when a waiter has something to get. Inline, as the event is known to the
 *  compiler where it is called. */
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
        ki__list_remove(&entry->link);
        queue->line_len--;
        ki__list_push_back(&queue->processing, &entry->link);
        queue->processing_len++;
    } else if (event == WORK_DONE) {
        ki__list_remove(&entry->link);
        queue->processing_len--;
    } else {
        ki__workqueue_rouse(queue, entry);
    }
    entry->state = next;
    if (next == WORK_QUEUED) {
        ki__list_push_back(&queue->line, &entry->link);
        queue->line_len++;
    }
    return next == WORK_QUEUED;
}

/* workqueue.c */

/** As ki_workqueue_add(), counted as a retry or not. Takes the lock; the rest wants it held. */
int ki__workqueue_add(ki_workqueue *queue, ki_str key, bool is_retry);

/** Number of keys that could not be added for want of memory or space. Takes the lock. */
uint64_t ki__workqueue_failed_adds(ki_workqueue *queue);

static inline uint64_t ki__workqueue_now(const ki_workqueue *queue)
{
    return queue->clock->monotonic_ns(queue->clock->user);
}

/** Adds an entry. 1, or 0 if it was waiting already. `now_ns` matters if times are measured. */
int ki__workqueue_add_entry(ki_workqueue *queue, ki__work_entry *entry, uint64_t now_ns);
/** Lets waiters know that there are `count` keys more to get. */
void ki__workqueue_wake_waiters(ki_workqueue *queue, size_t count);
/** Lets the lock go and calls the wake function, if somebody polls and waits for that. */
void ki__workqueue_unlock_and_wake(ki_workqueue *queue);

/* delay.c; with the lock held */

/** Adds what is due; how many keys that made wait. *now_ns is read unless it is set already. */
size_t ki__workqueue_release_due(ki_workqueue *queue, uint64_t *now_ns);
/** Forgets all delays. */
void ki__workqueue_drop_delayed(ki_workqueue *queue);

/* workqueue_stats.c */

void ki__durations_observe(ki_durations *durations, uint64_t from_ns, uint64_t to_ns);

/* rate_limiter.c */

/** Copies a limiter of the program's. -EINVAL also if a function is missing; -E2BIG. */
int ki__rate_limiter_take(ki_rate_limiter *ours, const ki_rate_limiter *theirs, ki_error *error);
/** Reads the options, with allocator and max_keys filled in. */
int ki__rate_limiter_options(const ki_rate_limiter_options *theirs, ki_rate_limiter_options *ours);

/** ki_workqueue_add_after() and ki_workqueue_timeout() in nanoseconds. The latter is a time of the
 *  clock: 0 for now, UINT64_MAX if no key is delayed. */
int ki__workqueue_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ns);
uint64_t ki__workqueue_next_deadline(ki_workqueue *queue);

/** ki_rate_limiter_bucket() with one token each `interval_ns`. */
int ki__rate_limiter_bucket(uint64_t interval_ns, uint32_t burst,
                            const ki_rate_limiter_options *options, ki_rate_limiter *ret_limiter);

#endif

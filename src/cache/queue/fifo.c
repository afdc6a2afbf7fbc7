/* SPDX-License-Identifier: Apache-2.0 */
/* ki_fifo: every delta in the order of arrival; the counterpart of client-go's the_real_fifo.go in
 * its atomic mode. A ring of deltas.
 *
 * Invariant: the ring has space for the queued deltas and, in front of them, for those in flight,
 * so that these can always be put back. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/queue/delta_queue.h"
#include "cache/store/keyset.h"

enum { RING_FIRST_CAP = 16, RING_KEPT = 1 << 12 };

typedef struct fifo {
    ki_queue base;
    ki_delta *ring;
    size_t cap;       /* 0 or a power of two */
    size_t head;      /* index of the first delta */
    size_t in_flight; /* number of deltas being processed: they own the slots before the head */
    bool initial;     /* those in flight belong to the first list */
    ki__keyset keys;  /* of the batch that is being popped */
} fifo;

static fifo *fifo_of(ki_queue *queue)
{
    return (fifo *)queue; /* base is the first member */
}

static ki_delta *slot(const fifo *f, size_t position)
{
    return &f->ring[(f->head + position) & (f->cap - 1)];
}

/* Moves the deltas to a ring of `cap` slots. */
static int resize(fifo *f, size_t cap)
{
    ki_delta *ring = ki__alloc_array(f->base.alloc, cap, sizeof(*ring));
    if (ring == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < f->base.length; i++) {
        ring[i] = *slot(f, i);
    }
    ki__free(f->base.alloc, f->ring);
    f->ring = ring;
    f->cap = cap;
    f->head = 0;
    return 0;
}

static int fifo_push(ki_queue *queue, const ki_delta *delta)
{
    fifo *f = fifo_of(queue);
    if (queue->length + f->in_flight >= f->cap) {
        int r = resize(f, f->cap != 0 ? f->cap * 2 : RING_FIRST_CAP);
        if (r < 0) {
            return r;
        }
    }
    *slot(f, queue->length) = *delta;
    ki__queue_count(queue, delta);
    return 1;
}

static int fifo_push_key(ki_queue *queue, char *copy)
{
    return fifo_push(
        queue, &(ki_delta){.type = KI_DELTA_DELETED, .final_state_unknown = true, .key = copy});
}

static int fifo_replace(ki_queue *queue, ki__list_block **block)
{
    int r = ki__queue_check_room(queue, 1);
    if (r >= 0) {
        r = fifo_push(queue,
                      &(ki_delta){.type = KI_DELTA_REPLACED_ALL, .replaced = &(*block)->view});
    }
    if (r >= 0) {
        *block = NULL; /* now owned by the queue */
    }
    return r;
}

static int fifo_resync(ki_queue *queue)
{
    int r = ki__queue_check_room(queue, 1);
    return r < 0 ? r : fifo_push(queue, &(ki_delta){.type = KI_DELTA_SYNC_ALL});
}

static size_t fifo_count_initial(ki_queue *queue)
{
    return queue->length;
}

static bool is_batchable(const ki_delta *delta)
{
    switch (delta->type) {
    case KI_DELTA_ADDED:
    case KI_DELTA_UPDATED:
    case KI_DELTA_DELETED:
    case KI_DELTA_REPLACED:
    case KI_DELTA_SYNC:
        return true;
    case KI_DELTA_REPLACED_ALL:
    case KI_DELTA_SYNC_ALL:
    case KI_DELTA_BOOKMARK:
    case KI_DELTA_MAX:
        break;
    }
    return false;
}

/* Number of deltas for a batch of up to `max` keys. */
static size_t measure_batch(fifo *f, size_t max)
{
    if (max == 1 || !is_batchable(slot(f, 0)) || ki__keyset_reset(&f->keys, max) < 0) {
        return 1; /* out of memory for more: one by one */
    }
    size_t count = 0;
    while (count < max) {
        const ki_delta *delta = slot(f, count);
        if (!is_batchable(delta) || !ki__keyset_add(&f->keys, ki_delta_key(delta))) {
            break;
        }
        count++;
    }
    return count;
}

static int fifo_take(ki_queue *queue, size_t max_keys)
{
    fifo *f = fifo_of(queue);
    size_t max = max_keys < queue->length ? max_keys : queue->length;
    if (queue->initial_left != 0 && max > queue->initial_left) {
        max = queue->initial_left; /* later deltas are not initial */
    }
    size_t count = measure_batch(f, max);
    int r = ki__queue_reserve_batch(queue, count);
    if (r < 0 && count > 1) {
        count = 1;
        r = ki__queue_reserve_batch(queue, count);
    }
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < count; i++) {
        ki_delta *delta = slot(f, 0);
        queue->batch[i] = *delta;
        f->head = (f->head + 1) & (f->cap - 1);
        ki__queue_uncount(queue, delta);
    }
    queue->batch_count = count;
    f->in_flight = count;
    f->initial = queue->initial_left != 0;
    return 0;
}

static size_t fifo_finish(ki_queue *queue, bool again)
{
    fifo *f = fifo_of(queue);
    size_t count = f->in_flight;
    f->in_flight = 0;
    if (again) {
        for (size_t i = count; i > 0; i--) {
            f->head = (f->head + f->cap - 1) & (f->cap - 1);
            *slot(f, 0) = queue->batch[i - 1];
            ki__queue_count(queue, &queue->batch[i - 1]);
        }
        if (!f->initial && queue->initial_left != 0) {
            queue->initial_left += count; /* the first list was queued meanwhile, after them */
        }
        return 0;
    }
    if (queue->length == 0 && f->cap > RING_KEPT) { /* release the memory of a burst */
        ki__free(queue->alloc, f->ring);
        f->ring = NULL;
        f->cap = 0;
        f->head = 0;
    }
    return f->initial ? count : 0;
}

static void fifo_clear(ki_queue *queue)
{
    fifo *f = fifo_of(queue);
    while (queue->length != 0) {
        const ki_delta delta = *slot(f, queue->length - 1);
        ki__queue_uncount(queue, &delta);
        ki__delta_release(queue, &delta);
    }
}

static void fifo_done(ki_queue *queue)
{
    fifo *f = fifo_of(queue);
    fifo_clear(queue);
    ki__free(queue->alloc, f->ring);
    ki__keyset_done(&f->keys);
}

static const ki__queue_kind fifo_kind = {
    .push = fifo_push,
    .push_key = fifo_push_key,
    .replace = fifo_replace,
    .resync = fifo_resync,
    .count_initial = fifo_count_initial,
    .take = fifo_take,
    .finish = fifo_finish,
    .clear = fifo_clear,
    .done = fifo_done,
};

int ki_fifo_new(const ki_queue_options *options, ki_queue **ret_queue, ki_error *error)
{
    KI__REQUIRE(ret_queue, error);
    ki_queue_options o;
    int r = KI__TAKE(ki_queue_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.known != NULL) {
        return ki__error_set(error, -EINVAL, "known: not supported by this kind of queue");
    }
    r = ki__queue_new(&fifo_kind, sizeof(fifo), &o, ret_queue, error);
    if (r >= 0) {
        ki__keyset_init(&fifo_of(*ret_queue)->keys, (*ret_queue)->alloc, (*ret_queue)->hash_key);
    }
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of both kinds of queue: adding with the transform function, popping, sync state,
 * closing. The counterpart of the common part of client-go's delta_fifo.go and the_real_fifo.go.
 *
 * Invariants: `synced` is set once populated and initial_left is 0, and stays set; while `popping`,
 * the batch holds the references of the popped deltas. */
#include "cache/queue/delta_queue.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "cache/queue/delta_queue_list.h"
#include "cache/store/txn.h"
#include "object/object.h"

enum {
    TEXT_MAX = 1024,      /* of resourceVersions, as in the store */
    KEY_MAX = 2049,       /* two names of 1024 bytes, as in objects, and a '/' */
    BATCH_KEPT = 1 << 12, /* capacity kept from pop to pop */
};
#define MAX_DELTAS_DEFAULT ((size_t)1 << 24)

static const char *const type_names[] = {
    [KI_DELTA_ADDED] = "Added",
    [KI_DELTA_UPDATED] = "Updated",
    [KI_DELTA_DELETED] = "Deleted",
    [KI_DELTA_REPLACED] = "Replaced",
    [KI_DELTA_REPLACED_ALL] = "ReplacedAll",
    [KI_DELTA_SYNC] = "Sync",
    [KI_DELTA_SYNC_ALL] = "SyncAll",
    [KI_DELTA_BOOKMARK] = "Bookmark",
};
_Static_assert(sizeof(type_names) / sizeof(type_names[0]) == KI_DELTA_MAX, "a name for each type");

const char *ki_delta_type_name(ki_delta_type type)
{
    return (size_t)type < KI_DELTA_MAX ? type_names[type] : "unknown";
}

ki_str ki_delta_key(const ki_delta *delta)
{
    if (delta->object != NULL) {
        return ki__object_key(delta->object);
    }
    return ki_str_from(delta->type == KI_DELTA_DELETED ? delta->key : NULL);
}

/* Creation and destruction */

int ki__queue_new(const ki__queue_kind *kind, size_t size, const ki_queue_options *options,
                  ki_queue **ret_queue, ki_error *error)
{
    ki_error_hook on_error;
    int r = KI__TAKE(ki_error_hook, &on_error, options->on_error, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(options->alloc);
    ki_queue *queue = ki__alloc_zero(alloc, size);
    if (queue == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    queue->kind = kind;
    queue->alloc = alloc;
    queue->hash_key = ki__hash_key_make(options->random, queue);
    queue->transform = options->transform;
    queue->transform_user = options->transform_user;
    queue->on_error = on_error;
    queue->max_deltas = options->max_deltas != 0 ? options->max_deltas : MAX_DELTAS_DEFAULT;
    ki__refs_init(&queue->refs);
    queue->process = ki__process();
    atomic_init(&queue->synced, false);
    atomic_init(&queue->popping, false);
    r = ki__mutex_init(&queue->lock);
    if (r >= 0) {
        r = ki__cond_init(&queue->ready);
        if (r < 0) {
            ki__mutex_done(&queue->lock);
        }
    }
    if (r < 0) {
        ki__free(alloc, queue);
        return ki__error_code(error, r);
    }
    *ret_queue = queue;
    return 0;
}

ki_queue *ki_queue_ref(ki_queue *queue)
{
    if (queue != NULL) {
        ki__refs_take(&queue->refs);
    }
    return queue;
}

ki_queue *ki_queue_unref(ki_queue *queue)
{
    if (queue == NULL || !ki__refs_drop(&queue->refs) || ki__is_inherited(queue->process)) {
        return NULL;
    }
    queue->kind->done(queue);
    ki__free(queue->alloc, queue->batch);
    ki__cond_done(&queue->ready);
    ki__mutex_done(&queue->lock);
    ki__free(queue->alloc, queue);
    return NULL;
}

/* Deltas */

/* An estimate: ki_object_memory() would touch the far end of the object, which costs more than
 * everything else here. */
size_t ki__queue_size_of(const ki_object *object)
{
    return ki__object_footprint(object);
}

static size_t bytes_of(const ki_delta *delta)
{
    if (delta->object != NULL) {
        return ki__queue_size_of(delta->object);
    }
    return delta->type == KI_DELTA_REPLACED_ALL ? ki__list_block_of(delta)->bytes : 0;
}

/* The object of a deletion that a list has found is that of the store. */
static bool is_event(const ki_delta *delta)
{
    return delta->type <= KI_DELTA_DELETED && !delta->final_state_unknown;
}

/* Requires the lock. */
static void add_event_bytes(ki_queue *queue, size_t bytes)
{
    size_t before = atomic_load_explicit(&queue->event_bytes, memory_order_relaxed);
    atomic_store_explicit(&queue->event_bytes, before + bytes, memory_order_relaxed);
}

void ki__queue_count(ki_queue *queue, const ki_delta *delta)
{
    size_t bytes = bytes_of(delta);
    queue->length++;
    queue->bytes += bytes;
    add_event_bytes(queue, is_event(delta) ? bytes : 0);
}

void ki__queue_uncount(ki_queue *queue, const ki_delta *delta)
{
    size_t bytes = bytes_of(delta);
    ki_assert(queue->length > 0 && queue->bytes >= bytes);
    queue->length--;
    queue->bytes -= bytes;
    add_event_bytes(queue, is_event(delta) ? 0 - bytes : 0);
}

int ki__queue_check_room(const ki_queue *queue, size_t more)
{
    return more <= queue->max_deltas && queue->length <= queue->max_deltas - more ? 0
                                                                                  : KI_ERR_LIMIT;
}

void ki__delta_release(const ki_queue *queue, const ki_delta *delta)
{
    if (delta->object != NULL) {
        (void)ki_object_unref(delta->object);
    } else if (delta->type == KI_DELTA_REPLACED_ALL) {
        ki__list_block_free(queue->alloc, ki__list_block_of(delta));
    } else if (delta->type == KI_DELTA_BOOKMARK || delta->type == KI_DELTA_DELETED) {
        ki__free(queue->alloc, (void *)(uintptr_t)delta->key); /* same member as resource_version */
    }
}

int ki__queue_reserve_batch(ki_queue *queue, size_t count)
{
    return ki__array_reserve(queue->alloc, (void **)&queue->batch, &queue->batch_cap, count,
                             sizeof(*queue->batch));
}

/* Adding */

static int error_full(const ki_queue *queue, int r, ki_error *error)
{
    if (r == KI_ERR_LIMIT) {
        return ki__error_set(error, r, "queue full: %zu deltas, limit %zu", queue->length,
                             queue->max_deltas);
    }
    return ki__error_code(error, r);
}

static void check_synced(ki_queue *queue)
{
    if (queue->populated && queue->initial_left == 0) {
        atomic_store_explicit(&queue->synced, true, memory_order_release);
    }
}

/* Call after adding; requires the lock. */
static void wake(ki_queue *queue)
{
    if (queue->waiting) {
        ki__cond_wake_one(&queue->ready);
    }
}

/* Queues a delta, taking ownership; `begins`: it counts as content. */
static int push(ki_queue *queue, const ki_delta *delta, bool begins, ki_error *error)
{
    ki__mutex_lock(&queue->lock);
    int r = ki__queue_check_room(queue, 1);
    if (r >= 0) {
        r = queue->kind->push(queue, delta);
    }
    if (r >= 0 && begins) {
        queue->populated = true;
        check_synced(queue);
    }
    if (r > 0) {
        wake(queue);
    } else if (r < 0) {
        (void)error_full(queue, r, error);
    }
    ki__mutex_unlock(&queue->lock);
    if (r <= 0) {
        ki__delta_release(queue, delta);
    }
    return r < 0 ? r : 0;
}

int ki__queue_put(ki_queue *queue, ki_delta_type type, const ki_object *object, ki_error *error)
{
    int r = ki__txn_check_key(object, error);
    if (r < 0) {
        return r;
    }
    return push(queue, &(ki_delta){.type = type, .object = ki_object_ref(object)}, true, error);
}

static int push_object(ki_queue *queue, ki_delta_type type, const ki_object *object,
                       ki_error *error)
{
    if (queue->transform == NULL) {
        return ki__queue_put(queue, type, object, error);
    }
    int r = ki__txn_check_key(object, error);
    if (r < 0) {
        return r;
    }
    ki_object *made = NULL;
    r = ki__transform(queue->transform, queue->transform_user, object, &made, error);
    if (r < 0 && type == KI_DELTA_DELETED) {
        made = ki_object_ref(object); /* a lost deletion could not be recovered */
    } else if (r < 0) {
        return r;
    }
    return push(queue, &(ki_delta){.type = type, .object = made}, true, error);
}

int ki_queue_add(ki_queue *queue, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN(queue->process, error);
    return push_object(queue, KI_DELTA_ADDED, object, error);
}

int ki_queue_update(ki_queue *queue, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN(queue->process, error);
    return push_object(queue, KI_DELTA_UPDATED, object, error);
}

int ki_queue_delete(ki_queue *queue, const ki_object *object, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE_OWN(queue->process, error);
    return push_object(queue, KI_DELTA_DELETED, object, error);
}

/* Copies a string for use in a delta. */
static int copy_text(const ki_queue *queue, ki_str text, size_t max, char **ret_copy,
                     ki_error *error)
{
    if (text.len > max) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "key or resourceVersion too long: %zu bytes, limit %zu", text.len,
                             max);
    }
    char *copy = ki__alloc(queue->alloc, text.len + 1);
    if (copy == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    if (text.len != 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    *ret_copy = copy;
    return 0;
}

int ki_queue_delete_key(ki_queue *queue, ki_str key, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE_OWN(queue->process, error);
    ki_str name_space;
    ki_str name;
    char *copy = NULL;
    if (ki_key_split(key, &name_space, &name) < 0 || memchr(key.ptr, '\0', key.len) != NULL) {
        return ki__error_code(error, KI_ERR_KEY);
    }
    int r = copy_text(queue, key, KEY_MAX, &copy, error);
    if (r < 0) {
        return r;
    }
    ki__mutex_lock(&queue->lock);
    r = ki__queue_check_room(queue, 1);
    if (r >= 0) {
        r = queue->kind->push_key(queue, copy);
    }
    if (r >= 0) {
        queue->populated = true;
        check_synced(queue);
        wake(queue);
    } else {
        (void)error_full(queue, r, error);
    }
    ki__mutex_unlock(&queue->lock);
    if (r <= 0) {
        ki__free(queue->alloc, copy);
    }
    return r < 0 ? r : 0;
}

int ki_queue_bookmark(ki_queue *queue, const char *resource_version, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE_OWN(queue->process, error);
    char *copy = NULL;
    int r = copy_text(queue, ki_str_from(resource_version), TEXT_MAX, &copy, error);
    if (r < 0) {
        return r;
    }
    return push(queue, &(ki_delta){.type = KI_DELTA_BOOKMARK, .resource_version = copy}, false,
                error);
}

int ki_queue_resync(ki_queue *queue, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE_OWN(queue->process, error);
    ki__mutex_lock(&queue->lock);
    int r = queue->kind->resync(queue);
    if (r >= 0) {
        wake(queue);
    } else {
        (void)error_full(queue, r, error);
    }
    ki__mutex_unlock(&queue->lock);
    return r < 0 ? r : 0;
}

static int replace(ki_queue *queue, const ki_replacement *replacement,
                   ki__transform_function transform, ki_error *error)
{
    ki__list_block *block;
    int left_out = ki__list_block_new(queue, replacement, transform, &block, error);
    if (left_out < 0) {
        return left_out;
    }
    ki__mutex_lock(&queue->lock);
    int r = queue->kind->replace(queue, &block);
    if (r >= 0) {
        if (!queue->populated) {
            queue->populated = true;
            queue->initial_left = queue->kind->count_initial(queue);
            check_synced(queue);
        }
        wake(queue);
    } else {
        (void)error_full(queue, r, error);
    }
    ki__mutex_unlock(&queue->lock);
    ki__list_block_free(queue->alloc, block);
    return r < 0 ? r : left_out;
}

int ki_queue_replace(ki_queue *queue, const ki_replacement *replacement, ki_error *error)
{
    KI__REQUIRE(queue, error);
    KI__REQUIRE(replacement, error);
    KI__REQUIRE_OWN(queue->process, error);
    return replace(queue, replacement, queue->transform, error);
}

int ki__queue_replace(ki_queue *queue, const ki_replacement *replacement, ki_error *error)
{
    return replace(queue, replacement, NULL, error);
}

/* Popping */

/* Pops a batch: returns the number of deltas, 0 if there are none. */
static int take(ki_queue *queue, size_t max_keys, bool wait)
{
    while (queue->length == 0 && !queue->closed && wait) {
        queue->waiting = true;
        ki__cond_wait(&queue->ready, &queue->lock);
        queue->waiting = false;
    }
    if (queue->length == 0) {
        return queue->closed ? KI_ERR_STOPPED : 0;
    }
    int r = queue->kind->take(queue, max_keys);
    if (r < 0) {
        return r;
    }
    ki_assert(queue->batch_count > 0 && queue->batch_count <= INT_MAX);
    return (int)queue->batch_count;
}

/* Ends a take(). */
static void finish(ki_queue *queue, bool again)
{
    ki__mutex_lock(&queue->lock);
    size_t initial = queue->kind->finish(queue, again);
    ki_assert(initial <= queue->initial_left);
    queue->initial_left -= initial;
    check_synced(queue);
    ki__mutex_unlock(&queue->lock);
    for (size_t i = 0; !again && i < queue->batch_count; i++) {
        ki__delta_release(queue, &queue->batch[i]);
    }
    queue->batch_count = 0;
    if (queue->batch_cap > BATCH_KEPT) {
        ki__free(queue->alloc, queue->batch);
        queue->batch = NULL;
        queue->batch_cap = 0;
    }
}

/* Consumes a batch; only one consumer at a time. */
static int consume(ki_queue *queue, size_t max_keys, bool wait, ki_queue_process process,
                   void *user)
{
    ki__mutex_lock(&queue->lock);
    int count = take(queue, max_keys, wait);
    bool is_initial = !ki_queue_has_synced(queue);
    ki__mutex_unlock(&queue->lock);
    if (count <= 0) {
        return count;
    }
    for (size_t i = 0; i < queue->batch_count; i++) {
        queue->batch[i].size = sizeof(queue->batch[i]);
    }
    const ki_deltas deltas = {
        .size = sizeof(deltas),
        .deltas = queue->batch,
        .count = queue->batch_count,
        .is_initial = is_initial,
        .set_back = queue->batch_set_back,
    };
    int r = process(&deltas, user);
    finish(queue, r > 0);
    return r < 0 ? r : count;
}

static int pop(ki_queue *queue, size_t max_keys, bool wait, ki_queue_process process, void *user)
{
    if (atomic_exchange_explicit(&queue->popping, true, memory_order_acquire)) {
        return KI_ERR_BUSY;
    }
    (void)ki_queue_ref(queue); /* the process function may drop the last reference */
    int r = consume(queue, max_keys != 0 ? max_keys : KI_QUEUE_BATCH, wait, process, user);
    atomic_store_explicit(&queue->popping, false, memory_order_release);
    (void)ki_queue_unref(queue);
    return r;
}

int ki_queue_pop(ki_queue *queue, size_t max_keys, ki_queue_process process, void *user)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(process, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    return pop(queue, max_keys, true, process, user);
}

int ki_queue_poll(ki_queue *queue, size_t max_keys, ki_queue_process process, void *user)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE(process, NULL);
    KI__REQUIRE_OWN(queue->process, NULL);
    return pop(queue, max_keys, false, process, user);
}

void ki__queue_clear(ki_queue *queue)
{
    ki__mutex_lock(&queue->lock);
    queue->kind->clear(queue);
    ki_assert(queue->length == 0 && queue->bytes == 0);
    if (!ki_queue_has_synced(queue)) {
        queue->populated = false;
        queue->initial_left = 0;
    }
    ki__mutex_unlock(&queue->lock);
}

void ki_queue_stop(ki_queue *queue)
{
    if (queue == NULL || ki__is_inherited(queue->process)) {
        return;
    }
    ki__mutex_lock(&queue->lock);
    queue->closed = true;
    wake(queue);
    ki__mutex_unlock(&queue->lock);
}

/* Queries */

/* The lock may be taken through a const pointer. */
static ki_queue *locked(const ki_queue *queue)
{
    ki_queue *mutable = (ki_queue *)(uintptr_t)queue;
    ki__mutex_lock(&mutable->lock);
    return mutable;
}

bool ki_queue_is_stopped(const ki_queue *queue)
{
    ki_queue *q = locked(queue);
    bool closed = q->closed;
    ki__mutex_unlock(&q->lock);
    return closed;
}

size_t ki_queue_count(const ki_queue *queue)
{
    ki_queue *q = locked(queue);
    size_t length = q->length;
    ki__mutex_unlock(&q->lock);
    return length;
}

size_t ki_queue_bytes(const ki_queue *queue)
{
    ki_queue *q = locked(queue);
    size_t bytes = q->bytes;
    ki__mutex_unlock(&q->lock);
    return bytes;
}

bool ki_queue_has_synced(const ki_queue *queue)
{
    return atomic_load_explicit(&queue->synced, memory_order_acquire);
}

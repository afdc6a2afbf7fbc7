/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a change through a shared informer, on the engine: the reflector puts deltas into the
 * queue; a task pops a batch, prepares the next version of the store, reserves space in the queues
 * of the handlers, and then, in one atomic step, publishes the version and queues the
 * notifications. If memory runs out, nothing has changed and the batch is retried shortly after. */
#include <errno.h>

#include "base/error.h"
#include "base/probe.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"
#include "cache/reflector/reflector.h"
#include "object/object.h"

#define RETRY_NS (100 * KI__MS_NS)
/* The reflector is paused when this many deltas remain after a batch, and resumed at the second
 * limit. */
enum { PAUSE_AT = 3 * KI_QUEUE_BATCH, RESUME_AT = KI_QUEUE_BATCH };

/* ---- from the queue to the store and the handlers ---- */

static bool is_first_list(const ki_deltas *deltas)
{
    return deltas->is_initial && deltas->count == 1 &&
           ki_deltas_at(deltas, 0)->type == KI_DELTA_REPLACED_ALL;
}

/* Requires the lock. A handler that has received nothing yet gets a first list as a snapshot. */
static int make_room(ki_informer *informer, const ki__notes *notes, bool first_list)
{
    int r = 0;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki_registration *registration =
            ki__registration_of_entry(KI__CONTAINER_OF(link, ki__registration_entry, link));
        if (r == 0 && !(first_list && ki__registration_is_fresh(registration))) {
            r = ki__registration_reserve_batch(registration, &informer->applier, notes);
        }
    }
    return r;
}

/* Requires the lock; cannot fail. */
static void publish(ki_informer *informer, ki__notes *notes, bool first_list)
{
    ki__apply_commit(&informer->applier);
    informer->applied++;
    informer->skipped = informer->applier.skipped;
    informer->suppressed = informer->applier.suppressed;
    informer->unchanged += informer->applier.same_count;
    ki__informer_note_version(informer);
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki_registration *registration =
            ki__registration_of_entry(KI__CONTAINER_OF(link, ki__registration_entry, link));
        bool wake;
        if (first_list && ki__registration_is_fresh(registration)) {
            wake = ki__registration_begin(registration, ki_store_snapshot(informer->store));
        } else {
            wake = ki__registration_push_batch(registration, &informer->applier, notes);
        }
        if (wake) {
            ki__wake_list_add(&informer->wakes, registration);
        }
    }
}

static void report_mutation(ki_informer *informer, ki_str key)
{
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(
        &error, KI_ERR_INVALID,
        "the memory of a cached object was changed; objects must not be written to");
    ki__engine_report(informer->engine, "mutations", informer->options.name, key, &error);
    ki__mutex_lock(&informer->lock);
    informer->mutation_count++;
    ki__mutex_unlock(&informer->lock);
}

static void check_mutations(ki_informer *informer)
{
    ki__note note;
    bool resync = false;
    ki__apply_rewind(&informer->applier);
    while (ki__apply_next(&informer->applier, &note)) {
        ki_str key = ki__object_key(note.object);
        resync = resync || note.type == KI__NOTE_SYNC;
        bool same =
            note.type == KI__NOTE_SYNC ||
            (note.type == KI__NOTE_DELETE ? ki__mutations_remove(&informer->mutations, key)
                                          : ki__mutations_put(&informer->mutations, note.object));
        if (!same) {
            report_mutation(informer, key);
        }
    }
    size_t position = 0;
    const ki_object *changed;
    while (resync && (changed = ki__mutations_next(&informer->mutations, &position)) != NULL) {
        report_mutation(informer, ki__object_key(changed));
    }
}

/* Publishes the prepared version, and queues the notifications. */
static int spread(ki_informer *informer, bool first_list)
{
    ki__notes *notes = NULL;
    int r = ki__notes_new(&informer->applier, &notes);
    if (r < 0) {
        return r;
    }
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state != KI__INFORMER_STARTED; /* then the store is left unchanged */
    r = stopped ? KI_ERR_STOPPED : make_room(informer, notes, first_list);
    if (r == 0) {
        publish(informer, notes, first_list);
    }
    ki__mutex_unlock(&informer->lock);
    (void)ki__notes_unref(notes);
    ki__wake_list_send(&informer->wakes);
    return r;
}

#define MS(n) ((n)*KI__MS_NS)
const uint64_t ki__processing_bounds_ns[KI__PROCESSING_BOUNDS] = {
    MS(1),   MS(5),   MS(10),   MS(25),   MS(50),   MS(100),
    MS(250), MS(500), MS(1000), MS(2500), MS(5000), MS(10000),
};

/* Whether every handler gets the batch as a snapshot: while the store is empty, none has received
 * anything. */
static bool needs_no_notes(const ki_informer *informer, const ki_deltas *deltas)
{
    if (!is_first_list(deltas) || informer->options.check_mutations) {
        return false;
    }
    ki_snapshot *snapshot = ki_store_snapshot(informer->store);
    bool empty = ki_snapshot_count(snapshot) == 0;
    (void)ki_snapshot_unref(snapshot);
    return empty;
}

static int process(const ki_deltas *deltas, void *user)
{
    ki_informer *informer = user;
    ki_error error = KI_ERROR_INIT;
    uint64_t began = ki__engine_now(informer->engine);
    uint64_t received = informer->queue->received_ns;
    informer->applier.time_ms = (uint32_t)((received != 0 ? received : began) / KI__MS_NS);
    informer->applier.silent = needs_no_notes(informer, deltas);
    int r = ki__apply_prepare(&informer->applier, deltas, &error);
    if (r == 0) {
        r = ki__informer_check_version(informer, deltas, &error);
    }
    if (r == 0) {
        r = spread(informer, is_first_list(deltas));
    }
    if (r == 0 && informer->options.check_mutations) {
        check_mutations(informer);
    }
    if (r == 0) {
        ki__informer_batch_applied(informer, deltas);
    }
    ki__apply_end(&informer->applier);
    informer->retrying = r < 0;
    uint64_t took = ki__engine_now(informer->engine) - began;
    ki__histogram_observe(informer->processing, ki__processing_bounds_ns, KI__PROCESSING_BOUNDS,
                          took);
    if (KI__PROBE_IS_TRACED(batch_applied)) {
        KI__PROBE(batch_applied, ki_informer_name(informer), deltas->count, took, r);
    }
    return r < 0 ? KI_POP_AGAIN : KI_POP_DONE;
}

/* After the first list is in the store: handlers without pending initial notifications have synced
 * as well. */
static void look_whether_synced(ki_informer *informer)
{
    if (informer->synced || !ki_queue_has_synced(informer->queue)) {
        return;
    }
    informer->reflector->may_reduce = true;
    ki__mutex_lock(&informer->lock);
    informer->synced = true;
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki_registration *registration =
            ki__registration_of_entry(KI__CONTAINER_OF(link, ki__registration_entry, link));
        if (ki__registration_owner_synced(registration)) {
            ki__wake_list_add(&informer->wakes, registration);
        }
    }
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
    ki__wake_list_send_all(&informer->wakes);
}

/* ---- the task ---- */

void ki__informer_retry(ki__timer *timer)
{
    ki__queue_post_consumer(KI__CONTAINER_OF(timer, ki_informer, retry)->queue);
}

static bool is_running(ki_informer *informer)
{
    ki__mutex_lock(&informer->lock);
    bool running = informer->state == KI__INFORMER_STARTED;
    ki__mutex_unlock(&informer->lock);
    return running;
}

static void pause(ki_informer *informer, bool paused)
{
    if (informer->paused != paused) {
        informer->paused = paused;
        ki_reflector_pause(informer->reflector, paused);
    }
}

/* The length is read without the lock: it changes only inside this engine. */
static void work(ki_informer *informer)
{
    if (informer->queue->length >= PAUSE_AT) {
        pause(informer, true);
    }
    int r = ki_queue_poll(informer->queue, 0, process, informer);
    ki__informer_review_limit(informer);
    look_whether_synced(informer);
    if (ki__wake_list_hold(&informer->wakes, r > 0 ? (size_t)r : 0)) {
        /* Runs after all current work of the engine, which may queue more. */
        ki__queue_post_consumer(informer->queue);
    }
    size_t left = informer->queue->length;
    if (left == 0) {
        informer->queue->received_ns = 0;
    }
    if (left <= RESUME_AT) {
        pause(informer, false);
    }
    if (r < 0 || informer->retrying) {
        informer->retrying = false;
        ki__timer_set_after(&informer->retry, RETRY_NS);
    } else if (left != 0) {
        ki__queue_post_consumer(informer->queue);
    }
}

void ki__informer_close_opened(ki__task *task)
{
    ki_informer *informer = KI__CONTAINER_OF(task, ki_informer, close_opened);
    ki_txn *txn = NULL;
    if (is_running(informer) && ki_store_begin(informer->store, &txn, NULL) >= 0) {
        ki_txn_commit(txn); /* a version with the same content; if it is busy, the next change */
    }
}

void ki__informer_run_task(ki__task *task)
{
    ki_informer *informer = KI__CONTAINER_OF(task, ki_informer, task);
    informer->queue->consumer_posted = false;
    if (is_running(informer)) {
        work(informer);
    } else {
        ki__wake_list_send_all(&informer->wakes);
    }
}

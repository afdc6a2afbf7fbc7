/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting until the store of an informer has reached a resourceVersion. Threads wait on the
 * informer's condition; callbacks are in a list, and a task of the engine calls those that are due.
 * Only a running informer has callbacks: the end of the run calls all that remain. */
#include <errno.h>
#include <string.h>

#include <kinformer/consistency.h>
#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"

enum { WAITS_MAX = 65536, VERSION_MAX = 1023 };

typedef struct version_wait {
    ki__list link;
    ki_version_fn fn;
    void *user;
    uint64_t deadline;
    int result; /* once it is due */
    char version[];
} version_wait;

static uint64_t deadline_of(const ki_informer *informer, uint32_t timeout_ms)
{
    return timeout_ms == UINT32_MAX ? UINT64_MAX
                                    : ki__engine_now(informer->engine) + timeout_ms * KI__MS_NS;
}

static int check(const ki_informer *informer, const char *version, ki_error *error)
{
    int order;
    ki_str text = ki_str_from(version);
    if (informer->options.queue != KI_QUEUE_FIFO) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "waiting for a version: the informer must have a KI_QUEUE_FIFO");
    }
    if (text.len > VERSION_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "resource_version: longer than %d bytes",
                             VERSION_MAX);
    }
    if (ki_resource_version_compare(text, text, &order) < 0) {
        return ki__error_set(error, KI_ERR_INVALID, "resource_version: not a decimal number");
    }
    return 0;
}

/* ---- threads ---- */

static int wait_for_version(ki_informer *informer, const char *version, uint32_t timeout_ms)
{
    uint64_t deadline = deadline_of(informer, timeout_ms);
    bool inside = ki__engine_is_inside(informer->engine) || ki__registration_is_calling(informer);
    int r = 0;
    bool in_time = true;
    ki__mutex_lock(&informer->lock);
    while (r == 0 && !ki_store_is_at_least(informer->store, version)) {
        if (informer->state >= KI__INFORMER_STOPPING) {
            r = KI_ERR_STOPPED;
        } else if (timeout_ms == 0 || !in_time) {
            r = -ETIMEDOUT;
        } else if (inside) {
            r = KI_ERR_BUSY;
        } else {
            informer->version_sleepers++;
            in_time = ki__cond_wait_until(&informer->changed, &informer->lock, deadline);
            informer->version_sleepers--;
        }
    }
    ki__mutex_unlock(&informer->lock);
    return r;
}

int ki_informer_wait_version(ki_informer *informer, const char *resource_version,
                             uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(resource_version, error);
    KI__REQUIRE_OWN_ENGINE(informer->engine, error);
    int r = check(informer, resource_version, error);
    if (r < 0) {
        return r;
    }
    r = wait_for_version(informer, resource_version, timeout_ms);
    if (r < 0) {
        ki_snapshot *snapshot = ki_store_snapshot(informer->store);
        (void)ki__error_set(error, r, "%s is at version '%s', not yet at %s: %s",
                            informer->options.name, ki_snapshot_resource_version(snapshot),
                            resource_version, ki_error_text(r));
        (void)ki_snapshot_unref(snapshot);
    }
    return r;
}

/* ---- callbacks ---- */

/* Requires the lock. Moves the waits that are over to `due`; returns the next deadline. */
static uint64_t take_due(ki_informer *informer, ki__list *due)
{
    uint64_t now = ki__engine_now(informer->engine);
    uint64_t next = UINT64_MAX;
    bool stopped = informer->state >= KI__INFORMER_STOPPING;
    ki__list *link = informer->version_waits.next;
    while (link != &informer->version_waits) {
        version_wait *wait = KI__CONTAINER_OF(link, version_wait, link);
        link = link->next;
        bool reached = ki_store_is_at_least(informer->store, wait->version);
        if (reached || stopped || wait->deadline <= now) {
            wait->result = reached ? 0 : stopped ? KI_ERR_STOPPED : -ETIMEDOUT;
            ki__list_remove(&wait->link);
            ki__list_push_back(due, &wait->link);
            informer->version_wait_count--;
        } else if (wait->deadline < next) {
            next = wait->deadline;
        }
    }
    return next;
}

void ki__informer_end_version_waits(ki_informer *informer)
{
    ki__list due;
    ki__list_init(&due);
    ki__mutex_lock(&informer->lock);
    uint64_t next = take_due(informer, &due);
    ki__mutex_unlock(&informer->lock);
    ki__timer_set(&informer->version_timer, next);
    ki__informer_hold(informer); /* a callback may release the informer */
    while (!ki__list_is_empty(&due)) {
        version_wait *wait = KI__CONTAINER_OF(due.next, version_wait, link);
        ki__list_remove(&wait->link);
        wait->fn(informer, wait->result, wait->user);
        ki__free(ki__engine_alloc(informer->engine), wait);
    }
    ki__informer_release(informer);
}

void ki__informer_version_task(ki__task *task)
{
    ki__informer_end_version_waits(KI__CONTAINER_OF(task, ki_informer, version_task));
}

void ki__informer_version_timeout(ki__timer *timer)
{
    ki__informer_end_version_waits(KI__CONTAINER_OF(timer, ki_informer, version_timer));
}

void ki__informer_note_version(ki_informer *informer)
{
    if (informer->version_sleepers != 0) {
        ki__cond_wake_all(&informer->changed);
    }
    if (informer->version_wait_count != 0) {
        (void)ki__engine_post(informer->engine, &informer->version_task);
    }
}

/* Posted under the lock: the end of the run, which withdraws the task, comes after the state has
 * changed. */
static int add_wait(ki_informer *informer, version_wait *wait)
{
    int r = 0;
    ki__mutex_lock(&informer->lock);
    if (informer->state != KI__INFORMER_STARTED) {
        r = KI_ERR_STOPPED;
    } else if (informer->version_wait_count == WAITS_MAX) {
        r = KI_ERR_LIMIT;
    } else {
        ki__list_push_back(&informer->version_waits, &wait->link);
        informer->version_wait_count++;
        (void)ki__engine_post(informer->engine, &informer->version_task);
    }
    ki__mutex_unlock(&informer->lock);
    return r;
}

int ki_informer_on_version(ki_informer *informer, const char *resource_version, uint32_t timeout_ms,
                           ki_version_fn fn, void *user, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(resource_version, error);
    KI__REQUIRE(fn, error);
    KI__REQUIRE_OWN_ENGINE(informer->engine, error);
    int r = check(informer, resource_version, error);
    if (r < 0) {
        return r;
    }
    size_t size = strlen(resource_version) + 1;
    const ki_alloc *alloc = ki__engine_alloc(informer->engine);
    version_wait *wait = ki__alloc_zero(alloc, sizeof(*wait) + size);
    if (wait == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    wait->fn = fn;
    wait->user = user;
    wait->deadline = deadline_of(informer, timeout_ms);
    memcpy(wait->version, resource_version, size);
    r = add_wait(informer, wait);
    if (r < 0) {
        ki__free(alloc, wait);
        return ki__error_code(error, r);
    }
    return 0;
}

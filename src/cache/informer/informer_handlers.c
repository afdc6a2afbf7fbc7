/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of a shared informer: adding, removing, and resync periods. */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"

enum { RESYNC_MIN_MS = 1000 };

static ki__registration_entry *entry_at(ki__list *link)
{
    return KI__CONTAINER_OF(link, ki__registration_entry, link);
}

/* ---- callbacks of registrations ---- */

static void on_removed(ki_registration *registration, void *user)
{
    ki_informer *informer = user;
    ki__registration_entry *entry = ki__registration_entry_of(registration);
    ki__mutex_lock(&informer->lock);
    bool mine = !ki__list_is_empty(&entry->link); /* otherwise removed by the stop */
    if (mine) {
        ki__list_remove(&entry->link);
        informer->handler_count -= !entry->observes;
        informer->merged_before +=
            entry->observes ? 0 : ki__registration_stats(registration).merged;
        ki__cond_wake_all(&informer->changed);
    }
    ki__mutex_unlock(&informer->lock);
    if (mine) {
        (void)ki_registration_unref(registration);
    }
}

static void on_synced(void *user)
{
    ki_informer *informer = user;
    ki__mutex_lock(&informer->lock);
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
}

static void on_over(void *user)
{
    ki_informer *informer = user;
    ki__mutex_lock(&informer->lock);
    informer->unfinished--;
    ki__cond_wake_all(&informer->changed);
    ki__mutex_unlock(&informer->lock);
}

static void on_release(void *user)
{
    ki__informer_release(user);
}

/* ---- resyncs ---- */

/* The effective period of a handler if the informer resyncs every `check` milliseconds: 0 is
 * never. */
static uint64_t resync_period(uint64_t wanted, uint64_t check)
{
    if (wanted == 0 || check == 0) {
        return 0;
    }
    return wanted < check ? check : wanted;
}

static void set_resync(ki_informer *informer, ki__registration_entry *entry)
{
    uint64_t period = resync_period(entry->requested_ms, informer->resync_ms);
    entry->resync_ms = period;
    entry->next_resync = ki__engine_now(informer->engine) + period * KI__MS_NS;
}

/* Computes the handler's effective period. Called without the lock, since it logs. */
static void read_resync_period(const ki_informer *informer, ki__registration_entry *entry)
{
    uint64_t wanted = entry->requested_ms == 0                 ? informer->options.resync_ms
                      : entry->requested_ms == KI_RESYNC_NEVER ? 0
                                                               : entry->requested_ms;
    if (wanted != 0 && wanted < RESYNC_MIN_MS) {
        KI__LOG(ki__engine_log(informer->engine), KI_LOG_WARNING, "informer",
                "resync period below 1 s; using 1 s",
                {"name", ki_str_from(informer->options.name)});
        wanted = RESYNC_MIN_MS;
    }
    entry->requested_ms = wanted;
}

/* A handler may request a shorter period than the informer's, as long as that has not started. */
static void plan_resync(ki_informer *informer, ki__registration_entry *entry)
{
    uint64_t wanted = entry->requested_ms;
    bool lower = wanted != 0 && wanted < informer->resync_ms;
    if (lower && informer->state == KI__INFORMER_NEW) {
        informer->resync_ms = wanted; /* no effect on the others, whose periods are not shorter */
    }
    set_resync(informer, entry);
}

bool ki__informer_should_resync(ki_informer *informer)
{
    uint64_t now = ki__engine_now(informer->engine);
    bool any = false;
    ki__mutex_lock(&informer->lock);
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        ki__registration_entry *entry = entry_at(link);
        entry->syncing = entry->resync_ms != 0 && now >= entry->next_resync;
        if (entry->syncing) {
            entry->next_resync = now + entry->resync_ms * KI__MS_NS;
            any = true;
        }
    }
    ki__mutex_unlock(&informer->lock);
    return any;
}

/* ---- adding ---- */

/* Requires the lock: from here on everything is delivered to it. Whether it has to be woken. */
static bool admit(ki_informer *informer, ki_registration *registration)
{
    bool wake = false;
    ki__registration_entry *entry = ki__registration_entry_of(registration);
    plan_resync(informer, entry);
    ki_snapshot *snapshot = ki_store_snapshot(informer->store);
    if (ki_snapshot_count(snapshot) != 0 && !entry->observes) {
        wake = ki__registration_begin(registration, snapshot);
    } else {
        (void)ki_snapshot_unref(snapshot);
    }
    if (informer->synced) {
        wake = ki__registration_owner_synced(registration) || wake;
    }
    (void)ki_registration_ref(registration);
    ki__list_push_back(&informer->handlers, &entry->link);
    informer->handler_count += !entry->observes;
    informer->unfinished++;
    return wake;
}

static int add_handler(ki_informer *informer, const ki_handler *handler,
                       const ki_handler_options *options, bool observes,
                       ki_registration **ret_registration, ki_error *error)
{
    ki__registration_owner owner = {
        .removed = on_removed,
        .synced = on_synced,
        .over = on_over,
        .release = on_release,
        .user = informer,
        .note_bytes = &informer->limit.note_bytes,
    };
    ki_registration *registration = NULL;
    if (ki__engine_is_inherited(informer->engine)) {
        return ki__error_set(error, KI_ERR_STOPPED, "informer: belongs to the parent process");
    }
    int r = ki__registration_new(informer->engine, handler, options, &owner, &registration, error);
    if (r < 0) {
        return r;
    }
    ki__registration_entry_of(registration)->observes = observes;
    read_resync_period(informer, ki__registration_entry_of(registration));
    ki__informer_hold(informer);
    r = ki__registration_start(registration);
    if (r < 0) {
        ki__registration_abandon(registration, false);
        return ki__error_set(error, r, "cannot start a thread for the handler: %s",
                             ki_error_text(r));
    }
    ki__mutex_lock(&informer->lock);
    bool stopped = informer->state >= KI__INFORMER_STOPPING;
    bool wake = !stopped && admit(informer, registration);
    ki__mutex_unlock(&informer->lock);
    if (stopped) {
        ki__registration_abandon(registration, true);
        return ki__error_set(error, KI_ERR_STOPPED, "the informer has stopped");
    }
    if (wake) {
        ki__registration_wake(registration);
    }
    if (ret_registration != NULL) {
        *ret_registration = registration;
    } else {
        (void)ki_registration_unref(registration);
    }
    return 0;
}

int ki_informer_add_handler(ki_informer *informer, const ki_handler *handler,
                            const ki_handler_options *options, ki_registration **ret_registration,
                            ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(handler, error);
    return add_handler(informer, handler, options, false, ret_registration, error);
}

int ki__informer_add_observer(ki_informer *informer, const ki_handler *handler,
                              const ki_handler_options *options, ki_registration **ret_registration,
                              ki_error *error)
{
    return add_handler(informer, handler, options, true, ret_registration, error);
}

int ki_informer_on_change(ki_informer *informer, ki_change_fn fn, void *user,
                          const ki_handler_options *options, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(fn, error);
    const ki_handler handler = {.on_change = fn, .user = user};
    return ki_informer_add_handler(informer, &handler, options, NULL, error);
}

void ki_informer_report_failure(ki_informer *informer, const ki_object *object,
                                const ki_error *error)
{
    if (informer != NULL && error != NULL) {
        ki_str key = ki_str_from(object != NULL ? ki_object_key(object) : NULL);
        ki__engine_report(informer->engine, "handler", informer->options.name, key, error);
    }
}

size_t ki__informer_get_handlers(ki_informer *informer, ki_registration **handlers, size_t room)
{
    size_t count = 0;
    ki__mutex_lock(&informer->lock);
    KI__LIST_FOR_EACH (link, &informer->handlers) {
        if (entry_at(link)->observes) {
            continue;
        }
        if (count < room) {
            handlers[count] = ki_registration_ref(ki__registration_of_entry(entry_at(link)));
        }
        count++;
    }
    ki__mutex_unlock(&informer->lock);
    return count;
}

/* ---- removing ---- */

static ki_registration *take_handler(ki_informer *informer)
{
    ki_registration *registration = NULL;
    ki__mutex_lock(&informer->lock);
    ki__list *link = ki__list_pop_front(&informer->handlers);
    if (link != NULL) {
        registration = ki__registration_of_entry(entry_at(link));
        informer->handler_count -= !entry_at(link)->observes;
        informer->merged_before += ki__registration_stats(registration).merged;
    }
    ki__mutex_unlock(&informer->lock);
    return registration;
}

void ki__informer_stop_handlers(ki_informer *informer)
{
    ki_registration *registration;
    while ((registration = take_handler(informer)) != NULL) {
        ki__registration_stop(registration);
        (void)ki_registration_unref(registration);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: quick and slow, those that filter, and those that do with the informer in the middle of
 * a callback whatever one is allowed to do. */
#include <errno.h>
#include <stdio.h>

#include <kinformer/registration.h>

#include "sim/sim.h"

static void on_dispatch(sim *s, void *arg, uint64_t tag);

bool sim_handler_wants(const sim_handler *handler, const ki_object *object)
{
    return !handler->filtered || sim_has_label_a(object);
}

/* ---- inside callbacks ---- */

static sim_handler *another(sim_handler *handler)
{
    sim_informer *informer = handler->owner;
    sim_handler *other =
        &informer->handlers[sim_draw(informer->s, SIM_CLIENT, (uint32_t)informer->handler_count)];
    return sim_handler_is_active(other) ? other : NULL;
}

static void remove_inside(sim_handler *handler)
{
    sim *s = handler->owner->s;
    handler->removing = true;
    sim_count_up(s, SIM_COUNT_REMOVED_INSIDE);
    if (sim_draw(s, SIM_CLIENT, 2) == 0) {
        ki_registration_remove(handler->registration);
    } else if (ki_registration_remove_wait(handler->registration) != KI_ERR_BUSY) {
        sim_violation(s, "I12", "a handler waits for itself");
    }
}

/* Everything that may be asked, asked. */
static void look_around(sim_handler *handler)
{
    sim_informer *informer = handler->owner;
    ki_health health = KI_OPTIONS_INIT(ki_health);
    char version[1025];
    bool synced = ki_informer_has_synced(informer->informer);
    int waited = ki_informer_wait_for_sync(informer->informer, 0, NULL);
    if (ki_informer_get_health(informer->informer, &health, NULL) < 0 ||
        ki_informer_last_sync_resource_version(informer->informer, version, sizeof(version)) < 0 ||
        (waited == 0 && !synced)) {
        sim_violation(informer->s, "I8", "an informer tells nonsense of itself");
    }
    if (handler->registration != NULL) {
        (void)ki_registration_has_synced(handler->registration);
        int r = ki_registration_dispatch(handler->registration, 0);
        if (r != (handler->on_caller ? KI_ERR_BUSY : KI_ERR_UNSUPPORTED) && r != KI_ERR_STOPPED) {
            sim_violation(informer->s, "I12", "a callback can be entered again: %d", r);
        }
    }
    if (!handler->on_caller && ki_engine_run(informer->s->engine, 1) != 0) {
        sim_violation(informer->s, "I12", "the engine runs inside of itself");
    }
}

static void act(sim_handler *handler)
{
    sim_informer *informer = handler->owner;
    sim *s = informer->s;
    sim_handler *other;
    if (!sim_is_on(s, SIM_REENTRANT) || handler->registration == NULL || informer->stopping) {
        return;
    }
    switch (sim_draw(s, SIM_CLIENT, 24)) {
    case 0:
        remove_inside(handler);
        break;
    case 1:
        other = another(handler);
        if (other != NULL && other != handler) {
            sim_handler_remove(other);
        }
        break;
    case 2:
        sim_count_up(s, SIM_COUNT_ADDED_INSIDE);
        (void)sim_handler_add(informer, true);
        break;
    case 3:
        if (sim_once_in(s, SIM_CLIENT, 4)) {
            sim_count_up(s, SIM_COUNT_STOPPED_INSIDE);
            sim_informer_stop(informer);
        }
        break;
    case 4:
    case 5:
        look_around(handler);
        break;
    default:
        break;
    }
}

static void called(sim_handler *handler, sim_callback callback, const ki_object *old,
                   const ki_object *object, bool flag)
{
    sim_check_callback(handler, callback, old, object, flag);
    handler->inside = true;
    if (handler->feeds) {
        sim_work_add(&handler->owner->work, sim_key_of(ki_object_key(object)));
    }
    act(handler);
    handler->inside = false;
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    called(user, SIM_ADD, NULL, object, is_initial);
}

static void on_update(const ki_object *old, const ki_object *object, void *user)
{
    called(user, SIM_UPDATE, old, object, false);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    called(user, SIM_DELETE, NULL, object, final_state_unknown);
}

static void on_sync(const ki_object *object, void *user)
{
    called(user, SIM_SYNC, object, object, false);
}

static void on_merged(const ki_object *object, uint64_t merged, void *user)
{
    sim_check_merged(user, object, merged);
}

static bool filter(const ki_object *object, void *user)
{
    return sim_handler_wants(user, object);
}

static void on_synced(void *user)
{
    sim_handler *handler = user;
    if (handler->on_synced_called || handler->inside || handler->removed) {
        sim_violation(handler->owner->s, "I8", "handler %d of informer %d receives its sync %s",
                      handler->id, handler->owner->id,
                      handler->on_synced_called ? "twice"
                      : handler->inside         ? "in a callback"
                                                : "after its end");
    }
    handler->on_synced_called = true;
}

static void on_destroy(void *user)
{
    sim_handler *handler = user;
    if (handler->inside) {
        sim_violation(handler->owner->s, "I12", "a handler is destroyed while it runs");
    }
    handler->destroyed++;
}

/* ---- delivery by the program ---- */

static void dispatch_later(sim_handler *handler)
{
    sim *s = handler->owner->s;
    if (handler->waking) {
        return;
    }
    handler->waking = true;
    uint64_t delay = handler->sleeps ? sim_draw_skewed(s, SIM_CLIENT, SIM_SECOND, 10 * SIM_MINUTE)
                                     : sim_draw_skewed(s, SIM_CLIENT, 0, SIM_SECOND);
    sim_after(s, delay, on_dispatch, handler, 0);
}

static void on_wake(void *user)
{
    dispatch_later(user);
}

static void dispatch(sim_handler *handler, size_t max)
{
    if (handler->registration == NULL) {
        return;
    }
    int r = ki_registration_dispatch(handler->registration, max);
    if (r < 0 && r != KI_ERR_STOPPED) {
        sim_violation(handler->owner->s, "I11", "dispatching gives %s", ki_error_name(r));
    }
    if (max != 0 && r == (int)max) {
        dispatch_later(handler);
    }
}

static void on_dispatch(sim *s, void *arg, uint64_t tag)
{
    sim_handler *handler = arg;
    (void)tag;
    if (!handler->waking) {
        return; /* was dispatched otherwise */
    }
    handler->waking = false;
    dispatch(handler, sim_draw(s, SIM_CLIENT, 4));
}

void sim_handler_wake(sim_handler *handler)
{
    if (handler->on_caller) {
        handler->sleeps = false;
        handler->waking = false;
        dispatch(handler, 0);
    }
}

/* ---- coming and going ---- */

static void draw_options(sim_handler *handler, ki_handler_options *options)
{
    sim *s = handler->owner->s;
    static const size_t limits[] = {0, 0, 1, 2, 5};
    handler->feeds = handler->id == 0 && handler->owner->work.queue != NULL;
    handler->on_caller = sim_once_in(s, SIM_CLIENT, 3) || s->faults[SIM_SLOW];
    handler->sleeps = s->faults[SIM_SLOW] && sim_draw(s, SIM_CLIENT, 2) == 0;
    handler->sleeps = handler->sleeps && !handler->feeds;
    handler->filtered = sim_once_in(s, SIM_CLIENT, 5) && !handler->feeds;
    handler->wants_sync = sim_draw(s, SIM_CLIENT, 2) == 0;
    handler->unchanged = sim_once_in(s, SIM_CLIENT, 8);
    options->delivery = handler->on_caller ? KI_DELIVERY_CALLER : KI_DELIVERY_LOOP;
    options->queue_limit = limits[sim_draw(s, SIM_CLIENT, 5)];
    handler->limit = options->queue_limit != 0 ? options->queue_limit : 1024;
    options->deliver_unchanged = handler->unchanged;
    options->on_synced = on_synced;
    options->wake = handler->on_caller ? on_wake : NULL;
    options->user = handler;
    if (sim_once_in(s, SIM_CLIENT, 4)) {
        options->resync_ms = sim_draw(s, SIM_CLIENT, 2) == 0 ? KI_RESYNC_NEVER : 4000;
    }
    handler->never = options->resync_ms == KI_RESYNC_NEVER || handler->owner->resync_ms == 0;
}

/* What it must have received before it has synced. */
static void note_initial(sim_handler *handler)
{
    sim_informer *informer = handler->owner;
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer->informer));
    handler->base_rv = sim_rv_text(ki_snapshot_resource_version(snapshot));
    if (ki_snapshot_count(snapshot) != 0 || ki_informer_has_synced(informer->informer)) {
        sim_handler_note_initial(handler, snapshot);
    }
    (void)ki_snapshot_unref(snapshot);
}

void sim_handler_note_initial(sim_handler *handler, const ki_snapshot *snapshot)
{
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        int key = sim_key_of(ki_object_key(object));
        /* A list by keys cannot be distinguished from what came right after it. */
        const sim_informer *owner = handler->owner;
        bool fresh = !owner->s->byzantine && !owner->stale_start;
        bool listed =
            !owner->deltas || owner->synced || (fresh && sim_rv(object) <= owner->head_at_start);
        handler->initial[key] = listed && sim_handler_wants(handler, object);
    }
    handler->has_initial = true;
}

sim_handler *sim_handler_add(sim_informer *informer, bool late)
{
    sim *s = informer->s;
    if (informer->handler_count == SIM_HANDLERS || informer->informer == NULL) {
        return NULL;
    }
    sim_handler *handler = &informer->handlers[informer->handler_count];
    *handler = (sim_handler){.owner = informer, .id = informer->handler_count, .late = late};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    draw_options(handler, &options);
    ki_handler table = {
        .on_add = on_add,
        .on_update = on_update,
        .on_delete = on_delete,
        .on_sync = handler->wants_sync ? on_sync : NULL,
        .on_merged = on_merged,
        .filter = handler->filtered ? filter : NULL,
        .user = handler,
        .destroy = on_destroy,
    };
    informer->handler_count++; /* the wake may come at once */
    int r =
        ki_informer_add_handler(informer->informer, &table, &options, &handler->registration, NULL);
    if (r < 0) {
        informer->handler_count--;
        if (r != -ENOMEM && r != KI_ERR_STOPPED) {
            sim_violation(s, "setup", "a handler cannot be added: %s", ki_error_name(r));
        }
        return NULL;
    }
    sim_trace(s, "informer %d: handler %d comes%s%s%s limit %zu", informer->id, handler->id,
              handler->on_caller ? " caller" : "", handler->filtered ? " filtered" : "",
              handler->sleeps ? " sleeps" : "", handler->limit);
    note_initial(handler);
    sim_count_up(s, late ? SIM_COUNT_LATE_HANDLERS : SIM_COUNT_HANDLERS);
    return handler;
}

void sim_handler_remove(sim_handler *handler)
{
    sim *s = handler->owner->s;
    sim_trace(s, "informer %d: handler %d goes", handler->owner->id, handler->id);
    sim_count_up(s, SIM_COUNT_REMOVED);
    if (handler->inside) { /* called by another that it called */
        handler->removing = true;
        ki_registration_remove(handler->registration);
    } else if (sim_draw(s, SIM_CLIENT, 2) == 0) {
        ki_registration_remove(handler->registration);
        handler->removed = true;
    } else {
        if (ki_registration_remove_wait(handler->registration) < 0) {
            sim_violation(s, "I12", "a handler that is not running cannot be waited for");
        }
        handler->removed = true;
    }
}

void sim_handlers_done(sim_informer *informer)
{
    for (int i = 0; i < informer->handler_count; i++) {
        sim_handler *handler = &informer->handlers[i];
        handler->registration = ki_registration_unref(handler->registration);
        for (int key = 0; key < SIM_KEYS; key++) {
            handler->view[key] = ki_object_unref(handler->view[key]);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that checks what it receives (docs/reliability.md): versions of an object rise (I1), no
 * event comes twice (I5), deletes are not lost (I4, by comparison at the end), `old` is what was
 * received last (I7), the store is at least as new (I6). Calls come one at a time, none after
 * ki_registration_remove_wait() or `destroy`, and `destroy` comes once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/registration.h>

#include "stress.h"

/* The last that was received of one object. The version stays when the object goes. */
typedef struct seen {
    bool present;
    bool passes;
    uint64_t version;
    char uid[64];
} seen;

typedef enum probe_life {
    PROBE_LIVE,
    PROBE_REMOVE_INSIDE, /* its next callback removes it */
    PROBE_REMOVED,       /* a callback that was decided on before may still begin */
    PROBE_SILENT,        /* no callback may begin */
    PROBE_DESTROYED,
} probe_life;

struct probe {
    world *world;
    ki_informer *informer;
    bool filtered;
    bool slow;
    bool caller; /* delivery is KI_DELIVERY_CALLER */
    dice dice;   /* of the callbacks, which come one at a time */
    atomic_int refs;
    atomic_int inside;
    atomic_int life;
    atomic_bool removed; /* by anyone: what it received need not be complete */
    atomic_bool synced;
    _Atomic(ki_registration *) registration; /* NULL until ki_informer_add_handler() returned */

    pthread_mutex_t lock; /* of `seen` */
    seen seen[OBJECTS];

    probe *next; /* in the ready list, under its lock */
    bool ready;
};

void probe_unref(probe *p)
{
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1) {
        return;
    }
    (void)ki_registration_unref(atomic_load(&p->registration));
    (void)ki_informer_unref(p->informer);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- inside callbacks ---- */

static void enter(probe *p, const char *what)
{
    if (atomic_fetch_add(&p->inside, 1) != 0) {
        violation("%s: two callbacks of one handler at a time", what);
    }
    int life = atomic_load(&p->life);
    if (life >= PROBE_SILENT) {
        violation("%s: callback after %s", what,
                  life == PROBE_DESTROYED ? "destroy" : "ki_registration_remove_wait()");
    }
    atomic_fetch_add(&p->world->events, 1);
}

static void check_store(probe *p, const ki_object *object)
{
    ki_object *stored = ki_store_get(ki_informer_store(p->informer), ki_object_key(object));
    if (stored != NULL && version_of(stored) < version_of(object)) {
        violation("I6: %s: the store has version %llu, a handler received %llu",
                  ki_object_key(object), (unsigned long long)version_of(stored),
                  (unsigned long long)version_of(object));
    }
    (void)ki_object_unref(stored);
}

static void leave(probe *p, const ki_object *object)
{
    int expected = PROBE_REMOVE_INSIDE;
    ki_registration *registration = atomic_load(&p->registration);
    if (object != NULL && roll(&p->dice, 4) == 0) {
        check_store(p, object);
    }
    if (p->slow) {
        pause_ms(roll(&p->dice, 4));
    }
    if (object != NULL && roll(&p->dice, 8) == 0) {
        work_act(p->world->work, &p->dice);
    }
    if (p->caller && registration != NULL && roll(&p->dice, 16) == 0 &&
        ki_registration_dispatch(registration, 1) >= 0) {
        violation("a dispatch inside a callback was accepted");
    }
    if (registration != NULL &&
        atomic_compare_exchange_strong(&p->life, &expected, PROBE_REMOVED)) {
        atomic_store(&p->removed, true);
        if (roll(&p->dice, 2) == 0) {
            ki_registration_remove(registration);
        } else if (ki_registration_remove_wait(registration) != KI_ERR_BUSY) {
            violation("ki_registration_remove_wait() inside a callback did not return BUSY");
        }
    }
    atomic_fetch_sub(&p->inside, 1);
}

static seen *look_up(probe *p, const ki_object *object)
{
    pthread_mutex_lock(&p->lock);
    return &p->seen[slot_of(ki_object_key(object))];
}

static void set_seen(probe *p, seen *s, const ki_object *object, bool present)
{
    s->present = present;
    s->version = version_of(object);
    s->passes = passes_filter(object);
    (void)snprintf(s->uid, sizeof(s->uid), "%s", ki_object_uid(object));
    pthread_mutex_unlock(&p->lock);
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    probe *p = user;
    (void)is_initial;
    enter(p, "add");
    seen *s = look_up(p, object);
    if (s->present) {
        violation("I5: add of %s, which was added before", ki_object_key(object));
    }
    if (version_of(object) <= s->version) {
        violation("I1: add of %s at version %llu after %llu", ki_object_key(object),
                  (unsigned long long)version_of(object), (unsigned long long)s->version);
    }
    set_seen(p, s, object, true);
    leave(p, object);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    probe *p = user;
    enter(p, "update");
    seen *s = look_up(p, object);
    if (!s->present || version_of(old_object) != s->version ||
        strcmp(ki_object_uid(old_object), s->uid) != 0) {
        violation("I7: update of %s from version %llu; received last: %llu%s",
                  ki_object_key(object), (unsigned long long)version_of(old_object),
                  (unsigned long long)s->version, s->present ? "" : " (deleted)");
    }
    if (version_of(object) <= s->version) {
        violation("I1: update of %s to version %llu after %llu", ki_object_key(object),
                  (unsigned long long)version_of(object), (unsigned long long)s->version);
    }
    if (strcmp(ki_object_uid(object), s->uid) != 0) {
        violation("update of %s to another uid", ki_object_key(object));
    }
    set_seen(p, s, object, true);
    leave(p, object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    probe *p = user;
    enter(p, "delete");
    seen *s = look_up(p, object);
    if (!s->present) {
        violation("I5: delete of %s, which was not added%s", ki_object_key(object),
                  final_state_unknown ? " (final state unknown)" : "");
    }
    if (version_of(object) < s->version || strcmp(ki_object_uid(object), s->uid) != 0) {
        violation("I1: delete of %s at version %llu, uid %s after %llu, %s", ki_object_key(object),
                  (unsigned long long)version_of(object), ki_object_uid(object),
                  (unsigned long long)s->version, s->uid);
    }
    set_seen(p, s, object, false);
    leave(p, NULL);
}

static void on_sync(const ki_object *object, void *user)
{
    probe *p = user;
    enter(p, "resync");
    seen *s = look_up(p, object);
    if (!s->present || s->version != version_of(object)) {
        violation("resync of %s at version %llu; received last: %llu", ki_object_key(object),
                  (unsigned long long)version_of(object), (unsigned long long)s->version);
    }
    pthread_mutex_unlock(&p->lock);
    leave(p, NULL);
}

static bool filter(const ki_object *object, void *user)
{
    (void)user;
    return passes_filter(object);
}

static void on_synced(void *user)
{
    probe *p = user;
    enter(p, "synced");
    if (atomic_exchange(&p->synced, true)) {
        violation("on_synced was called twice");
    }
    leave(p, NULL);
}

static void on_destroy(void *user)
{
    probe *p = user;
    if (atomic_load(&p->inside) != 0) {
        violation("destroy while a callback runs");
    }
    if (atomic_exchange(&p->life, PROBE_DESTROYED) == PROBE_DESTROYED) {
        violation("destroy was called twice");
    }
    atomic_fetch_sub(&p->world->probes, 1);
    probe_unref(p);
}

static void on_wake(void *user)
{
    probe *p = user;
    ready_push(&p->world->ready, p);
}

/* ---- from outside ---- */

static ki_handler_options random_options(probe *p, dice *d)
{
    static const ki_delivery deliveries[] = {KI_DELIVERY_DEFAULT, KI_DELIVERY_LOOP,
                                             KI_DELIVERY_CALLER, KI_DELIVERY_THREAD};
    static const size_t limits[] = {0, 1, 2, 16, 1024};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.name = "probe";
    options.delivery = deliveries[roll(d, 4)];
    options.queue_limit = limits[roll(d, 5)];
    options.resync_ms = roll(d, 2) == 0 ? 0 : KI_RESYNC_NEVER;
    options.on_synced = on_synced;
    options.wake = on_wake;
    options.user = p;
    return options;
}

static probe *allocate(world *w, ki_informer *informer, dice *d)
{
    probe *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        violation("out of memory");
    }
    p->world = w;
    p->informer = ki_informer_ref(informer);
    p->filtered = roll(d, 4) == 0;
    p->slow = roll(d, 8) == 0;
    p->dice.state = ((uint64_t)roll(d, UINT32_MAX) << 1) | 1;
    pthread_mutex_init(&p->lock, NULL);
    atomic_init(&p->refs, 2); /* the caller's, and one until `destroy` */
    return p;
}

probe *probe_new(world *w, ki_informer *informer, dice *d)
{
    ki_error error = KI_ERROR_INIT;
    ki_registration *registration = NULL;
    probe *p = allocate(w, informer, d);
    ki_handler_options options = random_options(p, d);
    p->caller = options.delivery == KI_DELIVERY_CALLER;
    p->slow = p->slow && options.delivery != KI_DELIVERY_LOOP;
    ki_handler handler = {.on_add = on_add,
                          .on_update = on_update,
                          .on_delete = on_delete,
                          .on_sync = on_sync,
                          .filter = p->filtered ? filter : NULL,
                          .user = p,
                          .destroy = on_destroy};
    atomic_fetch_add(&w->probes, 1);
    int r = ki_informer_add_handler(informer, &handler, &options, &registration, &error);
    if (r < 0) {
        if (r != KI_ERR_STOPPED && r != KI_ERR_UNSUPPORTED) {
            must(r, &error, "ki_informer_add_handler");
        }
        atomic_fetch_sub(&w->probes, 1);
        probe_unref(p);
        probe_unref(p);
        return NULL;
    }
    atomic_store(&p->registration, registration);
    return p;
}

bool probe_is_removed(probe *p)
{
    return atomic_load(&p->removed);
}

void probe_remove_inside(probe *p)
{
    int expected = PROBE_LIVE;
    (void)atomic_compare_exchange_strong(&p->life, &expected, PROBE_REMOVE_INSIDE);
}

void probe_remove(probe *p, dice *d)
{
    ki_registration *registration = atomic_load(&p->registration);
    atomic_store(&p->removed, true);
    if (roll(d, 2) == 0) {
        ki_registration_remove(registration);
        return;
    }
    int r = ki_registration_remove_wait(registration);
    if (r < 0) {
        violation("ki_registration_remove_wait: %s", ki_error_name(r));
    }
    int life = atomic_load(&p->life);
    while (life < PROBE_SILENT && !atomic_compare_exchange_weak(&p->life, &life, PROBE_SILENT)) {
    }
}

void probe_dispatch(probe *p, dice *d)
{
    ki_registration *registration = atomic_load(&p->registration);
    if (registration == NULL) { /* woken before ki_informer_add_handler() returned */
        pause_ms(1);
        ready_push(&p->world->ready, p);
        return;
    }
    int r = ki_registration_dispatch(registration, roll(d, 4));
    if (r < 0 && r != KI_ERR_BUSY && r != KI_ERR_STOPPED) {
        violation("ki_registration_dispatch: %s", ki_error_name(r));
    }
}

bool probe_equals(probe *p, const truth *objects, bool explain)
{
    bool equal = true;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < OBJECTS && (equal || explain); i++) {
        const seen *s = &p->seen[i];
        bool expected = objects[i].version != 0 && (!p->filtered || objects[i].passes);
        if (s->present == expected && (!expected || s->version == objects[i].version)) {
            continue;
        }
        equal = false;
        if (explain) {
            fprintf(stderr, "object %zu: received %s version %llu, server has %llu%s\n", i,
                    s->present ? "present" : "absent", (unsigned long long)s->version,
                    (unsigned long long)objects[i].version, expected ? "" : " (filtered out)");
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (!equal && explain) {
        ki_registration_stats stats = KI_OPTIONS_INIT(ki_registration_stats);
        ki_registration_get_stats(atomic_load(&p->registration), &stats);
        fprintf(stderr, "handler: delivered %llu, merged %llu, waiting %zu, delivery %s\n",
                (unsigned long long)stats.delivered, (unsigned long long)stats.merged,
                stats.waiting, p->caller ? "by the caller" : "by the library");
    }
    return equal;
}

/* ---- the ready list ---- */

void ready_push(ready_list *list, probe *p)
{
    pthread_mutex_lock(&list->lock);
    if (!p->ready && !list->closed) {
        p->ready = true;
        atomic_fetch_add(&p->refs, 1);
        p->next = list->first;
        list->first = p;
        pthread_cond_signal(&list->changed);
    }
    pthread_mutex_unlock(&list->lock);
}

probe *ready_pop(ready_list *list)
{
    pthread_mutex_lock(&list->lock);
    while (list->first == NULL && !list->closed) {
        pthread_cond_wait(&list->changed, &list->lock);
    }
    probe *p = list->first;
    if (p != NULL) {
        list->first = p->next;
        p->ready = false;
    }
    pthread_mutex_unlock(&list->lock);
    return p;
}

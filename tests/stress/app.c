/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses the library in one of the ways that there are: the loop on a thread of the
 * client, of its own, of the program, or dispatched piece by piece. Any thread makes any call on
 * it, and the last one that releases it ends it. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/call.h>
#include <kinformer/health.h>
#include <kinformer/index.h>

#include "stress.h"

enum { CALLS = 16 };

typedef enum loop_mode {
    LOOP_OF_CLIENT,
    LOOP_STARTED,    /* ki_loop_start() */
    LOOP_RUN,        /* ki_loop_run() on a thread of the program */
    LOOP_DISPATCHED, /* ki_loop_dispatch() when its descriptor is readable */
    LOOP_MODES
} loop_mode;

/* What becomes of the calls under way when the app ends. */
typedef enum ending {
    CALLS_CANCELLED, /* and the loop is stopped at once */
    CALLS_RELEASED,  /* the stop ends them, or they end by themselves */
    CALLS_HELD,      /* until the loop was stopped */
    ENDINGS
} ending;

/* A request that was started. */
typedef struct question {
    struct question *next;
    ki_call *call; /* NULL: released */
    bool cancelled;
    atomic_int dones;
} question;

struct app {
    world *world;
    atomic_int refs;
    loop_mode mode;
    ending ending;
    bool stops;    /* its loop ends by ki_loop_stop() while it runs */
    ki_loop *loop; /* NULL with LOOP_OF_CLIENT */
    pthread_t runner;
    atomic_bool ends;
    ki_client *client;
    ki_factory *factory;
    atomic_uint indexes; /* for their names */

    pthread_mutex_t lock; /* of what follows */
    ki_informer *informers[RESOURCES];
    struct {
        probe *probe;
        unsigned int resource;
        ki_informer *informer; /* borrowed, to compare with */
    } probes[PROBES];
    question *calls[CALLS]; /* some that were started */
    question *questions;    /* all that were */
};

/* ---- the loop ---- */

static void *run_loop(void *argument)
{
    app *a = argument;
    if (a->mode == LOOP_RUN) {
        int r = ki_loop_run(a->loop);
        if (r < 0) {
            violation("ki_loop_run: %s", ki_error_name(r));
        }
        return NULL;
    }
    while (!atomic_load(&a->ends)) {
        struct pollfd wait = {.fd = ki_loop_fd(a->loop), .events = POLLIN};
        (void)poll(&wait, 1, 20);
        int r = ki_loop_dispatch(a->loop);
        if (r < 0 && !(r == KI_ERR_STOPPED && atomic_load(&a->ends))) {
            violation("ki_loop_dispatch: %s", ki_error_name(r));
        }
    }
    return NULL;
}

static void begin_loop(app *a, dice *d)
{
    ki_error error = KI_ERROR_INIT;
    a->mode = (loop_mode)roll(d, LOOP_MODES);
    a->ending = (ending)roll(d, ENDINGS);
    a->stops = roll(d, 2) == 0;
    if (a->mode == LOOP_OF_CLIENT) {
        return;
    }
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.no_threads = a->mode == LOOP_DISPATCHED && roll(d, 2) == 0;
    must(ki_loop_new(&options, &a->loop, &error), &error, "ki_loop_new");
    if (a->mode == LOOP_STARTED) {
        must(ki_loop_start(a->loop, &error), &error, "ki_loop_start");
    } else if (pthread_create(&a->runner, NULL, run_loop, a) != 0) {
        violation("no thread for a loop");
    }
}

static void end_loop(app *a)
{
    if (a->mode == LOOP_OF_CLIENT) {
        return;
    }
    bool dispatched = a->mode == LOOP_DISPATCHED;
    atomic_store(&a->ends, true);
    if (dispatched && !a->stops) {
        pthread_join(a->runner, NULL); /* so nobody runs it when it is stopped */
    }
    ki_loop_stop(a->loop);
    if (a->mode == LOOP_RUN || (dispatched && a->stops)) {
        pthread_join(a->runner, NULL);
    }
    int r = ki_loop_join(a->loop);
    if (r < 0) {
        violation("ki_loop_join: %s", ki_error_name(r));
    }
}

/* ---- beginning and ending ---- */

/* An informer with what varies: pages or streams, resync. */
static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    app *a = user;
    (void)resource;
    options->no_streaming = a->mode == LOOP_RUN;
    options->page_size = a->mode == LOOP_RUN ? 7 : 0;
    options->queue = a->mode == LOOP_STARTED ? KI_QUEUE_DELTA_FIFO : KI_QUEUE_FIFO;
    options->check_mutations = a->mode == LOOP_DISPATCHED;
}

static void begin_client(app *a)
{
    ki_error error = KI_ERROR_INIT;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = a->world->config;
    options.loop = a->loop;
    options.qps = -1;
    options.request_timeout_ms = 5000;
    must(ki_client_new(&options, &a->client, &error), &error, "ki_client_new");
    ki_factory_options factory = KI_OPTIONS_INIT(ki_factory_options);
    factory.resync_ms = 1000;
    factory.configure = configure;
    factory.user = a;
    must(ki_client_factory(a->client, &factory, &a->factory, &error), &error, "ki_client_factory");
}

/* The informer of a resource, with the one use of it that the app has. */
static ki_informer *get_informer(app *a, unsigned int resource)
{
    ki_error error = KI_ERROR_INIT;
    ki_informer *informer = NULL;
    must(ki_factory_informer(a->factory, a->world->resources[resource], NULL, &informer, &error),
         &error, "ki_factory_informer");
    must(ki_factory_start(a->factory, &error), &error, "ki_factory_start");
    return informer;
}

app *app_new(world *w, dice *d)
{
    app *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        violation("out of memory");
    }
    a->world = w;
    atomic_init(&a->refs, 1);
    pthread_mutex_init(&a->lock, NULL);
    begin_loop(a, d);
    begin_client(a);
    for (unsigned int i = 0; i < RESOURCES; i++) {
        a->informers[i] = get_informer(a, i);
    }
    return a;
}

app *app_ref(app *a)
{
    atomic_fetch_add(&a->refs, 1);
    return a;
}

static void release_request(question *q, bool cancel)
{
    if (q == NULL) {
        return;
    }
    if (cancel) {
        q->cancelled = true;
        ki_call_cancel(q->call);
    }
    q->call = ki_call_unref(q->call);
}

static void release_requests(app *a, bool cancel)
{
    for (size_t i = 0; i < CALLS; i++) {
        release_request(a->calls[i], cancel);
        a->calls[i] = NULL;
    }
}

/* After the loop has ended: each was answered, once, unless it was cancelled. */
static void check_requests(app *a)
{
    while (a->questions != NULL) {
        question *q = a->questions;
        int dones = atomic_load(&q->dones);
        if (dones > 1 || (dones == 0 && !q->cancelled)) {
            violation("a request was answered %d times (loop mode %d, ending %d)", dones,
                      (int)a->mode, (int)a->ending);
        }
        a->questions = q->next;
        free(q);
    }
}

static void wait_for_stop(app *a)
{
    uint64_t end = now_ms() + PATIENCE_MS;
    while (!ki_factory_is_stopped(a->factory)) {
        if (now_ms() > end) {
            violation("L3: a factory does not stop (loop mode %d)", (int)a->mode);
        }
        pause_ms(1);
    }
}

void app_unref(app *a)
{
    if (a == NULL || atomic_fetch_sub(&a->refs, 1) != 1) {
        return;
    }
    ki_factory_stop(a->factory);
    for (size_t i = 0; i < PROBES; i++) {
        probe_unref(a->probes[i].probe);
    }
    wait_for_stop(a);
    (void)ki_factory_unref(a->factory);
    bool own = a->mode == LOOP_OF_CLIENT;
    if (own && a->stops) {
        ki_loop_stop(ki_client_loop(a->client));
    }
    if (a->ending != CALLS_HELD || (own && !a->stops)) { /* else the loop stops first */
        release_requests(a, a->ending == CALLS_CANCELLED);
    }
    if (own) {
        (void)ki_client_close(a->client);
    } else {
        (void)ki_client_unref(a->client);
    }
    end_loop(a);
    for (size_t i = 0; i < CALLS; i++) {
        if (a->calls[i] != NULL) {
            ki_call_cancel(a->calls[i]->call); /* too late */
        }
    }
    release_requests(a, false);
    check_requests(a);
    (void)ki_loop_unref(a->loop);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* ---- calls ---- */

static ki_informer *take_informer(app *a, unsigned int resource)
{
    pthread_mutex_lock(&a->lock);
    ki_informer *informer = ki_informer_ref(a->informers[resource]);
    pthread_mutex_unlock(&a->lock);
    return informer;
}

static void add_probe(app *a, unsigned int resource, dice *d)
{
    size_t place = roll(d, PROBES);
    ki_informer *informer = take_informer(a, resource);
    probe *p = probe_new(a->world, informer, d);
    probe *old = p;
    pthread_mutex_lock(&a->lock);
    bool current = a->informers[resource] == informer; /* else it was stopped meanwhile */
    if (p != NULL && current && a->probes[place].probe == NULL) {
        a->probes[place].probe = p;
        a->probes[place].resource = resource;
        a->probes[place].informer = informer;
        old = NULL;
    }
    pthread_mutex_unlock(&a->lock);
    if (old != NULL) { /* its handler stays until it is removed, or the informer stops */
        probe_remove(old, d);
        probe_unref(old);
    }
    (void)ki_informer_unref(informer);
}

static void remove_probe(app *a, dice *d)
{
    size_t place = roll(d, PROBES);
    bool inside = roll(d, 3) == 0;
    pthread_mutex_lock(&a->lock);
    probe *p = a->probes[place].probe;
    if (p != NULL && inside) {
        probe_remove_inside(p);
    } else {
        a->probes[place].probe = NULL;
    }
    pthread_mutex_unlock(&a->lock);
    if (p != NULL && !inside) {
        probe_remove(p, d);
        probe_unref(p);
    }
}

static void read_snapshot(app *a, unsigned int resource, dice *d)
{
    ki_informer *informer = take_informer(a, resource);
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    size_t count = 0;
    size_t by_namespace = 0;
    for (const ki_object *o; ki_snapshot_iter_next(&iter, &o) > 0; count++) {
        (void)slot_of(ki_object_key(o));
    }
    for (unsigned int i = 0; i < NAMESPACES; i++) {
        char name[8];
        size_t found = 0;
        (void)snprintf(name, sizeof(name), "ns%u", i);
        if (ki_snapshot_count_by_index(snapshot, KI_INDEX_NAMESPACE, ki_str_from(name), &found) ==
            0) {
            by_namespace += found;
        }
    }
    if (count != ki_snapshot_count(snapshot) || by_namespace != count) {
        violation("I9: a snapshot of %zu objects has %zu, and %zu by namespace",
                  ki_snapshot_count(snapshot), count, by_namespace);
    }
    if (roll(d, 4) == 0) { /* another thread releases it, after the store perhaps */
        pthread_mutex_lock(&a->world->lock);
        ki_snapshot *held = a->world->held;
        a->world->held = snapshot;
        pthread_mutex_unlock(&a->world->lock);
        snapshot = held;
    }
    (void)ki_snapshot_unref(snapshot);
    (void)ki_informer_unref(informer);
}

static void add_index(app *a, unsigned int resource)
{
    char name[16];
    ki_index index = {0};
    ki_error error = KI_ERROR_INIT;
    unsigned int number = atomic_fetch_add(&a->indexes, 1);
    if (number >= 6) {
        return;
    }
    ki_informer *informer = take_informer(a, resource);
    (void)snprintf(name, sizeof(name), "odd%u", number);
    must(ki_index_by_label(name, "odd", NULL, &index), &error, "ki_index_by_label");
    int r = ki_informer_add_indexes(informer, (const ki_index *[]){&index}, 1, &error);
    if (r < 0) {
        if (r != KI_ERR_STOPPED && r != KI_ERR_BUSY) {
            must(r, &error, "ki_informer_add_indexes");
        }
        ki_index_done(&index);
    }
    (void)ki_informer_unref(informer);
}

/* Releases the informer and gets it again: a new one, unless another thread uses it. Handlers
 * of the old one receive nothing more. */
static void restart_informer(app *a, unsigned int resource)
{
    probe *orphans[PROBES] = {0};
    pthread_mutex_lock(&a->lock);
    ki_informer *old = a->informers[resource];
    for (size_t i = 0; i < PROBES; i++) {
        if (a->probes[i].probe != NULL && a->probes[i].informer == old) {
            orphans[i] = a->probes[i].probe;
            a->probes[i].probe = NULL;
        }
    }
    ki_factory_release(a->factory, old);
    a->informers[resource] = get_informer(a, resource);
    pthread_mutex_unlock(&a->lock);
    for (size_t i = 0; i < PROBES; i++) {
        probe_unref(orphans[i]);
    }
}

/* A request, and what it borrows. */
typedef struct asking {
    ki_request request;
    char name_space[24];
    char name[24];
    ki_object *object;
} asking;

static void random_request(app *a, unsigned int resource, dice *d, asking *ask)
{
    size_t slot = roll(d, OBJECTS);
    ki_request *request = &ask->request;
    *request = KI_OPTIONS_INIT(ki_request);
    request->resource = a->world->resources[resource];
    (void)snprintf(ask->name_space, sizeof(ask->name_space), "ns%zu", slot / NAMES);
    (void)snprintf(ask->name, sizeof(ask->name), "o%zu", slot % NAMES);
    request->name_space = ask->name_space;
    request->name = ask->name;
    request->timeout_ms = 1 + roll(d, 3000);
    request->no_retry = roll(d, 2) == 0;
    static const ki_verb verbs[] = {KI_VERB_GET, KI_VERB_LIST, KI_VERB_CREATE, KI_VERB_DELETE};
    request->verb = verbs[roll(d, 4)];
    if (request->verb == KI_VERB_CREATE) {
        request->object = ask->object = make_object(d, resource, slot);
    }
    if (request->verb == KI_VERB_CREATE || request->verb == KI_VERB_LIST) {
        request->name = NULL;
    }
}

static void do_request(app *a, unsigned int resource, dice *d)
{
    asking ask = {0};
    ki_response answer = {0};
    ki_error error = KI_ERROR_INIT;
    random_request(a, resource, d, &ask);
    int r = ki_client_do(a->client, &ask.request, &answer, &error);
    if (r == -EINVAL || r == -E2BIG || (r < 0 && error.message[0] == '\0')) {
        violation("ki_client_do: %s: \"%s\"", ki_error_name(r), error.message);
    }
    ki_response_done(&answer);
    (void)ki_object_unref(ask.object);
}

static void count_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    question *q = user;
    (void)call;
    (void)answer;
    (void)error;
    if (atomic_fetch_add(&q->dones, 1) != 0) {
        violation("a request was answered twice");
    }
}

static void start_request(app *a, unsigned int resource, dice *d)
{
    asking ask = {0};
    ki_error error = KI_ERROR_INIT;
    size_t place = roll(d, CALLS);
    bool cancel = roll(d, 2) == 0;
    question *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        violation("out of memory");
    }
    random_request(a, resource, d, &ask);
    int r = ki_client_call(a->client, &ask.request, count_done, q, &q->call, &error);
    if (r < 0) {
        violation("ki_client_call: %s: %s", ki_error_name(r), error.message);
    }
    pthread_mutex_lock(&a->lock);
    question *old = a->calls[place];
    a->calls[place] = q;
    q->next = a->questions;
    a->questions = q;
    pthread_mutex_unlock(&a->lock);
    release_request(old, cancel);
    (void)ki_object_unref(ask.object);
}

static void look(app *a, unsigned int resource, dice *d)
{
    ki_error error = KI_ERROR_INIT;
    ki_informer *informer = take_informer(a, resource);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    must(ki_informer_get_health(informer, &health, NULL), &error, "ki_informer_get_health");
    if (roll(d, 4) == 0) {
        int r = ki_factory_wait_for_sync(a->factory, roll(d, 30), &error);
        if (r < 0 && r != -ETIMEDOUT && r != KI_ERR_STOPPED) {
            must(r, &error, "ki_factory_wait_for_sync");
        }
    }
    (void)ki_informer_unref(informer);
}

void app_act(app *a, dice *d)
{
    unsigned int resource = roll(d, RESOURCES);
    uint32_t what = roll(d, 100);
    atomic_fetch_add(&a->world->calls, 1);
    if (what < 20) {
        add_probe(a, resource, d);
    } else if (what < 32) {
        remove_probe(a, d);
    } else if (what < 52) {
        read_snapshot(a, resource, d);
    } else if (what < 66) {
        do_request(a, resource, d);
    } else if (what < 80) {
        start_request(a, resource, d);
    } else if (what < 96) {
        look(a, resource, d);
    } else if (what < 98) {
        add_index(a, resource);
    } else {
        restart_informer(a, resource);
    }
}

/* ---- the end of a round ---- */

static bool store_equals(ki_informer *informer, const truth *objects, bool explain)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    uint64_t stored[OBJECTS] = {0};
    bool equal = true;
    for (const ki_object *o; ki_snapshot_iter_next(&iter, &o) > 0;) {
        stored[slot_of(ki_object_key(o))] = version_of(o);
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        equal = equal && stored[i] == objects[i].version;
        if (explain && stored[i] != objects[i].version) {
            fprintf(stderr, "object %zu: version %llu in the cache, %llu on the server\n", i,
                    (unsigned long long)stored[i], (unsigned long long)objects[i].version);
        }
    }
    if (explain) {
        fprintf(stderr, "cache at resource version %s\n", ki_snapshot_resource_version(snapshot));
    }
    (void)ki_snapshot_unref(snapshot);
    return equal;
}

static void explain_informer(ki_informer *informer)
{
    ki_error reason = KI_ERROR_INIT;
    ki_health health = KI_OPTIONS_INIT(ki_health);
    if (ki_informer_get_health(informer, &health, &reason) == 0) {
        fprintf(stderr, "informer %s: state %s, synced %d, objects %zu, queued %zu, reason %s\n",
                ki_informer_name(informer), ki_reflector_state_name(health.state), health.synced,
                health.objects, health.queued, reason.message);
    }
}

/* Whether the server has changed since its objects were read: then there is nothing to compare. */
static bool is_outdated(const app *a, uint64_t version)
{
    return ki_apiserver_version(a->world->server) != version;
}

bool app_settle(app *a, const truth objects[RESOURCES][OBJECTS], uint64_t version)
{
    uint64_t end = now_ms() + PATIENCE_MS;
    for (unsigned int i = 0; i < RESOURCES; i++) {
        while (!store_equals(a->informers[i], objects[i], false)) {
            if (is_outdated(a, version)) {
                return false;
            }
            if (now_ms() > end) {
                (void)store_equals(a->informers[i], objects[i], true);
                explain_informer(a->informers[i]);
                violation("L1: a cache does not come to equal the server at %llu (loop mode %d)",
                          (unsigned long long)version, (int)a->mode);
            }
            pause_ms(2);
        }
    }
    for (size_t i = 0; i < PROBES; i++) {
        probe *p = a->probes[i].probe;
        while (p != NULL && !probe_is_removed(p) &&
               !probe_equals(p, objects[a->probes[i].resource], false)) {
            if (is_outdated(a, version)) {
                return false;
            }
            if (now_ms() > end) {
                (void)probe_equals(p, objects[a->probes[i].resource], true);
                explain_informer(a->probes[i].informer);
                violation("I3, I4: a handler does not come to equal the server (loop mode %d)",
                          (int)a->mode);
            }
            pause_ms(2);
        }
    }
    return !is_outdated(a, version);
}

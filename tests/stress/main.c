/* SPDX-License-Identifier: Apache-2.0 */
/* stress [--seconds N] [--seed N]: rounds of random calls until the time is over. Ends with a line
 * of counts, or with the first violation. A seed chooses the calls; threads make the order. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/config.h>

#include "stress.h"

enum { ACTORS = 4, PUMPS = 2, ROUND_MS = 6000 };

static uint64_t seed;

/* ---- helpers ---- */

uint32_t roll(dice *d, uint32_t below)
{
    d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)((d->state >> 33) % below);
}

void violation(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "stress: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nstress: seed %llu\n", (unsigned long long)seed);
    va_end(arguments);
    abort();
}

void must(int r, const ki_error *error, const char *what)
{
    if (r < 0) {
        violation("%s: %s: %s", what, ki_error_name(r), error->message);
    }
}

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void pause_ms(unsigned int ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&wait, NULL);
}

size_t slot_of(const char *key)
{
    unsigned int name_space;
    unsigned int name;
    if (sscanf(key, "ns%u/o%u", &name_space, &name) != 2 || name_space >= NAMESPACES ||
        name >= NAMES) {
        violation("an object that was never written: %s", key);
    }
    return (size_t)name_space * NAMES + name;
}

uint64_t version_of(const ki_object *object)
{
    return strtoull(ki_object_resource_version(object), NULL, 10);
}

bool passes_filter(const ki_object *object)
{
    return ki_object_label_is(object, "odd", "1");
}

ki_object *make_object(dice *d, unsigned int resource, size_t slot)
{
    char text[256];
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int len =
        snprintf(text, sizeof(text),
                 "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{\"namespace\":"
                 "\"ns%zu\",\"name\":\"o%zu\",\"labels\":{\"odd\":\"%u\",\"x\":\"%u\"}}}",
                 resource == 0 ? "ConfigMap" : "Widget", resource == 0 ? "v1" : "example.com/v1",
                 slot / NAMES, slot % NAMES, roll(d, 2), roll(d, UINT32_MAX));
    must(ki_object_from_json(text, (size_t)len, NULL, &object, &error), &error,
         "ki_object_from_json");
    return object;
}

/* ---- threads ---- */

typedef struct thread {
    pthread_t id;
    world *world;
    dice dice;
} thread;

static void start_thread(thread *t, world *w, dice *d, void *(*run)(void *))
{
    t->world = w;
    t->dice.state = ((uint64_t)roll(d, UINT32_MAX) << 32) | roll(d, UINT32_MAX) | 1;
    if (pthread_create(&t->id, NULL, run, t) != 0) {
        violation("no thread");
    }
}

static app *take_app(world *w, size_t place)
{
    pthread_mutex_lock(&w->lock);
    app *a = app_ref(w->apps[place]);
    pthread_mutex_unlock(&w->lock);
    return a;
}

static void replace_app(world *w, size_t place, app *a)
{
    pthread_mutex_lock(&w->lock);
    app *old = w->apps[place];
    w->apps[place] = a;
    pthread_mutex_unlock(&w->lock);
    app_unref(old);
}

static void *run_actor(void *argument)
{
    thread *t = argument;
    while (atomic_load(&t->world->acting)) {
        size_t place = roll(&t->dice, APPS);
        if (roll(&t->dice, 500) == 0) {
            replace_app(t->world, place, app_new(t->world, &t->dice));
        }
        app *a = take_app(t->world, place);
        app_act(a, &t->dice);
        work_act(t->world->work, &t->dice);
        app_unref(a);
    }
    return NULL;
}

static void *run_pump(void *argument)
{
    thread *t = argument;
    for (probe *p; (p = ready_pop(&t->world->ready)) != NULL;) {
        probe_dispatch(p, &t->dice);
        probe_unref(p);
    }
    return NULL;
}

static void *run_writer(void *argument)
{
    thread *t = argument;
    world *w = t->world;
    while (atomic_load(&w->writing)) {
        unsigned int resource = roll(&t->dice, RESOURCES);
        size_t slot = roll(&t->dice, OBJECTS);
        ki_object *object = make_object(&t->dice, resource, slot);
        ki_error error = KI_ERROR_INIT;
        int r;
        if (roll(&t->dice, 4) != 0) {
            r = ki_apiserver_apply(w->server, object, &error);
        } else {
            r = ki_apiserver_delete(w->server, w->resources[resource], ki_object_namespace(object),
                                    ki_object_name(object), &error);
            r = r < 0 && error.http_code == 404 ? 0 : r;
        }
        must(r, &error, "a write on the server");
        (void)ki_object_unref(object);
        if (roll(&t->dice, 4) == 0) {
            pause_ms(1 + roll(&t->dice, 3));
        }
    }
    return NULL;
}

static void *run_chaos(void *argument)
{
    static const char *const faults[] = {
        "",
        "status=500,verb=list+watch,rate=30%",
        "status=429,retry-after=1,rate=20%",
        "refuse,rate=30%",
        "cut=400,verb=watch,rate=50%",
        "cut=900,verb=list,rate=50%",
        "expire,verb=watch,rate=30%",
        "drop=300ms,verb=watch",
        "latency=30ms",
        "stale; lag=200ms",
        "no-end-bookmark,rate=30%",
        "status=410,in-stream,rate=10%",
    };
    thread *t = argument;
    world *w = t->world;
    ki_error error = KI_ERROR_INIT;
    while (atomic_load(&w->writing)) {
        const char *fault = faults[roll(&t->dice, sizeof(faults) / sizeof(faults[0]))];
        switch (roll(&t->dice, 6)) {
        case 0:
            ki_apiserver_break_connections(w->server);
            break;
        case 1:
            ki_apiserver_expire_history(w->server);
            break;
        case 2:
            ki_apiserver_drop_watches(w->server);
            break;
        default:
            must(ki_apiserver_set_faults(w->server, fault, &error), &error, fault);
            break;
        }
        pause_ms(20 + roll(&t->dice, 400));
    }
    must(ki_apiserver_set_faults(w->server, "", &error), &error, "no faults");
    return NULL;
}

/* Ends the process if a round hangs: a deadlock is a violation. */
static atomic_uint_fast64_t watchdog_until;

static void *run_watchdog(void *argument)
{
    (void)argument;
    for (;;) {
        pause_ms(500);
        if (now_ms() > atomic_load(&watchdog_until)) {
            violation("L3: a round does not end");
        }
    }
}

/* ---- a round ---- */

static const char definition[] = "apiVersion: apiextensions.k8s.io/v1\n"
                                 "kind: CustomResourceDefinition\n"
                                 "metadata: {name: widgets.example.com}\n"
                                 "spec:\n"
                                 "  group: example.com\n"
                                 "  scope: Namespaced\n"
                                 "  names: {plural: widgets, singular: widget, kind: Widget,\n"
                                 "    listKind: WidgetList}\n"
                                 "  versions:\n"
                                 "  - name: v1\n"
                                 "    served: true\n"
                                 "    storage: true\n"
                                 "    schema: {openAPIV3Schema: {type: object,\n"
                                 "      x-kubernetes-preserve-unknown-fields: true}}\n";

static void begin_world(world *w, dice *d)
{
    ki_error error = KI_ERROR_INIT;
    ki_buf text;
    ki_resource *widgets = NULL;
    ki_apiserver_options server = KI_OPTIONS_INIT(ki_apiserver_options);
    server.any_namespace = true;
    server.tls = roll(d, 3) == 0;
    server.bookmark_ms = 500;
    must(ki_apiserver_new(&server, &w->server, &error), &error, "ki_apiserver_new");
    must(ki_apiserver_load(w->server, ki_str_from(definition), NULL, &error), &error,
         "ki_apiserver_load");
    ki_buf_init(&text, NULL, 65536);
    must(ki_apiserver_write_kubeconfig(w->server, &text), &error, "kubeconfig");
    ki_config_options from = KI_OPTIONS_INIT(ki_config_options);
    from.text = ki_buf_str(&text);
    must(ki_config_load(&from, &w->config, &error), &error, "ki_config_load");
    ki_buf_done(&text);
    must(ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                    .resource = "widgets", .kind = "Widget"),
                         &widgets, &error),
         &error, "ki_resource_new");
    w->resources[0] = KI_CORE_V1_CONFIGMAPS;
    w->resources[1] = widgets;
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->ready.lock, NULL);
    pthread_cond_init(&w->ready.changed, NULL);
}

static void end_world(world *w)
{
    (void)ki_snapshot_unref(w->held);
    (void)ki_apiserver_unref(w->server);
    (void)ki_config_unref(w->config);
    (void)ki_resource_unref(w->resources[1]);
    pthread_cond_destroy(&w->ready.changed);
    pthread_mutex_destroy(&w->ready.lock);
    pthread_mutex_destroy(&w->lock);
}

static void read_truth(world *w, truth objects[RESOURCES][OBJECTS])
{
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = w->config;
    options.qps = -1;
    must(ki_client_new(&options, &client, &error), &error, "ki_client_new");
    memset(objects, 0, sizeof(truth) * RESOURCES * OBJECTS);
    for (unsigned int i = 0; i < RESOURCES; i++) {
        ki_list *list = NULL;
        must(ki_client_list(client, w->resources[i], NULL, NULL, &list, NULL, &error), &error,
             "ki_client_list");
        for (size_t j = 0; j < ki_list_count(list); j++) {
            const ki_object *o = ki_list_at(list, j);
            truth *t = &objects[i][slot_of(ki_object_key(o))];
            t->version = version_of(o);
            t->passes = passes_filter(o);
        }
        (void)ki_list_unref(list);
    }
    (void)ki_client_close(client);
}

/* Requests that were started may still write, after a retry even seconds later: then everything is
 * read and compared again. */
static void settle(world *w)
{
    static truth objects[RESOURCES][OBJECTS];
    bool settled;
    do {
        uint64_t version = ki_apiserver_version(w->server);
        read_truth(w, objects);
        settled = version == ki_apiserver_version(w->server);
        for (size_t i = 0; settled && i < APPS; i++) {
            settled = app_settle(w->apps[i], (const truth(*)[OBJECTS])objects, version);
        }
    } while (!settled);
}

static void close_ready(ready_list *list)
{
    pthread_mutex_lock(&list->lock);
    list->closed = true;
    pthread_cond_broadcast(&list->changed);
    pthread_mutex_unlock(&list->lock);
}

static void play_round(dice *d, unsigned int ms, uint64_t *events, uint64_t *calls)
{
    world w = {0};
    thread actors[ACTORS];
    thread pumps[PUMPS];
    thread writer;
    thread chaos;
    begin_world(&w, d);
    w.work = work_start();
    for (size_t i = 0; i < APPS; i++) {
        w.apps[i] = app_new(&w, d);
    }
    atomic_store(&w.writing, true);
    atomic_store(&w.acting, true);
    start_thread(&writer, &w, d, run_writer);
    start_thread(&chaos, &w, d, run_chaos);
    for (size_t i = 0; i < PUMPS; i++) {
        start_thread(&pumps[i], &w, d, run_pump);
    }
    for (size_t i = 0; i < ACTORS; i++) {
        start_thread(&actors[i], &w, d, run_actor);
    }
    pause_ms(ms);
    atomic_store(&w.acting, false);
    for (size_t i = 0; i < ACTORS; i++) {
        pthread_join(actors[i].id, NULL);
    }
    atomic_store(&w.writing, false);
    pthread_join(writer.id, NULL);
    pthread_join(chaos.id, NULL);
    settle(&w);
    for (size_t i = 0; i < APPS; i++) {
        replace_app(&w, i, NULL);
    }
    close_ready(&w.ready);
    for (size_t i = 0; i < PUMPS; i++) {
        pthread_join(pumps[i].id, NULL);
    }
    work_end(w.work);
    if (atomic_load(&w.probes) != 0) {
        violation("%zu handlers were not destroyed", (size_t)atomic_load(&w.probes));
    }
    *events += atomic_load(&w.events);
    *calls += atomic_load(&w.calls);
    end_world(&w);
}

static uint64_t number(const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text) {
        fprintf(stderr, "stress: %s: not a number\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t seconds = 60;
    uint64_t events = 0;
    uint64_t calls = 0;
    unsigned int rounds = 0;
    pthread_t watchdog;
    seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0) {
            seconds = number(argv[i + 1]);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = number(argv[i + 1]);
        } else {
            fprintf(stderr, "usage: stress [--seconds N] [--seed N]\n");
            return 2;
        }
    }
    dice d = {.state = seed};
    uint64_t end = now_ms() + seconds * 1000;
    atomic_store(&watchdog_until, UINT64_MAX);
    if (pthread_create(&watchdog, NULL, run_watchdog, NULL) != 0) {
        violation("no thread");
    }
    do {
        uint64_t left = end > now_ms() ? end - now_ms() : 1000;
        unsigned int ms = left < ROUND_MS ? (unsigned int)left : ROUND_MS;
        atomic_store(&watchdog_until, now_ms() + ms + 2 * (uint64_t)PATIENCE_MS);
        play_round(&d, ms, &events, &calls);
        rounds++;
    } while (now_ms() < end);
    printf("stress: %u rounds, %llu calls, %llu events, no violation (seed %llu)\n", rounds,
           (unsigned long long)calls, (unsigned long long)events, (unsigned long long)seed);
    return 0;
}

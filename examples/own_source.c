/* SPDX-License-Identifier: Apache-2.0 */
/* A reflector on its own: it keeps a store in step with a source that the program itself gives.
 * Here the source is a house with a few devices; no API server is near. */
#include <stdio.h>
#include <time.h>

#include <kinformer/kinformer.h>

/* The house: what is in it, and who listens. */
typedef struct house {
    ki_engine_task *task; /* tells the listener, inside ki_engine_run() */
    ki_source_sink sink;
    enum { NOBODY, ASKED_FOR_LIST, WATCHED } listener;
    int version;       /* of the last change */
    const char *event; /* what is to be told: the name of a device, or NULL */
} house;

static ki_object *device(const char *name, int version)
{
    char json[128];
    ki_object *object = NULL;
    int len =
        snprintf(json, sizeof(json),
                 "{\"metadata\": {\"name\": \"%s\", \"resourceVersion\": \"%d\"}}", name, version);
    return ki_object_from_json(json, (size_t)len, NULL, &object, NULL) < 0 ? NULL : object;
}

static void tell(house *h, ki_event_type type, const char *name, int version)
{
    ki_object *object = device(name, version);
    if (object != NULL) {
        h->sink.on_event(type, object, NULL, h->sink.user);
    }
    ki_object_unref(object);
}

/* All that a source has to say, it says from in here. */
static void answer(void *user)
{
    house *h = user;
    if (h->listener == ASKED_FOR_LIST) {
        ki_list_meta meta = {.resource_version = "2", .continue_token = "", .remaining = -1};
        tell(h, KI_EVENT_ADDED, "door", 1);
        tell(h, KI_EVENT_ADDED, "lamp", 2);
        h->listener = NOBODY; /* before the end is told: then it is asked to be watched */
        h->sink.on_end(&meta, NULL, NULL, h->sink.user);
    } else if (h->listener == WATCHED && h->event != NULL) {
        tell(h, KI_EVENT_MODIFIED, h->event, ++h->version);
        h->event = NULL;
    }
}

static int begin_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    house *h = *ret_call = user;
    h->sink = *sink;
    h->listener = ASKED_FOR_LIST;
    ki_engine_task_post(h->task);
    return 0;
}

static int begin_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)error;
    house *h = *ret_call = user;
    printf("watched from version %s on\n", options->resource_version);
    h->sink = *sink;
    h->listener = WATCHED;
    return 0;
}

static void end_call(void *call, void *user)
{
    (void)user;
    ((house *)call)->listener = NOBODY;
}

static uint64_t monotonic_ns(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int64_t realtime_ns(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    FILE *random = fopen("/dev/urandom", "rb");
    size_t got = random != NULL ? fread(bytes, 1, len, random) : 0;
    return random == NULL || fclose(random) != 0 || got != len ? -1 : 0;
}

static void show(ki_store *store, ki_reflector *reflector)
{
    ki_reflector_health health = KI_OPTIONS_INIT(ki_reflector_health);
    ki_object *lamp = ki_store_get(store, ki_str_from("lamp"));
    if (lamp != NULL && ki_reflector_read_health(reflector, &health) == 0) {
        printf("%s; the lamp is at version %s\n", ki_reflector_state_name(health.state),
               ki_object_resource_version(lamp));
    }
    ki_object_unref(lamp);
}

static int reflect(ki_engine *engine, ki_store *store, house *h, ki_error *error)
{
    ki_source source = {.list = begin_list,
                        .watch = begin_watch,
                        .cancel = end_call,
                        .no_streaming_list = true,
                        .user = h};
    ki_reflector_target target = ki_reflector_target_store(store);
    ki_reflector_options options = KI_OPTIONS_INIT(ki_reflector_options);
    options.engine = engine;
    options.source = &source;
    options.target = &target;
    options.name = "devices";
    ki_reflector *reflector = NULL;
    int r = ki_reflector_new(&options, &reflector, error);
    if (r < 0) {
        target.destroy(target.user);
        return r;
    }
    ki_reflector_start(reflector);
    ki_engine_run(engine, 0); /* an event loop would do this whenever ki_engine_deadline() is due */
    show(store, reflector);
    h->event = "lamp"; /* somebody turns it on */
    ki_engine_task_post(h->task);
    ki_engine_run(engine, 0);
    show(store, reflector);
    ki_reflector_stop(reflector);
    ki_engine_run(engine, 0);
    ki_reflector_unref(reflector);
    return 0;
}

int main(void)
{
    ki_clock clock = {.monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns};
    ki_random random = {.fill = fill};
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.clock = &clock;
    options.random = &random;
    ki_engine *engine = NULL;
    ki_store *store = NULL;
    house h = {.version = 2};
    ki_error error = KI_ERROR_INIT;
    int r = ki_engine_new(&options, &engine, &error);
    if (r == 0) {
        r = ki_engine_task_new(engine, answer, &h, &h.task, &error);
    }
    if (r == 0) {
        r = ki_store_new(NULL, &store, &error);
    }
    if (r == 0) {
        r = reflect(engine, store, &h, &error);
    }
    if (r < 0) {
        printf("failed: %s\n", error.message);
    }
    ki_engine_task_free(h.task);
    ki_store_unref(store);
    ki_engine_unref(engine);
    return r < 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The kinformer side of bench/cluster: an informer of all pods with one handler, which obeys the
 * commands that all clients there obey. README.md tells them. */
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/config.h>
#include <kinformer/encoding.h>
#include <kinformer/health.h>
#include <kinformer/kinformer.h>
#include <kinformer/lister_iter.h>
#include <kinformer/registration.h>
#if __has_include(<kinformer/storage.h>)
#include <kinformer/storage.h>
#define HAS_PACKED
#endif

#define MARKS 65536 /* of the last events; a power of two */
#define LINE 256
#define SYNC_MS 600000
#define FIVE                                                                                 \
    ".spec.nodeName,.status.phase,.status.podIP,.metadata.labels['app.kubernetes.io/name']," \
    ".metadata.labels['pod-template-hash']"

/* One event: the version that it brought, and when the handler was called. */
typedef struct mark {
    uint64_t version;
    uint64_t ns;
} mark;

typedef struct program {
    const char *kubeconfig;
    bool pages;
    const char *what; /* "whole", "five", "packed" or "none" */
    ki_client *client;
    ki_factory *factory;
    ki_informer *informer;
    ki_registration *registration;
    _Atomic uint64_t events;       /* after the first sync */
    _Atomic uint64_t last_version; /* of them */
    _Atomic uint64_t wanted;       /* version to report; 0: none */
    mark marks[MARKS];
} program;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the handler ---- */

static void tell_if_reached(program *p)
{
    uint64_t wanted = atomic_load(&p->wanted);
    if (wanted != 0 && atomic_load(&p->last_version) >= wanted &&
        atomic_compare_exchange_strong(&p->wanted, &wanted, 0)) {
        printf("reached %" PRIu64 " %" PRIu64 "\n", atomic_load(&p->events), now_ns());
        fflush(stdout);
    }
}

static void take(program *p, const ki_object *object)
{
    uint64_t number = atomic_load_explicit(&p->events, memory_order_relaxed);
    mark *m = &p->marks[number % MARKS];
    m->version = strtoull(ki_object_resource_version(object), NULL, 10);
    m->ns = now_ns();
    atomic_store(&p->last_version, m->version);
    atomic_store(&p->events, number + 1);
    tell_if_reached(p);
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    if (!is_initial) {
        take(user, object);
    }
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    take(user, object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    take(user, object);
}

/* ---- commands ---- */

static void tell_marks(const program *p)
{
    uint64_t end = atomic_load(&p->events);
    for (uint64_t i = end > MARKS ? end - MARKS : 0; i < end; i++) {
        printf("%" PRIu64 " %" PRIu64 "\n", p->marks[i % MARKS].version, p->marks[i % MARKS].ns);
    }
    printf("done\n");
    fflush(stdout);
}

/* What the library and the allocator say of memory. */
static void tell_memory(const program *p)
{
    size_t count = 0;
    size_t bytes = 0;
    size_t memory = 0;
    ki_lister lister = ki_informer_lister(p->informer);
    ki_lister_iter iter = ki_lister_iter_begin(&lister, NULL, NULL);
    const ki_object *object;
    while (ki_lister_iter_next(&iter, &object) > 0) {
        count++;
        bytes += ki_object_bytes(object).len;
        memory += ki_object_memory(object);
    }
    ki_lister_iter_end(&iter);
    struct mallinfo2 heap = mallinfo2();
    printf("memory {\"objects\":%zu,\"object_bytes\":%zu,\"object_memory\":%zu,"
           "\"heap_in_use\":%zu,\"heap_free\":%zu}\n",
           count, bytes, memory, heap.uordblks + heap.hblkhd, heap.fordblks);
    fflush(stdout);
}

static void obey(program *p)
{
    char line[LINE];
    while (fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "quit\n") != 0) {
        if (strncmp(line, "until ", 6) == 0) {
            atomic_store(&p->wanted, strtoull(line + 6, NULL, 10));
            tell_if_reached(p);
        } else if (strcmp(line, "count\n") == 0) {
            printf("count %" PRIu64 "\n", atomic_load(&p->events));
            fflush(stdout);
        } else if (strcmp(line, "marks\n") == 0) {
            tell_marks(p);
        } else if (strcmp(line, "memory\n") == 0) {
            tell_memory(p);
        } else {
            fprintf(stderr, "no such command: %s", line);
        }
    }
}

/* ---- from start to end ---- */

static void tell_synced(const program *p)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    if (ki_informer_get_health(p->informer, &health, NULL) == 0) {
        printf("synced %zu %" PRIu64 "\n", health.objects, now_ns());
        fflush(stdout);
    }
}

static void write_log(const ki_log_record *record, void *user)
{
    (void)user;
    fprintf(stderr, "%s %s: %s\n", ki_log_level_name(record->level), record->component,
            record->message);
}

static const ki_log to_stderr = {.write = write_log, .level = KI_LOG_INFO};

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    const program *p = user;
    (void)resource;
    options->no_streaming = p->pages;
    if (strcmp(p->what, "five") == 0) {
        options->keep = FIVE;
    } else if (strcmp(p->what, "none") == 0) {
        options->field_selector = "metadata.name=none";
    }
#ifdef HAS_PACKED
    if (strcmp(p->what, "packed") == 0) {
        options->storage = KI_STORAGE_PACKED;
    }
#endif
}

static bool is_known(const char *what)
{
    return strcmp(what, "whole") == 0 || strcmp(what, "five") == 0 || strcmp(what, "none") == 0
#ifdef HAS_PACKED
           || strcmp(what, "packed") == 0
#endif
        ;
}

static int connect_to_server(program *p, ki_error *error)
{
    ki_config *config = NULL;
    int r = ki_config_load(KI_OPTIONS(ki_config_options, .path = p->kubeconfig), &config, error);
    if (r == 0) {
        /* No limit of requests: neither has one of the others, and pages count. */
        r = ki_client_new(KI_OPTIONS(ki_client_options, .config = config, .log = &to_stderr,
                                     .user_agent = "bench-kinformer", .qps = -1),
                          &p->client, error);
    }
    ki_config_unref(config);
    return r;
}

static int sync_pods(program *p, ki_error *error)
{
    ki_handler handler = {
        .on_add = on_add, .on_update = on_update, .on_delete = on_delete, .user = p};
    int r = ki_client_factory(p->client,
                              KI_OPTIONS(ki_factory_options, .configure = configure, .user = p),
                              &p->factory, error);
    if (r == 0) {
        r = ki_factory_informer(p->factory, KI_CORE_V1_PODS, NULL, &p->informer, error);
    }
    if (r == 0) {
        r = ki_informer_add_handler(p->informer, &handler, NULL, &p->registration, error);
    }
    if (r == 0) {
        r = ki_factory_start(p->factory, error);
    }
    if (r == 0) {
        r = ki_factory_wait_for_sync(p->factory, SYNC_MS, error);
    }
    return r;
}

int main(int argc, char **argv)
{
    static program p;
    ki_error error = KI_ERROR_INIT;
    if (argc != 4 || (strcmp(argv[2], "list") != 0 && strcmp(argv[2], "stream") != 0) ||
        !is_known(argv[3])) {
        fprintf(stderr, "usage: client <kubeconfig> list|stream whole|five|packed|none\n");
        return 2;
    }
    p.kubeconfig = argv[1];
    p.pages = strcmp(argv[2], "list") == 0;
    p.what = argv[3];
    int r = connect_to_server(&p, &error);
    if (r == 0) {
        r = sync_pods(&p, &error);
    }
    if (r == 0) {
        tell_synced(&p);
        obey(&p);
    } else {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_registration_unref(p.registration);
    ki_factory_unref(p.factory);
    ki_client_close(p.client);
    return r < 0 ? 1 : 0;
}

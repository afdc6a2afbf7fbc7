/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of memory from 1 MB up, with each action: the allocator never gives out more, what is
 * missing is reported, and everything is back when objects go away. The same in a process whose
 * address space is limited, so that malloc() really fails. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kinformer/encoding.h>
#include <kinformer/memory.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>

#include "object/pack/codec.h"
#include "support/by_value.h"
#include "support/test.h"
#include "support/world.h"

enum { BODY = 8000, COUNT = 400, FEW = 60 };
#define MB ((uint64_t)1 << 20)

/* The source has small objects; a transform function makes large ones of them. */
typedef struct world {
    const ki_alloc *alloc;
    test_world time;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    unsigned version;
    unsigned changes;
} world;

/* Prints and ends the process: also for one that has no memory for anything else. */
static void check(const world *w, bool holds, int line, const char *what)
{
    if (holds) {
        return;
    }
    ki_health h = KI_OPTIONS_INIT(ki_health);
    ki_error reason = KI_ERROR_INIT;
    (void)!ki_informer_get_health(w->informer, &h, &reason);
    (void)fprintf(stderr,
                  "line %d: %s; limit %llu, memory %llu, %zu objects, synced %d, over limit %d, "
                  "reduction %s, reason %s\n",
                  line, what, (unsigned long long)h.max_bytes, (unsigned long long)h.memory,
                  h.objects, h.synced, h.over_limit, ki_reduction_name(h.reduction),
                  reason.message);
    _exit(1);
}
#define CHECK(w, holds) check(w, holds, __LINE__, #holds)

static ki_object *small(world *w, int number)
{
    char json[256];
    int len = snprintf(json, sizeof(json),
                       "{\"metadata\":{\"name\":\"p%d\",\"namespace\":\"shop\",\"uid\":\"u%d\","
                       "\"resourceVersion\":\"%u\",\"labels\":{\"app\":\"a%d\"}}}",
                       number, number, ++w->version, number % 3);
    ki_object *object = NULL;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = w->alloc;
    CHECK(w, ki_object_from_json(json, (size_t)len, &options, &object, NULL) == 0);
    return object;
}

/* Compresses to about a half. */
static char bodies[1 << 20];

static void fill_bodies(void)
{
    uint64_t random = 1;
    for (size_t i = 0; i < sizeof(bodies); i++) {
        bodies[i] = "abcdefghijklmnop"[test_random(&random) % 16];
    }
}

static int enlarge(const ki_object *object, ki_object **ret_object, void *user)
{
    const world *w = user;
    static char json[BODY + 512];
    size_t number = strtoul(ki_object_name(object) + 1, NULL, 10);
    ki_str text = ki_object_bytes(object);
    int len = snprintf(json, sizeof(json), "%.*s,\"data\":\"", (int)text.len - 1, text.ptr);
    memcpy(json + len, bodies + number * BODY % (sizeof(bodies) - BODY), BODY);
    memcpy(json + len + BODY, "\"}", 2);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = w->alloc;
    return ki_object_from_json(json, (size_t)len + BODY + 2, &options, ret_object, NULL);
}

static void put(world *w, int from, int to)
{
    for (int i = from; i < to; i++) {
        ki_object *object = small(w, i);
        CHECK(w, ki_local_source_put(w->source, object, NULL) == 0);
        (void)ki_object_unref(object);
    }
}

static void take(world *w, int from, int to)
{
    for (int i = from; i < to; i++) {
        ki_object *object = small(w, i);
        CHECK(w, ki_local_source_remove(w->source, object, NULL) == 0);
        (void)ki_object_unref(object);
    }
}

static void on_change(const ki_change *change, void *user)
{
    (void)change;
    ((world *)user)->changes++;
}

static void begin(world *w, const ki_alloc *alloc, int count)
{
    *w = (world){.alloc = alloc};
    test_world_init(&w->time);
    ki_engine_options engine = test_world_engine_options(&w->time, alloc);
    CHECK(w, ki_engine_new(&engine, &w->engine, NULL) == 0);
    ki_local_source_options options = KI_OPTIONS_INIT(ki_local_source_options);
    options.engine = w->engine;
    CHECK(w, ki_local_source_new(&options, &w->source, NULL) == 0);
    put(w, 0, count);
}

static void start(world *w, ki_informer_options *options)
{
    ki_source table = {0};
    CHECK(w, ki_local_source_table(w->source, &table) == 0);
    options->engine = w->engine;
    options->source = &table;
    options->transform = enlarge;
    options->transform_user = w;
    CHECK(w, ki_informer_new(options, &w->informer, NULL) == 0);
    CHECK(w, ki_informer_on_change(w->informer, on_change, w, NULL, NULL) == 0);
    CHECK(w, ki_informer_start(w->informer, NULL) == 0);
    test_world_settle(w->engine);
}

static void stop(world *w)
{
    ki_informer_stop(w->informer);
    test_world_settle(w->engine);
    w->informer = ki_informer_unref(w->informer);
    test_world_settle(w->engine);
}

static void end(world *w)
{
    w->source = ki_local_source_unref(w->source);
    test_world_settle(w->engine);
    (void)ki_engine_unref(w->engine);
}

static void let_pass(world *w)
{
    test_world_advance(&w->time, w->engine, 300 * TEST_SECOND);
}

/* Whether the cache is complete and whole; if not, that is reported. */
static bool is_whole(const world *w, size_t count)
{
    ki_health h = KI_OPTIONS_INIT(ki_health);
    CHECK(w, ki_informer_get_health(w->informer, &h, NULL) == 0);
    size_t whole = 0;
    size_t partial = 0;
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(w->informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        whole += !ki_object_is_partial(object);
        partial += ki_object_is_partial(object);
    }
    (void)ki_snapshot_unref(snapshot);
    CHECK(w, whole + partial == count || h.over_limit || h.failed_attempts != 0);
    CHECK(w, partial == 0 || h.reduction == KI_REDUCTION_METADATA);
    CHECK(w, h.synced || h.over_limit || h.failed_attempts != 0);
    return whole == count && !h.over_limit && h.synced;
}

/* What all actions have in common: a list, changes, and deletions. */
static void run_history(world *w, test_alloc *alloc, size_t most)
{
    let_pass(w);
    (void)is_whole(w, COUNT);
    for (int round = 0; round < 3; round++) {
        put(w, round * 50, round * 50 + 100);
        test_world_settle(w->engine);
        (void)is_whole(w, COUNT);
        let_pass(w);
        (void)is_whole(w, COUNT);
        CHECK(w, alloc == NULL || alloc->peak_bytes <= most);
    }
    take(w, FEW, COUNT);
    let_pass(w);
    let_pass(w);
    CHECK(w, is_whole(w, FEW));
    put(w, FEW, FEW + 1); /* and it continues */
    test_world_settle(w->engine);
    CHECK(w, is_whole(w, FEW + 1));
    CHECK(w, alloc == NULL || alloc->peak_bytes <= most);
}

static bool is_possible(int action, int storage)
{
    return ki__codec_is_built() || (action != KI_AT_LIMIT_PACK && storage != KI_STORAGE_PACKED);
}

static void no_limit_is_exceeded(void **state)
{
    (void)state;
    for (uint64_t max = MB; max <= 4 * MB; max += MB - 12345) {
        for (int way = 0; way < KI_AT_LIMIT_MAX * KI_QUEUE_KIND_MAX * 2; way++) {
            ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
            options.max_bytes = max;
            options.at_limit = (ki_at_limit)(way % KI_AT_LIMIT_MAX);
            options.queue = (ki_queue_kind)(way / KI_AT_LIMIT_MAX % KI_QUEUE_KIND_MAX);
            options.storage = way / KI_AT_LIMIT_MAX / KI_QUEUE_KIND_MAX != 0 ? KI_STORAGE_PACKED
                                                                             : KI_STORAGE_PLAIN;
            options.no_streaming = max / 1024 % 2 == 0;
            if (!is_possible(options.at_limit, options.storage)) {
                continue;
            }
            test_alloc alloc;
            test_alloc_init(&alloc);
            world w;
            begin(&w, &alloc.table, COUNT);
            size_t before = alloc.live_bytes;
            alloc.peak_bytes = before;
            start(&w, &options);
            /* Buffers of packing are outside of the limit; the source grows with its events. */
            run_history(&w, &alloc, before + max + max / 16 + MB);
            stop(&w);
            end(&w);
            test_alloc_done(&alloc);
        }
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these need address space */

/* The address space of this process. */
static uint64_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        _exit(2);
    }
    (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In a process of its own. `max_bytes` 0: only malloc() says that there is no more. */
static void run_short_of_memory(ki_at_limit action, uint64_t max_bytes, uint64_t more)
{
    world w;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.at_limit = action;
    options.max_bytes = max_bytes;
    begin(&w, NULL, 4 * COUNT);
    uint64_t most = address_space() + more;
    struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
    if (setrlimit(RLIMIT_AS, &limit) < 0) {
        _exit(3);
    }
    start(&w, &options);
    let_pass(&w);
    CHECK(&w, !is_whole(&w, 4 * COUNT) || action == KI_AT_LIMIT_PACK || more > 8 * MB);
    put(&w, 100, 200);
    let_pass(&w);
    (void)is_whole(&w, 4 * COUNT);
    take(&w, FEW, 4 * COUNT);
    let_pass(&w);
    let_pass(&w);
    CHECK(&w, is_whole(&w, FEW));
    CHECK(&w, w.changes >= FEW);
    stop(&w);
    end(&w);
    _exit(0);
}

static void in_a_process(ki_at_limit action, uint64_t max_bytes, uint64_t more)
{
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_short_of_memory(action, max_bytes, more);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) {
        fail_msg("action %d, max_bytes %llu, address space + %llu: status %x", (int)action,
                 (unsigned long long)max_bytes, (unsigned long long)more, (unsigned)status);
    }
}

#endif

/* 1,600 objects of 8 KB need 13 MB. */
static void malloc_may_fail(void **state)
{
    (void)state;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    for (uint64_t more = 4 * MB; more <= 12 * MB; more += 2 * MB) {
        in_a_process(KI_AT_LIMIT_REFUSE, 0, more);
        for (int action = 0; action < KI_AT_LIMIT_MAX; action++) {
            if (is_possible(action, KI_STORAGE_PLAIN)) {
                in_a_process((ki_at_limit)action, 3 * MB, more);  /* max_bytes is first, mostly */
                in_a_process((ki_at_limit)action, 20 * MB, more); /* malloc() is */
            }
        }
    }
#else
    skip();
#endif
}

int main(void)
{
    fill_bodies();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malloc_may_fail), /* while there is no free memory in the heap */
        cmocka_unit_test(no_limit_is_exceeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

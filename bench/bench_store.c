/* SPDX-License-Identifier: Apache-2.0 */
/* The store under load: one writer, any number of readers, a fixed time. bench/go does the same on
 * client-go's indexer and names its rows alike. A row is "writer", "reader" or "writer+reader":
 *   writers  update      a random object by another state of it, each one version
 *            update100   the same, a hundred in one transaction; each counts
 *            replace     the whole content
 *   readers  get         a random key, from a snapshot that is kept current; a field is read
 *            get_ref     the same by ki_store_get, with a reference to the object
 *            lookup      the same without looking at the object
 *            list        all objects as a list, every pointer looked at
 *            walk        the same without making a list
 *            list_match  a list, and a label selector on every object
 *            by_index    the objects of a random namespace as a list, every pointer looked at
 *            find        the same without making a list
 *            lister_get     a random object by namespace and name, with a reference to it
 *            lister_list    the objects of a random namespace as a list, every pointer looked at
 *            lister_select  the objects of all namespaces that a label selector selects, as a list
 *            lister_walk    the same without making a list
 * "shared_store" is update+by_index with all objects in one namespace: the store's part of
 * client-go's BenchmarkSharedIndexInformer. "indexer" is the work of its BenchmarkIndexer, "memory"
 * what the store takes for an object besides the object itself. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/index.h>
#include <kinformer/label_selector.h>
#include <kinformer/lister.h>
#include <kinformer/lister_iter.h>
#include <kinformer/object.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>

#include "support/bench.h"
#include "support/pod.h"

#define INDEXER_OBJECTS 5000
#define BATCH 100

/* A store and the objects to work on it with: two states of each pod. Workers only read it. */
typedef struct env {
    ki_store *store;
    ki_object **objects[2];
    size_t count;
    ki_str *keys; /* the callers' own, not those in the objects; close together, as Go's are */
    char *key_text;
    const char **names; /* in key_text, where each ends with a NUL */
    size_t per_ns;
    char (*namespaces)[32];
    size_t namespace_count;
    ki_selector *selector;
    pthread_barrier_t begin;
    atomic_bool stop;
} env;

/* One thread. Its counter has cache lines of its own. */
typedef struct worker {
    _Alignas(128) _Atomic uint64_t ops;
    _Alignas(128) env *e;
    const struct operation *does;
    uint64_t random;
    uint8_t *state;    /* of each object, for writers */
    ki_snapshot *held; /* for readers that keep one */
    pthread_t thread;
} worker;

/* Does one operation; returns how many it counts for. */
typedef struct operation {
    const char *name;
    bool writes;
    uint64_t (*run)(worker *w);
} operation;

static void check(int r, const char *what)
{
    if (r < 0) {
        bench_fail("%s: %s", what, ki_error_name(r));
    }
}

static size_t random_below(worker *w, size_t count)
{
    return (size_t)(bench_random(&w->random) % count);
}

/* The next state of a random object. */
static const ki_object *random_change(worker *w)
{
    size_t i = random_below(w, w->e->count);
    w->state[i] ^= 1;
    return w->e->objects[w->state[i]][i];
}

static uint64_t run_update(worker *w)
{
    check(ki_store_update(w->e->store, random_change(w), NULL), "update");
    return 1;
}

static uint64_t run_update100(worker *w)
{
    ki_txn *txn = NULL;
    check(ki_store_begin(w->e->store, &txn, NULL), "update100");
    for (size_t i = 0; i < BATCH; i++) {
        check(ki_txn_add(txn, random_change(w), NULL), "update100");
    }
    ki_txn_commit(txn);
    return BATCH;
}

static uint64_t run_replace(worker *w)
{
    w->state[0] ^= 1;
    ki_object **objects = w->e->objects[w->state[0]];
    check(ki_store_replace(w->e->store, (const ki_object *const *)objects, w->e->count, "2", NULL),
          "replace");
    return 1;
}

static ki_str random_key(worker *w)
{
    return w->e->keys[random_below(w, w->e->count)];
}

static void read_object(const ki_object *object)
{
    if (object == NULL || ki_object_resource_version(object)[0] == '\0') {
        bench_fail("get: an object is missing, or has no resource version");
    }
}

static uint64_t run_get(worker *w)
{
    w->held = ki_store_refresh(w->e->store, w->held);
    read_object(ki_snapshot_get(w->held, random_key(w).ptr));
    return 1;
}

static uint64_t run_get_ref(worker *w)
{
    ki_object *object = ki_store_get(w->e->store, random_key(w).ptr);
    read_object(object);
    (void)ki_object_unref(object);
    return 1;
}

static uint64_t run_lookup(worker *w)
{
    w->held = ki_store_refresh(w->e->store, w->held);
    if (ki_snapshot_get(w->held, random_key(w).ptr) == NULL) {
        bench_fail("lookup: an object is missing");
    }
    return 1;
}

static void expect(size_t visited, size_t least, const char *what)
{
    if (visited < least) {
        bench_fail("%s: only %zu objects", what, visited);
    }
}

static void visit_list(ki_list *list, size_t least, const char *what)
{
    size_t count = ki_list_count(list);
    size_t visited = 0;
    for (size_t i = 0; i < count; i++) {
        visited += ki_list_at(list, i) != NULL;
    }
    expect(visited, least, what);
    (void)ki_list_unref(list);
}

static uint64_t run_list(worker *w)
{
    ki_list *list = NULL;
    check(ki_store_list(w->e->store, &list), "list");
    visit_list(list, w->e->count, "list");
    return 1;
}

static uint64_t run_walk(worker *w)
{
    ki_snapshot *snapshot = ki_store_snapshot(w->e->store);
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    size_t visited = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        visited++;
    }
    expect(visited, w->e->count, "walk");
    (void)ki_snapshot_unref(snapshot);
    return 1;
}

static uint64_t run_list_match(worker *w)
{
    ki_list *list = NULL;
    check(ki_store_list(w->e->store, &list), "list_match");
    size_t count = ki_list_count(list);
    size_t matched = 0;
    for (size_t i = 0; i < count; i++) {
        matched += ki_selector_matches(w->e->selector, ki_list_at(list, i));
    }
    expect(matched, 1, "list_match");
    (void)ki_list_unref(list);
    return 1;
}

static ki_str random_namespace(worker *w)
{
    return ki_str_from(w->e->namespaces[random_below(w, w->e->namespace_count)]);
}

static uint64_t run_by_index(worker *w)
{
    ki_list *list = NULL;
    check(ki_store_by_index(w->e->store, KI_INDEX_NAMESPACE, random_namespace(w).ptr, &list),
          "by_index");
    visit_list(list, 1, "by_index");
    return 1;
}

static uint64_t run_find(worker *w)
{
    ki_snapshot *snapshot = ki_store_snapshot(w->e->store);
    ki_snapshot_iter iter;
    check(ki_snapshot_iter_by_index(snapshot, KI_INDEX_NAMESPACE, random_namespace(w), &iter),
          "find");
    const ki_object *object;
    size_t visited = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        visited++;
    }
    expect(visited, 1, "find");
    (void)ki_snapshot_unref(snapshot);
    return 1;
}

static ki_lister lister_of(worker *w)
{
    return ki_lister_of(w->e->store, KI_CORE_V1_PODS);
}

static uint64_t run_lister_get(worker *w)
{
    ki_lister lister = lister_of(w);
    size_t i = random_below(w, w->e->count);
    ki_object *object = NULL;
    check(ki_lister_get(&lister, w->e->namespaces[i / w->e->per_ns], w->e->names[i], &object, NULL),
          "lister_get");
    read_object(object);
    (void)ki_object_unref(object);
    return 1;
}

static uint64_t run_lister_list(worker *w)
{
    ki_lister lister = lister_of(w);
    ki_list *list = NULL;
    const char *ns = w->e->namespaces[random_below(w, w->e->namespace_count)];
    check(ki_lister_list(&lister, ns, ki_selector_everything(), &list), "lister_list");
    visit_list(list, 1, "lister_list");
    return 1;
}

static uint64_t run_lister_select(worker *w)
{
    ki_lister lister = lister_of(w);
    ki_list *list = NULL;
    check(ki_lister_list(&lister, NULL, w->e->selector, &list), "lister_select");
    visit_list(list, 1, "lister_select");
    return 1;
}

static uint64_t run_lister_walk(worker *w)
{
    ki_lister lister = lister_of(w);
    ki_lister_iter iter = ki_lister_iter_begin(&lister, NULL, w->e->selector);
    const ki_object *object;
    size_t visited = 0;
    while (ki_lister_iter_next(&iter, &object) > 0) {
        visited++;
    }
    expect(visited, 1, "lister_walk");
    ki_lister_iter_end(&iter);
    return 1;
}

static const operation operations[] = {
    {"update", true, run_update},
    {"update100", true, run_update100},
    {"replace", true, run_replace},
    {"get", false, run_get},
    {"lookup", false, run_lookup},
    {"get_ref", false, run_get_ref},
    {"list", false, run_list},
    {"walk", false, run_walk},
    {"by_index", false, run_by_index},
    {"find", false, run_find},
    {"list_match", false, run_list_match},
    {"lister_get", false, run_lister_get},
    {"lister_list", false, run_lister_list},
    {"lister_select", false, run_lister_select},
    {"lister_walk", false, run_lister_walk},
};

/* The operation whose name is the first `len` bytes of `text`. */
static const operation *operation_named(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strlen(operations[i].name) == len && memcmp(operations[i].name, text, len) == 0) {
            return &operations[i];
        }
    }
    bench_fail("no such row: %s", text);
}

static void *work(void *user)
{
    worker *w = user;
    uint64_t ops = 0;
    (void)pthread_barrier_wait(&w->e->begin);
    while (!atomic_load_explicit(&w->e->stop, memory_order_relaxed)) {
        ops += w->does->run(w);
        atomic_store_explicit(&w->ops, ops, memory_order_relaxed);
    }
    w->held = ki_snapshot_unref(w->held);
    return NULL;
}

static ki_object *make_object(const bench_pod *pod)
{
    char text[BENCH_POD_MAX];
    ki_object *object = NULL;
    size_t len = bench_pod_json(BENCH_POD_SMALL, pod, text);
    check(ki_object_from_json(text, len, NULL, &object, NULL), "a pod");
    return object;
}

static void *allocate(size_t count, size_t size)
{
    void *block = calloc(count, size);
    if (block == NULL) {
        bench_fail("out of memory");
    }
    return block;
}

static void make_keys(env *e, size_t per_ns)
{
    enum { KEY_MAX = 64 };
    e->keys = allocate(e->count, sizeof(e->keys[0]));
    e->key_text = allocate(e->count, KEY_MAX);
    e->names = allocate(e->count, sizeof(e->names[0]));
    char *next = e->key_text;
    for (size_t i = 0; i < e->count; i++) {
        bench_pod pod = {.number = i, .ns = i / per_ns};
        bench_pod_key(&pod, next, KEY_MAX);
        e->keys[i] = ki_str_from(next);
        e->names[i] = strchr(next, '/') + 1;
        next += e->keys[i].len + 1;
    }
}

static void env_init(env *e, size_t count, size_t per_ns, const ki_alloc *alloc)
{
    memset(e, 0, sizeof(*e));
    e->count = count;
    e->per_ns = per_ns;
    e->namespace_count = (count + per_ns - 1) / per_ns;
    e->namespaces = allocate(e->namespace_count, sizeof(e->namespaces[0]));
    for (size_t i = 0; i < e->namespace_count; i++) {
        bench_pod_namespace(i, e->namespaces[i], sizeof(e->namespaces[i]));
    }
    make_keys(e, per_ns);
    for (size_t state = 0; state < 2; state++) {
        e->objects[state] = allocate(count, sizeof(ki_object *));
        for (size_t i = 0; i < count; i++) {
            bench_pod pod = {.number = i, .ns = i / per_ns, .generation = state};
            e->objects[state][i] = make_object(&pod);
        }
    }
    ki_index by_namespace = KI_OPTIONS_INIT(ki_index);
    check(ki_index_by_namespace(&by_namespace), "index");
    check(ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc,
                                  .indexes = (const ki_index *[]){&by_namespace}, .index_count = 1),
                       &e->store, NULL),
          "store");
    check(ki_selector_parse("tier=edge", NULL, &e->selector, NULL), "selector");
    check(ki_store_replace(e->store, (const ki_object *const *)e->objects[0], count, "1", NULL),
          "replace");
}

static void env_done(env *e)
{
    (void)ki_store_unref(e->store);
    (void)ki_selector_unref(e->selector);
    for (size_t state = 0; state < 2; state++) {
        for (size_t i = 0; i < e->count; i++) {
            (void)ki_object_unref(e->objects[state][i]);
        }
        free(e->objects[state]);
    }
    free(e->keys);
    free(e->key_text);
    free(e->names);
    free(e->namespaces);
}

static void sleep_seconds(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds};
    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

/* A look at all counters and clocks. */
typedef struct look {
    double writes, reads, wall_ns, cpu_ns;
} look;

static look look_at(worker *workers, size_t count)
{
    look l = {.wall_ns = (double)bench_wall_ns(), .cpu_ns = (double)bench_cpu_ns()};
    for (size_t i = 0; i < count; i++) {
        double ops = (double)atomic_load_explicit(&workers[i].ops, memory_order_relaxed);
        *(workers[i].does->writes ? &l.writes : &l.reads) += ops;
    }
    return l;
}

static void print_row(const char *row, size_t objects, size_t readers, const look *a, const look *b)
{
    double wall = (b->wall_ns - a->wall_ns) / 1e9;
    bench_line_begin("store", "kinformer", row);
    bench_line_number("objects", (double)objects);
    bench_line_number("readers", (double)readers);
    bench_line_number("writes", b->writes - a->writes);
    bench_line_number("reads", b->reads - a->reads);
    bench_line_number("writes_s", (b->writes - a->writes) / wall);
    bench_line_number("reads_s", (b->reads - a->reads) / wall);
    bench_line_number("wall_s", wall);
    bench_line_number("cpu_s", (b->cpu_ns - a->cpu_ns) / 1e9);
    bench_line_end();
}

static void worker_start(worker *w, env *e, const operation *does, size_t number)
{
    w->e = e;
    w->does = does;
    w->random = bench_mix(number + 1);
    w->state = does->writes ? allocate(e->count, 1) : NULL;
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        bench_fail("no thread");
    }
}

/* Runs the workers: a short warm-up, then the time that counts. */
static void run_row(const char *row, env *e, const operation *writer, const operation *reader,
                    size_t readers, double seconds)
{
    size_t count = readers + (writer != NULL);
    worker *workers = aligned_alloc(_Alignof(worker), (count + 1) * sizeof(*workers));
    if (workers == NULL || pthread_barrier_init(&e->begin, NULL, (unsigned)count + 1) != 0) {
        bench_fail("out of memory");
    }
    memset(workers, 0, (count + 1) * sizeof(*workers));
    for (size_t i = 0; i < count; i++) {
        worker_start(&workers[i], e, i < readers ? reader : writer, i);
    }
    (void)pthread_barrier_wait(&e->begin);
    sleep_seconds(seconds / 5 < 0.3 ? seconds / 5 : 0.3);
    look before = look_at(workers, count);
    sleep_seconds(seconds);
    look after = look_at(workers, count);
    atomic_store(&e->stop, true);
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        free(workers[i].state);
    }
    print_row(row, e->count, readers, &before, &after);
    (void)pthread_barrier_destroy(&e->begin);
    free(workers);
}

static void run_load(const char *row, size_t objects, size_t per_ns, size_t readers, double seconds)
{
    const char *work_of_row = row;
    const operation *writer = NULL;
    const operation *reader = NULL;
    if (strcmp(row, "shared_store") == 0 || strcmp(row, "shared_find") == 0) {
        work_of_row = strcmp(row, "shared_store") == 0 ? "update+by_index" : "update+find";
        per_ns = objects;
    }
    for (const char *name = work_of_row; name != NULL;) {
        size_t len = strcspn(name, "+");
        const operation *o = operation_named(name, len);
        *(o->writes ? &writer : &reader) = o;
        name = name[len] == '+' ? name + len + 1 : NULL;
    }
    if (reader == NULL) {
        readers = 0;
    } else if (writer == NULL && readers == 0) {
        bench_fail("%s needs readers", row);
    }
    env e;
    env_init(&e, objects, per_ns, NULL);
    run_row(row, &e, writer, reader, readers, seconds);
    env_done(&e);
}

/* The work of client-go's BenchmarkIndexer: updates that change nothing. */

typedef struct indexer {
    ki_store *store;
    ki_object *objects[INDEXER_OBJECTS];
    size_t next;
} indexer;

static int index_by_name(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    return ki_index_values_add(values, ki_str_from(ki_object_name(object)));
}

static void indexer_run(void *user, uint64_t count)
{
    indexer *in = user;
    for (; count != 0; count--) {
        check(ki_store_update(in->store, in->objects[in->next], NULL), "update");
        in->next = in->next + 1 == INDEXER_OBJECTS ? 0 : in->next + 1;
    }
}

static void run_indexer(unsigned rounds, unsigned ms)
{
    static indexer in;
    ki_index self = {.name = "self", .values = index_by_name};
    check(ki_store_new(KI_OPTIONS(ki_store_options, .indexes = (const ki_index *[]){&self},
                                  .index_count = 1),
                       &in.store, NULL),
          "store");
    for (size_t i = 0; i < INDEXER_OBJECTS; i++) {
        char text[128];
        int len =
            snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"object-number-%zu\"}}", i);
        check(ki_object_from_json(text, (size_t)len, NULL, &in.objects[i], NULL), "an object");
        check(ki_store_add(in.store, in.objects[i], NULL), "add");
    }
    bench_case work_case = {.bench = "store",
                            .impl = "kinformer",
                            .row = "indexer",
                            .run = indexer_run,
                            .user = &in,
                            .memory = -1};
    bench_measure(&work_case, 1, rounds, ms);
    for (size_t i = 0; i < INDEXER_OBJECTS; i++) {
        (void)ki_object_unref(in.objects[i]);
    }
    (void)ki_store_unref(in.store);
}

/* An allocator that counts, with what the C library adds to each block. */

static void *counted_alloc(size_t size, void *user)
{
    void *block = malloc(size);
    *(size_t *)user += block != NULL ? malloc_usable_size(block) + sizeof(size_t) : 0;
    return block;
}

static void *counted_realloc(void *block, size_t size, void *user)
{
    size_t before = malloc_usable_size(block);
    void *moved = realloc(block, size);
    if (moved != NULL) {
        *(size_t *)user += malloc_usable_size(moved) - before;
    }
    return moved;
}

static void counted_free(void *block, void *user)
{
    *(size_t *)user -= malloc_usable_size(block) + sizeof(size_t);
    free(block);
}

static void run_memory(size_t objects, size_t per_ns)
{
    size_t taken = 0;
    ki_alloc counting = {0, counted_alloc, counted_realloc, counted_free, &taken, NULL};
    env e;
    env_init(&e, objects, per_ns, &counting);
    bench_line_begin("store", "kinformer", "memory");
    bench_line_number("objects", (double)objects);
    bench_line_number("memory", (double)taken / (double)objects);
    bench_line_end();
    env_done(&e);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"row", "what to do; see the head of bench_store.c", "get"},
        {"objects", "objects in the store", "10000"},
        {"readers", "threads that read", "1"},
        {"per-ns", "objects in one namespace", "100"},
        {"seconds", "time that is measured", "2"},
        {"rounds", "rounds of row indexer", "15"},
        {"ms", "of one round of row indexer", "30"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    const char *row = options[0].value;
    size_t objects = (size_t)bench_option_number(&options[1]);
    size_t readers = (size_t)bench_option_number(&options[2]);
    size_t per_ns = (size_t)bench_option_number(&options[3]);
    if (objects == 0 || per_ns == 0 || readers > 1000) {
        bench_fail("at least one object, one in a namespace, and at most 1000 readers");
    }
    if (strcmp(row, "indexer") == 0) {
        run_indexer((unsigned)bench_option_number(&options[5]),
                    (unsigned)bench_option_number(&options[6]));
    } else if (strcmp(row, "memory") == 0) {
        run_memory(objects, per_ns);
    } else {
        run_load(row, objects, per_ns, readers, bench_option_seconds(&options[4]));
    }
    return 0;
}

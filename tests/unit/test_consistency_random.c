/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories of a controller that creates and deletes children of owners, while its cache is
 * fed by two servers that lag behind the writes, by different amounts. No reconcile may see a cache
 * in which one of its own earlier writes for that owner is missing; and when the servers catch up,
 * every owner has its children.
 *
 * With a number as argument it runs that many histories. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/consistency.h>
#include <kinformer/controller.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/worker.h>

#include "support/fake_clock.h"
#include "support/fake_source.h"
#include "support/objects.h"
#include "support/test.h"
#include "support/workqueue.h"
#include "support/world.h"

enum { OWNERS = 3, CHILDREN = 64, CHANGES = 512, STEPS = 60, SERVERS = 2, DESIRED_MAX = 4 };

/* What happened on the server; the index plus 1 is the version. */
typedef struct change {
    ki_watch_event_type type;
    int child; /* -1: an object of nobody */
    bool deleting;
} change;

typedef struct child {
    int owner;
    bool deleted;    /* a deletion was accepted */
    bool finalizing; /* and the object is still there */
} child;

typedef struct history {
    uint64_t random;
    test_alloc alloc;
    test_world world;
    fake_clock clock;
    ki_engine *engine;
    ki_informer *informer;
    ki_consistency *consistency;
    ki_workqueue *queue;
    ki_controller *controller;
    change log[CHANGES];
    size_t head;          /* changes that were written */
    size_t seen[SERVERS]; /* by each server */
    size_t fed;           /* to the informer */
    int server;           /* that the informer is connected to */
    child children[CHILDREN];
    int child_count;
    int desired[OWNERS];
    int reconciles;
    const char *violation;
} history;

static fake_source source; /* large */
static uint64_t total_reconciles;
static uint64_t total_writes;

static uint32_t draw(history *h, uint32_t limit)
{
    return (uint32_t)(test_random(&h->random) % limit);
}

static ki_object *make(const history *h, size_t at)
{
    char text[320];
    const change *c = &h->log[at];
    (void)snprintf(text, sizeof(text),
                   "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'ns','name':'c%d',"
                   "'uid':'uid-%d','resourceVersion':'%zu'%s}}",
                   c->child, c->child, at + 1,
                   c->deleting ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "");
    return test_object(NULL, text);
}

/* ---- the servers ---- */

static size_t put(history *h, ki_watch_event_type type, int which, bool deleting)
{
    assert_true(h->head < CHANGES);
    h->log[h->head] = (change){.type = type, .child = which, .deleting = deleting};
    return ++h->head;
}

static void respond(fake_source *from, const fake_request *request, void *user)
{
    (void)user;
    if (!request->watch) {
        fake_end_list(from, "1", "");
    }
}

/* The connected server sends some of what it has. */
static void feed(history *h, size_t most)
{
    size_t until = h->seen[h->server];
    for (; source.open && h->fed < until && most != 0; most--) {
        fake_event(&source, h->log[h->fed].type, make(h, h->fed));
        h->fed++;
        test_world_settle(h->engine);
    }
    if (source.open && h->fed != 0 && h->fed == until && draw(h, 2) == 0) {
        char version[32];
        (void)snprintf(version, sizeof(version), "%zu", h->fed);
        fake_bookmark(&source, version, false);
        test_world_settle(h->engine);
    }
}

/* ---- the controller ---- */

/* Whether the cache shows every accepted write for this owner. */
static void look_for_stale(history *h, int owner)
{
    for (int i = 0; i < h->child_count; i++) {
        const child *c = &h->children[i];
        char key[32];
        (void)snprintf(key, sizeof(key), "ns/c%d", i);
        if (c->owner != owner) {
            continue;
        }
        ki_object *cached = ki_store_get(ki_informer_store(h->informer), key);
        bool there = cached != NULL && !ki_object_is_deleting(cached);
        (void)ki_object_unref(cached);
        if (there == c->deleted) {
            h->violation = c->deleted ? "a deleted child is in the cache"
                                      : "a created child is not in the cache";
        }
    }
}

static int count_children(const history *h, int owner, int *ret_last)
{
    int count = 0;
    for (int i = 0; i < h->child_count; i++) {
        if (h->children[i].owner == owner && !h->children[i].deleted) {
            count++;
            *ret_last = i;
        }
    }
    return count;
}

static int create_child(history *h, const char *key, int owner)
{
    char version[32];
    int which = h->child_count++;
    h->children[which] = (child){.owner = owner};
    (void)snprintf(version, sizeof(version), "%zu", put(h, KI_WATCH_EVENT_ADDED, which, false));
    return ki_consistency_wrote(h->consistency, h->informer, key, "owner", version);
}

/* The last known state is that of the cache. */
static int delete_child(history *h, const char *key, int which)
{
    char object_key[32];
    (void)snprintf(object_key, sizeof(object_key), "ns/c%d", which);
    ki_object *known = ki_store_get(ki_informer_store(h->informer), object_key);
    if (known == NULL) {
        h->violation = "a child to delete is not in the cache";
        return 0;
    }
    int r = ki_consistency_will_delete(h->consistency, h->informer, key, "owner", known);
    (void)ki_object_unref(known);
    if (r < 0) {
        return r; /* not sent */
    }
    bool finalizing = draw(h, 2) == 0;
    h->children[which].deleted = true;
    h->children[which].finalizing = finalizing;
    (void)put(h, finalizing ? KI_WATCH_EVENT_MODIFIED : KI_WATCH_EVENT_DELETED, which, finalizing);
    total_writes++;
    return 0;
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    history *h = user;
    int owner = key[0] - '0';
    int last = -1;
    (void)error;
    h->reconciles++;
    look_for_stale(h, owner);
    if (h->violation != NULL) {
        return 0;
    }
    int have = count_children(h, owner, &last);
    *retry_after_ms = have != h->desired[owner] ? 1 : 0;
    if (have < h->desired[owner] && h->child_count < CHILDREN) {
        total_writes++;
        return create_child(h, key, owner);
    }
    if (have > h->desired[owner]) {
        return delete_child(h, key, last);
    }
    return 0;
}

/* ---- a history ---- */

static void open_history(history *h, uint64_t seed)
{
    memset(h, 0, sizeof(*h));
    h->random = seed;
    test_alloc_init(&h->alloc);
    test_world_init(&h->world);
    fake_clock_init(&h->clock);
    ki_engine_options engine = test_world_engine_options(&h->world, &h->alloc.table);
    assert_int_equal(ki_engine_new(&engine, &h->engine, NULL), 0);
    fake_source_init(&source, h->engine, &h->world);
    source.respond = respond;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = h->engine;
    options.source = &source.table;
    options.no_streaming = true;
    assert_int_equal(ki_informer_new(&options, &h->informer, NULL), 0);
    assert_int_equal(ki_informer_start(h->informer, NULL), 0);
    const ki_consistency_options record = {
        .size = sizeof(record), .alloc = &h->alloc.table, .max_writes = 1 + draw(h, 4)};
    assert_int_equal(ki_consistency_new(draw(h, 2) == 0 ? &record : NULL, &h->consistency, NULL),
                     0);
    assert_int_equal(ki_consistency_add_informer(h->consistency, h->informer, NULL), 0);
    assert_int_equal(ki_workqueue_new(KI_OPTIONS(ki_workqueue_options, .clock = &h->clock.table),
                                      &h->queue, NULL),
                     0);
    assert_int_equal(ki_controller_new(KI_OPTIONS(ki_controller_options, .queue = h->queue,
                                                  .reconcile = reconcile, .user = h,
                                                  .consistency = h->consistency),
                                       &h->controller, NULL),
                     0);
    (void)put(h, KI_WATCH_EVENT_ADDED, -1, false); /* version 1 is that of the list */
    h->fed = 1;
    test_world_settle(h->engine);
}

static void close_history(history *h)
{
    ki_informer_stop(h->informer);
    test_world_settle(h->engine);
    (void)ki_controller_unref(h->controller);
    (void)ki_workqueue_unref(h->queue);
    (void)ki_consistency_unref(h->consistency);
    (void)ki_informer_unref(h->informer);
    fake_source_done(&source);
    (void)ki_engine_unref(h->engine);
    test_alloc_done(&h->alloc);
}

static void want(history *h)
{
    int owner = (int)draw(h, OWNERS);
    char key[2] = {(char)('0' + owner), '\0'};
    h->desired[owner] = (int)draw(h, DESIRED_MAX + 1);
    (void)wq_add(h->queue, key);
}

static void work(history *h)
{
    fake_clock_advance(&h->clock, 2000 * MS_NS);
    for (int i = 0; i < 2 * OWNERS && ki_controller_work_one(h->controller) == 1; i++) {
    }
}

/* The finalizer of a deleted child is removed. */
static void finalize(history *h)
{
    for (int i = 0; i < h->child_count; i++) {
        if (h->children[i].finalizing) {
            h->children[i].finalizing = false;
            (void)put(h, KI_WATCH_EVENT_DELETED, i, true);
            return;
        }
    }
}

static void step(history *h)
{
    int server = (int)draw(h, SERVERS);
    switch (draw(h, 8)) {
    case 0:
        want(h);
        break;
    case 1:
    case 2:
        h->seen[server] += draw(h, (uint32_t)(h->head - h->seen[server]) + 1);
        break;
    case 3:
    case 4:
        feed(h, draw(h, 4));
        break;
    case 5:
        if (h->seen[server] >= h->fed) { /* otherwise it could not resume the watch */
            h->server = server;
        }
        finalize(h);
        break;
    default:
        work(h);
        break;
    }
}

static void converge(history *h)
{
    for (int round = 0; round < 40 && h->violation == NULL; round++) {
        finalize(h);
        h->seen[0] = h->head;
        h->seen[1] = h->head;
        feed(h, CHANGES);
        work(h);
    }
    for (int owner = 0; owner < OWNERS && h->violation == NULL; owner++) {
        int last;
        if (count_children(h, owner, &last) != h->desired[owner] && h->child_count < CHILDREN) {
            h->violation = "an owner does not have its children";
        }
    }
}

static void run(uint64_t seed)
{
    history h;
    open_history(&h, seed);
    for (int i = 0; i < STEPS && h.violation == NULL && h.head < CHANGES / 2; i++) {
        step(&h);
    }
    converge(&h);
    total_reconciles += (uint64_t)h.reconciles;
    if (h.violation != NULL) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, h.violation);
    }
    close_history(&h);
}

static uint64_t histories = 8000;

static void no_decision_is_stale(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= histories; seed++) {
        run(seed);
    }
    assert_true(total_reconciles > histories * 5);
    assert_true(total_writes > histories * 3);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        histories = strtoull(argv[1], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_decision_is_stale),
    };
    return cmocka_run_group_tests_name("consistency, random histories", tests, NULL, NULL);
}

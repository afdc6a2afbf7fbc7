/* SPDX-License-Identifier: Apache-2.0 */
/* Every order of what can come into a delta queue (events, lists that make up for events that were
 * missed, resyncs) and of taking it out (one key, everything, or putting it back), for two objects
 * and both kinds of queue. What is applied to the store, and delivered, must in the end be what
 * the server had; see I4 and I10. */
#include <stdio.h>
#include <string.h>

#include "cache/informer/apply_deltas.h"
#include "sim/sim.h"

enum { OBJECTS = 2, STEPS_QUICK = 5, STEPS_FULL = 6 };

typedef enum step {
    CHANGE_A, /* made, or changed; the queue receives it */
    CHANGE_B,
    DELETE_A,
    MISSED_DELETE_A,   /* the queue does not receive it until the next list */
    MISSED_RECREATE_A, /* the same: deleted and made again */
    LIST,
    RESYNC,
    POP_ONE,
    POP_ALL,
    POP_AGAIN,
    STEP_MAX
} step;

static const char *const step_names[] = {
    "change a", "change b", "delete a", "missed delete a", "missed a recreated",
    "list",     "resync",   "pop one",  "pop all",         "pop again"};

typedef struct bench {
    const sim_options *options;
    const step *steps;
    size_t count;
    bool deltas;
    ki_queue *queue;
    ki_store *store;
    ki__applier applier;
    ki_object *server[OBJECTS];
    const ki_object *seen[OBJECTS];
    uint64_t rv;
    uint32_t uid;
    bool missed; /* the queue does not know of something */
    bool again;  /* what is popped goes back */
} bench;

static _Noreturn void wrong(const bench *b, const char *why)
{
    static sim nothing;
    char text[256] = "";
    for (size_t i = 0; i < b->count; i++) {
        size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%s%s", i > 0 ? ", " : "",
                       step_names[b->steps[i]]);
    }
    nothing.options.abort = b->options->abort;
    (void)printf("replay with: sim --small\n");
    sim_violation(&nothing, "I4", "%s queue: %s: %s", b->deltas ? "delta" : "plain", text, why);
}

static void check(const bench *b, bool good, const char *why)
{
    if (!good) {
        wrong(b, why);
    }
}

/* ---- the server ---- */

static void make(bench *b, int i, bool recreate)
{
    char text[160];
    b->uid += recreate;
    int len =
        snprintf(text, sizeof(text),
                 "{\"metadata\":{\"name\":\"%c\",\"uid\":\"u%u\",\"resourceVersion\":\"%llu\"}}",
                 'a' + i, i == 0 ? b->uid : 1, (unsigned long long)++b->rv);
    (void)ki_object_unref(b->server[i]);
    check(b, ki_object_from_json(text, (size_t)len, NULL, &b->server[i], NULL) == 0, "no object");
}

static void change(bench *b, int i)
{
    bool there = b->server[i] != NULL;
    make(b, i, !there);
    if (!b->missed) { /* a watch that misses something has broken: a list comes before it resumes */
        int r = there ? ki_queue_update(b->queue, b->server[i], NULL)
                      : ki_queue_add(b->queue, b->server[i], NULL);
        check(b, r == 0, "the queue takes nothing");
    }
}

static void delete_a(bench *b, bool missed)
{
    if (b->server[0] == NULL) {
        return;
    }
    make(b, 0, false); /* the final state has a version of its own */
    if (!missed && !b->missed) {
        check(b, ki_queue_delete(b->queue, b->server[0], NULL) == 0, "the queue takes nothing");
    }
    b->missed = b->missed || missed;
    b->server[0] = ki_object_unref(b->server[0]);
}

static void list(bench *b)
{
    char version[24];
    const ki_object *objects[OBJECTS];
    size_t count = 0;
    for (int i = 0; i < OBJECTS; i++) {
        if (b->server[i] != NULL) {
            objects[count++] = b->server[i];
        }
    }
    (void)snprintf(version, sizeof(version), "%llu", (unsigned long long)b->rv);
    const ki_replacement all = {
        .objects = objects, .object_count = count, .resource_version = version};
    check(b, ki_queue_replace(b->queue, &all, NULL) == 0, "the queue takes no list");
    b->missed = false;
}

/* ---- the client ---- */

static void hear(bench *b, const ki__note *note)
{
    int i = ki_object_name(note->object)[0] - 'a';
    const ki_object *before = b->seen[i];
    bool same_uid =
        before != NULL && strcmp(ki_object_uid(before), ki_object_uid(note->object)) == 0;
    switch (note->type) {
    case KI__NOTE_ADD:
        check(b, before == NULL, "an object comes twice");
        break;
    case KI__NOTE_UPDATE:
        check(b, before != NULL && note->old != NULL && sim_rv(note->old) == sim_rv(before),
              "the old object is not the one that was delivered last");
        check(b, same_uid, "a change is to another object");
        check(b, sim_rv(note->object) >= sim_rv(before), "a change goes back");
        break;
    case KI__NOTE_DELETE:
        check(b, before != NULL, "an object goes that was not there");
        check(b, same_uid, "another object goes");
        break;
    case KI__NOTE_SYNC:
        check(b, before != NULL && sim_rv(note->object) == sim_rv(before),
              "a resync delivers something else");
        return;
    }
    b->seen[i] = note->type == KI__NOTE_DELETE ? NULL : ki_object_ref(note->object);
    (void)ki_object_unref(before);
}

static int process(const ki_deltas *deltas, void *user)
{
    bench *b = user;
    ki__note note;
    if (b->again) {
        return KI_POP_AGAIN;
    }
    check(b, ki__apply(&b->applier, deltas, NULL) == 0, "the store takes nothing");
    while (ki__apply_next(&b->applier, &note)) {
        hear(b, &note);
    }
    ki__apply_end(&b->applier);
    return KI_POP_DONE;
}

static void pop(bench *b, size_t max, bool again)
{
    b->again = again;
    check(b, ki_queue_poll(b->queue, max, process, b) >= 0, "nothing can be popped");
    b->again = false;
}

static void pop_all(bench *b)
{
    while (ki_queue_count(b->queue) != 0) {
        pop(b, 0, false);
    }
}

static void take_step(bench *b, step what)
{
    switch (what) {
    case CHANGE_A:
    case CHANGE_B:
        change(b, what == CHANGE_B);
        break;
    case DELETE_A:
    case MISSED_DELETE_A:
        delete_a(b, what == MISSED_DELETE_A);
        break;
    case MISSED_RECREATE_A:
        delete_a(b, true);
        b->missed = true;
        make(b, 0, true);
        break;
    case LIST:
        list(b);
        break;
    case RESYNC:
        check(b, ki_queue_resync(b->queue, NULL) == 0, "the queue takes no resync");
        break;
    case POP_ONE:
    case POP_ALL:
    case POP_AGAIN:
        pop(b, what == POP_ONE ? 1 : 0, what == POP_AGAIN);
        break;
    case STEP_MAX:
        break;
    }
}

static void compare(const bench *b)
{
    ki_snapshot *snapshot = ki_store_snapshot(b->store);
    for (int i = 0; i < OBJECTS; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        const ki_object *has = ki_snapshot_get(snapshot, name);
        const ki_object *must = b->server[i];
        check(b, (has == NULL) == (must == NULL) && (has == NULL || sim_rv(has) == sim_rv(must)),
              "the store is not as the server");
        check(b,
              (has == NULL) == (b->seen[i] == NULL) &&
                  (has == NULL || sim_rv(has) == sim_rv(b->seen[i])),
              "what was delivered is not what the store has");
    }
    check(b, sim_rv_text(ki_snapshot_resource_version(snapshot)) <= b->rv,
          "the store is ahead of the server");
    (void)ki_snapshot_unref(snapshot);
}

static void run_steps(const sim_options *options, const step *steps, size_t count, bool deltas)
{
    bench b = {.options = options, .steps = steps, .count = count, .deltas = deltas};
    ki_queue_options queue = KI_OPTIONS_INIT(ki_queue_options);
    check(&b, ki_store_new(NULL, &b.store, NULL) == 0, "no store");
    queue.known = deltas ? b.store : NULL;
    int r =
        deltas ? ki_delta_fifo_new(&queue, &b.queue, NULL) : ki_fifo_new(&queue, &b.queue, NULL);
    check(&b, r == 0 && ki__applier_init(&b.applier, b.store, ki_alloc_default(), NULL) == 0,
          "no queue");
    for (size_t i = 0; i < count; i++) {
        take_step(&b, steps[i]);
    }
    if (b.missed) {
        list(&b);
    }
    pop_all(&b);
    compare(&b);
    ki__applier_done(&b.applier);
    b.queue = ki_queue_unref(b.queue);
    b.store = ki_store_unref(b.store);
    for (int i = 0; i < OBJECTS; i++) {
        (void)ki_object_unref(b.server[i]);
        (void)ki_object_unref(b.seen[i]);
    }
}

uint64_t sim_small_queue(const sim_options *options, bool quick)
{
    step steps[STEPS_FULL] = {0};
    size_t count = quick ? STEPS_QUICK : STEPS_FULL;
    uint64_t orders = 0;
    for (;;) {
        run_steps(options, steps, count, true);
        run_steps(options, steps, count, false);
        orders += 2;
        size_t i = count;
        while (i > 0 && steps[i - 1] == STEP_MAX - 1) {
            steps[--i] = CHANGE_A;
        }
        if (i == 0) {
            break;
        }
        steps[i - 1] = (step)(steps[i - 1] + 1);
    }
    (void)printf("%-40s %8llu orders\n", "a queue", (unsigned long long)orders);
    return orders;
}

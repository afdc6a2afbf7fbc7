/* SPDX-License-Identifier: Apache-2.0 */
/* The stress test: threads make random calls of the public API against the embedded server while
 * that injects faults. Every handler checks what it receives; between rounds every cache and every
 * handler must come to equal the server. See docs/reliability.md. */
#ifndef KI_STRESS_H
#define KI_STRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kinformer/apiserver.h>
#include <kinformer/kinformer.h>

enum {
    RESOURCES = 2, /* ConfigMaps, which are protobuf, and Widgets, which are JSON */
    NAMESPACES = 2,
    NAMES = 40,
    OBJECTS = NAMESPACES * NAMES,
    APPS = 3,
    PROBES = 24, /* of an app */
    KEYS = 32,   /* of the work queue */
    /* What must happen sooner or later did not, after this long. Sanitizers on a loaded machine
     * are slow; a deadlock is for ever. */
    PATIENCE_MS = 180000,
};

/* ---- random numbers: one generator per thread ---- */

typedef struct dice {
    uint64_t state;
} dice;

uint32_t roll(dice *d, uint32_t below);

/* ---- reporting ---- */

/* Ends the process with a message: an invariant does not hold. */
_Noreturn void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the process if a call failed that must not. */
void must(int r, const ki_error *error, const char *what);
uint64_t now_ms(void);
void pause_ms(unsigned int ms);

/* ---- objects ---- */

/* The position of an object in the tables below, from its key. */
size_t slot_of(const char *key);
uint64_t version_of(const ki_object *object);
/* Whether handlers with a filter receive it. */
bool passes_filter(const ki_object *object);
/* An object of a resource, with a random label. */
ki_object *make_object(dice *d, unsigned int resource, size_t slot);

/* What the server has of one object; `version` 0: nothing. */
typedef struct truth {
    uint64_t version;
    bool passes;
} truth;

/* ---- a handler that checks what it receives ---- */

struct world;
typedef struct probe probe;

/* Adds a handler with random options; NULL if the informer is stopped or has no threads. */
probe *probe_new(struct world *world, ki_informer *informer, dice *d);
void probe_unref(probe *p);
/* Removes the handler, in one of the ways that there are. */
void probe_remove(probe *p, dice *d);
/* Makes the handler remove itself inside its next callback. */
void probe_remove_inside(probe *p);
/* Dispatches for a handler with KI_DELIVERY_CALLER, as its wake callback requested. */
void probe_dispatch(probe *p, dice *d);
bool probe_is_removed(probe *p);
/* Whether what it received adds up to what the server has. Says where it differs if `explain`. */
bool probe_equals(probe *p, const truth *objects, bool explain);

/* Handlers that were woken and wait for a thread to dispatch them. */
typedef struct ready_list {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    probe *first;
    bool closed;
} ready_list;

void ready_push(ready_list *list, probe *p);
/* Waits for one; NULL when the list is closed and empty. */
probe *ready_pop(ready_list *list);

/* ---- a program that uses the library: a loop, a client, a factory, informers, handlers ---- */

typedef struct app app;

app *app_new(struct world *world, dice *d);
app *app_ref(app *a);
/* The last one ends everything in it, and checks that it ends. */
void app_unref(app *a);
/* One random call. */
void app_act(app *a, dice *d);
/* Waits until all caches and handlers in it equal the server at `version`. False: it has changed.
 */
bool app_settle(app *a, const truth objects[RESOURCES][OBJECTS], uint64_t version);

/* ---- a work queue and its workers ---- */

typedef struct work work;

work *work_start(void);
void work_act(work *w, dice *d);
/* Shuts the queue down and checks that nothing was lost. */
void work_end(work *w);

/* ---- everything ---- */

typedef struct world {
    ki_apiserver *server;
    ki_config *config;
    const ki_resource *resources[RESOURCES];
    ready_list ready;
    work *work;
    pthread_mutex_t lock; /* of `apps` and `held` */
    app *apps[APPS];
    ki_snapshot *held; /* passed between threads */
    atomic_bool writing;
    atomic_bool acting;
    atomic_size_t probes;        /* handlers whose `destroy` has not run */
    atomic_uint_fast64_t events; /* received by handlers */
    atomic_uint_fast64_t calls;  /* made by actors */
} world;

#endif

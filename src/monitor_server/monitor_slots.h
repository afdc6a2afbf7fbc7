/* SPDX-License-Identifier: Apache-2.0 */
/* What the monitor server records of each informer. Samples are taken by a timer, from counters.
 * Changes are recorded only while a client shows the page. Inside the loop only. */
#ifndef KI_MONITOR_SERVER_MONITOR_SLOTS_H
#define KI_MONITOR_SERVER_MONITOR_SLOTS_H

#include <kinformer/handler.h>
#include <kinformer/informer.h>
#include <kinformer/registration.h>

#include "base/engine.h"
#include "base/list.h"
#include "monitor/gathered.h"

enum {
    KI__SAMPLES = 120, /* of 5 s: ten minutes */
    KI__SAMPLE_MS = 5000,
    KI__CHANGES = 50,
    KI__FIELDS = 16,
    KI__FIELD_NAME = 40,
    KI__OPENED = 16,
};

/** A part of the objects of a cache. */
typedef struct ki__field_size {
    char name[KI__FIELD_NAME]; /* "spec", "metadata.managedFields" */
    uint64_t bytes;            /* of the measured objects, as received */
} ki__field_size;

typedef struct ki__monitor_slots ki__monitor_slots;

typedef struct ki__slot {
    ki__list link;
    ki__monitor_slots *owner;
    ki_informer *informer; /* its memory is kept */
    bool seen;             /* it still exists */
    bool secret;           /* objects must not be shown */
    ki_registration *observer;

    uint64_t events_before;
    uint32_t samples; /* taken so far, at most KI__SAMPLES */
    uint32_t events[KI__SAMPLES];
    uint32_t lag_ms[KI__SAMPLES];

    uint64_t measured_ns; /* 0: never */
    size_t measured;      /* objects */
    size_t field_count;
    uint64_t field_bytes; /* of all fields */
    ki__field_size fields[KI__FIELDS];
} ki__slot;

typedef struct ki__recorded_change {
    uint64_t number; /* from 1; 0: none */
    int64_t time_s;
    ki_change_type type;
    ki_object *object;
    ki_object *old;   /* NULL if there is none */
    const char *name; /* of the informer: static, or kept by `held` */
    ki_informer *held;
    bool secret;
} ki__recorded_change;

/** An object in the state in which a page showed it first. */
typedef struct ki__opened_object {
    uint64_t number; /* from 1; 0: none */
    uint64_t after;  /* the number of the last change before */
    const ki_informer *informer;
    ki_object *object;
    int64_t time_s;
} ki__opened_object;

struct ki__monitor_slots {
    const ki_alloc *alloc;
    ki_client *client;
    ki_engine *engine;
    ki__timer timer;
    ki__list list;     /* of ki__slot */
    uint32_t position; /* of the next sample */
    uint64_t used_ns;  /* when a page was last requested; 0: never */
    uint64_t change_count;
    ki__recorded_change changes[KI__CHANGES];
    uint64_t opened_count;
    ki__opened_object opened[KI__OPENED];
};

/** Starts the timer. -ENOMEM. */
int ki__slots_init(ki__monitor_slots *slots, const ki_alloc *alloc, ki_client *client,
                   ki_engine *engine);
void ki__slots_done(ki__monitor_slots *slots);

/** Has a slot for each informer, and only those. -ENOMEM. */
int ki__slots_update(ki__monitor_slots *slots, const ki__gathered *gathered);

/** A page was requested: changes are recorded from now on, for ten minutes. */
int ki__slots_use(ki__monitor_slots *slots, const ki__gathered *gathered);

/** The slot of an informer; NULL if it has none. */
ki__slot *ki__slots_find(const ki__monitor_slots *slots, const ki_informer *informer);

/** Measures the fields of a few objects, unless that was done less than a minute ago. Returns
 *  whether it did. Best effort. */
bool ki__slot_measure(ki__slot *slot);

/** Keeps an object for ki__slots_opened(), in place of the oldest. Returns its number. */
uint64_t ki__slots_open(ki__monitor_slots *slots, const ki_informer *informer,
                        const ki_object *object);
/** NULL if it is not kept any more. */
const ki__opened_object *ki__slots_opened(const ki__monitor_slots *slots, uint64_t number);

#endif

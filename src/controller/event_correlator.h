/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of an event: client-go's EventCorrelator, with its numbers. State is kept for the
 * most recently used events, groups of similar events, and objects; it is found by a keyed hash of
 * 128 bits, so that an entry has a fixed size.
 *
 * If memory is exhausted, the event is passed on as it is. */
#ifndef KI_CONTROLLER_EVENT_CORRELATOR_H
#define KI_CONTROLLER_EVENT_CORRELATOR_H

#include <kinformer/alloc.h>
#include <kinformer/str.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/map.h"

enum {
    KI__CORRELATOR_ENTRIES = 4096,
    KI__SIMILAR_MAX = 10,      /* different notes before similar events are combined */
    KI__SIMILAR_SECONDS = 600, /* a group that was silent for longer begins again */
    KI__SPAM_BURST = 25,       /* events of an object */
    KI__SPAM_SECONDS = 300,    /* for one more */
    KI__CORRELATOR_NAME = 253, /* of an event */
};

/* Entries by their digest, the most recently used first. */
typedef struct ki__recent {
    ki__map map;
    ki__list order;
    size_t max;
} ki__recent;

typedef struct ki__correlator {
    const ki_alloc *alloc;
    ki__hash_key keys[2];
    ki__recent similar; /* groups */
    ki__recent counts;  /* events that were sent */
    ki__recent spam;    /* objects */
} ki__correlator;

/* An event, as far as it matters here. */
typedef struct ki__correlated {
    uint64_t type;
    ki_str object; /* identifies the object that it is about */
    ki_str reason; /* reason and action */
    ki_str note;
    uint64_t now_ns;     /* monotonic */
    int64_t realtime_ns; /* when it happened */
    const char *name;    /* for a new event */
} ki__correlated;

typedef struct ki__correlation {
    bool skip;     /* the object has too many events */
    bool combined; /* of similar events */
    uint64_t count;
    int64_t first_ns;
    char name[KI__CORRELATOR_NAME + 1]; /* of the event to create, or whose count has grown */
} ki__correlation;

void ki__correlator_init(ki__correlator *correlator, const ki_alloc *alloc, ki__hash_key first,
                         ki__hash_key second, size_t max_entries);
void ki__correlator_done(ki__correlator *correlator);
void ki__correlate(ki__correlator *correlator, const ki__correlated *event,
                   ki__correlation *ret_result);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The correlator of events. Order of the steps, as in client-go: similar events are combined, equal
 * ones counted, and what is left passes the filter of its object. client-go: tools/record
 * (events_cache.go). */
#include "controller/event_correlator.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time_units.h"

/* The beginning of every entry. */
typedef struct entry {
    ki__list link;
    uint64_t digest[2];
} entry;

typedef struct similar_entry {
    entry base;
    uint64_t last_ns;
    size_t count;
    uint64_t notes[KI__SIMILAR_MAX]; /* digests of different notes */
} similar_entry;

typedef struct count_entry {
    entry base;
    uint64_t count;
    int64_t first_ns;
    char name[KI__CORRELATOR_NAME + 1];
} count_entry;

typedef struct spam_entry {
    entry base;
    uint64_t last_ns;
    uint64_t saved_ns; /* time for events: each takes KI__SPAM_SECONDS of it */
} spam_entry;

/* ---- recently used entries ---- */

static void recent_init(ki__recent *recent, const ki_alloc *alloc, ki__hash_key key, size_t max)
{
    ki__map_init(&recent->map, alloc, key, max);
    ki__list_init(&recent->order);
    recent->max = max;
}

static ki_str key_of(const entry *e)
{
    return ki_str_make((const char *)e->digest, sizeof(e->digest));
}

static void recent_remove(ki__recent *recent, entry *e)
{
    (void)ki__map_remove(&recent->map, key_of(e));
    ki__list_remove(&e->link);
    ki__free(recent->map.alloc, e);
}

static void recent_done(ki__recent *recent)
{
    while (!ki__list_is_empty(&recent->order)) {
        recent_remove(recent, KI__CONTAINER_OF(recent->order.next, entry, link));
    }
    ki__map_done(&recent->map);
}

/* The entry of a digest, which may be new: then it is zeroed. NULL if out of memory. */
static void *recent_get(ki__recent *recent, const uint64_t digest[2], size_t size)
{
    ki_str key = ki_str_make((const char *)digest, 2 * sizeof(digest[0]));
    entry *e = ki__map_get(&recent->map, key);
    if (e != NULL) {
        ki__list_remove(&e->link);
        ki__list_push_front(&recent->order, &e->link);
        return e;
    }
    if (recent->map.count == recent->max) {
        recent_remove(recent, KI__CONTAINER_OF(recent->order.prev, entry, link));
    }
    e = ki__alloc_zero(recent->map.alloc, size);
    if (e == NULL) {
        return NULL;
    }
    memcpy(e->digest, digest, sizeof(e->digest));
    if (ki__map_set(&recent->map, key_of(e), e, NULL) < 0) {
        ki__free(recent->map.alloc, e);
        return NULL;
    }
    ki__list_push_front(&recent->order, &e->link);
    return e;
}

/* ---- digests ---- */

static void digest_add(const ki__correlator *c, uint64_t digest[2], ki_str part)
{
    for (int i = 0; i < 2; i++) {
        const uint64_t both[2] = {digest[i], ki__hash_str(c->keys[i], part)};
        digest[i] = ki__hash(c->keys[i], both, sizeof(both));
    }
}

/* ---- the steps ---- */

/* Whether the event is combined with similar ones. */
static bool combine(ki__correlator *c, const ki__correlated *event, const uint64_t group[2])
{
    similar_entry *s = recent_get(&c->similar, group, sizeof(*s));
    if (s == NULL) {
        return false;
    }
    if (event->now_ns - s->last_ns > KI__SIMILAR_SECONDS * KI__SECOND_NS) {
        s->count = 0;
    }
    s->last_ns = event->now_ns;
    uint64_t note = ki__hash_str(c->keys[0], event->note);
    size_t i = 0;
    while (i < s->count && s->notes[i] != note) {
        i++;
    }
    if (i == s->count) {
        s->notes[s->count++] = note;
    }
    if (s->count < KI__SIMILAR_MAX) {
        return false;
    }
    s->count--; /* one is dropped, so that a new note has a place */
    return true;
}

static void count(ki__correlator *c, const ki__correlated *event, const uint64_t key[2],
                  ki__correlation *result)
{
    count_entry *e = recent_get(&c->counts, key, sizeof(*e));
    const char *name = event->name;
    result->count = 1;
    result->first_ns = event->realtime_ns;
    if (e != NULL) {
        if (e->count == 0) {
            e->first_ns = event->realtime_ns;
            memcpy(e->name, event->name, strlen(event->name) + 1);
        }
        e->count++;
        name = e->name;
        result->count = e->count;
        result->first_ns = e->first_ns;
    }
    memcpy(result->name, name, strlen(name) + 1);
}

static bool is_spam(ki__correlator *c, const ki__correlated *event)
{
    const uint64_t each = KI__SPAM_SECONDS * KI__SECOND_NS;
    uint64_t digest[2] = {event->type, event->type};
    digest_add(c, digest, event->object);
    spam_entry *s = recent_get(&c->spam, digest, sizeof(*s));
    if (s == NULL) {
        return false;
    }
    uint64_t passed = s->last_ns != 0 ? event->now_ns - s->last_ns : UINT64_MAX;
    uint64_t missing = KI__SPAM_BURST * each - s->saved_ns;
    s->saved_ns += passed < missing ? passed : missing;
    s->last_ns = event->now_ns != 0 ? event->now_ns : 1;
    if (s->saved_ns < each) {
        return true;
    }
    s->saved_ns -= each;
    return false;
}

void ki__correlate(ki__correlator *correlator, const ki__correlated *event,
                   ki__correlation *ret_result)
{
    uint64_t group[2] = {event->type, event->type};
    digest_add(correlator, group, event->object);
    digest_add(correlator, group, event->reason);
    uint64_t single[2] = {group[0], group[1]};
    digest_add(correlator, single, event->note);
    ret_result->combined = combine(correlator, event, group);
    count(correlator, event, ret_result->combined ? group : single, ret_result);
    ret_result->skip = is_spam(correlator, event);
}

/* ---- life ---- */

void ki__correlator_init(ki__correlator *correlator, const ki_alloc *alloc, ki__hash_key first,
                         ki__hash_key second, size_t max_entries)
{
    correlator->alloc = alloc;
    correlator->keys[0] = first;
    correlator->keys[1] = second;
    recent_init(&correlator->similar, alloc, first, max_entries);
    recent_init(&correlator->counts, alloc, first, max_entries);
    recent_init(&correlator->spam, alloc, first, max_entries);
}

void ki__correlator_done(ki__correlator *correlator)
{
    recent_done(&correlator->similar);
    recent_done(&correlator->counts);
    recent_done(&correlator->spam);
}

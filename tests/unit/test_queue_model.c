/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories of a server, seen through lists and watches with gaps, into an informer of each
 * kind; batches that go back, deltas that come while others are out, memory that fails. A model
 * follows what the handler receives. At rest the server, the store and the handler's view are the
 * same, and on the way every event makes sense:
 *   - additions are of objects that the handler did not have, updates and deletions of those it
 * did;
 *   - an update begins with what the handler received last, and never goes to another uid;
 *   - the store has what the handler receives, or something newer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/simple_informer.h>
#include <kinformer/parts/store_write.h>

#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

enum { KEYS = 6, STEPS = 400, SEEDS = 300 };

struct model {
    uint64_t random;
    test_alloc alloc;
    ki_simple_informer *informer;
    ki_queue *queue;
    unsigned version;                 /* of the server */
    unsigned life[KEYS];              /* how often the name was made: its uid */
    ki_object *server[KEYS];          /* or NULL */
    const ki_object *delivered[KEYS]; /* what the handler received last; a reference */
    bool connected;                   /* the watch is open; otherwise a list comes next */
    unsigned events[4];               /* added, updated, deleted, synced */
    unsigned unseen;
    bool put_inside; /* the server changes while the handler runs */
};

static unsigned pick(struct model *m, unsigned below)
{
    return (unsigned)(test_random(&m->random) % below);
}

static unsigned key_of(const ki_object *object)
{
    return (unsigned)(ki_object_name(object)[0] - 'a');
}

/* The server */

static void server_changes(struct model *m);

static int watch(struct model *m, int (*put)(ki_queue *, const ki_object *, ki_error *),
                 const ki_object *object)
{
    return m->connected ? put(m->queue, object, NULL) : 0;
}

static void server_puts(struct model *m, unsigned key)
{
    char spec[32];
    bool is_new = m->server[key] == NULL;
    m->life[key] += is_new;
    (void)snprintf(spec, sizeof(spec), "%c@%u/u%u-%u", (char)('a' + key), ++m->version, key,
                   m->life[key]);
    ki_object *object = test_thing(NULL, spec);
    ki_object_unref(m->server[key]);
    m->server[key] = object;
    if (watch(m, is_new ? ki_queue_add : ki_queue_update, object) < 0) {
        m->connected = false; /* what could not be queued is made up for by a list */
    }
}

static void server_deletes(struct model *m, unsigned key)
{
    char spec[32];
    (void)snprintf(spec, sizeof(spec), "%c@%u/u%u-%u", (char)('a' + key), ++m->version, key,
                   m->life[key]);
    ki_object *last = test_thing(NULL, spec);
    int r;
    if (pick(m, 4) == 0 && m->connected) {
        r = ki_queue_delete_key(m->queue, ki_str_from(ki_object_key(last)), NULL);
    } else {
        r = watch(m, ki_queue_delete, last);
    }
    if (r < 0) {
        m->connected = false;
    }
    m->server[key] = ki_object_unref(m->server[key]);
    ki_object_unref(last);
}

static void server_lists(struct model *m)
{
    const ki_object *list[KEYS];
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", m->version);
    ki_replacement all = {.objects = list, .resource_version = text};
    unsigned first = pick(m, KEYS);
    for (unsigned i = 0; i < KEYS; i++) {
        const ki_object *object = m->server[(first + i) % KEYS];
        if (object != NULL) {
            list[all.object_count++] = object;
        }
    }
    m->connected = ki_queue_replace(m->queue, &all, NULL) >= 0;
}

static void server_changes(struct model *m)
{
    unsigned what = pick(m, 100);
    unsigned key = pick(m, KEYS);
    if (what < 55) {
        server_puts(m, key);
    } else if (what < 75) {
        if (m->server[key] != NULL) {
            server_deletes(m, key);
        }
    } else if (what < 82) {
        m->connected = false;
    } else if (what < 90) {
        server_lists(m);
    } else if (what < 95) {
        if (ki_queue_resync(m->queue, NULL) < 0) {
            m->connected = false;
        }
    } else if (m->connected) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%u", m->version);
        if (ki_queue_bookmark(m->queue, text, NULL) < 0) {
            m->connected = false;
        }
    }
}

/* The handler */

static unsigned number_of(const ki_object *object)
{
    unsigned number = 0;
    (void)sscanf(ki_object_resource_version(object), "%u", &number);
    return number;
}

static void deliver(struct model *m, const ki_object *object, const ki_object *now)
{
    unsigned key = key_of(object);
    ki_object_unref(m->delivered[key]);
    m->delivered[key] = ki_object_ref(now);
    ki_object *stored = ki_store_get(ki_simple_informer_store(m->informer), ki_object_key(object));
    if (stored != NULL) {
        assert_true(number_of(stored) >= number_of(object));
    }
    ki_object_unref(stored);
    if (m->put_inside && pick(m, 3) == 0) {
        server_changes(m);
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    struct model *m = user;
    assert_null(m->delivered[key_of(object)]);
    assert_true(!is_initial || !ki_simple_informer_has_synced(m->informer));
    m->events[0]++;
    deliver(m, object, object);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    struct model *m = user;
    const ki_object *last = m->delivered[key_of(object)];
    assert_non_null(last);
    assert_string_equal(ki_object_resource_version(last), ki_object_resource_version(old_object));
    assert_string_equal(ki_object_uid(last), ki_object_uid(object));
    assert_true(number_of(object) > number_of(last));
    m->events[1]++;
    deliver(m, object, object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    struct model *m = user;
    const ki_object *last = m->delivered[key_of(object)];
    assert_non_null(last);
    assert_string_equal(ki_object_uid(last), ki_object_uid(object));
    assert_true(number_of(object) >= number_of(last));
    if (final_state_unknown) {
        assert_string_equal(ki_object_resource_version(last), ki_object_resource_version(object));
        m->unseen++;
    }
    m->events[2]++;
    deliver(m, object, NULL);
}

static void on_sync(const ki_object *object, void *user)
{
    struct model *m = user;
    const ki_object *last = m->delivered[key_of(object)];
    assert_non_null(last);
    assert_string_equal(ki_object_resource_version(last), ki_object_resource_version(object));
    m->events[3]++;
    deliver(m, object, object);
}

/* Runs */

static void step(struct model *m)
{
    ki_txn *txn = NULL;
    if (pick(m, 10) == 0) { /* someone else writes: the batch goes back */
        assert_int_equal(ki_store_begin(ki_simple_informer_store(m->informer), &txn, NULL), 0);
    } else if (pick(m, 10) == 0) {
        m->alloc.fail_at = m->alloc.calls + 1 + pick(m, 6);
    }
    int r = ki_simple_informer_step(m->informer, false, NULL);
    assert_true(r >= 0 || r == -ENOMEM || (r == KI_ERR_BUSY && txn != NULL));
    m->alloc.fail_at = 0;
    ki_txn_abort(txn);
}

static void come_to_rest(struct model *m)
{
    m->put_inside = false;
    m->alloc.fail_at = 0;
    if (!m->connected) {
        server_lists(m);
    }
    int r;
    while ((r = ki_simple_informer_step(m->informer, false, NULL)) > 0) {
    }
    assert_int_equal(r, 0);
    ki_snapshot *snapshot = ki_store_snapshot(ki_simple_informer_store(m->informer));
    size_t count = 0;
    for (unsigned key = 0; key < KEYS; key++) {
        const char name[] = {(char)('a' + key), '\0'};
        const ki_object *stored = ki_snapshot_get(snapshot, name);
        assert_int_equal(stored != NULL, m->server[key] != NULL);
        assert_int_equal(m->delivered[key] != NULL, m->server[key] != NULL);
        if (stored != NULL) {
            count++;
            assert_int_equal(number_of(stored), number_of(m->server[key]));
            assert_int_equal(number_of(m->delivered[key]), number_of(m->server[key]));
        }
    }
    assert_int_equal(ki_snapshot_count(snapshot), count);
    ki_snapshot_unref(snapshot);
    assert_int_equal(ki_queue_bytes(m->queue), 0);
}

static void run(struct model *m, uint64_t seed, ki_queue_kind kind, bool put_inside)
{
    const ki_handler handler = {.on_add = on_add,
                                .on_update = on_update,
                                .on_delete = on_delete,
                                .on_sync = on_sync,
                                .user = m};
    *m = (struct model){.random = seed, .put_inside = put_inside};
    test_alloc_init(&m->alloc);
    assert_int_equal(ki_simple_informer_new(
                         KI_OPTIONS(ki_simple_informer_options, .alloc = &m->alloc.table,
                                    .handler = &handler, .queue = kind, .batch_keys = pick(m, 4)),
                         &m->informer, NULL),
                     0);
    m->queue = ki_simple_informer_queue(m->informer);
    for (unsigned i = 0; i < STEPS; i++) {
        m->put_inside = put_inside;
        if (pick(m, 3) > 0) {
            server_changes(m);
        } else {
            step(m);
        }
        if (pick(m, 100) == 0) {
            come_to_rest(m);
        }
    }
    come_to_rest(m);
    for (unsigned key = 0; key < KEYS; key++) {
        ki_object_unref(m->server[key]);
        ki_object_unref(m->delivered[key]);
    }
    ki_simple_informer_unref(m->informer);
    test_alloc_done(&m->alloc);
}

static void handlers_store_and_server_agree(void **state)
{
    (void)state;
    static struct model m;
    unsigned events[4] = {0};
    unsigned unseen = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&m, seed, seed % 2 != 0 ? KI_QUEUE_FIFO : KI_QUEUE_DELTA_FIFO, seed % 4 >= 2);
        for (int i = 0; i < 4; i++) {
            events[i] += m.events[i];
        }
        unseen += m.unseen;
    }
    for (int i = 0; i < 4; i++) { /* a run in which nothing happens proves nothing */
        assert_true(events[i] > SEEDS * 10);
    }
    assert_true(unseen > SEEDS * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_store_and_server_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

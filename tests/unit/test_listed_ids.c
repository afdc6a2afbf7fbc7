/* SPDX-License-Identifier: Apache-2.0 */
/* What a list lacks, against a plain array of flags. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/store/listed_ids.h"
#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

enum { THINGS = 300, ROUNDS = 200 };

typedef struct world {
    ki_object *things[THINGS];
    bool stored[THINGS];
    bool listed[THINGS];
    ki_store *store;
} world;

static void begin(world *w)
{
    memset(w, 0, sizeof(*w));
    assert_int_equal(ki_store_new(NULL, &w->store, NULL), 0);
    for (unsigned i = 0; i < THINGS; i++) {
        char spec[32];
        (void)snprintf(spec, sizeof(spec), "t%u@%u", i, i + 1);
        w->things[i] = test_thing(NULL, spec);
    }
}

static void end(world *w)
{
    for (unsigned i = 0; i < THINGS; i++) {
        (void)ki_object_unref(w->things[i]);
    }
    (void)ki_store_unref(w->store);
}

/* Puts some in and takes some out, so that ids have gaps and are used again. */
static void change_store(world *w, uint64_t *seed)
{
    uint64_t density = test_random(seed) % 5;
    for (unsigned i = 0; i < THINGS; i++) {
        bool store = test_random(seed) % 4 < density;
        if (store && !w->stored[i]) {
            assert_true(ki_store_update(w->store, w->things[i], NULL) >= 0);
        } else if (!store && w->stored[i]) {
            ki_str key = ki_str_from(ki_object_key(w->things[i]));
            assert_true(ki_store_delete(w->store, key, NULL, NULL) >= 0);
        }
        w->stored[i] = store;
    }
}

/* Lists some, one of them twice, and has others that could not be read. */
static int look(world *w, const ki_alloc *alloc, uint64_t *seed)
{
    const ki_object *objects[THINGS + 1];
    ki_str unread[THINGS];
    ki_replacement all = {.objects = objects, .unread = unread};
    uint64_t density = test_random(seed) % 5;
    for (unsigned i = 0; i < THINGS; i++) {
        w->listed[i] = test_random(seed) % 4 < density;
        if (w->listed[i] && test_random(seed) % 8 == 0) {
            unread[all.unread_count++] = ki_str_from(ki_object_key(w->things[i]));
        } else if (w->listed[i]) {
            objects[all.object_count++] = w->things[i];
        }
    }
    if (all.object_count != 0) {
        objects[all.object_count++] = objects[0];
    }
    ki_snapshot *version = ki_store_snapshot(w->store);
    ki__listed listed;
    int r = ki__listed_init(&listed, alloc, version, &all);
    bool found[THINGS] = {false};
    const ki_object *object;
    while (r == 0 && (object = ki__listed_next_missing(&listed)) != NULL) {
        unsigned i = 0;
        assert_int_equal(sscanf(ki_object_name(object), "t%u", &i), 1);
        assert_false(found[i]);
        found[i] = true;
    }
    for (unsigned i = 0; r == 0 && i < THINGS; i++) {
        assert_int_equal(found[i], w->stored[i] && !w->listed[i]);
    }
    ki__listed_done(&listed);
    (void)ki_snapshot_unref(version);
    return r;
}

static void what_a_list_lacks_is_found_and_nothing_else(void **state)
{
    (void)state;
    world w;
    uint64_t seed = 7;
    test_alloc alloc;
    test_alloc_init(&alloc);
    begin(&w);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(look(&w, &alloc.table, &seed), 0);
        change_store(&w, &seed);
    }
    end(&w);
    test_alloc_done(&alloc);
}

static int look_once(const ki_alloc *alloc, void *user)
{
    uint64_t seed = 5;
    return look(user, alloc, &seed);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    world w;
    uint64_t seed = 9;
    begin(&w);
    change_store(&w, &seed);
    test_alloc_sweep(look_once, &w);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_list_lacks_is_found_and_nothing_else),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that record who holds snapshots; threads: yes. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/lister_iter.h>
#include <kinformer/memory.h>
#include <kinformer/parts/store_write.h>

#include "cache/store/version.h"
#include "support/fake_clock.h"
#include "support/objects.h"
#include "support/test.h"

enum { THREADS = 4, ROUNDS = 2000 };

static const ki_index by_group = {.name = "group", .values = test_group_values};

static ki_store *new_store(const ki_alloc *alloc, const ki_clock *clock)
{
    ki_store *store = NULL;
    const ki_index *indexes[] = {&by_group};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = indexes,
                                      .index_count = 1,
                                      .reader_clock = clock};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    return store;
}

static void put(ki_store *store, const char *name, unsigned version)
{
    ki_object *object = test_pod(NULL, "a", name, version, version % 2 == 0 ? "x" : "y");
    assert_int_equal(ki_store_add(store, object, NULL), 0);
    (void)ki_object_unref(object);
}

static bool read_at(const ki_store *store, size_t position, ki_reader *ret_reader)
{
    *ret_reader = KI_OPTIONS_INIT(ki_reader);
    int r = ki_store_reader(store, position, ret_reader);
    assert_in_range(r, 0, 1);
    return r == 1;
}

static size_t count(const ki_store *store)
{
    ki_reader reader;
    size_t n = 0;
    while (read_at(store, n, &reader)) {
        n++;
    }
    return n;
}

static uint64_t held_bytes(const ki_store *store)
{
    ki_memory memory = KI_OPTIONS_INIT(ki_memory);
    assert_int_equal(ki_store_get_memory(store, &memory), 0);
    return memory.versions;
}

/* Whether an address is in this program. */
static bool is_here(const void *address)
{
    Dl_info theirs;
    Dl_info ours;
    return dladdr(address, &theirs) != 0 && dladdr((void *)(uintptr_t)is_here, &ours) != 0 &&
           theirs.dli_fbase == ours.dli_fbase;
}

static void nothing_is_recorded_without_the_option(void **state)
{
    (void)state;
    ki_store *store = new_store(NULL, NULL);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    ki_reader reader = KI_OPTIONS_INIT(ki_reader);
    assert_int_equal(ki_store_reader(store, 0, &reader), KI_ERR_UNSUPPORTED);
    assert_ptr_equal(snapshot, ki__version_current(store));
    (void)ki_snapshot_unref(snapshot);
    (void)ki_store_unref(store);
    const ki_clock none = {0};
    const ki_store_options options = {.size = sizeof(options), .reader_clock = &none};
    assert_int_equal(ki_store_new(&options, &store, NULL), -EINVAL);
}

static void the_oldest_snapshot_is_first(void **state)
{
    (void)state;
    fake_clock clock;
    ki_reader reader;
    fake_clock_init(&clock);
    ki_store *store = new_store(NULL, &clock.table);
    put(store, "one", 1);
    assert_false(read_at(store, 0, &reader));
    ki_snapshot *first = ki_store_snapshot(store);
    fake_clock_advance(&clock, S_NS);
    put(store, "two", 2);
    put(store, "two", 3);
    ki_snapshot *second = ki_store_snapshot(store);
    fake_clock_advance(&clock, 2 * S_NS);
    assert_int_equal(count(store), 2);
    assert_true(read_at(store, 0, &reader));
    assert_int_equal(reader.held_ns, 3 * S_NS);
    assert_int_equal(reader.version, ki_snapshot_version(first));
    assert_int_equal(reader.newer_versions, 2);
    assert_int_equal(reader.thread, gettid());
    char name[16] = "";
    assert_int_equal(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
    assert_string_equal(reader.thread_name, name);
    assert_true(is_here(reader.caller));
    const void *caller = reader.caller;
    assert_true(read_at(store, 1, &reader));
    assert_int_equal(reader.held_ns, 2 * S_NS);
    assert_int_equal(reader.newer_versions, 0);
    assert_ptr_not_equal(reader.caller, caller); /* another line */
    (void)ki_snapshot_unref(ki_snapshot_ref(first));
    assert_int_equal(count(store), 2);
    (void)ki_snapshot_unref(first);
    assert_true(read_at(store, 0, &reader));
    assert_int_equal(reader.version, ki_snapshot_version(second));
    (void)ki_snapshot_unref(second);
    assert_int_equal(count(store), 0);
    assert_int_equal(held_bytes(store), 0);
    (void)ki_store_unref(store);
}

static void a_recorded_snapshot_reads_as_any_other(void **state)
{
    (void)state;
    fake_clock clock;
    fake_clock_init(&clock);
    ki_store *store = new_store(NULL, &clock.table);
    put(store, "one", 1);
    put(store, "two", 2);
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_int_equal(ki_store_delete(store, ki_str_from("a/one"), "9", NULL), 1);
    for (unsigned i = 3; i < 100; i++) {
        put(store, "two", i);
    }
    test_check_snapshot(snapshot, "group");
    assert_int_equal(ki_snapshot_count(snapshot), 2);
    assert_string_equal(ki_snapshot_resource_version(snapshot), "2");
    assert_non_null(ki_snapshot_get(snapshot, "a/one"));
    assert_string_equal(ki_object_resource_version(ki_snapshot_get(snapshot, "a/two")), "2");
    (void)ki_store_unref(store);
    test_check_snapshot(snapshot, "group"); /* it outlives the store */
    (void)ki_snapshot_unref(snapshot);
}

static void a_refreshed_snapshot_has_a_new_record(void **state)
{
    (void)state;
    fake_clock clock;
    ki_reader reader;
    fake_clock_init(&clock);
    ki_store *store = new_store(NULL, &clock.table);
    ki_snapshot *held = ki_store_refresh(store, NULL);
    fake_clock_advance(&clock, S_NS);
    assert_ptr_equal(ki_store_refresh(store, held), held);
    assert_true(read_at(store, 0, &reader));
    assert_int_equal(reader.held_ns, S_NS);
    put(store, "one", 1);
    held = ki_store_refresh(store, held);
    assert_int_equal(ki_snapshot_count(held), 1);
    assert_int_equal(count(store), 1);
    assert_true(read_at(store, 0, &reader));
    assert_int_equal(reader.held_ns, 0);
    assert_true(is_here(reader.caller));
    (void)ki_snapshot_unref(held);
    assert_int_equal(count(store), 0);
    (void)ki_store_unref(store);
}

static void lists_and_iterations_are_recorded(void **state)
{
    (void)state;
    fake_clock clock;
    ki_reader reader;
    fake_clock_init(&clock);
    ki_store *store = new_store(NULL, &clock.table);
    put(store, "one", 1);
    ki_lister lister = ki_lister_of(store, NULL);
    ki_list *lists[4] = {NULL};
    assert_int_equal(ki_store_list(store, &lists[0]), 0);
    assert_int_equal(ki_store_by_index(store, "group", "y", &lists[1]), 0);
    assert_int_equal(ki_lister_list(&lister, NULL, NULL, &lists[2]), 0);
    assert_int_equal(ki_lister_by_index(&lister, "group", "y", NULL, &lists[3]), 0);
    ki_lister_iter iter = ki_lister_iter_begin(&lister, NULL, NULL);
    ki_object *object = ki_store_get(store, "a/one"); /* holds no version */
    assert_int_equal(count(store), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(read_at(store, i, &reader));
        assert_true(is_here(reader.caller));
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ki_list_count(lists[i]), 1);
        (void)ki_list_unref(lists[i]);
    }
    assert_int_equal(count(store), 1);
    ki_lister_iter_end(&iter);
    assert_int_equal(count(store), 0);
    (void)ki_object_unref(object);
    (void)ki_store_unref(store);
}

static void without_memory_a_snapshot_is_not_recorded(void **state)
{
    (void)state;
    fake_clock clock;
    test_alloc alloc;
    fake_clock_init(&clock);
    test_alloc_init(&alloc);
    ki_store *store = new_store(&alloc.table, &clock.table);
    put(store, "one", 1);
    alloc.limit_bytes = alloc.live_bytes;
    ki_snapshot *snapshot = ki_store_snapshot(store);
    alloc.limit_bytes = 0;
    assert_int_equal(count(store), 0);
    assert_int_equal(ki_snapshot_count(snapshot), 1);
    assert_ptr_equal(ki_store_refresh(store, snapshot), snapshot);
    (void)ki_snapshot_unref(snapshot);
    (void)ki_store_unref(store);
    test_alloc_done(&alloc);
}

static int make_store(const ki_alloc *alloc, void *user)
{
    ki_store *store = NULL;
    const ki_store_options options = {
        .size = sizeof(options), .alloc = alloc, .reader_clock = user};
    int r = ki_store_new(&options, &store, NULL);
    if (r == 0) {
        ki_snapshot *snapshot = ki_store_snapshot(store);
        (void)ki_store_unref(store);
        (void)ki_snapshot_unref(snapshot);
    }
    return r;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    fake_clock clock;
    fake_clock_init(&clock);
    test_alloc_sweep(make_store, &clock.table);
}

/* ---- threads ---- */

typedef struct shared {
    ki_store *store;
    fake_clock clock;
    atomic_uint running;
    atomic_uint failures;
} shared;

static void *read_often(void *user)
{
    shared *s = user;
    ki_snapshot *held[3] = {NULL};
    for (unsigned i = 0; i < ROUNDS; i++) {
        ki_snapshot **place = &held[i % 3];
        if (i % 5 == 0) {
            *place = ki_store_refresh(s->store, *place);
        } else {
            (void)ki_snapshot_unref(*place);
            *place = ki_store_snapshot(s->store);
        }
        size_t objects = ki_snapshot_count(*place);
        atomic_fetch_add(&s->failures, objects == 0);
    }
    for (size_t i = 0; i < 3; i++) {
        (void)ki_snapshot_unref(held[i]);
    }
    atomic_fetch_sub(&s->running, 1);
    return NULL;
}

static void threads_take_and_release_snapshots(void **state)
{
    (void)state;
    shared s = {.store = NULL};
    pthread_t threads[THREADS];
    fake_clock_init(&s.clock);
    s.store = new_store(NULL, &s.clock.table);
    put(s.store, "one", 1);
    atomic_init(&s.running, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &s), 0);
    }
    for (unsigned i = 0; atomic_load(&s.running) != 0; i++) {
        ki_reader oldest;
        ki_reader next;
        fake_clock_advance(&s.clock, MS_NS);
        put(s.store, "two", i + 2);
        if (read_at(s.store, 0, &oldest)) {
            assert_int_not_equal(oldest.thread, gettid());
            assert_true(is_here(oldest.caller));
        }
        (void)read_at(s.store, 1, &next);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&s.failures), 0);
    assert_int_equal(count(s.store), 0);
    assert_int_equal(held_bytes(s.store), 0);
    (void)ki_store_unref(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recorded_without_the_option),
        cmocka_unit_test(the_oldest_snapshot_is_first),
        cmocka_unit_test(a_recorded_snapshot_reads_as_any_other),
        cmocka_unit_test(a_refreshed_snapshot_has_a_new_record),
        cmocka_unit_test(lists_and_iterations_are_recorded),
        cmocka_unit_test(without_memory_a_snapshot_is_not_recorded),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(threads_take_and_release_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

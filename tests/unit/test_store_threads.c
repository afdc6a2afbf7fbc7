/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and a writer at once; threads: yes. The writer moves "tokens" between groups so that in
 * every version each group has exactly one; a reader that ever saw half a write would miss one. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/store.h>

#include "cache/store/version.h"
#include "support/objects.h"
#include "support/test.h"

enum { GROUPS = 20, READERS = 4, VERSIONS = 3000 };

/* Enough that two threads meet while the count of acquisitions is folded; each reads this often. */
#ifdef __SANITIZE_THREAD__
enum { FOLD_READS = 300000 };
#else
enum { FOLD_READS = 2000000 };
#endif

struct shared {
    ki_store *store;
    atomic_bool stop;
    atomic_uint failures;
    atomic_ullong reads;
};

static ki_store *new_store(const ki_alloc *alloc)
{
    ki_store *store = NULL;
    const ki_index index = {.name = "group", .values = test_group_values};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = alloc,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    assert_int_equal(ki_store_new(&options, &store, NULL), 0);
    return store;
}

/* One object a group, in version `version`; which object has which group changes each time. */
static void write_version(ki_store *store, const ki_alloc *alloc, unsigned version)
{
    ki_object *objects[GROUPS];
    for (unsigned i = 0; i < GROUPS; i++) {
        char name[16];
        char group[16];
        (void)snprintf(name, sizeof(name), "o%u", i);
        (void)snprintf(group, sizeof(group), "g%u", (i + version) % GROUPS);
        objects[i] = test_pod(alloc, "a", name, version, group);
    }
    char text[16];
    (void)snprintf(text, sizeof(text), "%u", version);
    if (version % 3 == 0) {
        assert_int_equal(
            ki_store_replace(store, (const ki_object *const *)objects, GROUPS, text, NULL), 0);
    } else {
        ki_txn *txn;
        assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
        for (unsigned i = 0; i < GROUPS; i++) {
            assert_int_equal(ki_txn_add(txn, objects[i], NULL), 0);
        }
        if (version % 5 == 1) {
            ki_txn_abort(txn); /* and once more, committed */
            assert_int_equal(ki_store_begin(store, &txn, NULL), 0);
            for (unsigned i = 0; i < GROUPS; i++) {
                assert_int_equal(ki_txn_add(txn, objects[i], NULL), 0);
            }
        }
        ki_txn_commit(txn);
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        ki_object_unref(objects[i]);
    }
}

/* Whether all objects of the snapshot are of its version and each group has exactly one. */
static bool is_whole(const ki_snapshot *snapshot)
{
    const char *version = ki_snapshot_resource_version(snapshot);
    for (unsigned i = 0; i < GROUPS; i++) {
        char group[16];
        (void)snprintf(group, sizeof(group), "g%u", i);
        ki_snapshot_iter iter;
        if (ki_snapshot_iter_by_index(snapshot, "group", ki_str_from(group), &iter) < 0) {
            return false;
        }
        const ki_object *object;
        const ki_object *more;
        if (ki_snapshot_iter_next(&iter, &object) != 1 ||
            ki_snapshot_iter_next(&iter, &more) != 0 ||
            strcmp(ki_object_resource_version(object), version) != 0 ||
            ki_snapshot_get(snapshot, ki_object_key(object)) != object) {
            return false;
        }
    }
    return ki_snapshot_count(snapshot) == GROUPS;
}

static void *reader(void *user)
{
    struct shared *s = user;
    ki_snapshot *kept = ki_store_snapshot(s->store);
    uint64_t last = 0;
    for (unsigned i = 0; !atomic_load(&s->stop); i++) {
        ki_snapshot *now = ki_store_snapshot(s->store);
        bool good = is_whole(now) && ki_snapshot_version(now) >= last;
        last = ki_snapshot_version(now);
        if (i % 64 == 0) { /* hold one over many versions */
            good = good && is_whole(kept);
            ki_snapshot_unref(kept);
            kept = ki_snapshot_ref(now);
        }
        ki_snapshot_unref(now);
        ki_list *list;
        ki_object *object = ki_store_get(s->store, "a/o3");
        good = good && object != NULL && ki_store_list(s->store, &list) == 0;
        if (!good) {
            atomic_fetch_add(&s->failures, 1);
            break;
        }
        ki_object_unref(object);
        ki_list_unref(list);
        atomic_fetch_add(&s->reads, 1);
    }
    ki_snapshot_unref(kept);
    return NULL;
}

static void readers_see_whole_versions_only(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct shared s = {.store = new_store(&alloc.table)};
    pthread_t threads[READERS];
    write_version(s.store, &alloc.table, 1);
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &s), 0);
    }
    for (unsigned version = 2; version < VERSIONS; version++) {
        write_version(s.store, &alloc.table, version);
    }
    atomic_store(&s.stop, true);
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&s.failures), 0);
    assert_true(atomic_load(&s.reads) > 0);
    ki_store_unref(s.store);
    test_alloc_done(&alloc);
}

static void *folding_reader(void *user)
{
    struct shared *s = user;
    for (unsigned i = 0; i < FOLD_READS; i++) {
        ki_snapshot *snapshot = ki_store_snapshot(s->store);
        if (ki_snapshot_count(snapshot) != GROUPS) {
            atomic_fetch_add(&s->failures, 1);
        }
        ki_snapshot_unref(snapshot);
    }
    return NULL;
}

static void a_version_may_be_taken_any_number_of_times(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct shared s = {.store = new_store(&alloc.table)};
    write_version(s.store, &alloc.table, 1);
    pthread_t threads[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, folding_reader, &s), 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&s.failures), 0);
    write_version(s.store, &alloc.table, 2);
    ki_store_unref(s.store);
    test_alloc_done(&alloc);
}

/* Holds several versions, and gives them back in another order once there is no store any more. */
static void *last_holder(void *user)
{
    struct shared *s = user;
    ki_snapshot *held[8];
    for (unsigned i = 0; i < 8; i++) {
        held[i] = ki_store_snapshot(s->store);
    }
    ki_store_unref(s->store);
    for (unsigned i = 0; i < 8; i++) {
        unsigned at = i * 3 % 8;
        if (!is_whole(held[at])) {
            atomic_fetch_add(&s->failures, 1);
        }
        ki_snapshot_unref(held[at]);
    }
    return NULL;
}

static void any_thread_may_be_the_last_to_hold_a_store(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        test_alloc alloc;
        test_alloc_init(&alloc);
        struct shared s = {.store = new_store(&alloc.table)};
        pthread_t threads[READERS];
        write_version(s.store, &alloc.table, 1);
        for (unsigned i = 0; i < READERS; i++) {
            (void)ki_store_ref(s.store);
            assert_int_equal(pthread_create(&threads[i], NULL, last_holder, &s), 0);
        }
        for (unsigned version = 2; version < 6; version++) {
            write_version(s.store, &alloc.table, version);
        }
        ki_store_unref(s.store);
        for (unsigned i = 0; i < READERS; i++) {
            pthread_join(threads[i], NULL);
        }
        assert_int_equal(atomic_load(&s.failures), 0);
        test_alloc_done(&alloc); /* nothing is left of the store */
    }
}

/* A collector that meets a writer: the allocator lets a writer begin while the first of several
 * dead versions is being freed, and holds it inside its index function until the collector is done.
 */
struct meeting {
    ki_alloc table;
    test_alloc inner;
    ki_store *store;
    ki_snapshot *held[4]; /* released inside an index function */
    atomic_bool armed;    /* the next free lets the writer begin */
    bool block;           /* the writer's index function waits */
    int result;           /* of the writer */
    sem_t begin;
    sem_t at_work;
    sem_t may_continue;
};

static void *meeting_alloc(size_t size, void *user)
{
    struct meeting *m = user;
    return m->inner.table.alloc(size, m->inner.table.user);
}

static void *meeting_realloc(void *data, size_t size, void *user)
{
    struct meeting *m = user;
    return m->inner.table.realloc(data, size, m->inner.table.user);
}

static void meeting_free(void *data, void *user)
{
    struct meeting *m = user;
    /* Not before the write that armed it is over: what is freed now is collected. */
    if (atomic_load(&m->armed) && atomic_load(&m->store->writer) == KI__WRITER_NONE) {
        atomic_store(&m->armed, false);
        sem_post(&m->begin);
        sem_wait(&m->at_work);
    }
    m->inner.table.free(data, m->inner.table.user);
}

static int meeting_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)object;
    (void)values;
    struct meeting *m = user;
    if (m->block) { /* on the writer's thread */
        sem_post(&m->at_work);
        sem_wait(&m->may_continue);
        return -EPERM;
    }
    if (m->held[0] == NULL) {
        return 0;
    }
    for (unsigned i = 0; i < 4; i++) { /* they are left for the end of this write */
        m->held[i] = ki_snapshot_unref(m->held[i]);
    }
    m->block = true;
    atomic_store(&m->armed, true);
    return -EPERM;
}

static void *meeting_writer(void *user)
{
    struct meeting *m = user;
    ki_object *object = test_pod(NULL, "a", "two", 2, "g");
    sem_wait(&m->begin);
    m->result = ki_store_add(m->store, object, NULL);
    ki_object_unref(object);
    return NULL;
}

static void meet(struct meeting *m)
{
    ki_object *object = test_pod(NULL, "a", "one", 1, "g");
    pthread_t thread;
    for (unsigned i = 0; i < 4; i++) { /* old versions, and after them one that stays */
        m->held[i] = ki_store_snapshot(m->store);
        assert_int_equal(ki_store_bookmark(m->store, "1", NULL), 0);
    }
    size_t blocks = m->inner.live_blocks;
    assert_int_equal(pthread_create(&thread, NULL, meeting_writer, m), 0);
    assert_int_equal(ki_store_add(m->store, object, NULL), KI_ERR_INDEX_FUNCTION);
    assert_false(atomic_load(&m->armed));
    sem_post(&m->may_continue);
    pthread_join(thread, NULL);
    assert_int_equal(m->result, KI_ERR_INDEX_FUNCTION);
    assert_int_equal(m->inner.live_blocks, blocks - 4); /* a version is a block */
    ki_object_unref(object);
}

static void a_collector_leaves_the_rest_to_a_writer(void **state)
{
    (void)state;
    struct meeting m = {.block = false};
    test_alloc_init(&m.inner);
    m.table = (ki_alloc){0, meeting_alloc, meeting_realloc, meeting_free, &m, NULL};
    assert_int_equal(sem_init(&m.begin, 0, 0), 0);
    assert_int_equal(sem_init(&m.at_work, 0, 0), 0);
    assert_int_equal(sem_init(&m.may_continue, 0, 0), 0);
    const ki_index index = {.name = "meeting", .values = meeting_values, .user = &m};
    const ki_store_options options = {.size = sizeof(options),
                                      .alloc = &m.table,
                                      .indexes = (const ki_index *[]){&index},
                                      .index_count = 1};
    assert_int_equal(ki_store_new(&options, &m.store, NULL), 0);
    meet(&m);
    ki_store_unref(m.store);
    sem_destroy(&m.begin);
    sem_destroy(&m.at_work);
    sem_destroy(&m.may_continue);
    test_alloc_done(&m.inner);
}

static void *contending_writer(void *user)
{
    struct shared *s = user;
    for (unsigned i = 1; i <= 2000; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%u", i);
        int r = ki_store_bookmark(s->store, text, NULL);
        if (r == 0) {
            atomic_fetch_add(&s->reads, 1);
        } else if (r != KI_ERR_BUSY) {
            atomic_fetch_add(&s->failures, 1);
        }
    }
    return NULL;
}

static void of_two_writers_each_version_has_one(void **state)
{
    (void)state;
    struct shared s = {.store = new_store(NULL)};
    ki_snapshot *first = ki_store_snapshot(s.store);
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, contending_writer, &s), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    ki_snapshot *last = ki_store_snapshot(s.store);
    assert_int_equal(atomic_load(&s.failures), 0);
    assert_int_equal(ki_snapshot_version(last) - ki_snapshot_version(first), atomic_load(&s.reads));
    ki_snapshot_unref(first);
    ki_snapshot_unref(last);
    ki_store_unref(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_whole_versions_only),
        cmocka_unit_test(a_version_may_be_taken_any_number_of_times),
        cmocka_unit_test(any_thread_may_be_the_last_to_hold_a_store),
        cmocka_unit_test(a_collector_leaves_the_rest_to_a_writer),
        cmocka_unit_test(of_two_writers_each_version_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The informer that is not shared; threads: yes, for the step that waits. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/simple_informer.h>
#include <kinformer/parts/store_write.h>

#include "support/by_value.h"
#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

struct fixture {
    ki_simple_informer *informer;
    ki_queue *queue;
    test_log log;
};

static void begin(struct fixture *f, ki_simple_informer_options options)
{
    ki_error error = KI_ERROR_INIT;
    memset(f, 0, sizeof(*f));
    const ki_handler handler = test_log_handler(&f->log);
    options.size = sizeof(options);
    options.handler = options.handler != NULL ? options.handler : &handler;
    assert_int_equal(ki_simple_informer_new(&options, &f->informer, &error), 0);
    f->queue = ki_simple_informer_queue(f->informer);
}

static void end(struct fixture *f)
{
    assert_int_equal(f->log.destroyed, 0);
    ki_simple_informer_unref(f->informer);
    assert_int_equal(f->log.destroyed, 1);
}

/* Puts deltas in, makes all steps, and compares what the handler received. */
static void check(struct fixture *f, const char *specs, const char *expected)
{
    int r;
    test_put_all(f->queue, specs);
    while ((r = ki_simple_informer_step(f->informer, false, NULL)) > 0) {
    }
    assert_int_equal(r, 0);
    test_said(&f->log, expected);
}

static const ki_simple_informer_options kinds[] = {{.queue = KI_QUEUE_FIFO},
                                                   {.queue = KI_QUEUE_DELTA_FIFO}};

static void both_queues_deliver_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        begin(&f, kinds[i]);
        assert_false(ki_simple_informer_has_synced(f.informer));
        check(&f, "=a@1,b@2#3", "+a@1! +b@2!");
        assert_true(ki_simple_informer_has_synced(f.informer));
        check(&f, "~a@4 +c@5", "~a@1>4 +c@5");
        check(&f, "!", "=a@4 =b@2 =c@5");
        check(&f, "=d@8,c@5,a@6#9", i == 0 ? "-b@2? +d@8 ~a@4>6" : "+d@8 ~a@4>6 -b@2?");
        check(&f, "-a@10 -a@10 -x@11", "-a@10");
        check(&f, "-c?", "-c@5?");
        end(&f);
    }
}

static void expect_version(const struct fixture *f, const char *version)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_simple_informer_store(f->informer));
    assert_string_equal(ki_snapshot_resource_version(snapshot), version);
    (void)ki_snapshot_unref(snapshot);
}

/* A server that was restored from a backup begins again at a lower version. */
static void the_version_of_the_store_goes_back_with_a_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        begin(&f, kinds[i]);
        check(&f, "=a@1,b@2#3", "+a@1! +b@2!");
        check(&f, "~a@900", "~a@1>900");
        expect_version(&f, "900");
        check(&f, "=a@1,b@2#50", "~a@900>1");
        expect_version(&f, "50");
        check(&f, "~b@51", "~b@2>51");
        expect_version(&f, "51");
        check(&f, "=a@1,b@51#60 ~a@61", "~a@1>61");
        expect_version(&f, "61");
        end(&f);
    }
}

/* What was put in before the list is of the time before; what came after it is not. */
static void also_if_it_finds_deltas_that_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        begin(&f, kinds[i]);
        check(&f, "=a@1,b@2#3", "+a@1! +b@2!");
        check(&f, "~a@900 -b@901 +c@902 =a@1,b@2#50 ~b@51 ~a@52",
              i == 0 ? "~a@1>900 -b@901 +c@902 -c@902? ~a@900>1 +b@2 ~b@2>51 ~a@1>52"
                     : "~a@1>900 ~a@900>1 ~a@1>52 -b@901 +b@2 ~b@2>51 +c@902 -c@902?");
        expect_version(&f, "52");
        end(&f);
    }
}

static int again_once(const ki_deltas *deltas, void *user)
{
    struct fixture *f = user;
    assert_string_equal(deltas->set_back, "50");
    test_put_all(f->queue, "~a@51");
    return KI_POP_AGAIN;
}

static void also_if_the_list_has_to_be_processed_twice(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, kinds[1]);
    check(&f, "=a@1#3 ~a@900", "+a@1! ~a@1>900");
    test_put_all(f.queue, "=a@1#50");
    assert_int_equal(ki_queue_poll(f.queue, 0, again_once, &f), 1);
    check(&f, "", "~a@900>1 ~a@1>51");
    expect_version(&f, "51");
    test_put_all(f.queue, "=a@1#40");
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), 1);
    expect_version(&f, "40");
    end(&f);
}

/* k/k PR 115620: deltas that wait when a list comes. */
static void a_list_over_waiting_deltas_misses_no_deletion(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        begin(&f, kinds[i]);
        check(&f, "=a@1#2 +b@3 =a@1#4", i == 0 ? "+a@1! +b@3 -b@3?" : "+a@1! +b@3 -b@3?");
        end(&f);
    }
}

/* k/k PR 83911: what a list changes is an update, not a resync. */
static void a_list_with_a_change_is_an_update(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        begin(&f, kinds[i]);
        check(&f, "=a@1#2", "+a@1!");
        check(&f, "=a@3#4", "~a@1>3");
        end(&f);
    }
}

/* fabric8 2994: what a list deletes is gone from the indexes, too. */
static void a_deletion_by_a_list_reaches_the_indexes(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const ki_index by_namespace = test_index_by_namespace();
        ki_simple_informer_options options = kinds[i];
        options.indexes = (const ki_index *[]){&by_namespace};
        options.index_count = 1;
        struct fixture f;
        begin(&f, options);
        check(&f, "=a@1,b@2#3 =b@2#4", i == 0 ? "+a@1! +b@2! -a@1?" : "+a@1! -a@1? +b@2!");
        ki_store *store = ki_simple_informer_store(f.informer);
        ki_snapshot *snapshot = ki_store_snapshot(store);
        size_t count;
        assert_null(ki_snapshot_get(snapshot, "a"));
        assert_int_equal(
            ki_snapshot_count_by_index(snapshot, KI_INDEX_NAMESPACE, ki_str_from(""), &count), 0);
        assert_int_equal(count, 1);
        ki_snapshot_unref(snapshot);
        end(&f);
    }
}

static void unchanged_objects_of_a_list_are_delivered_by_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        ki_simple_informer_options options = kinds[i];
        begin(&f, options);
        check(&f, "=a@1#2 =a@1#3", "+a@1!");
        end(&f);
        options.deliver_same_version = true;
        begin(&f, options);
        check(&f, "=a@1#2", "+a@1!");
        check(&f, "=a@1#3", "~a@1>1");
        end(&f);
    }
}

static void a_step_is_as_large_as_requested(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, (ki_simple_informer_options){.batch_keys = 2});
    test_put_all(f.queue, "+a@1 +b@2 +c@3");
    assert_int_equal(ki_simple_informer_step(f.informer, true, NULL), 2);
    assert_int_equal(ki_simple_informer_step(f.informer, true, NULL), 1);
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), 0);
    test_said(&f.log, "+a@1 +b@2 +c@3");
    end(&f);
}

static void a_store_can_be_given(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        ki_store *store = NULL;
        assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
        ki_object *old = test_thing(NULL, "old@1");
        assert_int_equal(ki_store_add(store, old, NULL), 0);
        ki_simple_informer_options options = kinds[i];
        options.store = store;
        struct fixture f;
        begin(&f, options);
        assert_ptr_equal(ki_simple_informer_store(f.informer), store);
        check(&f, "=a@2#3", i == 0 ? "-old@1? +a@2!" : "+a@2! -old@1?");
        end(&f);
        assert_non_null(old = ki_object_unref(old) == NULL ? ki_store_get(store, "a") : NULL);
        ki_object_unref(old);
        ki_store_unref(store);
    }
}

static int refuse(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)object;
    (void)ret_object;
    (void)user;
    return KI_ERR_TYPE;
}

static unsigned destroyed;

static void count_destroyed(void *user)
{
    (void)user;
    destroyed++;
}

static void bad_options_are_refused_and_take_nothing(void **state)
{
    (void)state;
    ki_simple_informer *informer = NULL;
    ki_store *store = NULL;
    const ki_index index = {.name = NULL, .destroy = count_destroyed};
    const ki_handler handler = {.destroy = count_destroyed};
    assert_int_equal(ki_store_new(KI_OPTIONS(ki_store_options, .transform = refuse), &store, NULL),
                     0);
    const ki_simple_informer_options bad[] = {
        {.size = sizeof(bad[0]), .handler = &handler, .store = store},
        {.size = sizeof(bad[0]), .handler = &handler, .queue = KI_QUEUE_KIND_MAX},
        {.size = sizeof(bad[0]),
         .handler = &handler,
         .indexes = (const ki_index *[]){&index},
         .index_count = 1},
        {.size = sizeof(bad[0]),
         .handler = &handler,
         .store = store,
         .indexes = (const ki_index *[]){&index},
         .index_count = 1},
        {.size = 3},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(ki_simple_informer_new(&bad[i], &informer, NULL), -EINVAL);
    }
    assert_int_equal(destroyed, 0);
    assert_null(ki_simple_informer_ref(NULL));
    assert_null(ki_simple_informer_unref(NULL));
    ki_store_unref(store);
}

/* Stopping */

static void nothing_happens_after_a_stop(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, kinds[0]);
    test_put_all(f.queue, "=a@1#2");
    ki_simple_informer_stop(f.informer);
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_simple_informer_step(f.informer, true, &error), KI_ERR_STOPPED);
    assert_int_equal(error.code, KI_ERR_STOPPED);
    assert_false(ki_simple_informer_has_synced(f.informer));
    test_said(&f.log, "");
    end(&f);
}

static void stop_inside(const ki_object *object, bool is_initial, void *user)
{
    struct fixture *f = user;
    (void)is_initial;
    test_say(&f->log, ki_object_key(object));
    ki_simple_informer_stop(f->informer);
    assert_int_equal(ki_simple_informer_step(f->informer, false, NULL), KI_ERR_STOPPED);
    f->informer = ki_simple_informer_unref(f->informer); /* and gone, as soon as this returns */
}

static void destroy_inside(void *user)
{
    struct fixture *f = user;
    f->log.destroyed++;
}

static void a_handler_may_stop_and_release_the_informer(void **state)
{
    (void)state;
    struct fixture f;
    const ki_handler handler = {.on_add = stop_inside, .user = &f, .destroy = destroy_inside};
    begin(&f, (ki_simple_informer_options){.handler = &handler});
    test_put_all(f.queue, "=a@1#2");
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), 1);
    assert_int_equal(f.log.destroyed, 1);
    test_said(&f.log, "a");
}

static void step_inside(const ki_object *object, bool is_initial, void *user)
{
    struct fixture *f = user;
    (void)is_initial;
    assert_int_equal(ki_simple_informer_step(f->informer, false, NULL), KI_ERR_BUSY);
    ki_object *stored = /* the store has it before it is delivered */
        ki_store_get(ki_simple_informer_store(f->informer), ki_object_key(object));
    assert_ptr_equal(stored, object);
    ki_object_unref(stored);
}

static void a_handler_may_read_the_store_but_not_step(void **state)
{
    (void)state;
    struct fixture f;
    const ki_handler handler = {.on_add = step_inside, .user = &f, .destroy = destroy_inside};
    begin(&f, (ki_simple_informer_options){.handler = &handler});
    check(&f, "=a@1#2 +b@3", "");
    end(&f);
}

static void *wait_for_step(void *user)
{
    struct fixture *f = user;
    int r;
    do {
        r = ki_simple_informer_step(f->informer, true, NULL);
    } while (r > 0);
    return r == KI_ERR_STOPPED ? f : NULL;
}

static void stopping_releases_a_step_that_waits(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct fixture f;
        begin(&f, kinds[i % 2]);
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_step, &f), 0);
        test_put_all(f.queue, "=a@1#2");
        while (!ki_simple_informer_has_synced(f.informer)) {
            sched_yield();
        }
        ki_simple_informer_stop(f.informer);
        pthread_join(thread, &result);
        assert_ptr_equal(result, &f);
        test_said(&f.log, "+a@1!");
        end(&f);
    }
}

/* A server that changes while deltas are applied on another thread. */
enum { LIVE_KEYS = 12, LIVE_EVENTS = 6000 };

struct live {
    struct fixture f;
    ki_object *server[LIVE_KEYS];
    const char *view[LIVE_KEYS]; /* the uid that the handler knows; NULL: none */
    char uids[LIVE_KEYS][16];
    unsigned last[LIVE_KEYS]; /* version that the handler received */
    bool sane;
};

static void live_deliver(struct live *l, const ki_object *object, bool is_there, bool was_there)
{
    unsigned key = (unsigned)(ki_object_name(object)[0] - 'a');
    unsigned version = 0;
    (void)sscanf(ki_object_resource_version(object), "%u", &version);
    l->sane = l->sane && (l->view[key] != NULL) == was_there && version >= l->last[key];
    l->last[key] = version;
    (void)snprintf(l->uids[key], sizeof(l->uids[key]), "%s", ki_object_uid(object));
    l->view[key] = is_there ? l->uids[key] : NULL;
}

static void live_add(const ki_object *object, bool is_initial, void *user)
{
    (void)is_initial;
    live_deliver(user, object, true, false);
}

static void live_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    live_deliver(user, object, true, true);
}

static void live_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    live_deliver(user, object, false, true);
}

static void live_list(struct live *l)
{
    const ki_object *list[LIVE_KEYS];
    ki_replacement all = {.objects = list};
    for (unsigned i = 0; i < LIVE_KEYS; i++) {
        if (l->server[i] != NULL) {
            list[all.object_count++] = l->server[i];
        }
    }
    assert_int_equal(ki_queue_replace(l->f.queue, &all, NULL), 0);
}

static void live_event(struct live *l, unsigned version, uint64_t *random, bool seen)
{
    char spec[32];
    unsigned key = (unsigned)(test_random(random) % LIVE_KEYS);
    bool is_gone = l->server[key] != NULL && test_random(random) % 3 == 0;
    const char *uid = l->server[key] != NULL ? ki_object_uid(l->server[key]) : "";
    char new_uid[16];
    (void)snprintf(new_uid, sizeof(new_uid), "u%u", version);
    (void)snprintf(spec, sizeof(spec), "%c%c@%u/%s", is_gone ? '-' : '~', (char)('a' + key),
                   version, uid[0] != '\0' ? uid : new_uid);
    if (seen) {
        assert_int_equal(test_put(l->f.queue, NULL, spec), 0);
    }
    ki_object *object = is_gone ? NULL : test_thing(NULL, spec + 1);
    ki_object_unref(l->server[key]);
    l->server[key] = object;
}

static void a_server_may_change_meanwhile(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        struct live l = {.sane = true};
        const ki_handler handler = {
            .on_add = live_add, .on_update = live_update, .on_delete = live_delete, .user = &l};
        ki_simple_informer_options options = kinds[kind];
        options.handler = &handler;
        options.batch_keys = 3;
        begin(&l.f, options);
        pthread_t thread;
        void *result;
        uint64_t random = 7 + kind;
        bool seen = false;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_step, &l.f), 0);
        for (unsigned i = 1; i <= LIVE_EVENTS; i++) {
            unsigned what = (unsigned)(test_random(&random) % 40);
            if (what == 0) {
                seen = false; /* the watch breaks */
            } else if (what == 1 || (!seen && what < 8)) {
                live_list(&l);
                seen = true;
            } else if (what == 9) {
                assert_int_equal(ki_queue_resync(l.f.queue, NULL), 0);
            }
            live_event(&l, i, &random, seen);
        }
        live_list(&l);
        while (ki_queue_count(l.f.queue) > 0) {
            sched_yield();
        }
        ki_simple_informer_stop(l.f.informer);
        pthread_join(thread, &result);
        assert_true(l.sane);
        for (unsigned i = 0; i < LIVE_KEYS; i++) {
            const char name[] = {(char)('a' + i), '\0'};
            ki_object *stored = ki_store_get(ki_simple_informer_store(l.f.informer), name);
            assert_int_equal(stored != NULL, l.server[i] != NULL);
            assert_int_equal(l.view[i] != NULL, l.server[i] != NULL);
            if (stored != NULL) {
                assert_string_equal(ki_object_resource_version(stored),
                                    ki_object_resource_version(l.server[i]));
                assert_string_equal(ki_object_uid(l.server[i]), l.view[i]);
            }
            ki_object_unref(stored);
            ki_object_unref(l.server[i]);
        }
        ki_simple_informer_unref(l.f.informer);
    }
}

/* Errors */

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    test_log *log = user;
    char text[160];
    (void)snprintf(text, sizeof(text), "[%s %.*s %s] ", component, KI_STR_ARG(key),
                   ki_error_name(error->code));
    test_say(log, text);
}

static void errors_go_to_the_hook_and_the_rest_continues(void **state)
{
    (void)state;
    struct fixture f;
    const ki_error_hook hook = {.report = report, .user = &f.log};
    begin(&f, (ki_simple_informer_options){.on_error = &hook, .transform = refuse});
    assert_int_equal(test_put(f.queue, NULL, "=a@1#2"), 1);
    check(&f, "", "[queue a KI_ERR_TYPE]");
    end(&f);
}

static void a_busy_store_is_reported_and_nothing_is_lost(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, kinds[0]);
    ki_txn *txn;
    ki_error error = KI_ERROR_INIT;
    test_put_all(f.queue, "+a@1");
    assert_int_equal(ki_store_begin(ki_simple_informer_store(f.informer), &txn, NULL), 0);
    assert_int_equal(ki_simple_informer_step(f.informer, false, &error), KI_ERR_BUSY);
    assert_int_equal(error.code, KI_ERR_BUSY);
    ki_txn_abort(txn);
    check(&f, "", "+a@1");
    end(&f);
}

/* Memory for a version with one object, but not with all at once. */
static void short_memory_makes_small_steps(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct fixture f;
    begin(&f, (ki_simple_informer_options){.alloc = &alloc.table});
    check(&f, "+a@1 +b@1 +c@1", "+a@1 +b@1 +c@1");
    test_put_all(f.queue, "~a@2 ~b@2 ~c@2");
    alloc.fail_at = alloc.calls + 1;
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), -ENOMEM);
    test_said(&f.log, "");
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), 1);
    test_said(&f.log, "~a@1>2");
    assert_int_equal(ki_simple_informer_step(f.informer, false, NULL), 2);
    test_said(&f.log, "~b@1>2 ~c@1>2");
    end(&f);
    test_alloc_done(&alloc);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    static const char *const specs[] = {"=a@1,b@2,c@3#4", "~a@5", "-b@6", "!", "=a@7,d@8#9"};
    const ki_queue_kind *kind = user;
    const ki_index index = test_index_by_namespace();
    test_log log = {.len = 0};
    const ki_handler handler = test_log_handler(&log);
    ki_simple_informer *informer = NULL;
    int r = ki_simple_informer_new(
        KI_OPTIONS(ki_simple_informer_options, .alloc = alloc, .handler = &handler, .queue = *kind,
                   .indexes = (const ki_index *[]){&index}, .index_count = 1),
        &informer, NULL);
    for (size_t i = 0; r >= 0 && i < sizeof(specs) / sizeof(specs[0]); i++) {
        r = test_put(ki_simple_informer_queue(informer), alloc, specs[i]);
        while (r >= 0 && (r = ki_simple_informer_step(informer, false, NULL)) > 0) {
        }
    }
    if (r >= 0) {
        test_said(&log, *kind == KI_QUEUE_FIFO
                            ? "+a@1! +b@2! +c@3! ~a@1>5 -b@6 =a@5 =c@3 -c@3? ~a@5>7 +d@8"
                            : "+a@1! +b@2! +c@3! ~a@1>5 -b@6 =a@5 =c@3 ~a@5>7 +d@8 -c@3?");
    }
    assert_int_equal(log.destroyed, 0);
    ki_simple_informer_unref(informer);
    assert_int_equal(log.destroyed, informer != NULL);
    return r;
}

static void runs_out_of_memory_anywhere(void **state)
{
    (void)state;
    for (int kind = 0; kind < KI_QUEUE_KIND_MAX; kind++) {
        ki_queue_kind queue = (ki_queue_kind)kind;
        test_alloc_sweep(scenario, &queue);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_queues_deliver_the_same),
        cmocka_unit_test(the_version_of_the_store_goes_back_with_a_list),
        cmocka_unit_test(also_if_it_finds_deltas_that_wait),
        cmocka_unit_test(also_if_the_list_has_to_be_processed_twice),
        cmocka_unit_test(a_list_over_waiting_deltas_misses_no_deletion),
        cmocka_unit_test(a_list_with_a_change_is_an_update),
        cmocka_unit_test(a_deletion_by_a_list_reaches_the_indexes),
        cmocka_unit_test(unchanged_objects_of_a_list_are_delivered_by_option),
        cmocka_unit_test(a_step_is_as_large_as_requested),
        cmocka_unit_test(a_store_can_be_given),
        cmocka_unit_test(bad_options_are_refused_and_take_nothing),
        cmocka_unit_test(nothing_happens_after_a_stop),
        cmocka_unit_test(a_handler_may_stop_and_release_the_informer),
        cmocka_unit_test(a_handler_may_read_the_store_but_not_step),
        cmocka_unit_test(stopping_releases_a_step_that_waits),
        cmocka_unit_test(a_server_may_change_meanwhile),
        cmocka_unit_test(errors_go_to_the_hook_and_the_rest_continues),
        cmocka_unit_test(a_busy_store_is_reported_and_nothing_is_lost),
        cmocka_unit_test(short_memory_makes_small_steps),
        cmocka_unit_test(runs_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

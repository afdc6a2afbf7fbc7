/* SPDX-License-Identifier: Apache-2.0 */
/* ki_fifo, one rule a test. What both kinds of queue share is in test_delta_queue.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/queue.h>
#include <kinformer/parts/store_write.h>

#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

static ki_queue *new_fifo(void)
{
    ki_queue *queue = NULL;
    assert_int_equal(ki_fifo_new(NULL, &queue, NULL), 0);
    return queue;
}

static void deltas_come_out_in_the_order_of_arrival(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "+a@1 +b@2 ~a@3 -b@4 +b@5");
    test_pops(queue, 1, "{Added a@1} {Added b@2} {Updated a@3} {Deleted b@4} {Added b@5}");
    ki_queue_unref(queue);
}

static void deltas_of_a_key_are_not_merged(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "-a@1 -a@1 -a?");
    test_pops(queue, 1, "{Deleted a@1} {Deleted a@1} {Deleted a?}");
    ki_queue_unref(queue);
}

static void a_deletion_of_the_unknown_is_not_suppressed(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "-never@1");
    test_pops(queue, 0, "{Deleted never@1}");
    ki_queue_unref(queue);
}

static void a_list_is_one_delta(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "=a@1,b@2;c,d#7 =#8");
    assert_int_equal(ki_queue_count(queue), 2);
    test_pops(queue, 0, "*{ReplacedAll [a@1 b@2; c; d] 7} {ReplacedAll [] 8}");
    ki_queue_unref(queue);
}

static void a_list_may_have_no_version(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "=a@1");
    test_pops(queue, 0, "*{ReplacedAll [a@1] -}");
    ki_queue_unref(queue);
}

static void a_resync_is_one_delta_always(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "! +a@1 !");
    test_pops(queue, 0, "{SyncAll} {Added a@1} {SyncAll}");
    ki_queue_unref(queue);
}

static void a_bookmark_passes_through_and_begins_nothing(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "#12");
    test_pops(queue, 0, "*{Bookmark 12}");
    assert_false(ki_queue_has_synced(queue));
    ki_queue_unref(queue);
}

static void a_batch_takes_consecutive_keys(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "+a@1 ~b@2 -c@3 -d?");
    test_pops(queue, 0, "{Added a@1, Updated b@2, Deleted c@3, Deleted d?}");
    ki_queue_unref(queue);
}

static void a_batch_ends_before_a_key_it_has(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "+a@1 +b@2 ~a@3 +c@4 -a@5 -c?");
    test_pops(queue, 0,
              "{Added a@1, Added b@2} {Updated a@3, Added c@4} {Deleted a@5, Deleted c?}");
    ki_queue_unref(queue);
}

static void a_delta_about_all_objects_comes_alone(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "+a@1 +b@2 ! #3 +c@4 =d@5#6 +e@7");
    test_pops(queue, 0,
              "{Added a@1, Added b@2} {SyncAll} {Bookmark 3} {Added c@4} "
              "{ReplacedAll [d@5] 6} {Added e@7}");
    ki_queue_unref(queue);
}

static void a_batch_has_as_many_keys_as_requested(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "+a@1 +b@2 +c@3 +d@4 +e@5");
    test_pops(queue, 2, "{Added a@1, Added b@2} {Added c@3, Added d@4} {Added e@5}");
    ki_queue_unref(queue);
}

static void put_numbered(ki_queue *queue, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char spec[32];
        (void)snprintf(spec, sizeof(spec), "+n%u@1", i);
        assert_int_equal(test_put(queue, NULL, spec), 0);
    }
}

static int count_deltas(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return 0;
}

static void a_batch_has_a_thousand_keys_by_default(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    put_numbered(queue, 2500);
    assert_int_equal(ki_queue_poll(queue, 0, count_deltas, NULL), KI_QUEUE_BATCH);
    assert_int_equal(ki_queue_poll(queue, 0, count_deltas, NULL), KI_QUEUE_BATCH);
    assert_int_equal(ki_queue_poll(queue, 0, count_deltas, NULL), 500);
    assert_int_equal(ki_queue_poll(queue, 0, count_deltas, NULL), 0);
    ki_queue_unref(queue);
}

static void synced_once_the_first_list_is_processed(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_log log = {.len = 0};
    test_put_all(queue, "! #1 =a@1#2");
    assert_int_equal(ki_queue_poll(queue, 0, test_log_deltas, &log), 1);
    assert_int_equal(ki_queue_poll(queue, 0, test_log_deltas, &log), 1);
    assert_false(ki_queue_has_synced(queue)); /* what was there before the list counts as well */
    assert_int_equal(ki_queue_poll(queue, 0, test_log_deltas, &log), 1);
    assert_true(ki_queue_has_synced(queue));
    test_said(&log, "*{SyncAll} *{Bookmark 1} *{ReplacedAll [a@1] 2}");
    test_put_all(queue, "=b@3#4");
    assert_true(ki_queue_has_synced(queue));
    ki_queue_unref(queue);
}

static void an_empty_first_list_has_to_be_processed_too(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "=#2");
    assert_false(ki_queue_has_synced(queue));
    test_pops(queue, 0, "*{ReplacedAll [] 2}");
    assert_true(ki_queue_has_synced(queue));
    ki_queue_unref(queue);
}

static void a_batch_ends_with_the_first_list(void **state)
{
    (void)state;
    ki_queue *queue = new_fifo();
    test_put_all(queue, "=a@1#2 +b@3 +c@4");
    test_pops(queue, 0, "*{ReplacedAll [a@1] 2} {Added b@3, Added c@4}");
    ki_queue_unref(queue);
}

/* Asks once for each batch to be queued again, and puts something in meanwhile. */
struct again {
    ki_queue *queue;
    const char *meanwhile;
    test_log log;
};

static int process_again(const ki_deltas *deltas, void *user)
{
    struct again *a = user;
    (void)test_log_deltas(deltas, &a->log);
    test_put_all(a->queue, a->meanwhile);
    return KI_POP_AGAIN;
}

static void a_batch_that_goes_back_keeps_its_place(void **state)
{
    (void)state;
    struct again a = {.queue = new_fifo(), .meanwhile = "~a@3 +c@4 +d@5"};
    test_put_all(a.queue, "+a@1 +b@2");
    size_t bytes = ki_queue_bytes(a.queue);
    assert_int_equal(ki_queue_poll(a.queue, 0, process_again, &a), 2);
    test_said(&a.log, "{Added a@1, Added b@2}");
    assert_int_equal(ki_queue_count(a.queue), 5);
    assert_true(ki_queue_bytes(a.queue) > bytes);
    test_pops(a.queue, 0, "{Added a@1, Added b@2} {Updated a@3, Added c@4, Added d@5}");
    assert_int_equal(ki_queue_bytes(a.queue), 0);
    ki_queue_unref(a.queue);
}

static int process_meanwhile(const ki_deltas *deltas, void *user)
{
    struct again *a = user;
    (void)test_log_deltas(deltas, &a->log);
    test_put_all(a->queue, a->meanwhile);
    return KI_POP_DONE;
}

/* What was popped before the first list came is no part of it. */
static void a_first_list_that_comes_meanwhile_has_to_be_processed(void **state)
{
    (void)state;
    struct again a = {.queue = new_fifo(), .meanwhile = "=a@1#5"};
    test_put_all(a.queue, "#1");
    assert_int_equal(ki_queue_poll(a.queue, 0, process_meanwhile, &a), 1);
    assert_false(ki_queue_has_synced(a.queue));
    test_pops(a.queue, 0, "*{ReplacedAll [a@1] 5}");
    assert_true(ki_queue_has_synced(a.queue));
    ki_queue_unref(a.queue);
    a = (struct again){.queue = new_fifo(), .meanwhile = "=a@1#5"};
    test_put_all(a.queue, "#1 #2");
    assert_int_equal(ki_queue_poll(a.queue, 0, process_again, &a), 1);
    test_pops(a.queue, 0, "*{Bookmark 1} *{Bookmark 2} *{ReplacedAll [a@1] 5}");
    assert_true(ki_queue_has_synced(a.queue));
    ki_queue_unref(a.queue);
}

/* The ring grows while a batch is out, and still has space for it. */
static void a_batch_can_always_go_back(void **state)
{
    (void)state;
    for (unsigned before = 1; before <= 40; before += 3) {
        struct again a = {.queue = new_fifo(), .meanwhile = ""};
        put_numbered(a.queue, before);
        test_log unused = {.len = 0};
        assert_true(ki_queue_poll(a.queue, before / 2 + 1, test_log_deltas, &unused) > 0);
        char many[512] = "";
        for (unsigned i = 0; i < before; i++) {
            size_t len = strlen(many);
            (void)snprintf(many + len, sizeof(many) - len, "%s+m%u@1", i > 0 ? " " : "", i);
        }
        a.meanwhile = many;
        put_numbered(a.queue, before);
        size_t length = ki_queue_count(a.queue);
        assert_true(ki_queue_poll(a.queue, 7, process_again, &a) > 0);
        assert_int_equal(ki_queue_count(a.queue), length + before);
        size_t out = 0;
        int r;
        while ((r = ki_queue_poll(a.queue, 5, count_deltas, NULL)) > 0) {
            out += (size_t)r;
        }
        assert_int_equal(out, length + before);
        ki_queue_unref(a.queue);
    }
}

static void a_first_list_that_goes_back_is_not_synced(void **state)
{
    (void)state;
    struct again a = {.queue = new_fifo(), .meanwhile = ""};
    test_put_all(a.queue, "=a@1#2");
    assert_int_equal(ki_queue_poll(a.queue, 0, process_again, &a), 1);
    assert_false(ki_queue_has_synced(a.queue));
    test_pops(a.queue, 0, "*{ReplacedAll [a@1] 2}");
    assert_true(ki_queue_has_synced(a.queue));
    ki_queue_unref(a.queue);
}

static void known_objects_are_refused(void **state)
{
    (void)state;
    ki_store *store = NULL;
    ki_queue *queue = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    assert_int_equal(ki_fifo_new(KI_OPTIONS(ki_queue_options, .known = store), &queue, NULL),
                     -EINVAL);
    ki_store_unref(store);
}

static void a_burst_is_not_kept_for_ever(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_queue *queue = NULL;
    assert_int_equal(ki_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = &alloc.table), &queue, NULL),
                     0);
    put_numbered(queue, 20000);
    assert_true(alloc.live_bytes > 20000 * sizeof(ki_delta));
    while (ki_queue_poll(queue, 0, count_deltas, NULL) > 0) {
    }
    assert_true(alloc.live_bytes < 5000 * sizeof(ki_delta));
    ki_queue_unref(queue);
    test_alloc_done(&alloc);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    static const char *const specs[] = {"=a@1,b@2;x#3", "+c@4", "~a@5", "-b@6",
                                        "-c?",          "!",    "#7",   "=a@8#9"};
    (void)user;
    ki_queue *queue = NULL;
    int r = ki_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = alloc), &queue, NULL);
    for (size_t i = 0; r >= 0 && i < sizeof(specs) / sizeof(specs[0]); i++) {
        size_t before = ki_queue_count(queue);
        r = test_put(queue, alloc, specs[i]);
        assert_int_equal(ki_queue_count(queue), before + (r >= 0));
    }
    test_log log = {.answer = KI_POP_AGAIN};
    if (r >= 0) {
        size_t before = ki_queue_count(queue);
        r = ki_queue_poll(queue, 0, test_log_deltas, &log);
        assert_int_equal(ki_queue_count(queue), before);
        log = (test_log){.len = 0};
    }
    while (r >= 0 && (r = ki_queue_poll(queue, 0, test_log_deltas, &log)) > 0) {
    }
    ki_queue_unref(queue);
    return r;
}

static void runs_out_of_memory_anywhere(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_come_out_in_the_order_of_arrival),
        cmocka_unit_test(deltas_of_a_key_are_not_merged),
        cmocka_unit_test(a_deletion_of_the_unknown_is_not_suppressed),
        cmocka_unit_test(a_list_is_one_delta),
        cmocka_unit_test(a_list_may_have_no_version),
        cmocka_unit_test(a_resync_is_one_delta_always),
        cmocka_unit_test(a_bookmark_passes_through_and_begins_nothing),
        cmocka_unit_test(a_batch_takes_consecutive_keys),
        cmocka_unit_test(a_batch_ends_before_a_key_it_has),
        cmocka_unit_test(a_delta_about_all_objects_comes_alone),
        cmocka_unit_test(a_batch_has_as_many_keys_as_requested),
        cmocka_unit_test(a_batch_has_a_thousand_keys_by_default),
        cmocka_unit_test(synced_once_the_first_list_is_processed),
        cmocka_unit_test(an_empty_first_list_has_to_be_processed_too),
        cmocka_unit_test(a_batch_ends_with_the_first_list),
        cmocka_unit_test(a_batch_that_goes_back_keeps_its_place),
        cmocka_unit_test(a_first_list_that_comes_meanwhile_has_to_be_processed),
        cmocka_unit_test(a_batch_can_always_go_back),
        cmocka_unit_test(a_first_list_that_goes_back_is_not_synced),
        cmocka_unit_test(known_objects_are_refused),
        cmocka_unit_test(a_burst_is_not_kept_for_ever),
        cmocka_unit_test(runs_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ki_delta_fifo, one rule a test. What both kinds of queue share is in test_delta_queue.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/queue.h>
#include <kinformer/parts/store_write.h>

#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

/* A queue and the store that it looks at, with these objects in it, parted by blanks. */
struct pair {
    ki_queue *queue;
    ki_store *store;
};

static struct pair new_pair(const char *known)
{
    struct pair p = {NULL, NULL};
    assert_int_equal(ki_store_new(NULL, &p.store, NULL), 0);
    while (*known != '\0') {
        char spec[64];
        size_t len = strcspn(known, " ");
        (void)snprintf(spec, sizeof(spec), "%.*s", (int)len, known);
        ki_object *object = test_thing(NULL, spec);
        assert_int_equal(ki_store_add(p.store, object, NULL), 0);
        ki_object_unref(object);
        known += len + (known[len] == ' ');
    }
    assert_int_equal(
        ki_delta_fifo_new(KI_OPTIONS(ki_queue_options, .known = p.store), &p.queue, NULL), 0);
    return p;
}

static void end(struct pair *p)
{
    assert_int_equal(ki_queue_count(p->queue), 0);
    assert_int_equal(ki_queue_bytes(p->queue), 0);
    ki_queue_unref(p->queue);
    ki_store_unref(p->store);
}

static void deltas_are_gathered_by_key(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 +b@2 ~a@3 -b@4 +b@5");
    assert_int_equal(ki_queue_count(p.queue), 5);
    test_pops(p.queue, 1, "{Added a@1, Updated a@3} {Added b@2, Deleted b@4, Added b@5}");
    end(&p);
}

static void keys_come_out_in_the_order_of_arrival(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+c@1 +a@2 +b@3 ~c@4 ~a@5");
    test_pops(p.queue, 1, "{Added c@1, Updated c@4} {Added a@2, Updated a@5} {Added b@3}");
    end(&p);
}

static void a_key_that_was_popped_queues_up_again(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 +b@2");
    test_log log = {.len = 0};
    assert_int_equal(ki_queue_poll(p.queue, 1, test_log_deltas, &log), 1);
    test_put_all(p.queue, "~a@3");
    test_pops(p.queue, 1, "{Added b@2} {Updated a@3}");
    end(&p);
}

static void only_deletions_in_a_row_are_merged(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 +a@1 ~a@2 ~a@2 -a@3 -a@4 +a@5 -a@6");
    test_pops(p.queue, 1,
              "{Added a@1, Added a@1, Updated a@2, Updated a@2, Deleted a@3, Added a@5, "
              "Deleted a@6}");
    end(&p);
}

static void of_two_deletions_the_one_that_was_seen_is_kept(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1");
    test_put_all(p.queue, "-a@2 =#9 -b@3");
    /* a: seen, then missing in a list. b: missing in a list, then seen. */
    test_pops(p.queue, 1, "{Deleted a@2} {Deleted b@3}");
    end(&p);
}

static void a_deletion_of_the_unknown_is_ignored(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1");
    test_put_all(p.queue, "-never@1 -gone? -a@2");
    assert_true(ki_queue_has_synced(p.queue)); /* the call counts nevertheless */
    test_pops(p.queue, 0, "{Deleted a@2}");
    end(&p);
}

static void without_a_store_only_what_is_queued_can_be_deleted(void **state)
{
    (void)state;
    ki_queue *queue = NULL;
    assert_int_equal(ki_delta_fifo_new(NULL, &queue, NULL), 0);
    test_put_all(queue, "-a@1 +b@2 -b@3 ! #4");
    test_pops(queue, 0, "{Added b@2, Deleted b@3}");
    ki_queue_unref(queue);
}

static void a_deletion_by_key_has_the_last_known_object(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1 c@1");
    test_put_all(p.queue, "-a? ~b@5 -b? -c@6 -c?");
    test_pops(p.queue, 1, "{Deleted a@1?} {Updated b@5, Deleted b@5?} {Deleted c@6}");
    end(&p);
}

static void a_list_replaces_object_by_object(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "=b@2,a@1,b@3#4");
    test_pops(p.queue, 1, "*{Replaced b@2, Replaced b@3} *{Replaced a@1}");
    end(&p);
}

static void a_list_deletes_what_is_queued_and_not_in_it(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+c@1 ~c@2 +b@3 +a@4 =a@5#6");
    /* In the order of the queue, each with its newest object. */
    test_pops(p.queue, 1,
              "{Added c@1, Updated c@2, Deleted c@2?} {Added b@3, Deleted b@3?} "
              "{Added a@4, Replaced a@5}");
    end(&p);
}

static void a_list_deletes_what_is_known_and_not_in_it(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1 c@1 d@1");
    test_put_all(p.queue, "~c@2 =b@3#4");
    test_pops(p.queue, 1,
              "{Updated c@2, Deleted c@2?} {Replaced b@3} {Deleted a@1?} {Deleted d@1?}");
    end(&p);
}

static void a_list_does_not_delete_what_is_deleted(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1");
    test_put_all(p.queue, "-a@2 =#3 =#4");
    test_pops(p.queue, 1, "{Deleted a@2}");
    end(&p);
}

static void a_list_does_not_delete_what_could_not_be_read(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1 c@1");
    test_put_all(p.queue, "~c@2 =;a,c#3");
    test_pops(p.queue, 1, "{Updated c@2} {Deleted b@1?}");
    end(&p);
}

static void a_resync_is_for_known_objects_with_nothing_queued(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1 c@1");
    test_put_all(p.queue, "~b@2 +d@3 ! !");
    test_pops(p.queue, 1, "{Updated b@2} {Added d@3} {Sync a@1} {Sync c@1}");
    end(&p);
}

static void a_bookmark_has_no_place(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "#5");
    test_pops(p.queue, 0, "");
    end(&p);
}

static void synced_once_all_keys_of_the_first_list_are_processed(void **state)
{
    (void)state;
    struct pair p = new_pair("gone@1 a@1");
    test_log log = {.len = 0};
    test_put_all(p.queue, "=a@2,b@3,a@4#5 ~c@6");
    for (int i = 0; i < 3; i++) {
        assert_false(ki_queue_has_synced(p.queue));
        assert_true(ki_queue_poll(p.queue, 1, test_log_deltas, &log) > 0);
    }
    assert_true(ki_queue_has_synced(p.queue));
    test_said(&log, "*{Replaced a@2, Replaced a@4} *{Replaced b@3} *{Deleted gone@1?}");
    test_pops(p.queue, 1, "{Updated c@6}");
    end(&p);
}

static void an_empty_first_list_is_synced_at_once(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "=#5");
    assert_true(ki_queue_has_synced(p.queue));
    end(&p);
}

static void a_batch_ends_where_the_first_list_ends(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "=a@1,b@2#3 +c@4 ~a@5 +d@6");
    test_pops(p.queue, 0, "*{Replaced a@1, Updated a@5, Replaced b@2} {Added c@4, Added d@6}");
    end(&p);
}

static void a_batch_has_no_more_deltas_than_keys_requested(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 ~a@2 ~a@3 +b@4 +c@5 +d@6");
    test_pops(p.queue, 2,
              "{Added a@1, Updated a@2, Updated a@3} {Added b@4, Added c@5} "
              "{Added d@6}");
    end(&p);
}

/* What happens to a queue while a batch is out. */
struct meanwhile {
    struct pair *pair;
    const char *specs;
    int answer;
    test_log log;
};

static int process_meanwhile(const ki_deltas *deltas, void *user)
{
    struct meanwhile *m = user;
    (void)test_log_deltas(deltas, &m->log);
    test_put_all(m->pair->queue, m->specs);
    return m->answer;
}

static void pop_meanwhile(struct pair *p, const char *specs, int answer, const char *popped)
{
    struct meanwhile m = {.pair = p, .specs = specs, .answer = answer};
    assert_true(ki_queue_poll(p->queue, 1, process_meanwhile, &m) > 0);
    test_said(&m.log, popped);
}

static void a_list_deletes_what_is_in_flight_and_not_in_it(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1");
    pop_meanwhile(&p, "=b@2#3", KI_POP_DONE, "{Added a@1}");
    test_pops(p.queue, 1, "{Replaced b@2} {Deleted a@1?}");
    end(&p);
}

static void a_list_does_not_delete_twice_what_is_in_flight(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1");
    test_put_all(p.queue, "-a@2");
    pop_meanwhile(&p, "=b@2#3", KI_POP_DONE, "{Deleted a@2}"); /* the store still has it */
    test_pops(p.queue, 1, "{Replaced b@2}");
    test_put_all(p.queue, "~b@4");
    pop_meanwhile(&p, "~b@5 =a@6#7", KI_POP_DONE, "{Updated b@4}");
    test_pops(p.queue, 1, "{Updated b@5, Deleted b@5?} {Replaced a@6}");
    end(&p);
}

static void a_resync_does_not_bring_back_what_is_in_flight(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1");
    test_put_all(p.queue, "~a@2");
    pop_meanwhile(&p, "!", KI_POP_DONE, "{Updated a@2}"); /* the store still has a@1 */
    test_pops(p.queue, 1, "{Sync b@1}");
    end(&p);
}

static void what_is_in_flight_can_be_deleted(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 +b@2");
    pop_meanwhile(&p, "-a@3", KI_POP_DONE, "{Added a@1}");
    pop_meanwhile(&p, "-b?", KI_POP_DONE, "{Added b@2}");
    pop_meanwhile(&p, "-a@3 -a?", KI_POP_DONE, "{Deleted a@3}");
    test_pops(p.queue, 1, "{Deleted b@2?}");
    end(&p);
}

static void what_goes_back_queues_up_at_the_end(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 ~a@2 +b@3");
    pop_meanwhile(&p, "+c@4", KI_POP_AGAIN, "{Added a@1, Updated a@2}");
    assert_int_equal(ki_queue_count(p.queue), 4);
    test_pops(p.queue, 1, "{Added b@3} {Added c@4} {Added a@1, Updated a@2}");
    end(&p);
}

static void what_goes_back_comes_before_what_is_newer(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "+a@1 +b@3");
    pop_meanwhile(&p, "~a@4 ~a@5", KI_POP_AGAIN, "{Added a@1}");
    test_pops(p.queue, 1, "{Added b@3} {Added a@1, Updated a@4, Updated a@5}");
    end(&p);
}

static void deletions_do_not_meet_when_one_goes_back(void **state)
{
    (void)state;
    struct pair p = new_pair("a@1 b@1 c@1");
    test_put_all(p.queue, "-a? -b@2 -c?");
    pop_meanwhile(&p, "-a@4 -a? +a@4 -a@5", KI_POP_AGAIN, "{Deleted a@1?}");
    pop_meanwhile(&p, "+b@4 =a@6,c@1#7", KI_POP_AGAIN, "{Deleted b@2}");
    test_pops(p.queue, 1,
              "{Deleted c@1?, Replaced c@1} {Deleted a@1?, Added a@4, Deleted a@5, Replaced a@6} "
              "{Deleted b@2, Added b@4, Deleted b@4?}");
    end(&p);
}

static void a_first_list_that_goes_back_is_not_synced(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "=a@1,b@2#3");
    pop_meanwhile(&p, "+c@4", KI_POP_AGAIN, "*{Replaced a@1}");
    pop_meanwhile(&p, "", KI_POP_DONE, "*{Replaced b@2}");
    assert_false(ki_queue_has_synced(p.queue));
    pop_meanwhile(&p, "", KI_POP_DONE, "*{Added c@4}"); /* did not belong to it */
    assert_false(ki_queue_has_synced(p.queue));
    pop_meanwhile(&p, "", KI_POP_DONE, "*{Replaced a@1}");
    assert_true(ki_queue_has_synced(p.queue));
    end(&p);
}

static void a_first_list_that_goes_back_to_newer_deltas_is_not_synced(void **state)
{
    (void)state;
    struct pair p = new_pair("");
    test_put_all(p.queue, "=a@1#2");
    pop_meanwhile(&p, "~a@3", KI_POP_AGAIN, "*{Replaced a@1}");
    assert_false(ki_queue_has_synced(p.queue));
    pop_meanwhile(&p, "", KI_POP_DONE, "*{Replaced a@1, Updated a@3}");
    assert_true(ki_queue_has_synced(p.queue));
    end(&p);
}

static int ignore(const ki_deltas *deltas, void *user)
{
    (void)deltas;
    (void)user;
    return 0;
}

static void a_burst_is_not_kept_for_ever(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki_queue *queue = NULL;
    assert_int_equal(
        ki_delta_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = &alloc.table), &queue, NULL), 0);
    for (unsigned i = 0; i < 20000; i++) {
        char spec[32];
        (void)snprintf(spec, sizeof(spec), "+n%u@1", i);
        assert_int_equal(test_put(queue, NULL, spec), 0);
    }
    size_t most = alloc.live_bytes;
    while (ki_queue_poll(queue, 0, ignore, NULL) > 0) {
    }
    assert_true(alloc.live_bytes < most / 8);
    ki_queue_unref(queue);
    test_alloc_done(&alloc);
}

static int new_known(const ki_alloc *alloc, struct pair *p)
{
    ki_object *known = test_thing(alloc, "known@1");
    int r = known != NULL ? 0 : -ENOMEM;
    if (r >= 0) {
        r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc), &p->store, NULL);
    }
    if (r >= 0) {
        r = ki_store_add(p->store, known, NULL);
    }
    ki_object_unref(known);
    if (r >= 0) {
        r = ki_delta_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = alloc, .known = p->store),
                              &p->queue, NULL);
    }
    return r;
}

/* A failed call changes nothing, so the result is the same as without it. */
static int scenario(const ki_alloc *alloc, void *user)
{
    static const char *const specs[] = {"!",   "+c@4", "=a@1,b@2;x#3", "~a@5", "-b@6",
                                        "-c?", "!",    "=a@8#9"};
    (void)user;
    struct pair p = {NULL, NULL};
    int r = new_known(alloc, &p);
    for (size_t i = 0; r >= 0 && i < sizeof(specs) / sizeof(specs[0]); i++) {
        size_t length = ki_queue_count(p.queue);
        size_t bytes = ki_queue_bytes(p.queue);
        r = test_put(p.queue, alloc, specs[i]);
        if (r < 0) {
            assert_int_equal(ki_queue_count(p.queue), length);
            assert_int_equal(ki_queue_bytes(p.queue), bytes);
        }
    }
    test_log log = {.answer = KI_POP_AGAIN};
    if (r >= 0) {
        size_t bytes = ki_queue_bytes(p.queue);
        r = ki_queue_poll(p.queue, 0, test_log_deltas, &log);
        assert_int_equal(ki_queue_bytes(p.queue), bytes);
        log = (test_log){.len = 0};
    }
    while (r >= 0 && (r = ki_queue_poll(p.queue, 0, test_log_deltas, &log)) > 0) {
    }
    ki_queue_unref(p.queue);
    ki_store_unref(p.store);
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
        cmocka_unit_test(deltas_are_gathered_by_key),
        cmocka_unit_test(keys_come_out_in_the_order_of_arrival),
        cmocka_unit_test(a_key_that_was_popped_queues_up_again),
        cmocka_unit_test(only_deletions_in_a_row_are_merged),
        cmocka_unit_test(of_two_deletions_the_one_that_was_seen_is_kept),
        cmocka_unit_test(a_deletion_of_the_unknown_is_ignored),
        cmocka_unit_test(without_a_store_only_what_is_queued_can_be_deleted),
        cmocka_unit_test(a_deletion_by_key_has_the_last_known_object),
        cmocka_unit_test(a_list_replaces_object_by_object),
        cmocka_unit_test(a_list_deletes_what_is_queued_and_not_in_it),
        cmocka_unit_test(a_list_deletes_what_is_known_and_not_in_it),
        cmocka_unit_test(a_list_does_not_delete_what_is_deleted),
        cmocka_unit_test(a_list_does_not_delete_what_could_not_be_read),
        cmocka_unit_test(a_resync_is_for_known_objects_with_nothing_queued),
        cmocka_unit_test(a_bookmark_has_no_place),
        cmocka_unit_test(synced_once_all_keys_of_the_first_list_are_processed),
        cmocka_unit_test(an_empty_first_list_is_synced_at_once),
        cmocka_unit_test(a_batch_ends_where_the_first_list_ends),
        cmocka_unit_test(a_batch_has_no_more_deltas_than_keys_requested),
        cmocka_unit_test(a_list_deletes_what_is_in_flight_and_not_in_it),
        cmocka_unit_test(a_list_does_not_delete_twice_what_is_in_flight),
        cmocka_unit_test(a_resync_does_not_bring_back_what_is_in_flight),
        cmocka_unit_test(what_is_in_flight_can_be_deleted),
        cmocka_unit_test(what_goes_back_queues_up_at_the_end),
        cmocka_unit_test(what_goes_back_comes_before_what_is_newer),
        cmocka_unit_test(deletions_do_not_meet_when_one_goes_back),
        cmocka_unit_test(a_first_list_that_goes_back_is_not_synced),
        cmocka_unit_test(a_first_list_that_goes_back_to_newer_deltas_is_not_synced),
        cmocka_unit_test(a_burst_is_not_kept_for_ever),
        cmocka_unit_test(runs_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

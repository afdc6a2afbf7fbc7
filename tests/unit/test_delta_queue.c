/* SPDX-License-Identifier: Apache-2.0 */
/* What both kinds of queue share: every test runs with each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/store_write.h>

#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

typedef int (*maker)(const ki_queue_options *options, ki_queue **ret_queue, ki_error *error);
static const maker makers[] = {ki_fifo_new, ki_delta_fifo_new};
enum { FIFO, DELTA_FIFO, KINDS };

static ki_queue *new_queue(int kind, const ki_queue_options *options)
{
    ki_queue *queue = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(makers[kind](options, &queue, &error), 0);
    return queue;
}

static void types_have_names(void **state)
{
    (void)state;
    assert_string_equal(ki_delta_type_name(KI_DELTA_ADDED), "Added");
    assert_string_equal(ki_delta_type_name(KI_DELTA_BOOKMARK), "Bookmark");
    assert_string_equal(ki_delta_type_name(KI_DELTA_MAX), "unknown");
    assert_int_equal(ki_delta_key(&(ki_delta){.type = KI_DELTA_SYNC_ALL}).len, 0);
    assert_int_equal(
        ki_delta_key(&(ki_delta){.type = KI_DELTA_BOOKMARK, .resource_version = "7"}).len, 0);
}

static void options_are_checked(void **state)
{
    (void)state;
    ki_queue *queue = NULL;
    for (int kind = 0; kind < KINDS; kind++) {
        const ki_queue_options options = {.size = 1};
        assert_int_equal(makers[kind](&options, &queue, NULL), -EINVAL);
    }
    assert_null(ki_queue_ref(NULL));
    assert_null(ki_queue_unref(NULL));
}

static void an_empty_queue_gives_nothing(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        test_log log = {.len = 0};
        assert_int_equal(ki_queue_poll(queue, 0, test_log_deltas, &log), 0);
        assert_int_equal(log.calls, 0);
        assert_int_equal(ki_queue_count(queue), 0);
        assert_int_equal(ki_queue_bytes(queue), 0);
        assert_false(ki_queue_has_synced(queue));
        assert_false(ki_queue_is_stopped(queue));
        ki_queue_unref(queue);
    }
}

static void what_is_left_is_freed(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        test_put_all(queue, "=a@1,b@2;c#3 +d@4 -d? ! #5 =a@6#7");
        assert_true(ki_queue_bytes(queue) > 0);
        assert_ptr_equal(ki_queue_ref(queue), queue);
        ki_queue_unref(queue);
        ki_queue_unref(queue);
    }
}

static void bytes_are_those_of_the_objects(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        ki_object *a = test_thing(NULL, "a@1");
        ki_object *b = test_thing(NULL, "b@1");
        const ki_object *list[] = {a, b};
        const ki_replacement all = {.objects = list, .object_count = 2};
        assert_int_equal(ki_queue_add(queue, a, NULL), 0);
        size_t one = ki_queue_bytes(queue);
        assert_true(one <= ki_object_memory(a) && one > ki_object_memory(a) / 2);
        assert_int_equal(ki_queue_replace(queue, &all, NULL), 0);
        assert_int_equal(ki_queue_bytes(queue), 3 * one); /* a and b are of one size */
        assert_int_equal(ki_queue_count(queue), kind == FIFO ? 2 : 3);
        test_pops(queue, 0,
                  kind == FIFO ? "{Added a@1} {ReplacedAll [a@1 b@1] -}"
                               : "{Added a@1, Replaced a@1, Replaced b@1}");
        assert_int_equal(ki_queue_bytes(queue), 0);
        ki_object_unref(a);
        ki_object_unref(b);
        ki_queue_unref(queue);
    }
}

static void adding_first_means_synced(void **state)
{
    (void)state;
    static const char *const firsts[] = {"+a@1", "~a@1", "-a@1", "-a?"};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < 4; i++) {
            ki_queue *queue = new_queue(kind, NULL);
            assert_int_equal(test_put(queue, NULL, "!"), 0);
            assert_false(ki_queue_has_synced(queue));
            assert_int_equal(test_put(queue, NULL, firsts[i]), 0);
            assert_true(ki_queue_has_synced(queue));
            assert_int_equal(test_put(queue, NULL, "=b@2#3"), 0);
            assert_true(ki_queue_has_synced(queue));
            ki_queue_unref(queue);
        }
    }
}

/* Keys */

static void an_object_without_a_key_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"{'metadata':{}}", "{'metadata':{'name':'a/b'}}",
                                      "{'metadata':{'name':'a','namespace':'x/y'}}"};
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        for (size_t i = 0; i < 3; i++) {
            ki_object *object = test_object(NULL, bad[i]);
            ki_error error = KI_ERROR_INIT;
            assert_int_equal(ki_queue_add(queue, object, &error), KI_ERR_KEY);
            assert_true(error.message[0] != '\0');
            assert_int_equal(ki_queue_update(queue, object, NULL), KI_ERR_KEY);
            assert_int_equal(ki_queue_delete(queue, object, NULL), KI_ERR_KEY);
            ki_object_unref(object);
        }
        assert_int_equal(ki_queue_delete_key(queue, ki_str_from(""), NULL), KI_ERR_KEY);
        assert_int_equal(ki_queue_delete_key(queue, ki_str_from("a/b/c"), NULL), KI_ERR_KEY);
        assert_int_equal(ki_queue_delete_key(queue, ki_str_make("a\0b", 3), NULL), KI_ERR_KEY);
        assert_int_equal(ki_queue_count(queue), 0);
        assert_false(ki_queue_has_synced(queue)); /* nothing was put in */
        ki_queue_unref(queue);
    }
}

struct reports {
    char text[256];
    unsigned count;
};

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    struct reports *reports = user;
    size_t len = strlen(reports->text);
    reports->count++;
    (void)snprintf(reports->text + len, sizeof(reports->text) - len, "%s %.*s %s;", component,
                   KI_STR_ARG(key), ki_error_name(error->code));
}

static void an_object_without_a_key_is_left_out_of_a_list(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct reports reports = {.count = 0};
        ki_queue *queue = new_queue(
            kind, KI_OPTIONS(ki_queue_options,
                             .on_error = &(ki_error_hook){.report = report, .user = &reports}));
        ki_object *good = test_thing(NULL, "a@1");
        ki_object *bad = test_object(NULL, "{'metadata':{}}");
        const ki_object *list[] = {bad, good, bad};
        assert_int_equal(
            ki_queue_replace(queue, &(ki_replacement){.objects = list, .object_count = 3}, NULL),
            2);
        assert_string_equal(reports.text, "queue  KI_ERR_KEY;queue  KI_ERR_KEY;");
        test_pops(queue, 0, kind == FIFO ? "*{ReplacedAll [a@1] -}" : "*{Replaced a@1}");
        ki_object_unref(good);
        ki_object_unref(bad);
        ki_queue_unref(queue);
    }
}

/* Transform */

struct transformer {
    unsigned calls;
    int fail; /* what to return for objects named "bad" */
    const char *made;
    const ki_alloc *alloc;
};

/* Makes version + "0" of everything. */
static int transform(const ki_object *object, ki_object **ret_object, void *user)
{
    struct transformer *t = user;
    t->calls++;
    if (strcmp(ki_object_name(object), "bad") == 0 && t->made == NULL) {
        return t->fail;
    }
    char spec[64];
    (void)snprintf(spec, sizeof(spec), "%s@%s0", t->made != NULL ? t->made : ki_object_name(object),
                   ki_object_resource_version(object));
    *ret_object = test_thing(t->alloc, spec);
    return *ret_object != NULL ? 0 : -ENOMEM;
}

static ki_queue *transforming(int kind, struct transformer *t, struct reports *reports,
                              ki_store *known)
{
    return new_queue(kind,
                     KI_OPTIONS(ki_queue_options, .transform = transform, .transform_user = t,
                                .known = known,
                                .on_error = &(ki_error_hook){.report = report, .user = reports}));
}

static void every_object_is_transformed_once(void **state)
{
    (void)state;
    struct transformer t = {.calls = 0};
    struct reports reports = {.count = 0};
    ki_queue *queue = transforming(FIFO, &t, &reports, NULL);
    test_put_all(queue, "+a@1 ~b@2 -c@3 =d@4,e@5#6");
    assert_int_equal(t.calls, 5);
    test_pops(queue, 0, "{Added a@10, Updated b@20, Deleted c@30} {ReplacedAll [d@40 e@50] 6}");
    assert_int_equal(t.calls, 5);
    ki_queue_unref(queue);
}

static void resyncs_and_unseen_deletions_are_not_transformed(void **state)
{
    (void)state;
    struct transformer t = {.calls = 0};
    struct reports reports = {.count = 0};
    ki_store *store = NULL;
    assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
    ki_object *known = test_thing(NULL, "k@1");
    assert_int_equal(ki_store_add(store, known, NULL), 0);
    ki_queue *queue = transforming(DELTA_FIFO, &t, &reports, store);
    test_put_all(queue, "!");
    test_pops(queue, 0, "*{Sync k@1}");
    test_put_all(queue, "+a@1 =#2");
    assert_int_equal(t.calls, 1);
    test_pops(queue, 0, "{Added a@10, Deleted a@10?, Deleted k@1?}");
    ki_object_unref(known);
    ki_queue_unref(queue);
    ki_store_unref(store);
}

static void a_failing_transform_refuses_additions_and_updates(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct transformer t = {.fail = KI_ERR_TYPE};
        struct reports reports = {.count = 0};
        ki_queue *queue = transforming(kind, &t, &reports, NULL);
        assert_int_equal(test_put(queue, NULL, "+bad@1"), KI_ERR_TYPE);
        assert_int_equal(test_put(queue, NULL, "~bad@1"), KI_ERR_TYPE);
        t.fail = 0; /* neither an error nor an object */
        assert_int_equal(test_put(queue, NULL, "~bad@1"), KI_ERR_INVALID);
        t.made = "other";
        assert_int_equal(test_put(queue, NULL, "~bad@1"), KI_ERR_KEY);
        assert_int_equal(ki_queue_count(queue), 0);
        ki_queue_unref(queue);
    }
}

static void a_deletion_is_not_lost_to_a_failing_transform(void **state)
{
    (void)state;
    struct transformer t = {.fail = KI_ERR_TYPE};
    struct reports reports = {.count = 0};
    ki_queue *queue = transforming(FIFO, &t, &reports, NULL);
    test_put_all(queue, "-bad@1");
    test_pops(queue, 0, "{Deleted bad@1}");
    ki_queue_unref(queue);
}

static void untransformable_objects_are_left_out_of_a_list_as_unread(void **state)
{
    (void)state;
    struct transformer t = {.fail = KI_ERR_TYPE};
    struct reports reports = {.count = 0};
    ki_queue *queue = transforming(FIFO, &t, &reports, NULL);
    assert_int_equal(test_put(queue, NULL, "=a@1,bad@2,c@3;x#4"), 1);
    assert_string_equal(reports.text, "queue bad KI_ERR_TYPE;");
    test_pops(queue, 0, "*{ReplacedAll [a@10 c@30; x; bad] 4}");
    ki_queue_unref(queue);
}

static void an_error_that_may_pass_fails_the_whole_list(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct transformer t = {.fail = -ENOMEM};
        struct reports reports = {.count = 0};
        ki_queue *queue = transforming(kind, &t, &reports, NULL);
        assert_int_equal(test_put(queue, NULL, "=a@1,bad@2,c@3#4"), -ENOMEM);
        t.fail = KI_ERR_TYPE;
        assert_int_equal(reports.count, 0);
        assert_int_equal(ki_queue_count(queue), 0);
        assert_false(ki_queue_has_synced(queue));
        assert_int_equal(test_put(queue, NULL, "=a@1,bad@2,c@3#4"), 1); /* and now it goes */
        ki_queue_unref(queue);
    }
}

/* Limits */

static void too_many_deltas_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_store *store = NULL;
        assert_int_equal(ki_store_new(NULL, &store, NULL), 0);
        ki_queue *queue = new_queue(kind, KI_OPTIONS(ki_queue_options, .max_deltas = 2,
                                                     .known = kind == DELTA_FIFO ? store : NULL));
        test_put_all(queue, "+a@1 +b@2");
        ki_object *object = test_thing(NULL, "c@3");
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_queue_add(queue, object, &error), KI_ERR_LIMIT);
        assert_non_null(strstr(error.message, "limit 2"));
        assert_int_equal(test_put(queue, NULL, "=c@3#4"), KI_ERR_LIMIT);
        assert_int_equal(test_put(queue, NULL, "-a?"), KI_ERR_LIMIT);
        if (kind == FIFO) {
            assert_int_equal(test_put(queue, NULL, "!"), KI_ERR_LIMIT);
        } else {
            assert_int_equal(ki_store_add(store, object, NULL), 0);
            assert_int_equal(test_put(queue, NULL, "!"), KI_ERR_LIMIT);
        }
        test_pops(queue, 0, "{Added a@1, Added b@2}");
        ki_object_unref(object);
        ki_queue_unref(queue);
        ki_store_unref(store);
    }
}

static void long_texts_are_refused(void **state)
{
    (void)state;
    static char text[4096];
    memset(text, '1', sizeof(text) - 1);
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        const ki_replacement all = {.resource_version = text};
        assert_int_equal(ki_queue_bookmark(queue, text, NULL), KI_ERR_LIMIT);
        assert_int_equal(ki_queue_replace(queue, &all, NULL), KI_ERR_LIMIT);
        assert_int_equal(ki_queue_delete_key(queue, ki_str_from(text), NULL), KI_ERR_LIMIT);
        const ki_replacement many = {.object_count = SIZE_MAX / 2};
        assert_int_equal(ki_queue_replace(queue, &many, NULL), KI_ERR_LIMIT);
        const ki_str wide = {text, SIZE_MAX / 4};
        const ki_replacement huge = {.unread = &wide, .unread_count = 1};
        assert_int_equal(ki_queue_replace(queue, &huge, NULL), KI_ERR_LIMIT);
        const ki_replacement absurd = {.unread = &wide, .unread_count = 0, .object_count = 0};
        assert_int_equal(ki_queue_replace(queue, &absurd, NULL), 0);
        ki_queue_unref(queue);
    }
}

/* Popping */

static void an_error_of_processing_drops_the_deltas(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        test_put_all(queue, "+a@1 +b@2");
        test_log log = {.answer = KI_ERR_TYPE};
        assert_int_equal(ki_queue_poll(queue, 1, test_log_deltas, &log), KI_ERR_TYPE);
        test_pops(queue, 0, "{Added b@2}");
        ki_queue_unref(queue);
    }
}

struct inside {
    ki_queue *queue;
    int popped;
    int polled;
};

static int pop_inside(const ki_deltas *deltas, void *user)
{
    struct inside *in = user;
    (void)deltas;
    test_log log = {.len = 0};
    in->popped = ki_queue_pop(in->queue, 0, test_log_deltas, &log);
    in->polled = ki_queue_poll(in->queue, 0, test_log_deltas, &log);
    assert_int_equal(log.calls, 0);
    assert_int_equal(ki_queue_count(in->queue), 1); /* the other one */
    test_put_all(in->queue, "+c@1");
    return 0;
}

static void there_is_one_consumer_at_a_time(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct inside in = {.queue = new_queue(kind, NULL)};
        test_put_all(in.queue, "+a@1 +b@2");
        assert_int_equal(ki_queue_pop(in.queue, 1, pop_inside, &in), 1);
        assert_int_equal(in.popped, KI_ERR_BUSY);
        assert_int_equal(in.polled, KI_ERR_BUSY);
        test_pops(in.queue, 0, "{Added b@2, Added c@1}");
        ki_queue_unref(in.queue);
    }
}

static int unref_inside(const ki_deltas *deltas, void *user)
{
    ki_queue_unref(user);
    return deltas->count == 1 ? KI_POP_AGAIN : KI_POP_DONE;
}

static void the_queue_may_go_while_it_is_processed(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int count = 1; count <= 2; count++) {
            ki_queue *queue = new_queue(kind, NULL);
            test_put_all(queue, count == 1 ? "+a@1" : "+a@1 +b@2");
            assert_int_equal(ki_queue_pop(queue, 0, unref_inside, queue), count);
        }
    }
}

static void a_closed_queue_gives_what_it_has(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        test_log log = {.len = 0};
        test_put_all(queue, "+a@1");
        ki_queue_stop(queue);
        ki_queue_stop(queue);
        assert_true(ki_queue_is_stopped(queue));
        test_put_all(queue, "+b@2"); /* closing does not gate what is put in */
        assert_int_equal(ki_queue_pop(queue, 0, test_log_deltas, &log), 2);
        assert_int_equal(ki_queue_pop(queue, 0, test_log_deltas, &log), KI_ERR_STOPPED);
        assert_int_equal(ki_queue_poll(queue, 0, test_log_deltas, &log), KI_ERR_STOPPED);
        test_said(&log, "{Added a@1, Added b@2}");
        ki_queue_unref(queue);
    }
}

static int is_initial_inside(const ki_deltas *deltas, void *user)
{
    ki_queue *queue = user;
    assert_true(deltas->is_initial);
    assert_false(ki_queue_has_synced(queue)); /* not before this returns */
    return 0;
}

static void synced_means_processed_not_popped(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        ki_queue *queue = new_queue(kind, NULL);
        test_put_all(queue, "=a@1#2");
        assert_int_equal(ki_queue_poll(queue, 0, is_initial_inside, queue), 1);
        assert_true(ki_queue_has_synced(queue));
        ki_queue_unref(queue);
    }
}

static int transform_scenario(const ki_alloc *alloc, void *user)
{
    static const char *const specs[] = {"=a@1,bad@2,c@3;x#4", "+d@5", "-a@6"};
    const int *kind = user;
    struct transformer t = {.fail = KI_ERR_TYPE, .alloc = alloc};
    ki_queue *queue = NULL;
    int r = makers[*kind](
        KI_OPTIONS(ki_queue_options, .alloc = alloc, .transform = transform, .transform_user = &t),
        &queue, NULL);
    for (size_t i = 0; r >= 0 && i < 3; i++) {
        r = test_put(queue, alloc, specs[i]);
    }
    test_log log = {.len = 0};
    while (r >= 0 && (r = ki_queue_poll(queue, 0, test_log_deltas, &log)) > 0) {
    }
    ki_queue_unref(queue);
    return r;
}

static void runs_out_of_memory_anywhere(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        test_alloc_sweep(transform_scenario, &kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(an_empty_queue_gives_nothing),
        cmocka_unit_test(what_is_left_is_freed),
        cmocka_unit_test(bytes_are_those_of_the_objects),
        cmocka_unit_test(adding_first_means_synced),
        cmocka_unit_test(an_object_without_a_key_is_refused),
        cmocka_unit_test(an_object_without_a_key_is_left_out_of_a_list),
        cmocka_unit_test(every_object_is_transformed_once),
        cmocka_unit_test(resyncs_and_unseen_deletions_are_not_transformed),
        cmocka_unit_test(a_failing_transform_refuses_additions_and_updates),
        cmocka_unit_test(a_deletion_is_not_lost_to_a_failing_transform),
        cmocka_unit_test(untransformable_objects_are_left_out_of_a_list_as_unread),
        cmocka_unit_test(an_error_that_may_pass_fails_the_whole_list),
        cmocka_unit_test(too_many_deltas_are_refused),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(an_error_of_processing_drops_the_deltas),
        cmocka_unit_test(there_is_one_consumer_at_a_time),
        cmocka_unit_test(the_queue_may_go_while_it_is_processed),
        cmocka_unit_test(a_closed_queue_gives_what_it_has),
        cmocka_unit_test(synced_means_processed_not_popped),
        cmocka_unit_test(runs_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

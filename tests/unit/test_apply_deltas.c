/* SPDX-License-Identifier: Apache-2.0 */
/* Applying deltas: what becomes of the store, and what is noted, one rule a test. Deltas come
 * through a ki_fifo, or through a ki_delta_fifo where they have to. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/parts/queue.h>

#include "cache/informer/apply_deltas.h"
#include "support/deltas.h"
#include "support/objects.h"
#include "support/test.h"

struct bench {
    ki_store *store;
    ki_queue *queue;
    ki__applier applier;
    test_log log;     /* of notes and reports */
    int failure;      /* of the last batch */
    uint64_t version; /* of the store after the last batch */
};

static int fail_index; /* what the index function returns for objects named "bad" */
static int fail_once;  /* what it returns once for those named "late" */

static int index_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    if (fail_index < 0 && strcmp(ki_object_name(object), "bad") == 0) {
        return fail_index;
    }
    if (fail_once < 0 && strcmp(ki_object_name(object), "late") == 0) {
        int r = fail_once;
        fail_once = 0;
        return r;
    }
    return ki_index_values_add(values, ki_str_from(ki_object_resource_version(object)));
}

static void report(const char *component, ki_str key, const ki_error *error, void *user)
{
    test_log *log = user;
    char text[128];
    (void)snprintf(text, sizeof(text), "%s refused %.*s: %s ", component, KI_STR_ARG(key),
                   ki_error_name(error->code));
    test_say(log, text);
}

static int make(struct bench *b, const ki_alloc *alloc, bool delta_fifo)
{
    const ki_index index = {.name = "version", .values = index_values};
    memset(b, 0, sizeof(*b));
    fail_index = 0;
    int r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc,
                                    .indexes = (const ki_index *[]){&index}, .index_count = 1,
                                    .max_objects = 8),
                         &b->store, NULL);
    if (r < 0) {
        return r;
    }
    r = delta_fifo
            ? ki_delta_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = alloc, .known = b->store),
                                &b->queue, NULL)
            : ki_fifo_new(KI_OPTIONS(ki_queue_options, .alloc = alloc), &b->queue, NULL);
    if (r < 0) {
        ki_store_unref(b->store);
        return r;
    }
    assert_int_equal(
        ki__applier_init(&b->applier, b->store, alloc != NULL ? alloc : ki_alloc_default(), NULL),
        0);
    b->applier.on_error = (ki_error_hook){.report = report, .user = &b->log};
    return 0;
}

static void begin(struct bench *b, bool delta_fifo)
{
    assert_int_equal(make(b, NULL, delta_fifo), 0);
}

static void end(struct bench *b)
{
    ki__applier_done(&b->applier);
    ki_queue_unref(b->queue);
    ki_store_unref(b->store);
}

static void say_note(test_log *log, const ki__note *note)
{
    static const char marks[] = {'+', '~', '-', '='};
    char text[128];
    const char *old = note->old != NULL ? ki_object_resource_version(note->old) : "";
    (void)snprintf(text, sizeof(text), "%c%s@%s%s%s%s%s%s ", marks[note->type],
                   ki_object_key(note->object), old, note->old != NULL ? ">" : "",
                   ki_object_resource_version(note->object), note->is_initial ? "!" : "",
                   note->final_state_unknown ? "?" : "", note->same_version ? "same" : "");
    test_say(log, text);
}

/* Applies a batch and says its notes, while the batch and the objects are there. */
static int apply(const ki_deltas *deltas, void *user)
{
    struct bench *b = user;
    b->failure = ki__apply(&b->applier, deltas, NULL);
    ki__note note;
    while (ki__apply_next(&b->applier, &note)) {
        say_note(&b->log, &note);
    }
    ki__apply_end(&b->applier);
    return b->failure < 0 ? KI_POP_AGAIN : KI_POP_DONE;
}

/* Puts deltas in, applies them, and compares the notes, batches parted by "|". */
static void check(struct bench *b, const char *specs, const char *notes)
{
    test_put_all(b->queue, specs);
    bool first = true;
    while (ki_queue_count(b->queue) > 0) {
        test_say(&b->log, first ? "" : "| ");
        first = false;
        assert_true(ki_queue_poll(b->queue, 0, apply, b) > 0);
        assert_int_equal(b->failure, 0);
    }
    test_said(&b->log, notes);
    ki_snapshot *snapshot = ki_store_snapshot(b->store);
    b->version = ki_snapshot_version(snapshot);
    ki_snapshot_unref(snapshot);
}

/* Compares the store with "a@1 b@2", in the order of the store, and its resource version. */
static void check_store(struct bench *b, const char *objects, const char *resource_version)
{
    char text[256] = "";
    ki_snapshot *snapshot = ki_store_snapshot(b->store);
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%s%s@%s", len > 0 ? " " : "",
                       ki_object_key(object), ki_object_resource_version(object));
        size_t indexed; /* and the index agrees */
        assert_int_equal(ki_snapshot_count_by_index(snapshot, "version",
                                                    ki_str_from(ki_object_resource_version(object)),
                                                    &indexed),
                         0);
        assert_true(indexed > 0);
    }
    assert_string_equal(text, objects);
    assert_string_equal(ki_snapshot_resource_version(snapshot), resource_version);
    ki_snapshot_unref(snapshot);
}

/* Single deltas */

static void what_is_not_there_is_added_what_is_there_updated(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a@1 ~b@2", "+a@1 +b@2");
    check(&b, "~a@3 +b@4", "~a@1>3 ~b@2>4");
    check_store(&b, "a@3 b@4", "4");
    end(&b);
}

static void a_deletion_has_the_old_and_the_final_state(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a@1 -a@2", "+a@1 | -a@1>2");
    check_store(&b, "", "2");
    end(&b);
}

static void a_deletion_of_an_unknown_object_is_not_delivered(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "-a@1 -b?", "");
    check_store(&b, "", "1"); /* but the version advances */
    end(&b);
}

static void a_deletion_by_key_has_what_the_store_had(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a@1 -a?", "+a@1 | -a@1>1?");
    check_store(&b, "", "1");
    end(&b);
}

static void a_recreated_name_is_a_deletion_and_an_addition(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a@1/u1 ~a@5/u2", "+a@1 | -a@1>1? +a@5");
    check(&b, "=a@7/u3,b@6#8", "-a@5>5? +a@7 +b@6");
    check_store(&b, "a@7 b@6", "8");
    end(&b);
}

static void a_deletion_of_another_object_ends_the_one_that_is_known(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false); /* its own deletion, and the addition of the other, were missed */
    check(&b, "+a@1/u1 -a@5/u2", "+a@1 | -a@1>1?");
    check_store(&b, "", "5");
    end(&b);
}

static void an_object_without_uid_is_no_other_object(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    ki_object *bare = test_object(NULL, "{'metadata':{'name':'a','resourceVersion':'2'}}");
    check(&b, "+a@1", "+a@1");
    assert_int_equal(ki_queue_update(b.queue, bare, NULL), 0);
    check(&b, "~a@3", "~a@1>2 | ~a@2>3");
    ki_object_unref(bare);
    end(&b);
}

static void an_update_to_the_same_version_is_not_delivered(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2#3", "+a@1! +b@2!");
    check(&b, "=a@1,b@4#5", "~b@2>4");
    check(&b, "~a@1", "");
    b.applier.keep_same_version = true;
    check(&b, "=a@1,b@6#7 ~a@1", "~a@1>1same ~b@4>6 | ~a@1>1same");
    check(&b, "~a@1/other", "-a@1>1? +a@1"); /* another uid is another object */
    end(&b);
}

/* A server that was set back counts its versions again: 7 then means something else. */
static void an_object_that_differs_is_delivered_whatever_its_version(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    ki_object *pods[3];
    const char *labels[] = {"", ",\"labels\":{\"x\":\"1\"}", ",\"labels\":{\"x\":\"2\"}"};
    for (size_t i = 0; i < 3; i++) {
        char text[256];
        (void)snprintf(text, sizeof(text),
                       "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\","
                       "\"resourceVersion\":\"7\"%s}}",
                       labels[i]);
        pods[i] = test_json(text);
        assert_int_equal(ki_queue_update(b.queue, pods[i], NULL), 0);
        check(&b, "", i == 0 ? "+a@7" : "~a@7>7");
    }
    assert_int_equal(ki_queue_update(b.queue, pods[2], NULL), 0);
    check(&b, "", "");
    for (size_t i = 0; i < 3; i++) {
        ki_object_unref(pods[i]);
    }
    end(&b);
}

static void the_version_of_the_store_is_that_of_the_newest_change(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, true); /* which gathers the changes of a key, and so hands out 9 before 8 */
    check(&b, "=#5", "");
    check(&b, "+a@7 +b@8 ~a@9", "+a@7 ~a@7>9 +b@8");
    check_store(&b, "a@9 b@8", "9");
    check(&b, "~b@8", "");
    check_store(&b, "a@9 b@8", "9");
    end(&b);
    begin(&b, false);
    check(&b, "=a@7#9 =a@3#4", "+a@7! | ~a@7>3"); /* but a list may be of a server set back */
    check_store(&b, "a@3", "4");
    end(&b);
}

static void an_object_without_version_is_never_the_same(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a ~a", "+a@ | ~a@>");
    check_store(&b, "a@", "");
    end(&b);
}

static void a_resync_delivers_every_object(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "!", "");
    check(&b, "=a@1,b@2#3 ! ! ~a@4", "+a@1! +b@2! | =a@1>1 =b@2>2 | =a@1>1 =b@2>2 | ~a@1>4");
    uint64_t version = b.version;
    check(&b, "!", "=a@4>4 =b@2>2");
    assert_int_equal(b.version, version); /* nothing was written */
    end(&b);
}

static void a_resync_of_one_object_has_what_the_store_has(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, true);
    check(&b, "=a@1,b@2#3", "+a@1! +b@2!");
    uint64_t version = b.version;
    check(&b, "!", "=a@1>1 =b@2>2");
    assert_int_equal(b.version, version);
    test_put_all(b.queue, "!");
    ki_object *newer = test_thing(NULL, "a@5");
    assert_int_equal(ki_store_add(b.store, newer, NULL), 0); /* by someone else */
    assert_int_equal(ki_store_delete(b.store, ki_str_from("b"), "6", NULL), 1);
    check(&b, "", "=a@5>5 +b@2");
    ki_object_unref(newer);
    end(&b);
}

static void a_bookmark_is_a_version_of_the_store(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+a@1 #77", "+a@1 |");
    check_store(&b, "a@1", "77");
    end(&b);
}

/* Lists */

static void a_list_deletes_first_and_then_goes_in_its_order(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2,c@3,d@4#5", "+a@1! +b@2! +c@3! +d@4!");
    check(&b, "=z@6,c@7,y@8,a@9#10", "-b@2>2? -d@4>4? +z@6 ~c@3>7 +y@8 ~a@1>9");
    check_store(&b, "a@9 c@7 z@6 y@8", "10");
    end(&b);
}

static void a_list_is_one_version_of_the_store(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2#3", "+a@1! +b@2!");
    uint64_t version = b.version;
    check(&b, "=c@4,d@5#6", "-a@1>1? -b@2>2? +c@4 +d@5");
    assert_int_equal(b.version, version + 1);
    end(&b);
}

static void a_batch_is_one_version_of_the_store(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, true);
    check(&b, "", "");
    uint64_t version = b.version;
    check(&b, "+a@1 ~a@2 -a@3 +a@4/other +b@5", "+a@1 ~a@1>2 -a@2>3 +a@4 +b@5");
    assert_int_equal(b.version, version + 1);
    check_store(&b, "a@4 b@5", "5");
    end(&b);
}

static void a_list_with_a_key_twice_updates_it(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,a@2#3", "+a@1! ~a@1>2");
    check_store(&b, "a@2", "3");
    end(&b);
}

static void a_list_leaves_what_could_not_be_read(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2,c@3#4", "+a@1! +b@2! +c@3!");
    check(&b, "=c@5;a,x#6", "-b@2>2? ~c@3>5");
    check_store(&b, "a@1 c@5", "6");
    end(&b);
}

static void a_full_store_takes_a_list_of_others(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2,c@3,d@4,e@5,f@6,g@7,h@8#9",
          "+a@1! +b@2! +c@3! +d@4! +e@5! +f@6! +g@7! +h@8!");
    check(&b, "=i@1,j@2,k@3,l@4,m@5,n@6,o@7,p@8#10",
          "-a@1>1? -b@2>2? -c@3>3? -d@4>4? -e@5>5? -f@6>6? -g@7>7? -h@8>8? "
          "+i@1 +j@2 +k@3 +l@4 +m@5 +n@6 +o@7 +p@8");
    end(&b);
}

static void versions_of_objects_in_a_list_are_not_that_of_the_store(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, true);
    check(&b, "+z@100 ~z@101", "+z@100 ~z@100>101");
    check(&b, "=z@101,a@5#102", "+a@5");
    check_store(&b, "z@101 a@5", "101"); /* never back */
    check(&b, "=a@5#103", "-z@101>101?");
    check_store(&b, "a@5", "101");
    end(&b);
}

/* Objects that the store rejects */

static void a_rejected_object_is_skipped_and_the_rest_applied(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    fail_index = KI_ERR_TYPE;
    check(&b, "+a@1 +bad@2 +c@3", "+a@1 +c@3 store refused bad: KI_ERR_INDEX_FUNCTION");
    check_store(&b, "a@1 c@3", "3");
    assert_int_equal(b.applier.skipped, 1);
    check(&b, "=a@4,bad@5,d@6#7", "-c@3>3? ~a@1>4 +d@6 store refused bad: KI_ERR_INDEX_FUNCTION");
    check_store(&b, "a@4 d@6", "7");
    end(&b);
}

static void what_is_tried_again_counts_and_is_reported_once(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    fail_index = KI_ERR_TYPE;
    fail_once = -ENOMEM;
    test_put_all(b.queue, "+bad@1 -unknown@2 +late@3");
    assert_int_equal(ki_queue_poll(b.queue, 0, apply, &b), 3);
    assert_int_equal(b.failure, -ENOMEM);
    assert_int_equal(b.applier.skipped, 0);
    assert_int_equal(ki_queue_poll(b.queue, 0, apply, &b), 3);
    assert_int_equal(b.failure, 0);
    assert_int_equal(b.applier.skipped, 1);
    test_said(&b.log, "+late@3 store refused bad: KI_ERR_INDEX_FUNCTION");
    end(&b);
}

static void a_refused_update_leaves_the_old_object(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "+bad@1 +a@2", "+bad@1 +a@2");
    fail_index = KI_ERR_TYPE;
    check(&b, "~bad@3 -a@4", "-a@2>4 store refused bad: KI_ERR_INDEX_FUNCTION");
    check(&b, "=bad@5#6", "store refused bad: KI_ERR_INDEX_FUNCTION");
    check(&b, "-bad@7", "store refused bad: KI_ERR_INDEX_FUNCTION"); /* its values are unknown */
    check_store(&b, "bad@1", "7");
    fail_index = 0;
    check(&b, "=#8", "-bad@1>1?");
    end(&b);
}

static void a_full_store_skips_objects(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2,c@3,d@4,e@5,f@6,g@7#8", "+a@1! +b@2! +c@3! +d@4! +e@5! +f@6! +g@7!");
    check(&b, "+h@9 +i@10 ~a@11", "+h@9 ~a@1>11 store refused i: KI_ERR_LIMIT");
    end(&b);
}

static void a_busy_store_loses_nothing(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    ki_txn *txn;
    assert_int_equal(ki_store_begin(b.store, &txn, NULL), 0);
    test_put_all(b.queue, "=a@1#2 +b@3");
    assert_int_equal(ki_queue_poll(b.queue, 0, apply, &b), 1);
    assert_int_equal(b.failure, KI_ERR_BUSY);
    test_said(&b.log, "");
    ki_txn_abort(txn);
    check(&b, "", "+a@1! | +b@3");
    end(&b);
}

static void an_index_function_without_memory_loses_nothing(void **state)
{
    (void)state;
    struct bench b;
    begin(&b, false);
    check(&b, "=a@1,b@2#3", "+a@1! +b@2!");
    fail_index = -ENOMEM;
    test_put_all(b.queue, "=a@4,c@5,bad@6#7");
    assert_int_equal(ki_queue_poll(b.queue, 0, apply, &b), 1);
    assert_int_equal(b.failure, -ENOMEM);
    test_said(&b.log, "");
    check_store(&b, "a@1 b@2", "3");
    fail_index = 0;
    check(&b, "", "-b@2>2? ~a@1>4 +c@5 +bad@6");
    end(&b);
}

static int keep(const ki_object *object, ki_object **ret_object, void *user)
{
    (void)user;
    *ret_object = ki_object_ref(object);
    return 0;
}

static void a_store_that_transforms_is_refused(void **state)
{
    (void)state;
    ki_store *store = NULL;
    ki__applier applier;
    assert_int_equal(ki_store_new(KI_OPTIONS(ki_store_options, .transform = keep), &store, NULL),
                     0);
    assert_int_equal(ki__applier_init(&applier, store, ki_alloc_default(), NULL), -EINVAL);
    ki_store_unref(store);
}

static void a_large_batch_is_not_kept_for_ever(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    struct bench b;
    assert_int_equal(make(&b, NULL, false), 0);
    ki__applier_done(&b.applier);
    assert_int_equal(ki__applier_init(&b.applier, b.store, &alloc.table, NULL), 0);
    const ki_object *list[10000];
    ki_object *one = test_thing(NULL, "a@1");
    for (size_t i = 0; i < 10000; i++) {
        list[i] = one;
    }
    b.applier.keep_same_version = true;
    const ki_replacement all = {.objects = list, .object_count = 10000};
    const ki_delta delta = {.type = KI_DELTA_REPLACED_ALL, .replaced = &all};
    const ki_deltas deltas = {.deltas = &delta, .count = 1, .is_initial = true};
    assert_int_equal(ki__apply(&b.applier, &deltas, NULL), 0);
    assert_true(alloc.live_bytes >= 10000 * sizeof(ki__note));
    ki__apply_end(&b.applier);
    assert_int_equal(alloc.live_bytes, 0);
    ki_object_unref(one);
    end(&b);
    test_alloc_done(&alloc);
}

/* The same history with memory that ends anywhere: each batch is tried again once, and the store is
 * what the notes say whenever it stops. */
static int scenario(const ki_alloc *alloc, void *user)
{
    static const char *const specs[] = {
        "=a@1,b@2,c@3#4", "+d@5", "~a@6", "-b@7", "~c@8/other", "!", "#9", "-d?", "=a@6,e@10;c#11"};
    const bool *delta_fifo = user;
    struct bench b;
    int r = make(&b, alloc, *delta_fifo);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; r >= 0 && i < sizeof(specs) / sizeof(specs[0]); i++) {
        r = test_put(b.queue, alloc, specs[i]);
        while (r >= 0 && ki_queue_count(b.queue) > 0) {
            ki_snapshot *before = ki_store_snapshot(b.store);
            r = ki_queue_poll(b.queue, 0, apply, &b);
            if (r >= 0 && b.failure < 0) {
                ki_snapshot *after = ki_store_snapshot(b.store);
                assert_ptr_equal(before, after); /* nothing has happened */
                ki_snapshot_unref(after);
                r = ki_queue_poll(b.queue, 0, apply, &b);
            }
            r = r >= 0 ? b.failure : r;
            ki_snapshot_unref(before);
        }
    }
    if (r >= 0) {
        check_store(&b, "a@6 c@8 e@10", *delta_fifo ? "8" : "11");
    }
    end(&b);
    return r;
}

static void runs_out_of_memory_anywhere(void **state)
{
    (void)state;
    bool delta_fifo = false;
    test_alloc_sweep(scenario, &delta_fifo);
    delta_fifo = true;
    test_alloc_sweep(scenario, &delta_fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_added_what_is_there_updated),
        cmocka_unit_test(a_deletion_has_the_old_and_the_final_state),
        cmocka_unit_test(a_deletion_of_an_unknown_object_is_not_delivered),
        cmocka_unit_test(a_deletion_by_key_has_what_the_store_had),
        cmocka_unit_test(a_recreated_name_is_a_deletion_and_an_addition),
        cmocka_unit_test(a_deletion_of_another_object_ends_the_one_that_is_known),
        cmocka_unit_test(an_object_without_uid_is_no_other_object),
        cmocka_unit_test(an_update_to_the_same_version_is_not_delivered),
        cmocka_unit_test(an_object_that_differs_is_delivered_whatever_its_version),
        cmocka_unit_test(the_version_of_the_store_is_that_of_the_newest_change),
        cmocka_unit_test(an_object_without_version_is_never_the_same),
        cmocka_unit_test(a_resync_delivers_every_object),
        cmocka_unit_test(a_resync_of_one_object_has_what_the_store_has),
        cmocka_unit_test(a_bookmark_is_a_version_of_the_store),
        cmocka_unit_test(a_list_deletes_first_and_then_goes_in_its_order),
        cmocka_unit_test(a_list_is_one_version_of_the_store),
        cmocka_unit_test(a_batch_is_one_version_of_the_store),
        cmocka_unit_test(a_list_with_a_key_twice_updates_it),
        cmocka_unit_test(a_list_leaves_what_could_not_be_read),
        cmocka_unit_test(a_full_store_takes_a_list_of_others),
        cmocka_unit_test(versions_of_objects_in_a_list_are_not_that_of_the_store),
        cmocka_unit_test(what_is_tried_again_counts_and_is_reported_once),
        cmocka_unit_test(a_rejected_object_is_skipped_and_the_rest_applied),
        cmocka_unit_test(a_refused_update_leaves_the_old_object),
        cmocka_unit_test(a_full_store_skips_objects),
        cmocka_unit_test(a_busy_store_loses_nothing),
        cmocka_unit_test(an_index_function_without_memory_loses_nothing),
        cmocka_unit_test(a_store_that_transforms_is_refused),
        cmocka_unit_test(a_large_batch_is_not_kept_for_ever),
        cmocka_unit_test(runs_out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The short forms of an informer: one function for all changes, objects by name and by selector. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/informer.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/shared_informer.h>

#include "support/objects.h"
#include "support/test.h"
#include "support/world.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    ki_local_source *source;
    ki_informer *informer;
    char changes[512];
} fixture;

static void put(fixture *f, const char *name_space, const char *name, unsigned version,
                const char *group)
{
    ki_object *pod = test_pod(&f->alloc.table, name_space, name, version, group);
    assert_int_equal(ki_local_source_put(f->source, pod, NULL), 0);
    (void)ki_object_unref(pod);
    test_world_settle(f->engine);
}

static void take_out(fixture *f, const char *name_space, const char *name, unsigned version)
{
    ki_object *pod = test_pod(&f->alloc.table, name_space, name, version, "g");
    assert_int_equal(ki_local_source_remove(f->source, pod, NULL), 0);
    (void)ki_object_unref(pod);
    test_world_settle(f->engine);
}

static void begin(fixture *f)
{
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    assert_int_equal(ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = f->engine),
                                         &f->source, NULL),
                     0);
    ki_source table = {0};
    assert_int_equal(ki_local_source_table(f->source, &table), 0);
    assert_int_equal(ki_informer_new(KI_OPTIONS(ki_informer_options, .engine = f->engine,
                                                .source = &table, .resync_ms = 60000),
                                     &f->informer, NULL),
                     0);
    put(f, "shop", "web", 1, "g");
}

static void start(fixture *f)
{
    assert_int_equal(ki_informer_start(f->informer, NULL), 0);
    test_world_settle(f->engine);
    assert_true(ki_informer_has_synced(f->informer));
}

static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    test_world_settle(f->engine);
    f->informer = ki_informer_unref(f->informer);
    f->source = ki_local_source_unref(f->source);
    test_world_settle(f->engine);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void log_change(const ki_change *change, void *user)
{
    fixture *f = user;
    size_t len = strlen(f->changes);
    int more =
        snprintf(f->changes + len, sizeof(f->changes) - len, "%s %s%s, ", ki_change_name(change),
                 ki_object_key(change->object), change->initial ? " initial" : "");
    assert_true(more > 0 && len + (size_t)more < sizeof(f->changes));
}

static void one_function_receives_every_change(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_int_equal(ki_informer_on_change(f.informer, log_change, &f, NULL, NULL), 0);
    start(&f);
    put(&f, "shop", "web", 2, "g");
    put(&f, "shop", "db", 3, "g");
    take_out(&f, "shop", "web", 4);
    test_world_advance(&f.world, f.engine, 61 * TEST_SECOND);
    assert_string_equal(f.changes, "added shop/web initial, updated shop/web, added shop/db, "
                                   "deleted shop/web, sync shop/db, ");
    end(&f);
}

static void on_change_has_the_options_and_errors_of_handlers(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_THREAD;
    assert_int_equal(ki_informer_on_change(f.informer, log_change, &f, &options, &error),
                     KI_ERR_UNSUPPORTED);
    ki_informer_stop(f.informer);
    assert_int_equal(ki_informer_on_change(f.informer, log_change, &f, NULL, &error),
                     KI_ERR_STOPPED);
    end(&f);
}

static void log_merged(const ki_change *change, void *user)
{
    fixture *f = user;
    size_t len = strlen(f->changes);
    (void)snprintf(f->changes + len, sizeof(f->changes) - len, "%s %s %u, ", ki_change_name(change),
                   ki_object_name(change->object), (unsigned)change->merged);
}

static void never_called(const ki_object *object, uint64_t merged, void *user)
{
    (void)object;
    (void)merged;
    (void)user;
    fail();
}

static bool is_not_hidden(const ki_object *object, void *user)
{
    (void)user;
    return strcmp(ki_object_name(object), "hidden") != 0;
}

static void a_change_counts_the_events_before_it_that_cancelled_out(void **state)
{
    (void)state;
    fixture f;
    ki_registration *reg = NULL;
    ki_handler handler = {
        .on_change = log_merged, .on_merged = never_called, .filter = is_not_hidden, .user = &f};
    begin(&f);
    start(&f);
    assert_int_equal(ki_informer_add_handler(f.informer, &handler,
                                             KI_OPTIONS(ki_handler_options, .queue_limit = 1,
                                                        .delivery = KI_DELIVERY_CALLER),
                                             &reg, NULL),
                     0);
    assert_int_equal(ki_registration_dispatch(reg, 0), 1);
    assert_string_equal(f.changes, "added web 0, ");
    f.changes[0] = '\0';
    put(&f, "shop", "a", 2, "g");
    put(&f, "shop", "b", 3, "g");
    take_out(&f, "shop", "b", 4); /* cancels out: `a` fills the queue */
    assert_int_equal(ki_registration_dispatch(reg, 0), 1);
    assert_string_equal(f.changes, "added a 2, ");
    f.changes[0] = '\0';
    put(&f, "shop", "hidden", 5, "g");
    put(&f, "shop", "b", 6, "g");
    take_out(&f, "shop", "b", 7);
    assert_int_equal(ki_registration_dispatch(reg, 0), 1);
    assert_string_equal(f.changes, ""); /* the count waits for a change that is delivered */
    put(&f, "shop", "a", 8, "g");
    put(&f, "shop", "a", 9, "g");
    assert_int_equal(ki_registration_dispatch(reg, 0), 1);
    put(&f, "shop", "a", 10, "g");
    assert_int_equal(ki_registration_dispatch(reg, 0), 1);
    assert_string_equal(f.changes, "updated a 3, updated a 0, ");
    (void)ki_registration_unref(reg);
    end(&f);
}

static void objects_are_found_by_name(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    assert_null(ki_informer_get(f.informer, "shop", "web")); /* not listed yet */
    start(&f);
    ki_object *web = ki_informer_get(f.informer, "shop", "web");
    assert_non_null(web);
    take_out(&f, "shop", "web", 2);
    assert_string_equal(ki_object_key(web), "shop/web"); /* the reference stays valid */
    (void)ki_object_unref(web);
    assert_null(ki_informer_get(f.informer, "shop", "web"));
    assert_null(ki_informer_get(f.informer, NULL, "web"));
    assert_null(ki_informer_get(f.informer, "shop", NULL));
    assert_null(ki_informer_get(NULL, "shop", "web"));
    end(&f);
}

static void check_list(fixture *f, const char *name_space, const char *selector, const char *keys)
{
    char found[256] = "";
    ki_list *list = NULL;
    assert_int_equal(ki_informer_list(f->informer, name_space, selector, &list, NULL), 0);
    ki_list_sort(list);
    KI_LIST_FOR_EACH (pod, list) {
        size_t len = strlen(found);
        (void)snprintf(found + len, sizeof(found) - len, "%s ", ki_object_key(pod));
    }
    assert_string_equal(found, keys);
    (void)ki_list_unref(list);
}

static void objects_are_listed_by_selector(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "shop", "db", 2, "h");
    put(&f, "blog", "web", 3, "g");
    start(&f);
    check_list(&f, "shop", "group=g", "shop/web ");
    check_list(&f, NULL, "group in (g, i)", "blog/web shop/web ");
    check_list(&f, "", "group!=g", "shop/db ");
    check_list(&f, "shop", NULL, "shop/db shop/web ");
    check_list(&f, NULL, "", "blog/web shop/db shop/web ");
    check_list(&f, "none", NULL, "");
    ki_list *list = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_informer_list(f.informer, NULL, "group in (", &list, &error),
                     KI_ERR_SYNTAX);
    assert_int_equal(error.code, KI_ERR_SYNTAX);
    assert_null(list);
    end(&f);
}

static void a_loop_over_a_list_can_be_left_and_continued(void **state)
{
    (void)state;
    fixture f;
    ki_list *list = NULL;
    begin(&f);
    put(&f, "shop", "db", 2, "h");
    put(&f, "blog", "web", 3, "g");
    start(&f);
    assert_int_equal(ki_informer_list(f.informer, NULL, NULL, &list, NULL), 0);
    int seen = 0;
    int past = 0;
    KI_LIST_FOR_EACH (pod, list) {
        if (seen++ == 0) {
            continue;
        }
        past++;
    }
    assert_int_equal(seen, 3);
    assert_int_equal(past, 2);
    KI_LIST_FOR_EACH (pod, list) {
        if (++seen == 5) {
            break;
        }
    }
    assert_int_equal(seen, 5);
    (void)ki_list_unref(list);
    end(&f);
}

static void a_list_without_memory_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    int r = -ENOMEM;
    unsigned failures = 0;
    for (uint64_t n = 1; r == -ENOMEM; n++, failures++) {
        ki_error error = KI_ERROR_INIT;
        ki_list *list = NULL;
        f.alloc.fail_at = f.alloc.calls + n;
        r = ki_informer_list(f.informer, "shop", "group=g", &list, &error);
        f.alloc.fail_at = 0;
        assert_int_equal(error.code, r);
        assert_true((list != NULL) == (r == 0));
        (void)ki_list_unref(list);
    }
    assert_int_equal(r, 0);
    assert_true(failures >= 2); /* for the selector, and for the list */
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_function_receives_every_change),
        cmocka_unit_test(on_change_has_the_options_and_errors_of_handlers),
        cmocka_unit_test(a_change_counts_the_events_before_it_that_cancelled_out),
        cmocka_unit_test(objects_are_found_by_name),
        cmocka_unit_test(objects_are_listed_by_selector),
        cmocka_unit_test(a_loop_over_a_list_can_be_left_and_continued),
        cmocka_unit_test(a_list_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

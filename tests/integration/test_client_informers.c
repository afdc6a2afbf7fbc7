/* SPDX-License-Identifier: Apache-2.0 */
/* The informers of a client, on the embedded server: shared or with options, started, waited for
 * and closed with the client, whatever the order in which references are released.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/client.h>
#include <kinformer/parts/engine.h>

#include "support/test.h"

enum { WAIT_MS = 30000 };

typedef struct fixture {
    test_alloc alloc;
    ki_apiserver *server;
    ki_client *client;
    atomic_int changes;
    atomic_int destroyed;
} fixture;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fail_msg("%s: %s", ki_error_name(r), error->message);
    }
}

static void begin(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    *f = (fixture){0};
    test_alloc_init(&f->alloc);
    must(ki_apiserver_new(NULL, &f->server, &error), &error);
    must(ki_apiserver_load(
             f->server,
             ki_str_from("apiVersion: v1\nkind: Pod\n"
                         "metadata: {name: web, namespace: default, labels: {app: web}}\n---\n"
                         "apiVersion: v1\nkind: Pod\n"
                         "metadata: {name: db, namespace: default, labels: {app: db}}\n---\n"
                         "apiVersion: v1\nkind: Pod\n"
                         "metadata: {name: dns, namespace: kube-system, labels: {app: web}}\n"),
             NULL, &error),
         &error);
    options.alloc = &f->alloc.table;
    must(ki_apiserver_client(f->server, &options, &f->client, &error), &error);
}

static void end(fixture *f)
{
    f->client = ki_client_close(f->client);
    test_alloc_done(&f->alloc); /* all of it has ended, with its thread */
    f->server = ki_apiserver_unref(f->server);
}

static ki_informer *informer_of(fixture *f, const ki_resource *resource,
                                const ki_informer_options *options)
{
    ki_error error = KI_ERROR_INIT;
    ki_informer *informer = NULL;
    must(ki_client_informer(f->client, resource, options, &informer, &error), &error);
    return informer;
}

static void start(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_client_start(f->client, &error), &error);
    must(ki_client_wait_for_sync(f->client, WAIT_MS, &error), &error);
}

static size_t count_of(ki_informer *informer)
{
    ki_list *list = NULL;
    assert_int_equal(ki_informer_list(informer, NULL, NULL, &list, NULL), 0);
    size_t count = ki_list_count(list);
    (void)ki_list_unref(list);
    return count;
}

static void count_change(const ki_change *change, void *user)
{
    fixture *f = user;
    assert_non_null(change->object);
    atomic_fetch_add(&f->changes, 1);
}

static void count_destroyed(void *user)
{
    atomic_fetch_add(&((fixture *)user)->destroyed, 1);
}

static void a_client_without_informers_has_nothing_to_start(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f);
    assert_int_equal(ki_client_wait_for_sync(f.client, 0, NULL), 0);
    end(&f);
}

static void a_resource_has_one_shared_informer(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS, NULL);
    ki_informer *same = informer_of(&f, KI_CORE_V1_PODS, NULL);
    ki_informer *nodes = informer_of(&f, KI_CORE_V1_NODES, NULL);
    assert_ptr_equal(pods, same);
    assert_ptr_not_equal(pods, nodes);
    must(ki_informer_on_change(pods, count_change, &f, NULL, &error), &error);
    start(&f);
    assert_int_equal(count_of(pods), 3);
    assert_int_equal(count_of(nodes), 0);
    assert_int_equal(atomic_load(&f.changes), 3);
    (void)ki_informer_unref(pods);
    (void)ki_informer_unref(same);
    (void)ki_informer_unref(nodes);
    same = informer_of(&f, KI_CORE_V1_PODS, NULL); /* it runs, though nobody else holds it */
    assert_int_equal(count_of(same), 3);
    (void)ki_informer_unref(same);
    end(&f);
}

static void options_make_an_informer_of_its_own(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_informer *all = informer_of(&f, KI_CORE_V1_PODS, NULL);
    ki_informer *web = informer_of(
        &f, KI_CORE_V1_PODS,
        KI_OPTIONS(ki_informer_options, .label_selector = "app=web", .name = "web pods"));
    start(&f);
    ki_informer *here =
        informer_of(&f, KI_CORE_V1_PODS, KI_OPTIONS(ki_informer_options, .name_space = "default"));
    assert_ptr_not_equal(all, web);
    start(&f); /* what is new */
    assert_int_equal(count_of(all), 3);
    assert_int_equal(count_of(web), 2);
    assert_int_equal(count_of(here), 2);
    assert_string_equal(ki_informer_name(web), "web pods");
    (void)ki_informer_unref(all);
    (void)ki_informer_unref(web);
    (void)ki_informer_unref(here);
    end(&f);
}

static void one_that_was_stopped_does_not_concern_the_others(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    size_t before = 0;
    for (int i = 0; i < 8; i++) {
        ki_informer *web = informer_of(
            &f, KI_CORE_V1_PODS, KI_OPTIONS(ki_informer_options, .label_selector = "app=web"));
        if (i % 2 == 0) {
            start(&f);
        }
        ki_informer_stop(web);
        while (!ki_informer_is_stopped(web)) {
            (void)sched_yield();
        }
        (void)ki_informer_unref(web);
        start(&f);
        before = i == 1 ? f.alloc.live_blocks : before;
    }
    assert_true(f.alloc.live_blocks < before + 60); /* they do not pile up */
    end(&f);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_error error = KI_ERROR_INIT;
    ki_informer *informer = NULL;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = ki_client_engine(f.client);
    assert_int_equal(ki_client_informer(f.client, KI_CORE_V1_PODS, &options, &informer, &error),
                     -EINVAL);
    assert_non_null(strstr(error.message, "engine"));
    options = KI_OPTIONS_INIT(ki_informer_options);
    options.name_space = "default";
    assert_int_equal(ki_client_informer(f.client, KI_CORE_V1_NODES, &options, &informer, &error),
                     -EINVAL);
    assert_non_null(strstr(error.message, "name_space"));
    options = KI_OPTIONS_INIT(ki_informer_options);
    options.resource = KI_CORE_V1_NODES;
    assert_int_equal(ki_client_informer(f.client, KI_CORE_V1_PODS, &options, &informer, &error),
                     -EINVAL);
    options = KI_OPTIONS_INIT(ki_informer_options);
    options.size = 3;
    assert_int_equal(ki_client_informer(f.client, KI_CORE_V1_PODS, &options, &informer, &error),
                     -EINVAL);
    assert_null(informer);
    end(&f);
}

/* Informers may be released after the client: it does not wait for that. */
static void informers_may_be_released_after_the_client(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS, NULL);
    ki_informer *web = informer_of(&f, KI_CORE_V1_PODS,
                                   KI_OPTIONS(ki_informer_options, .label_selector = "app=web"));
    ki_informer *late = NULL;
    const ki_handler handler = {.on_change = count_change, .user = &f, .destroy = count_destroyed};
    must(ki_informer_add_handler(pods, &handler, NULL, NULL, &error), &error);
    start(&f);
    late = informer_of(&f, KI_CORE_V1_NODES, NULL); /* never started */
    f.client = ki_client_close(f.client);
    assert_int_equal(atomic_load(&f.destroyed), 1);
    assert_true(ki_informer_is_stopped(pods));
    assert_int_equal(count_of(pods), 3); /* as it was */
    (void)ki_informer_unref(late);
    (void)ki_informer_unref(web);
    (void)ki_informer_unref(pods);
    end(&f);
}

static void the_last_reference_stops_them(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    ki_client *second = ki_client_ref(f.client);
    ki_loop *loop = ki_loop_ref(ki_client_loop(f.client));
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS, NULL);
    start(&f);
    f.client = ki_client_unref(f.client);
    assert_false(ki_informer_is_stopped(pods));
    (void)ki_client_unref(second);
    assert_int_equal(ki_loop_join(loop), 0);
    assert_true(ki_informer_is_stopped(pods));
    (void)ki_informer_unref(pods);
    (void)ki_loop_unref(loop);
    end(&f);
}

/* ---- threads ---- */

static void *ask(void *user)
{
    fixture *f = user;
    for (int i = 0; i < 20; i++) {
        ki_informer *shared = informer_of(f, KI_CORE_V1_PODS, NULL);
        ki_informer *own = informer_of(f, KI_CORE_V1_PODS,
                                       KI_OPTIONS(ki_informer_options, .label_selector = "app=db"));
        assert_int_equal(ki_client_start(f->client, NULL), 0);
        ki_informer_stop(own);
        (void)ki_informer_unref(own);
        (void)ki_informer_unref(shared);
    }
    return NULL;
}

static void threads_may_ask_for_informers_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    fixture f;
    pthread_t threads[THREADS];
    begin(&f);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &f), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    start(&f);
    ki_informer *pods = informer_of(&f, KI_CORE_V1_PODS, NULL);
    assert_int_equal(count_of(pods), 3);
    (void)ki_informer_unref(pods);
    end(&f);
}

static void an_informer_without_memory_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    int r = -ENOMEM;
    unsigned failures = 0;
    for (uint64_t n = 1; r == -ENOMEM; n++, failures++) {
        ki_error error = KI_ERROR_INIT;
        ki_informer *informer = NULL;
        f.alloc.fail_at = f.alloc.calls + n;
        r = ki_client_informer(f.client, KI_CORE_V1_PODS,
                               KI_OPTIONS(ki_informer_options, .label_selector = "app=web"),
                               &informer, &error);
        f.alloc.fail_at = 0;
        assert_int_equal(error.code, r);
        assert_true((informer != NULL) == (r == 0));
        (void)ki_informer_unref(informer);
    }
    assert_int_equal(r, 0);
    assert_true(failures > 5);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_without_informers_has_nothing_to_start),
        cmocka_unit_test(a_resource_has_one_shared_informer),
        cmocka_unit_test(options_make_an_informer_of_its_own),
        cmocka_unit_test(one_that_was_stopped_does_not_concern_the_others),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(informers_may_be_released_after_the_client),
        cmocka_unit_test(the_last_reference_stops_them),
        cmocka_unit_test(threads_may_ask_for_informers_at_once),
        cmocka_unit_test(an_informer_without_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

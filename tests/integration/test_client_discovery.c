/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery of a client against a scripted server: the forms that servers speak, one that fails in
 * part, a custom resource that appears later, many callers at once.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/config.h>
#include <kinformer/discovery.h>

#include "support/transporting.h"

enum { THREADS = 8, LEGACY_REQUESTS = 2 + 17 };

typedef struct fixture {
    test_alloc alloc;
    size_t fds;
    test_server server;
    ki_clock clock; /* the system's, and a leap */
    _Atomic uint64_t leap_ns;
    ki_config *config;
    ki_loop *loop; /* NULL: the client has its own */
    ki_client *client;
    ki_buf said; /* what the server answered last */
} fixture;

/* ---- the server ---- */

static void tell(fixture *f, const char *command)
{
    char line[512];
    int len = snprintf(line, sizeof(line), "%s\n", command);
    assert_int_equal(write(f->server.input, line, (size_t)len), len);
    ki_buf_clear(&f->said);
    for (char c; f->said.len < 2 || strcmp(ki_buf_text(&f->said) + f->said.len - 2, ".\n") != 0;) {
        assert_int_equal(read(f->server.output, &c, 1), 1);
        assert_int_equal(ki_buf_add_char(&f->said, c), 0);
        if (strcmp(ki_buf_text(&f->said), ".\n") == 0) {
            break;
        }
    }
}

/* How many requests there were since the last time, and how many at once at most. */
static size_t count_asked(fixture *f, size_t *ret_most)
{
    size_t count = 0;
    tell(f, "asked");
    const char *most = strstr(ki_buf_text(&f->said), "most ");
    assert_non_null(most);
    for (const char *at = ki_buf_text(&f->said); at < most; at++) {
        count += *at == '\n';
    }
    if (ret_most != NULL) {
        *ret_most = 0;
        for (const char *at = most + 5; *at >= '0' && *at <= '9'; at++) {
            *ret_most = *ret_most * 10 + (size_t)(*at - '0');
        }
    }
    return count;
}

/* ---- the client ---- */

static uint64_t monotonic_ns(void *user)
{
    const fixture *f = user;
    return ki_clock_system()->monotonic_ns(ki_clock_system()->user) + atomic_load(&f->leap_ns);
}

static int64_t realtime_ns(void *user)
{
    (void)user;
    return ki_clock_system()->realtime_ns(ki_clock_system()->user);
}

static void load_config(fixture *f)
{
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "{apiVersion: v1, kind: Config, current-context: c,"
                   "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}],"
                   "contexts: [{name: c, context: {cluster: c, user: u}}],"
                   "users: [{name: u, user: {}}]}",
                   test_server_port(&f->server, "api"));
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from(text);
    options.alloc = &f->alloc.table;
    ki_error error = KI_ERROR_INIT;
    if (ki_config_load(&options, &f->config, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

/* With a loop that nobody runs, or a thread of the client's own. */
static void begin(fixture *f, bool own_thread)
{
    *f = (fixture){.fds = test_descriptors()};
    test_alloc_init(&f->alloc);
    ki_buf_init(&f->said, NULL, 1 << 20);
    f->clock = (ki_clock){0, monotonic_ns, realtime_ns, f};
    test_server_start(&f->server, "discovery_server.py", "");
    load_config(f);
    if (!own_thread) {
        ki_loop_options loop_options = KI_OPTIONS_INIT(ki_loop_options);
        loop_options.alloc = &f->alloc.table;
        loop_options.clock = &f->clock;
        assert_int_equal(ki_loop_new(&loop_options, &f->loop, NULL), 0);
    }
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    options.config = f->config;
    options.loop = f->loop;
    options.alloc = &f->alloc.table;
    ki_error error = KI_ERROR_INIT;
    if (ki_client_new(&options, &f->client, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

static void end(fixture *f)
{
    f->client = ki_client_unref(f->client);
    f->loop = ki_loop_unref(f->loop);
    (void)ki_config_unref(f->config);
    if (f->server.pid != 0) {
        test_server_stop(&f->server);
    }
    ki_buf_done(&f->said);
    test_alloc_done(&f->alloc);
    assert_int_equal(test_descriptors(), f->fds);
}

static void expect(fixture *f, const char *name, const char *kind)
{
    ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_client_resolve(f->client, name, &resource, &error) < 0) {
        fail_msg("%s: %s", name, error.message);
    }
    assert_int_equal(error.code, 0); /* untouched */
    assert_string_equal(ki_resource_kind(resource), kind);
    ki_resource_unref(resource);
}

static int resolve(fixture *f, const char *name)
{
    ki_resource *resource = NULL;
    int r = ki_client_resolve(f->client, name, &resource, NULL);
    ki_resource_unref(resource);
    return r;
}

static uint64_t now_ms(void)
{
    return ki_clock_system()->monotonic_ns(ki_clock_system()->user) / 1000000;
}

/* ---- forms ---- */

static void names_are_resolved_with_two_requests(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        fixture f;
        begin(&f, own_thread != 0);
        expect(&f, "po", "Pod");
        expect(&f, "deploy", "Deployment");
        expect(&f, "deployments.apps", "Deployment");
        expect(&f, "deployments.v1.apps", "Deployment");
        expect(&f, "Widget", "Widget");
        expect(&f, "crontabs.stable.example.com", "CronTab");
        tell(&f, "asked");
        *strstr(f.said.data, "most") = '\0';
        assert_string_equal(
            ki_buf_text(&f.said),
            "GET /api application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
            "application/json\n"
            "GET /apis application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
            "application/json\n");
        end(&f);
    }
}

static void v2beta1_servers_are_understood(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    tell(&f, "mode v2beta1");
    expect(&f, "hpa", "HorizontalPodAutoscaler");
    assert_int_equal(count_asked(&f, NULL), 2);
    end(&f);
}

static void legacy_discovery_is_parallel_and_not_throttled(void **state)
{
    (void)state;
    fixture f;
    size_t most = 0;
    begin(&f, true);
    tell(&f, "mode legacy");
    tell(&f, "slow 20");
    uint64_t start = now_ms();
    expect(&f, "hpa", "HorizontalPodAutoscaler");
    uint64_t took = now_ms() - start;
    assert_int_equal(count_asked(&f, &most), LEGACY_REQUESTS);
    assert_in_range(most, 2, 8);
    /* Ten at once, then five per second: with the rate limit it would take at least 1.8 s. */
    if (took >= 1800) {
        fail_msg("%d requests took %d ms", LEGACY_REQUESTS, (int)took);
    }
    ki_discovery *discovery = NULL;
    assert_int_equal(ki_client_discover(f.client, 60000, &discovery, NULL), 0);
    assert_string_equal(ki_discovery_failure_at(discovery, 0), "custom.metrics.k8s.io/v1beta1");
    ki_discovery_unref(discovery);
    end(&f);
}

static void one_group_that_fails_does_not_hide_the_others(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    tell(&f, "mode legacy");
    tell(&f, "fail /apis/metrics.k8s.io/v1beta1 404");
    ki_discovery *discovery = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_discover(f.client, 0, &discovery, &error), 0);
    assert_string_equal(ki_discovery_failure_at(discovery, 0), "metrics.k8s.io/v1beta1");
    assert_string_equal(ki_discovery_failure_at(discovery, 1), "custom.metrics.k8s.io/v1beta1");
    assert_null(ki_discovery_failure_at(discovery, 2));
    ki_discovery_unref(discovery);
    expect(&f, "widgets", "Widget");
    ki_resource *resource = NULL;
    assert_int_equal(ki_client_resolve(f.client, "NodeMetrics", &resource, &error),
                     KI_ERR_NOT_FOUND);
    assert_non_null(strstr(error.message, "discovery failed for: metrics.k8s.io/v1beta1"));
    end(&f);
}

static void what_is_no_discovery_is_an_error(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    tell(&f, "mode html");
    ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_resolve(f.client, "pods", &resource, &error), KI_ERR_SYNTAX);
    assert_non_null(strstr(error.message, "the server's list of API groups: the response is HTML"));
    tell(&f, "mode v2");
    tell(&f, "fail /apis 403");
    assert_int_equal(ki_client_resolve(f.client, "pods", &resource, &error), KI_ERR_STATUS);
    assert_int_equal(error.http_code, 403);
    end(&f);
}

/* ---- keeping ---- */

static void a_custom_resource_that_appears_later_is_found(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    assert_int_equal(resolve(&f, "gizmos"), KI_ERR_NOT_FOUND);
    assert_int_equal(count_asked(&f, NULL), 2); /* once: it was new already */
    tell(&f, "add");
    assert_int_equal(resolve(&f, "gizmos"), KI_ERR_NOT_FOUND);
    assert_int_equal(count_asked(&f, NULL), 0);
    atomic_fetch_add(&f.leap_ns, UINT64_C(2100000000));
    expect(&f, "pods", "Pod");
    assert_int_equal(count_asked(&f, NULL), 0); /* not for what is known */
    expect(&f, "giz", "Gizmo");
    assert_int_equal(count_asked(&f, NULL), 2);
    expect(&f, "gizmos.later.example.com", "Gizmo");
    assert_int_equal(resolve(&f, "nothing"), KI_ERR_NOT_FOUND);
    assert_int_equal(count_asked(&f, NULL), 0);
    end(&f);
}

static void a_program_may_ask_for_news_at_once(void **state)
{
    (void)state;
    fixture f;
    begin(&f, true);
    ki_discovery *first = NULL;
    ki_discovery *second = NULL;
    ki_discovery *third = NULL;
    const ki_resource *resource = NULL;
    assert_int_equal(ki_client_discover(f.client, 0, &first, NULL), 0);
    tell(&f, "add");
    assert_int_equal(ki_client_discover(f.client, 60000, &second, NULL), 0);
    assert_ptr_equal(first, second);
    assert_int_equal(ki_client_discover(f.client, 0, &third, NULL), 0);
    assert_int_equal(ki_discovery_find(first, "gizmos", &resource, NULL), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_discovery_find(third, "gizmos", &resource, NULL), 0);
    expect(&f, "gizmos", "Gizmo");
    assert_int_equal(count_asked(&f, NULL), 4);
    ki_discovery_unref(first);
    ki_discovery_unref(second);
    ki_discovery_unref(third);
    end(&f);
}

static void what_was_known_serves_while_the_server_is_away(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    expect(&f, "widgets", "Widget");
    test_server_stop(&f.server);
    f.server.pid = 0;
    ki_resource *resource = NULL;
    ki_error error = KI_ERROR_INIT;
    atomic_fetch_add(&f.leap_ns, UINT64_C(3000000000));
    expect(&f, "widgets", "Widget");
    assert_int_equal(ki_client_resolve(f.client, "gizmos", &resource, &error), -ECONNREFUSED);
    atomic_fetch_add(&f.leap_ns, UINT64_C(700000000000)); /* too old */
    expect(&f, "widgets", "Widget");
    assert_int_equal(ki_client_resolve(f.client, "gizmos", &resource, &error), -ECONNREFUSED);
    ki_discovery *discovery = NULL;
    assert_int_equal(ki_client_discover(f.client, 1000, &discovery, &error), -ECONNREFUSED);
    assert_null(resource);
    assert_null(discovery);
    end(&f);
}

static void *resolve_many(void *user)
{
    fixture *f = user;
    for (int i = 0; i < 20; i++) {
        expect(f, "widgets", "Widget");
        expect(f, "po", "Pod");
    }
    return NULL;
}

static void threads_share_one_reading(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        fixture f;
        pthread_t threads[THREADS];
        begin(&f, own_thread != 0);
        tell(&f, "slow 100");
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, resolve_many, &f), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        assert_int_equal(count_asked(&f, NULL), 2);
        end(&f);
    }
}

/* ---- on the loop ---- */

typedef struct hearer {
    fixture *f;
    ki_error inside; /* of waiting where nobody can wait */
    atomic_int answers;
    int code;
    size_t count;
    bool once_more;
} hearer;

static void on_answer(const ki_discovery *discovery, const ki_error *error, void *user)
{
    hearer *h = user;
    ki_discovery *other = NULL;
    h->code = error != NULL ? error->code : 0;
    int r = ki_client_discover(h->f->client, 0, &other, &h->inside);
    assert_true(r == KI_ERR_BUSY || (r == KI_ERR_STOPPED && h->code == KI_ERR_STOPPED));
    h->count = discovery != NULL ? ki_discovery_count(discovery) : 0;
    if (h->once_more) {
        h->once_more = false;
        assert_int_equal(ki_client_discover_start(h->f->client, 60000, on_answer, h, NULL), 0);
    }
    atomic_fetch_add(&h->answers, 1);
}

static void wait_for(const hearer *h, int times)
{
    uint64_t until = now_ms() + 20000;
    while (atomic_load(&((hearer *)(uintptr_t)h)->answers) < times) {
        assert_true(now_ms() < until);
        if (h->f->loop != NULL) {
            assert_true(ki_loop_dispatch(h->f->loop) >= 0);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void without_waiting_the_answer_comes_on_the_loop(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        fixture f;
        begin(&f, own_thread != 0);
        hearer h = {.f = &f, .once_more = true};
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_client_discover_start(f.client, 0, NULL, &h, &error), -EINVAL);
        assert_int_equal(ki_client_discover_start(f.client, 0, on_answer, &h, &error), 0);
        wait_for(&h, 2);
        assert_int_equal(h.inside.code, KI_ERR_BUSY);
        assert_int_equal(h.code, 0);
        assert_true(h.count > 30);
        assert_int_equal(count_asked(&f, NULL), 2);
        end(&f);
    }
}

static void cancelled_requests_are_not_answered(void **state)
{
    (void)state;
    fixture f;
    begin(&f, true);
    hearer h = {.f = &f};
    tell(&f, "hang /apis");
    assert_int_equal(ki_client_discover_start(f.client, 0, on_answer, &h, NULL), 0);
    assert_int_equal(ki_client_discover_start(f.client, 0, on_answer, &h, NULL), 0);
    while (count_asked(&f, NULL) == 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    ki_client_discover_cancel(f.client, &h);
    ki_client_discover_cancel(f.client, &h);
    ki_client_discover_cancel(f.client, NULL);
    end(&f); /* nothing is left, so it released the client */
    assert_int_equal(atomic_load(&h.answers), 0);
}

static void *discover_hanging(void *user)
{
    fixture *f = user;
    ki_discovery *discovery = NULL;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_client_discover(f->client, 0, &discovery, &error), KI_ERR_STOPPED);
    assert_int_equal(error.code, KI_ERR_STOPPED);
    return NULL;
}

static void a_loop_that_is_stopped_ends_the_waiting(void **state)
{
    (void)state;
    for (int own_thread = 0; own_thread < 2; own_thread++) {
        fixture f;
        pthread_t threads[2];
        begin(&f, own_thread != 0);
        tell(&f, "mode legacy");
        tell(&f, "hang /apis/apps/v1");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, discover_hanging, &f), 0);
        }
        while (count_asked(&f, NULL) == 0) {
            (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        hearer h = {.f = &f};
        assert_int_equal(ki_client_discover_start(f.client, 0, on_answer, &h, NULL), 0);
        ki_loop_stop(ki_client_loop(f.client));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki_client_discover_start(f.client, 0, on_answer, &h, &error),
                         KI_ERR_STOPPED);
        assert_int_equal(resolve(&f, "pods"), KI_ERR_STOPPED);
        assert_int_equal(ki_loop_join(ki_client_loop(f.client)), 0);
        end(&f);
        assert_int_equal(atomic_load(&h.answers), 1);
        assert_int_equal(h.code, KI_ERR_STOPPED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_resolved_with_two_requests),
        cmocka_unit_test(v2beta1_servers_are_understood),
        cmocka_unit_test(legacy_discovery_is_parallel_and_not_throttled),
        cmocka_unit_test(one_group_that_fails_does_not_hide_the_others),
        cmocka_unit_test(what_is_no_discovery_is_an_error),
        cmocka_unit_test(a_custom_resource_that_appears_later_is_found),
        cmocka_unit_test(a_program_may_ask_for_news_at_once),
        cmocka_unit_test(what_was_known_serves_while_the_server_is_away),
        cmocka_unit_test(threads_share_one_reading),
        cmocka_unit_test(without_waiting_the_answer_comes_on_the_loop),
        cmocka_unit_test(cancelled_requests_are_not_answered),
        cmocka_unit_test(a_loop_that_is_stopped_ends_the_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

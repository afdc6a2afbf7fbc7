/* SPDX-License-Identifier: Apache-2.0 */
/* The model as a whole: its history, servers that lag, restored backups; and random histories in
 * which every list at every version must be what replaying the writes gives, and every watch from
 * every version what the writes after it are to its selector. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/api.h"

/* ---- history ---- */

static void compaction_keeps_the_state_at_its_version(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_call(&api, "DELETE", PODS "/a", "");
    test_api_pod(&api, "ns", "c", "");
    ki__api_model_compact(api.model, 3);
    test_api_get(&api, PODS "?resourceVersion=3&resourceVersionMatch=Exact");
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    test_api_get(&api, PODS "?resourceVersion=4&resourceVersionMatch=Exact");
    assert_string_equal(test_api_items(&api), "b@3");
    ki__api_model_compact(api.model, 1000);
    assert_int_equal(api.model->compacted, 5);
    assert_int_equal(api.model->count, 0);
    test_api_get(&api, PODS);
    assert_string_equal(test_api_items(&api), "b@3 c@5");
    test_api_pod(&api, "ns", "a", "");
    assert_status(&api, 201);
    test_api_done(&api);
}

static void the_history_has_a_limit(void **state)
{
    (void)state;
    test_api api;
    const ki__api_model_options options = {.history_max = 10};
    test_api_init(&api, NULL, &options, NULL);
    ki__api_server *stuck;
    const ki__api_server_options lags = {.lags = true};
    assert_int_equal(ki__api_server_new(api.model, &lags, &stuck), 0);
    for (int i = 0; i < 1000; i++) {
        test_api_pod(&api, "ns", "a", "");
        test_api_call(&api, "DELETE", PODS "/a", "");
    }
    assert_int_equal(api.model->count, 10);
    assert_true(api.model->cap < 100);
    assert_true(ki__api_server_version(stuck) >= api.model->head - 10);
    assert_int_equal(ki__api_server_oldest(api.server), api.model->head - 10);
    ki__api_server_free(stuck);
    test_api_done(&api);
}

static void the_history_has_a_limit_in_bytes(void **state)
{
    (void)state;
    test_api api;
    const ki__api_model_options options = {.history_bytes = 4000};
    test_api_init(&api, NULL, &options, NULL);
    for (int i = 0; i < 100; i++) {
        test_api_pod(&api, "ns", "a", "");
        test_api_call(&api, "DELETE", PODS "/a", "");
        assert_true(api.model->bytes <= 4000);
    }
    assert_in_range(api.model->count, 3, 20);
    ki__api_model_compact(api.model, api.model->head);
    assert_int_equal(api.model->bytes, 0);
    test_api_done(&api);
}

static void a_server_that_lags_is_not_disturbed_by_compaction(void **state)
{
    (void)state;
    test_api api;
    const ki__api_server_options lags = {.lags = true};
    test_api_init(&api, NULL, NULL, &lags);
    test_api_pod(&api, "ns", "a", "");
    ki__api_server_advance(api.server, 2);
    test_api_call(&api, "DELETE", PODS "/a", "");
    test_api_pod(&api, "ns", "b", "");
    ki__api_model_compact(api.model, 4);
    test_api_get(&api, PODS "?resourceVersion=0");
    assert_string_equal(test_api_items(&api), "a@2");
    ki__api_server_advance(api.server, 3);
    test_api_get(&api, PODS "?resourceVersion=0");
    assert_string_equal(test_api_items(&api), "");
    ki__api_server_advance(api.server, 1); /* never back */
    ki__api_server_advance(api.server, 99);
    assert_int_equal(ki__api_server_version(api.server), 4);
    test_api_done(&api);
}

static void several_servers_see_one_log(void **state)
{
    (void)state;
    test_api api;
    ki__api_server *other;
    ki__api_server *first;
    const ki__api_server_options lags = {.lags = true};
    test_api_init(&api, NULL, NULL, NULL);
    assert_int_equal(ki__api_server_new(api.model, &lags, &other), 0);
    first = api.server;
    api.server = other; /* a write through one that lags is a write */
    test_api_pod(&api, "ns", "a", "");
    test_api_get(&api, PODS "?resourceVersion=0");
    assert_string_equal(test_api_items(&api), "");
    test_api_get(&api, PODS);
    assert_string_equal(test_api_items(&api), "a@2");
    api.server = first;
    test_api_get(&api, PODS "?resourceVersion=0");
    assert_string_equal(test_api_items(&api), "a@2");
    ki__api_server_free(other);
    test_api_done(&api);
}

/* ---- restored backups ---- */

static void a_restore_goes_back_and_ends_watches(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    test_api_call(&api, "DELETE", PODS "/a", "");
    test_api_pod(&api, "ns", "c", "");
    ki__api_exchange *x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=5", "");
    assert_int_equal(ki__api_model_restore(api.model, 3), 0);
    assert_string_equal(test_api_events(&api, x), "end");
    ki__api_exchange_free(x);
    test_api_get(&api, PODS);
    assert_string_equal(test_api_items(&api), "a@2 b@3");
    assert_int_equal(api.model->objects, 2);
    assert_int_equal(api.model->epoch, 1);
    test_api_pod(&api, "ns", "d", ""); /* versions are used again, by other objects */
    assert_string_equal(test_api_at(&api, ".metadata.resourceVersion"), "4");
    x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=3", "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/d@4");
    ki__api_exchange_free(x);
    /* A client from before sees nothing until the versions have passed its own. */
    x = test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=5", "");
    test_api_pod(&api, "ns", "e", "");
    test_api_pod(&api, "ns", "f", "");
    assert_string_equal(test_api_events(&api, x), "ADDED ns/f@6");
    ki__api_exchange_free(x);
    test_api_done(&api);
}

static void a_restore_needs_a_version_that_is_kept(void **state)
{
    (void)state;
    test_api api;
    test_api_init(&api, NULL, NULL, NULL);
    test_api_pod(&api, "ns", "a", "");
    test_api_pod(&api, "ns", "b", "");
    ki__api_model_compact(api.model, 2);
    assert_int_equal(ki__api_model_restore(api.model, 1), KI_ERR_RANGE);
    assert_int_equal(ki__api_model_restore(api.model, 4), KI_ERR_RANGE);
    assert_int_equal(api.model->epoch, 0);
    assert_int_equal(ki__api_model_restore(api.model, 2), 0);
    test_api_done(&api);
}

static void count_calls(void *user)
{
    ++*(int *)user;
}

static void waiters_are_notified_of_changes(void **state)
{
    (void)state;
    test_api api;
    int calls = 0;
    test_api_init(&api, NULL, NULL, NULL);
    api.model->on_change = count_calls;
    api.model->on_change_user = &calls;
    test_api_pod(&api, "ns", "a", "");
    assert_int_equal(calls, 1);
    test_api_get(&api, PODS);
    assert_int_equal(calls, 1);
    ki__api_server_drop_watches(api.server, false);
    assert_int_equal(calls, 2);
    test_api_done(&api);
}

static void a_model_needs_a_clock_and_randomness(void **state)
{
    (void)state;
    ki__api_model *model = NULL;
    ki__api_model_options options = {0};
    assert_int_equal(ki__api_model_new(NULL, &model), -EINVAL);
    assert_int_equal(ki__api_model_new(&options, &model), -EINVAL);
    assert_null(ki__api_model_free(NULL));
    assert_null(ki__api_server_free(NULL));
    assert_null(ki__api_exchange_free(NULL));
}

/* ---- random histories ---- */

enum { NAMES = 6, WRITES = 120, VERSIONS = WRITES + 2 };

/* The whole truth, kept beside the model: for each version what changed to what. */
typedef struct truth {
    struct {
        int name;  /* -1: no change at this version */
        int group; /* the label from here on; 0: gone */
    } at[VERSIONS];
    uint64_t head;
} truth;

static int group_at(const truth *t, int name, uint64_t rv, uint64_t *ret_rv)
{
    for (uint64_t v = rv; v > 1; v--) {
        if (t->at[v].name == name) {
            *ret_rv = v;
            return t->at[v].group;
        }
    }
    return 0;
}

/* One random write to both. */
static void random_write(test_api *api, truth *t, uint64_t *random)
{
    int name = (int)(test_random(random) % NAMES);
    int group = (int)(test_random(random) % 3);
    uint64_t rv;
    int old = group_at(t, name, t->head, &rv);
    char text[16];
    char labels[32];
    char body[128];
    char target[64];
    (void)snprintf(text, sizeof(text), "p%d", name);
    (void)snprintf(target, sizeof(target), PODS "/p%d", name);
    (void)snprintf(labels, sizeof(labels), "'g':'%d'", group);
    (void)snprintf(body, sizeof(body), "{'metadata':{'labels':{'g':'%d'}},'spec':{'v':%d}}", group,
                   (int)t->head);
    if (old == 0 && group == 0) {
        return;
    }
    if (old == 0) {
        test_api_pod(api, "ns", text, labels);
    } else {
        test_api_call(api, group == 0 ? "DELETE" : "PATCH", target, group == 0 ? "" : body);
    }
    assert_true(api->status == 200 || api->status == 201);
    t->head++;
    assert_int_equal(api->model->head, t->head);
    t->at[t->head].name = name;
    t->at[t->head].group = group;
}

static void check_list(test_api *api, const truth *t, uint64_t rv, int group)
{
    char expected[512] = "";
    char target[128];
    for (int name = 0; name < NAMES; name++) {
        uint64_t at;
        int has = group_at(t, name, rv, &at);
        if (has != 0 && (group == 0 || has == group)) {
            size_t len = strlen(expected);
            (void)snprintf(expected + len, sizeof(expected) - len, "%sp%d@%d", len != 0 ? " " : "",
                           name, (int)at);
        }
    }
    (void)snprintf(target, sizeof(target),
                   PODS "?resourceVersion=%d&resourceVersionMatch=Exact%s%d", (int)rv,
                   group != 0 ? "&labelSelector=g%3D" : "&x=", group);
    test_api_get(api, target);
    assert_status(api, 200);
    assert_string_equal(test_api_items(api), expected);
}

/* What the writes after `rv` are to a watch of one group, or of all. */
static void expect_events(const truth *t, uint64_t rv, int group, char *expected, size_t size)
{
    expected[0] = '\0';
    for (uint64_t v = rv + 1; v <= t->head; v++) {
        uint64_t at;
        int now = t->at[v].group;
        int before = group_at(t, t->at[v].name, v - 1, &at);
        bool is = now != 0 && (group == 0 || now == group);
        bool was = before != 0 && (group == 0 || before == group);
        if (is || was) {
            size_t len = strlen(expected);
            (void)snprintf(expected + len, size - len, "%s%s ns/p%d@%d", len != 0 ? " " : "",
                           !is   ? "DELETED"
                           : was ? "MODIFIED"
                                 : "ADDED",
                           t->at[v].name, (int)v);
        }
    }
}

static void check_watch(test_api *api, const truth *t, uint64_t rv, int group)
{
    char expected[8192];
    char target[128];
    expect_events(t, rv, group, expected, sizeof(expected));
    if (strlen(expected) > 4000) {
        return; /* more than the helper holds */
    }
    (void)snprintf(target, sizeof(target), PODS "?watch=1&resourceVersion=%d%s%d", (int)rv,
                   group != 0 ? "&labelSelector=g%3D" : "&x=", group);
    ki__api_exchange *x = test_api_open(api, "GET", target, "");
    assert_string_equal(test_api_events(api, x), expected);
    ki__api_exchange_free(x);
}

/* All pages of a list of one version, whatever is written between them. */
static void check_pages(test_api *api, truth *t, uint64_t *random)
{
    char all[512];
    char joined[512] = "";
    char token[512] = "";
    test_api_get(api, PODS);
    (void)snprintf(all, sizeof(all), "%s", test_api_items(api));
    do {
        char target[640];
        (void)snprintf(target, sizeof(target), PODS "?limit=%d%s%s",
                       1 + (int)(test_random(random) % 3), token[0] != '\0' ? "&continue=" : "",
                       token);
        test_api_get(api, target);
        assert_status(api, 200);
        (void)snprintf(token, sizeof(token), "%s", test_api_at(api, ".metadata.continue"));
        const char *items = test_api_items(api);
        size_t len = strlen(joined);
        (void)snprintf(joined + len, sizeof(joined) - len, "%s%s",
                       len != 0 && items[0] != '\0' ? " " : "", items);
        if (t->head + 1 < VERSIONS) {
            random_write(api, t, random);
        }
    } while (token[0] != '\0');
    assert_string_equal(joined, all);
}

static void random_histories_read_as_they_were_written(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        test_api api;
        truth t = {.head = 1};
        uint64_t random = seed;
        test_api_init(&api, NULL, NULL, NULL);
        while (t.head + 10 < VERSIONS) {
            random_write(&api, &t, &random);
            if (test_random(&random) % 16 == 0) {
                check_pages(&api, &t, &random);
            }
        }
        for (uint64_t rv = 1; rv <= t.head; rv++) {
            check_list(&api, &t, rv, (int)(rv % 3));
            check_watch(&api, &t, rv, (int)(rv % 3));
        }
        /* What is left after compaction reads the same; reading what is gone is an error. */
        uint64_t compacted = 2 + test_random(&random) % (t.head - 2);
        ki__api_model_compact(api.model, compacted);
        for (uint64_t rv = compacted; rv <= t.head; rv++) {
            check_list(&api, &t, rv, 0);
            check_watch(&api, &t, rv, 1 + (int)(rv % 2));
        }
        char target[64];
        (void)snprintf(target, sizeof(target), PODS "?limit=1&resourceVersion=%d",
                       (int)compacted - 1);
        test_api_get(&api, target);
        assert_status(&api, 410);
        /* And so does what a restored backup brings back. */
        t.head = compacted + (t.head - compacted) / 2;
        assert_int_equal(ki__api_model_restore(api.model, t.head), 0);
        check_list(&api, &t, t.head, 0);
        check_watch(&api, &t, compacted, 0);
        test_api_done(&api);
    }
}

/* A watch that is pulled occasionally, by a client of a server that lags at random, gets exactly
 * the writes in their order. */
static void a_watch_of_a_server_that_lags_misses_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 130; seed++) {
        test_api api;
        truth t = {.head = 1};
        uint64_t random = seed;
        char got[8192] = "";
        char expected[8192];
        const ki__api_server_options lags = {.lags = true};
        test_api_init(&api, NULL, NULL, &lags);
        ki__api_exchange *x =
            test_api_open(&api, "GET", PODS "?watch=1&resourceVersion=1&labelSelector=g%3D1", "");
        while (t.head + 1 < VERSIONS) {
            random_write(&api, &t, &random);
            uint64_t choice = test_random(&random) % 8;
            if (choice < 3) {
                ki__api_server_advance(api.server, ki__api_server_version(api.server) + choice + 1);
            } else if (choice == 3) {
                ki__api_model_compact(api.model, t.head);
            } else if (choice == 4) {
                const char *events = test_api_events(&api, x);
                size_t len = strlen(got);
                (void)snprintf(got + len, sizeof(got) - len, "%s%s",
                               len != 0 && events[0] != '\0' ? " " : "", events);
            }
        }
        ki__api_server_advance(api.server, t.head);
        const char *events = test_api_events(&api, x);
        size_t len = strlen(got);
        (void)snprintf(got + len, sizeof(got) - len, "%s%s",
                       len != 0 && events[0] != '\0' ? " " : "", events);
        expect_events(&t, 1, 1, expected, sizeof(expected));
        assert_string_equal(got, expected);
        ki__api_exchange_free(x);
        test_api_done(&api);
    }
}

/* ---- hostile requests ---- */

static void random_requests_get_answers(void **state)
{
    (void)state;
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "X"};
    static const char *const targets[] = {
        PODS,
        PODS "/a",
        PODS "/a/status",
        ALL_PODS,
        "/api/v1/namespaces",
        "/apis/apps/v1/deployments",
        "/api/v1/namespaces/ns",
        "/",
        "/api/v1/nodes/n",
    };
    static const char *const queries[] = {
        "",
        "?watch=1",
        "?limit=1",
        "?resourceVersion=0",
        "?resourceVersion=5&watch=1",
        "?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1",
        "?continue=AAAA",
        "?labelSelector=a%3Db",
        "?fieldSelector=x%3Dy",
        "?dryRun=All",
        "?resourceVersion=3&resourceVersionMatch=Exact",
    };
    static const char *const bodies[] = {
        "",
        "{}",
        "{'metadata':{'name':'a'}}",
        "{'metadata':{'generateName':'a-'}}",
        "{'metadata':{'name':'a','finalizers':['x/y']}}",
        "{'metadata':{'finalizers':null}}",
        "{'status':{'a':1}}",
        "{'spec':{'a':[{}]}}",
        "[",
        "{'preconditions':{'uid':'x'}}",
        "{'metadata':{'name':'n','labels':{'a':'b'}}}",
    };
    uint64_t random = 5;
    test_api api;
    int seen[600] = {0};
    const ki__api_model_options options = {.history_max = 20};
    test_api_init(&api, NULL, &options, NULL);
    for (int i = 0; i < 20000; i++) {
        char target[512];
        (void)snprintf(target, sizeof(target), "%s%s", targets[test_random(&random) % 9],
                       queries[test_random(&random) % 11]);
        api.now_ns += test_random(&random) % UINT64_C(5000000000);
        int status = test_api_call(&api, methods[test_random(&random) % 6], target,
                                   bodies[test_random(&random) % 11]);
        assert_in_range(status, 0, 599);
        seen[status]++;
    }
    static const int must[] = {200, 201, 400, 404, 405, 409, 410, 422};
    for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++) {
        if (seen[must[i]] == 0) {
            fail_msg("no answer %d", must[i]);
        }
    }
    assert_int_equal(api.server->watch_count, 0);
    test_api_done(&api);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compaction_keeps_the_state_at_its_version),
        cmocka_unit_test(the_history_has_a_limit),
        cmocka_unit_test(the_history_has_a_limit_in_bytes),
        cmocka_unit_test(a_server_that_lags_is_not_disturbed_by_compaction),
        cmocka_unit_test(several_servers_see_one_log),
        cmocka_unit_test(a_restore_goes_back_and_ends_watches),
        cmocka_unit_test(a_restore_needs_a_version_that_is_kept),
        cmocka_unit_test(waiters_are_notified_of_changes),
        cmocka_unit_test(a_model_needs_a_clock_and_randomness),
        cmocka_unit_test(random_histories_read_as_they_were_written),
        cmocka_unit_test(a_watch_of_a_server_that_lags_misses_nothing),
        cmocka_unit_test(random_requests_get_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

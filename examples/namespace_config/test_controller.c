/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the controller on an API server inside this program, with injected faults. A test changes
 * something, possibly during faults, and then waits until the server has the expected state: the
 * order of the controller's steps does not matter, so no test checks it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <kinformer/apiserver.h>

#include "controller.h"

/* Unlike assert() it also works with NDEBUG. */
#define CHECK(condition) check((condition), #condition, __LINE__)

static ki_error error;

static void check(bool holds, const char *condition, int line)
{
    if (!holds) {
        fprintf(stderr, "line %d: failed: %s %s\n", line, condition, error.message);
        exit(1);
    }
}

/* ---- a cluster with a controller ---- */

typedef struct cluster {
    ki_apiserver *server;
    ki_client *client;
    namespace_config controller;
} cluster;

static void apply(const cluster *c, const char *objects)
{
    CHECK(ki_apiserver_load(c->server, ki_str_from(objects), NULL, &error) >= 0);
}

/* A namespace, with a team or without one. */
static void put_namespace(const cluster *c, const char *name, const char *team)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s: '%s'}}}", name,
             team != NULL ? TEAM_LABEL : "other", team != NULL ? team : "");
    apply(c, text);
}

/* Two namespaces, and what goes wrong from the beginning; NULL: nothing. */
static void set_up(cluster *c, const char *faults)
{
    error = KI_ERROR_INIT;
    CHECK(ki_apiserver_new(KI_OPTIONS(ki_apiserver_options, .seed = 1, .faults = faults),
                           &c->server, &error) >= 0);
    put_namespace(c, "shop", "red");
    put_namespace(c, "bank", "red");
    CHECK(ki_apiserver_client(c->server, NULL, &c->client, &error) >= 0);
    CHECK(namespace_config_start(&c->controller, c->client, 2, &error) >= 0);
}

static void tear_down(cluster *c)
{
    namespace_config_stop(&c->controller);
    ki_client_close(c->client);
    ki_apiserver_unref(c->server);
}

/* `members` NULL: there must be none. */
static bool config_is(const cluster *c, const char *name_space, const char *team,
                      const char *members)
{
    KI_AUTO(ki_object) config = NULL;
    if (ki_apiserver_get(c->server, KI_CORE_V1_CONFIGMAPS, name_space, CONFIG_NAME, &config,
                         &error) < 0) {
        return members == NULL && ki_error_is_not_found(&error);
    }
    ki_value data = ki_object_at(config, "data");
    return members != NULL && ki_value_count(&data) == 3 &&
           ki_object_equals(config, "data.namespace", name_space) &&
           ki_object_equals(config, "data.team", team) &&
           ki_object_equals(config, "data.members", members);
}

/* Whether it becomes so within a time that is long enough for a busy machine. */
static bool config_becomes(const cluster *c, const char *name_space, const char *team,
                           const char *members)
{
    for (int i = 0; i < 3000 && !config_is(c, name_space, team, members); i++) {
        usleep(10000);
    }
    return config_is(c, name_space, team, members);
}

/* ---- the tests ---- */

static void changes_teams(cluster *c)
{
    set_up(c, NULL);
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    put_namespace(c, "zoo", "red");
    CHECK(config_becomes(c, "zoo", "red", "bank,shop,zoo"));
    put_namespace(c, "zoo", "blue");
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    CHECK(config_becomes(c, "zoo", "blue", "zoo"));
    put_namespace(c, "zoo", NULL);
    CHECK(config_becomes(c, "zoo", "", NULL));
    CHECK(ki_apiserver_delete(c->server, KI_CORE_V1_NAMESPACES, "", "bank", &error) >= 0);
    CHECK(config_becomes(c, "shop", "red", "shop"));
    CHECK(config_is(c, "default", "", NULL));
}

static void undoes_what_others_do(cluster *c)
{
    set_up(c, NULL);
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    CHECK(ki_apiserver_delete(c->server, KI_CORE_V1_CONFIGMAPS, "shop", CONFIG_NAME, &error) >= 0);
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    /* Without our label: the cache loses it. */
    apply(c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: team, namespace: shop},"
             " data: {team: green, more: x}}");
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
}

static void retries_conflicts_at_once_and_other_failures_later(cluster *c)
{
    set_up(c, "status=500,verb=create+list,times=6");
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    unsigned long failed = c->controller.failed;
    CHECK(ki_apiserver_set_faults(c->server, "status=409,verb=patch,times=3", &error) >= 0);
    put_namespace(c, "bank", "blue");
    CHECK(config_becomes(c, "shop", "red", "shop"));
    CHECK(c->controller.failed == failed);
    CHECK(ki_apiserver_set_faults(c->server, "status=500,verb=patch+delete,times=5", &error) >= 0);
    put_namespace(c, "bank", NULL);
    put_namespace(c, "shop", "blue");
    CHECK(config_becomes(c, "bank", "", NULL));
    CHECK(config_becomes(c, "shop", "blue", "shop"));
    CHECK(c->controller.failed >= failed + 5);
}

/* The cache lags: the controller meets its own writes before they are delivered. */
static void works_with_a_stale_cache(cluster *c)
{
    set_up(c, "lag=300ms");
    CHECK(config_becomes(c, "shop", "red", "bank,shop"));
    for (int i = 0; i < 5; i++) {
        put_namespace(c, "bank", i % 2 == 0 ? "blue" : "red");
        (void)!ki_apiserver_delete(c->server, KI_CORE_V1_CONFIGMAPS, "shop", CONFIG_NAME, NULL);
        usleep(100000);
    }
    CHECK(config_becomes(c, "bank", "blue", "bank"));
    CHECK(config_becomes(c, "shop", "red", "shop"));
}

static void survives_all_faults_at_once(cluster *c)
{
    static const char *const teams[] = {"red", "blue", NULL};
    set_up(c, "status=500,rate=20%; cut=700,rate=20%; refuse,rate=5%; "
              "status=409,verb=patch,rate=20%; latency=5ms,rate=30%");
    for (int i = 0; i < 60; i++) {
        char name[32];
        snprintf(name, sizeof(name), "space-%d", i % 12);
        put_namespace(c, name, teams[i % 5 % 3]);
        if (i % 10 == 3) {
            ki_apiserver_break_connections(c->server);
        } else if (i % 10 == 6) {
            ki_apiserver_expire_history(c->server);
            ki_apiserver_drop_watches(c->server);
        }
        usleep(10000);
    }
    put_namespace(c, "shop", NULL);
    put_namespace(c, "bank", "blue");
    /* The faults are over: now it must reach the expected state. */
    CHECK(ki_apiserver_set_faults(c->server, NULL, &error) >= 0);
    CHECK(config_becomes(c, "bank", "blue", "bank,space-1,space-11,space-3,space-6,space-8"));
    CHECK(config_becomes(c, "space-0", "red", "space-0,space-10,space-2,space-5,space-7"));
    CHECK(config_becomes(c, "shop", "", NULL));
}

int main(void)
{
    static void (*const tests[])(cluster *) = {
        changes_teams, undoes_what_others_do, retries_conflicts_at_once_and_other_failures_later,
        works_with_a_stale_cache, survives_all_faults_at_once};
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        cluster c = {0};
        tests[i](&c);
        tear_down(&c);
    }
    return 0;
}

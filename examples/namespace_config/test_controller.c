/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the controller on an API server inside this program, with injected faults. A test changes
 * something, possibly during faults, and then waits until the server has the expected state: the
 * order of the controller's steps does not matter, so no test checks it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kinformer/apiserver.h>

#include "controller.h"

/* Unlike assert() it also works with NDEBUG. */
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

static void check(bool holds, const char *condition, const char *file, int line)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
        exit(1);
    }
}

/* ---- a cluster with a controller ---- */

typedef struct cluster {
    ki_apiserver *server;
    ki_client *client; /* of the controller */
    namespace_config *controller;
} cluster;

static void must(int r, const ki_error *error)
{
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error->message);
        exit(1);
    }
}

/* What the server has at first, and what goes wrong from the beginning; NULL: nothing. */
static cluster set_up(const char *objects, const char *faults)
{
    cluster c = {0};
    ki_error error = KI_ERROR_INIT;
    ki_apiserver_options options = KI_OPTIONS_INIT(ki_apiserver_options);
    options.seed = 1; /* faults by chance: the same ones in each run */
    options.faults = faults;
    must(ki_apiserver_new(&options, &c.server, &error), &error);
    must(ki_apiserver_load(c.server, ki_str_from(objects), NULL, &error), &error);
    must(ki_apiserver_client(c.server, NULL, &c.client, &error), &error);
    must(namespace_config_start(c.client, 2, NULL, &c.controller, &error), &error);
    return c;
}

static void tear_down(cluster *c)
{
    namespace_config_stop(c->controller);
    ki_client_close(c->client);
    ki_apiserver_unref(c->server);
}

/* ---- what a test does: as others in the cluster would, whatever faults there are ---- */

static void apply(cluster *c, const char *object)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_apiserver_load(c->server, ki_str_from(object), NULL, &error), &error);
}

static void delete_object(cluster *c, const ki_resource *resource, const char *name_space,
                          const char *name)
{
    ki_error error = KI_ERROR_INIT;
    int r = ki_apiserver_delete(c->server, resource, name_space, name, &error);
    must(ki_error_is_not_found(&error) ? 0 : r, &error);
}

static void set_faults(cluster *c, const char *faults)
{
    ki_error error = KI_ERROR_INIT;
    must(ki_apiserver_set_faults(c->server, faults, &error), &error);
}

/* A namespace, with a team or without one. */
static void put_namespace(cluster *c, const char *name, const char *team)
{
    char object[512];
    (void)snprintf(object, sizeof(object),
                   "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\","
                   "\"labels\":{\"%s\":\"%s\"}}}",
                   name, team != NULL ? TEAM_LABEL : "other", team != NULL ? team : "");
    apply(c, object);
}

/* ---- what a test waits for ---- */

static size_t count_data(const ki_object *object)
{
    ki_value data = ki_object_at(object, "data");
    return ki_value_count(&data);
}

/* `members` NULL: there must be none. */
static bool config_is(cluster *c, const char *name_space, const char *team, const char *members)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *config = NULL;
    int r = ki_apiserver_get(c->server, KI_CORE_V1_CONFIGMAPS, name_space, CONFIG_NAME, &config,
                             &error);
    if (r < 0) {
        must(ki_error_is_not_found(&error) ? 0 : r, &error);
        return members == NULL;
    }
    bool same = members != NULL && count_data(config) == 3 &&
                ki_object_equals(config, ".data.namespace", name_space) &&
                ki_object_equals(config, ".data.team", team) &&
                ki_object_equals(config, ".data.members", members);
    ki_object_unref(config);
    return same;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Whether it becomes so within a time that is long enough for a busy machine. */
static bool config_becomes(cluster *c, const char *name_space, const char *team,
                           const char *members)
{
    for (int i = 0; i < 3000; i++) {
        if (config_is(c, name_space, team, members)) {
            return true;
        }
        pause_ms(10);
    }
    return false;
}

/* ---- the tests ---- */

static const char two_namespaces[] = "apiVersion: v1\n"
                                     "kind: Namespace\n"
                                     "metadata: {name: shop, labels: {example.com/team: red}}\n"
                                     "---\n"
                                     "apiVersion: v1\n"
                                     "kind: Namespace\n"
                                     "metadata: {name: bank, labels: {example.com/team: red}}\n";

static void each_namespace_of_a_team_gets_its_config(void)
{
    cluster c = set_up(two_namespaces, NULL);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    CHECK(config_becomes(&c, "bank", "red", "bank,shop"));
    put_namespace(&c, "zoo", "red");
    CHECK(config_becomes(&c, "zoo", "red", "bank,shop,zoo"));
    CHECK(config_becomes(&c, "bank", "red", "bank,shop,zoo"));
    CHECK(config_is(&c, "default", "", NULL));
    tear_down(&c);
}

static void a_namespace_that_changes_its_team_changes_all_others(void)
{
    cluster c = set_up(two_namespaces, NULL);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    put_namespace(&c, "bank", "blue");
    CHECK(config_becomes(&c, "shop", "red", "shop"));
    CHECK(config_becomes(&c, "bank", "blue", "bank"));
    put_namespace(&c, "bank", NULL);
    CHECK(config_becomes(&c, "bank", "", NULL));
    tear_down(&c);
}

static void a_namespace_that_goes_is_no_member_any_more(void)
{
    cluster c = set_up(two_namespaces, NULL);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    delete_object(&c, KI_CORE_V1_NAMESPACES, "", "bank");
    CHECK(config_becomes(&c, "shop", "red", "shop"));
    tear_down(&c);
}

static void what_others_do_to_a_config_is_undone(void)
{
    cluster c = set_up(two_namespaces, NULL);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    delete_object(&c, KI_CORE_V1_CONFIGMAPS, "shop", CONFIG_NAME);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    apply(&c,
          "apiVersion: v1\n"
          "kind: ConfigMap\n"
          "metadata: {name: team, namespace: shop}\n" /* without our label: the cache loses it */
          "data: {team: green, more: x}\n");
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    tear_down(&c);
}

static void conflicts_are_tried_again_at_once(void)
{
    cluster c = set_up(two_namespaces, NULL);
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    set_faults(&c, "status=409,verb=patch,times=3");
    put_namespace(&c, "bank", NULL);
    CHECK(config_becomes(&c, "shop", "red", "shop"));
    CHECK(namespace_config_read_stats(c.controller).failed == 0);
    tear_down(&c);
}

static void refusals_are_tried_again_later(void)
{
    cluster c = set_up(two_namespaces, "status=500,verb=create+list,times=6");
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    CHECK(config_becomes(&c, "bank", "red", "bank,shop"));
    set_faults(&c, "status=500,verb=patch+delete,times=5");
    put_namespace(&c, "bank", NULL);
    CHECK(config_becomes(&c, "bank", "", NULL));
    CHECK(config_becomes(&c, "shop", "red", "shop"));
    CHECK(namespace_config_read_stats(c.controller).failed >= 5);
    tear_down(&c);
}

/* The caches lag: the controller meets its own writes before they are delivered. */
static void a_cache_that_is_behind_does_no_harm(void)
{
    cluster c = set_up(two_namespaces, "lag=300ms");
    CHECK(config_becomes(&c, "shop", "red", "bank,shop"));
    for (int i = 0; i < 5; i++) {
        put_namespace(&c, "bank", i % 2 == 0 ? "blue" : "red");
        delete_object(&c, KI_CORE_V1_CONFIGMAPS, "shop", CONFIG_NAME);
        pause_ms(100);
    }
    CHECK(config_becomes(&c, "bank", "blue", "bank"));
    CHECK(config_becomes(&c, "shop", "red", "shop"));
    tear_down(&c);
}

static void a_bad_day(void)
{
    static const char *const teams[] = {"red", "blue", NULL};
    cluster c = set_up(two_namespaces, "status=500,rate=20%; cut=700,rate=20%; refuse,rate=5%; "
                                       "status=409,verb=patch,rate=20%; latency=5ms,rate=30%");
    for (int i = 0; i < 60; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "space-%d", i % 12);
        put_namespace(&c, name, teams[i % 5 % 3]);
        if (i % 10 == 3) {
            ki_apiserver_cut(c.server);
        } else if (i % 10 == 6) {
            ki_apiserver_expire_history(c.server);
            ki_apiserver_drop_watches(c.server);
        }
        pause_ms(10);
    }
    put_namespace(&c, "shop", NULL);
    put_namespace(&c, "bank", "blue");
    set_faults(&c, NULL); /* the faults are over: now it must reach the expected state */
    const char *blue = "bank,space-1,space-11,space-3,space-6,space-8";
    const char *red = "space-0,space-10,space-2,space-5,space-7";
    CHECK(config_becomes(&c, "bank", "blue", blue));
    CHECK(config_becomes(&c, "space-0", "red", red));
    CHECK(config_becomes(&c, "shop", "", NULL));
    tear_down(&c);
}

#define RUN(test)              \
    do {                       \
        printf("%s\n", #test); \
        test();                \
    } while (0)

int main(void)
{
    setbuf(stdout, NULL);
    RUN(each_namespace_of_a_team_gets_its_config);
    RUN(a_namespace_that_changes_its_team_changes_all_others);
    RUN(a_namespace_that_goes_is_no_member_any_more);
    RUN(what_others_do_to_a_config_is_undone);
    RUN(conflicts_are_tried_again_at_once);
    RUN(refusals_are_tried_again_later);
    RUN(a_cache_that_is_behind_does_no_harm);
    RUN(a_bad_day);
    return 0;
}

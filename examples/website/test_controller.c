/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the controller on an API server inside this program, without other clients: tests
 * write the status of the Deployment, and nothing is garbage collected. A test changes something
 * and then waits until the server has the expected state. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <kinformer/apiserver.h>
#include <kinformer/merge.h>

#include "controller.h"

#define CONFIGS KI_CORE_V1_CONFIGMAPS
#define DEPLOYMENTS KI_APPS_V1_DEPLOYMENTS
/* The Website is "shop". Its children have another name, so that only their owner leads to it. */
#define NAME(resource) ((resource) == websites ? "shop" : "shop-site")
#define PAGE "data['index.html']"
#define HASH "spec.template.metadata.annotations['" HASH_ANNOTATION "']"
#define OWNER "metadata.ownerReferences[?(@.controller==true)].name"
#define HELD_BY "metadata.finalizers[0]"
#define READY "status.conditions[type=Ready]"
#define CHECK(x) ((x) ? (void)0 : (puts("failed: " #x), puts(error.message), exit(1)))

static ki_error error;
static ki_apiserver *server;
static const ki_resource *websites;
static website_controller controller;
static ki_manager *manager;

/* Changes the Website or a child by a merge patch, as another client would, including its status.
 */
static void change(const ki_resource *resource, const char *patch)
{
    KI_AUTO(ki_object) old = NULL;
    KI_AUTO(ki_object) changed = NULL;
    CHECK(ki_apiserver_get(server, resource, "default", NAME(resource), &old, &error) >= 0);
    CHECK(ki_object_merge(old, KI_PATCH_MERGE, ki_str_from(patch), NULL, &changed, &error) >= 0);
    CHECK(ki_apiserver_apply(server, changed, &error) >= 0);
}

/* Whether the Website or a child has a text or number at a path; without a path: does not exist. */
static bool is(const ki_resource *resource, const char *path, const char *expected)
{
    KI_AUTO(ki_object) object = NULL;
    int r = ki_apiserver_get(server, resource, "default", NAME(resource), &object, &error);
    return path == NULL
               ? r == KI_ERR_NOT_FOUND
               : r == 0 && (ki_object_equals(object, path, expected) ||
                            ki_object_int64_or(object, path, -1) == strtoll(expected, 0, 10));
}

/* Whether it becomes so within a time that is long enough for a busy machine. */
static bool becomes(const ki_resource *resource, const char *path, const char *expected)
{
    for (int i = 0; i < 3000 && !is(resource, path, expected); i++) {
        usleep(10000);
    }
    return is(resource, path, expected);
}

/* ---- the tests ---- */

static void maintains_children_and_status(void)
{
    CHECK(is(CONFIGS, PAGE, "<h1>Shop</h1>\n") && is(CONFIGS, OWNER, "shop"));
    CHECK(is(DEPLOYMENTS, "spec.replicas", "2") && is(DEPLOYMENTS, OWNER, "shop"));
    CHECK(is(DEPLOYMENTS, HASH, "9082577683441493032"));
    CHECK(is(websites, "status.observedGeneration", "1") && is(websites, HELD_BY, FINALIZER));
    change(websites, "{\"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"False\", "
                     "\"reason\": \"Old\", \"message\": \"\", \"lastTransitionTime\": "
                     "\"2020-01-01T00:00:00Z\"}]}}");
    CHECK(becomes(websites, READY ".reason", "Waiting"));
    CHECK(is(websites, READY ".lastTransitionTime", "2020-01-01T00:00:00Z"));
    change(DEPLOYMENTS, "{\"status\": {\"observedGeneration\": 1, \"readyReplicas\": 2}}");
    CHECK(becomes(websites, READY ".status", "True") && is(websites, "status.readyReplicas", "2"));
    CHECK(!is(websites, READY ".lastTransitionTime", "2020-01-01T00:00:00Z"));
    change(websites, "{\"spec\": {\"html\": \"New\", \"replicas\": 1}}");
    CHECK(becomes(websites, "status.observedGeneration", "2"));
    CHECK(is(websites, READY ".message", "2 of 1 replicas ready"));
    CHECK(is(websites, READY ".status", "False") && is(CONFIGS, PAGE, "New"));
    CHECK(is(DEPLOYMENTS, HASH, "3981733036569576337") && is(DEPLOYMENTS, "spec.replicas", "1"));
}

static uint64_t requests(void)
{
    ki_apiserver_stats stats = KI_OPTIONS_INIT(ki_apiserver_stats);
    CHECK(ki_apiserver_get_stats(server, &stats) >= 0);
    return stats.requests;
}

static void sends_nothing_without_a_difference(void)
{
    int quiet = 0; /* as the cache may lag, only several runs in a row count */
    for (int i = 0; i < 1000 && quiet < 10; i++) {
        uint64_t before = requests();
        unsigned long runs = controller.reconciled;
        CHECK(ki_workqueue_add(ki_controller_queue(controller.controller), "default/shop") >= 0);
        for (; controller.reconciled == runs; usleep(1000)) {
        }
        quiet = requests() == before ? quiet + 1 : 0;
    }
    CHECK(quiet == 10 && controller.failed == 0);
}

static void restores_what_others_change(void)
{
    change(CONFIGS, "{\"data\": {\"index.html\": \"x\", \"more\": \"y\"}}");
    CHECK(becomes(CONFIGS, PAGE, "<h1>Shop</h1>\n") && !is(CONFIGS, "data.more", "y"));
    change(CONFIGS, "{\"metadata\": {\"labels\": null}, \"data\": null}"); /* the cache loses it */
    CHECK(becomes(CONFIGS, PAGE, "<h1>Shop</h1>\n"));
    change(DEPLOYMENTS, "{\"metadata\": {\"ownerReferences\": null}, \"spec\": {\"replicas\": 9}}");
    CHECK(becomes(DEPLOYMENTS, "spec.replicas", "2") && is(DEPLOYMENTS, OWNER, "shop"));
    CHECK(ki_apiserver_delete(server, CONFIGS, "default", NAME(CONFIGS), &error) >= 0);
    CHECK(ki_apiserver_delete(server, DEPLOYMENTS, "default", NAME(DEPLOYMENTS), &error) >= 0);
    CHECK(becomes(CONFIGS, OWNER, "shop") && becomes(DEPLOYMENTS, OWNER, "shop"));
}

static void deletes_children_before_the_website(void)
{
    CHECK(ki_apiserver_delete(server, websites, "default", "shop", &error) >= 0);
    CHECK(becomes(DEPLOYMENTS, NULL, NULL) && is(CONFIGS, OWNER, "shop"));
    CHECK(is(websites, HELD_BY, FINALIZER));
    CHECK(ki_apiserver_set_faults(server, NULL, NULL) >= 0);
    CHECK(becomes(websites, NULL, NULL) && is(CONFIGS, NULL, NULL));
}

static void survives_all_faults_at_once(void)
{
    for (int i = 0; i < 30; i++) {
        change(websites, i % 2 == 0 ? "{\"spec\": {\"html\": \"a\", \"replicas\": 8}}"
                                    : "{\"spec\": {\"html\": \"b\", \"replicas\": 9}}");
        (void)!ki_apiserver_delete(server, i % 3 ? DEPLOYMENTS : CONFIGS, "default", NAME(CONFIGS),
                                   NULL);
        ki_apiserver_expire_history(server);
        (i % 4 ? ki_apiserver_break_connections : ki_apiserver_drop_watches)(server);
        usleep(20000);
    }
    CHECK(ki_apiserver_set_faults(server, NULL, &error) >= 0);
    CHECK(becomes(websites, READY ".message", "0 of 9 replicas ready"));
    CHECK(becomes(CONFIGS, PAGE, "b") && becomes(DEPLOYMENTS, "spec.replicas", "9"));
}

/* ---- running them ---- */

/* With a controller that has done its work for the Website "shop". What goes wrong then; NULL:
 * nothing. */
static void run(void (*test)(void), const char *faults)
{
    KI_AUTO(ki_client) client = NULL;
    CHECK(
        ki_apiserver_new(KI_OPTIONS(ki_apiserver_options, .seed = 1, .no_garbage_collection = true),
                         &server, &error) >= 0);
    CHECK(ki_apiserver_load_file(server, MANIFESTS "/crd.yaml", NULL, &error) >= 0);
    CHECK(ki_apiserver_load_file(server, MANIFESTS "/shop.yaml", NULL, &error) >= 0);
    CHECK(ki_apiserver_client(server, NULL, &client, &error) >= 0);
    CHECK(ki_manager_new(KI_OPTIONS(ki_manager_options, .name = MANAGER, .client = client),
                         &manager, &error) >= 0);
    CHECK(website_controller_add(&controller, manager, &error) >= 0);
    CHECK(ki_manager_start(manager, &error) >= 0);
    websites = controller.resource;
    CHECK(becomes(websites, READY ".message", "0 of 2 replicas ready"));
    CHECK(ki_apiserver_set_faults(server, faults, &error) >= 0);
    test();
    ki_manager_close(manager);
    website_controller_done(&controller);
    ki_apiserver_unref(server);
}

int main(void)
{
    run(maintains_children_and_status, NULL);
    run(sends_nothing_without_a_difference, NULL);
    run(restores_what_others_change, NULL);
    run(restores_what_others_change, "lag=200ms");
    run(deletes_children_before_the_website, "status=500,verb=delete,resource=configmaps");
    run(survives_all_faults_at_once, "status=500,rate=20%; cut=700,rate=20%; refuse,rate=5%; "
                                     "status=409,verb=patch,rate=20%; latency=5ms,rate=30%");
    return 0;
}

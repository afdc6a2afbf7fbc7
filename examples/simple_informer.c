/* SPDX-License-Identifier: Apache-2.0 */
/* An informer that is not shared: a queue, a store, one handler. Here the program itself acts as
 * the API server and puts the results of a list and a watch into the queue. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/simple_informer.h>

static void on_add(const ki_object *pod, bool is_initial, void *user)
{
    (void)user;
    printf("+ %s%s\n", ki_object_key(pod), is_initial ? " (initial)" : "");
}

static void on_update(const ki_object *old_pod, const ki_object *pod, void *user)
{
    (void)user;
    printf("~ %s %s -> %s\n", ki_object_key(pod), ki_object_resource_version(old_pod),
           ki_object_resource_version(pod));
}

static void on_delete(const ki_object *pod, bool final_state_unknown, void *user)
{
    (void)user;
    printf("- %s%s\n", ki_object_key(pod), final_state_unknown ? " (final state unknown)" : "");
}

static ki_object *pod(const char *name, const char *uid, int version)
{
    KI_AUTO(ki_json) json = NULL;
    ki_object *object = NULL;
    if (ki_json_new(NULL, &json, NULL) == 0) {
        ki_json_format(json, NULL,
                       "{kind: 'Pod', metadata: {namespace: 'shop', name: %s, uid: %s,"
                       " resourceVersion: '%d'}}",
                       name, uid, version);
        (void)(ki_json_object(json, &object, NULL) < 0); /* then NULL, which the queue refuses */
    }
    return object;
}

/* A list: the whole content. */
static int list(ki_queue *queue, ki_object *a, ki_object *b, const char *version, ki_error *error)
{
    const ki_object *objects[] = {a, b};
    ki_replacement all = {.objects = objects, .object_count = 2, .resource_version = version};
    int r = ki_queue_replace(queue, &all, error); /* the queue takes its own references */
    ki_object_unref(a);
    ki_object_unref(b);
    return r;
}

/* Applies all queued deltas to the store and delivers them to the handler. */
static int drain(ki_simple_informer *informer, ki_error *error)
{
    int r;
    do {
        r = ki_simple_informer_step(informer, false, error);
    } while (r > 0);
    return r;
}

static int run(ki_simple_informer *informer, ki_error *error)
{
    ki_queue *queue = ki_simple_informer_queue(informer);
    int r = list(queue, pod("web", "u1", 1), pod("db", "u2", 2), "3", error);
    if (r >= 0) {
        r = drain(informer, error);
    }
    printf("synced: %d\n", ki_simple_informer_has_synced(informer));
    ki_object *web = pod("web", "u1", 4); /* a watch event */
    if (r >= 0) {
        r = ki_queue_update(queue, web, error);
    }
    ki_object_unref(web);
    /* Then the connection was lost. Meanwhile db was deleted, and web was recreated. */
    if (r >= 0) {
        r = list(queue, pod("web", "u3", 7), pod("cache", "u4", 6), "8", error);
    }
    return r < 0 ? r : drain(informer, error);
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_simple_informer *informer = NULL;
    const ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};

    int r = ki_simple_informer_new(KI_OPTIONS(ki_simple_informer_options, .handler = &handler),
                                   &informer, &error);
    if (r >= 0) {
        r = run(informer, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_simple_informer_unref(informer);
    return r < 0 ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A controller that keeps two ConfigMaps under generated names, and never creates a third one,
 * although its cache lags behind its writes; then waits for a write of its own. */
#include <semaphore.h>
#include <stdio.h>

#include <kinformer/consistency.h>
#include <kinformer/kinformer.h>

enum { WANTED = 2 };

typedef struct program {
    ki_client *client;
    ki_informer *maps;
    ki_workqueue *queue;
    ki_consistency *consistency;
    ki_controller *controller;
    int created;
    sem_t done;
} program;

static int create(program *p, ki_object **ret_created, ki_error *error)
{
    static const char json[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                               "\"namespace\":\"shop\",\"generateName\":\"map-\"}}";
    ki_object *map = NULL;
    int r = ki_object_from_json(json, sizeof(json) - 1, NULL, &map, error);
    r = r < 0 ? r
              : ki_client_create(p->client, KI_CORE_V1_CONFIGMAPS, map, ret_created, NULL, error);
    ki_object_unref(map);
    return r;
}

static int reconcile(const char *key, uint64_t *retry_after_ms, ki_error *error, void *user)
{
    program *p = user;
    ki_list *cached = NULL;
    ki_object *created = NULL;
    int r = ki_informer_list(p->maps, "shop", NULL, &cached, error);
    size_t count = r < 0 ? 0 : ki_list_count(cached);
    ki_list_unref(cached);
    if (r < 0 || count >= WANTED) {
        sem_post(&p->done);
        return r;
    }
    r = create(p, &created, error);
    if (r >= 0) {
        p->created++;
        /* `key` is not reconciled before the cache has this version. */
        r = ki_consistency_wrote(p->consistency, p->maps, key, NULL,
                                 ki_object_resource_version(created));
    }
    ki_object_unref(created);
    *retry_after_ms = 1; /* at once: without the record, it would see the cache as it was */
    return r;
}

static int start(program *p, ki_error *error)
{
    int r = ki_client_new(NULL, &p->client, error);
    r = r < 0 ? r : ki_client_informer(p->client, KI_CORE_V1_CONFIGMAPS, NULL, &p->maps, error);
    r = r < 0 ? r : ki_workqueue_new(NULL, &p->queue, error);
    r = r < 0 ? r : ki_consistency_new(NULL, &p->consistency, error);
    r = r < 0 ? r : ki_consistency_add_informer(p->consistency, p->maps, error);
    if (r < 0) {
        return r;
    }
    ki_controller_options options = KI_OPTIONS_INIT(ki_controller_options);
    options.queue = p->queue;
    options.reconcile = reconcile;
    options.user = p;
    options.consistency = p->consistency;
    r = ki_controller_new(&options, &p->controller, error);
    r = r < 0 ? r : ki_controller_start(p->controller, p->client, 1, error);
    return r < 0 ? r : ki_workqueue_add(p->queue, "shop");
}

/* Outside of a controller: writes, and waits until the cache has it. */
static int write_and_read(program *p, ki_error *error)
{
    ki_object *created = NULL;
    int r = create(p, &created, error);
    r = r < 0
            ? r
            : ki_informer_wait_version(p->maps, ki_object_resource_version(created), 10000, error);
    if (r >= 0) {
        ki_object *cached = ki_informer_get(p->maps, "shop", ki_object_name(created));
        printf("cached: %s\n", cached != NULL ? "yes" : "no");
        ki_object_unref(cached);
    }
    ki_object_unref(created);
    return r;
}

int main(void)
{
    program p = {.created = 0};
    ki_error error = KI_ERROR_INIT;
    sem_init(&p.done, 0, 0);
    int r = start(&p, &error);
    if (r >= 0) {
        sem_wait(&p.done);
    }
    ki_controller_close(p.controller);
    printf("created: %d\n", p.created);
    r = r < 0 ? r : write_and_read(&p, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    }
    ki_consistency_unref(p.consistency);
    ki_workqueue_unref(p.queue);
    ki_informer_unref(p.maps);
    ki_client_close(p.client);
    return r < 0 ? 1 : 0;
}

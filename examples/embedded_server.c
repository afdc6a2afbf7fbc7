/* SPDX-License-Identifier: Apache-2.0 */
/* An API server inside the program, and an informer on it: the start of a test of your own code.
 * Prints the content of the cache, and a change that is delivered. */
#include <stdio.h>
#include <time.h>

#include <kinformer/apiserver.h>
#include <kinformer/kinformer.h>

static const char objects[] = "apiVersion: v1\n"
                              "kind: ConfigMap\n"
                              "metadata: {name: colours, namespace: shop}\n"
                              "data: {first: red}\n"
                              "---\n"
                              "apiVersion: v1\n"
                              "kind: ConfigMap\n"
                              "metadata: {name: sizes, namespace: shop}\n";

static int fail(const ki_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return 1;
}

static int watch_maps(ki_client *client, ki_apiserver *server, ki_error *error)
{
    ki_factory *factory = NULL;
    ki_informer *maps = NULL;
    int r = ki_client_factory(client, NULL, &factory, error);
    r = r < 0 ? r : ki_factory_informer(factory, KI_CORE_V1_CONFIGMAPS, NULL, &maps, error);
    r = r < 0 ? r : ki_factory_start(factory, error);
    r = r < 0 ? r : ki_factory_wait_for_sync(factory, 10000, error);
    if (r >= 0) {
        ki_object *map = ki_store_get(ki_informer_store(maps), "shop/colours");
        printf("the cache has %s\n", ki_object_key(map));
        ki_object_unref(map);
        r = ki_apiserver_delete(server, KI_CORE_V1_CONFIGMAPS, "shop", "colours", error);
    }
    for (int i = 0; r >= 0 && i < 1000; i++) { /* the change is delivered in a moment */
        ki_object *map = ki_store_get(ki_informer_store(maps), "shop/colours");
        if (map == NULL) {
            puts("deleted");
            break;
        }
        ki_object_unref(map);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    if (factory != NULL) {
        ki_factory_stop(factory);
    }
    ki_factory_unref(factory);
    return r;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    ki_apiserver *server = NULL;
    int r = ki_apiserver_new(NULL, &server, &error); /* 127.0.0.1, a port that is free */
    r = r < 0 ? r : ki_apiserver_load(server, ki_str_from(objects), NULL, &error);
    r = r < 0 ? r : ki_apiserver_client(server, NULL, &client, &error);
    r = r < 0 ? r : watch_maps(client, server, &error);
    (void)ki_client_close(client);
    ki_apiserver_unref(server);
    return r < 0 ? fail(&error) : 0;
}

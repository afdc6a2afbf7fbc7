/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the pods of a cluster: a client with the configuration of kubectl ($KUBECONFIG,
 * ~/.kube/config, or the service account of the pod it runs in), a factory, one informer with a
 * handler, and a list of the pods with a label. */
#include <stdio.h>

#include <kinformer/kinformer.h>

static void on_add(const ki_object *pod, bool is_initial, void *user)
{
    (void)is_initial;
    (void)user;
    printf("+ %s\n", ki_object_key(pod));
}

static void on_update(const ki_object *old_pod, const ki_object *pod, void *user)
{
    (void)old_pod;
    (void)user;
    printf("~ %s\n", ki_object_key(pod));
}

static void on_delete(const ki_object *pod, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    (void)user;
    printf("- %s\n", ki_object_key(pod));
}

static int print_web(ki_informer *pods, ki_error *error)
{
    ki_lister lister = ki_informer_lister(pods);
    ki_selector *selector = NULL;
    ki_list *web = NULL;
    int r = ki_selector_parse("app=web", NULL, &selector, error);
    if (r == 0) {
        r = ki_lister_list(&lister, "", selector, &web);
    }
    if (r == 0) {
        ki_list_sort(web);
        for (size_t i = 0; i < ki_list_count(web); i++) {
            printf("web: %s\n", ki_object_key(ki_list_at(web, i)));
        }
    }
    ki_list_unref(web);
    ki_selector_unref(selector);
    return r;
}

static int follow(ki_factory *factory, ki_error *error)
{
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_informer *pods = NULL;
    int r = ki_factory_informer(factory, KI_CORE_V1_PODS, NULL, &pods, error);
    if (r == 0) {
        r = ki_informer_add_handler(pods, &handler, NULL, NULL, error);
    }
    if (r == 0) {
        r = ki_factory_start(factory, error);
    }
    if (r == 0) {
        r = ki_factory_wait_for_sync(factory, 10000,
                                     error); /* the handler has received all initial objects */
    }
    return r == 0 ? print_web(pods, error) : r;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    ki_factory *factory = NULL;
    int r = ki_client_new(NULL, &client, &error);
    if (r == 0) {
        r = ki_client_factory(client, NULL, &factory, &error);
    }
    if (r == 0) {
        r = follow(factory, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_factory_unref(factory); /* stops its informers */
    ki_client_close(client);   /* and waits for the last of them, and the client's thread */
    return r < 0 ? 1 : 0;
}

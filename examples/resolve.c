/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the resource names on the command line with the rules of kubectl, on the server of
 * $KUBECONFIG, ~/.kube/config or a pod. */
#include <stdio.h>

#include <kinformer/discovery.h>
#include <kinformer/kinformer.h>

static int show(ki_client *client, const char *name)
{
    ki_error error = KI_ERROR_INIT;
    ki_resource *resource = NULL;
    int r = ki_client_resolve(client, name, &resource, &error);
    if (r < 0) {
        printf("%s: %s\n", name, error.message);
        return r;
    }
    printf("%s: %s in %s, kind %s, %s\n", name, ki_resource_name(resource),
           ki_resource_api_version(resource), ki_resource_kind(resource),
           ki_resource_is_namespaced(resource) ? "namespaced" : "cluster-scoped");
    ki_resource_unref(resource);
    return 0;
}

static int show_watchable(ki_client *client)
{
    ki_error error = KI_ERROR_INIT;
    ki_discovery *discovery = NULL;
    size_t watchable = 0;
    uint32_t verbs;
    int r = ki_client_discover(client, 60000, &discovery, &error); /* at most a minute old */
    if (r < 0) {
        printf("%s\n", error.message);
        return r;
    }
    for (size_t i = 0; ki_discovery_at(discovery, i, &verbs) != NULL; i++) {
        watchable += (verbs & KI_CAN_LIST) != 0 && (verbs & KI_CAN_WATCH) != 0;
    }
    printf("%zu resources, %zu can be watched\n", ki_discovery_count(discovery), watchable);
    for (size_t i = 0; ki_discovery_failure_at(discovery, i) != NULL; i++) {
        printf("discovery failed for %s\n", ki_discovery_failure_at(discovery, i));
    }
    ki_discovery_unref(discovery);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"po", "deployments.v1.apps", "Widget",
                                        "storageclass.storage", "deploi"};
    ki_error error = KI_ERROR_INIT;
    ki_client *client = NULL;
    if (ki_client_new(NULL, &client, &error) < 0) {
        printf("%s\n", error.message);
        return 1;
    }
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed += show(client, argv[i]) < 0;
    }
    for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++) {
        (void)show(client, usual[i]);
    }
    failed += show_watchable(client) < 0;
    ki_client_unref(client);
    return failed != 0;
}

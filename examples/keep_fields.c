/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of pods that keeps three fields of each: other fields never need memory, and reading one
 * is an error. */
#include <stdio.h>

#include <kinformer/kinformer.h>
#include <kinformer/projection.h>

enum { SYNC_MS = 30000 };

static void print_pod(const ki_object *pod)
{
    char node[64];
    ki_value image = ki_object_at(pod, "spec.containers[0].image");
    ki_str text;
    int r = ki_value_string(&image, &text);
    printf("%-8s app=%.*s node=%s image: %s\n", ki_object_name(pod),
           KI_STR_ARG(ki_object_label(pod, "app")),
           ki_object_string_or(pod, "spec.nodeName", "-", node, sizeof(node)), ki_error_name(r));
}

int main(void)
{
    KI_AUTO(ki_client) client = NULL;
    KI_AUTO(ki_informer) pods = NULL;
    KI_AUTO(ki_list) list = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.keep = ".spec.nodeName, .status.phase, .metadata.labels['app']";
    if (ki_client_new(NULL, &client, &error) < 0 ||
        ki_client_informer(client, KI_CORE_V1_PODS, &options, &pods, &error) < 0 ||
        ki_client_start(client, &error) < 0 ||
        ki_client_wait_for_sync(client, SYNC_MS, &error) < 0 ||
        ki_informer_list(pods, "shop", NULL, &list, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    ki_list_sort(list);
    KI_LIST_FOR_EACH (pod, list) {
        print_pod(pod);
    }
    return 0;
}

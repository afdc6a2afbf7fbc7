/* SPDX-License-Identifier: Apache-2.0 */
/* Lists pods of one namespace that match a label selector from the cache of an informer, and looks
 * up a pod that does not exist. */
#include <stdio.h>

#include <kinformer/kinds.h>
#include <kinformer/kinformer.h>

enum { SYNC_MS = 30000 };

static void print_pod(const ki_object *pod)
{
    char ready[32];
    (void)snprintf(ready, sizeof(ready), "%zu/%zu", ki_pod_ready_count(pod),
                   ki_pod_container_count(pod));
    ki_str phase = ki_pod_phase(pod);
    ki_str node = ki_pod_node_name(pod);
    if (node.len == 0) {
        node = ki_str_from("-");
    }
    printf("%-8s %-6s %-9.*s %-9lld %.*s\n", ki_object_name(pod), ready, KI_STR_ARG(phase),
           (long long)ki_pod_restarts(pod), KI_STR_ARG(node));
}

static int list_web(const ki_informer *pods, ki_error *error)
{
    printf("%-8s %-6s %-9s %-9s %s\n", "NAME", "READY", "STATUS", "RESTARTS", "NODE");
    /* lines: list app=web */
    KI_AUTO(ki_list) list = NULL;
    int r = ki_informer_list(pods, "shop", "app=web", &list, error);
    ki_list_sort(list);
    KI_LIST_FOR_EACH (pod, list) {
        print_pod(pod);
    }
    /* lines: end */
    return r;
}

int main(void)
{
    KI_AUTO(ki_client) client = NULL;
    KI_AUTO(ki_informer) pods = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : ki_client_informer(client, KI_CORE_V1_PODS, NULL, &pods, &error);
    r = r < 0 ? r : ki_client_start(client, &error);
    r = r < 0 ? r : ki_client_wait_for_sync(client, SYNC_MS, &error);
    r = r < 0 ? r : list_web(pods, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
        return 1;
    }
    KI_AUTO(ki_object) missing = ki_informer_get(pods, "shop", "web-3");
    printf("web-3 is %s\n", missing != NULL ? "there" : "not there");
    return 0;
}

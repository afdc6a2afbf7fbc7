/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the pods of one namespace that match a label selector, as a table, and reads one that does
 * not exist. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/parts/store_write.h>

static const char *const pods[] = {
    "{\"metadata\": {\"namespace\": \"shop\", \"name\": \"web-1\", \"labels\": {\"app\": \"web\"}},"
    " \"spec\": {\"nodeName\": \"node-7\", \"containers\": [{\"name\": \"main\"}]},"
    " \"status\": {\"phase\": \"Running\", \"podIP\": \"10.0.0.9\","
    " \"containerStatuses\": [{\"ready\": true, \"restartCount\": 2}]}}",
    "{\"metadata\": {\"namespace\": \"shop\", \"name\": \"web-2\", \"labels\": {\"app\": \"web\"}},"
    " \"spec\": {\"containers\": [{\"name\": \"main\"}]},"
    " \"status\": {\"phase\": \"Pending\"}}",
    "{\"metadata\": {\"namespace\": \"shop\", \"name\": \"db\", \"labels\": {\"app\": \"db\"}}}",
    "{\"metadata\": {\"namespace\": \"blog\", \"name\": \"web\", \"labels\": {\"app\": \"web\"}}}",
};

static int fill(ki_store *store, ki_error *error)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < sizeof(pods) / sizeof(pods[0]); i++) {
        ki_object *pod = NULL;
        r = ki_object_from_json(pods[i], strlen(pods[i]), NULL, &pod, error);
        if (r >= 0) {
            r = ki_store_add(store, pod, error);
        }
        ki_object_unref(pod);
    }
    return r;
}

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

static int print_list(const ki_lister *lister, const ki_selector *selector)
{
    ki_list *list = NULL;
    int r = ki_lister_list(lister, "shop", selector, &list);
    if (r < 0) {
        return r;
    }
    ki_list_sort(list);
    printf("%-8s %-6s %-9s %-9s %s\n", "NAME", "READY", "STATUS", "RESTARTS", "NODE");
    for (size_t i = 0; i < ki_list_count(list); i++) {
        print_pod(ki_list_at(list, i));
    }
    ki_list_unref(list);
    return 0;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_store *store = NULL;
    ki_selector *web = NULL;
    ki_index by_namespace = KI_OPTIONS_INIT(ki_index);
    const ki_index *const indexes[] = {&by_namespace};

    ki_index_by_namespace(&by_namespace);
    int r = ki_store_new(KI_OPTIONS(ki_store_options, .indexes = indexes, .index_count = 1), &store,
                         &error);
    if (r >= 0) {
        r = fill(store, &error);
    }
    if (r >= 0) {
        r = ki_selector_parse(ki_str_from("app=web"), NULL, &web, &error);
    }
    ki_lister lister = ki_lister_of(store, KI_CORE_V1_PODS);
    if (r >= 0) {
        r = print_list(&lister, web);
    }
    if (r >= 0) {
        ki_object *pod = NULL;
        r = ki_lister_get(&lister, "shop", "web-3", &pod, &error);
        if (r < 0 && ki_error_is_not_found(&error)) {
            printf("%s\n", error.message);
            r = 0;
        }
        ki_object_unref(pod);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }

    ki_selector_unref(web);
    ki_store_unref(store);
    return r < 0 ? 1 : 0;
}

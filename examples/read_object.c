/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pods from JSON, stores them, and prints the images of those that match a label selector. */
#include <stdio.h>
#include <string.h>

#include <kinformer/kinformer.h>
#include <kinformer/parts/store_write.h>

static const char *const pods[] = {
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\","
    " \"metadata\": {\"namespace\": \"shop\", \"name\": \"web\", \"labels\": {\"tier\": "
    "\"front\"}},"
    " \"spec\": {\"containers\": [{\"name\": \"main\", \"image\": \"nginx:1.27\"}]}}",
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\","
    " \"metadata\": {\"namespace\": \"shop\", \"name\": \"db\", \"labels\": {\"tier\": \"back\"}},"
    " \"spec\": {\"containers\": [{\"name\": \"main\", \"image\": \"postgres:17\"}]}}",
};

static int add(ki_store *store, const char *json, ki_error *error)
{
    ki_object *pod = NULL;
    int r = ki_object_from_json(json, strlen(json), NULL, &pod, error);
    if (r >= 0) {
        r = ki_store_add(store, pod, error); /* the store takes a reference of its own */
    }
    ki_object_unref(pod);
    return r;
}

static void print_images(ki_store *store, const ki_selector *selector)
{
    ki_snapshot *snapshot = ki_store_snapshot(store); /* one state; does not block writers */
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *pod;
    char image[128];
    while (ki_snapshot_iter_next(&iter, &pod) > 0) {
        if (ki_selector_matches(selector, pod)) {
            printf("%s of tier %.*s runs %s\n", ki_object_key(pod),
                   KI_STR_ARG(ki_object_label(pod, "tier")),
                   ki_object_string_or(pod, "spec.containers[0].image", "nothing", image,
                                       sizeof(image)));
        }
    }
    ki_snapshot_unref(snapshot);
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_store *store = NULL;
    ki_selector *front = NULL;

    int r = ki_store_new(NULL, &store, &error);
    for (size_t i = 0; r >= 0 && i < sizeof(pods) / sizeof(pods[0]); i++) {
        r = add(store, pods[i], &error);
    }
    if (r >= 0) {
        r = ki_selector_parse("tier in (front, edge)", NULL, &front, &error);
    }
    if (r >= 0) {
        print_images(store, front);
    } else {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }

    ki_selector_unref(front);
    ki_store_unref(store);
    return r < 0 ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pod from protobuf as an API server sends it, with the same functions as for JSON: here a
 * time, a quantity and a filter. */
#include <stdio.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/kinformer.h>

static const char json[] =
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\","
    " \"metadata\": {\"namespace\": \"shop\", \"name\": \"web\","
    "              \"creationTimestamp\": \"2026-01-31T12:00:00Z\"},"
    " \"spec\": {\"nodeName\": \"node-1\", \"containers\": [{\"name\": \"main\", \"resources\":"
    "          {\"limits\": {\"memory\": \"256Mi\"}}}]},"
    " \"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}";

/* Stands in for the server: the same pod as protobuf. */
static int make_protobuf(ki_buf *out, ki_error *error)
{
    ki_object *pod = NULL;
    int r = ki_object_from_json(json, strlen(json), NULL, &pod, error);
    if (r >= 0) {
        r = ki_object_write_protobuf(pod, out, error);
    }
    ki_object_unref(pod);
    return r;
}

static void print(const ki_object *pod, const char *path)
{
    char text[128];
    printf("%s: %s\n", path, ki_object_string_or(pod, path, "none", text, sizeof(text)));
}

int main(void)
{
    static const char *const paths[] = {
        ".kind",
        ".metadata.creationTimestamp",
        ".spec.nodeName",
        ".spec.containers[0].resources.limits.memory",
        ".status.conditions[?(@.type==\"Ready\")].status",
    };
    ki_error error = KI_ERROR_INIT;
    ki_object *pod = NULL;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);

    int r = make_protobuf(&bytes, &error);
    if (r >= 0) {
        r = ki_object_from_protobuf(bytes.data, bytes.len, NULL, &pod, &error);
    }
    for (size_t i = 0; r >= 0 && i < sizeof(paths) / sizeof(paths[0]); i++) {
        print(pod, paths[i]);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }

    ki_object_unref(pod);
    ki_buf_done(&bytes);
    return r < 0 ? 1 : 0;
}

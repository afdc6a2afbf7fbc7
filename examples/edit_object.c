/* SPDX-License-Identifier: Apache-2.0 */
/* Changes objects: changes of a controller to its custom resource, as patches for
 * ki_client_patch(). */
#include <stdio.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/diff.h>
#include <kinformer/encoding.h>
#include <kinformer/kinformer.h>
#include <kinformer/merge.h>

static const char website[] =
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Website\",\"metadata\":{\"name\":\"shop\","
    "\"namespace\":\"web\",\"uid\":\"11\",\"resourceVersion\":\"5\",\"generation\":2},"
    "\"spec\":{\"replicas\":3}}";

/* Prevents deletion until the controller has cleaned up. The patch replaces the list of finalizers,
 * so it must fail if another client has changed the list. */
static int adopt(const ki_object *object, ki_buf *patch, ki_error *error)
{
    ki_edit *edit = NULL;
    int r = ki_edit_new(object, KI_OPTIONS(ki_edit_options, .lock_version = true), &edit, error);
    if (r == 0) {
        ki_edit_add_finalizer(edit, "example.com/cleanup");
        ki_edit_set_label(edit, "example.com/managed", "true");
        r = ki_edit_merge_patch(edit, patch, error);
    }
    ki_edit_unref(edit);
    return r; /* 0 if there is nothing to send */
}

/* A patch of the subresource "status". */
static int report_ready(const ki_object *object, int64_t now_ns, ki_buf *patch, ki_error *error)
{
    ki_edit *edit = NULL;
    int r = ki_edit_new(object, NULL, &edit, error);
    if (r == 0) {
        ki_edit_set_int64(edit, "status.readyReplicas", 3);
        ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "Ready", .status = "True",
                                               .reason = "Deployed", .message = "3 of 3 ready",
                                               .transition_time_ns = now_ns));
        r = ki_edit_json_patch(edit, patch, error);
    }
    ki_edit_unref(edit);
    return r;
}

/* A new object owned by the website. */
static int make_config(const ki_object *owner, ki_object **ret_object, ki_error *error)
{
    ki_edit *edit = NULL;
    int r = ki_edit_new(NULL, NULL, &edit, error);
    if (r == 0) {
        ki_edit_set_string(edit, "apiVersion", "v1");
        ki_edit_set_string(edit, "kind", "ConfigMap");
        ki_edit_set_string(edit, "metadata.name", ki_object_name(owner));
        ki_edit_set_string(edit, "metadata.namespace", ki_object_namespace(owner));
        ki_edit_add_owner(edit, owner, true);
        ki_edit_set_string(edit, "data['index.html']", "<h1>\"Shop\"</h1>");
        r = ki_edit_object(edit, ret_object, error);
    }
    ki_edit_unref(edit);
    return r;
}

static void print_changes(const ki_object *before, const ki_object *after, ki_error *error)
{
    static const char *const signs[] = {"+", "-", "~"};
    ki_diff *diff = NULL;
    if (ki_object_diff(before, after, NULL, &diff, error) == 0) {
        for (size_t i = 0; i < ki_diff_count(diff); i++) {
            const ki_diff_change *change = ki_diff_at(diff, i);
            printf("%s %s\n", signs[change->type], change->path);
        }
    }
    ki_diff_unref(diff);
}

static int run(const ki_object *object, ki_buf *patch, ki_error *error)
{
    ki_object *adopted = NULL;
    ki_object *config = NULL;
    int r = adopt(object, patch, error);
    if (r > 0) {
        printf("merge patch: %s\n", ki_buf_text(patch));
        r = ki_object_merge(object, KI_PATCH_MERGE, ki_buf_str(patch), NULL, &adopted, error);
    }
    if (r == 0) {
        print_changes(object, adopted, error);
        ki_buf_clear(patch);
        r = report_ready(object, INT64_C(1800000000000000000), patch, error);
    }
    if (r > 0) {
        printf("JSON patch: %s\n", ki_buf_text(patch));
        r = make_config(object, &config, error);
    }
    if (r == 0) {
        printf("object: %.*s\n", KI_STR_ARG(ki_object_bytes(config)));
    }
    ki_object_unref(adopted);
    ki_object_unref(config);
    return r;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_buf patch;
    ki_buf_init(&patch, NULL, 1 << 20);
    int r = ki_object_from_json(website, strlen(website), NULL, &object, &error);
    if (r == 0) {
        r = run(object, &patch, &error);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_object_unref(object);
    ki_buf_done(&patch);
    return r < 0 ? 1 : 0;
}

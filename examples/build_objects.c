/* SPDX-License-Identifier: Apache-2.0 */
/* Builds objects: a ConfigMap that another object owns, call by call, a Deployment from one format,
 * and a patch of a status. Labels of the owner are copied, whatever encoding it has. */
#include <stdio.h>

#include <kinformer/encoding.h>
#include <kinformer/kinformer.h>
#include <kinformer/time.h>

static const char website_json[] =
    "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Website\",\"metadata\":{\"name\":\"shop\","
    "\"namespace\":\"web\",\"uid\":\"7c0e\",\"labels\":{\"team\":\"red\"}}}";

static int make_config_map(ki_json *j, const ki_object *website, ki_object **ret_object,
                           ki_error *error)
{
    ki_value labels = ki_object_labels(website);
    ki_json_begin_map(j, NULL);
    ki_json_string(j, "apiVersion", "v1");
    ki_json_string(j, "kind", "ConfigMap");
    ki_json_begin_map(j, "metadata");
    ki_json_string(j, "name", ki_object_name(website));
    ki_json_string(j, "namespace", ki_object_namespace(website));
    ki_json_value(j, "labels", &labels);
    ki_json_begin_list(j, "ownerReferences");
    ki_json_owner_reference(j, website, true);
    ki_json_end(j);
    ki_json_end(j);
    ki_json_begin_map(j, "data");
    ki_json_string(j, "motto", "Fish & \"chips\"");
    ki_json_end(j);
    ki_json_end(j);
    return ki_json_object(j, ret_object, error); /* reports the first error of all calls */
}

static int make_deployment(ki_json *j, const ki_object *website, int replicas,
                           ki_object **ret_object, ki_error *error)
{
    const char *name = ki_object_name(website);
    ki_json_format(j, NULL,
                   "{apiVersion: 'apps/v1', kind: 'Deployment',"
                   " metadata: {name: '%s-web', namespace: %s, labels: {app: %s}},"
                   " spec: {replicas: %d, selector: {matchLabels: {app: %s}},"
                   "        template: {metadata: {labels: {app: %s}},"
                   "                   spec: {containers: [{name: 'web', image: 'nginx:1.27'}]}}}}",
                   name, ki_object_namespace(website), name, replicas, name, name);
    return ki_json_object(j, ret_object, error);
}

static int make_status_patch(ki_json *j, bool ready, int64_t now_ns, ki_str *ret_patch,
                             ki_error *error)
{
    ki_json_begin_map(j, NULL);
    ki_json_begin_map(j, "status");
    ki_json_begin_list(j, "conditions");
    ki_json_begin_map(j, NULL);
    ki_json_string(j, "type", "Ready");
    ki_json_string(j, "status", ready ? "True" : "False");
    ki_json_time(j, "lastTransitionTime", now_ns);
    ki_json_end(j);
    ki_json_end(j);
    ki_json_end(j);
    ki_json_end(j);
    return ki_json_text(j, ret_patch, error);
}

static int print_and_release(ki_object *object)
{
    printf("%s %s: %.*s\n", ki_object_kind(object), ki_object_key(object),
           KI_STR_ARG(ki_object_bytes(object)));
    ki_object_unref(object);
    return 0;
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *website = NULL;
    ki_object *made = NULL;
    ki_json *j = NULL;
    ki_str patch;
    int r = ki_object_from_json(website_json, sizeof(website_json) - 1, NULL, &website, &error);
    r = r < 0 ? r : ki_json_new(NULL, &j, &error);
    r = r < 0 ? r : make_config_map(j, website, &made, &error);
    r = r < 0 ? r : print_and_release(made);
    ki_json_reset(j);
    r = r < 0 ? r : make_deployment(j, website, 3, &made, &error);
    r = r < 0 ? r : print_and_release(made);
    ki_json_reset(j);
    /* A fixed time, so that the output is; ki_clock_now_ns(NULL) is the current one. */
    r = r < 0 ? r : make_status_patch(j, true, INT64_C(1769860800000000000), &patch, &error);
    if (r < 0) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("patch: %s\n", patch.ptr);
    }
    ki_json_unref(j);
    ki_object_unref(website);
    return r < 0;
}

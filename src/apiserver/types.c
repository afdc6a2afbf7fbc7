/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources there are and how they are served. The built-in ones are found in the tables of
 * object/ when a request first names them; what else they need stands here. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/model.h"
#include "base/alloc.h"

#define TYPES_MAX 1024

/* Built-in resources with a status of its own, whatever the version; and which count changes. */
static const struct served {
    const char *group;
    const char *name;
    bool has_generation;
} with_status[] = {
    {"", "namespaces", false},
    {"", "nodes", false},
    {"", "persistentvolumeclaims", false},
    {"", "persistentvolumes", false},
    {"", "pods", true},
    {"", "replicationcontrollers", true},
    {"", "resourcequotas", false},
    {"", "services", false},
    {"apiextensions.k8s.io", "customresourcedefinitions", true},
    {"apiregistration.k8s.io", "apiservices", false},
    {"apps", "daemonsets", true},
    {"apps", "deployments", true},
    {"apps", "replicasets", true},
    {"apps", "statefulsets", true},
    {"autoscaling", "horizontalpodautoscalers", false},
    {"batch", "cronjobs", true},
    {"batch", "jobs", true},
    {"certificates.k8s.io", "certificatesigningrequests", false},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", true},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", true},
    {"networking.k8s.io", "ingresses", true},
    {"networking.k8s.io", "servicecidrs", false},
    {"policy", "poddisruptionbudgets", true},
    {"resource.k8s.io", "resourceclaims", false},
    {"storage.k8s.io", "volumeattachments", false},
};

static ki__api_type_options builtin_options(const ki_resource *resource)
{
    ki__api_type_options options = {.any_field = true};
    for (size_t i = 0; i < sizeof(with_status) / sizeof(with_status[0]); i++) {
        if (strcmp(with_status[i].group, ki_resource_group(resource)) == 0 &&
            strcmp(with_status[i].name, ki_resource_name(resource)) == 0) {
            options.has_status = true;
            options.has_generation = with_status[i].has_generation;
        }
    }
    return options;
}

static ki__api_type *find(const ki__api_model *model, const char *group, const char *version,
                          const char *name)
{
    for (size_t i = 0; i < model->type_count; i++) {
        const ki_resource *resource = model->types[i]->resource;
        if (strcmp(ki_resource_name(resource), name) == 0 &&
            strcmp(ki_resource_group(resource), group) == 0 &&
            strcmp(ki_resource_version(resource), version) == 0) {
            return model->types[i];
        }
    }
    return NULL;
}

static int add(ki__api_model *model, const ki_resource *resource,
               const ki__api_type_options *options, ki__api_type **ret_type)
{
    if (model->type_count == TYPES_MAX) {
        return KI_ERR_LIMIT;
    }
    void *types = model->types;
    int r = ki__array_reserve(model->alloc, &types, &model->type_cap, model->type_count + 1,
                              sizeof(*model->types));
    model->types = types;
    ki__api_type *type = r == 0 ? ki__alloc_zero(model->alloc, sizeof(*type)) : NULL;
    if (type == NULL) {
        return -ENOMEM;
    }
    type->resource = ki_resource_ref(resource);
    type->options = *options;
    type->builtin = ki_resource_builtin(ki_resource_group(resource), ki_resource_version(resource),
                                        ki_resource_name(resource)) == resource;
    model->types[model->type_count++] = type;
    *ret_type = type;
    return 0;
}

int ki__api_model_register(ki__api_model *model, const ki_resource *resource,
                           const ki__api_type_options *options)
{
    ki__api_type *type = find(model, ki_resource_group(resource), ki_resource_version(resource),
                              ki_resource_name(resource));
    if (type == NULL) {
        return add(model, resource, options, &type);
    }
    if (type->resource != resource) {
        return KI_ERR_EXISTS;
    }
    type->options = *options;
    return 0;
}

int ki__api_model_type(ki__api_model *model, const char *group, const char *version,
                       const char *name, ki__api_type **ret_type)
{
    ki__api_type *type = find(model, group, version, name);
    if (type != NULL) {
        *ret_type = type;
        return 0;
    }
    const ki_resource *resource = ki_resource_builtin(group, version, name);
    if (resource == NULL) {
        return KI_ERR_NOT_FOUND;
    }
    ki__api_type_options options = builtin_options(resource);
    return add(model, resource, &options, ret_type);
}

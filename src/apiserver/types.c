/* SPDX-License-Identifier: Apache-2.0 */
/* The served resources and their options. Built-in resources are looked up in the tables of object/
 * on first use; their options are defined here. */
#include <errno.h>

#include <kinformer/error.h>
#include <kinformer/resource_table.h>

#include "apiserver/model.h"
#include "base/alloc.h"
#include "object/value.h"

#define TYPES_MAX 1024

/* Built-in resources with a status subresource, in any version, and whether they have a
 * generation. */
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

static bool is_scalable(const ki_resource *resource)
{
    static const char *const names[] = {"deployments", "replicasets", "statefulsets"};
    const char *name = ki_resource_name(resource);
    if (strcmp(ki_resource_group(resource), "apps") != 0) {
        return ki_resource_group(resource)[0] == '\0' &&
               strcmp(name, "replicationcontrollers") == 0;
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

ki__api_type_options ki__api_builtin_options(const ki_resource *resource)
{
    ki__api_type_options options = {.any_field = true, .has_scale = is_scalable(resource)};
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
        if (!model->types[i]->removed && strcmp(ki_resource_name(resource), name) == 0 &&
            strcmp(ki_resource_group(resource), group) == 0 &&
            strcmp(ki_resource_version(resource), version) == 0) {
            return model->types[i];
        }
    }
    return NULL;
}

/* A slot for one more type: that of a removed one without history, or a new one. */
static int find_place(ki__api_model *model, ki__api_type **ret_type)
{
    for (size_t i = 0; i < model->type_count; i++) {
        ki__api_type *type = model->types[i];
        if (type->removed && type->count == 0) {
            ki_resource_unref(type->resource);
            ki_object_unref(type->definition);
            ki__structural_free(type->schema);
            ki__free(model->alloc, type->keys);
            *type = (ki__api_type){0};
            *ret_type = type;
            return 0;
        }
    }
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
    model->types[model->type_count++] = type;
    *ret_type = type;
    return 0;
}

static int add(ki__api_model *model, const ki_resource *resource,
               const ki__api_type_options *options, ki__api_type **ret_type)
{
    ki__api_type *type;
    int r = find_place(model, &type);
    if (r < 0) {
        return r;
    }
    type->resource = ki_resource_ref(resource);
    type->options = *options;
    type->store = type;
    type->builtin = ki_resource_builtin(ki_resource_group(resource), ki_resource_version(resource),
                                        ki_resource_name(resource)) == resource;
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
    if (type != NULL && type->unserved) {
        return KI_ERR_NOT_FOUND;
    }
    if (type != NULL) {
        *ret_type = type;
        return 0;
    }
    const ki_resource *resource = ki_resource_builtin(group, version, name);
    if (resource == NULL) {
        return KI_ERR_NOT_FOUND;
    }
    ki__api_type_options options = ki__api_builtin_options(resource);
    return add(model, resource, &options, ret_type);
}

/* ---- custom resources ---- */

/* Compiles the schema that validates objects of a type. */
static int read_schema(const ki__api_model *model, ki__api_type *type)
{
    ki_value source;
    ki__structural *schema = NULL;
    int r = ki__api_type_schema(type, &source)
                ? ki__structural_new(type->definition, &source, model->alloc, &schema)
                : 0;
    if (r == 0) {
        ki__structural_free(type->schema);
        type->schema = schema;
    }
    return r;
}

int ki__api_model_define(ki__api_model *model, const ki_resource *resource,
                         const ki__api_type_options *options, ki_object *definition,
                         ki__api_type *store, ki__api_type **ret_type)
{
    ki__api_type *type = find(model, ki_resource_group(resource), ki_resource_version(resource),
                              ki_resource_name(resource));
    if (type == NULL) {
        int r = add(model, resource, options, &type);
        if (r < 0) {
            return r;
        }
        type->store = store != NULL ? store : type;
    } else {
        ki_resource_unref(type->resource);
        type->resource = ki_resource_ref(resource);
        type->options = *options;
    }
    ki_object_unref(type->definition);
    type->definition = ki_object_ref(definition);
    *ret_type = type;
    return read_schema(model, type);
}

bool ki__api_type_version(const ki__api_type *type, ki_value *ret_version)
{
    if (type->definition == NULL) {
        return false;
    }
    ki_value root = ki_object_root(type->definition);
    ki_value spec = ki__value_child(&root, "spec");
    ki_value versions = ki__value_child(&spec, "versions");
    ki_value_iter iter;
    if (ki_value_iter_begin(&versions, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, ret_version) > 0) {
        ki_value name = ki__value_child(ret_version, "name");
        if (ki_value_equals(&name, ki_str_from(ki_resource_version(type->resource)))) {
            return true;
        }
    }
    return false;
}

bool ki__api_type_categories(const ki__api_type *type, ki_value *ret_categories)
{
    if (type->definition == NULL) {
        return false;
    }
    ki_value root = ki_object_root(type->definition);
    ki_value spec = ki__value_child(&root, "spec");
    ki_value names = ki__value_child(&spec, "names");
    *ret_categories = ki__value_child(&names, "categories");
    return ki_value_type(ret_categories) != KI_TYPE_NONE;
}

bool ki__api_type_schema(const ki__api_type *type, ki_value *ret_schema)
{
    ki_value version;
    if (!ki__api_type_version(type, &version)) {
        return false;
    }
    ki_value schema = ki__value_child(&version, "schema");
    *ret_schema = ki__value_child(&schema, "openAPIV3Schema");
    return ki_value_type(ret_schema) != KI_TYPE_NONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The namespace controller and admission of a real cluster, executed synchronously within the
 * request. */
#include "apiserver/verbs/namespaces.h"

#include <errno.h>

#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/write_common.h"

static int namespaces(ki__api_model *model, ki__api_type **ret_type)
{
    return ki__api_model_type(model, "", "v1", "namespaces", ret_type);
}

static int create_one(ki__api_model *model, ki__api_type *type, const char *name)
{
    static const char empty[] = "{\"spec\":{\"finalizers\":[\"kubernetes\"]},"
                                "\"status\":{\"phase\":\"Active\"}}";
    char uid[KI__API_UID_SIZE];
    ki_object *body;
    ki_object_options options = {.size = sizeof(options), .alloc = model->alloc};
    if (ki__api_model_get(type, ki_str_from(name), model->head) != NULL) {
        return 0; /* an earlier call got this far */
    }
    int r = ki_object_from_json(empty, sizeof(empty) - 1, &options, &body, NULL);
    if (r < 0) {
        return r;
    }
    r = ki__api_make_uid(model, uid);
    const ki__api_parts parts = {
        .type = type,
        .name = name,
        .name_space = "",
        .uid = uid,
        .rv = model->head + 1,
        .creation = ki__api_model_seconds(model),
        .metadata = body,
        .content = body,
        .status = body,
    };
    ki_object *object = NULL;
    r = r < 0 ? r : ki__api_compose(model, &parts, &object);
    r = r < 0 ? r : ki__api_model_write(model, type, ki_str_from(name), KI__API_ADDED, object);
    ki_object_unref(object);
    ki_object_unref(body);
    return r;
}

int ki__api_namespaces_create(ki__api_model *model)
{
    static const char *const names[] = {"default", "kube-node-lease", "kube-public", "kube-system"};
    if (!model->options.namespaces || model->namespaces_made) {
        return 0;
    }
    ki__api_type *type;
    int r = namespaces(model, &type);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++) {
        r = create_one(model, type, names[i]);
    }
    model->namespaces_made = r == 0;
    return r;
}

bool ki__api_namespaces_is_namespace(const ki__api_model *model, const ki__api_type *type)
{
    return model->options.namespaces && ki_resource_group(type->resource)[0] == '\0' &&
           strcmp(ki_resource_name(type->resource), "namespaces") == 0;
}

int ki__api_namespaces_check(ki__api_model *model, const ki__api_type *type, const char *name,
                             const char *name_space, ki__api_failure *failure)
{
    if (!model->options.namespaces || name_space[0] == '\0') {
        return 0;
    }
    ki__api_type *spaces;
    int r = namespaces(model, &spaces);
    if (r < 0) {
        return r;
    }
    const ki_object *space = ki__api_model_get(spaces, ki_str_from(name_space), model->head);
    if (space == NULL) {
        return ki__api_fail_not_found(failure, spaces, name_space);
    }
    if (!ki_object_is_deleting(space)) {
        return 0;
    }
    r = ki__api_fail(failure, 403, KI_REASON_FORBIDDEN, ki_resource_name(type->resource), " \"",
                     name, "\" is forbidden: the namespace ", name_space, " is being deleted",
                     NULL);
    failure->name = name;
    failure->group = ki_resource_group(type->resource);
    failure->kind = ki_resource_name(type->resource);
    failure->causes[0] = (ki__api_cause){"NamespaceTerminating", "the namespace is being deleted",
                                         "metadata.namespace"};
    failure->cause_count = 1;
    return r;
}

static bool is_within(ki_str key, ki_str name_space)
{
    return key.len > name_space.len && key.ptr[name_space.len] == '/' &&
           memcmp(key.ptr, name_space.ptr, name_space.len) == 0;
}

/* Deletes the objects of one resource in a namespace. Sets *left if some wait for finalizers. */
static int sweep_type(ki__api_model *model, ki__api_type *type, ki_str name_space, bool *left)
{
    int r = 0;
    for (size_t i = 0; i < type->count && r == 0;) {
        ki__api_key *key = type->keys[i];
        ki_object *object = ki__api_key_at(key, model->head);
        size_t count = type->count;
        bool gone = true;
        if (object != NULL && is_within(ki__api_key_text(key), name_space)) {
            ki_object *now = NULL;
            ki_object_ref(object);
            r = ki__api_delete_object(model, type, object, KI__API_POLICY_UNSAID, &now, &gone);
            ki_object_unref(now);
            ki_object_unref(object);
            *left = *left || !gone;
        }
        /* A write may have dropped expired keys: restart, with less to do. */
        i = type->count < count ? 0 : i + 1;
    }
    return r;
}

int ki__api_namespaces_sweep(ki__api_model *model, const char *name_space)
{
    ki__api_type *spaces;
    if (!model->options.namespaces || name_space[0] == '\0') {
        return 0;
    }
    int r = namespaces(model, &spaces);
    ki_object *space =
        r == 0 ? ki__api_model_get(spaces, ki_str_from(name_space), model->head) : NULL;
    if (r < 0 || space == NULL || !ki_object_is_deleting(space)) {
        return r;
    }
    bool left = ki__api_has_finalizers(space);
    ki_object_ref(space);
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        if (ki_resource_is_namespaced(model->types[i]->resource)) {
            r = sweep_type(model, model->types[i], ki_str_from(name_space), &left);
        }
    }
    if (r == 0 && !left) {
        r = ki__api_remove(model, spaces, space, NULL);
    }
    ki_object_unref(space);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE of one object, and of a collection. */
#include <errno.h>

#include "apiserver/encode.h"
#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/namespaces.h"
#include "apiserver/verbs/write_common.h"
#include "object/value.h"

/* Whether a precondition of the DeleteOptions holds; an absent one does. */
static bool holds(const ki_object *options, const char *name, const char *actual)
{
    ki_value root = ki_object_root(options);
    ki_value conditions = ki__value_child(&root, "preconditions");
    ki_value wanted = ki__value_child(&conditions, name);
    ki_type type = ki_value_type(&wanted);
    return type == KI_TYPE_NONE || type == KI_TYPE_NULL ||
           ki_value_equals(&wanted, ki_str_from(actual));
}

static bool is_dry_run(const ki_object *options)
{
    ki_value root = ki_object_root(options);
    ki_value list = ki__value_child(&root, "dryRun");
    ki_value first;
    return ki_value_element(&list, 0, &first) == 0 && ki_value_equals(&first, ki_str_from("All"));
}

static int check_options(ki__api_exchange *x, const ki_object *options, const ki_object *object)
{
    const char *why = !holds(options, "uid", ki_object_uid(object))
                          ? "uid does not match the precondition"
                      : !holds(options, "resourceVersion", ki_object_resource_version(object))
                          ? "resourceVersion does not match the precondition"
                          : NULL;
    if (why == NULL) {
        return 0;
    }
    int r = ki__api_fail_conflict(&x->failure, x->type, x->route.name, why);
    x->failure.kind = ki_resource_kind(x->type->resource); /* as in kube-apiserver */
    return r;
}

/* Builds the response first, since nothing may fail after the deletion. */
static int respond_gone(ki__api_exchange *x, const ki_object *object)
{
    ki_buf status;
    ki_buf_init(&status, x->alloc, KI__API_TARGET_MAX);
    int r = ki__api_success_write(x->type, object, &status);
    r = r < 0 ? r : ki__api_encode_json(x, ki_buf_str(&status));
    ki_buf_done(&status);
    if (r == 0) {
        x->status = 200;
        x->stage = KI__API_STAGE_TEXT;
    }
    return r;
}

static int fail_policy(ki__api_exchange *x, const char *policy, bool both)
{
    ki__api_name_options(x);
    int r = both ? ki__invalid_add_text(
                       &x->invalid, KI__INVALID_VALUE, "propagationPolicy", ki_str_from(policy),
                       "orphanDependents and deletionPropagation cannot be both set")
                 : ki__invalid_add_text(&x->invalid, KI__INVALID_NOT_SUPPORTED, "propagationPolicy",
                                        ki_str_from(policy),
                                        "supported values: \"Foreground\", \"Background\", "
                                        "\"Orphan\", \"nil\"");
    return r < 0 ? r : ki__invalid_fail(&x->invalid, &x->failure, NULL, "");
}

/* The propagation policy: from the body, otherwise from the query. */
static int read_policy(ki__api_exchange *x, const ki_object *options, ki__api_policy *ret_policy)
{
    static const char *const names[] = {
        [KI__API_POLICY_BACKGROUND] = "Background",
        [KI__API_POLICY_FOREGROUND] = "Foreground",
        [KI__API_POLICY_ORPHAN] = "Orphan",
    };
    char policy[64] = "";
    ki__api_flag orphan = options == NULL ? x->route.orphan_dependents : KI__API_UNSET;
    if (options != NULL) {
        ki_value root = ki_object_root(options);
        ki_value text = ki__value_child(&root, "propagationPolicy");
        ki_value flag = ki__value_child(&root, "orphanDependents");
        bool value = false;
        if (ki_value_type(&text) == KI_TYPE_STRING &&
            ki_value_get_string(&text, policy, sizeof(policy)) < 0) {
            policy[0] = '?'; /* longer than any policy */
        }
        if (ki_value_bool(&flag, &value) == 0) {
            orphan = value ? KI__API_TRUE : KI__API_FALSE;
        }
    } else {
        size_t len = strlen(x->route.propagation);
        memcpy(policy, len < sizeof(policy) ? x->route.propagation : "?",
               len < sizeof(policy) ? len + 1 : 2);
    }
    *ret_policy = orphan == KI__API_TRUE    ? KI__API_POLICY_ORPHAN
                  : orphan == KI__API_FALSE ? KI__API_POLICY_BACKGROUND
                                            : KI__API_POLICY_UNSAID;
    if (policy[0] == '\0') {
        return 0;
    }
    for (size_t i = KI__API_POLICY_BACKGROUND; i <= KI__API_POLICY_ORPHAN; i++) {
        if (strcmp(names[i], policy) == 0 && orphan == KI__API_UNSET) {
            *ret_policy = (ki__api_policy)i;
            return 0;
        }
    }
    return fail_policy(x, policy, orphan != KI__API_UNSET);
}

static int delete_one(ki__api_exchange *x, ki_object *object, ki__api_policy policy, bool dry_run)
{
    if (dry_run) {
        return respond_gone(x, object);
    }
    bool gone;
    ki_object *now = NULL;
    bool waits = ki__api_deletion_is_deferred(x->model, x->type, object, policy);
    int r = waits ? 0 : respond_gone(x, object);
    r = r < 0 ? r : ki__api_delete_object(x->model, x->type, object, policy, &now, &gone);
    if (r < 0) {
        return ki__api_fail_write(x, r);
    }
    if (waits) {
        r = ki__api_respond_object(x, 200, now);
    }
    ki_object_unref(now);
    return r;
}

int ki__api_do_delete(ki__api_exchange *x)
{
    ki_object *options;
    ki_object *object = NULL;
    bool dry_run = false;
    ki__api_policy policy = KI__API_POLICY_UNSAID;
    int r = ki__api_read_body(x, true, &options);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_read_dry_run(x, &dry_run);
    r = r < 0 || x->failure.code != 0 ? r : read_policy(x, options, &policy);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_find_target(x, &object);
    if (r == 0 && x->failure.code == 0 && options != NULL) {
        r = check_options(x, options, object);
        dry_run = dry_run || is_dry_run(options);
    }
    ki_object_unref(options);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    ki_object_ref(object); /* the write may drop it from the history */
    r = delete_one(x, object, policy, dry_run);
    ki_object_unref(object);
    if (r == 0 && x->failure.code == 0 && !dry_run) {
        bool is_namespace = ki__api_namespaces_is_namespace(x->model, x->type);
        r = ki__api_namespaces_sweep(x->model, is_namespace ? x->route.name : x->route.name_space);
    }
    return r;
}

/* Deletes list items one by one, and replaces each by its new state. */
static int delete_items(ki__api_exchange *x, ki__api_policy policy)
{
    int r = 0;
    for (size_t i = 0; i < x->item_count && r == 0; i++) {
        bool gone;
        ki_object *now;
        r = ki__api_delete_object(x->model, x->type, x->items[i], policy, &now, &gone);
        if (r == 0) {
            ki_object_unref(x->items[i]);
            x->items[i] = now;
        }
    }
    return ki__api_fail_write(x, r);
}

int ki__api_do_delete_collection(ki__api_exchange *x)
{
    bool dry_run;
    ki__api_policy policy = KI__API_POLICY_UNSAID;
    ki_object *options;
    int r = ki__api_read_body(x, true, &options);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_read_dry_run(x, &dry_run);
    r = r < 0 || x->failure.code != 0 ? r : read_policy(x, options, &policy);
    if (r == 0 && x->failure.code == 0 && options != NULL) {
        dry_run = dry_run || is_dry_run(options);
    }
    ki_object_unref(options);
    if (r == 0 && x->failure.code == 0) {
        x->route.rv = ""; /* deletes the current objects */
        r = ki__api_do_list(x);
    }
    if (r < 0 || x->failure.code != 0 || dry_run) {
        return r;
    }
    r = delete_items(x, policy);
    x->rv = x->model->head;
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_namespaces_sweep(x->model, x->route.name_space);
    }
    return r;
}

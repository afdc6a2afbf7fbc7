/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual resources that are never stored: the Scale of a workload, and access reviews, which
 * always allow. */
#include <errno.h>

#include "apiserver/encode.h"
#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/write_common.h"
#include "object/edit/json_edit.h"
#include "object/value.h"

#define TEXT_MAX ((size_t)4 << 20)

/* ---- scales ---- */

static int64_t number(const ki_object *object, const char *part, int64_t otherwise)
{
    ki_value root = ki_object_root(object);
    ki_value map = ki__value_child(&root, part);
    ki_value replicas = ki__value_child(&map, "replicas");
    int64_t count = otherwise;
    return ki_value_int64(&replicas, &count) == 0 ? count : otherwise;
}

/* The selector as text: only matchLabels, or the plain map of a ReplicationController. */
static void write_selector(const ki_object *object, ki__out *out)
{
    ki_value root = ki_object_root(object);
    ki_value spec = ki__value_child(&root, "spec");
    ki_value selector = ki__value_child(&spec, "selector");
    ki_value labels = ki__value_child(&selector, "matchLabels");
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    const char *comma = "";
    labels = ki_value_type(&labels) == KI_TYPE_MAP ? labels : selector;
    if (ki_value_type(&labels) != KI_TYPE_MAP || ki_value_iter_begin(&labels, &iter) < 0) {
        return;
    }
    while (out->error == 0 && ki_value_iter_next(&iter, &key, &value) > 0) {
        if (ki_value_type(&value) == KI_TYPE_STRING) {
            ki__out_text(out, comma);
            ki__out_content(out, &key);
            ki__out_char(out, '=');
            ki__out_content(out, &value);
            comma = ",";
        }
    }
}

static int write_scale(const ki_object *object, const ki_alloc *alloc, ki_buf *buf)
{
    ki_buf text;
    ki_buf_init(&text, alloc, TEXT_MAX);
    ki__out selector = ki__out_to(&text);
    ki__out out = ki__out_to(buf);
    write_selector(object, &selector);
    ki__out_fail(&out, selector.error);
    ki__out_text(&out, "{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{");
    ki__put_member(&out, "name", ki_object_name(object));
    ki__put_member(&out, "namespace", ki_object_namespace(object));
    ki__put_member(&out, "uid", ki_object_uid(object));
    ki__put_member(&out, "resourceVersion", ki_object_resource_version(object));
    ki__put_name(&out, "creationTimestamp");
    ki__put_time(&out, ki_object_creation_time(object));
    ki__out_text(&out, "},\"spec\":{\"replicas\":");
    ki__put_i64(&out, number(object, "spec", 1));
    ki__out_text(&out, "},\"status\":{\"replicas\":");
    ki__put_i64(&out, number(object, "status", 0));
    if (text.len != 0) {
        ki__put_member_str(&out, "selector", ki_buf_str(&text));
    }
    ki__out_text(&out, "}}");
    ki_buf_done(&text);
    return out.error;
}

static int make_scale(const ki__api_exchange *x, const ki_object *object, ki_object **ret_scale)
{
    ki_buf text;
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc};
    ki_buf_init(&text, x->alloc, TEXT_MAX);
    int r = write_scale(object, x->alloc, &text);
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_scale, NULL);
    ki_buf_done(&text);
    return r;
}

static int respond_scale(ki__api_exchange *x)
{
    ki_object *object;
    ki_object *scale;
    int r = ki__api_find_target(x, &object);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = make_scale(x, object, &scale);
    if (r == 0) {
        ki__buf_truncate(&x->out, 0);
        x->encoding = KI_ENCODING_JSON;
        ki__out out = ki__out_to(&x->out);
        ki__out_str(&out, ki_object_bytes(scale));
        ki__out_char(&out, '\n');
        r = out.error;
        ki_object_unref(scale);
    }
    if (r == 0) {
        x->status = 200;
        x->stage = KI__API_STAGE_TEXT;
    }
    return r;
}

/* The object with the replicas and, if present, the resourceVersion of the scale. */
static int scaled(ki__api_exchange *x, const ki_object *scale, const ki_object *old,
                  ki_object **ret_object)
{
    static const char *const replicas[] = {"spec", "replicas"};
    static const char *const version[] = {"metadata", "resourceVersion"};
    int64_t count = number(scale, "spec", 0);
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc, .max_bytes = 1 << 30};
    ki_buf text;
    ki_buf more;
    ki_object *between = NULL;
    if (count < 0 || count > INT32_MAX) {
        const ki__api_cause cause = {"FieldValueInvalid", "Invalid value: not a number of replicas",
                                     "spec.replicas"};
        return ki__api_fail_field(&x->failure, x->type, x->route.name, &cause);
    }
    ki_buf_init(&text, x->alloc, SIZE_MAX);
    ki_buf_init(&more, x->alloc, SIZE_MAX);
    ki__out out = ki__out_to(&more);
    ki__put_i64(&out, count);
    int r = out.error < 0 ? out.error : ki__json_set(old, replicas, 2, ki_buf_str(&more), &text);
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &between, NULL);
    ki_buf_clear(&more);
    ki_buf_clear(&text);
    if (r == 0) {
        r = ki_buf_add_json_string(&more, ki_str_from(ki_object_resource_version(scale)));
    }
    r = r < 0 ? r : ki__json_set(between, version, 2, ki_buf_str(&more), &text);
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_object, NULL);
    ki_object_unref(between);
    ki_buf_done(&text);
    ki_buf_done(&more);
    return ki__api_fail_write(x, r);
}

/* Applying a scale applies an object that has only spec.replicas. */
static int apply_scale(ki__api_exchange *x, const ki_object *scale, const ki_object *old,
                       ki_object **ret_object)
{
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc};
    ki_value root = ki_object_root(scale);
    ki_value spec = ki__value_child(&root, "spec");
    ki_value replicas = ki__value_child(&spec, "replicas");
    ki_object *config = NULL;
    ki_buf text;
    ki_buf_init(&text, x->alloc, TEXT_MAX);
    ki__out out = ki__out_to(&text);
    ki__api_compose_begin(x->shown, &out);
    ki__out_text(&out, "\"spec\":{");
    if (ki_value_type(&replicas) != KI_TYPE_NONE) {
        ki__put_name(&out, "replicas");
        ki__put_value(&out, &replicas);
    }
    ki__out_text(&out, "}}");
    int r = out.error;
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &config, NULL);
    ki_buf_done(&text);
    r = r < 0 ? ki__api_fail_write(x, r) : ki__api_apply_object(x, config, old, ret_object);
    ki_object_unref(config);
    return r;
}

static int change_scale(ki__api_exchange *x, const ki_object *body, ki_object *old)
{
    ki_object *scale = NULL;
    ki_object *patched = NULL;
    ki_object *object = NULL;
    bool applies = ki__api_is_apply(x);
    x->own_subresource = "scale";
    int r = applies                    ? apply_scale(x, body, old, &object)
            : x->verb == KI__API_PATCH ? make_scale(x, old, &scale)
                                       : 0;
    if (r == 0 && scale != NULL) {
        r = ki__api_patch_object(x, body, scale, &patched);
    }
    if (r == 0 && x->failure.code == 0 && !applies) {
        r = scaled(x, patched != NULL ? patched : body, old, &object);
    }
    if (r == 0 && x->failure.code == 0) {
        x->route.subresource = ""; /* from here on an update of the object itself */
        r = ki__api_update_object(x, object, old);
    }
    if (r == 0 && x->failure.code == 0) {
        r = respond_scale(x);
    }
    ki_object_unref(object);
    ki_object_unref(patched);
    ki_object_unref(scale);
    return r;
}

int ki__api_do_scale(ki__api_exchange *x)
{
    if (x->verb == KI__API_GET) {
        return respond_scale(x);
    }
    ki_object *body;
    ki_object *old = NULL;
    int r = ki__api_read_body(x, false, &body);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_check_options(x);
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_find_target(x, &old);
    }
    if (r == 0 && x->failure.code == 0) {
        old = ki_object_ref(old); /* the write may drop it from the history */
        r = change_scale(x, body, old);
        ki_object_unref(old);
    }
    ki_object_unref(body);
    return r;
}

/* ---- reviews ---- */

bool ki__api_is_review(const ki__api_type *type)
{
    const char *group = ki_resource_group(type->resource);
    return type->builtin && (strcmp(group, "authorization.k8s.io") == 0 ||
                             strcmp(group, "authentication.k8s.io") == 0);
}

static const char *review_status(const char *kind)
{
    if (strcmp(kind, "SelfSubjectRulesReview") == 0) {
        return "{\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]"
               "}],\"nonResourceRules\":[{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}],"
               "\"incomplete\":false}";
    }
    if (strcmp(kind, "SelfSubjectReview") == 0) {
        return "{\"userInfo\":{\"username\":\"kinformer\",\"groups\":[\"system:masters\"]}}";
    }
    if (strcmp(kind, "TokenReview") == 0) {
        return "{\"authenticated\":true,\"user\":{\"username\":\"kinformer\"}}";
    }
    return "{\"allowed\":true,\"reason\":\"this server allows everything\"}";
}

int ki__api_do_review(ki__api_exchange *x)
{
    static const char *const own[] = {"kind", "apiVersion", "metadata", "status", NULL};
    ki_object *body;
    int r = ki__api_read_body(x, false, &body);
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_check_body(x, body);
    }
    if (r == 0 && x->failure.code == 0) {
        ki_buf text;
        ki_value root = ki_object_root(body);
        ki_buf_init(&text, x->alloc, SIZE_MAX);
        ki__out out = ki__out_to(&text);
        ki__api_compose_begin(x->shown, &out);
        ki__out_text(&out, "\"metadata\":{}");
        ki__json_copy_members(&root, own, &out);
        ki__put_name(&out, "status");
        ki__put_json(&out, ki_str_from(review_status(ki_resource_kind(x->shown->resource))));
        ki__out_char(&out, '}');
        r = out.error < 0 ? out.error : ki__api_encode_json(x, ki_buf_str(&text));
        ki_buf_done(&text);
        x->status = 201;
        x->stage = KI__API_STAGE_TEXT;
    }
    ki_object_unref(body);
    return ki__api_fail_write(x, r);
}

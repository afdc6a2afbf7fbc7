/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/write_common.h"

#include <errno.h>

#include <kinformer/resource_table.h>

#include "apiserver/negotiate.h"
#include "apiserver/validate/crd.h"
#include "apiserver/validate/metadata.h"
#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/namespaces.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "wire/media_type.h"

static int fail_body(ki__api_exchange *x, int r, const ki_error *error)
{
    if (r == -ENOMEM) {
        return r;
    }
    if (r == KI_ERR_LIMIT) {
        return ki__api_fail(&x->failure, 413, KI_REASON_REQUEST_ENTITY_TOO_LARGE,
                            "the object is too large: ", error->message, NULL);
    }
    return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                        "the body is not an object: ", error->message, NULL);
}

/* The patch type of a content type. */
static bool find_patch(ki__api_exchange *x, ki_str type)
{
    static const struct {
        const char *type;
        ki__api_patch patch;
    } patches[] = {
        {"application/merge-patch+json", KI__API_PATCH_MERGE},
        {"application/json-patch+json", KI__API_PATCH_JSON},
        {"application/strategic-merge-patch+json", KI__API_PATCH_STRATEGIC},
        {"application/apply-patch+yaml", KI__API_PATCH_APPLY},
    };
    for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
        if (ki__api_is_media_type(type, patches[i].type)) {
            x->patch = patches[i].patch;
            return x->patch != KI__API_PATCH_STRATEGIC || x->type->builtin;
        }
    }
    return false;
}

/* Whether the content type is supported for a patch or an object. */
static bool is_readable(ki__api_exchange *x)
{
    ki_str header = ki__api_request_header(x->request, "content-type");
    ki_str type = ki__api_media_type(header);
    if (x->verb == KI__API_PATCH) {
        return find_patch(x, type);
    }
    return type.len == 0 || ki__api_is_media_type(type, KI__MEDIA_TYPE_JSON) ||
           ki__api_is_media_type(type, KI__MEDIA_TYPE_PROTOBUF);
}

static int fail_type(ki__api_exchange *x)
{
    const char *text = "the body must be application/json or protobuf";
    if (x->verb == KI__API_PATCH) {
        text = x->type->builtin ? "supported patches: merge, JSON, strategic merge, apply"
                                : "supported patches of custom resources: merge, JSON, apply";
    }
    return ki__api_fail(&x->failure, 415, KI_REASON_UNSUPPORTED_MEDIA_TYPE, text, NULL);
}

/* Protobuf is converted to JSON. */
static int read_protobuf(const ki__api_exchange *x, const ki_object_options *options,
                         ki_object **ret_object, ki_error *error)
{
    ki_object *object;
    ki_buf json;
    ki_str body = x->request->body;
    int r = ki_object_from_protobuf(body.ptr != NULL ? body.ptr : "", body.len, options, &object,
                                    error);
    if (r < 0) {
        return r;
    }
    ki_buf_init(&json, x->alloc, 4 * x->model->options.object_bytes_max);
    r = ki_object_write_json(object, &json);
    r = r < 0 ? r : ki_object_from_json(json.data, json.len, options, ret_object, error);
    ki_buf_done(&json);
    ki_object_unref(object);
    return r;
}

/* A JSON patch is a list, not an object, so it becomes a member of one. */
static int read_operations(const ki__api_exchange *x, ki_object_options *options,
                           ki_object **ret_object, ki_error *error)
{
    ki_buf text;
    options->max_bytes += 16;
    ki_buf_init(&text, x->alloc, options->max_bytes);
    ki__out out = ki__out_to(&text);
    ki__out_text(&out, "{\"patch\":");
    ki__out_str(&out, x->request->body);
    ki__out_char(&out, '}');
    int r = out.error;
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, options, ret_object, error);
    ki_buf_done(&text);
    return r;
}

int ki__api_read_body(ki__api_exchange *x, bool optional, ki_object **ret_object)
{
    ki_str body = x->request->body;
    *ret_object = NULL;
    if (body.len == 0 && optional) {
        return 0;
    }
    if (!is_readable(x)) {
        return fail_type(x);
    }
    ki_error error = KI_ERROR_INIT;
    ki_object_options options = {
        .size = sizeof(options),
        .alloc = x->alloc,
        .max_bytes = x->model->options.object_bytes_max,
    };
    ki_str type = ki__api_media_type(ki__api_request_header(x->request, "content-type"));
    if (x->verb == KI__API_PATCH && x->patch == KI__API_PATCH_JSON) {
        int r = read_operations(x, &options, ret_object, &error);
        return r < 0 ? fail_body(x, r, &error) : 0;
    }
    int r = ki__api_is_media_type(type, KI__MEDIA_TYPE_PROTOBUF)
                ? read_protobuf(x, &options, ret_object, &error)
                : ki_object_from_json(body.ptr != NULL ? body.ptr : "", body.len, &options,
                                      ret_object, &error);
    return r < 0 ? fail_body(x, r, &error) : 0;
}

static int check_same(ki__api_exchange *x, const char *what, const char *in_body,
                      const char *expected)
{
    if (in_body[0] == '\0' || strcmp(in_body, expected) == 0) {
        return 0;
    }
    return ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST, "the ", what, " of the object (",
                        in_body, ") does not match the request (", expected, ")", NULL);
}

static int check_identity(ki__api_exchange *x, const ki_object *body)
{
    const ki_resource *resource = x->shown->resource;
    /* A patched object may have the storage version. */
    bool kept =
        strcmp(ki_object_api_version(body), ki_resource_api_version(x->type->resource)) == 0;
    bool namespaced = ki_resource_is_namespaced(resource); /* other resources ignore a namespace */
    const struct {
        const char *what;
        const char *in_body;
        const char *expected;
    } checks[] = {
        {"apiVersion", kept ? "" : ki_object_api_version(body), ki_resource_api_version(resource)},
        {"kind", ki_object_kind(body), ki_resource_kind(resource)},
        {"namespace", namespaced ? ki_object_namespace(body) : "", x->route.name_space},
        {"name", x->route.name[0] != '\0' ? ki_object_name(body) : "", x->route.name},
    };
    int r = 0;
    for (size_t i = 0; i < 4 && r == 0 && x->failure.code == 0; i++) {
        r = check_same(x, checks[i].what, checks[i].in_body, checks[i].expected);
    }
    return r;
}

int ki__api_check_body(ki__api_exchange *x, const ki_object *body)
{
    int r = check_identity(x, body);
    r = r < 0 || x->failure.code != 0 ? r : ki__metadata_check_types(x, body);
    return r < 0 || x->failure.code != 0 ? r : ki__api_check_fields(x, body);
}

int ki__api_make_key(const ki__api_exchange *x, const char *name, ki_buf *buf)
{
    const char *name_space = x->route.name_space;
    ki__out out = ki__out_to(buf);
    ki__out_texts(&out, name_space, name_space[0] != '\0' ? "/" : "", name, NULL);
    return out.error;
}

int ki__api_find_target(ki__api_exchange *x, ki_object **ret_object)
{
    ki_buf key;
    ki_buf_init(&key, x->alloc, KI__API_TARGET_MAX);
    int r = ki__api_make_key(x, x->route.name, &key);
    if (r == 0) {
        *ret_object = ki__api_model_get(x->type, ki_buf_str(&key), x->model->head);
        if (*ret_object == NULL) {
            r = ki__api_fail_not_found(&x->failure, x->type, x->route.name);
        }
    }
    ki_buf_done(&key);
    return r;
}

void ki__api_name_options(ki__api_exchange *x)
{
    x->failure.kind = x->verb == KI__API_CREATE   ? "CreateOptions"
                      : x->verb == KI__API_UPDATE ? "UpdateOptions"
                      : x->verb == KI__API_PATCH  ? "PatchOptions"
                                                  : "DeleteOptions";
}

int ki__api_fail_option(ki__api_exchange *x, const ki__api_cause *cause)
{
    ki__api_name_options(x);
    return ki__api_fail_field(&x->failure, NULL, "", cause);
}

int ki__api_read_dry_run(ki__api_exchange *x, bool *ret_dry_run)
{
    *ret_dry_run = strcmp(x->route.dry_run, "All") == 0;
    if (*ret_dry_run || x->route.dry_run[0] == '\0') {
        return 0;
    }
    const ki__api_cause cause = {"FieldValueNotSupported", "supported values: \"All\"", "dryRun"};
    return ki__api_fail_option(x, &cause);
}

int ki__api_fail_write(ki__api_exchange *x, int r)
{
    if (r >= 0 || r == -ENOMEM) {
        return r;
    }
    if (r == KI_ERR_LIMIT) {
        return ki__api_fail(&x->failure, 413, KI_REASON_REQUEST_ENTITY_TOO_LARGE,
                            "the object, or the number of objects, is too large", NULL);
    }
    return ki__api_fail(&x->failure, 500, KI_REASON_INTERNAL_ERROR,
                        "the object could not be stored: ", ki_error_text(r), NULL);
}

int ki__api_fail_kind(ki__api_exchange *x, const char *why, const char *more, const char *end)
{
    bool applied = ki__api_is_apply(x);
    return ki__api_fail(&x->failure, applied ? 500 : 400,
                        applied ? KI_REASON_UNKNOWN : KI_REASON_BAD_REQUEST, why, more, end, NULL);
}

int ki__api_check_schema(ki__api_exchange *x, const ki_object *object)
{
    if (!ki_resource_has_protobuf(x->type->resource)) {
        return 0;
    }
    ki_buf scratch;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&scratch, x->alloc, 4 * x->model->options.object_bytes_max);
    int r = ki_object_write_protobuf(object, &scratch, &error);
    ki_buf_done(&scratch);
    if (r == KI_ERR_INVALID || r == KI_ERR_DEPTH) {
        return ki__api_fail_kind(x, "the object is not one of this kind: ", error.message, "");
    }
    return ki__api_fail_write(x, r);
}

bool ki__api_has_finalizers(const ki_object *object)
{
    ki_value finalizers = ki_object_finalizers(object);
    return ki_value_count(&finalizers) != 0;
}

int ki__api_remove(ki__api_model *model, ki__api_type *type, ki_object *object,
                   ki_object **ret_object)
{
    ki_object *last;
    int r = ki__api_restamp(model, type, object, model->head + 1, &last);
    if (r < 0) {
        return r;
    }
    r = ki__api_model_write(model, type, ki_str_from(ki_object_key(last)), KI__API_DELETED, last);
    if (r == 0 && ki__api_crd_is(type)) {
        r = ki__api_crd_remove(model, object);
    }
    if (r == 0 && ret_object != NULL) {
        *ret_object = ki_object_ref(last);
    }
    ki_object_unref(last);
    return r;
}

static int mark(ki__api_model *model, ki__api_type *type, ki_object *object, ki_object **ret_object)
{
    ki__api_parts parts;
    ki__api_parts_of(type, object, &parts);
    int64_t now = ki__api_model_seconds(model);
    bool again = ki_object_is_deleting(object); /* with another policy */
    parts.deletion = again ? parts.deletion : now > 0 ? now : 1;
    parts.rv = model->head + 1;
    if (ki__api_namespaces_is_namespace(model, type)) {
        parts.status_json = "{\"phase\":\"Terminating\"}";
    }
    parts.generation += type->options.has_generation && !again ? 1 : 0;
    ki_object *marked;
    int r = ki__api_compose(model, &parts, &marked);
    if (r < 0) {
        return r;
    }
    r = ki__api_model_write(model, type, ki_str_from(ki_object_key(marked)), KI__API_MODIFIED,
                            marked);
    if (r < 0) {
        ki_object_unref(marked);
        return r;
    }
    *ret_object = marked;
    return 0;
}

/* The garbage collection finalizers of an object after a policy was applied. */
typedef struct gc_finalizers {
    bool orphan;
    bool foreground;
} gc_finalizers;

static gc_finalizers gc_finalizers_of(const ki_object *object)
{
    return (gc_finalizers){
        .orphan = ki__garbage_has_finalizer(object, KI__FINALIZER_ORPHAN),
        .foreground = ki__garbage_has_finalizer(object, KI__FINALIZER_FOREGROUND),
    };
}

static gc_finalizers gc_finalizers_by(const ki_object *object, ki__api_policy policy)
{
    if (policy == KI__API_POLICY_UNSAID) {
        return gc_finalizers_of(object);
    }
    return (gc_finalizers){
        .orphan = policy == KI__API_POLICY_ORPHAN,
        .foreground = policy == KI__API_POLICY_FOREGROUND,
    };
}

static bool is_gc_finalizer(const ki_value *finalizer)
{
    return ki_value_equals(finalizer, ki_str_from(KI__FINALIZER_ORPHAN)) ||
           ki_value_equals(finalizer, ki_str_from(KI__FINALIZER_FOREGROUND));
}

/* Number of other finalizers. */
static size_t count_others(const ki_object *object)
{
    ki_value finalizers = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value finalizer;
    size_t count = 0;
    if (ki_value_iter_begin(&finalizers, &iter) < 0) {
        return 0;
    }
    while (ki_value_iter_next(&iter, NULL, &finalizer) > 0) {
        count += is_gc_finalizer(&finalizer) ? 0 : 1;
    }
    return count;
}

bool ki__api_deletion_is_deferred(const ki__api_model *model, const ki__api_type *type,
                                  const ki_object *object, ki__api_policy policy)
{
    gc_finalizers wanted = gc_finalizers_by(object, policy);
    return ki__api_namespaces_is_namespace(model, type) || count_others(object) != 0 ||
           wanted.orphan || wanted.foreground;
}

/* Writes an object's finalizers, with those of a policy, as a list. */
static int write_finalizers(const ki_object *object, gc_finalizers wanted, ki_buf *buf)
{
    ki_value finalizers = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value finalizer;
    ki__out out = ki__out_to(buf);
    ki__put_list(&out);
    if (ki_value_iter_begin(&finalizers, &iter) == 0) {
        while (out.error == 0 && ki_value_iter_next(&iter, NULL, &finalizer) > 0) {
            if (!is_gc_finalizer(&finalizer)) {
                ki__put_value(&out, &finalizer);
            }
        }
    }
    if (wanted.orphan || wanted.foreground) {
        ki__put_string(
            &out, ki_str_from(wanted.orphan ? KI__FINALIZER_ORPHAN : KI__FINALIZER_FOREGROUND));
    }
    ki__put_end(&out);
    return out.error;
}

/* The object with the finalizers of a policy: *ret_object; the same object if it has them
 * already. */
static int apply_policy(const ki__api_model *model, ki_object *object, ki__api_policy policy,
                        ki_object **ret_object)
{
    static const char *const path[] = {"metadata", "finalizers"};
    gc_finalizers now = gc_finalizers_of(object);
    gc_finalizers wanted = gc_finalizers_by(object, policy);
    if (now.orphan == wanted.orphan && now.foreground == wanted.foreground) {
        *ret_object = ki_object_ref(object);
        return 0;
    }
    ki_object_options options = {.size = sizeof(options), .alloc = model->alloc};
    ki_buf list;
    ki_buf json;
    ki_buf_init(&list, model->alloc, SIZE_MAX);
    ki_buf_init(&json, model->alloc, SIZE_MAX);
    int r = write_finalizers(object, wanted, &list);
    r = r < 0 ? r : ki__json_set(object, path, 2, ki_buf_str(&list), &json);
    options.max_bytes = json.len + 1;
    r = r < 0 ? r : ki_object_from_json(json.data, json.len, &options, ret_object, NULL);
    ki_buf_done(&list);
    ki_buf_done(&json);
    return r;
}

int ki__api_delete_object(ki__api_model *model, ki__api_type *type, ki_object *object,
                          ki__api_policy policy, ki_object **ret_object, bool *ret_gone)
{
    bool is_namespace = ki__api_namespaces_is_namespace(model, type);
    policy = is_namespace ? KI__API_POLICY_UNSAID : policy;
    bool waits = ki__api_deletion_is_deferred(model, type, object, policy);
    *ret_gone = !waits;
    if (!waits) {
        return ki__api_remove(model, type, object, ret_object);
    }
    ki_object *marked;
    int r = apply_policy(model, object, policy, &marked);
    if (r < 0) {
        return r;
    }
    if (ki_object_is_deleting(object) && marked == object) {
        *ret_object = marked;
        return 0;
    }
    r = mark(model, type, marked, ret_object);
    ki_object_unref(marked);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CREATE, UPDATE and PATCH. A patch is an update with the patched object; each request validates
 * everything, composes the object, and then writes once. */
#include <errno.h>

#include "apiserver/validate/crd.h"
#include "apiserver/validate/crd_schema.h"
#include "apiserver/validate/custom_objects.h"
#include "apiserver/validate/metadata.h"
#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/namespaces.h"
#include "apiserver/verbs/write_common.h"
#include "base/digits.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"
#include "object/edit/patch.h"
#include "object/value.h"

enum { NAME_TRIES = 8, GENERATED_BASE_MAX = 58 };

/* Fails for metadata errors. If the object has a schema, they are reported together with its
 * errors. */
static int fail_metadata(ki__api_exchange *x, const char *name)
{
    return x->shown->schema == NULL ? ki__invalid_fail(&x->invalid, &x->failure, x->type, name) : 0;
}

/* ---- create ---- */

/* An unused name from metadata.generateName; "" if none was found. */
static int generate_name(ki__api_exchange *x, const ki_object *body, ki_buf *name)
{
    ki_value root = ki_object_root(body);
    ki_value metadata = ki__value_child(&root, "metadata");
    ki_value base = ki__value_child(&metadata, "generateName");
    if (ki_value_type(&base) != KI_TYPE_STRING) {
        return 0;
    }
    ki_buf key;
    ki_buf_init(&key, x->alloc, KI__API_TARGET_MAX);
    int r = ki_value_copy_string(&base, name);
    size_t len = name->len < GENERATED_BASE_MAX ? name->len : GENERATED_BASE_MAX;
    for (int i = 0; r == 0 && len != 0; i++) {
        char suffix[KI__API_SUFFIX_LEN];
        ki__buf_truncate(name, len);
        ki_buf_clear(&key);
        r = ki__api_make_suffix(x->model, suffix);
        r = r < 0 ? r : ki_buf_add(name, suffix, sizeof(suffix));
        r = r < 0 ? r : ki__api_make_key(x, name->data, &key);
        if (i == NAME_TRIES ||
            (r == 0 && ki__api_model_get(x->type, ki_buf_str(&key), x->model->head) == NULL)) {
            break;
        }
    }
    ki_buf_done(&key);
    return r;
}

static int check_new(ki__api_exchange *x, const ki_object *body, const ki_buf *name)
{
    int r = ki__api_namespaces_check(x->model, x->type, ki_buf_text(name), x->route.name_space,
                                     &x->failure);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = ki__metadata_check_new(x->type, body, ki_buf_str(name), &x->invalid);
    r = r < 0 ? r : fail_metadata(x, ki_buf_text(name));
    if (r == 0 && x->failure.code == 0 && ki_object_resource_version(body)[0] != '\0' &&
        x->verb == KI__API_CREATE) {
        /* kube-apiserver treats this as an internal error. */
        r = ki__api_fail(&x->failure, 500, KI_REASON_UNKNOWN,
                         "resourceVersion must not be set on an object to be created", NULL);
    }
    return r;
}

/* The initial status set by the server, appended to `out`. NULL: none. */
static int status_of(const ki__api_exchange *x, const ki_object *body, ki_buf *out,
                     const char **ret_json)
{
    int r = 0;
    *ret_json = NULL;
    if (ki__api_namespaces_is_namespace(x->model, x->type)) {
        *ret_json = "{\"phase\":\"Active\"}";
    } else if (ki__api_crd_is(x->type)) {
        r = ki__api_crd_status(x->model, body, out);
        *ret_json = ki_buf_text(out);
    }
    return r;
}

static int compose_new(ki__api_exchange *x, const ki_object *body, const char *name, bool dry_run,
                       ki_object **ret_object)
{
    char uid[KI__API_UID_SIZE];
    ki_buf status;
    const char *status_json;
    bool keeps_status = !x->type->options.has_status || x->model->options.status_on_create ||
                        x->server->options.whole_objects;
    ki_buf_init(&status, x->alloc, x->out.max);
    int r = ki__api_make_uid(x->model, uid);
    r = r < 0 ? r : status_of(x, body, &status, &status_json);
    if (r == 0) {
        const ki__api_parts parts = {
            .type = x->type,
            .name = name,
            .name_space = x->route.name_space,
            .uid = uid,
            .rv = dry_run ? 0 : x->model->head + 1,
            .generation = x->type->options.has_generation ? 1 : 0,
            .creation = ki__api_model_seconds(x->model),
            .metadata = body,
            .content = body,
            .status = keeps_status ? body : NULL,
            .status_json = status_json,
            .managed = x->managed_known ? &x->managed : NULL,
        };
        r = ki__api_compose(x->model, &parts, ret_object);
    }
    ki_buf_done(&status);
    return r;
}

/* A definition must be valid and have structural schemas. */
static int check_definition(ki__api_exchange *x, ki_object *definition, const char *name)
{
    ki__crd_notes notes;
    int r = ki__api_crd_check(x->model, x->type, definition, name, &x->failure);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    ki__invalid errors;
    ki__invalid_init(&errors, x->alloc);
    r = ki__crd_check_schemas(definition, x->alloc, &errors, &notes);
    r = r < 0 ? ki__api_fail_write(x, r) : ki__invalid_fail(&errors, &x->failure, x->type, name);
    ki__invalid_done(&errors);
    if (r == 0 && x->failure.code == 0 && notes.rules) {
        r = ki__api_warn(x, "x-kubernetes-validations are not evaluated by this server", NULL);
    }
    if (r == 0 && x->failure.code == 0 && notes.patterns) {
        r = ki__api_warn(x,
                         "patterns with Unicode classes, and very large ones, are not enforced by "
                         "this server",
                         NULL);
    }
    return r;
}

static int store_new(ki__api_exchange *x, const ki_object *body, const char *name, ki_str key)
{
    bool dry_run;
    ki_object *object = NULL;
    int r = ki__api_read_dry_run(x, &dry_run);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = x->managed_known ? 0 : ki__api_track(x, body, NULL);
    r = r < 0 ? r : compose_new(x, body, name, dry_run, &object);
    r = r < 0 ? r : ki__api_check_schema(x, object);
    if (r == 0 && x->failure.code == 0 && ki__api_crd_is(x->type)) {
        r = check_definition(x, object, name);
    }
    r = r < 0 || x->failure.code != 0 ? r : ki__api_conform(x, object, NULL, name);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_respond_object(x, 201, object);
    if (r == 0 && x->failure.code == 0 && !dry_run) {
        r = ki__api_crd_is(x->type) ? ki__api_crd_serve(x->model, object) : 0;
        r = r < 0 ? r : ki__api_model_write(x->model, x->type, key, KI__API_ADDED, object);
    }
    ki_object_unref(object);
    return ki__api_fail_write(x, r);
}

static int create(ki__api_exchange *x, const ki_object *body, ki_buf *name, ki_buf *key)
{
    int r = ki_buf_add_text(name, ki_object_name(body));
    r = r < 0 || name->len != 0 ? r : generate_name(x, body, name);
    if (r < 0) {
        return ki__api_fail_write(x, r);
    }
    r = check_new(x, body, name);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = ki__api_make_key(x, name->data, key);
    if (r < 0) {
        return r;
    }
    if (ki__invalid_is_empty(&x->invalid) &&
        ki__api_model_get(x->type, ki_buf_str(key), x->model->head) != NULL) {
        return ki__api_fail_exists(&x->failure, x->type, name->data);
    }
    return store_new(x, body, name->data, ki_buf_str(key));
}

int ki__api_do_create(ki__api_exchange *x)
{
    ki_object *body;
    ki_object *meant = NULL;
    ki_buf key;
    ki_buf_init(&key, x->alloc, KI__API_TARGET_MAX);
    int r = ki__api_read_body(x, false, &body);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_check_options(x);
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_check_body(x, body);
    }
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_coerce(x, body, &meant);
    }
    if (r == 0 && x->failure.code == 0) {
        r = create(x, meant, &x->name, &key);
    }
    ki_object_unref(meant);
    ki_object_unref(body);
    ki_buf_done(&key);
    return r;
}

/* ---- update ---- */

/* Fails for one invalid field of the metadata. */
static int fail_field(ki__api_exchange *x, const char *field, const char *value, const char *why)
{
    int r = ki__invalid_add_text(&x->invalid, KI__INVALID_VALUE, field, ki_str_from(value), why);
    return r < 0 ? r : ki__invalid_fail(&x->invalid, &x->failure, x->type, x->route.name);
}

static int check_old(ki__api_exchange *x, const ki_object *body, const ki_object *old)
{
    const char *rv = ki_object_resource_version(body);
    const char *uid = ki_object_uid(body);
    if (rv[0] == '\0' && !x->type->builtin &&
        !x->server->options.whole_objects) { /* custom resources require it */
        int r = fail_field(x, "metadata.resourceVersion", "", "must be specified for an update");
        x->failure.kind = ki_resource_name(x->type->resource);
        return r;
    }
    if (uid[0] != '\0' && strcmp(uid, ki_object_uid(old)) != 0) {
        if (x->verb == KI__API_PATCH) {
            return fail_field(x, "metadata.uid", uid, "field is immutable");
        }
        return ki__api_fail_conflict(&x->failure, x->type, x->route.name,
                                     "the stored object has a different uid");
    }
    uint64_t version;
    if (rv[0] != '\0' && !ki__digits_read(ki_str_from(rv), &version)) {
        /* kube-apiserver treats this as an internal error. */
        return ki__api_fail(&x->failure, 500, KI_REASON_UNKNOWN,
                            "metadata.resourceVersion: not a number: ", rv, NULL);
    }
    if (rv[0] != '\0' && strcmp(rv, "0") != 0 && strcmp(rv, ki_object_resource_version(old)) != 0) {
        return ki__api_fail_conflict(&x->failure, x->type, x->route.name,
                                     "the object has been modified; read it again and apply the "
                                     "change to that version");
    }
    return 0;
}

/* Metadata changes that an update must not make. A status has no metadata of its own. */
static int check_metadata(ki__api_exchange *x, const ki_object *body, const ki_object *old)
{
    if (x->route.subresource[0] != '\0') {
        return 0;
    }
    int r = ki__metadata_check_update(x->type, body, old, x->server->options.whole_objects,
                                      &x->invalid);
    return r < 0 ? r : fail_metadata(x, x->route.name);
}

/* Whether anything but metadata differs, ignoring the status if it is a subresource. */
static int content_differs(const ki__api_exchange *x, const ki_object *a, const ki_object *b,
                           bool *ret_differs)
{
    const char *const ignored[] = {"kind", "apiVersion", "metadata",
                                   x->type->options.has_status ? "status" : NULL, NULL};
    ki_value sides[] = {ki_object_root(a), ki_object_root(b)};
    ki_object *contents[2] = {NULL, NULL};
    int r = 0;
    for (size_t i = 0; i < 2 && r == 0; i++) {
        ki_buf text;
        ki_object_options options = {
            .size = sizeof(options), .alloc = x->alloc, .max_bytes = (size_t)128 << 20};
        ki_buf_init(&text, x->alloc, (size_t)128 << 20);
        ki__out out = ki__out_to(&text);
        ki__put_map(&out);
        ki__json_copy_members(&sides[i], ignored, &out);
        ki__put_end(&out);
        r = out.error;
        r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &contents[i], NULL);
        ki_buf_done(&text);
    }
    if (r == 0) {
        ki_value left = ki_object_root(contents[0]);
        ki_value right = ki_object_root(contents[1]);
        bool same = false;
        r = ki__json_same(&left, &right, x->alloc, &same);
        *ret_differs = !same;
    }
    ki_object_unref(contents[0]);
    ki_object_unref(contents[1]);
    return r;
}

/* The updated object, still with the old resourceVersion: *ret_object; and whether anything
 * changed. */
static int make_update(ki__api_exchange *x, const ki_object *body, const ki_object *old,
                       ki_object **ret_object, bool *ret_changed)
{
    bool status = x->route.subresource[0] != '\0';
    ki__api_parts parts;
    ki__api_parts_of(x->type, old, &parts);
    parts.metadata = status ? old : body;
    parts.content = status ? old : body;
    bool whole = !x->type->options.has_status || x->server->options.whole_objects;
    parts.status = status || whole ? body : old;
    parts.managed = x->managed_known ? &x->managed : NULL;
    bool differs = false;
    int r =
        x->type->options.has_generation && !status ? content_differs(x, body, old, &differs) : 0;
    parts.generation += differs ? 1 : 0;
    ki_object *object;
    r = r < 0 ? r : ki__api_compose(x->model, &parts, &object);
    if (r < 0) {
        return r;
    }
    ki_value now = ki_object_root(object);
    ki_value before = ki_object_root(old);
    bool same = false;
    r = ki__json_same(&now, &before, x->alloc, &same);
    if (r < 0) {
        ki_object_unref(object);
        return r;
    }
    *ret_object = object;
    *ret_changed = !same;
    return 0;
}

/* Writes the update; removing the last finalizer of an object being deleted removes the object. */
static int store_update(ki__api_exchange *x, ki_object *object, ki_object *old)
{
    ki_object *stamped = NULL;
    bool gone = ki_object_is_deleting(old) && !ki__api_has_finalizers(object) &&
                !ki__api_namespaces_is_namespace(x->model, x->type);
    int r = ki__api_restamp(x->model, x->type, object, x->model->head + 1, &stamped);
    r = r < 0 ? r : ki__api_respond_object(x, 200, stamped);
    if (r == 0 && gone) {
        r = ki__api_remove(x->model, x->type, old, NULL);
    } else if (r == 0) {
        r = ki__api_crd_is(x->type) ? ki__api_crd_serve(x->model, stamped) : 0;
        r = r < 0 ? r
                  : ki__api_model_write(x->model, x->type, ki_str_from(ki_object_key(stamped)),
                                        KI__API_MODIFIED, stamped);
    }
    ki_object_unref(stamped);
    return r;
}

int ki__api_update_object(ki__api_exchange *x, const ki_object *body, ki_object *old)
{
    bool dry_run;
    bool changed;
    ki_object *object;
    int r = ki__api_check_body(x, body);
    r = r < 0 || x->failure.code != 0 ? r : check_old(x, body, old);
    r = r < 0 || x->failure.code != 0 ? r : check_metadata(x, body, old);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_read_dry_run(x, &dry_run);
    if (r < 0 || x->failure.code != 0) {
        return r;
    }
    r = x->managed_known ? 0 : ki__api_track(x, body, old);
    r = r < 0 ? r : make_update(x, body, old, &object, &changed);
    if (r < 0) {
        return ki__api_fail_write(x, r);
    }
    r = ki__api_check_schema(x, object);
    if (r == 0 && x->failure.code == 0 && ki__api_crd_is(x->type)) {
        r = check_definition(x, object, x->route.name);
    }
    r = r < 0 || x->failure.code != 0 ? r : ki__api_conform(x, object, old, x->route.name);
    if (r < 0 || x->failure.code != 0) {
        ki_object_unref(object);
        return r;
    }
    if (!changed || dry_run) {
        r = ki__api_respond_object(x, 200, object);
    } else {
        r = ki__api_fail_write(x, store_update(x, object, old));
    }
    ki_object_unref(object);
    return r;
}

/* The patched object as text. */
static int patch_text(ki__api_exchange *x, const ki_object *patch, const ki_object *old,
                      ki_buf *out, ki_error *error)
{
    ki_value target = ki_object_root(old);
    ki_value changes = ki_object_root(patch);
    if (x->patch == KI__API_PATCH_JSON) {
        ki_value operations;
        int r = ki_value_member(&changes, ki_str_from("patch"), &operations);
        return r < 0 ? r : ki__json_patch(&target, &operations, x->alloc, out, error);
    }
    if (x->patch == KI__API_PATCH_STRATEGIC) {
        return ki__strategic_merge(&target, &changes, ki_str_from(ki_object_api_version(old)),
                                   ki_str_from(ki_object_kind(old)), x->alloc, out, error);
    }
    return ki__json_merge(&target, &changes, x->alloc, out);
}

int ki__api_patch_object(ki__api_exchange *x, const ki_object *patch, const ki_object *old,
                         ki_object **ret_object)
{
    /* Includes managedFields, which do not count toward the limit of stored objects. */
    size_t max = 2 * x->model->options.object_bytes_max + 4096;
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc, .max_bytes = max};
    ki_error error = KI_ERROR_INIT;
    ki_buf text;
    ki_buf_init(&text, x->alloc, max);
    int r = patch_text(x, patch, old, &text, &error);
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, ret_object, &error);
    ki_buf_done(&text);
    if (r < 0 && r != -ENOMEM && r != KI_ERR_LIMIT) {
        return ki__api_fail(&x->failure, 422, KI_REASON_INVALID,
                            "the patched object is not valid: ", error.message, NULL);
    }
    return ki__api_fail_write(x, r);
}

static int create_applied(ki__api_exchange *x, const ki_object *object)
{
    ki_buf key;
    ki_buf_init(&key, x->alloc, KI__API_TARGET_MAX);
    int r = ki__api_check_body(x, object);
    if (r == 0 && x->failure.code == 0) {
        r = create(x, object, &x->name, &key);
    }
    ki_buf_done(&key);
    return r;
}

/* The object to change. *ret_old is NULL for an apply if it does not exist. */
static int find_old(ki__api_exchange *x, ki_object **ret_old)
{
    int r = ki__api_find_target(x, ret_old);
    if (r == 0 && x->failure.code == 404 && ki__api_is_apply(x) &&
        x->route.subresource[0] == '\0') {
        ki__api_failure_clear(&x->failure);
        *ret_old = NULL;
    }
    return r;
}

/* The new object: *ret_object, or NULL if it is the body itself. */
static int make_new(ki__api_exchange *x, const ki_object *body, const ki_object *old,
                    ki_object **ret_object)
{
    if (x->verb != KI__API_PATCH) {
        return 0;
    }
    return x->patch == KI__API_PATCH_APPLY ? ki__api_apply_object(x, body, old, ret_object)
                                           : ki__api_patch_object(x, body, old, ret_object);
}

int ki__api_do_update(ki__api_exchange *x)
{
    ki_object *body;
    ki_object *old = NULL;
    ki_object *made = NULL;
    ki_object *meant = NULL;
    int r = ki__api_read_body(x, false, &body);
    r = r < 0 || x->failure.code != 0 ? r : ki__api_check_options(x);
    r = r < 0 || x->failure.code != 0 ? r : find_old(x, &old);
    if (r == 0 && x->failure.code == 0) {
        old = ki_object_ref(old); /* the write may drop it from the history */
        r = make_new(x, body, old, &made);
        if (r == 0 && x->failure.code == 0) {
            r = ki__api_coerce(x, made != NULL ? made : body, &meant);
        }
        if (r == 0 && x->failure.code == 0) {
            r = old == NULL ? create_applied(x, meant) : ki__api_update_object(x, meant, old);
        }
        ki_object_unref(old);
    }
    if (r == 0 && x->failure.code == 0) {
        r = ki__api_namespaces_sweep(x->model, x->route.name_space);
    }
    ki_object_unref(meant);
    ki_object_unref(made);
    ki_object_unref(body);
    return r;
}

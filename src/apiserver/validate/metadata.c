/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/metadata.h"

#include <errno.h>

#include "apiserver/validate/name_rules.h"
#include "apiserver/verbs/write_common.h"
#include "base/ascii.h"
#include "object/edit/json_out.h"
#include "object/value.h"

/* State of one check; both texts are scratch buffers. */
typedef struct checker {
    const char *base;
    bool kube;
    ki_buf field;
    ki_buf text;
    ki__invalid *errors;
} checker;

/* Decodes a string, valid until the next call; "" for other types. */
static int read_text(const ki_value *value, ki_buf *out, ki_str *ret_text)
{
    ki_buf_clear(out);
    int r = ki_value_type(value) == KI_TYPE_STRING ? ki_value_copy_string(value, out) : 0;
    *ret_text = ki_buf_str(out);
    return r;
}

/* Sets the path "metadata.<name>". */
static int set_field(checker *c, const char *name)
{
    ki_buf_clear(&c->field);
    ki__out out = ki__out_to(&c->field);
    ki__out_texts(&out, c->base, ".", name, NULL);
    return out.error;
}

/* ---- labels and annotations ---- */

static int check_labels(checker *c, const ki_value *labels)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    ki_str text;
    int r = set_field(c, "labels");
    if (r < 0 || ki_value_iter_begin(labels, &iter) < 0) {
        return r;
    }
    while (r == 0 && ki_value_iter_next(&iter, &key, &value) > 0) {
        r = read_text(&key, &c->text, &text);
        r = r < 0 ? r : ki__name_check_key(text, text, c->field.data, c->errors);
        r = r < 0 ? r : read_text(&value, &c->text, &text);
        r = r < 0 ? r : ki__name_check_label_value(text, c->field.data, c->errors);
    }
    return r;
}

/* A key is checked in lower case, and printed as it is. */
static int check_annotation_key(checker *c, ki_str key)
{
    ki_buf lower;
    ki_buf_init(&lower, c->errors->alloc, SIZE_MAX);
    int r = ki_buf_add_str(&lower, key);
    for (size_t i = 0; i < lower.len && r == 0; i++) {
        char ch = lower.data[i];
        lower.data[i] = ki__to_lower(ch);
    }
    r = r < 0 ? r : ki__name_check_key(ki_buf_str(&lower), key, c->field.data, c->errors);
    ki_buf_done(&lower);
    return r;
}

static int check_annotations(checker *c, const ki_value *annotations)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    ki_str text;
    size_t total = 0;
    int r = set_field(c, "annotations");
    if (r < 0 || ki_value_iter_begin(annotations, &iter) < 0) {
        return r;
    }
    while (r == 0 && ki_value_iter_next(&iter, &key, &value) > 0) {
        r = read_text(&value, &c->text, &text);
        total += text.len;
        r = r < 0 ? r : read_text(&key, &c->text, &text);
        total += text.len;
        r = r < 0 ? r : check_annotation_key(c, text);
    }
    if (r == 0 && total > KI__ANNOTATIONS_MAX) {
        r = ki__invalid_add_text(c->errors, KI__INVALID_TOO_LONG, c->field.data, (ki_str){0},
                                 "may not be more than 262144 bytes");
    }
    return r;
}

/* ---- owner references ---- */

/* The version is the part after the slash, or the whole string. */
static bool has_version(ki_str api_version)
{
    const char *slash = api_version.len != 0 ? memchr(api_version.ptr, '/', api_version.len) : NULL;
    return api_version.len != 0 && (slash == NULL || slash + 1 < api_version.ptr + api_version.len);
}

static int check_owner_member(checker *c, const ki_value *owner, const char *name)
{
    ki_value value = ki__value_child(owner, name);
    ki_str text;
    bool version = strcmp(name, "apiVersion") == 0;
    int r = read_text(&value, &c->text, &text);
    if (r < 0 || (version ? has_version(text) : text.len != 0)) {
        return r;
    }
    r = set_field(c, "ownerReferences.");
    r = r < 0 ? r : ki_buf_add_text(&c->field, name);
    return r < 0
               ? r
               : ki__invalid_add_text(c->errors, KI__INVALID_VALUE, c->field.data, text,
                                      version ? "version must not be empty" : "must not be empty");
}

/* Adds an error that prints a value. */
static int add_shown(checker *c, const char *name, const ki_value *value, const char *detail)
{
    ki_buf_clear(&c->text);
    ki__out out = ki__out_to(&c->text);
    ki__out_fail(&out, set_field(c, name));
    ki__invalid_show_json(value, &out);
    return out.error < 0 ? out.error
                         : ki__invalid_add(c->errors, KI__INVALID_VALUE, ki_buf_str(&c->field),
                                           ki_buf_str(&c->text), ki_str_from(detail));
}

static int check_owner(checker *c, const ki_value *owner)
{
    static const char *const names[] = {"apiVersion", "kind", "name", "uid"};
    int r = 0;
    for (size_t i = 0; i < 4 && r == 0; i++) {
        r = check_owner_member(c, owner, names[i]);
    }
    ki_value version = ki__value_child(owner, "apiVersion");
    ki_value kind = ki__value_child(owner, "kind");
    if (r == 0 && ki_value_equals(&version, ki_str_from("v1")) &&
        ki_value_equals(&kind, ki_str_from("Event"))) {
        r = add_shown(c, "ownerReferences", owner,
                      "/v1, Kind=Event is disallowed from being an owner");
    }
    return r;
}

static bool is_controller(const ki_value *owner)
{
    ki_value value = ki__value_child(owner, "controller");
    bool flag = false;
    return ki_value_bool(&value, &flag) == 0 && flag;
}

/* "Kind/name" */
static void name_owner(const ki_value *owner, ki__out *out)
{
    ki_value kind = ki__value_child(owner, "kind");
    ki_value name = ki__value_child(owner, "name");
    if (ki_value_type(&kind) == KI_TYPE_STRING) {
        ki__out_content(out, &kind);
    }
    ki__out_char(out, '/');
    if (ki_value_type(&name) == KI_TYPE_STRING) {
        ki__out_content(out, &name);
    }
}

static int add_second_controller(checker *c, const ki_value *owners, const ki_value *first,
                                 const ki_value *second)
{
    ki_buf detail;
    ki_buf_init(&detail, c->errors->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&detail);
    ki__out_text(&out, "Only one reference can have Controller set to true. Found "
                       "\"true\" in references for ");
    name_owner(first, &out);
    ki__out_text(&out, " and ");
    name_owner(second, &out);
    int r = out.error == -ENOMEM ? out.error
                                 : add_shown(c, "ownerReferences", owners, ki_buf_text(&detail));
    ki_buf_done(&detail);
    return r;
}

static int check_owners(checker *c, const ki_value *owners)
{
    ki_value_iter iter;
    ki_value owner;
    ki_value controller = {0};
    int r = 0;
    if (ki_value_iter_begin(owners, &iter) < 0) {
        return 0;
    }
    while (r == 0 && ki_value_iter_next(&iter, NULL, &owner) > 0) {
        r = check_owner(c, &owner);
        if (r < 0 || !is_controller(&owner)) {
            continue;
        }
        if (ki_value_type(&controller) == KI_TYPE_NONE) {
            controller = owner;
        } else {
            r = add_second_controller(c, owners, &controller, &owner);
        }
    }
    return r;
}

/* ---- finalizers ---- */

static bool is_standard(ki_str finalizer)
{
    return ki_str_eq_text(finalizer, "kubernetes") ||
           ki_str_eq_text(finalizer, KI__FINALIZER_ORPHAN) ||
           ki_str_eq_text(finalizer, KI__FINALIZER_FOREGROUND);
}

static int check_finalizer(checker *c, ki_str text, size_t index)
{
    int r = set_field(c, "finalizers");
    r = r < 0 ? r : ki__name_check_key(text, text, c->field.data, c->errors);
    if (r < 0 || !c->kube || is_standard(text) ||
        (text.len != 0 && memchr(text.ptr, '/', text.len) != NULL)) {
        return r;
    }
    ki__out out = ki__out_to(&c->field);
    ki__out_index(&out, index);
    return out.error < 0
               ? out.error
               : ki__invalid_add_text(
                     c->errors, KI__INVALID_VALUE, c->field.data, text,
                     "name is neither a standard finalizer name nor is it fully qualified");
}

static int check_finalizers(checker *c, const ki_value *finalizers)
{
    ki_value_iter iter;
    ki_value finalizer;
    ki_str text;
    bool orphan = false;
    bool foreground = false;
    int r = 0;
    if (ki_value_iter_begin(finalizers, &iter) < 0) {
        return 0;
    }
    for (size_t i = 0; r == 0 && ki_value_iter_next(&iter, NULL, &finalizer) > 0; i++) {
        r = read_text(&finalizer, &c->text, &text);
        r = r < 0 ? r : check_finalizer(c, text, i);
        orphan = orphan || ki_str_eq_text(text, KI__FINALIZER_ORPHAN);
        foreground = foreground || ki_str_eq_text(text, KI__FINALIZER_FOREGROUND);
    }
    if (r == 0 && orphan && foreground) {
        r = add_shown(c, "finalizers", finalizers,
                      "finalizer " KI__FINALIZER_ORPHAN " and " KI__FINALIZER_FOREGROUND
                      " cannot be both set");
    }
    return r;
}

/* ---- the whole ---- */

static void init(checker *c, const char *base, bool kube, ki__invalid *errors)
{
    *c = (checker){.base = base, .kube = kube, .errors = errors};
    ki_buf_init(&c->field, errors->alloc, SIZE_MAX);
    ki_buf_init(&c->text, errors->alloc, SIZE_MAX);
}

static void done(checker *c)
{
    ki_buf_done(&c->field);
    ki_buf_done(&c->text);
}

int ki__metadata_check_common(const ki_value *metadata, const char *base, bool kube,
                              ki__invalid *errors)
{
    checker c;
    ki_value labels = ki__value_child(metadata, "labels");
    ki_value annotations = ki__value_child(metadata, "annotations");
    ki_value owners = ki__value_child(metadata, "ownerReferences");
    ki_value finalizers = ki__value_child(metadata, "finalizers");
    init(&c, base, kube, errors);
    int r = check_labels(&c, &labels);
    r = r < 0 ? r : check_annotations(&c, &annotations);
    r = r < 0 ? r : check_owners(&c, &owners);
    r = r < 0 ? r : check_finalizers(&c, &finalizers);
    done(&c);
    return r;
}

/* Whether finalizers of a resource need a domain: API groups served by separate libraries do not
 * require it. */
static bool is_kube(const ki__api_type *type)
{
    const char *group = ki_resource_group(type->resource);
    return type->builtin && strcmp(group, "apiextensions.k8s.io") != 0 &&
           strcmp(group, "apiregistration.k8s.io") != 0 && strcmp(group, "policy") != 0 &&
           strcmp(group, "admissionregistration.k8s.io") != 0;
}

static ki_value metadata_of(const ki_object *object)
{
    ki_value root = ki_object_root(object);
    return ki__value_child(&root, "metadata");
}

int ki__metadata_check_new(const ki__api_type *type, const ki_object *object, ki_str name,
                           ki__invalid *errors)
{
    ki_value metadata = metadata_of(object);
    ki_value base = ki__value_child(&metadata, "generateName");
    ki__name_rule rule = ki__name_rule_of(type);
    ki_buf text;
    ki_str prefix;
    ki_buf_init(&text, errors->alloc, SIZE_MAX);
    int r = read_text(&base, &text, &prefix);
    if (r == 0 && prefix.len != 0) {
        r = ki__name_check(rule, prefix, true, "metadata.generateName", errors);
    }
    if (r == 0 && name.len == 0) {
        r = ki__invalid_add_text(errors, KI__INVALID_REQUIRED, "metadata.name", (ki_str){0},
                                 "name or generateName is required");
    } else if (r == 0) {
        r = ki__name_check(rule, name, false, "metadata.name", errors);
    }
    ki_buf_done(&text);
    return r < 0 ? r : ki__metadata_check_common(&metadata, "metadata", is_kube(type), errors);
}

static bool has_finalizer(const ki_value *list, ki_str finalizer)
{
    ki_value_iter iter;
    ki_value other;
    if (ki_value_iter_begin(list, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &other) > 0) {
        if (ki_value_equals(&other, finalizer)) {
            return true;
        }
    }
    return false;
}

/* No finalizers can be added while an object is being deleted. */
static int check_new_finalizers(const ki_object *object, const ki_object *old, ki__invalid *errors)
{
    ki_value now = ki_object_finalizers(object);
    ki_value before = ki_object_finalizers(old);
    ki_value_iter iter;
    ki_value finalizer;
    ki_buf detail;
    ki_buf text;
    bool found = false;
    int r = 0;
    if (!ki_object_is_deleting(old) || ki_value_iter_begin(&now, &iter) < 0) {
        return 0;
    }
    ki_buf_init(&text, errors->alloc, SIZE_MAX);
    ki_buf_init(&detail, errors->alloc, KI__INVALID_BYTES_MAX);
    ki__out out = ki__out_to(&detail);
    ki__out_text(&out, "no new finalizers can be added if the object is being deleted, "
                       "found new finalizers []string{");
    while (out.error == 0 && ki_value_iter_next(&iter, NULL, &finalizer) > 0) {
        ki_str added;
        ki__out_fail(&out, read_text(&finalizer, &text, &added));
        if (out.error == 0 && !has_finalizer(&before, added)) {
            ki__out_text(&out, found ? ", " : "");
            ki__out_quoted(&out, added);
            found = true;
        }
    }
    ki__out_char(&out, '}');
    r = out.error;
    if (r != -ENOMEM && found) {
        r = ki__invalid_add_text(errors, KI__INVALID_FORBIDDEN, "metadata.finalizers", (ki_str){0},
                                 ki_buf_text(&detail));
    }
    ki_buf_done(&detail);
    ki_buf_done(&text);
    return r;
}

/* Fields set only by the server: a different value is rejected, an absent one is kept. */
static int check_immutable(const ki_object *object, const ki_object *old, const char *name,
                           ki__invalid *errors)
{
    ki_value now = metadata_of(object);
    ki_value before = metadata_of(old);
    ki_value set = ki__value_child(&now, name);
    ki_value was = ki__value_child(&before, name);
    bool time = strcmp(name, "deletionTimestamp") == 0;
    int64_t a = 0;
    int64_t b = 0;
    if (ki_value_type(&set) == KI_TYPE_NONE || ki_value_type(&set) == KI_TYPE_NULL) {
        return 0;
    }
    bool kept =
        ki_value_type(&was) != KI_TYPE_NONE &&
        (time || (ki_value_int64(&set, &a) == 0 && ki_value_int64(&was, &b) == 0 && a == b));
    if (kept) {
        return 0;
    }
    checker c;
    init(&c, "metadata", false, errors);
    int r = add_shown(&c, name, &set, "field is immutable");
    done(&c);
    return r;
}

int ki__metadata_check_update(const ki__api_type *type, const ki_object *object,
                              const ki_object *old, bool whole, ki__invalid *errors)
{
    ki_value metadata = metadata_of(object);
    int r = ki__metadata_check_common(&metadata, "metadata", is_kube(type), errors);
    r = r < 0 ? r : check_new_finalizers(object, old, errors);
    if (r < 0 || whole) {
        return r;
    }
    r = check_immutable(object, old, "deletionTimestamp", errors);
    return r < 0 ? r : check_immutable(object, old, "deletionGracePeriodSeconds", errors);
}

int ki__metadata_check_types(ki__api_exchange *x, const ki_object *object)
{
    ki_value metadata = metadata_of(object);
    if (x->type->builtin || ki_value_type(&metadata) == KI_TYPE_NONE) {
        return 0;
    }
    /* All kinds have the same metadata type, so any small built-in kind will do. */
    size_t max = 2 * x->model->options.object_bytes_max + 4096;
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc, .max_bytes = max};
    ki_error error = KI_ERROR_INIT;
    ki_object *bare = NULL;
    ki_buf text;
    ki_buf scratch;
    ki_buf_init(&text, x->alloc, max);
    ki_buf_init(&scratch, x->alloc, 4 * max);
    ki__out out = ki__out_to(&text);
    ki__out_text(&out, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":");
    ki__put_value(&out, &metadata);
    ki__out_char(&out, '}');
    int r = out.error;
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &bare, &error);
    r = r < 0 ? r : ki_object_write_protobuf(bare, &scratch, &error);
    ki_object_unref(bare);
    ki_buf_done(&text);
    ki_buf_done(&scratch);
    if (r == KI_ERR_INVALID || r == KI_ERR_TYPE || r == KI_ERR_DEPTH) {
        return ki__api_fail_kind(x, "the object is not one of this kind: ", error.message, "");
    }
    return ki__api_fail_write(x, r);
}

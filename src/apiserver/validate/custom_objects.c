/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/custom_objects.h"

#include <errno.h>

#include "apiserver/validate/coerce.h"
#include "apiserver/validate/conform.h"
#include "apiserver/validate/metadata.h"
#include "apiserver/verbs/write_common.h"
#include "object/edit/json_out.h"
#include "object/value.h"

enum { WARNINGS_MAX = 64 };

int ki__api_check_field_validation(ki__api_exchange *x)
{
    static const char *const allowed[] = {"", "Ignore", "Strict", "Warn"};
    const char *value = x->route.field_validation;
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(value, allowed[i]) == 0) {
            return 0;
        }
    }
    ki__api_name_options(x);
    int r = ki__invalid_add_text(&x->invalid, KI__INVALID_NOT_SUPPORTED, "fieldValidation",
                                 ki_str_from(value),
                                 "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
    return r < 0 ? r : ki__invalid_fail(&x->invalid, &x->failure, NULL, "");
}

int ki__api_warn(ki__api_exchange *x, ...)
{
    if (x->warning_count == WARNINGS_MAX) {
        return 0;
    }
    ki__out out = ki__out_to(&x->warnings);
    va_list texts;
    va_start(texts, x);
    ki__out_vtexts(&out, texts);
    va_end(texts);
    ki__out_char(&out, '\0');
    int r = ki__out_commit(&out);
    x->warning_count += r == 0 ? 1 : 0;
    return r == KI_ERR_LIMIT ? 0 : r;
}

static int warn_unknown(ki__api_exchange *x, const ki__unknown *unknown)
{
    int r = 0;
    for (const char *path = ki__unknown_next(unknown, NULL); path != NULL && r == 0;
         path = ki__unknown_next(unknown, path)) {
        r = ki__api_warn(x, "unknown field \"", path, "\"", NULL);
    }
    return r;
}

static int fail_unknown(ki__api_exchange *x, const ki__unknown *unknown)
{
    ki_buf text;
    ki_buf_init(&text, x->alloc, 64 << 10);
    ki__out out = ki__out_to(&text);
    for (const char *path = ki__unknown_next(unknown, NULL); path != NULL && out.error == 0;
         path = ki__unknown_next(unknown, path)) {
        ki__out_texts(&out, text.len != 0 ? ", " : "", "unknown field \"", path, "\"", NULL);
    }
    int r = out.error == -ENOMEM
                ? out.error
                : ki__api_fail(&x->failure, 400, KI_REASON_BAD_REQUEST,
                               "strict decoding error: ", ki_buf_text(&text), NULL);
    ki_buf_done(&text);
    return r;
}

int ki__api_coerce(ki__api_exchange *x, ki_object *object, ki_object **ret_object)
{
    const ki__structural *schema = x->shown->schema;
    if (schema == NULL) {
        *ret_object = ki_object_ref(object);
        return 0;
    }
    ki__unknown unknown;
    *ret_object = NULL;
    ki__unknown_init(&unknown, x->alloc);
    size_t max = 2 * x->model->options.object_bytes_max + 4096;
    int r = ki__coerce(schema, object, max, &unknown, ret_object);
    if (r < 0) {
        r = ki__api_fail_write(x, r);
    } else if (unknown.count != 0 && strcmp(x->route.field_validation, "Strict") == 0) {
        *ret_object = ki_object_unref(*ret_object);
        r = fail_unknown(x, &unknown);
    } else if (strcmp(x->route.field_validation, "Ignore") != 0) {
        r = warn_unknown(x, &unknown);
    }
    ki__unknown_done(&unknown);
    if (r < 0) {
        *ret_object = ki_object_unref(*ret_object);
    }
    return r;
}

static ki_value root_of(const ki_object *object)
{
    return object != NULL ? ki_object_root(object) : (ki_value){0};
}

static bool has_finalizer(const ki_object *object, ki_str finalizer)
{
    ki_value list = object != NULL ? ki_object_finalizers(object) : (ki_value){0};
    ki_value_iter iter;
    ki_value other;
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &other) > 0) {
        if (ki_value_equals(&other, finalizer)) {
            return true;
        }
    }
    return false;
}

/* Finalizer names without a domain may collide. */
static int warn_finalizer(ki__api_exchange *x, ki_str name)
{
    if (ki_str_eq_text(name, "kubernetes") || ki_str_eq_text(name, KI__FINALIZER_ORPHAN) ||
        ki_str_eq_text(name, KI__FINALIZER_FOREGROUND) ||
        (name.len != 0 && memchr(name.ptr, '/', name.len) != NULL)) {
        return 0;
    }
    bool dot = name.len != 0 && memchr(name.ptr, '.', name.len) != NULL;
    ki_buf quoted;
    ki_buf_init(&quoted, x->alloc, 4096);
    ki__out out = ki__out_to(&quoted);
    ki__out_quoted(&out, name);
    int r = out.error == -ENOMEM
                ? out.error
                : ki__api_warn(x, "metadata.finalizers: ", ki_buf_text(&quoted),
                               ": prefer a domain-qualified finalizer name",
                               dot ? " including a path (/)" : "",
                               " to avoid accidental conflicts with other finalizer writers", NULL);
    ki_buf_done(&quoted);
    return r;
}

static int warn_finalizers(ki__api_exchange *x, const ki_object *object, const ki_object *old)
{
    ki_value list = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value finalizer;
    ki_buf text;
    int r = 0;
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return 0;
    }
    ki_buf_init(&text, x->alloc, SIZE_MAX);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &finalizer) > 0) {
        ki_buf_clear(&text);
        r = ki_value_copy_string(&finalizer, &text);
        if (r == 0 && !has_finalizer(old, ki_buf_str(&text))) {
            r = warn_finalizer(x, ki_buf_str(&text));
        }
    }
    ki_buf_done(&text);
    return r;
}

int ki__api_conform(ki__api_exchange *x, const ki_object *object, const ki_object *old,
                    const char *name)
{
    const ki__structural *schema = x->shown->schema;
    if (schema == NULL) {
        return 0;
    }
    int r = 0;
    uint32_t node = KI__STRUCTURAL_ROOT;
    ki_value value = root_of(object);
    ki_value before = root_of(old);
    bool status = strcmp(x->route.subresource, "status") == 0;
    if (status) {
        value = ki__value_child(&value, "status");
        before = ki__value_child(&before, "status");
        node = ki__structural_member(schema, node, ki_str_from("status"));
    }
    if (node != 0 && ki_value_type(&value) != KI_TYPE_NONE) {
        r = ki__conform(schema, node, &value, &before, status ? "status" : "", &x->invalid);
    }
    if (r == 0 && ki__invalid_is_empty(&x->invalid)) {
        return warn_finalizers(x, object, old);
    }
    return r < 0 ? ki__api_fail_write(x, r)
                 : ki__invalid_fail(&x->invalid, &x->failure, x->type, name);
}

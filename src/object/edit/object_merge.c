/* SPDX-License-Identifier: Apache-2.0 */
/* The public patch functions. Objects and patches are converted to JSON before they are merged. */
#include <errno.h>

#include <kinformer/merge.h>

#include "base/error.h"
#include "object/edit/json_edit.h"
#include "object/edit/object_json.h"
#include "object/edit/patch.h"
#include "object/json/json_skip.h"
#include "object/json/json_value.h"
#include "object/proto/schema.h"

static const char *name_of(ki_patch_type type)
{
    static const char *const names[] = {
        [KI_PATCH_MERGE] = "merge patch",
        [KI_PATCH_STRATEGIC] = "strategic merge patch",
        [KI_PATCH_JSON] = "JSON patch",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == KI_PATCH_MAX, "a name for each type");
    return names[type];
}

static int check_type(const ki_object *object, ki_patch_type type, const ki_value *patch,
                      ki_error *error)
{
    ki_type wanted = type == KI_PATCH_JSON ? KI_TYPE_LIST : KI_TYPE_MAP;
    if (ki_value_type(patch) != wanted) {
        return ki__error_set(error, KI_ERR_INVALID, "%s: must be a %s, found %s", name_of(type),
                             ki_type_name(wanted), ki_type_name(ki_value_type(patch)));
    }
    if (type == KI_PATCH_STRATEGIC &&
        ki__schema_of_kind(ki_str_from(ki_object_api_version(object)),
                           ki_str_from(ki_object_kind(object))) == NULL) {
        return ki__error_set(error, KI_ERR_NO_SCHEMA,
                             "strategic merge patch: %s %s is not a built-in kind",
                             ki_object_api_version(object), ki_object_kind(object));
    }
    return 0;
}

/* Appends the result of the patch. */
static int patch_text(const ki_object *object, ki_patch_type type, const ki_value *patch,
                      const ki_alloc *alloc, ki_buf *out, ki_error *error)
{
    ki_error details = KI_ERROR_INIT;
    ki_value target = ki_object_root(object);
    int r = 0;
    switch (type) {
    case KI_PATCH_STRATEGIC:
        r = ki__strategic_merge(&target, patch, ki_str_from(ki_object_api_version(object)),
                                ki_str_from(ki_object_kind(object)), alloc, out, &details);
        break;
    case KI_PATCH_JSON:
        r = ki__json_patch(&target, patch, alloc, out, &details);
        break;
    case KI_PATCH_MERGE:
    case KI_PATCH_MAX:
        r = ki__json_merge(&target, patch, alloc, out);
        break;
    }
    if (r == KI_ERR_INVALID && type == KI_PATCH_JSON) {
        return ki__error_set(error, r, "JSON patch: %s", details.message);
    }
    if (r == KI_ERR_INVALID) {
        return ki__error_set(error, r, "%s", details.message);
    }
    return r < 0 ? ki__error_set(error, r, "%s: %s", name_of(type), ki_error_text(r)) : 0;
}

/* The patch must be JSON. */
static int merge(const ki_object *object, ki_patch_type type, const ki_value *patch,
                 const ki_object_options *options, ki_object **ret_object, ki_error *error)
{
    ki_object *json = NULL;
    ki_buf text;
    ki_buf_init(&text, options->alloc, options->max_bytes);
    int r = check_type(object, type, patch, error);
    r = r < 0 ? r : ki__object_to_json(object, options, &json, error);
    r = r < 0 ? r : patch_text(json, type, patch, options->alloc, &text, error);
    r = r < 0 ? r
              : ki__object_from_written(ki_buf_str(&text), "patched object", options, ret_object,
                                        error);
    ki_object_unref(json);
    ki_buf_done(&text);
    return r;
}

static int check_arguments(ki_patch_type type, const ki_object_options *options,
                           ki_object_options *ret_options, ki_error *error)
{
    if ((unsigned)type >= KI_PATCH_MAX) {
        return ki__error_set(error, -EINVAL, "type: unknown patch type %d", (int)type);
    }
    return ki__object_json_options(options, ret_options, error);
}

int ki_object_merge(const ki_object *object, ki_patch_type type, ki_str patch,
                    const ki_object_options *options, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(object, error);
    KI__REQUIRE(ret_object, error);
    ki_object_options o;
    ki_value value = {0};
    ki_buf copy;
    int r = check_arguments(type, options, &o, error);
    if (r < 0) {
        return r;
    }
    ki_buf_init(&copy, o.alloc, o.max_bytes + KI__JSON_PADDING);
    r = ki__json_text_value(patch, name_of(type), o.max_depth, &copy, &value, error);
    r = r < 0 ? r : merge(object, type, &value, &o, ret_object, error);
    ki_buf_done(&copy);
    return r;
}

int ki_object_merge_value(const ki_object *object, ki_patch_type type, const ki_value *patch,
                          const ki_object_options *options, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(object, error);
    KI__REQUIRE(patch, error);
    KI__REQUIRE(ret_object, error);
    ki_object_options o;
    ki_buf text;
    int r = check_arguments(type, options, &o, error);
    if (r < 0) {
        return r;
    }
    if (patch->ops == &ki__json_value_ops) {
        return merge(object, type, patch, &o, ret_object, error);
    }
    ki_buf_init(&text, o.alloc, o.max_bytes);
    r = ki_value_write_json(patch, &text);
    r = r < 0 ? ki__error_set(error, r, "%s: %s", name_of(type), ki_error_text(r))
              : ki_object_merge(object, type, ki_buf_str(&text), &o, ret_object, error);
    ki_buf_done(&text);
    return r;
}

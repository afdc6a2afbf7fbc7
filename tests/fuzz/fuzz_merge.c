/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is an object, the rest a patch; all three types are tried. A failure must have a
 * message. The result must be an object; a merge patch applied again must change nothing, and a
 * value as the patch must give the same as its text. */
#include <stdlib.h>

#include <kinformer/merge.h>

#include "object/edit/json_edit.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void check_same(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    bool same = false;
    must(ki__json_same(&left, &right, NULL, &same) == 0 && same);
}

static void merge(const ki_object *object, ki_patch_type type, ki_str patch)
{
    ki_object *merged = NULL;
    ki_object *again = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_merge(object, type, patch, NULL, &merged, &error);
    if (r < 0) {
        must(merged == NULL && error.code == r && error.message[0] != '\0');
        must(r != KI_ERR_SYNTAX || error.offset <= patch.len);
        return;
    }
    if (type == KI_PATCH_MERGE) {
        must(ki_object_merge(merged, type, patch, NULL, &again, NULL) == 0);
        check_same(merged, again);
        again = ki_object_unref(again);
    }
    ki_object *holder = NULL;
    if (type != KI_PATCH_JSON &&
        ki_object_from_json(patch.ptr, patch.len, NULL, &holder, NULL) == 0) {
        ki_value value = ki_object_root(holder);
        must(ki_object_merge_value(object, type, &value, NULL, &again, NULL) == 0);
        check_same(merged, again);
    }
    ki_object_unref(holder);
    ki_object_unref(again);
    ki_object_unref(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    const char *end = len != 0 ? memchr(text, '\n', len) : NULL;
    ki_object *object = NULL;
    if (end == NULL || ki_object_from_json(text, (size_t)(end - text), NULL, &object, NULL) < 0) {
        return 0;
    }
    ki_str patch = ki_str_make(end + 1, len - (size_t)(end - text) - 1);
    for (ki_patch_type type = KI_PATCH_MERGE; type < KI_PATCH_MAX; type++) {
        merge(object, type, patch);
    }
    ki_object_unref(object);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is an object, the rest a patch; all three types are tried. A failure must have a
 * message. The result must be an object; a merge patch applied again must change nothing, and a
 * value as the patch must give the same as its text. If the rest is an object, the merge patch
 * between the two must lead from one to the other. */
#include <stdlib.h>

#include <kinformer/diff.h>
#include <kinformer/merge.h>

#include "object/edit/json_edit.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static bool is_same(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    bool same = false;
    must(ki__json_same(&left, &right, NULL, &same) == 0);
    return same;
}

static void diff(const ki_object *before, const ki_object *after)
{
    ki_buf patch;
    ki_diff *changes = NULL;
    ki_object *made = NULL;
    ki_buf_init(&patch, NULL, 1 << 26);
    must(ki_object_diff(before, after, NULL, &changes, NULL) == 0);
    int r = ki_object_merge_patch(before, after, &patch, NULL);
    must(r == 0 || r == 1);
    /* What is named twice in a map inside of a list is not even the same as itself. */
    if (is_same(before, before) && is_same(after, after)) {
        r = ki_object_merge(before, KI_PATCH_MERGE, ki_buf_str(&patch), NULL, &made, NULL);
        must(r == 0 || r == KI_ERR_LIMIT || r == KI_ERR_INVALID);
        ki_buf_clear(&patch);
        must(r < 0 || ki_object_merge_patch(made, after, &patch, NULL) == 0);
    }
    for (size_t i = 0; i < ki_diff_count(changes); i++) {
        must(ki_diff_at(changes, i)->path[0] != '\0');
    }
    (void)ki_diff_unref(changes);
    ki_object_unref(made);
    ki_buf_done(&patch);
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
        must(is_same(merged, again) || !is_same(merged, merged));
        again = ki_object_unref(again);
    }
    ki_object *holder = NULL;
    if (type != KI_PATCH_JSON &&
        ki_object_from_json(patch.ptr, patch.len, NULL, &holder, NULL) == 0) {
        ki_value value = ki_object_root(holder);
        must(ki_object_merge_value(object, type, &value, NULL, &again, NULL) == 0);
        must(is_same(merged, again) || !is_same(merged, merged));
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
    ki_object *other = NULL;
    if (ki_object_from_json(patch.ptr, patch.len, NULL, &other, NULL) == 0) {
        diff(object, other);
        diff(other, object);
    }
    ki_object_unref(other);
    ki_object_unref(object);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Edits: creation, nodes and results. Invariant: the tree is always valid JSON, so a result can
 * only fail because of size, depth or metadata. */
#include "object/edit/object_edit.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "object/edit/json_diff.h"
#include "object/edit/json_edit.h"
#include "object/edit/object_json.h"
#include "object/json/json_skip.h"

struct ki__object_edit_piece {
    struct ki__object_edit_piece *next;
    char bytes[]; /* with the padding required for JSON values */
};

/* ---- creation and release ---- */

static int start(ki_edit *edit, const ki_object *object, ki_error *error)
{
    const ki_object_options *o = &edit->object_options;
    int r = object != NULL ? ki__object_to_json(object, o, &edit->origin, error)
                           : ki_object_from_json("{}", 2, o, &edit->origin, error);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(edit->origin);
    r = ki__tree_add(&edit->tree, &root, &edit->root);
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki_edit_new(const ki_object *object, const ki_edit_options *options, ki_edit **ret_edit,
                ki_error *error)
{
    KI__REQUIRE(ret_edit, error);
    ki_edit_options o;
    ki_object_options object_options;
    int r = KI__TAKE(ki_edit_options, &o, options, error);
    if (r == 0) {
        object_options = (ki_object_options){
            .size = sizeof(object_options), .alloc = o.alloc, .max_bytes = o.max_bytes};
        r = ki__object_json_options(&object_options, &object_options, error);
    }
    if (r < 0) {
        return r;
    }
    ki_edit *edit = ki__alloc_zero(object_options.alloc, sizeof(*edit));
    if (edit == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    edit->clock = o.clock;
    edit->lock_version = o.lock_version;
    edit->object_options = object_options;
    ki__tree_init(&edit->tree, object_options.alloc);
    ki_buf_init(&edit->text, object_options.alloc, object_options.max_bytes);
    r = start(edit, object, error);
    if (r < 0) {
        (void)ki_edit_unref(edit);
        return r;
    }
    *ret_edit = edit;
    return 0;
}

ki_edit *ki_edit_unref(ki_edit *edit)
{
    if (edit == NULL) {
        return NULL;
    }
    const ki_alloc *alloc = edit->object_options.alloc;
    while (edit->pieces != NULL) {
        struct ki__object_edit_piece *piece = edit->pieces;
        edit->pieces = piece->next;
        ki__free(alloc, piece);
    }
    ki__tree_done(&edit->tree);
    ki_buf_done(&edit->text);
    ki_object_unref(edit->origin);
    ki__free(alloc, edit);
    return NULL;
}

/* ---- nodes ---- */

bool ki__object_edit_accept(ki_edit *edit, int r)
{
    if (r < 0 && edit->error.code == 0) {
        (void)ki__error_code(&edit->error, r);
    }
    return edit->error.code == 0;
}

ki__out ki__object_edit_text(ki_edit *edit)
{
    ki_buf_clear(&edit->text);
    return ki__out_to(&edit->text);
}

uint32_t ki__object_edit_take(ki_edit *edit, const ki__out *out)
{
    uint32_t node = KI__TREE_NONE;
    const ki_object_options *o = &edit->object_options;
    ki_str json = ki_buf_str(&edit->text);
    if (!ki__object_edit_accept(edit, out->error) ||
        !ki__object_edit_accept(edit,
                                json.len > o->max_bytes - edit->piece_bytes ? KI_ERR_LIMIT : 0)) {
        return KI__TREE_NONE;
    }
    struct ki__object_edit_piece *piece =
        ki__alloc(o->alloc, sizeof(*piece) + json.len + KI__JSON_PADDING);
    if (!ki__object_edit_accept(edit, piece == NULL ? -ENOMEM : 0)) {
        return KI__TREE_NONE;
    }
    memcpy(piece->bytes, json.ptr, json.len);
    memset(piece->bytes + json.len, 0, KI__JSON_PADDING);
    piece->next = edit->pieces;
    edit->pieces = piece;
    edit->piece_bytes += json.len;
    ki_value value = ki__json_value_at(ki__json_skip_space(piece->bytes), piece->bytes + json.len);
    return ki__object_edit_accept(edit, ki__tree_add(&edit->tree, &value, &node)) ? node
                                                                                  : KI__TREE_NONE;
}

uint32_t ki__object_edit_string(ki_edit *edit, ki_str text)
{
    ki__out out = ki__object_edit_text(edit);
    ki__put_string(&out, text);
    return ki__object_edit_take(edit, &out);
}

bool ki__object_edit_is_string(const ki_edit *edit, uint32_t node, ki_str text)
{
    if (node == KI__TREE_NONE || edit->tree.nodes[node].type != KI_TYPE_STRING) {
        return false;
    }
    ki_value value = ki__tree_value(&edit->tree, node);
    return ki_value_equals(&value, text);
}

void ki__object_edit_set_member(ki_edit *edit, uint32_t map, ki_str name, uint32_t node)
{
    if (node != KI__TREE_NONE) {
        (void)ki__object_edit_accept(edit, ki__tree_set(&edit->tree, map, name, node));
        return;
    }
    for (uint32_t old; (old = ki__tree_get(&edit->tree, map, name)) != KI__TREE_NONE;) {
        ki__tree_remove(&edit->tree, old);
    }
}

/* ---- results ---- */

static int check(const ki_edit *edit, ki_error *error)
{
    if (edit->error.code < 0) {
        if (error != NULL) {
            ki__error_copy(error, &edit->error);
        }
        return edit->error.code;
    }
    return ki__tree_is_spent(&edit->tree)
               ? ki__error_set(error, KI_ERR_LIMIT, "edit: too many changes of large maps or lists")
               : 0;
}

int ki_edit_object(const ki_edit *edit, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(edit, error);
    KI__REQUIRE(ret_object, error);
    ki_buf text;
    ki_buf_init(&text, edit->object_options.alloc, edit->object_options.max_bytes);
    int r = check(edit, error);
    if (r == 0) {
        r = ki__tree_write(&edit->tree, edit->root, &text);
        r = r < 0 ? ki__error_code(error, r)
                  : ki__object_from_written(ki_buf_str(&text), "edited object",
                                            &edit->object_options, ret_object, error);
    }
    ki_buf_done(&text);
    return r;
}

/* Appends the patch from the original object to the edited one. */
static int add_patch(const ki_edit *edit, ki__diff_form form, ki__out *out, ki_error *error)
{
    ki_object *object = NULL;
    int r = ki_edit_object(edit, &object, error);
    if (r < 0) {
        ki__out_fail(out, r);
        return r;
    }
    ki_value before = ki_object_root(edit->origin);
    ki_value after = ki_object_root(object);
    r = ki__json_diff(&before, &after, form, edit->object_options.alloc, out);
    ki_object_unref(object);
    return r < 0 ? ki__error_code(error, r) : 0;
}

/* Appends a merge patch with the resourceVersion added: merging one patch into the other keeps the
 * nulls of the first. */
static int add_version(const ki_edit *edit, ki_str patch, ki__out *out, ki_error *error)
{
    const ki_alloc *alloc = edit->object_options.alloc;
    const char *version = ki_object_resource_version(edit->origin);
    ki_value target;
    ki_value lock;
    ki_buf copies[2];
    ki_buf text;
    ki_buf_init(&text, alloc, 4096);
    ki_buf_init(&copies[0], alloc, SIZE_MAX);
    ki_buf_init(&copies[1], alloc, SIZE_MAX);
    ki__out json = ki__out_to(&text);
    ki__out_text(&json, "{\"metadata\":{\"resourceVersion\":");
    ki__put_string(&json, ki_str_from(version));
    ki__out_text(&json, "}}");
    int r = version[0] != '\0' ? json.error : KI_ERR_INVALID;
    if (r < 0) {
        r = ki__error_set(error, r, "metadata.resourceVersion: %s",
                          r == KI_ERR_INVALID ? "missing, lock_version requires it"
                                              : ki_error_text(r));
    }
    uint32_t depth = edit->object_options.max_depth;
    r = r < 0 ? r : ki__json_text_value(patch, "patch", depth, &copies[0], &target, error);
    r = r < 0 ? r
              : ki__json_text_value(ki_buf_str(&text), "patch", depth, &copies[1], &lock, error);
    if (r == 0) {
        r = ki__json_merge(&target, &lock, alloc, out->buf);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    ki_buf_done(&text);
    ki_buf_done(&copies[0]);
    ki_buf_done(&copies[1]);
    ki__out_fail(out, r);
    return r;
}

int ki_edit_merge_patch(const ki_edit *edit, ki_buf *out, ki_error *error)
{
    KI__REQUIRE(edit, error);
    KI__REQUIRE(out, error);
    ki_buf patch;
    ki_buf_init(&patch, edit->object_options.alloc, out->max);
    ki__out text = ki__out_to(edit->lock_version ? &patch : out);
    int r = add_patch(edit, KI__DIFF_MERGE_PATCH, &text, error);
    (void)ki__out_commit(&text); /* already in `r` */
    bool changed = r == 0 && text.buf->len - text.start > strlen("{}");
    if (r == 0 && edit->lock_version) {
        ki__out locked = ki__out_to(out);
        if (changed) {
            r = add_version(edit, ki_buf_str(&patch), &locked, error);
        } else {
            ki__out_text(&locked, "{}");
            r = locked.error < 0 ? ki__error_code(error, locked.error) : 0;
        }
        (void)ki__out_commit(&locked); /* already in `r` */
    }
    ki_buf_done(&patch);
    return r < 0 ? r : changed;
}

int ki_edit_json_patch(const ki_edit *edit, ki_buf *out, ki_error *error)
{
    KI__REQUIRE(edit, error);
    KI__REQUIRE(out, error);
    ki__out text = ki__out_to(out);
    const char *version = ki_object_resource_version(edit->origin);
    int r = check(edit, error);
    if (r == 0 && version[0] == '\0') {
        r = ki__error_set(error, KI_ERR_INVALID,
                          "metadata.resourceVersion: missing, a JSON patch would test it");
    }
    if (r < 0) {
        return r;
    }
    ki__out_text(&text, "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":");
    ki__put_string(&text, ki_str_from(version));
    ki__out_char(&text, '}');
    size_t tested = out->len;
    r = text.error < 0 ? ki__error_code(error, text.error)
                       : add_patch(edit, KI__DIFF_OPERATIONS, &text, error);
    bool changed = out->len != tested;
    if (r == 0 && !changed) {
        ki__buf_truncate(out, text.start + 1);
    }
    ki__out_char(&text, ']');
    if (r == 0 && text.error < 0) {
        r = ki__error_code(error, text.error);
    }
    (void)ki__out_commit(&text); /* already in `r` */
    return r < 0 ? r : changed;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Merging a part of an object into an edit, by the rules of server-side apply. */
#include <stdarg.h>

#include "base/error.h"
#include "object/edit/apply_merge.h"
#include "object/edit/json_writer.h"
#include "object/edit/object_edit.h"
#include "object/json/json_scan.h"

/* A string at the top of the object, or of what is merged into it; "" if neither has it. */
static ki_str text_of(ki_edit *edit, uint32_t merged, const char *name)
{
    ki_str text = ki_str_make("", 0);
    uint32_t node = ki__tree_get(&edit->tree, edit->root, ki_str_from(name));
    node = node != KI__TREE_NONE ? node : ki__tree_get(&edit->tree, merged, ki_str_from(name));
    if (node != KI__TREE_NONE && edit->tree.nodes[node].type == KI_TYPE_STRING) {
        ki_value value = ki__tree_value(&edit->tree, node);
        (void)!ki_value_string(&value, &text); /* one with escapes is no built-in kind */
    }
    return text;
}

/* The text is valid JSON. */
static void merge(ki_edit *edit, ki_str json)
{
    ki__out out = ki__object_edit_text(edit);
    ki__out_str(&out, json);
    uint32_t node = ki__object_edit_take(edit, &out);
    if (node == KI__TREE_NONE) {
        return;
    }
    if (edit->tree.nodes[node].type != KI_TYPE_MAP) {
        (void)ki__error_set(&edit->error, KI_ERR_TYPE, "merge: must be a map, found %s",
                            ki_type_name(edit->tree.nodes[node].type));
        return;
    }
    ki__merge_type type =
        ki__merge_type_builtin(text_of(edit, node, "apiVersion"), text_of(edit, node, "kind"));
    (void)ki__object_edit_accept(edit, ki__merge_objects(&edit->tree, edit->root, node, &type));
}

void ki_edit_merge_json(ki_edit *edit, ki_str json)
{
    ki_error error = KI_ERROR_INIT;
    if (!ki__object_edit_is_open(edit)) {
        return;
    }
    json.ptr = json.ptr != NULL ? json.ptr : "";
    int r = ki__json_check(json, edit->object_options.max_depth, &error);
    if (r < 0) {
        (void)ki__error_at(&edit->error, r, json, (size_t)error.offset, "merge: %s", error.message);
        return;
    }
    merge(edit, json);
}

void ki_edit_merge_format(ki_edit *edit, const char *format, ...)
{
    ki_json *json = NULL;
    ki_str text;
    va_list arguments;
    if (!ki__object_edit_is_open(edit)) {
        return;
    }
    if (format == NULL) {
        (void)ki__error_null(&edit->error, "format");
        return;
    }
    const ki_json_options options = {.size = sizeof(options),
                                     .alloc = edit->object_options.alloc,
                                     .max_bytes = edit->object_options.max_bytes,
                                     .replace_invalid_utf8 = true};
    int r = ki_json_new(&options, &json, &edit->error);
    if (r == 0) {
        va_start(arguments, format);
        ki__json_vformat(json, NULL, format, arguments);
        va_end(arguments);
        r = ki_json_text(json, &text, &edit->error);
    }
    if (r == 0) {
        merge(edit, text);
    }
    (void)ki_json_unref(json);
}

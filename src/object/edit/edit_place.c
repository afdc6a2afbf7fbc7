/* SPDX-License-Identifier: Apache-2.0 */
/* Edits at places, which typed views consist of: nodes of the tree. Nodes are never reused, so a
 * place that was removed is recognized by having no way up to the root. */
#include <errno.h>

#include "base/error.h"
#include "object/edit/object_edit.h"
#include "object/edit/path_text.h"
#include "object/json/json_scan.h"
#include "object/text/quantity.h"
#include "object/text/text_format.h"
#include "object/view.h"

static const ki_place nowhere = {NULL, KI__TREE_NONE};

/* ---- errors ---- */

/* Appends the path to a node that is part of the object, from the root down. */
static void put_path(const ki_edit *edit, uint32_t node, ki__out *out)
{
    uint32_t way[KI__OUT_DEPTH_MAX];
    size_t steps = 0;
    for (; node != edit->root && steps < KI__OUT_DEPTH_MAX; node = edit->tree.nodes[node].parent) {
        way[steps++] = node;
    }
    while (steps != 0) {
        const ki__tree_node *n = &edit->tree.nodes[way[--steps]];
        if (edit->tree.nodes[n->parent].type == KI_TYPE_MAP) {
            ki__path_text_member(out, ki__tree_name(&edit->tree, way[steps]));
            continue;
        }
        uint64_t index = 0;
        for (uint32_t before = n->prev; before != KI__TREE_NONE; index++) {
            before = edit->tree.nodes[before].prev;
        }
        ki__out_index(out, index);
    }
}

/* Records an error at a member of a map, or at an element to append to a list. */
static void fail(ki_place at, const char *name, int code, const char *why)
{
    ki_edit *edit = at.edit;
    ki__out path = ki__object_edit_text(edit);
    put_path(edit, at.node, &path);
    if (name != NULL) {
        ki__path_text_member(&path, ki_str_from(name));
    }
    (void)ki__error_set(&edit->error, code, "path \"");
    ki__error_add(&edit->error, ki_buf_str(&edit->text));
    ki__error_add(&edit->error, ki_str_from("\": "));
    ki__error_add(&edit->error, ki_str_from(why));
}

static void fail_type(ki_place at, const char *name, ki_type found, ki_type wanted)
{
    fail(at, name, KI_ERR_TYPE, "is a ");
    ki__error_add(&at.edit->error, ki_str_from(ki_type_name(found)));
    ki__error_add(&at.edit->error, ki_str_from(", not a "));
    ki__error_add(&at.edit->error, ki_str_from(ki_type_name(wanted)));
}

/* Whether a change can proceed at a place, which is a list if `name` is NULL, else a map. */
static bool is_ready(ki_place at, const char *name)
{
    ki_edit *edit = at.edit;
    if (!ki__object_edit_is_open(edit)) {
        return false;
    }
    uint32_t top = at.node;
    while (top != edit->root && top != KI__TREE_NONE) {
        top = edit->tree.nodes[top].parent;
    }
    if (top == KI__TREE_NONE) {
        (void)ki__error_set(&edit->error, KI_ERR_NOT_FOUND,
                            "place%s%s: was removed from the object, or replaced",
                            name != NULL ? " of " : "", name != NULL ? name : "");
        return false;
    }
    ki_type wanted = name != NULL ? KI_TYPE_MAP : KI_TYPE_LIST;
    if (edit->tree.nodes[at.node].type != wanted) {
        fail_type(at, NULL, edit->tree.nodes[at.node].type, wanted);
        return false;
    }
    return true;
}

static bool is_given(ki_place at, const char *name, const void *argument, const char *argument_name)
{
    if (is_ready(at, name) && argument == NULL) {
        (void)ki__error_null(&at.edit->error, argument_name);
    }
    return ki__object_edit_is_open(at.edit);
}

/* ---- places ---- */

static void put_node(ki_place at, const char *name, uint32_t node)
{
    if (node == KI__TREE_NONE) {
        return;
    }
    if (name != NULL) {
        ki__object_edit_set_member(at.edit, at.node, ki_str_from(name), node);
    } else {
        ki__tree_insert(&at.edit->tree, at.node, KI__TREE_NONE, node);
    }
}

static ki_place child(ki_place at, const char *name, ki_type type)
{
    if (!is_ready(at, name)) {
        return (ki_place){at.edit, KI__TREE_NONE};
    }
    ki__tree *tree = &at.edit->tree;
    uint32_t node =
        name != NULL ? ki__tree_get(tree, at.node, ki_str_from(name)) : (uint32_t)KI__TREE_NONE;
    if (node == KI__TREE_NONE || tree->nodes[node].type == KI_TYPE_NULL) {
        node = KI__TREE_NONE;
        if (ki__object_edit_accept(at.edit, ki__tree_new(tree, type, &node))) {
            put_node(at, name, node);
        }
    } else if (tree->nodes[node].type != type) {
        fail_type(at, name, tree->nodes[node].type, type);
    }
    return (ki_place){at.edit, node};
}

ki_place ki_place_map(ki_place at, const char *name)
{
    return child(at, name, KI_TYPE_MAP);
}

ki_place ki_place_list(ki_place at, const char *name)
{
    return child(at, name, KI_TYPE_LIST);
}

/* Element `index` of a list; none, with an error in the edit, if there is none. */
static uint32_t element_at(ki_place list, size_t index)
{
    if (!is_ready(list, NULL)) {
        return KI__TREE_NONE;
    }
    uint32_t node = list.edit->tree.nodes[list.node].first;
    for (; index != 0 && node != KI__TREE_NONE; index--) {
        node = ki__tree_next(&list.edit->tree, node);
    }
    if (node == KI__TREE_NONE) {
        fail(list, NULL, KI_ERR_NOT_FOUND, "the list has no such element");
    }
    return node;
}

ki_place ki_place_element(ki_place list, size_t index)
{
    return (ki_place){list.edit, element_at(list, index)};
}

ki_place ki_place_find(ki_place list, const char *name, const char *key)
{
    if (!is_given(list, NULL, key, "key")) {
        return (ki_place){list.edit, KI__TREE_NONE};
    }
    ki__tree *tree = &list.edit->tree;
    for (uint32_t e = tree->nodes[list.node].first; e != KI__TREE_NONE;
         e = ki__tree_next(tree, e)) {
        uint32_t member = ki__tree_get(tree, e, ki_str_from(name));
        if (ki__object_edit_is_string(list.edit, member, ki_str_from(key))) {
            return (ki_place){list.edit, e};
        }
    }
    ki_place added = ki_place_map(list, NULL);
    ki_place_set_text(added, name, key);
    return added;
}

/* ---- the whole object ---- */

/* Checks a string at the top of the object, or sets it if the object does not have it and `known`,
 * what is known about the object otherwise, is empty. */
static bool agree(ki_place root, const char *name, const char *expected, const char *known)
{
    ki_edit *edit = root.edit;
    uint32_t node = ki__tree_get(&edit->tree, root.node, ki_str_from(name));
    bool same = node != KI__TREE_NONE ? ki__object_edit_is_string(edit, node, ki_str_from(expected))
                                      : strcmp(known, expected) == 0;
    if (!same && node == KI__TREE_NONE && known[0] == '\0') {
        ki_place_set_text(root, name, expected);
        return ki__object_edit_is_open(edit);
    }
    if (!same) {
        fail(root, name, KI_ERR_TYPE, "is not ");
        ki__error_add(&edit->error, ki_str_from(expected));
    }
    return same;
}

ki_place ki_place_root(ki_edit *edit, const char *api_version, const char *kind)
{
    ki_place root = {edit, edit != NULL ? edit->root : (uint32_t)KI__TREE_NONE};
    return is_ready(root, "") &&
                   (api_version == NULL ||
                    agree(root, "apiVersion", api_version, ki_object_api_version(edit->origin))) &&
                   agree(root, "kind", kind, ki_object_kind(edit->origin))
               ? root
               : nowhere;
}

ki_place ki_place_new(ki_edit *edit, const char *api_version, const char *kind, const char *ns,
                      const char *name)
{
    ki_place root = ki_place_root(edit, api_version != NULL ? api_version : "v1", kind);
    if (ns != NULL) {
        ki_place_set_text(ki_place_map(root, "metadata"), "namespace", ns);
    }
    if (name != NULL) {
        ki_place_set_text(ki_place_map(root, "metadata"), "name", name);
    }
    return root;
}

/* ---- values ---- */

/* Puts the value whose text is in the edit. */
static void put(ki_place at, const char *name, const ki__out *out)
{
    if (out->error == KI_ERR_RANGE) {
        fail(at, name, KI_ERR_RANGE, "out of range");
        return;
    }
    put_node(at, name, ki__object_edit_take(at.edit, out));
}

static void put_string(ki_place at, const char *name, ki_str text)
{
    put_node(at, name, ki__object_edit_string(at.edit, text));
}

void ki_place_set_text(ki_place at, const char *name, const char *text)
{
    if (is_given(at, name, text, "text")) {
        put_string(at, name, ki_str_from(text));
    }
}

void ki_place_set_bool(ki_place at, const char *name, bool flag)
{
    if (is_ready(at, name)) {
        ki__out out = ki__object_edit_text(at.edit);
        ki__put_bool(&out, flag);
        put(at, name, &out);
    }
}

void ki_place_set_int64(ki_place at, const char *name, int64_t number)
{
    if (is_ready(at, name)) {
        ki__out out = ki__object_edit_text(at.edit);
        ki__put_i64(&out, number);
        put(at, name, &out);
    }
}

void ki_place_set_double(ki_place at, const char *name, double number)
{
    if (is_ready(at, name)) {
        ki__out out = ki__object_edit_text(at.edit);
        ki__put_double(&out, number);
        put(at, name, &out);
    }
}

void ki_place_set_bytes(ki_place at, const char *name, ki_str bytes)
{
    if (is_ready(at, name)) {
        ki__out out = ki__object_edit_text(at.edit);
        ki__put_begin_string(&out);
        ki__out_base64(&out, bytes);
        ki__put_end_string(&out);
        put(at, name, &out);
    }
}

/* The years 0 to 9999 are those that RFC 3339 can express. */
static bool is_valid_time(ki_timestamp time)
{
    const int64_t year_0 = -62167219200;
    const int64_t year_10000 = 253402300800;
    return time.seconds >= year_0 && time.seconds < year_10000 && time.nanos >= 0 &&
           time.nanos <= 999999999;
}

static void set_time(ki_place at, const char *name, ki_timestamp time, bool micro)
{
    char text[KI__TIME_TEXT_MAX];
    if (!is_ready(at, name)) {
        return;
    }
    if (!is_valid_time(time)) {
        fail(at, name, KI_ERR_RANGE, "not a time");
        return;
    }
    size_t len = micro ? ki__format_micro_time(time.seconds, time.nanos, text)
                       : ki__format_time(time.seconds, text);
    put_string(at, name, ki_str_make(text, len));
}

void ki_place_set_time(ki_place at, const char *name, ki_timestamp time)
{
    set_time(at, name, time, false);
}

void ki_place_set_micro_time(ki_place at, const char *name, ki_timestamp time)
{
    set_time(at, name, time, true);
}

void ki_place_set_duration(ki_place at, const char *name, int64_t nanoseconds)
{
    char text[KI__DURATION_TEXT_MAX];
    if (is_ready(at, name)) {
        put_string(at, name, ki_str_make(text, ki__format_duration(nanoseconds, text)));
    }
}

void ki_place_set_value(ki_place at, const char *name, ki_value value)
{
    if (!is_ready(at, name)) {
        return;
    }
    if (ki_value_type(&value) == KI_TYPE_NONE) {
        fail(at, name, KI_ERR_INVALID, "no value to set");
        return;
    }
    ki__out out = ki__object_edit_text(at.edit);
    ki__put_value(&out, &value);
    put(at, name, &out);
}

void ki_place_set_json(ki_place at, const char *name, ki_str json)
{
    ki_error error = KI_ERROR_INIT;
    if (!is_ready(at, name)) {
        return;
    }
    json.ptr = json.ptr != NULL ? json.ptr : "";
    int r = ki__json_check(json, at.edit->object_options.max_depth, &error);
    if (r < 0) {
        fail(at, name, r, error.message);
        return;
    }
    ki__out out = ki__object_edit_text(at.edit);
    ki__out_str(&out, json);
    put(at, name, &out);
}

/* ---- texts of views ---- */

void ki_place_copy_text(ki_place at, const char *name, ki_text text)
{
    if (!is_given(at, name, text.ptr, "text")) {
        return;
    }
    if (text.encoding == NULL) {
        put_string(at, name, ki_str_make(text.ptr, text.len));
        return;
    }
    ki_value value = ki__text_value(text);
    ki_place_set_value(at, name, value);
}

void ki_place_set_quantity(ki_place at, const char *name, const char *quantity)
{
    if (!is_given(at, name, quantity, "quantity")) {
        return;
    }
    if (ki__quantity_valid(ki_str_from(quantity))) {
        put_string(at, name, ki_str_from(quantity));
    } else {
        fail(at, name, KI_ERR_INVALID, "not a quantity");
    }
}

void ki_place_copy_quantity(ki_place at, const char *name, ki_quantity quantity)
{
    char room[KI__QUANTITY_TEXT_MAX + 1];
    ki_place_set_quantity(at, name, ki_text_or(quantity.text, "", room, sizeof(room)));
}

void ki_place_set_int_or_string(ki_place at, const char *name, ki_int_or_string value)
{
    if (value.is_string) {
        ki_place_copy_text(at, name, value.text);
    } else {
        ki_place_set_int64(at, name, value.number);
    }
}

/* ---- removing ---- */

void ki_place_remove(ki_place at, const char *name)
{
    if (is_ready(at, name)) {
        ki__object_edit_set_member(at.edit, at.node, ki_str_from(name), KI__TREE_NONE);
    }
}

void ki_place_remove_at(ki_place list, size_t index)
{
    uint32_t node = element_at(list, index);
    if (node != KI__TREE_NONE) {
        ki__tree_remove(&list.edit->tree, node);
    }
}

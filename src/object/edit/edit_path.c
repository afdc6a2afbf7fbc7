/* SPDX-License-Identifier: Apache-2.0 */
/* Edits at a path, and at fixed paths. */
#include "base/digits.h"
#include "base/error.h"
#include "base/utf8.h"
#include "object/edit/object_edit.h"
#include "object/json/json_scan.h"
#include "object/path/path.h"

/* The target of a path. */
typedef struct place {
    uint32_t parent;
    uint32_t node; /* none if missing */
    const ki__path_step *last;
} place;

/* ---- errors ---- */

static bool fail(ki_edit *edit, int code, const char *path, const char *why)
{
    (void)ki__error_set(&edit->error, code, "path \"");
    ki__error_add(&edit->error, ki_str_from(path));
    ki__error_add(&edit->error, ki_str_from("\": "));
    ki__error_add(&edit->error, ki_str_from(why));
    return false;
}

/* Step `number`, from 1, applies to a value of the wrong type. */
static bool fail_type(ki_edit *edit, const char *path, size_t number, ki_type found, ki_type wanted)
{
    char room[KI__DIGITS_SIZE];
    (void)fail(edit, KI_ERR_TYPE, path, "step ");
    ki__error_add(&edit->error, ki__digits(number, room));
    ki__error_add(&edit->error, ki_str_from(" leads into a "));
    ki__error_add(&edit->error, ki_str_from(ki_type_name(found)));
    ki__error_add(&edit->error, ki_str_from(", not a "));
    ki__error_add(&edit->error, ki_str_from(ki_type_name(wanted)));
    return false;
}

/* ---- paths ---- */

/* The key and value of a filter of the form [key=value]; false for any other. */
static bool read_key(const ki_path *path, const ki__path_step *filter, ki_str *ret_name,
                     ki_str *ret_text)
{
    const ki__path_term *term = &path->terms[filter->inner];
    if (term->op != KI__PATH_EQ || !term->last || term->literal.type != KI_TYPE_STRING ||
        term->left == KI__PATH_NONE) {
        return false;
    }
    const ki__path_step *member = &path->steps[term->left];
    *ret_name = member->name;
    *ret_text = term->literal.text;
    return member->kind == KI__PATH_FIELD && member->next == KI__PATH_NONE;
}

static bool is_simple(const ki_path *path, const ki__path_step *step)
{
    ki_str name;
    ki_str text;
    return step->kind == KI__PATH_FIELD || step->kind == KI__PATH_INDEX ||
           (step->kind == KI__PATH_FILTER && read_key(path, step, &name, &text));
}

/* Compiles a path that leads to a single value. NULL, with an error in the edit, if it does not. */
static ki_path *compile(ki_edit *edit, const char *text)
{
    ki_path *path = NULL;
    ki_error error = KI_ERROR_INIT;
    if (text == NULL) {
        (void)ki__error_null(&edit->error, "path");
        return NULL;
    }
    if (!ki__utf8_valid(ki_str_from(text))) { /* its names would be altered when written */
        (void)fail(edit, KI_ERR_SYNTAX, text, "not valid UTF-8");
        return NULL;
    }
    int r = ki_path_compile(text, edit->object_options.alloc, &path, &error);
    if (r < 0) {
        (void)fail(edit, r, text, error.message);
        edit->error.offset = error.offset;
        return NULL;
    }
    bool simple = path->first != KI__PATH_NONE;
    for (uint8_t i = path->first; i != KI__PATH_NONE && simple; i = path->steps[i].next) {
        simple = is_simple(path, &path->steps[i]);
    }
    if (!simple) {
        (void)fail(edit, KI_ERR_INVALID, text,
                   "must have members, indexes and [key=value] only, and at least one of them");
        path = ki_path_unref(path);
    }
    return path;
}

/* ---- steps ---- */

static uint32_t element_at(ki_edit *edit, uint32_t list, int64_t index)
{
    bool back = index < 0;
    uint32_t node = back ? edit->tree.nodes[list].last : edit->tree.nodes[list].first;
    for (uint64_t left = back ? (uint64_t) - (index + 1) : (uint64_t)index;
         left != 0 && node != KI__TREE_NONE; left--) {
        uint32_t after = ki__tree_next(&edit->tree, node); /* charges a step */
        node = back ? edit->tree.nodes[node].prev : after;
    }
    return node;
}

static uint32_t element_with(ki_edit *edit, uint32_t list, ki_str name, ki_str text)
{
    uint32_t node = edit->tree.nodes[list].first;
    while (node != KI__TREE_NONE &&
           !ki__object_edit_is_string(edit, ki__tree_get(&edit->tree, node, name), text)) {
        node = ki__tree_next(&edit->tree, node);
    }
    return node;
}

/* Takes one step from `parent`: *ret_node is none if the child is missing. */
static bool take_step(ki_edit *edit, const ki_path *path, const ki__path_step *step, size_t number,
                      uint32_t parent, uint32_t *ret_node)
{
    ki_type type = edit->tree.nodes[parent].type;
    ki_type wanted = step->kind == KI__PATH_FIELD ? KI_TYPE_MAP : KI_TYPE_LIST;
    ki_str name;
    ki_str text;
    if (type != wanted) {
        return fail_type(edit, path->text.ptr, number, type, wanted);
    }
    if (step->kind == KI__PATH_FIELD) {
        *ret_node = ki__tree_get(&edit->tree, parent, step->name);
    } else if (step->kind == KI__PATH_INDEX) {
        *ret_node = element_at(edit, parent, step->from);
    } else {
        (void)read_key(path, step, &name, &text); /* was validated by compile() */
        *ret_node = element_with(edit, parent, name, text);
    }
    return true;
}

/* Stores a node at the target of a path, replacing the existing one. */
static bool put(ki_edit *edit, const ki_path *path, const place *at, uint32_t node)
{
    if (at->last->kind == KI__PATH_FIELD) {
        ki__object_edit_set_member(edit, at->parent, at->last->name, node);
        return ki__object_edit_is_open(edit);
    }
    if (at->node == KI__TREE_NONE) {
        return fail(edit, KI_ERR_NOT_FOUND, path->text.ptr, "the list has no such element");
    }
    uint32_t after = edit->tree.nodes[at->node].next;
    ki__tree_remove(&edit->tree, at->node);
    ki__tree_insert(&edit->tree, at->parent, after, node);
    return true;
}

static bool is_missing(const ki_edit *edit, uint32_t node)
{
    return node == KI__TREE_NONE || edit->tree.nodes[node].type == KI_TYPE_NULL;
}

/* Follows a path, creating missing parents if `create`. 1 with *at set; 0 if something is missing;
 * -1 with an error in the edit. */
static int follow(ki_edit *edit, const ki_path *path, bool create, place *at)
{
    *at = (place){.node = edit->root};
    size_t number = 0;
    for (uint8_t i = path->first; i != KI__PATH_NONE; i = path->steps[i].next) {
        const place before = *at;
        if (number++ != 0 && is_missing(edit, before.node)) {
            uint32_t map;
            if (!create) {
                return 0;
            }
            if (!ki__object_edit_accept(edit, ki__tree_new(&edit->tree, KI_TYPE_MAP, &map)) ||
                !put(edit, path, &before, map)) {
                return -1;
            }
            at->node = map;
        }
        at->parent = at->node;
        at->last = &path->steps[i];
        if (!take_step(edit, path, at->last, number, at->parent, &at->node)) {
            return -1;
        }
    }
    return 1;
}

/* ---- nodes ---- */

static uint32_t node_of_json(ki_edit *edit, const char *path, ki_str json)
{
    ki_error error = KI_ERROR_INIT;
    json.ptr = json.ptr != NULL ? json.ptr : "";
    int r = ki__json_check(json, edit->object_options.max_depth, &error);
    if (r < 0) {
        (void)fail(edit, r, path, error.message);
        edit->error.offset = error.offset;
        edit->error.line = error.line;
        edit->error.column = error.column;
        return KI__TREE_NONE;
    }
    ki__out out = ki__object_edit_text(edit);
    ki__out_str(&out, json);
    return ki__object_edit_take(edit, &out);
}

static uint32_t node_of_value(ki_edit *edit, const char *path, const ki_value *value)
{
    if (value == NULL) {
        (void)ki__error_null(&edit->error, "value");
        return KI__TREE_NONE;
    }
    if (ki_value_type(value) == KI_TYPE_NONE) {
        (void)fail(edit, KI_ERR_INVALID, path, "no value to set");
        return KI__TREE_NONE;
    }
    ki__out out = ki__object_edit_text(edit);
    ki__put_value(&out, value);
    return ki__object_edit_take(edit, &out);
}

static uint32_t node_of_text(ki_edit *edit, const char *text)
{
    if (text == NULL) {
        (void)ki__error_null(&edit->error, "text");
        return KI__TREE_NONE;
    }
    return ki__object_edit_string(edit, ki_str_from(text));
}

static void set(ki_edit *edit, ki_path *path, uint32_t node)
{
    place at;
    if (path != NULL && node != KI__TREE_NONE && follow(edit, path, true, &at) > 0) {
        (void)put(edit, path, &at, node);
    }
    ki_path_unref(path);
}

static void append(ki_edit *edit, ki_path *path, uint32_t node)
{
    place at;
    if (path != NULL && node != KI__TREE_NONE && follow(edit, path, true, &at) > 0) {
        uint32_t list = at.node;
        bool ready = !is_missing(edit, list);
        if (!ready) {
            ready = ki__object_edit_accept(edit, ki__tree_new(&edit->tree, KI_TYPE_LIST, &list)) &&
                    put(edit, path, &at, list);
        } else if (edit->tree.nodes[list].type != KI_TYPE_LIST) {
            ready = fail(edit, KI_ERR_TYPE, path->text.ptr, "does not lead to a list");
        }
        if (ready) {
            ki__tree_insert(&edit->tree, list, KI__TREE_NONE, node);
        }
    }
    ki_path_unref(path);
}

/* ---- API ---- */

void ki_edit_set_string(ki_edit *edit, const char *path, const char *text)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        set(edit, compiled, compiled != NULL ? node_of_text(edit, text) : KI__TREE_NONE);
    }
}

void ki_edit_set_int64(ki_edit *edit, const char *path, int64_t number)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        ki__out out = ki__object_edit_text(edit);
        ki__put_i64(&out, number);
        set(edit, compiled, compiled != NULL ? ki__object_edit_take(edit, &out) : KI__TREE_NONE);
    }
}

void ki_edit_set_bool(ki_edit *edit, const char *path, bool flag)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        ki__out out = ki__object_edit_text(edit);
        ki__put_bool(&out, flag);
        set(edit, compiled, compiled != NULL ? ki__object_edit_take(edit, &out) : KI__TREE_NONE);
    }
}

void ki_edit_set_json(ki_edit *edit, const char *path, ki_str json)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        set(edit, compiled, compiled != NULL ? node_of_json(edit, path, json) : KI__TREE_NONE);
    }
}

void ki_edit_set_value(ki_edit *edit, const char *path, const ki_value *value)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        set(edit, compiled, compiled != NULL ? node_of_value(edit, path, value) : KI__TREE_NONE);
    }
}

void ki_edit_append_string(ki_edit *edit, const char *path, const char *text)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        append(edit, compiled, compiled != NULL ? node_of_text(edit, text) : KI__TREE_NONE);
    }
}

void ki_edit_append_json(ki_edit *edit, const char *path, ki_str json)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        append(edit, compiled, compiled != NULL ? node_of_json(edit, path, json) : KI__TREE_NONE);
    }
}

void ki_edit_append_value(ki_edit *edit, const char *path, const ki_value *value)
{
    if (ki__object_edit_is_open(edit)) {
        ki_path *compiled = compile(edit, path);
        append(edit, compiled, compiled != NULL ? node_of_value(edit, path, value) : KI__TREE_NONE);
    }
}

void ki_edit_remove(ki_edit *edit, const char *path)
{
    place at;
    ki_path *compiled = ki__object_edit_is_open(edit) ? compile(edit, path) : NULL;
    if (compiled != NULL && follow(edit, compiled, false, &at) > 0 && at.node != KI__TREE_NONE) {
        if (at.last->kind == KI__PATH_FIELD) {
            ki__object_edit_set_member(edit, at.parent, at.last->name, KI__TREE_NONE);
        } else {
            ki__tree_remove(&edit->tree, at.node);
        }
    }
    ki_path_unref(compiled);
}

void ki_edit_remove_string(ki_edit *edit, const char *path, const char *text)
{
    place at;
    ki_path *compiled = ki__object_edit_is_open(edit) ? compile(edit, path) : NULL;
    if (compiled != NULL && text == NULL) {
        (void)ki__error_null(&edit->error, "text");
    } else if (compiled != NULL && follow(edit, compiled, false, &at) > 0 &&
               !is_missing(edit, at.node)) {
        if (edit->tree.nodes[at.node].type != KI_TYPE_LIST) {
            (void)fail(edit, KI_ERR_TYPE, path, "does not lead to a list");
        } else {
            ki__object_edit_remove_strings(edit, at.node, ki_str_from(text));
        }
    }
    ki_path_unref(compiled);
}

/* ---- fixed paths ---- */

void ki__object_edit_remove_strings(ki_edit *edit, uint32_t list, ki_str text)
{
    for (uint32_t e = edit->tree.nodes[list].first, after; e != KI__TREE_NONE; e = after) {
        after = ki__tree_next(&edit->tree, e);
        if (ki__object_edit_is_string(edit, e, text)) {
            ki__tree_remove(&edit->tree, e);
        }
    }
}

uint32_t ki__object_edit_container(ki_edit *edit, const char *const names[2], ki_type type,
                                   bool create)
{
    uint32_t node = edit->root;
    for (size_t i = 0; i < 2; i++) {
        ki_type wanted = i == 0 ? KI_TYPE_MAP : type;
        uint32_t child = ki__tree_get(&edit->tree, node, ki_str_from(names[i]));
        if (!is_missing(edit, child) && edit->tree.nodes[child].type != wanted) {
            (void)ki__error_set(&edit->error, KI_ERR_TYPE, "%s%s%s: is a %s, not a %s", names[0],
                                i != 0 ? "." : "", i != 0 ? names[1] : "",
                                ki_type_name(edit->tree.nodes[child].type), ki_type_name(wanted));
            return KI__TREE_NONE;
        }
        if (is_missing(edit, child)) {
            if (!create ||
                !ki__object_edit_accept(edit, ki__tree_new(&edit->tree, wanted, &child)) ||
                !ki__object_edit_accept(
                    edit, ki__tree_set(&edit->tree, node, ki_str_from(names[i]), child))) {
                return KI__TREE_NONE;
            }
        }
        node = child;
    }
    return node;
}

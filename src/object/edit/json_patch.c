/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patches, as applied by API servers. They accept more than RFC 6902: "replace" sets a missing
 * member, a missing "value" is null, a missing member passes a test for null, and negative indexes
 * count from the end of a list. */
#include <errno.h>

#include "base/digits.h"
#include "base/error.h"
#include "object/edit/json_edit.h"
#include "object/edit/patch.h"

enum { OPERATIONS_MAX = 10000, POINTER_MAX = 4096, STEP_MAX = 1024 };

typedef struct patcher {
    ki__tree tree;
    uint32_t root;
    const ki_alloc *alloc;
    size_t number;  /* of the operation, from 1 */
    const char *op; /* operation name; NULL until known */
    ki_str path;    /* operation path, likewise */
    ki_error *error;
} patcher;

/* The target of a pointer. A negative index refers to one position later when adding. */
typedef struct place {
    uint32_t parent; /* none: the target is the root */
    uint32_t node;   /* none: missing */
    uint32_t before; /* lists: where to insert */
    char name[STEP_MAX];
    size_t name_len;
} place;

static int refuse(const patcher *p, const char *why)
{
    if (p->op == NULL) {
        return ki__error_set(p->error, KI_ERR_INVALID, "operation %zu: %s", p->number, why);
    }
    (void)ki__error_set(p->error, KI_ERR_INVALID, "operation %zu, %s \"", p->number, p->op);
    ki__error_add(p->error, p->path);
    ki__error_add(p->error, ki_str_from("\": "));
    ki__error_add(p->error, ki_str_from(why));
    return KI_ERR_INVALID;
}

/* ---- pointers ---- */

/* Decodes one step of a pointer; false if invalid. */
static bool read_step(ki_str *rest, place *at)
{
    at->name_len = 0;
    *rest = ki_str_make(rest->ptr + 1, rest->len - 1); /* the slash */
    while (rest->len != 0 && rest->ptr[0] != '/') {
        char c = rest->ptr[0];
        size_t used = 1;
        if (c == '~') {
            if (rest->len < 2 || (rest->ptr[1] != '0' && rest->ptr[1] != '1')) {
                return false;
            }
            c = rest->ptr[1] == '0' ? '~' : '/';
            used = 2;
        }
        if (at->name_len == STEP_MAX) {
            return false;
        }
        at->name[at->name_len++] = c;
        *rest = ki_str_make(rest->ptr + used, rest->len - used);
    }
    return true;
}

/* An index without sign or leading zeros. */
static bool read_index(ki_str digits, uint64_t *ret_index)
{
    return digits.len != 0 && (digits.len == 1 || digits.ptr[0] != '0') &&
           ki__digits_read(digits, ret_index);
}

/* From the end: -1 is the last element, or the position after it when adding. */
static bool step_back(patcher *p, place *at, uint64_t index)
{
    uint32_t element = KI__TREE_NONE;
    for (; index > 1; index--) {
        element =
            element == KI__TREE_NONE ? p->tree.nodes[at->parent].last : p->tree.nodes[element].prev;
        p->tree.steps -= p->tree.steps != 0 ? 1 : 0;
        if (element == KI__TREE_NONE || ki__tree_is_spent(&p->tree)) {
            return false;
        }
    }
    at->before = element;
    at->node =
        element == KI__TREE_NONE ? p->tree.nodes[at->parent].last : p->tree.nodes[element].prev;
    return true;
}

static bool step_into_list(patcher *p, place *at)
{
    ki_str name = ki_str_make(at->name, at->name_len);
    uint32_t element = p->tree.nodes[at->parent].first;
    uint64_t index;
    if (ki_str_eq_text(name, "-")) {
        at->node = KI__TREE_NONE;
        at->before = KI__TREE_NONE;
        return true;
    }
    if (name.len > 1 && name.ptr[0] == '-') {
        return read_index(ki_str_make(name.ptr + 1, name.len - 1), &index) && index != 0 &&
               step_back(p, at, index);
    }
    if (!read_index(name, &index)) {
        return false;
    }
    for (; index != 0 && element != KI__TREE_NONE; index--) {
        element = ki__tree_next(&p->tree, element);
    }
    at->node = element;
    at->before = element;
    return index == 0;
}

/* Follows a pointer; all steps but the last must exist. */
static bool follow(patcher *p, ki_str pointer, place *at)
{
    *at = (place){.node = p->root};
    if (pointer.len != 0 && pointer.ptr[0] != '/') {
        return false;
    }
    while (pointer.len != 0) {
        if (at->node == KI__TREE_NONE || !read_step(&pointer, at)) {
            return false;
        }
        at->parent = at->node;
        ki_type type = p->tree.nodes[at->parent].type;
        if (type == KI_TYPE_MAP) {
            at->node = ki__tree_get(&p->tree, at->parent, ki_str_make(at->name, at->name_len));
        } else if (type != KI_TYPE_LIST || !step_into_list(p, at)) {
            return false;
        }
    }
    return true;
}

/* ---- operations ---- */

static int put(patcher *p, const place *at, uint32_t node)
{
    if (at->parent == KI__TREE_NONE) {
        p->root = node;
        return 0;
    }
    if (p->tree.nodes[at->parent].type == KI_TYPE_MAP) {
        return ki__tree_set(&p->tree, at->parent, ki_str_make(at->name, at->name_len), node);
    }
    ki__tree_insert(&p->tree, at->parent, at->before, node);
    return 0;
}

static int do_remove(patcher *p, const place *at)
{
    if (at->node == KI__TREE_NONE || at->parent == KI__TREE_NONE) {
        return refuse(p, "nothing to remove");
    }
    ki__tree_remove(&p->tree, at->node);
    return 0;
}

static int do_replace(patcher *p, place *at, const ki_value *value)
{
    uint32_t node;
    bool in_list = at->parent != KI__TREE_NONE && p->tree.nodes[at->parent].type == KI_TYPE_LIST;
    if (at->node == KI__TREE_NONE && in_list) {
        return refuse(p, "nothing to replace");
    }
    int r = ki__tree_add(&p->tree, value, &node);
    if (r == 0 && in_list) {
        at->before = p->tree.nodes[at->node].next;
        ki__tree_remove(&p->tree, at->node);
    }
    return r < 0 ? r : put(p, at, node);
}

static bool is_within(const patcher *p, uint32_t node, uint32_t other)
{
    while (node != KI__TREE_NONE && node != other) {
        node = p->tree.nodes[node].parent;
    }
    return node == other;
}

static int do_move(patcher *p, place *from, ki_str to, bool copies)
{
    place at;
    uint32_t node = from->node;
    if (node == KI__TREE_NONE) {
        return refuse(p, "\"from\" does not exist");
    }
    int r = copies ? ki__tree_copy(&p->tree, node, &node) : 0;
    if (r < 0) {
        return r;
    }
    if (!copies &&
        (from->parent == KI__TREE_NONE || (follow(p, to, &at) && is_within(p, at.parent, node)))) {
        return refuse(p, "cannot be moved into itself");
    }
    ki__tree_remove(&p->tree, node);
    p->tree.nodes[node].name_len = 0; /* it gets another name */
    return follow(p, to, &at) ? put(p, &at, node) : refuse(p, "path does not exist");
}

/* Compares the target with the value. */
static int do_test(patcher *p, const place *at, const ki_value *value)
{
    if (at->node == KI__TREE_NONE) {
        bool passes =
            ki_value_type(value) == KI_TYPE_NULL && p->tree.nodes[at->parent].type == KI_TYPE_MAP;
        return passes ? 0 : refuse(p, "test failed");
    }
    ki_object_options options = {
        .size = sizeof(options), .alloc = p->alloc, .max_bytes = (size_t)128 << 20};
    ki_object *left = NULL;
    ki_buf text;
    bool same = false;
    ki_buf_init(&text, p->alloc, (size_t)128 << 20);
    int r = ki_buf_add_text(&text, "{\"v\":");
    r = r < 0 ? r : ki__tree_write(&p->tree, at->node, &text);
    r = r < 0 ? r : ki_buf_add_char(&text, '}');
    r = r < 0 ? r : ki_object_from_json(text.data, text.len, &options, &left, NULL);
    if (r == 0) {
        ki_value root = ki_object_root(left);
        ki_value there;
        r = ki_value_member(&root, ki_str_from("v"), &there);
        r = r < 0 ? r : ki__json_same(&there, value, p->alloc, &same);
    }
    ki_object_unref(left);
    ki_buf_done(&text);
    return r < 0 || same ? r : refuse(p, "test failed");
}

/* ---- execution ---- */

static int read_pointer(patcher *p, const ki_value *operation, const char *name, ki_buf *out)
{
    ki_value value;
    ki_buf_clear(out);
    if (ki_value_member(operation, ki_str_from(name), &value) < 0 ||
        ki_value_type(&value) != KI_TYPE_STRING) {
        return refuse(p, name[0] == 'p' ? "\"path\" is missing or not a string"
                                        : "\"from\" is missing or not a string");
    }
    return ki_value_copy_string(&value, out);
}

/* Padded, as required for JSON values. */
static const char null_text[] = "null                                                            ";

static int run(patcher *p, const ki_value *operation, ki_buf *path, ki_buf *from)
{
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "test"};
    ki_value op;
    ki_value value = {0};
    place at;
    size_t i = 0;
    p->op = NULL;
    if (ki_value_member(operation, ki_str_from("op"), &op) < 0) {
        return refuse(p, "\"op\" is missing");
    }
    while (i < 6 && !ki_value_equals(&op, ki_str_from(names[i]))) {
        i++;
    }
    int r = i < 6 ? read_pointer(p, operation, "path", path) : refuse(p, "\"op\" is unknown");
    if (r < 0) {
        return r;
    }
    p->op = names[i];
    p->path = ki_buf_str(path);
    bool moves = i == 3 || i == 4;
    if (moves) {
        r = read_pointer(p, operation, "from", from);
        if (r < 0) {
            return r;
        }
        return follow(p, ki_buf_str(from), &at) ? do_move(p, &at, ki_buf_str(path), i == 4)
                                                : refuse(p, "\"from\" does not exist");
    }
    if (i != 1 && ki_value_member(operation, ki_str_from("value"), &value) < 0) {
        value = ki__json_value_at(null_text, null_text + 4);
    }
    if (!follow(p, ki_buf_str(path), &at)) {
        return refuse(p, "path does not exist");
    }
    if (i == 0) {
        uint32_t node;
        r = ki__tree_add(&p->tree, &value, &node);
        return r < 0 ? r : put(p, &at, node);
    }
    return i == 1   ? do_remove(p, &at)
           : i == 2 ? do_replace(p, &at, &value)
                    : do_test(p, &at, &value);
}

int ki__json_patch(const ki_value *target, const ki_value *operations, const ki_alloc *alloc,
                   ki_buf *out, ki_error *error)
{
    patcher p = {.alloc = alloc, .error = error};
    ki_value_iter iter;
    ki_value operation;
    ki_buf path;
    ki_buf from;
    ki__tree_init(&p.tree, alloc);
    ki_buf_init(&path, alloc, POINTER_MAX);
    ki_buf_init(&from, alloc, POINTER_MAX);
    int r = ki_value_type(operations) == KI_TYPE_LIST
                ? ki_value_iter_begin(operations, &iter)
                : ki__error_set(error, KI_ERR_INVALID, "must be a list of operations");
    r = r < 0 ? r : ki__tree_add(&p.tree, target, &p.root);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &operation) > 0) {
        r = p.number++ < OPERATIONS_MAX && !ki__tree_is_spent(&p.tree)
                ? run(&p, &operation, &path, &from)
                : KI_ERR_LIMIT;
    }
    r = r == 0 && ki__tree_is_spent(&p.tree) ? KI_ERR_LIMIT : r;
    r = r < 0 ? r : ki__tree_write(&p.tree, p.root, out);
    ki_buf_done(&path);
    ki_buf_done(&from);
    ki__tree_done(&p.tree);
    return r;
}

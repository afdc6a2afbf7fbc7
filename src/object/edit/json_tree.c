/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/json_tree.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "object/edit/json_out.h"
#include "object/json/json_skip.h"
#include "object/json/json_string.h"

typedef struct open_value {
    ki_value_iter iter;
    uint32_t node;
} open_value;

void ki__tree_init(ki__tree *tree, const ki_alloc *alloc)
{
    alloc = ki__alloc_or_default(alloc);
    *tree = (ki__tree){.alloc = alloc, .steps = KI__TREE_STEPS_MAX};
    ki_buf_init(&tree->names, alloc, SIZE_MAX);
}

void ki__tree_done(ki__tree *tree)
{
    ki__free(tree->alloc, tree->nodes);
    ki_buf_done(&tree->names);
    *tree = (ki__tree){.alloc = tree->alloc};
}

ki_str ki__tree_name(const ki__tree *tree, uint32_t node)
{
    const ki__tree_node *n = ki__tree_at(tree, node);
    return ki_str_make(n->name_len != 0 ? tree->names.data + n->name : "", n->name_len);
}

/* ---- adding ---- */

int ki__tree_new(ki__tree *tree, ki_type type, uint32_t *ret_node)
{
    size_t count = tree->count != 0 ? tree->count : 1; /* index 0 is KI__TREE_NONE */
    if (count >= KI__TREE_NODES_MAX) {
        return KI_ERR_LIMIT;
    }
    void *nodes = tree->nodes;
    int r = ki__array_reserve(tree->alloc, &nodes, &tree->cap, count + 1, sizeof(*tree->nodes));
    tree->nodes = nodes;
    if (r < 0) {
        return r;
    }
    if (tree->count == 0) {
        tree->nodes[0] = (ki__tree_node){0};
    }
    tree->nodes[count] = (ki__tree_node){.type = type};
    tree->count = count + 1;
    *ret_node = (uint32_t)count;
    return 0;
}

static void append(ki__tree *tree, uint32_t parent, uint32_t node)
{
    ki__tree_insert(tree, parent, KI__TREE_NONE, node);
}

static int set_name(ki__tree *tree, uint32_t node, ki_str name)
{
    size_t at = tree->names.len;
    int r = ki_buf_add_str(&tree->names, name);
    if (r == 0) {
        tree->nodes[node].name = at;
        tree->nodes[node].name_len = name.len;
    }
    return r;
}

static int add_one(ki__tree *tree, const ki_value *key, const ki_value *value, uint32_t *ret_node)
{
    ki_type type = ki_value_type(value);
    int r = ki__tree_new(tree, type, ret_node);
    if (r < 0) {
        return r;
    }
    ki__tree_node *n = ki__tree_at(tree, *ret_node);
    n->text = ki_str_make(value->bytes, value->len);
    if (type != KI_TYPE_MAP && type != KI_TYPE_LIST) {
        n->text.len = (size_t)(ki__json_skip_value(n->text.ptr) - n->text.ptr);
    }
    if (key != NULL && ki_value_type(key) == KI_TYPE_STRING) {
        n->name = tree->names.len;
        r = ki_value_copy_string(key, &tree->names);
        n->name_len = tree->names.len - n->name;
    }
    return r;
}

static int open_node(ki__tree *tree, open_value **stack, size_t *cap, size_t *depth,
                     const ki_value *value, uint32_t node)
{
    ki_type type = ki_value_type(value);
    if (type != KI_TYPE_MAP && type != KI_TYPE_LIST) {
        return 0;
    }
    void *block = *stack;
    int r = ki__array_reserve(tree->alloc, &block, cap, *depth + 1, sizeof(**stack));
    *stack = block;
    if (r < 0) {
        return r;
    }
    open_value *top = &(*stack)[(*depth)++];
    top->node = node;
    return ki_value_iter_begin(value, &top->iter);
}

int ki__tree_add(ki__tree *tree, const ki_value *value, uint32_t *ret_node)
{
    open_value *stack = NULL;
    size_t cap = 0;
    size_t depth = 0;
    uint32_t root;
    int r = add_one(tree, NULL, value, &root);
    r = r < 0 ? r : open_node(tree, &stack, &cap, &depth, value, root);
    while (r == 0 && depth != 0) {
        ki_value key;
        ki_value child;
        uint32_t node;
        uint32_t parent = stack[depth - 1].node;
        if (ki_value_iter_next(&stack[depth - 1].iter, &key, &child) <= 0) {
            depth--;
            continue;
        }
        r = add_one(tree, &key, &child, &node);
        if (r == 0) {
            append(tree, parent, node);
            r = open_node(tree, &stack, &cap, &depth, &child, node);
        }
    }
    ki__free(tree->alloc, stack);
    if (r == 0) {
        *ret_node = root;
    }
    return r;
}

static int copy_one(ki__tree *tree, uint32_t node, uint32_t *ret_copy)
{
    int r = ki__tree_new(tree, tree->nodes[node].type, ret_copy);
    if (r == 0) {
        const ki__tree_node *from = ki__tree_at(tree, node);
        ki__tree_node *to = ki__tree_at(tree, *ret_copy);
        to->text = from->text;
        to->name = from->name; /* names are immutable */
        to->name_len = from->name_len;
    }
    return r;
}

/* The first sibling from `child` on that is kept. */
static uint32_t first_kept(ki__tree *tree, uint32_t child, ki__tree_keep keep, const void *user)
{
    while (keep != NULL && child != KI__TREE_NONE && !keep(tree, child, user)) {
        child = tree->nodes[child].next;
    }
    return child;
}

int ki__tree_copy_if(ki__tree *tree, uint32_t node, ki__tree_keep keep, const void *user,
                     uint32_t *ret_node)
{
    uint32_t root;
    int r = copy_one(tree, node, &root);
    uint32_t at = node;
    uint32_t copy = root;
    while (r == 0) {
        uint32_t child = first_kept(tree, tree->nodes[at].first, keep, user);
        while (child == KI__TREE_NONE && at != node) {
            child = first_kept(tree, tree->nodes[at].next, keep, user);
            at = tree->nodes[at].parent;
            copy = tree->nodes[copy].parent;
        }
        if (child == KI__TREE_NONE) {
            break;
        }
        uint32_t made;
        r = copy_one(tree, child, &made);
        if (r == 0) {
            append(tree, copy, made);
            at = child;
            copy = made;
        }
    }
    if (r == 0) {
        *ret_node = root;
    }
    return r;
}

int ki__tree_copy(ki__tree *tree, uint32_t node, uint32_t *ret_node)
{
    return ki__tree_copy_if(tree, node, NULL, NULL, ret_node);
}

/* ---- members and elements ---- */

uint32_t ki__tree_get(ki__tree *tree, uint32_t map, ki_str name)
{
    if (tree->nodes[map].type != KI_TYPE_MAP) {
        return KI__TREE_NONE;
    }
    uint32_t child = tree->nodes[map].first;
    while (child != KI__TREE_NONE && !ki_str_eq(ki__tree_name(tree, child), name)) {
        child = ki__tree_next(tree, child);
    }
    return child;
}

void ki__tree_insert(ki__tree *tree, uint32_t list, uint32_t before, uint32_t node)
{
    ki__tree_node *parent = ki__tree_at(tree, list);
    ki__tree_node *n = ki__tree_at(tree, node);
    n->parent = list;
    n->next = before;
    n->prev = before != KI__TREE_NONE ? tree->nodes[before].prev : parent->last;
    if (n->prev != KI__TREE_NONE) {
        tree->nodes[n->prev].next = node;
    } else {
        parent->first = node;
    }
    if (before != KI__TREE_NONE) {
        tree->nodes[before].prev = node;
    } else {
        parent->last = node;
    }
}

void ki__tree_remove(ki__tree *tree, uint32_t node)
{
    ki__tree_node *n = ki__tree_at(tree, node);
    if (n->parent == KI__TREE_NONE) {
        return;
    }
    ki__tree_node *parent = ki__tree_at(tree, n->parent);
    if (n->prev != KI__TREE_NONE) {
        tree->nodes[n->prev].next = n->next;
    } else {
        parent->first = n->next;
    }
    if (n->next != KI__TREE_NONE) {
        tree->nodes[n->next].prev = n->prev;
    } else {
        parent->last = n->prev;
    }
    n->parent = n->prev = n->next = KI__TREE_NONE;
}

int ki__tree_set(ki__tree *tree, uint32_t map, ki_str name, uint32_t node)
{
    uint32_t old = ki__tree_get(tree, map, name);
    if (old != KI__TREE_NONE) {
        uint32_t next = tree->nodes[old].next;
        tree->nodes[node].name = tree->nodes[old].name;
        tree->nodes[node].name_len = tree->nodes[old].name_len;
        ki__tree_remove(tree, old);
        ki__tree_insert(tree, map, next, node);
        return 0;
    }
    int r = 0;
    if (!ki_str_eq(ki__tree_name(tree, node), name)) {
        r = set_name(tree, node, name);
    }
    if (r == 0) {
        append(tree, map, node);
    }
    return r;
}

/* ---- reading ---- */

bool ki__tree_is_text(const ki__tree *tree, uint32_t node, ki_str text)
{
    ki_value value = ki__tree_value(tree, node);
    return tree->nodes[node].type == KI_TYPE_STRING && ki_value_equals(&value, text);
}

static bool same_string(ki_str a, ki_str b)
{
    if (!ki__json_raw_is_encoded(a) && !ki__json_raw_is_encoded(b)) {
        return false; /* both plain, and their texts differ */
    }
    return ki__json_raw_same(ki_str_make(a.ptr + 1, a.len - 2), ki_str_make(b.ptr + 1, b.len - 2));
}

bool ki__tree_is_integer(const ki__tree *tree, uint32_t node)
{
    ki_value value = ki__tree_value(tree, node);
    ki_str text = tree->nodes[node].text;
    int64_t number;
    bool plain = tree->nodes[node].type == KI_TYPE_NUMBER;
    for (size_t i = 0; plain && i < text.len; i++) {
        plain = text.ptr[i] != '.' && (text.ptr[i] | 0x20) != 'e';
    }
    return plain && ki_value_int64(&value, &number) == 0;
}

static bool same_number(const ki__tree *tree, uint32_t a, uint32_t b)
{
    ki_value left = ki__tree_value(tree, a);
    ki_value right = ki__tree_value(tree, b);
    int64_t x;
    int64_t y;
    double u;
    double v;
    bool whole = ki__tree_is_integer(tree, a);
    if (whole != ki__tree_is_integer(tree, b)) {
        return false;
    }
    if (whole) {
        return ki_value_int64(&left, &x) == 0 && ki_value_int64(&right, &y) == 0 && x == y;
    }
    return ki_value_double(&left, &u) == 0 && ki_value_double(&right, &v) == 0 && u == v;
}

bool ki__tree_same_scalar(const ki__tree *tree, uint32_t a, uint32_t b)
{
    const ki__tree_node *left = ki__tree_at(tree, a);
    const ki__tree_node *right = ki__tree_at(tree, b);
    if (left->type != right->type || left->type == KI_TYPE_MAP || left->type == KI_TYPE_LIST) {
        return false;
    }
    return ki_str_eq(left->text, right->text) ||
           (left->type == KI_TYPE_STRING && same_string(left->text, right->text)) ||
           (left->type == KI_TYPE_NUMBER && same_number(tree, a, b));
}

/* Writes a scalar, or the start of a map or list. */
static void begin(const ki__tree *tree, uint32_t node, bool named, ki__out *out)
{
    const ki__tree_node *n = ki__tree_at(tree, node);
    if (named) {
        ki__put_name_str(out, ki__tree_name(tree, node));
    } else {
        ki__put_comma(out);
    }
    if (n->type == KI_TYPE_MAP || n->type == KI_TYPE_LIST) {
        ki__out_char(out, n->type == KI_TYPE_MAP ? '{' : '[');
    } else {
        ki__out_str(out, n->text);
    }
}

int ki__tree_write(const ki__tree *tree, uint32_t node, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    uint32_t at = node;
    bool opened = true; /* `at` was just started; otherwise it is complete */
    begin(tree, node, false, &out);
    while (out.error == 0) {
        const ki__tree_node *n = ki__tree_at(tree, at);
        if (opened && n->first != KI__TREE_NONE) {
            begin(tree, n->first, n->type == KI_TYPE_MAP, &out);
            at = n->first;
            continue;
        }
        if (n->type == KI_TYPE_MAP || n->type == KI_TYPE_LIST) {
            ki__out_char(&out, n->type == KI_TYPE_MAP ? '}' : ']');
        }
        if (at == node) {
            break;
        }
        opened = n->next != KI__TREE_NONE;
        if (opened) {
            begin(tree, n->next, tree->nodes[n->parent].type == KI_TYPE_MAP, &out);
            at = n->next;
        } else {
            at = n->parent;
        }
    }
    return out.error;
}

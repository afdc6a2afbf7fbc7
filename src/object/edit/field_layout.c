/* SPDX-License-Identifier: Apache-2.0 */
/* Traverses the tree along its links; type and path length are kept per level. */
#include "object/edit/field_layout.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "object/edit/json_edit.h"
#include "object/edit/json_out.h"

typedef struct level {
    ki__merge_type type;
    size_t path_len;
} level;

typedef struct walk {
    ki__layout *layout;
    ki__tree *tree;
    ki__field_text *text;
    bool strict;
    ki_buf path;
    level *levels; /* of the current node and its ancestors */
    size_t depth;
    size_t cap;
    ki_str bad;
} walk;

/* ---- elements ---- */

/* Appends a scalar as canonical JSON. */
static void add_scalar(const ki_value *value, ki__out *out)
{
    int64_t number;
    ki_buf text;
    if (ki_value_type(value) == KI_TYPE_NUMBER && ki_value_int64(value, &number) == 0) {
        ki__put_i64(out, number);
        return;
    }
    if (ki_value_type(value) != KI_TYPE_STRING) {
        ki__put_value(out, value);
        return;
    }
    ki_buf_init(&text, out->buf->alloc, KI__FIELD_TEXT_MAX);
    ki__out_fail(out, ki_value_copy_string(value, &text));
    ki__put_string(out, ki_buf_str(&text));
    ki_buf_done(&text);
}

static bool is_scalar(ki_type type)
{
    return type != KI_TYPE_MAP && type != KI_TYPE_LIST && type != KI_TYPE_NONE;
}

static int add_keys(ki__tree *tree, uint32_t node, const ki__merge_type *list, ki__out *out)
{
    ki_str keys[KI__MERGE_KEYS_MAX];
    size_t count = ki__merge_type_keys(list, keys);
    bool any = false; /* a key that is present, not a default */
    ki__out_text(out, "k:{");
    for (size_t i = 0; i < count && out->error == 0; i++) {
        uint32_t child = ki__tree_get(tree, node, keys[i]);
        ki_value value = {0};
        if (child != KI__TREE_NONE) {
            value = ki__tree_value(tree, child);
        } else if (!ki__merge_type_key_default(list, keys[i], &value)) {
            continue;
        }
        if (!is_scalar(ki_value_type(&value))) {
            return 0;
        }
        ki__put_name_str(out, keys[i]);
        add_scalar(&value, out);
        any = any || child != KI__TREE_NONE;
    }
    ki__out_char(out, '}');
    return out->error < 0 ? out->error : any ? 1 : 0;
}

int ki__layout_add_element(ki__tree *tree, uint32_t node, const ki__merge_type *list, ki_buf *buf)
{
    ki_type type = ki__tree_at(tree, node)->type;
    ki__out out = ki__out_to(buf);
    if (ki__merge_type_how(list) == KI__MERGE_KEYS) {
        return type == KI_TYPE_MAP ? add_keys(tree, node, list, &out) : 0;
    }
    if (!is_scalar(type)) {
        return 0;
    }
    ki_value value = ki__tree_value(tree, node);
    ki__out_text(&out, "v:");
    add_scalar(&value, &out);
    return out.error < 0 ? out.error : 1;
}

/* ---- layout ---- */

/* Fields written only by the server, at the root and in metadata: they have no owner. */
static bool is_own(const walk *w, ki_str name)
{
    static const char *const top[] = {"apiVersion", "kind", NULL};
    static const char *const inner[] = {
        "name",        "namespace",  "creationTimestamp", "selfLink",        "uid",
        "clusterName", "generation", "managedFields",     "resourceVersion", NULL};
    bool metadata = w->depth == 2 && ki_str_eq_text(ki_buf_str(&w->path), "f:metadata");
    const char *const *names = w->depth == 1 ? top : metadata ? inner : NULL;
    for (; names != NULL && *names != NULL; names++) {
        if (ki_str_eq_text(name, *names)) {
            return true;
        }
    }
    return false;
}

/* Appends the path element of a node. 1; 0 if the node is omitted. */
static int add_to_path(walk *w, uint32_t node)
{
    const level *above = &w->levels[w->depth - 1];
    uint32_t parent = ki__tree_at(w->tree, node)->parent;
    bool in_map = ki__tree_at(w->tree, parent)->type == KI_TYPE_MAP;
    ki_str name = ki__tree_name(w->tree, node);
    if (in_map &&
        (is_own(w, name) || (!w->strict && ki__tree_at(w->tree, node)->type == KI_TYPE_NULL))) {
        return 0;
    }
    const char separator[] = {(char)KI__FIELD_SEPARATOR, '\0'};
    ki__out out = ki__out_to(&w->path);
    ki__out_text(&out, w->path.len != 0 ? separator : "");
    if (in_map) {
        ki__out_text(&out, "f:");
        ki__out_str(&out, name);
        return out.error < 0 ? out.error : 1;
    }
    int r = out.error;
    r = r < 0 ? r : ki__layout_add_element(w->tree, node, &above->type, &w->path);
    if (r == 0 && w->strict) {
        ki__buf_truncate(&w->path, above->path_len);
        (void)ki__field_text_add(w->text, ki_buf_str(&w->path), &w->bad);
        return KI_ERR_INVALID;
    }
    return r;
}

static int add_item(walk *w, uint32_t node, const ki__merge_type *type)
{
    ki__layout *layout = w->layout;
    const ki__tree_node *n = ki__tree_at(w->tree, node);
    bool whole = ki__merge_type_is_whole(type, n->type);
    bool empty = !whole && n->first == KI__TREE_NONE;
    void *items = layout->items;
    if (layout->count >= KI__FIELD_PATHS_MAX) {
        return KI_ERR_LIMIT;
    }
    int r = ki__array_reserve(layout->alloc, &items, &layout->cap, layout->count + 1,
                              sizeof(*layout->items));
    layout->items = items;
    if (r < 0) {
        return r;
    }
    ki__layout_item *item = &layout->items[layout->count];
    r = ki__field_text_add(w->text, ki_buf_str(&w->path), &item->path);
    if (r == 0) {
        layout->count++;
        item->node = node;
        item->parent = KI__LAYOUT_NONE;
        item->flags = (whole ? KI__LAYOUT_WHOLE : 0u) | (empty ? KI__LAYOUT_EMPTY : 0u) |
                      (type->named ? KI__LAYOUT_NAMED : 0u) |
                      (type->shown ? KI__LAYOUT_SHOWN : 0u) |
                      (n->type == KI_TYPE_LIST ? KI__LAYOUT_LIST : 0u);
    }
    return r;
}

static int open_level(walk *w, const ki__merge_type *type)
{
    void *levels = w->levels;
    if (w->depth == KI__FIELD_DEPTH_MAX) {
        return KI_ERR_LIMIT;
    }
    int r = ki__array_reserve(w->layout->alloc, &levels, &w->cap, w->depth + 1, sizeof(*w->levels));
    w->levels = levels;
    if (r == 0) {
        w->levels[w->depth++] = (level){*type, w->path.len};
    }
    return r;
}

/* Adds one node. *ret_open: visit its children next. */
static int visit(walk *w, uint32_t node, bool *ret_open)
{
    const level *above = &w->levels[w->depth - 1];
    uint32_t parent = ki__tree_at(w->tree, node)->parent;
    bool in_map = ki__tree_at(w->tree, parent)->type == KI_TYPE_MAP;
    ki__merge_type type = in_map ? ki__merge_type_member(&above->type, ki__tree_name(w->tree, node))
                                 : ki__merge_type_element(&above->type);
    *ret_open = false;
    int r = add_to_path(w, node);
    if (r <= 0) {
        return r;
    }
    r = add_item(w, node, &type);
    if (r == 0 && ki__tree_at(w->tree, node)->first != KI__TREE_NONE &&
        !ki__merge_type_is_whole(&type, ki__tree_at(w->tree, node)->type)) {
        r = open_level(w, &type);
        *ret_open = r == 0;
    }
    return r;
}

static int visit_all(walk *w, uint32_t root)
{
    uint32_t node = ki__tree_at(w->tree, root)->first;
    int r = 0;
    while (r == 0 && node != KI__TREE_NONE) {
        bool open;
        r = ki__tree_is_spent(w->tree) ? KI_ERR_LIMIT : visit(w, node, &open);
        if (r < 0) {
            break;
        }
        if (open) {
            node = ki__tree_at(w->tree, node)->first;
            continue;
        }
        ki__buf_truncate(&w->path, w->levels[w->depth - 1].path_len);
        while (node != root && ki__tree_at(w->tree, node)->next == KI__TREE_NONE) {
            node = ki__tree_at(w->tree, node)->parent;
            w->depth--;
            ki__buf_truncate(&w->path, w->depth != 0 ? w->levels[w->depth - 1].path_len : 0);
        }
        node = node != root ? ki__tree_at(w->tree, node)->next : (uint32_t)KI__TREE_NONE;
    }
    return r;
}

static int compare_items(const void *a, const void *b)
{
    const ki__layout_item *left = a;
    const ki__layout_item *right = b;
    int order = ki__field_path_compare(left->path, right->path);
    return order != 0 ? order : left->node < right->node ? -1 : left->node > right->node ? 1 : 0;
}

/* Sorts the items, removes duplicates, and determines their parents. */
static int finish(walk *w)
{
    ki__layout *layout = w->layout;
    size_t kept = 0;
    uint32_t above = KI__LAYOUT_NONE;
    ki__sort(layout->items, layout->count, sizeof(*layout->items), compare_items);
    for (size_t i = 0; i < layout->count; i++) {
        ki__layout_item item = layout->items[i];
        if (kept != 0 && ki_str_eq(layout->items[kept - 1].path, item.path)) {
            w->bad = item.path;
            if (w->strict) {
                return KI_ERR_INVALID;
            }
            continue;
        }
        while (above != KI__LAYOUT_NONE &&
               !ki__field_path_is_in(item.path, layout->items[above].path)) {
            above = layout->items[above].parent;
        }
        item.parent = above;
        above = (uint32_t)kept;
        layout->items[kept++] = item;
    }
    layout->count = kept;
    return 0;
}

int ki__layout_init(ki__layout *layout, ki__tree *tree, uint32_t root, const ki__merge_type *type,
                    bool strict, ki__field_text *text, ki_str *ret_bad)
{
    const ki_alloc *alloc = tree->alloc;
    *layout = (ki__layout){.alloc = alloc};
    walk w = {.layout = layout, .tree = tree, .text = text, .strict = strict};
    ki_buf_init(&w.path, alloc, KI__FIELD_TEXT_MAX);
    int r = 0;
    if (root != KI__TREE_NONE) {
        ki__merge_type counted = *type;
        counted.steps = &tree->steps;
        r = open_level(&w, &counted);
        r = r < 0 ? r : visit_all(&w, root);
        r = r < 0 ? r : finish(&w);
    }
    ki_buf_done(&w.path);
    ki__free(alloc, w.levels);
    if (ret_bad != NULL) {
        *ret_bad = w.bad;
    }
    return r;
}

void ki__layout_done(ki__layout *layout)
{
    ki__free(layout->alloc, layout->items);
    *layout = (ki__layout){.alloc = layout->alloc};
}

/* ---- sets ---- */

int ki__layout_to_set(const ki__layout *layout, ki__field_set *set)
{
    int r = 0;
    for (size_t i = 0; i < layout->count && r == 0; i++) {
        uint32_t flags = layout->items[i].flags;
        bool empty_map = (flags & KI__LAYOUT_EMPTY) != 0 && (flags & KI__LAYOUT_LIST) == 0;
        if ((flags & KI__LAYOUT_WHOLE) != 0 || (flags & KI__LAYOUT_NAMED) == 0 || empty_map) {
            r = ki__field_set_add(set, layout->items[i].path);
        }
    }
    return r;
}

/* ---- comparison ---- */

static bool is_zero(const ki__tree *tree, uint32_t node)
{
    const ki__tree_node *n = ki__tree_at(tree, node);
    return n->type == KI_TYPE_MAP || n->type == KI_TYPE_LIST
               ? n->first == KI__TREE_NONE
               : ki_str_eq_text(n->text, "0") || ki_str_eq_text(n->text, "\"\"") ||
                     ki_str_eq_text(n->text, "false") || n->type == KI_TYPE_NULL;
}

/* An item on one side only. If Go includes it on the other side as well, only its contents can
 * differ. */
static int take_single(const ki__layout *layout, ki__layout_item *item, const ki__tree *tree,
                       ki__field_set *missing, ki__field_set *changed)
{
    bool in_present = item->parent == KI__LAYOUT_NONE ||
                      (layout->items[item->parent].flags & KI__LAYOUT_PRESENT) != 0;
    if (in_present && (item->flags & KI__LAYOUT_SHOWN) != 0) {
        item->flags |= KI__LAYOUT_PRESENT;
        bool differs = (item->flags & KI__LAYOUT_WHOLE) != 0 && !is_zero(tree, item->node);
        return differs ? ki__field_set_add(changed, item->path) : 0;
    }
    return ki__field_set_add(missing, item->path);
}

static int take_both(ki__layout_item *a, ki__layout_item *b, const ki__tree *tree,
                     ki__field_set *changed)
{
    const ki__tree_node *left = ki__tree_at(tree, a->node);
    const ki__tree_node *right = ki__tree_at(tree, b->node);
    bool same = left->type == right->type;
    a->flags |= KI__LAYOUT_PRESENT;
    b->flags |= KI__LAYOUT_PRESENT;
    if (same && ((a->flags | b->flags) & KI__LAYOUT_WHOLE) != 0) {
        ki_value before = ki__tree_value(tree, a->node);
        ki_value after = ki__tree_value(tree, b->node);
        int r = ki__json_same(&before, &after, tree->alloc, &same);
        if (r < 0) {
            return r;
        }
    }
    return same ? 0 : ki__field_set_add(changed, b->path);
}

int ki__layout_compare(ki__layout *old, ki__layout *now, const ki__tree *tree,
                       ki__field_set *changed, ki__field_set *removed)
{
    size_t i = 0;
    size_t j = 0;
    int r = 0;
    while (r == 0 && (i < old->count || j < now->count)) {
        int order = i == old->count ? 1
                    : j == now->count
                        ? -1
                        : ki__field_path_compare(old->items[i].path, now->items[j].path);
        if (order < 0) {
            r = take_single(old, &old->items[i++], tree, removed, changed);
        } else if (order > 0) {
            r = take_single(now, &now->items[j++], tree, changed, changed);
        } else {
            r = take_both(&old->items[i++], &now->items[j++], tree, changed);
        }
    }
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Server-side apply merge, without recursion: a work list holds pairs of a live node and the node
 * applied to it. */
#include "object/edit/apply_merge.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/sort.h"

typedef struct job {
    uint32_t target;
    uint32_t config;
    ki__merge_type type;
} job;

typedef struct merger {
    ki__tree *tree;
    const ki_alloc *alloc;
    ki__field_text text; /* of path elements */
    job *jobs;
    size_t count;
    size_t cap;
} merger;

static ki__tree_node *at(const merger *m, uint32_t node)
{
    return ki__tree_at(m->tree, node);
}

static int push(merger *m, uint32_t target, uint32_t config, const ki__merge_type *type)
{
    void *jobs = m->jobs;
    int r = ki__array_reserve(m->alloc, &jobs, &m->cap, m->count + 1, sizeof(*m->jobs));
    m->jobs = jobs;
    if (r == 0) {
        m->jobs[m->count++] = (job){target, config, *type};
    }
    return r;
}

/* Whether a node is merged with the applied one rather than replaced by it. */
static bool is_merged(const merger *m, uint32_t target, uint32_t config, const ki__merge_type *type)
{
    return target != KI__TREE_NONE && at(m, target)->type == at(m, config)->type &&
           !ki__merge_type_is_whole(type, at(m, config)->type);
}

/* Copies an applied node, without members that are null. */
static int copy(merger *m, uint32_t node, uint32_t *ret_copy)
{
    int r = ki__tree_copy(m->tree, node, ret_copy);
    uint32_t child = r == 0 ? *ret_copy : (uint32_t)KI__TREE_NONE;
    while (child != KI__TREE_NONE) { /* in document order */
        uint32_t next = at(m, child)->first;
        uint32_t up = child;
        while (next == KI__TREE_NONE && up != *ret_copy) {
            next = at(m, up)->next;
            up = at(m, up)->parent;
        }
        if (at(m, child)->type == KI_TYPE_NULL && at(m, child)->parent != KI__TREE_NONE &&
            at(m, at(m, child)->parent)->type == KI_TYPE_MAP) {
            ki__tree_remove(m->tree, child);
        }
        child = next;
    }
    return r;
}

/* ---- maps ---- */

static int merge_member(merger *m, uint32_t map, uint32_t config, const ki__merge_type *type)
{
    ki_str name = ki__tree_name(m->tree, config);
    ki__merge_type inner = ki__merge_type_member(type, name);
    uint32_t old = ki__tree_get(m->tree, map, name);
    if (is_merged(m, old, config, &inner)) {
        return push(m, old, config, &inner);
    }
    if (at(m, config)->type == KI_TYPE_NULL) {
        if (old != KI__TREE_NONE) {
            ki__tree_remove(m->tree, old);
        }
        return 0;
    }
    uint32_t made;
    int r = copy(m, config, &made); /* including its name */
    if (r == 0 && old != KI__TREE_NONE) {
        ki__tree_insert(m->tree, map, old, made);
        ki__tree_remove(m->tree, old);
    } else if (r == 0) {
        ki__tree_insert(m->tree, map, KI__TREE_NONE, made);
    }
    return r;
}

static int merge_maps(merger *m, const job *j)
{
    int r = 0;
    uint32_t config = at(m, j->config)->first;
    while (r == 0 && config != KI__TREE_NONE) {
        r = merge_member(m, j->target, config, &j->type);
        config = ki__tree_next(m->tree, config);
    }
    return r;
}

/* ---- lists ---- */

/* An element of one of the two lists. */
typedef struct element {
    ki_str name; /* its path element; empty if it has no key */
    uint32_t node;
    size_t place;   /* index in its list */
    size_t partner; /* index of the first of this name in the other list; SIZE_MAX: none */
    bool done;
} element;

static int compare_elements(const void *a, const void *b)
{
    const element *left = a;
    const element *right = b;
    int order = ki_str_cmp(left->name, right->name);
    return order != 0 ? order : left->place < right->place ? -1 : left->place > right->place;
}

static int compare_places(const void *a, const void *b)
{
    const element *left = a;
    const element *right = b;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* The elements of a list, in order. The caller frees *ret_elements. */
static int read_elements(merger *m, uint32_t list, const ki__merge_type *type,
                         element **ret_elements, size_t *ret_count)
{
    size_t count = 0;
    for (uint32_t e = at(m, list)->first; e != KI__TREE_NONE; e = at(m, e)->next) {
        count++;
    }
    element *elements = ki__alloc_array(m->alloc, count + 1, sizeof(*elements));
    if (elements == NULL) {
        return -ENOMEM;
    }
    ki_buf name;
    int r = 0;
    size_t i = 0;
    ki_buf_init(&name, m->alloc, KI__FIELD_TEXT_MAX);
    for (uint32_t e = at(m, list)->first; e != KI__TREE_NONE && r >= 0; e = at(m, e)->next) {
        elements[i] = (element){.node = e, .place = i, .partner = SIZE_MAX};
        ki_buf_clear(&name);
        r = ki__layout_add_element(m->tree, e, type, &name);
        r = r <= 0 ? r : ki__field_text_add(&m->text, ki_buf_str(&name), &elements[i].name);
        i++;
    }
    ki_buf_done(&name);
    if (r < 0) {
        ki__free(m->alloc, elements);
        return r;
    }
    *ret_elements = elements;
    *ret_count = count;
    return 0;
}

/* Links the elements of two lists that have the same name; sorts both by name. */
static void find_partners(element *a, size_t a_count, element *b, size_t b_count)
{
    ki__sort(a, a_count, sizeof(*a), compare_elements);
    ki__sort(b, b_count, sizeof(*b), compare_elements);
    for (size_t i = 0, j = 0; i < a_count; i++) {
        while (j < b_count && ki_str_cmp(b[j].name, a[i].name) < 0) {
            j++;
        }
        if (j < b_count && a[i].name.len != 0 && ki_str_eq(a[i].name, b[j].name)) {
            a[i].partner = b[j].place;
            b[j].partner = b[j].partner < a[i].place ? b[j].partner : a[i].place;
        }
    }
    ki__sort(a, a_count, sizeof(*a), compare_places);
    ki__sort(b, b_count, sizeof(*b), compare_places);
}

/* Appends an applied element to the list, merged with its partner. */
static int put_applied(merger *m, const job *j, element *applied, const element *live)
{
    applied->done = true;
    uint32_t node;
    if (applied->partner != SIZE_MAX) {
        ki__merge_type inner = ki__merge_type_element(&j->type);
        node = live[applied->partner].node;
        if (is_merged(m, node, applied->node, &inner)) {
            int r = push(m, node, applied->node, &inner);
            ki__tree_insert(m->tree, j->target, KI__TREE_NONE, node);
            return r;
        }
    }
    int r = copy(m, applied->node, &node);
    if (r == 0) {
        ki__tree_insert(m->tree, j->target, KI__TREE_NONE, node);
    }
    return r;
}

static size_t next_shared(const element *applied, size_t count, size_t from)
{
    while (from < count && applied[from].partner == SIZE_MAX) {
        from++;
    }
    return from;
}

/* Merges both lists into one order: elements in both are in the applied order. Elements only in the
 * live list come as early as that allows, and new ones where they were applied. */
static int put_all(merger *m, const job *j, element *live, size_t live_count, element *applied,
                   size_t applied_count)
{
    size_t shared = next_shared(applied, applied_count, 0);
    int r = 0;
    for (size_t l = 0, a = 0; r == 0 && (l < live_count || a < applied_count);) {
        bool both = l < live_count && a < applied_count;
        if (both && live[l].partner != SIZE_MAX && live[l].partner != a && shared < applied_count &&
            live[l].partner != shared) {
            l++; /* another one comes first; this one is appended in its turn */
            continue;
        }
        if (l < live_count && live[l].partner == SIZE_MAX) {
            ki__tree_insert(m->tree, j->target, KI__TREE_NONE, live[l++].node);
            continue;
        }
        if (l < live_count && (applied[live[l].partner].done || live[l].partner == a)) {
            l++; /* already appended, or appended below */
        }
        if (a < applied_count) {
            r = put_applied(m, j, &applied[a], live);
            shared = a == shared ? next_shared(applied, applied_count, a + 1) : shared;
            a++;
        }
    }
    return r;
}

static int merge_lists(merger *m, const job *j)
{
    element *live = NULL;
    element *applied = NULL;
    size_t live_count = 0;
    size_t applied_count = 0;
    int r = read_elements(m, j->target, &j->type, &live, &live_count);
    r = r < 0 ? r : read_elements(m, j->config, &j->type, &applied, &applied_count);
    if (r == 0) {
        find_partners(live, live_count, applied, applied_count);
        for (size_t i = 0; i < live_count; i++) {
            ki__tree_remove(m->tree, live[i].node);
        }
        r = put_all(m, j, live, live_count, applied, applied_count);
    }
    ki__free(m->alloc, live);
    ki__free(m->alloc, applied);
    return r;
}

int ki__merge_objects(ki__tree *tree, uint32_t target, uint32_t config, const ki__merge_type *type)
{
    merger m = {.tree = tree, .alloc = tree->alloc};
    ki__field_text_init(&m.text, tree->alloc);
    ki__merge_type counted = *type;
    counted.steps = &tree->steps;
    int r = push(&m, target, config, &counted);
    while (r == 0 && m.count != 0) {
        job j = m.jobs[--m.count];
        r = at(&m, j.target)->type == KI_TYPE_MAP ? merge_maps(&m, &j) : merge_lists(&m, &j);
    }
    ki__free(m.alloc, m.jobs);
    ki__field_text_done(&m.text);
    return r == 0 && ki__tree_is_spent(tree) ? KI_ERR_LIMIT : r;
}

/* ---- pruning ---- */

enum { BELOW_LAST = 1, GONE = 2 };

/* A field defined by the kind counts as owned if anything below it is. */
static bool counts_in(const ki__field_set *set, const ki__layout_item *item)
{
    return ki__field_set_has(set, item->path) ||
           ((item->flags & KI__LAYOUT_NAMED) != 0 && ki__field_set_has_below(set, item->path));
}

static bool is_owned(const ki__layout_item *item, const ki__field_set *const *owned, size_t count)
{
    if (ki_str_eq_text(item->path, "f:metadata")) {
        return true; /* it has the name, which field sets omit and every manager shares */
    }
    for (size_t i = 0; i < count; i++) {
        if (counts_in(owned[i], item)) {
            return true;
        }
    }
    return false;
}

void ki__merge_drop_emptied(ki__tree *tree, uint32_t root)
{
    uint32_t node = ki__tree_at(tree, root)->first;
    while (node != KI__TREE_NONE) { /* in document order: parents emptied by this are kept */
        const ki__tree_node *n = ki__tree_at(tree, node);
        ki_value source = ki__tree_value(tree, node);
        uint32_t next = n->first;
        uint32_t up = node;
        bool emptied = (n->type == KI_TYPE_MAP || n->type == KI_TYPE_LIST) &&
                       next == KI__TREE_NONE && ki_value_count(&source) != 0;
        while (next == KI__TREE_NONE && up != root) {
            next = ki__tree_at(tree, up)->next;
            up = ki__tree_at(tree, up)->parent;
        }
        if (emptied) {
            ki__tree_remove(tree, node);
        }
        node = next;
    }
}

int ki__merge_prune(ki__tree *tree, const ki__layout *layout, const ki__field_set *last,
                    const ki__field_set *const *owned, size_t owned_count)
{
    if (last->count == 0) {
        return 0;
    }
    uint8_t *marks = ki__alloc_zero(tree->alloc, layout->count + 1);
    if (marks == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < layout->count; i++) { /* parents come first */
        const ki__layout_item *item = &layout->items[i];
        bool in_last = counts_in(last, item);
        uint8_t above = item->parent != KI__LAYOUT_NONE ? marks[item->parent] : 0;
        marks[i] = above | (in_last ? BELOW_LAST : 0);
        if ((marks[i] & BELOW_LAST) != 0 && !is_owned(item, owned, owned_count)) {
            marks[i] |= GONE;
        }
        if ((marks[i] & GONE) != 0 && in_last) {
            ki__tree_remove(tree, item->node);
        }
    }
    ki__free(tree->alloc, marks);
    return 0;
}

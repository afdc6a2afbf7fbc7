/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches: merged lists and the order of their elements. Elements are either unique
 * scalars, or maps identified by one of their members, the merge key. In the result, elements in
 * the patch are in its order, and the others in their previous order; between one of each, the one
 * that came first before the patch does so again if both existed, otherwise the patch's element
 * comes first. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/edit/strategic.h"

/* Elements of a list. */
typedef struct nodes {
    uint32_t *at;
    size_t count;
} nodes;

/* An element to be sorted. */
typedef struct item {
    uint32_t node;
    size_t server; /* index before the patch; SIZE_MAX: none */
    size_t patch;  /* index in the patch's order; likewise */
} item;

static int take_nodes(ki__strategic *s, uint32_t list, nodes *ret_nodes)
{
    size_t count = 0;
    for (uint32_t e = list != KI__TREE_NONE ? s->tree.nodes[list].first : KI__TREE_NONE;
         e != KI__TREE_NONE; e = s->tree.nodes[e].next) {
        count++;
    }
    *ret_nodes = (nodes){.at = ki__alloc_array(s->alloc, count + 1, sizeof(uint32_t))};
    if (ret_nodes->at == NULL) {
        return -ENOMEM;
    }
    for (uint32_t e = count != 0 ? s->tree.nodes[list].first : KI__TREE_NONE; e != KI__TREE_NONE;
         e = s->tree.nodes[e].next) {
        ret_nodes->at[ret_nodes->count++] = e;
    }
    return 0;
}

static void spend(ki__strategic *s, size_t steps)
{
    s->tree.steps -= steps < s->tree.steps ? (uint32_t)steps : s->tree.steps;
}

/* ---- elements ---- */

/* All elements of both must have the same type, neither null nor a list; KI_TYPE_NONE if there are
 * none. */
static int check_elements(ki__strategic *s, uint32_t reported_at, const nodes *a, const nodes *b,
                          ki_type *ret_type)
{
    uint32_t first = KI__TREE_NONE;
    *ret_type = KI_TYPE_NONE;
    for (size_t i = 0; i < a->count + b->count; i++) {
        uint32_t e = i < a->count ? a->at[i] : b->at[i - a->count];
        ki_type type = s->tree.nodes[e].type;
        first = first != KI__TREE_NONE ? first : e;
        if (type == KI_TYPE_NULL || type == KI_TYPE_LIST || type != s->tree.nodes[first].type ||
            ki__tree_is_integer(&s->tree, e) != ki__tree_is_integer(&s->tree, first)) {
            return ki__strategic_refuse(s, reported_at,
                                        "elements of a merged list of different types");
        }
        *ret_type = type;
    }
    return 0;
}

/* The identity of an element: the element itself, or its merge key. */
static uint32_t value_of(ki__strategic *s, uint32_t element, ki_str key)
{
    return key.len == 0 ? element : ki__tree_get(&s->tree, element, key);
}

/* Every element must have a merge key, which must be a scalar. */
static int check_keys(ki__strategic *s, uint32_t reported_at, const nodes *elements, ki_str key)
{
    for (size_t i = 0; key.len != 0 && i < elements->count; i++) {
        uint32_t e = elements->at[i];
        uint32_t value = value_of(s, e, key);
        ki_type type = value != KI__TREE_NONE ? s->tree.nodes[value].type : KI_TYPE_NONE;
        if (type == KI_TYPE_NONE || type == KI_TYPE_MAP || type == KI_TYPE_LIST) {
            const char *why = s->tree.nodes[e].type != KI_TYPE_MAP
                                  ? "element of a merged list is not a map with "
                              : type == KI_TYPE_NONE ? "element without its merge key "
                                                     : "element whose merge key is not a scalar: ";
            (void)ki__strategic_refuse(s, reported_at, why);
            ki__error_add(s->error, key);
            return KI_ERR_INVALID;
        }
    }
    return 0;
}

static bool is_same(ki__strategic *s, uint32_t a, uint32_t b, ki_str key)
{
    uint32_t left = value_of(s, a, key);
    uint32_t right = value_of(s, b, key);
    return left != KI__TREE_NONE && right != KI__TREE_NONE &&
           ki__tree_same_scalar(&s->tree, left, right);
}

/* The first element from `e` on with the same identity as `like`. */
static uint32_t find_from(ki__strategic *s, uint32_t e, uint32_t like, ki_str key)
{
    while (e != KI__TREE_NONE && !is_same(s, e, like, key)) {
        e = ki__tree_next(&s->tree, e);
    }
    return e;
}

static uint32_t find(ki__strategic *s, uint32_t list, uint32_t like, ki_str key)
{
    return find_from(s, s->tree.nodes[list].first, like, key);
}

static void delete_same(ki__strategic *s, uint32_t list, uint32_t like, ki_str key)
{
    uint32_t e = find(s, list, like, key);
    while (e != KI__TREE_NONE) {
        uint32_t after = ki__tree_next(&s->tree, e);
        ki__tree_remove(&s->tree, e);
        e = find_from(s, after, like, key);
    }
}

/* ---- order ---- */

static size_t index_of(ki__strategic *s, const nodes *order, uint32_t like, ki_str key)
{
    uint32_t wanted = value_of(s, like, key);
    for (size_t i = 0; i < order->count && wanted != KI__TREE_NONE && !ki__tree_is_spent(&s->tree);
         i++) {
        uint32_t value = value_of(s, order->at[i], key);
        if (value != KI__TREE_NONE && ki__tree_same_scalar(&s->tree, value, wanted)) {
            return i;
        }
        spend(s, 2); /* costs more than a list step */
    }
    return SIZE_MAX;
}

/* Stable insertion sort, as in Go: items without a position come first. */
static void sort_items(ki__strategic *s, item *items, size_t count, bool by_patch)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && !ki__tree_is_spent(&s->tree); j--) {
            size_t a = by_patch ? items[j].patch : items[j].server;
            size_t b = by_patch ? items[j - 1].patch : items[j - 1].server;
            if (a != SIZE_MAX && b != SIZE_MAX && a >= b) {
                break;
            }
            item swapped = items[j];
            items[j] = items[j - 1];
            items[j - 1] = swapped;
            spend(s, 1);
        }
    }
}

/* Puts items back into their list, merging the first `named` ones with the others. */
static void put_items(ki__strategic *s, uint32_t list, const item *items, size_t count,
                      size_t named)
{
    size_t i = 0;
    size_t j = named;
    while (i < named || j < count) {
        bool take_named = j == count;
        if (i < named && j < count) {
            size_t left = items[j].server;
            size_t right = items[i].server;
            take_named = left == SIZE_MAX || right == SIZE_MAX || left >= right;
        }
        ki__tree_insert(&s->tree, list, KI__TREE_NONE, items[take_named ? i++ : j++].node);
    }
}

/* Sorts the elements of a list; `server` has those from before the patch. */
static int order_elements(ki__strategic *s, uint32_t list, const nodes *server, const nodes *patch,
                          ki_str key)
{
    nodes all;
    int r = take_nodes(s, list, &all);
    if (r < 0) {
        return r;
    }
    item *items = ki__alloc_array(s->alloc, all.count + 1, sizeof(*items));
    r = items != NULL ? check_keys(s, list, &all, key) : -ENOMEM;
    size_t named = 0;
    size_t others = all.count;
    for (size_t i = 0; r == 0 && i < all.count; i++) {
        item made = {.node = all.at[i],
                     .server = index_of(s, server, all.at[i], key),
                     .patch = index_of(s, patch, all.at[i], key)};
        items[made.patch != SIZE_MAX ? named++ : --others] = made;
        ki__tree_remove(&s->tree, all.at[i]);
    }
    for (size_t i = named, j = all.count; r == 0 && i + 1 < j; i++) { /* collected in reverse */
        item swapped = items[i];
        items[i] = items[--j];
        items[j] = swapped;
    }
    if (r == 0) {
        sort_items(s, items, named, true);
        sort_items(s, items + named, all.count - named, false);
        put_items(s, list, items, all.count, named);
    }
    ki__free(s->alloc, items);
    ki__free(s->alloc, all.at);
    return r;
}

/* ---- merging ---- */

static int append_copy(ki__strategic *s, uint32_t list, uint32_t patch)
{
    uint32_t copy = KI__TREE_NONE;
    int r = ki__strategic_copy(s, patch, KI__STRATEGIC_DROP_NOTHING, &copy);
    if (r == 0) {
        ki__tree_insert(&s->tree, list, KI__TREE_NONE, copy);
    }
    return r;
}

static int merge_scalars(ki__strategic *s, uint32_t list, const nodes *patch)
{
    const ki_str none = ki_str_make("", 0);
    int r = 0;
    for (uint32_t e = s->tree.nodes[list].first; e != KI__TREE_NONE;
         e = ki__tree_next(&s->tree, e)) {
        for (uint32_t twice;
             (twice = find_from(s, s->tree.nodes[e].next, e, none)) != KI__TREE_NONE;) {
            ki__tree_remove(&s->tree, twice);
        }
    }
    for (size_t i = 0; i < patch->count && r == 0; i++) {
        if (find(s, list, patch->at[i], none) == KI__TREE_NONE) {
            r = append_copy(s, list, patch->at[i]);
        }
    }
    return r;
}

/* Applies elements with $patch and removes them from `patch`. Sets *ret_replaces if one of them
 * replaces the list. */
static int apply_marks(ki__strategic *s, uint32_t list, nodes *patch, ki_str key,
                       bool *ret_replaces)
{
    size_t kept = 0;
    for (size_t i = 0; i < patch->count; i++) {
        uint32_t e = patch->at[i];
        uint32_t mark = ki__tree_get(&s->tree, e, ki_str_from("$patch"));
        if (mark == KI__TREE_NONE) {
            patch->at[kept++] = e;
        } else if (ki__tree_is_text(&s->tree, mark, ki_str_from("delete"))) {
            const nodes one = {.at = &e, .count = 1};
            int r = check_keys(s, e, &one, key);
            if (r < 0) {
                return r;
            }
            delete_same(s, list, e, key);
        } else if (ki__tree_is_text(&s->tree, mark, ki_str_from("replace"))) {
            *ret_replaces = true;
        } else {
            return ki__strategic_refuse(s, mark, "unknown directive");
        }
    }
    patch->count = kept;
    return 0;
}

static int merge_maps(ki__strategic *s, uint32_t list, const nodes *patch,
                      const ki__strategic_list *about)
{
    int r = 0;
    for (size_t i = 0; i < patch->count && r == 0; i++) {
        uint32_t e = patch->at[i];
        const nodes one = {.at = &e, .count = 1};
        r = check_keys(s, e, &one, about->key);
        if (r < 0) {
            return r;
        }
        uint32_t old = find(s, list, e, about->key);
        r = old != KI__TREE_NONE ? ki__strategic_push(s, old, e, about->type)
                                 : append_copy(s, list, e);
    }
    return r;
}

static int replace_elements(ki__strategic *s, uint32_t list, const nodes *patch)
{
    int r = 0;
    while (s->tree.nodes[list].first != KI__TREE_NONE) {
        ki__tree_remove(&s->tree, s->tree.nodes[list].first);
    }
    for (size_t i = 0; i < patch->count && r == 0; i++) {
        r = append_copy(s, list, patch->at[i]);
    }
    return r;
}

/* Lists of maps. `server` is what remains of the list before elements are added. */
static int merge_keyed(ki__strategic *s, uint32_t list, uint32_t reported_at, nodes *patch,
                       const ki__strategic_list *about)
{
    nodes server = {0};
    bool replaces = false;
    if (about->key.len == 0) {
        return ki__strategic_refuse(s, reported_at, "list of maps without a merge key");
    }
    int r = apply_marks(s, list, patch, about->key, &replaces);
    r = r == 0 && replaces ? replace_elements(s, list, patch) : r;
    patch->count = replaces ? 0 : patch->count;
    r = r < 0 ? r : take_nodes(s, list, &server);
    r = r < 0 ? r : merge_maps(s, list, patch, about);
    r = r < 0 ? r : order_elements(s, list, &server, patch, about->key);
    ki__free(s->alloc, server.at);
    return r;
}

static int merge_nodes(ki__strategic *s, uint32_t list, uint32_t reported_at, const nodes *server,
                       nodes *patch, const ki__strategic_list *about, bool deletes)
{
    ki_type type;
    int r = check_elements(s, reported_at, server, patch, &type);
    if (r < 0 || type == KI_TYPE_NONE) {
        return r;
    }
    if (type == KI_TYPE_MAP) {
        return merge_keyed(s, list, reported_at, patch, about);
    }
    for (size_t i = 0; deletes && i < patch->count; i++) {
        delete_same(s, list, patch->at[i], ki_str_make("", 0));
    }
    if (deletes) {
        return 0;
    }
    r = merge_scalars(s, list, patch);
    return r < 0 ? r : order_elements(s, list, server, patch, about->key);
}

int ki__strategic_merge_list(ki__strategic *s, uint32_t list, uint32_t patch,
                             const ki__strategic_list *about, bool deletes)
{
    nodes server = {0};
    nodes changes = {0};
    int r = take_nodes(s, list, &server);
    r = r < 0 ? r : take_nodes(s, patch, &changes);
    r = r < 0 ? r : merge_nodes(s, list, patch, &server, &changes, about, deletes);
    ki__free(s->alloc, server.at);
    ki__free(s->alloc, changes.at);
    return r;
}

/* ---- $setElementOrder ---- */

/* The elements of the patch must be in the given order; those to be deleted are ignored. */
static int check_order(ki__strategic *s, uint32_t reported_at, const nodes *patch,
                       const nodes *order, ki_str key)
{
    size_t o = 0;
    for (size_t i = 0; i < patch->count && order->count != 0; i++) {
        uint32_t e = patch->at[i];
        uint32_t mark = ki__tree_get(&s->tree, e, ki_str_from("$patch"));
        if (key.len != 0 && s->tree.nodes[e].type != KI_TYPE_MAP) {
            return ki__strategic_refuse(s, e, "element of a merged list is not a map");
        }
        if (mark != KI__TREE_NONE &&
            (o < order->count ||
             (key.len != 0 && ki__tree_is_text(&s->tree, mark, ki_str_from("delete"))))) {
            continue;
        }
        while (o < order->count && !is_same(s, e, order->at[o], key)) {
            spend(s, 1);
            o++;
        }
        if (o++ >= order->count) {
            return ki__strategic_refuse(s, reported_at,
                                        "order does not fit the elements of the patch");
        }
    }
    return 0;
}

/* The list in the member `field`: merged with the patch's, or a copy of that. */
static int merge_ordered(ki__strategic *s, uint32_t map, ki_str field, uint32_t patch,
                         const ki__strategic_list *about, uint32_t *ret_list)
{
    *ret_list = ki__tree_get(&s->tree, map, field);
    if (patch == KI__TREE_NONE) {
        return 0;
    }
    if (*ret_list != KI__TREE_NONE && about->merges) {
        return ki__strategic_merge_list(s, *ret_list, patch, about, false);
    }
    bool is_new = *ret_list == KI__TREE_NONE;
    uint32_t copy = KI__TREE_NONE;
    int r = ki__strategic_copy(
        s, patch, is_new ? KI__STRATEGIC_DROP_MARKED : KI__STRATEGIC_DROP_NOTHING, &copy);
    *ret_list = copy;
    return r < 0 ? r : ki__tree_set(&s->tree, map, ki__tree_name(&s->tree, copy), copy);
}

/* Elements added by the patch take the positions of deleted ones, at the end: the same result as in
 * Go, where both modify one array. */
static void reuse_places(ki__strategic *s, uint32_t list, nodes *server, const nodes *patch,
                         ki_str key)
{
    size_t places = server->count;
    nodes left = {.at = server->at};
    for (size_t i = 0; i < places; i++) {
        if (s->tree.nodes[server->at[i]].parent == list) {
            left.at[left.count++] = server->at[i];
        }
    }
    for (size_t i = 0; i < patch->count && left.count < places; i++) {
        uint32_t e = patch->at[i];
        if (ki__tree_get(&s->tree, e, ki_str_from("$patch")) == KI__TREE_NONE &&
            index_of(s, &left, e, key) == SIZE_MAX) {
            left.at[left.count++] = e;
        }
    }
    *server = left;
}

/* The lists involved, each as it is before merging. */
static int order_nodes(ki__strategic *s, uint32_t map, ki_str field, uint32_t patch,
                       uint32_t reported_at, const ki__strategic_list *about, nodes lists[3])
{
    nodes *server = &lists[0];
    const nodes *changes = &lists[1];
    const nodes *order = &lists[2];
    uint32_t list = KI__TREE_NONE;
    ki_type type;
    ki_type order_type;
    int r = check_order(s, reported_at, changes, order, about->key);
    r = r < 0 ? r : check_elements(s, reported_at, server, changes, &type);
    if (r < 0) {
        return r;
    }
    if (type == KI_TYPE_NONE || (type == KI_TYPE_MAP) != (about->key.len != 0)) {
        return ki__strategic_refuse(s, reported_at, "order of a list that has none");
    }
    r = check_keys(s, reported_at, order, about->key);
    r = r < 0 ? r : check_keys(s, reported_at, server, about->key);
    for (size_t i = 0; r == 0 && about->key.len == 0 && i < order->count; i++) {
        order_type = s->tree.nodes[order->at[i]].type;
        if (order_type == KI_TYPE_MAP || order_type == KI_TYPE_LIST) {
            r = ki__strategic_refuse(s, reported_at, "order with elements that are not scalars");
        }
    }
    r = r < 0 ? r : merge_ordered(s, map, field, patch, about, &list);
    if (r == 0 && type == KI_TYPE_MAP && about->merges) {
        reuse_places(s, list, server, changes, about->key);
    }
    return r < 0 ? r : order_elements(s, list, server, order, about->key);
}

int ki__strategic_order_list(ki__strategic *s, uint32_t map, ki_str field, uint32_t patch,
                             uint32_t order, const ki__strategic_list *about)
{
    uint32_t list = ki__tree_get(&s->tree, map, field);
    nodes lists[3] = {{0}};
    if (list == KI__TREE_NONE && patch == KI__TREE_NONE) {
        return 0;
    }
    int r = take_nodes(s, list, &lists[0]);
    r = r < 0 ? r : take_nodes(s, patch, &lists[1]);
    r = r < 0 ? r : take_nodes(s, order, &lists[2]);
    r = r < 0 ? r : order_nodes(s, map, field, patch, order, about, lists);
    for (size_t i = 0; i < 3; i++) {
        ki__free(s->alloc, lists[i].at);
    }
    return r;
}

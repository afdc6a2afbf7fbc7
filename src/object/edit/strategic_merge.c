/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches. What is to be merged stands on a list of work: pairs of a map and the
 * map of the patch that changes it. Which lists are merged, and by which key, is known by the name
 * of their field; where that is not enough, also by the kind, or by what the map is in. */
#include <errno.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/error.h"
#include "object/edit/patch.h"

typedef struct pair {
    uint32_t map;
    uint32_t patch;
} pair;

typedef struct merger {
    ki__tree tree;
    const char *kind;
    const ki_alloc *alloc;
    pair *work;
    size_t count;
    size_t cap;
    uint32_t first_new; /* nodes from here on are neither of the target nor of the patch */
    ki_error *error;
} merger;

/* ---- how lists are merged ---- */

static const struct rule {
    const char *field;
    const char *key;    /* NULL: of plain values, of which each is there once */
    const char *kind;   /* only of this kind; with '!': of any but this one; NULL: of any */
    const char *parent; /* only in a map that is in this field; NULL: in any */
} rules[] = {
    {"addresses", "type", "Node", NULL},
    {"allocatedResourcesStatus", "name", NULL, NULL},
    {"conditions", "type", "!CertificateSigningRequest", NULL},
    {"containers", "name", NULL, NULL},
    {"drivers", "name", "CSINode", NULL},
    {"env", "name", NULL, NULL},
    {"ephemeralContainers", "name", NULL, NULL},
    {"finalizers", NULL, NULL, "metadata"},
    {"hostAliases", "ip", NULL, NULL},
    {"hostIPs", "ip", NULL, NULL},
    {"imagePullSecrets", "name", "!ServiceAccount", NULL},
    {"initContainers", "name", NULL, NULL},
    {"matchConditions", "name", NULL, NULL},
    {"ownerReferences", "uid", NULL, NULL},
    {"podCIDRs", NULL, "Node", NULL},
    {"podIPs", "ip", NULL, NULL},
    {"ports", "port", "Service", "spec"},
    {"ports", "containerPort", NULL, "containers"},
    {"ports", "containerPort", NULL, "initContainers"},
    {"ports", "containerPort", NULL, "ephemeralContainers"},
    {"reservedFor", "uid", NULL, NULL},
    {"resourceClaimStatuses", "name", NULL, NULL},
    {"resourceClaims", "name", NULL, NULL},
    {"schedulingGates", "name", NULL, NULL},
    {"secrets", "name", "ServiceAccount", NULL},
    {"topologySpreadConstraints", "topologyKey", NULL, NULL},
    {"variables", "name", "ValidatingAdmissionPolicy", NULL},
    {"volumeDevices", "devicePath", NULL, NULL},
    {"volumeMounts", "mountPath", NULL, NULL},
    {"volumes", "name", NULL, NULL},
    {"webhooks", "name", NULL, NULL},
    {"x-kubernetes-validations", "rule", NULL, NULL},
};

static bool fits_kind(const char *wanted, const char *kind)
{
    if (wanted == NULL) {
        return true;
    }
    return wanted[0] == '!' ? strcmp(wanted + 1, kind) != 0 : strcmp(wanted, kind) == 0;
}

/* The name of the field that a map is in, through the list that it may be an element of. */
static ki_str field_of(const merger *m, uint32_t map)
{
    uint32_t parent = m->tree.nodes[map].parent;
    if (parent != KI__TREE_NONE && m->tree.nodes[parent].type == KI_TYPE_LIST) {
        map = parent;
    }
    return ki__tree_name(&m->tree, map);
}

/* The rule for a field of a map; NULL: the list is replaced. */
static const struct rule *rule_of(const merger *m, uint32_t map, ki_str field)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (ki_str_eq_text(field, rules[i].field) && fits_kind(rules[i].kind, m->kind) &&
            (rules[i].parent == NULL || ki_str_eq_text(field_of(m, map), rules[i].parent))) {
            return &rules[i];
        }
    }
    return NULL;
}

/* ---- helpers ---- */

/* The path of a node of the patch, for messages: "spec.containers[2]". Only the innermost steps of
 * one that is deep. */
static void name_place(merger *m, uint32_t node)
{
    enum { STEPS_MAX = 16 };
    uint32_t steps[STEPS_MAX];
    size_t count = 0;
    for (; m->tree.nodes[node].parent != KI__TREE_NONE && count < STEPS_MAX;
         node = m->tree.nodes[node].parent) {
        steps[count++] = node;
    }
    for (bool first = true; count != 0; first = false) {
        uint32_t step = steps[--count];
        const ki__tree_node *n = ki__tree_at(&m->tree, step);
        if (m->tree.nodes[n->parent].type == KI_TYPE_MAP) {
            ki__error_add(m->error, ki_str_from(first ? "" : "."));
            ki__error_add(m->error, ki__tree_name(&m->tree, step));
            continue;
        }
        char room[KI__DIGITS_SIZE];
        uint64_t index = 0;
        for (uint32_t e = n->prev; e != KI__TREE_NONE; e = m->tree.nodes[e].prev) {
            index++;
        }
        ki__error_add(m->error, ki_str_from("["));
        ki__error_add(m->error, ki__digits(index, room));
        ki__error_add(m->error, ki_str_from("]"));
    }
}

static int refuse(merger *m, uint32_t node, const char *why)
{
    (void)ki__error_set(m->error, KI_ERR_INVALID, "strategic merge patch: ");
    if (m->tree.nodes[node].parent != KI__TREE_NONE) {
        name_place(m, node);
        ki__error_add(m->error, ki_str_from(": "));
    }
    ki__error_add(m->error, ki_str_from(why));
    return KI_ERR_INVALID;
}

static uint32_t child(const merger *m, uint32_t node)
{
    return m->tree.nodes[node].first;
}

static uint32_t next(merger *m, uint32_t node)
{
    return ki__tree_next(&m->tree, node);
}

static bool is_map(const merger *m, uint32_t node)
{
    return m->tree.nodes[node].type == KI_TYPE_MAP;
}

static int push(merger *m, uint32_t map, uint32_t patch)
{
    void *work = m->work;
    int r = ki__array_reserve(m->alloc, &work, &m->cap, m->count + 1, sizeof(*m->work));
    m->work = work;
    if (r == 0) {
        m->work[m->count++] = (pair){map, patch};
    }
    return r;
}

static void clear(merger *m, uint32_t node)
{
    while (child(m, node) != KI__TREE_NONE) {
        ki__tree_remove(&m->tree, child(m, node));
    }
}

static uint32_t directive(merger *m, uint32_t patch)
{
    return ki__tree_get(&m->tree, patch, ki_str_from("$patch"));
}

/* The element of a list whose key is that of `like`. */
static uint32_t find_element(merger *m, uint32_t list, const char *key, uint32_t like)
{
    uint32_t wanted = ki__tree_get(&m->tree, like, ki_str_from(key));
    for (uint32_t e = child(m, list); wanted != KI__TREE_NONE && e != KI__TREE_NONE;
         e = next(m, e)) {
        uint32_t have = ki__tree_get(&m->tree, e, ki_str_from(key));
        if (have != KI__TREE_NONE && ki__tree_same_scalar(&m->tree, have, wanted)) {
            return e;
        }
    }
    return KI__TREE_NONE;
}

/* ---- lists ---- */

/* Copies the elements of a patch's list into a list that is empty. Maps are merged into empty ones,
 * so that no directive stays in them. */
static int fill_list(merger *m, uint32_t list, uint32_t patch)
{
    int r = 0;
    for (uint32_t e = child(m, patch); e != KI__TREE_NONE && r == 0; e = next(m, e)) {
        uint32_t made;
        if (is_map(m, e)) {
            uint32_t told = directive(m, e);
            if (told != KI__TREE_NONE && m->tree.nodes[e].first == m->tree.nodes[e].last) {
                continue; /* nothing but a directive */
            }
            r = ki__tree_new(&m->tree, KI_TYPE_MAP, &made);
            r = r < 0 ? r : push(m, made, e);
        } else {
            r = ki__tree_copy(&m->tree, e, &made);
        }
        if (r == 0) {
            ki__tree_insert(&m->tree, list, KI__TREE_NONE, made);
        }
    }
    return r;
}

static bool replaces(merger *m, uint32_t patch)
{
    for (uint32_t e = child(m, patch); e != KI__TREE_NONE; e = next(m, e)) {
        uint32_t told = is_map(m, e) ? directive(m, e) : KI__TREE_NONE;
        if (told != KI__TREE_NONE && ki__tree_is_text(&m->tree, told, "replace")) {
            return true;
        }
    }
    return false;
}

static int merge_element(merger *m, uint32_t list, uint32_t patch, const char *key)
{
    uint32_t told = directive(m, patch);
    uint32_t name = ki__tree_get(&m->tree, patch, ki_str_from(key));
    uint32_t element = find_element(m, list, key, patch);
    if (name == KI__TREE_NONE) {
        (void)refuse(m, patch, "element without its merge key ");
        ki__error_add(m->error, ki_str_from(key));
        return KI_ERR_INVALID;
    }
    if (told != KI__TREE_NONE && ki__tree_is_text(&m->tree, told, "delete")) {
        if (element != KI__TREE_NONE) {
            ki__tree_remove(&m->tree, element);
        }
        return 0;
    }
    int r = 0;
    if (element == KI__TREE_NONE) {
        uint32_t copy;
        r = ki__tree_new(&m->tree, KI_TYPE_MAP, &element);
        r = r < 0 ? r : ki__tree_copy(&m->tree, name, &copy);
        r = r < 0 ? r : ki__tree_set(&m->tree, element, ki_str_from(key), copy);
        if (r == 0) {
            ki__tree_insert(&m->tree, list, KI__TREE_NONE, element);
        }
    }
    return r < 0 ? r : push(m, element, patch);
}

static int add_values(merger *m, uint32_t list, uint32_t patch)
{
    int r = 0;
    for (uint32_t e = child(m, patch); e != KI__TREE_NONE && r == 0; e = next(m, e)) {
        uint32_t have = child(m, list);
        while (have != KI__TREE_NONE && !ki__tree_same_scalar(&m->tree, have, e)) {
            have = next(m, have);
        }
        if (have == KI__TREE_NONE) {
            uint32_t copy;
            r = ki__tree_copy(&m->tree, e, &copy);
            if (r == 0) {
                ki__tree_insert(&m->tree, list, KI__TREE_NONE, copy);
            }
        }
    }
    return r;
}

static int merge_list(merger *m, uint32_t map, ki_str field, uint32_t patch)
{
    const struct rule *rule = rule_of(m, map, field);
    uint32_t list = ki__tree_get(&m->tree, map, field);
    int r = 0;
    if (list == KI__TREE_NONE || m->tree.nodes[list].type != KI_TYPE_LIST) {
        r = ki__tree_new(&m->tree, KI_TYPE_LIST, &list);
        r = r < 0 ? r : ki__tree_set(&m->tree, map, field, list);
    }
    if (r < 0) {
        return r;
    }
    if (rule == NULL || replaces(m, patch)) {
        clear(m, list);
        return fill_list(m, list, patch);
    }
    if (rule->key == NULL) {
        return add_values(m, list, patch);
    }
    for (uint32_t e = child(m, patch); e != KI__TREE_NONE && r == 0; e = next(m, e)) {
        r = is_map(m, e) ? merge_element(m, list, e, rule->key)
                         : refuse(m, e, "element of a merged list is not a map");
    }
    return r;
}

/* ---- directives about lists ---- */

static void delete_values(merger *m, uint32_t list, uint32_t values)
{
    for (uint32_t v = child(m, values); v != KI__TREE_NONE; v = next(m, v)) {
        for (uint32_t e = child(m, list), after; e != KI__TREE_NONE; e = after) {
            after = next(m, e);
            if (ki__tree_same_scalar(&m->tree, e, v)) {
                ki__tree_remove(&m->tree, e);
            }
        }
    }
}

/* The element of the list that an entry of the order is about. */
static uint32_t ordered(merger *m, uint32_t list, const struct rule *rule, uint32_t entry)
{
    if (rule->key != NULL) {
        return is_map(m, entry) ? find_element(m, list, rule->key, entry) : KI__TREE_NONE;
    }
    uint32_t e = child(m, list);
    while (e != KI__TREE_NONE && !ki__tree_same_scalar(&m->tree, e, entry)) {
        e = next(m, e);
    }
    return e;
}

/* An element of a list that gets an order. */
typedef struct item {
    uint32_t node;
    size_t place; /* where it was; SIZE_MAX: it is new */
    bool named;   /* by the order */
} item;

/* Takes all elements of a list out of it. `places` has space for them, and tells where each is. */
static size_t take_items(merger *m, uint32_t list, item *items, size_t *places)
{
    size_t count = 0;
    for (uint32_t e; (e = child(m, list)) != KI__TREE_NONE; count++) {
        bool is_new = e >= m->first_new;
        items[count] = (item){.node = e, .place = is_new ? SIZE_MAX : count};
        places[count] = SIZE_MAX;
        ki__tree_remove(&m->tree, e);
    }
    return count;
}

static size_t index_of(merger *m, const item *items, size_t count, uint32_t node)
{
    size_t i = 0;
    while (i < count && items[i].node != node) {
        m->tree.steps -= m->tree.steps != 0 ? 1 : 0;
        i++;
    }
    return i;
}

/* Those that the order names, in its order, and the others as they were: of one of each that both
 * were there before, the one that was further ahead goes first; else the one that is named. */
static void put_items(merger *m, uint32_t list, const item *items, size_t count,
                      const size_t *order, size_t named)
{
    size_t i = 0;
    size_t j = 0;
    for (size_t done = 0; done < count; done++) {
        while (j < count && items[j].named) {
            j++;
        }
        bool take_named = j == count;
        if (i < named && j < count) {
            size_t left = items[order[i]].place;
            size_t right = items[j].place;
            take_named = left == SIZE_MAX || right == SIZE_MAX || left < right;
        }
        size_t taken = take_named ? order[i++] : j++;
        ki__tree_insert(&m->tree, list, KI__TREE_NONE, items[taken].node);
    }
}

static int set_order(merger *m, uint32_t list, const struct rule *rule, uint32_t order)
{
    size_t count = 0;
    size_t named = 0;
    for (uint32_t e = child(m, list); e != KI__TREE_NONE; e = m->tree.nodes[e].next) {
        count++;
    }
    item *items = ki__alloc_array(m->alloc, count + 1, sizeof(*items));
    size_t *places = ki__alloc_array(m->alloc, count + 1, sizeof(*places));
    uint32_t *found = ki__alloc_array(m->alloc, count + 1, sizeof(*found));
    int r = items != NULL && places != NULL && found != NULL ? 0 : -ENOMEM;
    if (r == 0) {
        for (uint32_t o = child(m, order); o != KI__TREE_NONE && named < count; o = next(m, o)) {
            uint32_t e = ordered(m, list, rule, o);
            if (e != KI__TREE_NONE) {
                found[named++] = e;
            }
        }
        size_t used = 0;
        (void)take_items(m, list, items, places);
        for (size_t i = 0; i < named; i++) {
            size_t at = index_of(m, items, count, found[i]);
            if (at < count && !items[at].named) { /* else it is named twice */
                items[at].named = true;
                places[used++] = at;
            }
        }
        put_items(m, list, items, count, places, used);
    }
    ki__free(m->alloc, items);
    ki__free(m->alloc, places);
    ki__free(m->alloc, found);
    return r;
}

/* "$deleteFromPrimitiveList/x" and "$setElementOrder/x", of which the first is before what is
 * merged and the second after. */
static int apply_to_lists(merger *m, uint32_t map, uint32_t patch, bool before)
{
    const char *wanted = before ? "$deleteFromPrimitiveList/" : "$setElementOrder/";
    const size_t len = strlen(wanted);
    for (uint32_t p = child(m, patch); p != KI__TREE_NONE; p = next(m, p)) {
        ki_str name = ki__tree_name(&m->tree, p);
        if (name.len <= len || memcmp(name.ptr, wanted, len) != 0) {
            continue;
        }
        ki_str field = ki_str_make(name.ptr + len, name.len - len);
        uint32_t list = ki__tree_get(&m->tree, map, field);
        const struct rule *rule = rule_of(m, map, field);
        if (list == KI__TREE_NONE || m->tree.nodes[list].type != KI_TYPE_LIST ||
            m->tree.nodes[p].type != KI_TYPE_LIST) {
            continue;
        }
        if (before) {
            delete_values(m, list, p);
        } else if (rule != NULL) {
            int r = set_order(m, list, rule, p);
            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

/* ---- maps ---- */

static void retain_keys(merger *m, uint32_t map, uint32_t keys)
{
    for (uint32_t e = child(m, map), after; e != KI__TREE_NONE; e = after) {
        ki_str name = ki__tree_name(&m->tree, e);
        uint32_t k = child(m, keys);
        after = next(m, e);
        while (k != KI__TREE_NONE) {
            ki_str text = m->tree.nodes[k].text;
            if (m->tree.nodes[k].type == KI_TYPE_STRING && text.len == name.len + 2 &&
                memcmp(text.ptr + 1, name.ptr, name.len) == 0) {
                break;
            }
            k = next(m, k);
        }
        if (k == KI__TREE_NONE) {
            ki__tree_remove(&m->tree, e);
        }
    }
}

static int merge_member(merger *m, uint32_t map, uint32_t patch)
{
    /* The name may move when others are added. */
    char room[1024];
    ki_str name = ki__tree_name(&m->tree, patch);
    if (name.len > sizeof(room)) {
        return refuse(m, patch, "name longer than 1024 bytes");
    }
    memcpy(room, name.ptr, name.len);
    name = ki_str_make(room, name.len);
    uint32_t old = ki__tree_get(&m->tree, map, name);
    ki_type type = m->tree.nodes[patch].type;
    uint32_t node;
    int r = 0;
    if (type == KI_TYPE_NULL) {
        if (old != KI__TREE_NONE) {
            ki__tree_remove(&m->tree, old);
        }
        return 0;
    }
    if (type == KI_TYPE_LIST) {
        return merge_list(m, map, name, patch);
    }
    if (type != KI_TYPE_MAP) {
        r = ki__tree_copy(&m->tree, patch, &node);
        return r < 0 ? r : ki__tree_set(&m->tree, map, name, node);
    }
    uint32_t told = directive(m, patch);
    if (told != KI__TREE_NONE && ki__tree_is_text(&m->tree, told, "delete")) {
        if (old != KI__TREE_NONE) {
            ki__tree_remove(&m->tree, old);
        }
        return 0;
    }
    if (old == KI__TREE_NONE || !is_map(m, old)) {
        r = ki__tree_new(&m->tree, KI_TYPE_MAP, &old);
        r = r < 0 ? r : ki__tree_set(&m->tree, map, name, old);
    }
    return r < 0 ? r : push(m, old, patch);
}

static int merge_maps(merger *m, uint32_t map, uint32_t patch)
{
    uint32_t told = directive(m, patch);
    uint32_t keys = ki__tree_get(&m->tree, patch, ki_str_from("$retainKeys"));
    if (told != KI__TREE_NONE) {
        if (ki__tree_is_text(&m->tree, told, "replace") ||
            ki__tree_is_text(&m->tree, told, "delete")) {
            clear(m, map);
        } else if (!ki__tree_is_text(&m->tree, told, "merge")) {
            return refuse(m, told, "unknown directive");
        }
    }
    if (keys != KI__TREE_NONE) {
        retain_keys(m, map, keys);
    }
    int r = apply_to_lists(m, map, patch, true);
    for (uint32_t p = child(m, patch); p != KI__TREE_NONE && r == 0; p = next(m, p)) {
        ki_str name = ki__tree_name(&m->tree, p);
        if (name.len == 0 || name.ptr[0] != '$') {
            r = merge_member(m, map, p);
        }
    }
    return r < 0 ? r : apply_to_lists(m, map, patch, false);
}

int ki__strategic_merge(const ki_value *target, const ki_value *patch, const char *kind,
                        const ki_alloc *alloc, ki_buf *out, ki_error *error)
{
    merger m = {.kind = kind, .alloc = ki__alloc_or_default(alloc), .error = error};
    uint32_t root;
    uint32_t changes;
    ki__tree_init(&m.tree, alloc);
    int r = ki__tree_add(&m.tree, target, &root);
    r = r < 0 ? r : ki__tree_add(&m.tree, patch, &changes);
    m.first_new = (uint32_t)m.tree.count;
    r = r < 0 ? r : push(&m, root, changes);
    while (r == 0 && m.count != 0) {
        pair top = m.work[--m.count];
        r = merge_maps(&m, top.map, top.patch);
    }
    r = r == 0 && ki__tree_is_spent(&m.tree) ? KI_ERR_LIMIT : r;
    r = r < 0 ? r : ki__tree_write(&m.tree, root, out);
    ki__free(m.alloc, m.work);
    ki__tree_done(&m.tree);
    return r;
}

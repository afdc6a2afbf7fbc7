/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patches: maps and directives. Pairs of a map and its patch are queued, so that
 * there is no recursion. Which lists are merged, and by which key, comes from the tags of the
 * published Go types (ki__patch_rules). The rules are those of apimachinery's strategicpatch,
 * including what it rejects; but no directive stays in the result. */
#include <errno.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/error.h"
#include "object/edit/patch.h"
#include "object/edit/strategic.h"

static const char order_prefix[] = "$setElementOrder";
static const char delete_prefix[] = "$deleteFromPrimitiveList";

/* ---- helpers ---- */

/* Appends the path of a patch node to the error, as "spec.containers[2]"; of a deep one only the
 * innermost steps. */
static void name_place(ki__strategic *s, uint32_t node)
{
    enum { STEPS_MAX = 16 };
    uint32_t steps[STEPS_MAX];
    size_t count = 0;
    for (; s->tree.nodes[node].parent != KI__TREE_NONE && count < STEPS_MAX;
         node = s->tree.nodes[node].parent) {
        steps[count++] = node;
    }
    for (bool first = true; count != 0; first = false) {
        uint32_t step = steps[--count];
        const ki__tree_node *n = ki__tree_at(&s->tree, step);
        if (s->tree.nodes[n->parent].type == KI_TYPE_MAP) {
            ki__error_add(s->error, ki_str_from(first ? "" : "."));
            ki__error_add(s->error, ki__tree_name(&s->tree, step));
            continue;
        }
        char room[KI__DIGITS_SIZE];
        uint64_t index = 0;
        for (uint32_t e = n->prev; e != KI__TREE_NONE; e = s->tree.nodes[e].prev) {
            index++;
        }
        ki__error_add(s->error, ki_str_from("["));
        ki__error_add(s->error, ki__digits(index, room));
        ki__error_add(s->error, ki_str_from("]"));
    }
}

int ki__strategic_refuse(ki__strategic *s, uint32_t node, const char *why)
{
    (void)ki__error_set(s->error, KI_ERR_INVALID, "strategic merge patch: ");
    if (s->tree.nodes[node].parent != KI__TREE_NONE) {
        name_place(s, node);
        ki__error_add(s->error, ki_str_from(": "));
    }
    ki__error_add(s->error, ki_str_from(why));
    return KI_ERR_INVALID;
}

int ki__strategic_push(ki__strategic *s, uint32_t map, uint32_t patch,
                       const ki__schema_message *type)
{
    void *work = s->work;
    int r = ki__array_reserve(s->alloc, &work, &s->cap, s->count + 1, sizeof(*s->work));
    s->work = work;
    if (r == 0) {
        s->work[s->count++] = (ki__strategic_pair){map, patch, type};
    }
    return r;
}

static uint32_t first_child(const ki__strategic *s, uint32_t node)
{
    return s->tree.nodes[node].first;
}

static uint32_t member(ki__strategic *s, uint32_t map, const char *name)
{
    return ki__tree_get(&s->tree, map, ki_str_from(name));
}

static void clear(ki__strategic *s, uint32_t node)
{
    while (first_child(s, node) != KI__TREE_NONE) {
        ki__tree_remove(&s->tree, first_child(s, node));
    }
}

static bool begins(ki_str name, const char *prefix)
{
    size_t len = strlen(prefix);
    return name.len >= len && memcmp(name.ptr, prefix, len) == 0;
}

/* The field of "$setElementOrder/field" or "$deleteFromPrimitiveList/field"; false if there is
 * none. */
static bool named_field(ki_str name, const char *prefix, ki_str *ret_field)
{
    size_t len = strlen(prefix);
    if (name.len <= len || name.ptr[len] != '/') {
        return false;
    }
    *ret_field = ki_str_make(name.ptr + len + 1, name.len - len - 1);
    return true;
}

/* ---- types ---- */

static const ki__patch_rule *find_rule(const ki__schema_field *field)
{
    size_t low = 0;
    size_t high = ki__patch_rule_count;
    size_t wanted = (size_t)(field - ki__schema_fields);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki__patch_rules[middle].field < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < ki__patch_rule_count && ki__patch_rules[low].field == wanted;
    return found ? &ki__patch_rules[low] : NULL;
}

static const ki__schema_field *find_field(const ki__schema_message *type, ki_str name)
{
    return type != NULL ? ki__schema_field_by_name(type, name) : NULL;
}

static const ki__schema_message *message_of(const ki__schema_field *field, unsigned flags)
{
    const unsigned many = KI__SCHEMA_REPEATED | KI__SCHEMA_MAP;
    bool fits = field->type == KI__SCHEMA_MESSAGE && (field->flags & many) == flags;
    return fits ? &ki__schema_messages[field->message] : NULL;
}

/* How a list field is patched; rejects fields that the type lacks or that are not lists. A pointer
 * field can be a list in JSON. */
static int about_list(ki__strategic *s, const ki__schema_message *type, ki_str name, uint32_t node,
                      ki__strategic_list *ret_about)
{
    const ki__schema_field *field = find_field(type, name);
    if (field == NULL) {
        return ki__strategic_refuse(s, node, "not a field of this type");
    }
    if ((field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_POINTER)) == 0) {
        return ki__strategic_refuse(s, node, "not a list");
    }
    const ki__patch_rule *rule = find_rule(field);
    *ret_about = (ki__strategic_list){
        .type = message_of(field, KI__SCHEMA_REPEATED),
        .key = rule != NULL ? ki__schema_name(rule->key) : ki_str_make("", 0),
        .merges = rule != NULL && rule->merges != 0,
    };
    return 0;
}

/* ---- copies ---- */

static bool is_directive(ki_str name)
{
    ki_str field;
    return name.len != 0 && name.ptr[0] == '$' &&
           (ki_str_eq_text(name, "$patch") || ki_str_eq_text(name, "$retainKeys") ||
            (begins(name, order_prefix) && named_field(name, order_prefix, &field)) ||
            (begins(name, delete_prefix) && named_field(name, delete_prefix, &field)));
}

static bool is_marked(ki__tree *tree, uint32_t node, unsigned drop)
{
    uint32_t mark = ki__tree_get(tree, node, ki_str_from("$patch"));
    return (drop & KI__STRATEGIC_DROP_MARKED) != 0 && mark != KI__TREE_NONE &&
           ((drop & KI__STRATEGIC_DROP_NULLS) == 0 || tree->nodes[mark].type != KI_TYPE_NULL);
}

static bool keep(ki__tree *tree, uint32_t child, const void *user)
{
    unsigned drop = *(const unsigned *)user;
    bool in_map = tree->nodes[tree->nodes[child].parent].type == KI_TYPE_MAP;
    bool is_null = tree->nodes[child].type == KI_TYPE_NULL;
    if (in_map && (is_directive(ki__tree_name(tree, child)) ||
                   (is_null && (drop & KI__STRATEGIC_DROP_NULLS) != 0))) {
        return false;
    }
    return !is_marked(tree, child, drop);
}

int ki__strategic_copy(ki__strategic *s, uint32_t node, unsigned drop, uint32_t *ret_copy)
{
    if (is_marked(&s->tree, node, drop)) {
        *ret_copy = KI__TREE_NONE;
        return 0;
    }
    return ki__tree_copy_if(&s->tree, node, keep, &drop, ret_copy);
}

/* Sets a member of a map to a copy of the patch's member of the same name. */
static int set_copy(ki__strategic *s, uint32_t map, uint32_t patch, unsigned drop)
{
    ki_str name = ki__tree_name(&s->tree, patch);
    uint32_t copy = KI__TREE_NONE;
    uint32_t old = ki__tree_get(&s->tree, map, name);
    int r = ki__strategic_copy(s, patch, drop, &copy);
    if (r == 0 && copy != KI__TREE_NONE) {
        /* The copy already has the name, so no name is added. */
        return ki__tree_set(&s->tree, map, ki__tree_name(&s->tree, copy), copy);
    }
    if (r == 0 && old != KI__TREE_NONE) {
        ki__tree_remove(&s->tree, old);
    }
    return r;
}

/* ---- directives ---- */

/* $patch: replaces the map with the contents of the patch, or clears it. */
static int replace_map(ki__strategic *s, uint32_t map, uint32_t patch, uint32_t mark)
{
    bool replaces = ki__tree_is_text(&s->tree, mark, ki_str_from("replace"));
    if (!replaces && !ki__tree_is_text(&s->tree, mark, ki_str_from("delete"))) {
        return ki__strategic_refuse(s, mark, "unknown directive");
    }
    int r = 0;
    clear(s, map);
    for (uint32_t p = first_child(s, patch); replaces && p != KI__TREE_NONE && r == 0;
         p = ki__tree_next(&s->tree, p)) {
        if (!is_directive(ki__tree_name(&s->tree, p))) {
            r = set_copy(s, map, p, KI__STRATEGIC_DROP_NOTHING);
        }
    }
    return r;
}

static bool is_listed(ki__strategic *s, uint32_t list, ki_str text)
{
    uint32_t e = first_child(s, list);
    while (e != KI__TREE_NONE && !ki__tree_is_text(&s->tree, e, text)) {
        e = ki__tree_next(&s->tree, e);
    }
    return e != KI__TREE_NONE;
}

/* $retainKeys: removes members that are not listed; the patch must not set others. */
static int retain_keys(ki__strategic *s, uint32_t map, uint32_t patch, uint32_t keys)
{
    if (s->tree.nodes[keys].type != KI_TYPE_LIST) {
        return ki__strategic_refuse(s, keys, "must be a list");
    }
    for (uint32_t k = first_child(s, keys); k != KI__TREE_NONE; k = ki__tree_next(&s->tree, k)) {
        if (s->tree.nodes[k].type == KI_TYPE_MAP || s->tree.nodes[k].type == KI_TYPE_LIST) {
            return ki__strategic_refuse(s, k, "must be a name");
        }
    }
    for (uint32_t p = first_child(s, patch); p != KI__TREE_NONE; p = ki__tree_next(&s->tree, p)) {
        ki_str name = ki__tree_name(&s->tree, p);
        if (p != keys && s->tree.nodes[p].type != KI_TYPE_NULL && !begins(name, order_prefix) &&
            !begins(name, delete_prefix) && !is_listed(s, keys, name)) {
            return ki__strategic_refuse(s, p, "is set, but not in $retainKeys");
        }
    }
    for (uint32_t e = first_child(s, map), after; e != KI__TREE_NONE; e = after) {
        after = ki__tree_next(&s->tree, e);
        if (!is_listed(s, keys, ki__tree_name(&s->tree, e))) {
            ki__tree_remove(&s->tree, e);
        }
    }
    return 0;
}

/* The first $setElementOrder member of the patch. */
static uint32_t find_order(ki__strategic *s, uint32_t patch)
{
    uint32_t p = first_child(s, patch);
    while (p != KI__TREE_NONE && !begins(ki__tree_name(&s->tree, p), order_prefix)) {
        p = ki__tree_next(&s->tree, p);
    }
    return p;
}

/* $setElementOrder: merges and sorts the list; both members are then removed from the patch. */
static int set_order(ki__strategic *s, const ki__strategic_pair *pair, uint32_t order)
{
    ki_str field;
    ki__strategic_list about;
    if (s->tree.nodes[order].type != KI_TYPE_LIST) {
        return ki__strategic_refuse(s, order, "must be a list");
    }
    if (!named_field(ki__tree_name(&s->tree, order), order_prefix, &field)) {
        return ki__strategic_refuse(s, order, "unknown directive");
    }
    uint32_t list = ki__tree_get(&s->tree, pair->map, field);
    uint32_t changes = ki__tree_get(&s->tree, pair->patch, field);
    if ((list != KI__TREE_NONE && s->tree.nodes[list].type != KI_TYPE_LIST) ||
        (changes != KI__TREE_NONE && s->tree.nodes[changes].type != KI_TYPE_LIST)) {
        return ki__strategic_refuse(s, order, "not the order of a list");
    }
    int r = about_list(s, pair->type, field, order, &about);
    r = r < 0 ? r : ki__strategic_order_list(s, pair->map, field, changes, order, &about);
    ki__tree_remove(&s->tree, order);
    if (changes != KI__TREE_NONE) {
        ki__tree_remove(&s->tree, changes);
    }
    return r;
}

/* ---- maps ---- */

/* A member that is a map or a list on both sides. */
static int merge_container(ki__strategic *s, const ki__strategic_pair *pair, uint32_t old,
                           ki_str name, uint32_t patch, bool deletes)
{
    if (s->tree.nodes[old].type == KI_TYPE_LIST) {
        ki__strategic_list about;
        int r = about_list(s, pair->type, name, patch, &about);
        if (r < 0) {
            return r;
        }
        return about.merges || deletes ? ki__strategic_merge_list(s, old, patch, &about, deletes)
                                       : set_copy(s, pair->map, patch, KI__STRATEGIC_DROP_NOTHING);
    }
    const ki__schema_field *field = find_field(pair->type, name);
    if (field == NULL) {
        return ki__strategic_refuse(s, patch, "not a field of this type");
    }
    const ki__patch_rule *rule = find_rule(field);
    return rule != NULL && rule->merges == 0
               ? set_copy(s, pair->map, patch, KI__STRATEGIC_DROP_NOTHING)
               : ki__strategic_push(s, old, patch, message_of(field, 0));
}

static int merge_member(ki__strategic *s, const ki__strategic_pair *pair, uint32_t patch,
                        ki_str name, bool deletes)
{
    uint32_t old = ki__tree_get(&s->tree, pair->map, name);
    ki_type type = s->tree.nodes[patch].type;
    if (type == KI_TYPE_NULL) {
        if (old != KI__TREE_NONE) {
            ki__tree_remove(&s->tree, old);
        }
        return 0;
    }
    if (old != KI__TREE_NONE && s->tree.nodes[old].type == type &&
        (type == KI_TYPE_MAP || type == KI_TYPE_LIST)) {
        return merge_container(s, pair, old, name, patch, deletes);
    }
    if (deletes) {
        return 0;
    }
    return set_copy(s, pair->map, patch, KI__STRATEGIC_DROP_MARKED | KI__STRATEGIC_DROP_NULLS);
}

/* Merges the members of a patch: either deletions from lists, or all others. */
static int merge_members(ki__strategic *s, const ki__strategic_pair *pair, bool deletes)
{
    int r = 0;
    for (uint32_t p = first_child(s, pair->patch); p != KI__TREE_NONE && r == 0;
         p = ki__tree_next(&s->tree, p)) {
        ki_str name = ki__tree_name(&s->tree, p);
        if (begins(name, delete_prefix) != deletes || ki_str_eq_text(name, "$retainKeys")) {
            continue;
        }
        if (deletes && !named_field(name, delete_prefix, &name)) {
            return ki__strategic_refuse(s, p, "unknown directive");
        }
        r = merge_member(s, pair, p, name, deletes);
    }
    return r;
}

static int merge_maps(ki__strategic *s, const ki__strategic_pair *pair)
{
    uint32_t mark = member(s, pair->patch, "$patch");
    if (mark != KI__TREE_NONE) {
        return replace_map(s, pair->map, pair->patch, mark);
    }
    uint32_t keys = member(s, pair->patch, "$retainKeys");
    int r = keys != KI__TREE_NONE ? retain_keys(s, pair->map, pair->patch, keys) : 0;
    uint32_t order;
    while (r == 0 && (order = find_order(s, pair->patch)) != KI__TREE_NONE) {
        r = set_order(s, pair, order);
    }
    r = r < 0 ? r : merge_members(s, pair, true);
    return r < 0 ? r : merge_members(s, pair, false);
}

int ki__strategic_merge(const ki_value *target, const ki_value *patch, ki_str api_version,
                        ki_str kind, const ki_alloc *alloc, ki_buf *out, ki_error *error)
{
    ki__strategic s = {.alloc = ki__alloc_or_default(alloc), .error = error};
    uint32_t root;
    uint32_t changes;
    ki__tree_init(&s.tree, alloc);
    int r = ki__tree_add(&s.tree, target, &root);
    r = r < 0 ? r : ki__tree_add(&s.tree, patch, &changes);
    r = r < 0 ? r : ki__strategic_push(&s, root, changes, ki__schema_of_kind(api_version, kind));
    while (r == 0 && s.done != s.count) {
        ki__strategic_pair next = s.work[s.done++];
        r = merge_maps(&s, &next);
    }
    r = ki__tree_is_spent(&s.tree) && r != -ENOMEM ? KI_ERR_LIMIT : r;
    r = r < 0 ? r : ki__tree_write(&s.tree, root, out);
    ki__free(s.alloc, s.work);
    ki__tree_done(&s.tree);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of labels, annotations, finalizers, owner references and conditions. */
#include <kinformer/clock.h>

#include "base/error.h"
#include "base/options.h"
#include "base/time_units.h"
#include "object/edit/object_edit.h"
#include "object/json/json_string.h"

static const char *const labels[] = {"metadata", "labels"};
static const char *const annotations[] = {"metadata", "annotations"};
static const char *const finalizers[] = {"metadata", "finalizers"};
static const char *const owner_references[] = {"metadata", "ownerReferences"};
static const char *const conditions[] = {"status", "conditions"};

/* Whether an edit with this argument can proceed; a NULL argument is recorded as an error. */
static bool is_ready(ki_edit *edit, const void *argument, const char *name)
{
    if (!ki__object_edit_is_open(edit)) {
        return false;
    }
    if (argument == NULL) {
        (void)ki__error_null(&edit->error, name);
    }
    return argument != NULL;
}

static uint32_t member(ki_edit *edit, uint32_t map, const char *name)
{
    return ki__tree_get(&edit->tree, map, ki_str_from(name));
}

/* ---- labels, annotations, finalizers ---- */

static void set_entry(ki_edit *edit, const char *const place[2], const char *name,
                      const char *value)
{
    if (!is_ready(edit, name, "name") || !is_ready(edit, value, "value")) {
        return;
    }
    uint32_t map = ki__object_edit_container(edit, place, KI_TYPE_MAP, true);
    uint32_t node = map != KI__TREE_NONE ? ki__object_edit_string(edit, ki_str_from(value))
                                         : (uint32_t)KI__TREE_NONE;
    if (node != KI__TREE_NONE) {
        ki__object_edit_set_member(edit, map, ki_str_from(name), node);
    }
}

static void remove_entry(ki_edit *edit, const char *const place[2], const char *name)
{
    if (!is_ready(edit, name, "name")) {
        return;
    }
    uint32_t map = ki__object_edit_container(edit, place, KI_TYPE_MAP, false);
    if (map != KI__TREE_NONE) {
        ki__object_edit_set_member(edit, map, ki_str_from(name), KI__TREE_NONE);
    }
}

void ki_edit_set_label(ki_edit *edit, const char *name, const char *value)
{
    set_entry(edit, labels, name, value);
}

void ki_edit_remove_label(ki_edit *edit, const char *name)
{
    remove_entry(edit, labels, name);
}

void ki_edit_set_annotation(ki_edit *edit, const char *name, const char *value)
{
    set_entry(edit, annotations, name, value);
}

void ki_edit_remove_annotation(ki_edit *edit, const char *name)
{
    remove_entry(edit, annotations, name);
}

void ki_edit_add_finalizer(ki_edit *edit, const char *name)
{
    uint32_t list = is_ready(edit, name, "name")
                        ? ki__object_edit_container(edit, finalizers, KI_TYPE_LIST, true)
                        : (uint32_t)KI__TREE_NONE;
    if (list == KI__TREE_NONE) {
        return;
    }
    for (uint32_t e = edit->tree.nodes[list].first; e != KI__TREE_NONE;
         e = ki__tree_next(&edit->tree, e)) {
        if (ki__object_edit_is_string(edit, e, ki_str_from(name))) {
            return;
        }
    }
    uint32_t node = ki__object_edit_string(edit, ki_str_from(name));
    if (node != KI__TREE_NONE) {
        ki__tree_insert(&edit->tree, list, KI__TREE_NONE, node);
    }
}

void ki_edit_remove_finalizer(ki_edit *edit, const char *name)
{
    uint32_t list = is_ready(edit, name, "name")
                        ? ki__object_edit_container(edit, finalizers, KI_TYPE_LIST, false)
                        : (uint32_t)KI__TREE_NONE;
    if (list != KI__TREE_NONE) {
        ki__object_edit_remove_strings(edit, list, ki_str_from(name));
    }
}

/* ---- owner references ---- */

/* "apps/v1" is in the group "apps", "v1" in "". */
static ki_str group_of(ki_str api_version)
{
    const char *slash = api_version.len != 0 ? memchr(api_version.ptr, '/', api_version.len) : NULL;
    return ki_str_make(api_version.ptr, slash != NULL ? (size_t)(slash - api_version.ptr) : 0);
}

/* Whether the node is an apiVersion in this group. */
static bool is_of_group(ki_edit *edit, uint32_t version, ki_str group)
{
    char text[512];
    if (version == KI__TREE_NONE || edit->tree.nodes[version].type != KI_TYPE_STRING) {
        return false;
    }
    ki_str raw = edit->tree.nodes[version].text;
    size_t len = ki__json_decode(ki_str_make(raw.ptr + 1, raw.len - 2), text, sizeof(text));
    return len <= sizeof(text) && ki_str_eq(group_of(ki_str_make(text, len)), group);
}

static bool refers_to(ki_edit *edit, uint32_t reference, const ki_object *owner)
{
    return is_of_group(edit, member(edit, reference, "apiVersion"),
                       group_of(ki_str_from(ki_object_api_version(owner)))) &&
           ki__object_edit_is_string(edit, member(edit, reference, "kind"),
                                     ki_str_from(ki_object_kind(owner))) &&
           ki__object_edit_is_string(edit, member(edit, reference, "name"),
                                     ki_str_from(ki_object_name(owner)));
}

/* Whether the object is in this namespace now; the edit may have set it. */
static bool is_in_namespace(ki_edit *edit, ki_str name)
{
    uint32_t metadata = member(edit, edit->root, "metadata");
    uint32_t node =
        metadata != KI__TREE_NONE ? member(edit, metadata, "namespace") : (uint32_t)KI__TREE_NONE;
    return ki__object_edit_is_string(edit, node, name);
}

static bool check_owner(ki_edit *edit, const ki_object *owner)
{
    if (ki_object_api_version(owner)[0] == '\0' || ki_object_kind(owner)[0] == '\0' ||
        ki_object_name(owner)[0] == '\0' || ki_object_uid(owner)[0] == '\0') {
        (void)ki__error_set(&edit->error, KI_ERR_INVALID,
                            "metadata.ownerReferences: owner %s %s has no apiVersion, kind, name "
                            "or uid",
                            ki_object_kind(owner), ki_object_key(owner));
        return false;
    }
    ki_str name = ki_str_from(ki_object_namespace(owner));
    if (name.len != 0 && !is_in_namespace(edit, name)) {
        (void)ki__error_set(&edit->error, KI_ERR_INVALID,
                            "metadata.ownerReferences: owner %s %s is in another namespace",
                            ki_object_kind(owner), ki_object_key(owner));
        return false;
    }
    return true;
}

/* Finds the reference to replace. False, with an error, if there is another controller. */
static bool find_reference(ki_edit *edit, uint32_t list, const ki_object *owner, bool controller,
                           uint32_t *ret_old)
{
    *ret_old = KI__TREE_NONE;
    for (uint32_t e = edit->tree.nodes[list].first; e != KI__TREE_NONE;
         e = ki__tree_next(&edit->tree, e)) {
        uint32_t flag = member(edit, e, "controller");
        if (refers_to(edit, e, owner)) {
            *ret_old = e;
        } else if (controller && flag != KI__TREE_NONE &&
                   ki_str_eq_text(edit->tree.nodes[flag].text, "true")) {
            (void)ki__error_set(&edit->error, KI_ERR_EXISTS,
                                "metadata.ownerReferences: %s already has another controller",
                                ki_object_key(edit->origin));
            return false;
        }
    }
    return true;
}

void ki_edit_add_owner(ki_edit *edit, const ki_object *owner, bool controller)
{
    uint32_t old;
    if (!is_ready(edit, owner, "owner") || !check_owner(edit, owner)) {
        return;
    }
    uint32_t list = ki__object_edit_container(edit, owner_references, KI_TYPE_LIST, true);
    if (list == KI__TREE_NONE || !find_reference(edit, list, owner, controller, &old)) {
        return;
    }
    ki__out out = ki__object_edit_text(edit);
    ki__put_map(&out);
    ki__put_member(&out, "apiVersion", ki_object_api_version(owner));
    ki__put_member(&out, "kind", ki_object_kind(owner));
    ki__put_member(&out, "name", ki_object_name(owner));
    ki__put_member(&out, "uid", ki_object_uid(owner));
    if (controller) {
        ki__out_text(&out, ",\"controller\":true,\"blockOwnerDeletion\":true");
    }
    ki__put_end(&out);
    uint32_t node = ki__object_edit_take(edit, &out);
    if (node != KI__TREE_NONE) {
        uint32_t after =
            old != KI__TREE_NONE ? edit->tree.nodes[old].next : (uint32_t)KI__TREE_NONE;
        if (old != KI__TREE_NONE) {
            ki__tree_remove(&edit->tree, old);
        }
        ki__tree_insert(&edit->tree, list, after, node);
    }
}

void ki_edit_remove_owner(ki_edit *edit, const char *uid)
{
    uint32_t list = is_ready(edit, uid, "uid")
                        ? ki__object_edit_container(edit, owner_references, KI_TYPE_LIST, false)
                        : (uint32_t)KI__TREE_NONE;
    uint32_t e = list != KI__TREE_NONE ? edit->tree.nodes[list].first : (uint32_t)KI__TREE_NONE;
    for (uint32_t after; e != KI__TREE_NONE; e = after) {
        after = ki__tree_next(&edit->tree, e);
        if (ki__object_edit_is_string(edit, member(edit, e, "uid"), ki_str_from(uid))) {
            ki__tree_remove(&edit->tree, e);
        }
    }
}

/* ---- conditions ---- */

static bool check_condition(ki_edit *edit, ki_condition *condition)
{
    if (condition->type == NULL || condition->status == NULL) {
        (void)ki__error_null(&edit->error, condition->type == NULL ? "type" : "status");
        return false;
    }
    if (condition->transition_time_ns == 0 && edit->clock == NULL) {
        (void)ki__error_set(&edit->error, KI_ERR_INVALID,
                            "condition %s: requires transition_time_ns or the option clock",
                            condition->type);
        return false;
    }
    if (condition->transition_time_ns == 0) {
        condition->transition_time_ns = edit->clock->realtime_ns(edit->clock->user);
    }
    return true;
}

static void set_text(ki_edit *edit, uint32_t map, const char *name, const char *text)
{
    uint32_t node = ki__object_edit_is_open(edit) && text != NULL
                        ? ki__object_edit_string(edit, ki_str_from(text))
                        : (uint32_t)KI__TREE_NONE;
    if (node != KI__TREE_NONE) {
        ki__object_edit_set_member(edit, map, ki_str_from(name), node);
    }
}

/* Sets a member from the text started with ki__object_edit_text(). */
static void set_taken(ki_edit *edit, uint32_t map, const char *name, const ki__out *out)
{
    uint32_t node = ki__object_edit_take(edit, out);
    if (node != KI__TREE_NONE) {
        ki__object_edit_set_member(edit, map, ki_str_from(name), node);
    }
}

/* The condition of a type; an empty one is added if there is none. */
static uint32_t find_condition(ki_edit *edit, const char *type)
{
    uint32_t list = ki__object_edit_container(edit, conditions, KI_TYPE_LIST, true);
    if (list == KI__TREE_NONE) {
        return KI__TREE_NONE;
    }
    uint32_t e = edit->tree.nodes[list].first;
    while (e != KI__TREE_NONE &&
           !ki__object_edit_is_string(edit, member(edit, e, "type"), ki_str_from(type))) {
        e = ki__tree_next(&edit->tree, e);
    }
    if (e == KI__TREE_NONE &&
        ki__object_edit_accept(edit, ki__tree_new(&edit->tree, KI_TYPE_MAP, &e))) {
        ki__tree_insert(&edit->tree, list, KI__TREE_NONE, e);
        set_text(edit, e, "type", type);
    }
    return e;
}

void ki_edit_set_condition(ki_edit *edit, const ki_condition *condition)
{
    ki_condition c;
    if (!is_ready(edit, condition, "condition") ||
        KI__TAKE(ki_condition, &c, condition, &edit->error) < 0 || !check_condition(edit, &c)) {
        return;
    }
    uint32_t map = find_condition(edit, c.type);
    if (map == KI__TREE_NONE) {
        return;
    }
    uint32_t time = member(edit, map, "lastTransitionTime");
    bool changed =
        !ki__object_edit_is_string(edit, member(edit, map, "status"), ki_str_from(c.status)) ||
        time == KI__TREE_NONE || edit->tree.nodes[time].type == KI_TYPE_NULL;
    set_text(edit, map, "status", c.status);
    if (changed && ki__object_edit_is_open(edit)) {
        ki__out out = ki__object_edit_text(edit);
        ki__put_time(&out, c.transition_time_ns / (int64_t)KI__SECOND_NS);
        set_taken(edit, map, "lastTransitionTime", &out);
    }
    set_text(edit, map, "reason", c.reason);
    set_text(edit, map, "message", c.message);
    if (c.observed_generation != 0 && ki__object_edit_is_open(edit)) {
        ki__out out = ki__object_edit_text(edit);
        ki__put_i64(&out, c.observed_generation);
        set_taken(edit, map, "observedGeneration", &out);
    }
}

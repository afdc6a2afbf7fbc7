/* SPDX-License-Identifier: Apache-2.0 */
/* Processes garbage collection tasks. An owner is looked up by the kind and name of the reference
 * and must have its uid, as in the real garbage collector. A dependent with a remaining owner loses
 * its references to the others; one without is deleted. */
#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/metadata.h"
#include "apiserver/verbs/compose.h"
#include "apiserver/verbs/garbage.h"
#include "apiserver/verbs/namespaces.h"
#include "apiserver/verbs/write_common.h"
#include "object/edit/json_edit.h"
#include "object/value.h"

/* State of an owner for its dependents. */
typedef enum standing {
    STANDING_ABSENT,
    STANDING_WAITS, /* it is deleted after its dependents */
    STANDING_SOLID,
} standing;

/* ---- owners ---- */

/* Whether a reference refers to this type. The version is ignored. */
static bool is_of_type(const ki_value *reference, const ki__api_type *type)
{
    ki_value kind = ki__value_child(reference, "kind");
    ki_value version = ki__value_child(reference, "apiVersion");
    const char *group = ki_resource_group(type->resource);
    size_t len = strlen(group);
    char text[320];
    if (type->removed || !ki_value_equals(&kind, ki_str_from(ki_resource_kind(type->resource))) ||
        ki_value_get_string(&version, text, sizeof(text)) <= 0) {
        return false;
    }
    if (len == 0) {
        return strchr(text, '/') == NULL;
    }
    return strncmp(text, group, len) == 0 && text[len] == '/';
}

/* The owner that a reference in a namespace refers to; borrowed; NULL: it does not exist. */
static int find_owner(ki__api_model *model, const ki_value *reference, const char *name_space,
                      ki__api_type **ret_type, ki_object **ret_owner)
{
    ki_value name = ki__value_child(reference, "name");
    char uid[KI__GARBAGE_UID_SIZE];
    ki_buf key;
    int r = 0;
    *ret_owner = NULL;
    if (!ki__garbage_reference(reference, uid) || ki_value_type(&name) != KI_TYPE_STRING) {
        return 0;
    }
    ki_buf_init(&key, model->alloc, SIZE_MAX);
    for (size_t i = 0; i < model->type_count && r == 0 && *ret_owner == NULL; i++) {
        ki__api_type *type = model->types[i];
        if (!is_of_type(reference, type)) {
            continue;
        }
        ki_buf_clear(&key);
        bool inside = ki_resource_is_namespaced(type->resource);
        ki__out out = ki__out_to(&key);
        ki__out_texts(&out, inside ? name_space : "", inside ? "/" : "", NULL);
        ki__out_content(&out, &name);
        r = out.error;
        ki_object *owner =
            r == 0 ? ki__api_model_get(type->store, ki_buf_str(&key), model->head) : NULL;
        if (owner != NULL && strcmp(ki_object_uid(owner), uid) == 0) {
            *ret_owner = owner;
            *ret_type = type->store;
        }
    }
    ki_buf_done(&key);
    return r;
}

static int look_up(ki__api_model *model, const ki_value *reference, const char *name_space,
                   standing *ret_standing)
{
    ki__api_type *type;
    ki_object *owner;
    int r = find_owner(model, reference, name_space, &type, &owner);
    *ret_standing = owner == NULL                      ? STANDING_ABSENT
                    : ki__garbage_is_foreground(owner) ? STANDING_WAITS
                                                       : STANDING_SOLID;
    return r;
}

/* ---- writing ---- */

/* Writes a new state; removes the object if it is being deleted and has no finalizers left. */
static int store(ki__api_model *model, ki__api_type *type, ki_object *old, ki_buf *json)
{
    ki_object_options options = {
        .size = sizeof(options), .alloc = model->alloc, .max_bytes = json->len + 1};
    ki_object *edited = NULL;
    ki_object *stamped = NULL;
    int r = ki_object_from_json(json->data, json->len, &options, &edited, NULL);
    if (r == 0 && ki_object_is_deleting(old) && !ki__api_has_finalizers(edited) &&
        !ki__api_namespaces_is_namespace(model, type)) {
        r = ki__api_remove(model, type, old, NULL);
    } else if (r == 0) {
        r = ki__api_restamp(model, type, edited, model->head + 1, &stamped);
        r = r < 0 ? r
                  : ki__api_model_write(model, type, ki_str_from(ki_object_key(old)),
                                        KI__API_MODIFIED, stamped);
    }
    ki_object_unref(stamped);
    ki_object_unref(edited);
    return r;
}

/* Sets a list in the metadata, or removes it if empty, and stores the object. */
static int store_list(ki__api_model *model, ki__api_type *type, ki_object *object, const char *name,
                      const ki_buf *list)
{
    const char *const path[] = {"metadata", name};
    ki_buf json;
    ki_buf_init(&json, model->alloc, SIZE_MAX);
    bool empty = list->len == 2; /* only the brackets */
    int r = empty ? ki__json_remove(object, path, 2, &json)
                  : ki__json_set(object, path, 2, ki_buf_str(list), &json);
    r = r < 0 ? r : store(model, type, object, &json);
    ki_buf_done(&json);
    return r;
}

/* Removes references to owners that do not remain or, if `uid` is not NULL, those to that owner. */
static int release(ki__api_model *model, ki__api_type *type, ki_object *object, const char *uid)
{
    ki_value references = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    ki_buf kept;
    bool changed = false;
    ki_buf_init(&kept, model->alloc, SIZE_MAX);
    ki__out out = ki__out_to(&kept);
    ki__put_list(&out);
    int r = ki_value_iter_begin(&references, &iter);
    while (r == 0 && ki_value_iter_next(&iter, NULL, &reference) > 0) {
        char owner[KI__GARBAGE_UID_SIZE] = "";
        standing found = STANDING_SOLID;
        if (uid != NULL) {
            bool same = ki__garbage_reference(&reference, owner) && strcmp(owner, uid) == 0;
            found = same ? STANDING_ABSENT : STANDING_SOLID;
        } else {
            r = look_up(model, &reference, ki_object_namespace(object), &found);
        }
        changed = changed || found != STANDING_SOLID;
        if (found == STANDING_SOLID) {
            ki__put_value(&out, &reference);
        }
    }
    ki__put_end(&out);
    r = r < 0 ? r : out.error;
    if (r == 0 && changed) {
        r = store_list(model, type, object, "ownerReferences", &kept);
    }
    ki_buf_done(&kept);
    return r;
}

static int remove_finalizer(ki__api_model *model, ki__api_type *type, ki_object *object,
                            const char *name)
{
    ki_value finalizers = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value finalizer;
    ki_buf kept;
    ki_buf_init(&kept, model->alloc, SIZE_MAX);
    ki__out out = ki__out_to(&kept);
    ki__put_list(&out);
    ki__out_fail(&out, ki_value_iter_begin(&finalizers, &iter));
    while (out.error == 0 && ki_value_iter_next(&iter, NULL, &finalizer) > 0) {
        if (!ki_value_equals(&finalizer, ki_str_from(name))) {
            ki__put_value(&out, &finalizer);
        }
    }
    ki__put_end(&out);
    int r = out.error;
    r = r < 0 ? r : store_list(model, type, object, "finalizers", &kept);
    ki_buf_done(&kept);
    return r;
}

/* ---- one dependent ---- */

/* Whether a dependent of an object waits for its own dependents: a cycle, which would never end if
 * this object waited too. */
static bool is_in_circle(const ki__api_model *model, const ki__garbage_owner *owner)
{
    for (size_t i = 0; i < owner->count; i++) {
        const ki_object *object = ki__api_key_at(owner->dependents[i], model->head);
        if (object != NULL && ki__garbage_is_foreground(object)) {
            return true;
        }
    }
    return false;
}

static int delete_dependent(ki__api_model *model, ki__api_type *type, ki_object *object,
                            bool foreground)
{
    ki_object *now = NULL;
    bool gone = false;
    const ki__garbage_owner *owner = ki__garbage_find(model->garbage, ki_object_uid(object));
    ki__api_policy policy = foreground && owner != NULL && !is_in_circle(model, owner)
                                ? KI__API_POLICY_FOREGROUND
                                : KI__API_POLICY_UNSAID;
    int r = ki__api_delete_object(model, type, object, policy, &now, &gone);
    ki_object_unref(now);
    return r < 0 || !gone ? r : ki__api_namespaces_sweep(model, ki_object_namespace(object));
}

static int collect(ki__api_model *model, ki__api_type *type, ki_object *object)
{
    ki_value references = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    size_t found[STANDING_SOLID + 1] = {0};
    int r = ki_value_iter_begin(&references, &iter) < 0 ? 0 : 1;
    while (r > 0 && ki_value_iter_next(&iter, NULL, &reference) > 0) {
        standing owner;
        r = look_up(model, &reference, ki_object_namespace(object), &owner);
        found[owner]++;
        r = r < 0 ? r : 1;
    }
    if (r <= 0 || found[STANDING_ABSENT] + found[STANDING_WAITS] == 0) {
        return r < 0 ? r : 0;
    }
    if (found[STANDING_SOLID] != 0) {
        return release(model, type, object, NULL);
    }
    return ki_object_is_deleting(object)
               ? 0
               : delete_dependent(model, type, object, found[STANDING_WAITS] != 0);
}

/* Whether a dependent blocks the deletion of its owner. */
static bool is_blocking(const ki_object *object, const char *uid)
{
    ki_value references = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    char owner[KI__GARBAGE_UID_SIZE];
    if (ki_value_iter_begin(&references, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &reference) > 0) {
        ki_value flag = ki__value_child(&reference, "blockOwnerDeletion");
        bool blocks = false;
        if (ki__garbage_reference(&reference, owner) && strcmp(owner, uid) == 0 &&
            ki_value_bool(&flag, &blocks) == 0 && blocks) {
            return true;
        }
    }
    return false;
}

/* ---- tasks ---- */

/* The next dependent of the owner in the first task, as a new reference; NULL after the last. */
static ki_object *next_dependent(ki__api_model *model, ki__api_key **ret_key)
{
    ki__garbage *g = model->garbage;
    ki__garbage_task *task = &g->tasks[g->first];
    const ki__garbage_owner *owner = ki__garbage_find(g, task->uid);
    size_t left = owner == NULL ? 0 : task->next < owner->count ? task->next : owner->count;
    if (left == 0) {
        return NULL;
    }
    task->next = left - 1;
    *ret_key = owner->dependents[left - 1];
    return ki_object_ref(ki__api_key_at(*ret_key, model->head));
}

static int step_gone(ki__api_model *model)
{
    ki__api_key *key;
    ki_object *object = next_dependent(model, &key);
    if (object == NULL) {
        ki__garbage_pop(model->garbage);
        return 0;
    }
    int r = collect(model, key->type, object);
    ki_object_unref(object);
    return r;
}

/* The current state of the first task's object, as a new reference; NULL: it is gone. */
static ki_object *current(ki__api_model *model, const ki__garbage_task *task)
{
    ki_object *now =
        ki__api_model_get(task->type, ki_str_from(ki_object_key(task->object)), model->head);
    bool same = now != NULL && strcmp(ki_object_uid(now), ki_object_uid(task->object)) == 0;
    return same ? ki_object_ref(now) : NULL;
}

/* Foreground deletion: blocking dependents are deleted first. */
static int step_foreground(ki__api_model *model, ki__api_type *type, ki_object *owner)
{
    ki__garbage *g = model->garbage;
    ki__api_key *key;
    ki_object *object = next_dependent(model, &key);
    if (object == NULL) {
        bool blocked = g->tasks[g->first].blocked;
        int r = blocked ? 0 : remove_finalizer(model, type, owner, KI__FINALIZER_FOREGROUND);
        if (r == 0) {
            ki__garbage_pop(g);
        }
        return r;
    }
    int r = 0;
    if (is_blocking(object, ki_object_uid(owner))) {
        ki__api_type *of = key->type;
        const char *text = ki_object_key(object);
        r = collect(model, of, object);
        const ki_object *now =
            r == 0 ? ki__api_model_get(of, ki_str_from(text), model->head) : NULL;
        bool blocked = now != NULL && is_blocking(now, ki_object_uid(owner));
        g->tasks[g->first].blocked = g->tasks[g->first].blocked || blocked;
    }
    ki_object_unref(object);
    return r;
}

/* Orphaning: removes the references from its dependents. */
static int step_orphan(ki__api_model *model, ki__api_type *type, ki_object *owner)
{
    ki__api_key *key;
    ki_object *object = next_dependent(model, &key);
    if (object == NULL) {
        int r = remove_finalizer(model, type, owner, KI__FINALIZER_ORPHAN);
        if (r == 0) {
            ki__garbage_pop(model->garbage);
        }
        return r;
    }
    int r = release(model, key->type, object, ki_object_uid(owner));
    ki_object_unref(object);
    return r;
}

static int step_owner(ki__api_model *model)
{
    ki__garbage *g = model->garbage;
    ki__api_type *type = g->tasks[g->first].type;
    ki_object *owner = current(model, &g->tasks[g->first]);
    bool orphan = owner != NULL && ki_object_is_deleting(owner) &&
                  ki__garbage_has_finalizer(owner, KI__FINALIZER_ORPHAN);
    int r = 0;
    if (orphan) {
        r = step_orphan(model, type, owner);
    } else if (owner != NULL && ki__garbage_is_foreground(owner)) {
        r = step_foreground(model, type, owner);
    } else {
        ki__garbage_pop(g);
    }
    ki_object_unref(owner);
    return r;
}

/* The removed object may be the one that its owner waited for. */
static int wake_owner(ki__api_model *model)
{
    ki__garbage *g = model->garbage;
    ki__garbage_task *task = &g->tasks[g->first];
    ki_value references = ki_object_owner_references(task->object);
    ki_value_iter iter;
    ki_value reference;
    char uid[KI__GARBAGE_UID_SIZE];
    ki_object *owner = NULL;
    ki__api_type *type = NULL;
    int r = ki_value_iter_begin(&references, &iter);
    while (r == 0 && owner == NULL && ki_value_iter_next(&iter, NULL, &reference) > 0) {
        if (ki__garbage_reference(&reference, uid) && strcmp(uid, task->uid) == 0) {
            r = find_owner(model, &reference, ki_object_namespace(task->object), &type, &owner);
        }
    }
    if (r < 0) {
        return r;
    }
    if (owner == NULL || !ki__garbage_is_foreground(owner)) {
        ki__garbage_pop(g);
        return 0;
    }
    ki_object_unref(task->object);
    task->kind = KI__GARBAGE_OWNER;
    task->object = ki_object_ref(owner);
    task->type = type;
    return 0;
}

static int step_check(ki__api_model *model)
{
    ki__garbage *g = model->garbage;
    ki__api_type *type = g->tasks[g->first].type;
    ki_object *object = current(model, &g->tasks[g->first]);
    if (object == NULL) {
        return wake_owner(model);
    }
    int r = collect(model, type, object);
    if (r == 0) {
        ki__garbage_pop(g);
    }
    ki_object_unref(object);
    return r;
}

int ki__garbage_run(ki__api_model *model, size_t limit)
{
    ki__garbage *g = model->garbage;
    if (!ki__garbage_is_pending(g)) {
        return 0;
    }
    g->running = true;
    int r = g->stale ? ki__garbage_rebuild(model) : 0;
    for (size_t i = 0; i < limit && r == 0 && g->count != 0; i++) {
        size_t next = g->tasks[g->first].next;
        switch (g->tasks[g->first].kind) {
        case KI__GARBAGE_GONE:
            r = step_gone(model);
            break;
        case KI__GARBAGE_OWNER:
            r = step_owner(model);
            break;
        case KI__GARBAGE_CHECK:
            r = step_check(model);
            break;
        }
        if (r < 0 && r != -ENOMEM) { /* not possible: an object became too large */
            ki__garbage_pop(g);
            r = 0;
        } else if (r < 0) {
            g->tasks[g->first].next = next; /* process this one again */
        }
    }
    g->running = false;
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Index of dependents, and task queue. */
#include "apiserver/verbs/garbage.h"

#include <errno.h>

#include <kinformer/error.h>

#include "apiserver/validate/metadata.h"
#include "base/alloc.h"

int ki__garbage_new(const ki_alloc *alloc, const ki_random *random, ki__garbage **ret_garbage)
{
    ki__garbage *g = ki__alloc_zero(alloc, sizeof(*g));
    if (g == NULL) {
        return -ENOMEM;
    }
    g->alloc = alloc;
    ki__map_init(&g->owners, alloc, ki__hash_key_make(random, g), KI__GARBAGE_OWNERS_MAX);
    g->gone = ki__alloc_array(alloc, KI__GARBAGE_GONE_MAX, sizeof(*g->gone));
    if (g->gone == NULL) {
        ki__garbage_free(g);
        return -ENOMEM;
    }
    memset(g->gone, 0, KI__GARBAGE_GONE_MAX * sizeof(*g->gone));
    *ret_garbage = g;
    return 0;
}

static void clear(ki__garbage *g)
{
    size_t position = 0;
    ki__garbage_owner *owner;
    while ((owner = ki__map_next(&g->owners, &position)) != NULL) {
        ki__free(g->alloc, owner->dependents);
        ki__free(g->alloc, owner);
    }
    while (g->count != 0) {
        ki__garbage_pop(g);
    }
    g->waiting = 0;
    ki__hash_key key = g->owners.hash_key;
    ki__map_done(&g->owners);
    ki__map_init(&g->owners, g->alloc, key, KI__GARBAGE_OWNERS_MAX);
}

ki__garbage *ki__garbage_free(ki__garbage *g)
{
    if (g != NULL) {
        clear(g);
        ki__map_done(&g->owners);
        ki__free(g->alloc, g->tasks);
        ki__free(g->alloc, g->gone);
        ki__free(g->alloc, g);
    }
    return NULL;
}

void ki__garbage_reset(ki__garbage *g)
{
    if (g != NULL) {
        clear(g);
        g->stale = true;
    }
}

/* ---- owners ---- */

ki__garbage_owner *ki__garbage_find(const ki__garbage *g, const char *uid)
{
    return ki__map_get(&g->owners, ki_str_from(uid));
}

bool ki__garbage_reference(const ki_value *reference, char uid[KI__GARBAGE_UID_SIZE])
{
    ki_value value;
    return ki_value_member(reference, ki_str_from("uid"), &value) == 0 &&
           ki_value_get_string(&value, uid, KI__GARBAGE_UID_SIZE) > 0;
}

static int add_dependent(ki__garbage *g, const char *uid, ki__api_key *key)
{
    ki__garbage_owner *owner = ki__garbage_find(g, uid);
    if (owner == NULL) {
        owner = ki__alloc_zero(g->alloc, sizeof(*owner));
        if (owner == NULL) {
            return -ENOMEM;
        }
        memcpy(owner->uid, uid, strlen(uid) + 1);
        int r = ki__map_set(&g->owners, ki_str_from(owner->uid), owner, NULL);
        if (r < 0) {
            ki__free(g->alloc, owner);
            return r;
        }
    }
    void *dependents = owner->dependents;
    int r = ki__array_reserve(g->alloc, &dependents, &owner->cap, owner->count + 1,
                              sizeof(ki__api_key *));
    owner->dependents = dependents;
    if (r == 0) {
        owner->dependents[owner->count++] = key;
    }
    return r;
}

/* Searches backwards: recently added ones first. */
static void remove_dependent(ki__garbage *g, const char *uid, const ki__api_key *key)
{
    ki__garbage_owner *owner = ki__garbage_find(g, uid);
    for (size_t i = owner != NULL ? owner->count : 0; i != 0; i--) {
        if (owner->dependents[i - 1] == key) {
            owner->dependents[i - 1] = owner->dependents[--owner->count];
            break;
        }
    }
    if (owner != NULL && owner->count == 0) {
        (void)ki__map_remove(&g->owners, ki_str_from(owner->uid));
        ki__free(g->alloc, owner->dependents);
        ki__free(g->alloc, owner);
    }
}

/* Removes the first `count` references of an object. */
static void remove_references(ki__garbage *g, ki__api_key *key, const ki_object *object,
                              size_t count)
{
    ki_value list = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    char uid[KI__GARBAGE_UID_SIZE];
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return;
    }
    for (; count != 0 && ki_value_iter_next(&iter, NULL, &reference) > 0; count--) {
        if (ki__garbage_reference(&reference, uid)) {
            remove_dependent(g, uid, key);
        }
    }
}

static int add_references(ki__garbage *g, ki__api_key *key, const ki_object *object)
{
    ki_value list = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    char uid[KI__GARBAGE_UID_SIZE];
    size_t count = 0;
    int r = 0;
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return 0;
    }
    while (r == 0 && ki_value_iter_next(&iter, NULL, &reference) > 0) {
        r = ki__garbage_reference(&reference, uid) ? add_dependent(g, uid, key) : 0;
        count += r == 0 ? 1 : 0;
    }
    if (r < 0) {
        remove_references(g, key, object, count);
    }
    return r;
}

/* Whether both have byte-identical owner references, so that the index need not change. */
static bool same_references(const ki_object *a, const ki_object *b)
{
    if (a == NULL || b == NULL) {
        return false;
    }
    ki_value left = ki_object_owner_references(a);
    ki_value right = ki_object_owner_references(b);
    ki_value_iter i;
    ki_value_iter j;
    ki_value x;
    ki_value y;
    char first[KI__GARBAGE_UID_SIZE];
    char second[KI__GARBAGE_UID_SIZE];
    bool has_left = ki_value_iter_begin(&left, &i) == 0;
    bool has_right = ki_value_iter_begin(&right, &j) == 0;
    for (;;) {
        bool more = has_left && ki_value_iter_next(&i, NULL, &x) > 0;
        bool others = has_right && ki_value_iter_next(&j, NULL, &y) > 0;
        if (!more || !others) {
            return more == others;
        }
        first[0] = second[0] = '\0';
        (void)ki__garbage_reference(&x, first);
        (void)ki__garbage_reference(&y, second);
        if (strcmp(first, second) != 0) {
            return false;
        }
    }
}

/* ---- tasks ---- */

void ki__garbage_pop(ki__garbage *g)
{
    ki_object_unref(g->tasks[g->first].object);
    g->first++;
    g->count--;
    g->first = g->count != 0 ? g->first : 0;
}

static int reserve_tasks(ki__garbage *g, size_t more)
{
    if (g->first != 0 && g->first + g->count + more > g->cap) {
        memmove(g->tasks, g->tasks + g->first, g->count * sizeof(*g->tasks));
        g->first = 0;
    }
    void *tasks = g->tasks;
    int r =
        ki__array_reserve(g->alloc, &tasks, &g->cap, g->first + g->count + more, sizeof(*g->tasks));
    g->tasks = tasks;
    return r;
}

static void add_task(ki__garbage *g, ki__garbage_kind kind, const char *uid, ki__api_type *type,
                     ki_object *object)
{
    ki__garbage_task *task = &g->tasks[g->first + g->count++];
    *task = (ki__garbage_task){
        .kind = kind, .type = type, .object = ki_object_ref(object), .next = SIZE_MAX};
    memcpy(task->uid, uid, strlen(uid) + 1);
}

static size_t count_references(const ki_object *object)
{
    size_t count = 0;
    if (object != NULL) {
        ki_value list = ki_object_owner_references(object);
        count = ki_value_count(&list);
    }
    return count;
}

/* ---- writes ---- */

int ki__garbage_prepare(ki__garbage *g, ki__api_key *key, const ki_object *before,
                        const ki_object *object)
{
    if (g == NULL || g->stale) {
        return 0;
    }
    int r = reserve_tasks(g, 2 + count_references(before) + count_references(object));
    if (r < 0 || object == NULL || same_references(before, object)) {
        return r;
    }
    return add_references(g, key, object);
}

bool ki__garbage_has_finalizer(const ki_object *object, const char *finalizer)
{
    ki_value list = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value value;
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return false;
    }
    while (ki_value_iter_next(&iter, NULL, &value) > 0) {
        if (ki_value_equals(&value, ki_str_from(finalizer))) {
            return true;
        }
    }
    return false;
}

bool ki__garbage_is_foreground(const ki_object *object)
{
    return ki_object_is_deleting(object) &&
           ki__garbage_has_finalizer(object, KI__FINALIZER_FOREGROUND);
}

static bool was_removed(const ki__garbage *g, const char *uid)
{
    for (size_t i = 0; i < KI__GARBAGE_GONE_MAX; i++) {
        if (strcmp(g->gone[i], uid) == 0) {
            return true;
        }
    }
    return false;
}

/* After a removal: its dependents follow, and its owners may have been waiting for it. */
static void note_removal(ki__garbage *g, ki__api_key *key, ki_object *last)
{
    const char *uid = ki_object_uid(last);
    ki_value list = ki_object_owner_references(last);
    ki_value_iter iter;
    ki_value reference;
    char owner[KI__GARBAGE_UID_SIZE];
    if (uid[0] != '\0' && strlen(uid) < KI__GARBAGE_UID_SIZE) {
        memcpy(g->gone[g->gone_next], uid, strlen(uid) + 1);
        g->gone_next = (g->gone_next + 1) % KI__GARBAGE_GONE_MAX;
        if (ki__garbage_find(g, uid) != NULL) {
            add_task(g, KI__GARBAGE_GONE, uid, key->type, NULL);
        }
    }
    if (ki_value_iter_begin(&list, &iter) < 0) {
        return;
    }
    while (ki_value_iter_next(&iter, NULL, &reference) > 0) {
        if (g->waiting != 0 && ki__garbage_reference(&reference, owner)) {
            add_task(g, KI__GARBAGE_CHECK, owner, key->type, last);
        }
    }
}

/* After a write: the object may start to wait for its dependents, or its owner may be gone
 * already. */
static void note_state(ki__garbage *g, ki__api_key *key, const ki_object *before, ki_object *object)
{
    ki_value list = ki_object_owner_references(object);
    ki_value_iter iter;
    ki_value reference;
    char owner[KI__GARBAGE_UID_SIZE];
    if (ki_object_is_deleting(object) &&
        (ki__garbage_is_foreground(object) ||
         ki__garbage_has_finalizer(object, KI__FINALIZER_ORPHAN))) {
        add_task(g, KI__GARBAGE_OWNER, ki_object_uid(object), key->type, object);
    }
    if (same_references(before, object) || ki_value_iter_begin(&list, &iter) < 0) {
        return;
    }
    while (ki_value_iter_next(&iter, NULL, &reference) > 0) {
        if (ki__garbage_reference(&reference, owner) && was_removed(g, owner)) {
            add_task(g, KI__GARBAGE_CHECK, owner, key->type, object);
        }
    }
}

void ki__garbage_commit(ki__garbage *g, ki__api_key *key, const ki_object *before,
                        ki_object *object, bool deleted)
{
    if (g == NULL || g->stale) {
        return;
    }
    if (before != NULL && (deleted || !same_references(before, object))) {
        remove_references(g, key, before, SIZE_MAX);
    }
    g->waiting -= before != NULL && ki__garbage_is_foreground(before) ? 1 : 0;
    g->waiting += !deleted && ki__garbage_is_foreground(object) ? 1 : 0;
    if (deleted) {
        note_removal(g, key, object);
    } else {
        note_state(g, key, before, object);
    }
}

int ki__garbage_rebuild(ki__api_model *model)
{
    ki__garbage *g = model->garbage;
    int r = 0;
    clear(g);
    for (size_t i = 0; i < model->type_count && r == 0; i++) {
        ki__api_type *type = model->types[i];
        for (size_t j = 0; j < type->count && r == 0; j++) {
            ki_object *object = ki__api_key_at(type->keys[j], model->head);
            if (object != NULL) {
                r = reserve_tasks(g, 2 + count_references(object));
                r = r < 0 ? r : add_references(g, type->keys[j], object);
            }
            if (object != NULL && r == 0) {
                g->waiting += ki__garbage_is_foreground(object) ? 1 : 0;
                note_state(g, type->keys[j], object, object);
            }
        }
    }
    g->stale = r < 0;
    return r;
}

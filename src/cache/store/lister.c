/* SPDX-License-Identifier: Apache-2.0 */
/* Listers. A selector or a namespace is resolved by an index where possible, and only the rest is
 * checked per object: labels only if the selector has any, namespaces only if there is no index of
 * them. */
#include <kinformer/index.h>
#include <kinformer/key.h>
#include <kinformer/label_selector.h>
#include <kinformer/lister.h>
#include <kinformer/lister_iter.h>

#include "base/error.h"
#include "cache/store/readers.h"
#include "cache/store/version.h"
#include "object/located.h"
#include "object/object.h"
#include "object/object_list.h"
#include "object/selector/selector.h"

/* Maximum length of an object's key. */
enum { KEY_MAX = 2 * KI__IDENTITY_BYTES_MAX + 1 };

/* Prefetch distances, in objects, for an object and for its labels. Objects are scattered in
 * memory, and without this a search mostly waits for them. */
enum { OBJECTS_AHEAD = 16, LABELS_AHEAD = 8 };

ki_lister ki_lister_of(ki_store *store, const ki_resource *resource)
{
    return (ki_lister){.store = store, .resource = resource};
}

ki_lister ki_lister_at(ki_snapshot *snapshot, const ki_resource *resource)
{
    return (ki_lister){.snapshot = snapshot, .resource = resource};
}

/* By name */

static void add_resource(ki_error *error, const ki_resource *resource)
{
    if (resource == NULL) {
        return;
    }
    ki__error_add(error, ki_str_from(ki_resource_name(resource)));
    if (ki_resource_group(resource)[0] != '\0') {
        ki__error_add(error, ki_str_from("."));
        ki__error_add(error, ki_str_from(ki_resource_group(resource)));
    }
    ki__error_add(error, ki_str_from(" "));
}

static int not_found(const ki_lister *lister, ki_str name_space, ki_str name, ki_error *error)
{
    if (error == NULL) {
        return KI_ERR_NOT_FOUND;
    }
    ki__error_clear(error);
    error->code = KI_ERR_NOT_FOUND;
    error->http_code = 404;
    error->reason = KI_REASON_NOT_FOUND;
    add_resource(error, lister->resource);
    ki__error_add(error, ki_str_from("\""));
    ki__error_add(error, name);
    ki__error_add(error, ki_str_from("\" not found"));
    if (name_space.len != 0) {
        ki__error_add(error, ki_str_from(" in namespace \""));
        ki__error_add(error, name_space);
        ki__error_add(error, ki_str_from("\""));
    }
    return KI_ERR_NOT_FOUND;
}

static ki_object *find(const ki_lister *lister, ki_str key)
{
    if (lister->snapshot != NULL) {
        return ki_object_ref(ki__snapshot_get(lister->snapshot, key));
    }
    return ki__store_get(lister->store, key);
}

/* The object with this name; NULL also for names that no object can have, such as those with a '/',
 * which must not be mistaken for a key. */
static ki_object *find_name(const ki_lister *lister, ki_str name_space, ki_str name)
{
    char room[KEY_MAX + 1]; /* with the buffer's NUL: never grows */
    ki_buf key = {.data = room, .cap = sizeof(room), .max = KEY_MAX};
    if (ki_key_join(name_space, name, &key) < 0) {
        return NULL;
    }
    return find(lister, ki_buf_str(&key));
}

int ki_lister_get(const ki_lister *lister, const char *name_space, const char *name,
                  ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(lister, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_object, error);
    ki_str space = ki_str_from(name_space);
    ki_object *object = find_name(lister, space, ki_str_from(name));
    if (object == NULL) {
        return not_found(lister, space, ki_str_from(name), error);
    }
    *ret_object = object;
    return 0;
}

int ki_lister_get_key(const ki_lister *lister, const char *key, ki_object **ret_object,
                      ki_error *error)
{
    KI__REQUIRE(lister, error);
    KI__REQUIRE(key, error);
    KI__REQUIRE(ret_object, error);
    ki_str text = ki_str_from(key);
    ki_object *object = find(lister, text);
    if (object == NULL) {
        ki_str name_space;
        ki_str name;
        if (ki_key_split(text, &name_space, &name) < 0) {
            name_space = ki_str_make(NULL, 0);
            name = text;
        }
        return not_found(lister, name_space, name, error);
    }
    *ret_object = object;
    return 0;
}

/* Iteration */

/* An iteration over all objects, with the checks for each. */
static ki_lister_iter begin(const ki_lister *lister, const ki_selector *selector,
                            const void *caller)
{
    ki_snapshot *held = lister->snapshot != NULL ? ki_snapshot_ref(lister->snapshot)
                                                 : ki__store_read(lister->store, caller);
    ki_lister_iter iter = {.walk = ki_snapshot_iter_begin(held), .held = held};
    if (selector != NULL && !ki_selector_is_everything(selector)) {
        iter.selector = selector;
    }
    return iter;
}

/* The objects of a namespace. */
static ki_lister_iter begin_in(const ki_lister *lister, const char *name_space,
                               const ki_selector *selector, const void *caller)
{
    ki_lister_iter iter = begin(lister, selector, caller);
    ki_str space = ki_str_from(name_space);
    if (selector != NULL && ki_selector_is_nothing(selector)) {
        iter.walk = ki__snapshot_none(iter.held);
    } else if (space.len != 0 &&
               ki_snapshot_iter_by_index(iter.held, KI_INDEX_NAMESPACE, space, &iter.walk) < 0) {
        iter.name_space = space;
    }
    return iter;
}

ki_lister_iter ki_lister_iter_begin(const ki_lister *lister, const char *name_space,
                                    const ki_selector *selector)
{
    return begin_in(lister, name_space, selector, __builtin_return_address(0));
}

/* Always inline: otherwise gcc treats a function that only prefetches as having no effect, and
 * drops the call. */
static inline __attribute__((always_inline)) void fetch_object(const ki_object *object)
{
    if (object != NULL) {
        __builtin_prefetch(object);
        __builtin_prefetch(object->near_strings);
    }
}

static inline __attribute__((always_inline)) void fetch_labels(const ki_object *object)
{
    if (object != NULL) {
        const char *labels = ki__object_bytes(object) + object->labels;
        for (size_t i = 0; i < 4; i++) { /* cache lines; labels usually fit */
            __builtin_prefetch(labels + i * 64);
        }
    }
}

static bool wanted(const ki_lister_iter *iter, const ki_object *object)
{
    if (iter->name_space.len != 0 && !ki_str_eq(ki__object_namespace(object), iter->name_space)) {
        return false;
    }
    return iter->selector == NULL || ki_selector_matches(iter->selector, object);
}

int ki_lister_iter_next(ki_lister_iter *iter, const ki_object **ret_object)
{
    KI__REQUIRE(iter, NULL);
    KI__REQUIRE(ret_object, NULL);
    const ki_object *object;
    int r;
    do {
        if (iter->selector != NULL) {
            fetch_object(ki__snapshot_peek(&iter->walk, OBJECTS_AHEAD));
            fetch_labels(ki__snapshot_peek(&iter->walk, LABELS_AHEAD));
        }
        r = ki_snapshot_iter_next(&iter->walk, &object);
    } while (r > 0 && !wanted(iter, object));
    if (r > 0) {
        *ret_object = object;
    }
    return r;
}

void ki_lister_iter_end(ki_lister_iter *iter)
{
    if (iter == NULL) {
        return;
    }
    iter->walk = ki__snapshot_none(NULL);
    iter->held = ki_snapshot_unref(iter->held);
}

/* Lists */

/* Keeps matching objects. */
static ki_list *filter(ki_list *list, const ki_lister_iter *iter)
{
    size_t count = list->count;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        fetch_object(i + OBJECTS_AHEAD < count ? list->objects[i + OBJECTS_AHEAD] : NULL);
        if (iter->selector != NULL) {
            fetch_labels(i + LABELS_AHEAD < count ? list->objects[i + LABELS_AHEAD] : NULL);
        }
        const ki_object *object = list->objects[i];
        if (wanted(iter, object)) {
            list->objects[list->count++] = object;
        }
    }
    return list->count < count / 2 ? ki__list_fit(list) : list;
}

/* Whether the selector reads labels that were not kept; the objects of a store have the same
 * projection. */
static bool reads_unkept(const ki_lister_iter *iter, const ki_list *list)
{
    return iter->selector != NULL && list->count != 0 &&
           ki__selector_reads_unkept(iter->selector, list->objects[0]);
}

/* Collects the rest of the iteration as a list, and ends it. */
static int list_all(ki_lister_iter *iter, ki_list **ret_list)
{
    ki_list *list = NULL;
    int r = ki__snapshot_list(&iter->walk, &list);
    if (r >= 0 && reads_unkept(iter, list)) {
        list = ki_list_unref(list);
        r = KI_ERR_NOT_KEPT;
    }
    if (r >= 0 && (iter->selector != NULL || iter->name_space.len != 0)) {
        list = filter(list, iter);
    }
    ki_lister_iter_end(iter);
    if (r >= 0) {
        *ret_list = list;
    }
    return r;
}

int ki__lister_list(const ki_lister *lister, const char *name_space, const ki_selector *selector,
                    const void *caller, ki_list **ret_list)
{
    ki_lister_iter iter = begin_in(lister, name_space, selector, caller);
    return list_all(&iter, ret_list);
}

int ki_lister_list(const ki_lister *lister, const char *name_space, const ki_selector *selector,
                   ki_list **ret_list)
{
    KI__REQUIRE(lister, NULL);
    KI__REQUIRE(ret_list, NULL);
    return ki__lister_list(lister, name_space, selector, __builtin_return_address(0), ret_list);
}

int ki_lister_by_index(const ki_lister *lister, const char *index, const char *value,
                       const ki_selector *selector, ki_list **ret_list)
{
    KI__REQUIRE(lister, NULL);
    KI__REQUIRE(index, NULL);
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_list, NULL);
    ki_lister_iter iter = begin(lister, selector, __builtin_return_address(0));
    int r = ki_snapshot_iter_by_index(iter.held, index, ki_str_from(value), &iter.walk);
    if (r < 0) {
        ki_lister_iter_end(&iter);
        return r;
    }
    if (selector != NULL && ki_selector_is_nothing(selector)) {
        iter.walk = ki__snapshot_none(iter.held);
    }
    return list_all(&iter, ret_list);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An array of references and, once an object is replaced or removed, a map from key to array
 * position. Removal leaves a gap, so that the other positions stay valid; the array is compacted
 * when half of it is gaps, so that a server that adds and deletes forever costs no more memory than
 * the live objects. */
#include "wire/list_collector.h"

#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { OBJECTS_MAX = 1 << 30 };

void ki__collect_init(ki__collect *collect, const ki_alloc *alloc, ki__hash_key key, size_t max)
{
    *collect = (ki__collect){.alloc = alloc, .max = max != 0 ? max : OBJECTS_MAX};
    ki__map_init(&collect->places, alloc, key, collect->max);
    ki__map_init(&collect->unread_places, alloc, key, collect->max);
}

static void free_text(const ki__collect *collect, ki_str text)
{
    ki__free(collect->alloc, (void *)(uintptr_t)text.ptr);
}

void ki__collect_clear(ki__collect *collect)
{
    for (size_t i = 0; i < collect->count; i++) {
        (void)ki_object_unref(collect->objects[i]);
    }
    for (size_t i = 0; i < collect->unread_count; i++) {
        free_text(collect, collect->unread[i]);
    }
    ki__hash_key key = collect->places.hash_key;
    ki__map_done(&collect->places);
    ki__map_done(&collect->unread_places);
    ki__free(collect->alloc, (void *)collect->objects);
    ki__free(collect->alloc, collect->unread);
    ki__collect_init(collect, collect->alloc, key, collect->max);
}

/* Position of a key in one of the arrays, from 1; 0 if absent. */
static size_t place_of(const ki__map *places, ki_str key)
{
    return (size_t)(uintptr_t)ki__map_get(places, key);
}

static int set_place(ki__map *places, ki_str key, size_t place)
{
    return ki__map_set(places, key, (void *)(uintptr_t)place, NULL);
}

static size_t remove_place(ki__map *places, ki_str key)
{
    return (size_t)(uintptr_t)ki__map_remove(places, key);
}

void ki__collect_pack(ki__collect *collect)
{
    size_t kept = 0;
    for (size_t i = 0; i < collect->count && collect->gaps != 0; i++) {
        const ki_object *object = collect->objects[i];
        if (object == NULL) {
            continue;
        }
        collect->objects[kept++] = object;
        /* Only what has a position leaves a gap. */
        int r = set_place(&collect->places, ki_str_from(ki_object_key(object)), kept);
        ki_assert(r == 0);
    }
    collect->count -= collect->gaps;
    collect->gaps = 0;
}

static int reserve(ki__collect *collect)
{
    if (collect->gaps > collect->count / 2) {
        ki__collect_pack(collect);
    }
    if (collect->count - collect->gaps >= collect->max) {
        return KI_ERR_LIMIT;
    }
    void *block = (void *)collect->objects;
    int r = ki__array_reserve(collect->alloc, &block, &collect->cap, collect->count + 1,
                              sizeof(collect->objects[0]));
    collect->objects = block;
    return r;
}

int ki__collect_append(ki__collect *collect, const ki_object *object)
{
    int r = reserve(collect);
    if (r == 0) {
        collect->objects[collect->count++] = ki_object_ref(object);
    }
    return r;
}

/* The last entry moves into the gap. */
static void remove_unread(ki__collect *collect, ki_str key)
{
    size_t place = remove_place(&collect->unread_places, key);
    if (place == 0) {
        return;
    }
    ki_str gone = collect->unread[place - 1];
    ki_str last = collect->unread[--collect->unread_count];
    if (place - 1 != collect->unread_count) {
        collect->unread[place - 1] = last;
        int r = set_place(&collect->unread_places, last, place);
        ki_assert(r == 0); /* replacing an existing entry cannot fail */
    }
    free_text(collect, gone);
}

/* Of objects with one key the last counts. */
static void drop_replaced(ki__collect *collect)
{
    for (size_t i = 0; i < collect->count; i++) {
        const ki_object *object = collect->objects[i];
        if (place_of(&collect->places, ki_str_from(ki_object_key(object))) != i + 1) {
            (void)ki_object_unref(object);
            collect->objects[i] = NULL;
            collect->gaps++;
        }
    }
}

static int index_objects(ki__collect *collect)
{
    int r = 0;
    if (collect->indexed) {
        return 0;
    }
    for (size_t i = 0; i < collect->count && r == 0; i++) {
        r = set_place(&collect->places, ki_str_from(ki_object_key(collect->objects[i])), i + 1);
    }
    if (r < 0) {
        ki__hash_key key = collect->places.hash_key;
        ki__map_done(&collect->places);
        ki__map_init(&collect->places, collect->alloc, key, collect->max);
        return r;
    }
    if (collect->places.count != collect->count) {
        drop_replaced(collect);
    }
    collect->indexed = true;
    return 0;
}

int ki__collect_add(ki__collect *collect, const ki_object *object)
{
    collect->by_key = true;
    return collect->indexed || collect->unread_count != 0 ? ki__collect_put(collect, object)
                                                          : ki__collect_append(collect, object);
}

int ki__collect_put(ki__collect *collect, const ki_object *object)
{
    ki_str key = ki_str_from(ki_object_key(object));
    int r = index_objects(collect);
    size_t place = place_of(&collect->places, key);
    r = r == 0 && place == 0 ? reserve(collect) : r;
    if (r < 0) {
        return r;
    }
    bool is_new = place == 0;
    place = is_new ? collect->count + 1 : place;
    /* From here on the map borrows the key of the new object instead of the old one's. */
    r = set_place(&collect->places, key, place);
    if (r < 0) {
        return r;
    }
    if (is_new) {
        collect->count++;
    } else {
        (void)ki_object_unref(collect->objects[place - 1]);
        collect->replaced++;
    }
    collect->objects[place - 1] = ki_object_ref(object);
    remove_unread(collect, key);
    return 0;
}

int ki__collect_remove(ki__collect *collect, const char *key)
{
    ki_str view = ki_str_from(key);
    int r = index_objects(collect);
    if (r < 0) {
        return r;
    }
    size_t place = remove_place(&collect->places, view);
    remove_unread(collect, view);
    if (place != 0) { /* last, since `key` may belong to the object */
        const ki_object *object = collect->objects[place - 1];
        collect->objects[place - 1] = NULL;
        collect->gaps++;
        collect->replaced++;
        (void)ki_object_unref(object);
    }
    return 0;
}

int ki__collect_add_unread(ki__collect *collect, const char *key)
{
    ki_str view = ki_str_from(key);
    int r = collect->by_key ? index_objects(collect) : 0;
    if (r < 0) {
        return r;
    }
    if (view.len == 0 || place_of(&collect->places, view) != 0 ||
        place_of(&collect->unread_places, view) != 0) {
        return 0;
    }
    if (collect->unread_count >= collect->max) {
        return KI_ERR_LIMIT;
    }
    void *block = collect->unread;
    r = ki__array_reserve(collect->alloc, &block, &collect->unread_cap, collect->unread_count + 1,
                          sizeof(collect->unread[0]));
    collect->unread = block;
    if (r < 0) {
        return r;
    }
    char *copy = ki__alloc(collect->alloc, view.len + 1);
    if (copy == NULL) {
        return -ENOMEM;
    }
    memcpy(copy, key, view.len + 1);
    ki_str kept = ki_str_make(copy, view.len);
    r = set_place(&collect->unread_places, kept, collect->unread_count + 1);
    if (r < 0) {
        free_text(collect, kept);
        return r;
    }
    collect->unread[collect->unread_count++] = kept;
    return 0;
}

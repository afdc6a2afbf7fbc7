/* SPDX-License-Identifier: Apache-2.0 */
/* An array of references, and for streams a map of where each key stands in it. What is taken out
 * leaves a gap, so that the places of the others stay right. */
#include "cache/collect.h"

#include <errno.h>
#include <string.h>

#include <kinformer/error.h>

#include "base/alloc.h"

enum { OBJECTS_MAX = 1 << 30 };

void ki__collect_init(ki__collect *collect, const ki_alloc *alloc, ki__hash_key key, size_t max)
{
    *collect = (ki__collect){.alloc = alloc, .max = max != 0 ? max : OBJECTS_MAX};
    ki__map_init(&collect->places, alloc, key, collect->max);
}

void ki__collect_clear(ki__collect *collect)
{
    for (size_t i = 0; i < collect->count; i++) {
        (void)ki_object_unref(collect->objects[i]);
    }
    for (size_t i = 0; i < collect->unread_count; i++) {
        ki__free(collect->alloc, (void *)(uintptr_t)collect->unread[i].ptr);
    }
    ki__hash_key key = collect->places.hash_key;
    ki__map_done(&collect->places);
    ki__free(collect->alloc, (void *)collect->objects);
    ki__free(collect->alloc, collect->unread);
    ki__collect_init(collect, collect->alloc, key, collect->max);
}

static int reserve(ki__collect *collect)
{
    if (collect->count >= collect->max) {
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

/* The place of a key, from 1; 0 if it has none. */
static size_t place_of(const ki__collect *collect, ki_str key)
{
    return (size_t)(uintptr_t)ki__map_get(&collect->places, key);
}

int ki__collect_put(ki__collect *collect, const ki_object *object)
{
    ki_str key = ki_str_from(ki_object_key(object));
    size_t place = place_of(collect, key);
    int r = place == 0 ? reserve(collect) : 0;
    if (r < 0) {
        return r;
    }
    bool is_new = place == 0;
    place = is_new ? collect->count + 1 : place;
    /* Now the map borrows the key of the object that comes, and no more that of the one it had. */
    r = ki__map_set(&collect->places, key, (void *)(uintptr_t)place, NULL);
    if (r < 0) {
        return r;
    }
    if (is_new) {
        collect->count++;
    } else {
        (void)ki_object_unref(collect->objects[place - 1]);
    }
    collect->objects[place - 1] = ki_object_ref(object);
    return 0;
}

static void remove_unread(ki__collect *collect, ki_str key)
{
    size_t kept = 0;
    for (size_t i = 0; i < collect->unread_count; i++) {
        if (ki_str_eq(collect->unread[i], key)) {
            ki__free(collect->alloc, (void *)(uintptr_t)collect->unread[i].ptr);
        } else {
            collect->unread[kept++] = collect->unread[i];
        }
    }
    collect->unread_count = kept;
}

void ki__collect_remove(ki__collect *collect, const char *key)
{
    ki_str view = ki_str_from(key);
    size_t place = (size_t)(uintptr_t)ki__map_remove(&collect->places, view);
    remove_unread(collect, view);
    if (place != 0) { /* last, for `key` may be the object's own */
        const ki_object *object = collect->objects[place - 1];
        collect->objects[place - 1] = NULL;
        (void)ki_object_unref(object);
    }
}

int ki__collect_add_unread(ki__collect *collect, const char *key)
{
    size_t len = strlen(key);
    if (len == 0 || place_of(collect, ki_str_make(key, len)) != 0) {
        return 0;
    }
    if (collect->unread_count >= collect->max) {
        return KI_ERR_LIMIT;
    }
    void *block = collect->unread;
    int r = ki__array_reserve(collect->alloc, &block, &collect->unread_cap,
                              collect->unread_count + 1, sizeof(collect->unread[0]));
    collect->unread = block;
    if (r < 0) {
        return r;
    }
    char *copy = ki__alloc(collect->alloc, len + 1);
    if (copy == NULL) {
        return -ENOMEM;
    }
    memcpy(copy, key, len + 1);
    collect->unread[collect->unread_count++] = ki_str_make(copy, len);
    return 0;
}

void ki__collect_pack(ki__collect *collect)
{
    size_t kept = 0;
    for (size_t i = 0; i < collect->count; i++) {
        if (collect->objects[i] != NULL) {
            collect->objects[kept++] = collect->objects[i];
        }
    }
    collect->count = kept;
}

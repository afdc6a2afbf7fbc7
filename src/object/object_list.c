/* SPDX-License-Identifier: Apache-2.0 */
#include "object/object_list.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

ki_list *ki__list_new(const ki_alloc *alloc, size_t max)
{
    size_t size;
    if (__builtin_mul_overflow(max + 1, sizeof(ki_object *), &size) ||
        __builtin_add_overflow(size, sizeof(ki_list), &size)) {
        return NULL;
    }
    ki_list *list = ki__alloc(alloc, size);
    if (list != NULL) {
        *list = (ki_list){.alloc = alloc};
    }
    return list;
}

int ki__list_of(const ki_alloc *alloc, const ki_object *const *objects, size_t count,
                ki_list **ret_list)
{
    ki_list *list = ki__list_new(alloc, count);
    if (list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        list->objects[i] = ki_object_ref(objects[i]);
    }
    list->count = count;
    *ret_list = list;
    return 0;
}

ki_list *ki__list_fit(ki_list *list)
{
    size_t size = sizeof(*list) + list->count * sizeof(list->objects[0]);
    ki_list *smaller = ki__realloc_array(list->alloc, list, 1, size);
    return smaller != NULL ? smaller : list; /* keep the larger block */
}

ki_list *ki_list_unref(ki_list *list)
{
    if (list == NULL) {
        return NULL;
    }
    void *owner = list->owner;
    void (*release_owner)(void *) = list->release_owner;
    for (size_t i = 0; owner == NULL && i < list->count; i++) {
        (void)ki_object_unref(list->objects[i]);
    }
    ki__free(list->alloc, list);
    if (owner != NULL) {
        release_owner(owner);
    }
    return NULL;
}

size_t ki_list_count(const ki_list *list)
{
    return list != NULL ? list->count : 0;
}

const ki_object *ki_list_at(const ki_list *list, size_t position)
{
    return position < list->count ? list->objects[position] : NULL;
}

static int compare_keys(const void *a, const void *b)
{
    const ki_object *const *left = a;
    const ki_object *const *right = b;
    return strcmp(ki_object_key(*left), ki_object_key(*right));
}

void ki_list_sort(ki_list *list)
{
    if (list == NULL) {
        return;
    }
    ki__sort(list->objects, list->count, sizeof(list->objects[0]), compare_keys);
}

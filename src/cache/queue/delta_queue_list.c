/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the block that represents a list in a queue. Objects are shared by reference, so the
 * block is an array of pointers, the keys of undecodable objects, and the resourceVersion. An
 * object that cannot be queued does not affect the others: it is skipped, and its key counts as
 * unread, so that it is not treated as deleted. */
#include "cache/queue/delta_queue_list.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "cache/store/txn.h"
#include "object/object.h"

enum { LIST_TEXT_MAX = 1024 };
/* As many as a store or an array can hold. */
#define LIST_OBJECTS_MAX                                                               \
    (SIZE_MAX / 4 / sizeof(void *) < ((size_t)1 << 30) ? SIZE_MAX / 4 / sizeof(void *) \
                                                       : (size_t)1 << 30)

void ki__list_block_free(const ki_alloc *alloc, ki__list_block *block)
{
    if (block == NULL) {
        return;
    }
    for (size_t i = 0; i < block->held; i++) {
        (void)ki_object_unref(block->objects[i]);
    }
    ki__free(alloc, block->unread);
    ki__free(alloc, block);
}

/* Fills the array: accepted objects from the front, skipped ones from the back. */
static int add_objects(const ki_queue *queue, const ki_replacement *list,
                       ki__transform_function transform, ki__list_block *block,
                       size_t *ret_left_out, ki_error *error)
{
    size_t count = 0;
    size_t left_out = 0;
    for (size_t i = 0; i < list->object_count; i++) {
        const ki_object *object = list->objects[i];
        ki_error problem;
        ki__error_init(&problem);
        ki_object *made = NULL;
        int r = ki__txn_check_key(object, &problem);
        if (r >= 0 && transform != NULL) {
            r = ki__transform(transform, queue->transform_user, object, &made, &problem);
        } else if (r >= 0) {
            made = ki_object_ref(object);
        }
        if (r >= 0) {
            block->objects[count++] = made;
            block->bytes += ki__queue_size_of(made);
        } else if (ki_error_is_retriable(r)) {
            for (size_t n = 0; n < count; n++) {
                (void)ki_object_unref(block->objects[n]);
            }
            for (size_t n = 0; n < left_out; n++) {
                (void)ki_object_unref(block->objects[list->object_count - 1 - n]);
            }
            if (error != NULL) {
                ki__error_copy(error, &problem);
            }
            return r;
        } else {
            block->objects[list->object_count - 1 - left_out++] = ki_object_ref(object);
            if (queue->on_error.report != NULL) {
                queue->on_error.report("queue", ki__object_key(object), &problem,
                                       queue->on_error.user);
            }
        }
    }
    block->held = list->object_count;
    block->view.object_count = count;
    *ret_left_out = left_out;
    return 0;
}

/* Size of the strings after the array of unread keys, and number of keys. */
static int measure_texts(const ki_replacement *list, size_t left_out, size_t *ret_keys,
                         size_t *ret_bytes, ki_error *error)
{
    size_t rv = list->resource_version != NULL ? strlen(list->resource_version) : 0;
    size_t bytes = rv + 1;
    if (rv > LIST_TEXT_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "resourceVersion too long: %zu bytes, limit %d",
                             rv, LIST_TEXT_MAX);
    }
    for (size_t i = 0; i < list->unread_count; i++) {
        if (list->unread[i].len > UINT32_MAX || bytes > SIZE_MAX / 4 - list->unread[i].len) {
            return ki__error_code(error, KI_ERR_LIMIT);
        }
        bytes += list->unread[i].len;
    }
    *ret_keys = list->unread_count + left_out;
    if (*ret_keys > (SIZE_MAX / 4) / sizeof(ki_str)) {
        return ki__error_code(error, KI_ERR_LIMIT);
    }
    *ret_bytes = bytes;
    return 0;
}

/* Copies the unread keys and the resourceVersion. */
static int add_texts(const ki_queue *queue, const ki_replacement *list, ki__list_block *block,
                     size_t left_out, ki_error *error)
{
    size_t keys = 0;
    size_t bytes = 0;
    int r = measure_texts(list, left_out, &keys, &bytes, error);
    if (r < 0) {
        return r;
    }
    ki_str *unread = ki__alloc(queue->alloc, keys * sizeof(*unread) + bytes);
    if (unread == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    char *text = (char *)(unread + keys);
    size_t n = 0;
    for (size_t i = 0; i < list->unread_count; i++) {
        size_t len = list->unread[i].len;
        if (len != 0) {
            memcpy(text, list->unread[i].ptr, len);
            unread[n++] = ki_str_make(text, len);
            text += len;
        }
    }
    for (size_t i = list->object_count - left_out; i < list->object_count; i++) {
        ki_str key = ki__object_key(block->objects[i]);
        if (key.len != 0) {
            unread[n++] = key;
        }
    }
    block->unread = unread;
    block->view.unread = unread;
    block->view.unread_count = n;
    if (list->resource_version != NULL) {
        memcpy(text, list->resource_version, strlen(list->resource_version) + 1);
        block->view.resource_version = text;
    }
    return 0;
}

int ki__list_block_new(const ki_queue *queue, const ki_replacement *list,
                       ki__transform_function transform, ki__list_block **ret_block,
                       ki_error *error)
{
    if (list->object_count > LIST_OBJECTS_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT, "list too large: %zu objects, limit %zu",
                             list->object_count, LIST_OBJECTS_MAX);
    }
    ki__list_block *block =
        ki__alloc(queue->alloc, sizeof(*block) + list->object_count * sizeof(block->objects[0]));
    if (block == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    memset(block, 0, sizeof(*block));
    size_t left_out = 0;
    int r = add_objects(queue, list, transform, block, &left_out, error);
    if (r >= 0) {
        r = add_texts(queue, list, block, left_out, error);
    }
    if (r < 0) {
        ki__list_block_free(queue->alloc, block);
        return r;
    }
    block->view.objects = (const ki_object *const *)block->objects;
    ki_assert(left_out <= INT_MAX);
    *ret_block = block;
    return (int)left_out;
}

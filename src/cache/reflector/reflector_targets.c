/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of a reflector: a queue, which accepts everything unchanged, and a store. */
#include <errno.h>
#include <string.h>

#include <kinformer/parts/reflector.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/queue/delta_queue.h"
#include "cache/store/version.h"

/* ---- a queue ---- */

/* Objects are already transformed here: the queue must not do it again. After each addition the
 * task that empties the queue is posted, if there is one. */
static int put_in(ki_queue *queue, int r)
{
    if (r >= 0) {
        ki__queue_set_received(queue);
        ki__queue_post_consumer(queue);
    }
    return r;
}

static int queue_add(const ki_object *object, void *user, ki_error *error)
{
    return put_in(user, ki__queue_put(user, KI_DELTA_ADDED, object, error));
}

static int queue_update(const ki_object *object, void *user, ki_error *error)
{
    return put_in(user, ki__queue_put(user, KI_DELTA_UPDATED, object, error));
}

static int queue_remove(const ki_object *object, void *user, ki_error *error)
{
    return put_in(user, ki__queue_put(user, KI_DELTA_DELETED, object, error));
}

static int queue_remove_key(const char *key, void *user, ki_error *error)
{
    return put_in(user, ki_queue_delete_key(user, ki_str_from(key), error));
}

static int queue_replace(const ki_replacement *list, void *user, ki_error *error)
{
    return put_in(user, ki__queue_replace(user, list, error));
}

static int queue_resync(void *user, ki_error *error)
{
    return put_in(user, ki_queue_resync(user, error));
}

static int queue_bookmark(const char *resource_version, void *user, ki_error *error)
{
    return put_in(user, ki_queue_bookmark(user, resource_version, error));
}

static int queue_transform(const ki_object *object, ki_object **ret_object, void *user)
{
    const ki_queue *queue = user;
    return queue->transform(object, ret_object, queue->transform_user);
}

static void queue_destroy(void *user)
{
    (void)ki_queue_unref(user);
}

int ki_reflector_target_queue(ki_queue *queue, ki_reflector_target *ret_target)
{
    KI__REQUIRE(queue, NULL);
    KI__REQUIRE_SIZED(ki_reflector_target, ret_target, NULL);
    const ki_reflector_target target = {
        .size = sizeof(target),
        .transform = queue->transform != NULL ? queue_transform : NULL,
        .add = queue_add,
        .update = queue_update,
        .remove = queue_remove,
        .remove_key = queue_remove_key,
        .replace = queue_replace,
        .resync = queue_resync,
        .bookmark = queue_bookmark,
        .user = ki_queue_ref(queue),
        .destroy = queue_destroy,
    };
    return KI__GIVE(ki_reflector_target, ret_target, &target);
}

/* ---- a store ---- */

static int store_add(const ki_object *object, void *user, ki_error *error)
{
    return ki_store_add(user, object, error);
}

static int store_remove(const ki_object *object, void *user, ki_error *error)
{
    const char *version = ki_object_resource_version(object);
    return ki_store_delete(user, ki_str_from(ki_object_key(object)),
                           version[0] != '\0' ? version : NULL, error);
}

static int store_remove_key(const char *key, void *user, ki_error *error)
{
    return ki_store_delete(user, ki_str_from(key), NULL, error);
}

/* The list, preceded by its undecodable objects as they are in the store. */
static int replace_with_unread(ki_store *store, const ki_replacement *list, ki_error *error)
{
    const ki_alloc *alloc = store->alloc;
    size_t most = list->unread_count + list->object_count;
    const ki_object **objects = ki__alloc_array(alloc, most, sizeof(objects[0]));
    if (objects == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki_snapshot *snapshot = ki_store_snapshot(store);
    size_t count = 0;
    for (size_t i = 0; i < list->unread_count; i++) {
        const ki_object *object = ki__snapshot_get(snapshot, list->unread[i]);
        if (object != NULL) {
            objects[count++] = object;
        }
    }
    if (list->object_count != 0) {
        memcpy((void *)&objects[count], (const void *)list->objects,
               list->object_count * sizeof(objects[0]));
    }
    int r =
        ki_store_replace(store, objects, count + list->object_count, list->resource_version, error);
    (void)ki_snapshot_unref(snapshot);
    ki__free(alloc, (void *)objects);
    return r;
}

static int store_replace(const ki_replacement *list, void *user, ki_error *error)
{
    if (list->unread_count != 0) {
        return replace_with_unread(user, list, error);
    }
    return ki_store_replace(user, list->objects, list->object_count, list->resource_version, error);
}

static int store_bookmark(const char *resource_version, void *user, ki_error *error)
{
    return ki_store_bookmark(user, resource_version, error);
}

static ki_object *store_find(const char *key, void *user)
{
    return ki_store_get(user, key);
}

static void store_destroy(void *user)
{
    (void)ki_store_unref(user);
}

int ki_reflector_target_store(ki_store *store, ki_reflector_target *ret_target)
{
    KI__REQUIRE(store, NULL);
    KI__REQUIRE_SIZED(ki_reflector_target, ret_target, NULL);
    const ki_reflector_target target = {
        .size = sizeof(target),
        .add = store_add,
        .update = store_add,
        .remove = store_remove,
        .remove_key = store_remove_key,
        .replace = store_replace,
        .bookmark = store_bookmark,
        .find = store_find,
        .user = ki_store_ref(store),
        .destroy = store_destroy,
    };
    return KI__GIVE(ki_reflector_target, ret_target, &target);
}

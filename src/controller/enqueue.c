/* SPDX-License-Identifier: Apache-2.0 */
/* Enqueues keys for changes of an informer.
 *
 * Adding a key fails only if out of memory or if the queue is full. The change is then kept in
 * preallocated space, reported, and retried before each of the following changes. Changes beyond
 * that space are reported as dropped. Adding a key twice is harmless, so all keys of a change are
 * retried. */
#include <errno.h>

#include <kinformer/buf.h>
#include <kinformer/controller.h>
#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/informer/informer.h"
#include "object/edit/json_edit.h"
#include "object/located.h"
#include "object/object.h"
#include "workqueue/workqueue_state.h"

#define CHANGED_ALL (KI_CHANGED_GENERATION | KI_CHANGED_LABELS | KI_CHANGED_ANNOTATIONS)

enum { KEPT_MAX = 64, KEY_MAX = 2 * KI__IDENTITY_BYTES_MAX + 1 };

/* The objects of a change whose keys could not be added. */
typedef struct change_objects {
    const ki_object *object;
    const ki_object *old;
    int priority;
} change_objects;

typedef struct enqueuer {
    const ki_alloc *alloc;
    ki_informer *informer; /* outlives its handlers */
    ki_workqueue *queue;   /* a reference */
    const ki_resource *owner;
    void (*map)(const ki_change *change, ki_workqueue *queue, void *user);
    void *user;
    int priority; /* of changes */
    int initial_priority;
    uint32_t changed;
    bool (*predicate)(const ki_change *change, void *user);
    size_t kept_count;
    change_objects kept[KEPT_MAX]; /* with references */
} enqueuer;

static void report(const enqueuer *e, ki_str key, int code, const char *what)
{
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, code, "cannot queue a key: %s; %s", ki_error_text(code), what);
    ki__engine_report(e->informer->engine, "enqueue", e->informer->options.name, key, &error);
}

/* ---- adding ---- */

/* 0, or the error of an add that may succeed later. */
static int add_key(const enqueuer *e, ki_str key, int priority)
{
    if (key.len > e->queue->max_key_bytes) {
        report(e, key, KI_ERR_LIMIT, "longer than max_key_bytes of the queue");
        return 0;
    }
    int r = ki__workqueue_add(e->queue, key, priority, false);
    return r < 0 && r != KI_ERR_STOPPED ? r : 0; /* shut down: the key is not needed */
}

static ki_str group_of(ki_str api_version)
{
    const char *slash = api_version.len != 0 ? memchr(api_version.ptr, '/', api_version.len) : NULL;
    return ki_str_make(api_version.ptr, slash != NULL ? (size_t)(slash - api_version.ptr) : 0);
}

static int add_owner(const enqueuer *e, const ki_object *object, int priority)
{
    ki_owner owner = KI_OPTIONS_INIT(ki_owner);
    if (object == NULL || ki_object_controller(object, &owner) < 0 ||
        !ki_str_eq_text(owner.kind, ki_resource_kind(e->owner)) ||
        !ki_str_eq_text(group_of(owner.api_version), ki_resource_group(e->owner))) {
        return 0;
    }
    bool namespaced = ki_resource_is_namespaced(e->owner);
    char room[KEY_MAX + 1]; /* with the buffer's NUL: never grows */
    ki_buf key = {.data = room, .cap = sizeof(room), .max = KEY_MAX};
    int r =
        ki_key_join(ki_str_from(namespaced ? ki_object_namespace(object) : ""), owner.name, &key);
    return r < 0 ? 0 : add_key(e, ki_buf_str(&key), priority); /* no object can have such a name */
}

static int add_all(const enqueuer *e, const change_objects *change)
{
    if (e->owner == NULL) {
        return add_key(e, ki__object_key(change->object), change->priority);
    }
    int r = add_owner(e, change->object, change->priority);
    int of_old = change->old != change->object ? add_owner(e, change->old, change->priority) : 0;
    return r < 0 ? r : of_old;
}

/* ---- failed adds ---- */

static void release(const change_objects *change)
{
    (void)ki_object_unref(change->object);
    (void)ki_object_unref(change->old);
}

static void keep(enqueuer *e, const change_objects *change, int code)
{
    if (e->kept_count == KEPT_MAX) {
        report(e, ki__object_key(change->object), code, "dropped");
        return;
    }
    report(e, ki__object_key(change->object), code, "retrying with the next change");
    (void)ki_object_ref(change->object);
    (void)ki_object_ref(change->old);
    e->kept[e->kept_count++] = *change;
}

static void add_kept(enqueuer *e)
{
    size_t left = 0;
    for (size_t i = 0; i < e->kept_count; i++) {
        if (add_all(e, &e->kept[i]) < 0) {
            e->kept[left++] = e->kept[i];
        } else {
            release(&e->kept[i]);
        }
    }
    e->kept_count = left;
}

/* ---- predicates ---- */

/* Without memory to compare them, they count as different. */
static bool differ(const enqueuer *e, ki_value a, ki_value b)
{
    bool same = false;
    return ki__json_same(&a, &b, e->alloc, &same) < 0 || !same;
}

static bool has_changed(const enqueuer *e, const ki_object *old, const ki_object *object)
{
    return ((e->changed & KI_CHANGED_GENERATION) != 0 &&
            ki_object_generation(old) != ki_object_generation(object)) ||
           ((e->changed & KI_CHANGED_LABELS) != 0 &&
            differ(e, ki_object_labels(old), ki_object_labels(object))) ||
           ((e->changed & KI_CHANGED_ANNOTATIONS) != 0 &&
            differ(e, ki_object_annotations(old), ki_object_annotations(object)));
}

static bool passes(const enqueuer *e, const ki_change *change)
{
    bool update = change->type == KI_CHANGE_UPDATED || change->type == KI_CHANGE_SYNC;
    if (e->changed != 0 && update &&
        (change->old == change->object || !has_changed(e, change->old, change->object))) {
        return false;
    }
    return e->predicate == NULL || e->predicate(change, e->user);
}

/* ---- the handler ---- */

static void on_change(const ki_change *change, void *user)
{
    enqueuer *e = user;
    bool is_initial = change->initial || change->type == KI_CHANGE_SYNC;
    const change_objects objects = {
        .object = change->object,
        .old = change->old,
        .priority = is_initial ? e->initial_priority : e->priority,
    };
    add_kept(e);
    if (!passes(e, change)) {
        return;
    }
    int r = add_all(e, &objects);
    if (r < 0) {
        keep(e, &objects, r);
    }
}

/* A map function adds keys itself, but failures that it ignores must be reported. A failure on
 * another thread may be attributed to it. */
static void on_change_map(const ki_change *change, void *user)
{
    const enqueuer *e = user;
    if (!passes(e, change)) {
        return;
    }
    uint64_t before = ki__workqueue_failed_adds(e->queue);
    e->map(change, e->queue, e->user);
    if (ki__workqueue_failed_adds(e->queue) != before) {
        report(e, ki__object_key(change->object), -ENOMEM, "added by map()");
    }
}

static void destroy(void *user)
{
    enqueuer *e = user;
    for (size_t i = 0; i < e->kept_count; i++) {
        release(&e->kept[i]);
    }
    (void)ki_resource_unref(e->owner);
    (void)ki_workqueue_unref(e->queue);
    ki__free(e->alloc, e);
}

int ki_informer_enqueue(ki_informer *informer, ki_workqueue *queue,
                        const ki_enqueue_options *options, ki_error *error)
{
    KI__REQUIRE(informer, error);
    KI__REQUIRE(queue, error);
    ki_enqueue_options o = {0};
    int r = KI__TAKE(ki_enqueue_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.owner != NULL && o.map != NULL) {
        return ki__error_set(error, -EINVAL, "owner and map are mutually exclusive");
    }
    if (!ki__priority_is_valid(o.priority) || !ki__priority_is_valid(o.initial_priority)) {
        return ki__error_set(error, -EINVAL, "priority: must be %d to %d", KI_PRIORITY_MIN,
                             KI_PRIORITY_MAX);
    }
    if ((o.changed & ~(uint32_t)CHANGED_ALL) != 0) {
        return ki__error_set(error, -EINVAL, "changed: unknown bits");
    }
    const ki_alloc *alloc = ki__engine_alloc(informer->engine);
    enqueuer *e = ki__alloc_zero(alloc, sizeof(*e));
    if (e == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    e->alloc = alloc;
    e->informer = informer;
    e->queue = ki_workqueue_ref(queue);
    e->owner = ki_resource_ref(o.owner);
    e->map = o.map;
    e->user = o.user;
    e->priority = o.priority;
    e->initial_priority = o.initial_priority;
    e->changed = o.changed;
    e->predicate = o.predicate;
    const ki_handler handler = {
        .on_change = o.map != NULL ? on_change_map : on_change, .user = e, .destroy = destroy};
    ki_handler_options how = KI_OPTIONS_INIT(ki_handler_options);
    how.name = "enqueue";
    /* Adding a key is cheaper than waking a thread; but a function may do anything. */
    bool calls = o.map != NULL || o.predicate != NULL;
    how.delivery = calls ? KI_DELIVERY_DEFAULT : KI_DELIVERY_LOOP;
    how.as_stored = !calls; /* metadata only */
    r = ki_informer_add_handler(informer, &handler, &how, NULL, error);
    if (r < 0) {
        destroy(e);
    }
    return r;
}

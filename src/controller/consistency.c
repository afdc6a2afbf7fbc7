/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a program's writes, by key; the counterpart of kube-controller-manager's
 * ConsistencyStore, which has no deletions and no limit.
 *
 * Invariant: a write that was recorded makes its key not current until the store has reached it.
 * If a write cannot be recorded for its key, because memory or records are exhausted, it raises the
 * floor of its store, below which no key is current. */
#include "controller/consistency.h"

#include <errno.h>
#include <string.h>

#include <kinformer/key.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/list.h"
#include "base/map.h"
#include "base/options.h"
#include "base/process.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/informer.h"
#include "cache/store/version.h"

enum {
    WRITES_MAX = 65536,
    SOURCES_MAX = 64,
    VERSION_MAX = 63,
    TEXT_MAX = 1023,
    DELAY_MIN_MS = 5,
    DELAY_DOUBLINGS = 8, /* up to 1,280 ms */
};

/* An informer's store. */
typedef struct source {
    ki_store *store;             /* a reference */
    uint64_t number;             /* of the version of the store that `now` is of */
    char now[VERSION_MAX + 1];   /* its resourceVersion; "" before the first list */
    char floor[VERSION_MAX + 1]; /* no key is current before this; "" if none */
} source;

/* One write, or one deletion. */
typedef struct own_write {
    ki__list link; /* of its record */
    source *source;
    char version[VERSION_MAX + 1];
    char *uid;   /* of the deleted object, in `text`; NULL: not a deletion */
    char text[]; /* its key and uid */
} own_write;

/* The writes of a key. */
typedef struct record {
    ki__list writes; /* at least one */
    uint32_t checks; /* by the controller since it began to wait */
    ki_str key;
    char *uid;
    char text[]; /* key and uid */
} record;

struct ki_consistency {
    ki__refs refs;
    uint64_t process;
    const ki_alloc *alloc;
    size_t max_writes;
    _Atomic size_t pending; /* writes and floors; 0: every key is current */

    ki__mutex lock; /* protects the rest */
    ki__map records;
    size_t write_count;
    size_t floor_count;
    source *sources[SOURCES_MAX];
    size_t source_count;
};

/* ---- life ---- */

int ki_consistency_new(const ki_consistency_options *options, ki_consistency **ret_consistency,
                       ki_error *error)
{
    KI__REQUIRE(ret_consistency, error);
    ki_consistency_options o = {0};
    int r = KI__TAKE(ki_consistency_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_consistency *c = ki__alloc_zero(alloc, sizeof(*c));
    if (c == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&c->lock);
    if (r < 0) {
        ki__free(alloc, c);
        return ki__error_code(error, r);
    }
    ki__refs_init(&c->refs);
    c->process = ki__process();
    c->alloc = alloc;
    c->max_writes = o.max_writes != 0 ? o.max_writes : WRITES_MAX;
    /* Gets a random key with the first informer; there is no record before it. */
    ki__map_init(&c->records, alloc, (ki__hash_key){0}, c->max_writes);
    *ret_consistency = c;
    return 0;
}

ki_consistency *ki_consistency_ref(ki_consistency *consistency)
{
    if (consistency != NULL) {
        ki__refs_take(&consistency->refs);
    }
    return consistency;
}

/* The functions from here to the next section require the lock, or the last reference. */

static void count_pending(ki_consistency *c)
{
    atomic_store_explicit(&c->pending, c->write_count + c->floor_count, memory_order_release);
}

static void free_write(ki_consistency *c, own_write *w)
{
    ki__list_remove(&w->link);
    ki__free(c->alloc, w);
    c->write_count--;
}

static void free_record(ki_consistency *c, record *of)
{
    while (!ki__list_is_empty(&of->writes)) {
        free_write(c, KI__CONTAINER_OF(of->writes.next, own_write, link));
    }
    (void)ki__map_remove(&c->records, of->key);
    ki__free(c->alloc, of);
}

static bool drop_empty(ki_consistency *c, record *of)
{
    bool empty = ki__list_is_empty(&of->writes);
    if (empty) {
        free_record(c, of);
    }
    return empty;
}

ki_consistency *ki_consistency_unref(ki_consistency *consistency)
{
    ki_consistency *c = consistency;
    if (c == NULL || !ki__refs_drop(&c->refs) || ki__is_inherited(c->process)) {
        return NULL;
    }
    size_t position = 0;
    record *next;
    while ((next = ki__map_next(&c->records, &position)) != NULL) {
        free_record(c, next);
        position--; /* the next one may be in its slot now */
    }
    ki__map_done(&c->records);
    for (size_t i = 0; i < c->source_count; i++) {
        (void)ki_store_unref(c->sources[i]->store);
        ki__free(c->alloc, c->sources[i]);
    }
    ki__mutex_done(&c->lock);
    ki__free(c->alloc, c);
    return NULL;
}

/* ---- informers ---- */

/* Requires the lock. */
static source *find_source(const ki_consistency *c, const ki_store *store)
{
    for (size_t i = 0; i < c->source_count; i++) {
        if (c->sources[i]->store == store) {
            return c->sources[i];
        }
    }
    return NULL;
}

int ki_consistency_add_informer(ki_consistency *consistency, ki_informer *informer, ki_error *error)
{
    KI__REQUIRE(consistency, error);
    KI__REQUIRE(informer, error);
    KI__REQUIRE_OWN(consistency->process, error);
    ki_consistency *c = consistency;
    if (informer->options.queue != KI_QUEUE_FIFO) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "consistency: the informer must have a KI_QUEUE_FIFO");
    }
    source *added = ki__alloc_zero(c->alloc, sizeof(*added));
    if (added == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int r = 0;
    ki__mutex_lock(&c->lock);
    if (find_source(c, informer->store) != NULL) {
        r = ki__error_set(error, KI_ERR_EXISTS, "consistency: the informer was already added");
    } else if (c->source_count == SOURCES_MAX) {
        r = ki__error_set(error, KI_ERR_LIMIT, "consistency: more than %d informers", SOURCES_MAX);
    } else {
        if (c->source_count == 0) {
            c->records.hash_key = ki__engine_hash_key(informer->engine);
        }
        added->store = ki_store_ref(informer->store);
        added->number = UINT64_MAX;
        c->sources[c->source_count++] = added;
    }
    ki__mutex_unlock(&c->lock);
    if (r < 0) {
        ki__free(c->alloc, added);
    }
    return r;
}

/* ---- versions ---- */

static bool is_older(const char *version, ki_str than)
{
    int order;
    return ki_resource_version_compare(ki_str_from(version), than, &order) == 0 && order < 0;
}

static void copy_version(char to[VERSION_MAX + 1], ki_str version)
{
    if (version.len != 0 && version.len <= VERSION_MAX) {
        memcpy(to, version.ptr, version.len);
        to[version.len] = '\0';
    }
}

/* Requires the lock. Sets `version` if it is newer. */
static void raise_to(char to[VERSION_MAX + 1], ki_str version)
{
    if (to[0] == '\0' || is_older(to, version)) {
        copy_version(to, version);
    }
}

static bool is_gone(const own_write *w)
{
    ki_object *object = ki_store_get(w->source->store, w->text);
    bool gone = object == NULL || strcmp(ki_object_uid(object), w->uid) != 0 ||
                ki_object_is_deleting(object);
    (void)ki_object_unref(object);
    return gone;
}

static bool is_reached(const source *from, const char *version)
{
    int order;
    return ki_resource_version_compare(ki_str_from(from->now), ki_str_from(version), &order) == 0 &&
           order >= 0;
}

/* ---- checking ---- */

/* Requires the lock. The server that `from` is read from has lost recent writes. */
static void drop_lost(ki_consistency *c, source *from)
{
    size_t position = 0;
    record *next;
    while ((next = ki__map_next(&c->records, &position)) != NULL) {
        KI__LIST_FOR_EACH (link, &next->writes) {
            own_write *w = KI__CONTAINER_OF(link, own_write, link);
            if (w->source == from) {
                free_write(c, w);
            }
        }
        if (drop_empty(c, next)) {
            position--; /* the next one may be in its slot now */
        }
    }
    c->floor_count -= from->floor[0] != '\0';
    from->floor[0] = '\0';
}

/* Requires the lock. Reads the version of the store, if it has changed. */
static void look_at(ki_consistency *c, source *from)
{
    uint64_t number = atomic_load_explicit(&from->store->published, memory_order_acquire);
    if (number == from->number) {
        return;
    }
    ki_snapshot *snapshot = ki_store_snapshot(from->store);
    ki_str version = ki_str_from(ki_snapshot_resource_version(snapshot));
    from->number = ki_snapshot_version(snapshot);
    int order;
    bool back =
        ki_resource_version_compare(version, ki_str_from(from->now), &order) == 0 && order < 0;
    if (version.len <= VERSION_MAX) {
        copy_version(from->now, version);
    } else {
        memset(from->now, '9', VERSION_MAX); /* newer than all that can be recorded */
    }
    (void)ki_snapshot_unref(snapshot);
    if (back) {
        drop_lost(c, from);
    }
}

/* Requires the lock. */
static bool check_floors(ki_consistency *c)
{
    bool current = true;
    for (size_t i = 0; i < c->source_count; i++) {
        source *from = c->sources[i];
        look_at(c, from);
        if (from->floor[0] != '\0' && is_reached(from, from->floor)) {
            from->floor[0] = '\0';
            c->floor_count--;
        }
        current = current && from->floor[0] == '\0';
    }
    return current;
}

/* Requires the lock. Drops writes that have arrived; whether all have. */
static bool check_writes(ki_consistency *c, ki_str key)
{
    record *of = ki__map_get(&c->records, key);
    if (of == NULL) {
        return true;
    }
    KI__LIST_FOR_EACH (link, &of->writes) {
        own_write *w = KI__CONTAINER_OF(link, own_write, link);
        if (!is_reached(w->source, w->version) || (w->uid != NULL && !is_gone(w))) {
            return false;
        }
        free_write(c, w);
    }
    free_record(c, of);
    return true;
}

/* Requires the lock. Counts a check by the controller; returns the number of earlier ones. */
static uint32_t count_check(ki_consistency *c, ki_str key)
{
    record *of = ki__map_get(&c->records, key);
    uint32_t before = of != NULL ? of->checks : DELAY_DOUBLINGS; /* NULL: waits for a floor */
    if (of != NULL && before < DELAY_DOUBLINGS) {
        of->checks++;
    }
    return before;
}

bool ki__consistency_check(ki_consistency *consistency, const char *key, uint64_t *ret_delay_ms)
{
    ki_consistency *c = consistency;
    if (c == NULL || key == NULL || atomic_load_explicit(&c->pending, memory_order_acquire) == 0 ||
        ki__is_inherited(c->process)) {
        return true;
    }
    ki__mutex_lock(&c->lock);
    bool current = check_floors(c) && check_writes(c, ki_str_from(key));
    if (!current && ret_delay_ms != NULL) {
        *ret_delay_ms = (uint64_t)DELAY_MIN_MS << count_check(c, ki_str_from(key));
    }
    count_pending(c);
    ki__mutex_unlock(&c->lock);
    return current;
}

bool ki_consistency_is_current(ki_consistency *consistency, const char *key)
{
    return ki__consistency_check(consistency, key, NULL);
}

/* ---- recording ---- */

static int check_arguments(ki_str key, ki_str uid, ki_str version)
{
    int order;
    if (key.len > TEXT_MAX || uid.len > TEXT_MAX || version.len > VERSION_MAX) {
        return KI_ERR_LIMIT;
    }
    return ki_resource_version_compare(version, version, &order);
}

/* Copies two strings after each other, with NULs. Returns the second. */
static char *put_text(char *text, ki_str first, ki_str second)
{
    char *next = text + first.len + 1;
    if (first.len != 0) {
        memcpy(text, first.ptr, first.len);
    }
    if (second.len != 0) {
        memcpy(next, second.ptr, second.len);
    }
    return next; /* the memory is zeroed */
}

/* Requires the lock. The record of `key`, without writes of another uid; it may be empty. */
static int get_record(ki_consistency *c, ki_str key, ki_str uid, record **ret_record)
{
    record *of = ki__map_get(&c->records, key);
    if (of != NULL && !ki_str_eq(ki_str_from(of->uid), uid)) {
        free_record(c, of);
        of = NULL;
    }
    if (of == NULL) {
        of = ki__alloc_zero(c->alloc, sizeof(*of) + key.len + uid.len + 2);
        if (of == NULL) {
            return -ENOMEM;
        }
        ki__list_init(&of->writes);
        of->uid = put_text(of->text, key, uid);
        of->key = ki_str_make(of->text, key.len);
        int r = ki__map_set(&c->records, of->key, of, NULL);
        if (r < 0) {
            ki__free(c->alloc, of);
            return r;
        }
    }
    *ret_record = of;
    return 0;
}

/* Requires the lock. */
static int add_write(ki_consistency *c, record *of, const own_write *like, ki_str key, ki_str uid)
{
    if (c->write_count >= c->max_writes) {
        return KI_ERR_LIMIT;
    }
    own_write *w = ki__alloc_zero(c->alloc, sizeof(*w) + key.len + uid.len + 2);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = *like;
    char *second = put_text(w->text, key, uid);
    w->uid = uid.len != 0 ? second : NULL;
    ki__list_push_back(&of->writes, &w->link);
    c->write_count++;
    of->checks = 0;
    return 0;
}

/* Requires the lock. Whether the record has a write to the same store, which is now the newest. */
static bool renew_write(record *of, const own_write *like)
{
    KI__LIST_FOR_EACH (link, &of->writes) {
        own_write *w = KI__CONTAINER_OF(link, own_write, link);
        if (w->source == like->source && w->uid == NULL) {
            raise_to(w->version, ki_str_from(like->version));
            of->checks = 0;
            return true;
        }
    }
    return false;
}

/* Requires the lock. `object_uid` is empty if it is not a deletion. */
static int record_write(ki_consistency *c, ki_str key, ki_str uid, const own_write *like,
                        ki_str object_key, ki_str object_uid)
{
    record *of;
    int r = get_record(c, key, uid, &of);
    if (r < 0) {
        return r;
    }
    if (object_uid.len == 0 && renew_write(of, like)) {
        return 0;
    }
    r = add_write(c, of, like, object_key, object_uid);
    (void)drop_empty(c, of);
    return r;
}

/* Requires the lock. */
static void raise_floor(ki_consistency *c, source *from, const char *version)
{
    c->floor_count += from->floor[0] == '\0';
    raise_to(from->floor, ki_str_from(version));
}

/* `object` is NULL if it is not a deletion. */
static int keep_record(ki_consistency *c, const ki_informer *informer, const char *key,
                       const char *uid, const char *version, const ki_object *object)
{
    ki_str deleted_key = object != NULL ? ki_str_from(ki_object_key(object)) : ki_str_make("", 0);
    ki_str deleted_uid = object != NULL ? ki_str_from(ki_object_uid(object)) : ki_str_make("", 0);
    int r = check_arguments(ki_str_from(key), ki_str_from(uid), ki_str_from(version));
    if (r < 0) {
        return r;
    }
    own_write like = {.source = NULL};
    copy_version(like.version, ki_str_from(version));
    ki__mutex_lock(&c->lock);
    like.source = find_source(c, informer->store);
    if (like.source == NULL) {
        r = KI_ERR_NOT_FOUND;
    } else {
        look_at(c, like.source); /* so that a later check notices that it went back */
        r = record_write(c, ki_str_from(key), ki_str_from(uid), &like, deleted_key, deleted_uid);
        if (r < 0 && object == NULL) {
            raise_floor(c, like.source, version);
            r = 0;
        }
        count_pending(c);
    }
    ki__mutex_unlock(&c->lock);
    return r;
}

int ki_consistency_wrote(ki_consistency *consistency, ki_informer *informer, const char *key,
                         const char *uid, const char *resource_version)
{
    KI__REQUIRE(consistency, NULL);
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE(resource_version, NULL);
    KI__REQUIRE_OWN(consistency->process, NULL);
    return keep_record(consistency, informer, key, uid, resource_version, NULL);
}

int ki_consistency_will_delete(ki_consistency *consistency, ki_informer *informer, const char *key,
                               const char *uid, const ki_object *object)
{
    KI__REQUIRE(consistency, NULL);
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(key, NULL);
    KI__REQUIRE(object, NULL);
    KI__REQUIRE_OWN(consistency->process, NULL);
    if (ki_object_uid(object)[0] == '\0') {
        return KI_ERR_INVALID;
    }
    return keep_record(consistency, informer, key, uid, ki_object_resource_version(object), object);
}

void ki_consistency_clear(ki_consistency *consistency, const char *key, const char *uid)
{
    ki_consistency *c = consistency;
    if (c == NULL || key == NULL || ki__is_inherited(c->process)) {
        return;
    }
    ki__mutex_lock(&c->lock);
    record *of = ki__map_get(&c->records, ki_str_from(key));
    if (of != NULL && (uid == NULL || uid[0] == '\0' || strcmp(of->uid, uid) == 0)) {
        free_record(c, of);
        count_pending(c);
    }
    ki__mutex_unlock(&c->lock);
}

size_t ki_consistency_count(ki_consistency *consistency)
{
    return consistency != NULL ? atomic_load(&consistency->pending) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store/readers.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"

static ki_snapshot *snapshot_of(ki__reader *reader)
{
    return (ki_snapshot *)(void *)((char *)reader + sizeof(*reader));
}
_Static_assert(sizeof(ki__reader) % _Alignof(ki_snapshot) == 0, "a version follows");

int ki__readers_new(const ki_alloc *alloc, const ki_clock *clock, ki__readers **ret_readers)
{
    ki__readers *readers = ki__alloc_zero(alloc, sizeof(*readers));
    if (readers == NULL) {
        return -ENOMEM;
    }
    int r = KI__TAKE(ki_clock, &readers->clock, clock, NULL);
    r = r < 0 ? r : readers->clock.monotonic_ns == NULL ? -EINVAL : ki__mutex_init(&readers->lock);
    if (r < 0) {
        ki__free(alloc, readers);
        return r;
    }
    ki__list_init(&readers->list);
    *ret_readers = readers;
    return 0;
}

void ki__readers_free(const ki_alloc *alloc, ki__readers *readers)
{
    if (readers != NULL) {
        ki__mutex_done(&readers->lock);
        ki__free(alloc, readers);
    }
}

static uint64_t now(const ki__readers *readers)
{
    return readers->clock.monotonic_ns(readers->clock.user);
}

/* What readers use: links and garbage stay with the version, whose other threads change them. */
static void copy_content(ki_snapshot *snapshot, const ki_snapshot *version)
{
    memset(snapshot, 0, sizeof(*snapshot));
    snapshot->store = version->store;
    atomic_init(&snapshot->refs, 1);
    snapshot->number = version->number;
    snapshot->objects = version->objects;
    snapshot->keys = version->keys;
    snapshot->resource_version = version->resource_version;
    snapshot->index_count = version->index_count;
    memcpy(snapshot->indexes, version->indexes, version->index_count * sizeof(version->indexes[0]));
}

ki_snapshot *ki__reader_new(ki_snapshot *version, const void *caller)
{
    ki_store *store = version->store;
    ki__readers *readers = store->readers;
    size_t size = sizeof(*version) + version->index_count * sizeof(version->indexes[0]);
    ki__reader *reader = ki__alloc(store->alloc, sizeof(*reader) + size);
    if (reader == NULL || ki__is_inherited(store->process)) {
        ki__free(store->alloc, reader);
        return version; /* a snapshot never fails */
    }
    *reader = (ki__reader){.version = version, .caller = caller, .bytes = sizeof(*reader) + size};
    ki__thread_identify(&reader->thread, reader->thread_name, sizeof(reader->thread_name));
    ki_snapshot *snapshot = snapshot_of(reader);
    copy_content(snapshot, version);
    snapshot->reader = reader;
    atomic_fetch_add_explicit(&store->version_bytes, reader->bytes, memory_order_relaxed);
    ki__mutex_lock(&readers->lock);
    reader->taken_ns = now(readers); /* inside, so that the list is in order */
    ki__list_push_back(&readers->list, &reader->link);
    ki__mutex_unlock(&readers->lock);
    return snapshot;
}

void ki__reader_end(ki__reader *reader)
{
    ki_snapshot *version = reader->version;
    ki_store *store = version->store;
    if (!ki__is_inherited(store->process)) { /* else a thread that is not here may hold the lock */
        ki__mutex_lock(&store->readers->lock);
        ki__list_remove(&reader->link);
        ki__mutex_unlock(&store->readers->lock);
    }
    atomic_fetch_sub_explicit(&store->version_bytes, reader->bytes, memory_order_relaxed);
    ki__free(store->alloc, reader);
    ki__version_release(version); /* last: the store may end with it */
}

/* Number `position` of the list, or NULL. Requires the lock. */
static const ki__reader *reader_at(const ki__readers *readers, size_t position)
{
    const ki__list *link = readers->list.next;
    while (link != &readers->list && position-- != 0) {
        link = link->next;
    }
    return link != &readers->list ? KI__CONTAINER_OF(link, const ki__reader, link) : NULL;
}

int ki_store_reader(const ki_store *store, size_t position, ki_reader *reader)
{
    KI__REQUIRE(store, NULL);
    KI__REQUIRE_SIZED(ki_reader, reader, NULL);
    ki_reader found = KI_OPTIONS_INIT(ki_reader);
    ki__readers *readers = store->readers;
    if (readers == NULL) {
        return KI_ERR_UNSUPPORTED;
    }
    if (ki__is_inherited(store->process)) {
        return 0;
    }
    ki__mutex_lock(&readers->lock);
    const ki__reader *r = reader_at(readers, position);
    if (r != NULL) {
        uint64_t published = atomic_load_explicit(&store->published, memory_order_acquire);
        uint64_t number = r->version->number;
        found.held_ns = now(readers) - r->taken_ns;
        found.version = number;
        found.newer_versions = published > number ? published - number : 0;
        found.thread = r->thread;
        found.caller = r->caller;
        memcpy(found.thread_name, r->thread_name, sizeof(found.thread_name));
    }
    ki__mutex_unlock(&readers->lock);
    if (r == NULL) {
        return 0;
    }
    (void)!KI__GIVE(ki_reader, reader, &found); /* its size was checked */
    return 1;
}

uint64_t ki__store_oldest_ns(const ki_store *store)
{
    ki_reader oldest = KI_OPTIONS_INIT(ki_reader);
    return ki_store_reader(store, 0, &oldest) > 0 ? oldest.held_ns : 0;
}

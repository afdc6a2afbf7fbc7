/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/informer/memory_limit.h"

#include <errno.h>
#include <limits.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "cache/informer/informer.h"
#include "cache/reflector/reflector.h"
#include "cache/store/store_memory.h"
#include "cache/store/txn.h"
#include "object/object.h"

/* The part of a limit, 1/32, that is left for what is not known when an object arrives, and for the
 * deletions and keys of reduced lists. */
enum { HEADROOM = 32 };

/* ---- groups ---- */

int ki__limit_group_new(const ki_alloc *alloc, uint64_t max_bytes, ki__limit_group **ret_group)
{
    ki__limit_group *group = ki__alloc_zero(alloc, sizeof(*group));
    if (group == NULL) {
        return -ENOMEM;
    }
    int r = ki__mutex_init(&group->lock);
    if (r < 0) {
        ki__free(alloc, group);
        return r;
    }
    ki__refs_init(&group->refs);
    ki__list_init(&group->members);
    group->alloc = alloc;
    group->max_bytes = max_bytes;
    *ret_group = group;
    return 0;
}

void ki__limit_group_unref(ki__limit_group *group)
{
    if (group != NULL && ki__refs_drop(&group->refs)) {
        ki__mutex_done(&group->lock);
        ki__free(group->alloc, group);
    }
}

void ki__informer_limit_packer(const ki_informer *informer)
{
    const ki__limit_group *group = informer->limit.group;
    ki__packer *packer = informer->store->packer;
    if (packer != NULL && informer->options.max_bytes != 0) {
        ki__packer_limit(packer, informer->options.max_bytes);
    }
    if (packer != NULL && group != NULL) {
        ki__packer_limit(packer, group->max_bytes);
    }
}

void ki__informer_join_group(ki_informer *informer, ki__limit_group *group)
{
    ki__refs_take(&group->refs);
    informer->limit.group = group;
    ki__informer_limit_packer(informer);
    ki__mutex_lock(&group->lock);
    ki__list_push_back(&group->members, &informer->limit.link);
    ki__mutex_unlock(&group->lock);
}

void ki__informer_leave_group(ki_informer *informer)
{
    ki__limit_group *group = informer->limit.group;
    if (group != NULL) {
        ki__mutex_lock(&group->lock);
        ki__list_remove(&informer->limit.link);
        ki__mutex_unlock(&group->lock);
        ki__limit_group_unref(group);
    }
}

static ki_informer *informer_at(ki__list *link)
{
    return KI__CONTAINER_OF(KI__CONTAINER_OF(link, ki__memory_limit, link), ki_informer, limit);
}

/* The memory of all members except one. */
static uint64_t memory_of_others(ki__limit_group *group, const ki_informer *except)
{
    uint64_t bytes = 0;
    ki__mutex_lock(&group->lock);
    KI__LIST_FOR_EACH (link, &group->members) {
        const ki_informer *informer = informer_at(link);
        bytes += informer != except ? ki__informer_memory(informer).total : 0;
    }
    ki__mutex_unlock(&group->lock);
    return bytes;
}

/* ---- memory ---- */

static uint64_t load(const _Atomic(uint64_t) *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

ki_memory ki__informer_memory(const ki_informer *informer)
{
    const ki__memory_limit *limit = &informer->limit;
    ki_memory memory = ki__store_memory(informer->store);
    memory.queues = load(&limit->note_bytes) + load(&limit->listed) +
                    atomic_load_explicit(&informer->queue->event_bytes, memory_order_relaxed);
    memory.decoding = load(&limit->decoding);
    memory.total += memory.queues + memory.decoding;
    memory.max_bytes = informer->options.max_bytes;
    memory.over_limit = atomic_load_explicit(&limit->over, memory_order_relaxed);
    memory.reduction = (ki_reduction)atomic_load_explicit(&limit->reduction, memory_order_relaxed);
    return memory;
}

int ki_informer_get_memory(ki_informer *informer, ki_memory *memory)
{
    KI__REQUIRE(informer, NULL);
    KI__REQUIRE(memory, NULL);
    const ki_memory m = ki__informer_memory(informer);
    return KI__GIVE(ki_memory, memory, &m);
}

/* ---- the limit ---- */

/* `group` is NULL if the informer's own limit is the reason. */
static int refuse(ki_informer *informer, const ki_memory *memory, const ki__limit_group *group,
                  uint64_t others, ki_error *error)
{
    ki__memory_limit *limit = &informer->limit;
    uint64_t max = group == NULL ? informer->options.max_bytes : group->max_bytes;
    (void)ki__error_set(&limit->reason, KI_ERR_OVER_LIMIT,
                        "max_bytes%s: %llu bytes needed, limit %llu: objects %llu, indexes %llu, "
                        "old versions %llu, queues %llu, decoding %llu",
                        group == NULL ? "" : " of the factory",
                        (unsigned long long)(memory->total + others), (unsigned long long)max,
                        (unsigned long long)memory->objects, (unsigned long long)memory->indexes,
                        (unsigned long long)memory->versions, (unsigned long long)memory->queues,
                        (unsigned long long)memory->decoding);
    if (ki__informer_may_reduce(informer, memory)) {
        bool packs = informer->options.at_limit == KI_AT_LIMIT_PACK;
        ki__error_add(&limit->reason,
                      ki_str_from(packs ? "; packing objects" : "; keeping metadata only"));
    }
    if (error != NULL) {
        ki__error_copy(error, &limit->reason);
    }
    limit->untold = limit->untold || !atomic_load(&limit->over);
    limit->syncs = informer->reflector->shared.health.syncs; /* written inside this engine only */
    atomic_store(&limit->over, true);
    atomic_fetch_add_explicit(&limit->refusals, 1, memory_order_relaxed);
    return KI_ERR_OVER_LIMIT;
}

static bool is_within(uint64_t bytes, uint64_t max, unsigned part)
{
    return bytes <= max - max / part;
}

/* `part` of each limit is left free. */
static int check(ki_informer *informer, const ki_memory *memory, unsigned part, ki_error *error)
{
    ki__limit_group *group = informer->limit.group;
    uint64_t max = informer->options.max_bytes;
    if (max != 0 && !is_within(memory->total, max, part)) {
        return refuse(informer, memory, NULL, 0, error);
    }
    uint64_t others = group != NULL ? memory_of_others(group, informer) : 0;
    if (group != NULL && !is_within(memory->total + others, group->max_bytes, part)) {
        return refuse(informer, memory, group, others, error);
    }
    return 0;
}

bool ki__informer_has_room(const ki_informer *informer, uint64_t bytes, unsigned part)
{
    ki__limit_group *group = informer->limit.group;
    uint64_t max = informer->options.max_bytes;
    return (max == 0 || is_within(bytes, max, part)) &&
           (group == NULL ||
            is_within(bytes + memory_of_others(group, informer), group->max_bytes, part));
}

static bool has_limit(const ki_informer *informer)
{
    return informer->options.max_bytes != 0 || informer->limit.group != NULL;
}

int ki__informer_reserve(ki_informer *informer, size_t bytes, ki_error *error)
{
    atomic_store_explicit(&informer->limit.decoding, bytes, memory_order_relaxed);
    if (bytes == 0 || !has_limit(informer)) {
        return 0;
    }
    const ki_memory memory = ki__informer_memory(informer);
    bool frees = informer->reflector->reduced || informer->reflector->removes;
    int r = check(informer, &memory, frees ? UINT_MAX : HEADROOM, error);
    if (r < 0) {
        ki__queue_post_consumer(informer->queue); /* reports it */
    }
    return r;
}

void ki__informer_list_queued(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    atomic_fetch_add_explicit(&limit->listed, load(&limit->decoding), memory_order_relaxed);
    atomic_store_explicit(&limit->decoding, 0, memory_order_relaxed);
}

/* The part of `listed` that is in a batch: a whole list, or objects of a list by key that the store
 * did not have before. */
static uint64_t listed_in(const ki_informer *informer, const ki_deltas *deltas)
{
    uint64_t listed = load(&informer->limit.listed);
    uint64_t bytes = 0;
    for (size_t i = 0; i < deltas->count && bytes < listed; i++) {
        const ki_delta *delta = ki_deltas_at(deltas, i);
        if (delta->type == KI_DELTA_REPLACED_ALL) {
            return listed;
        }
        if (delta->type == KI_DELTA_REPLACED &&
            ki_snapshot_get(informer->applier.before, ki_object_key(delta->object)) !=
                delta->object) {
            bytes += ki__object_footprint(delta->object) + KI__REFLECTOR_ENTRY_BYTES;
        }
    }
    return bytes < listed ? bytes : listed;
}

void ki__informer_batch_applied(ki_informer *informer, const ki_deltas *deltas)
{
    uint64_t left = load(&informer->limit.listed) - listed_in(informer, deltas);
    atomic_store_explicit(&informer->limit.listed, left, memory_order_relaxed);
}

/* Of the batch, for all handlers together. */
static uint64_t bytes_of_notes(const ki__applier *applier)
{
    uint64_t bytes = applier->note_count * sizeof(ki__note);
    for (size_t i = 0; i < applier->note_count; i++) {
        const ki__note *note = &applier->notes[i];
        bytes += note->apart ? ki__object_footprint(note->object) : 0;
    }
    return bytes;
}

/* Objects of the list that is being applied are counted as those of the version. */
int ki__informer_check_version(ki_informer *informer, const ki_deltas *deltas, ki_error *error)
{
    const ki_txn *txn = informer->applier.txn;
    if (txn == NULL || !has_limit(informer)) {
        return 0;
    }
    ki_memory memory = ki__informer_memory(informer);
    uint64_t now = memory.objects + memory.indexes;
    memory.objects = txn->next->object_bytes;
    memory.indexes = ki__txn_bytes(txn);
    memory.versions += txn->edit.discarded; /* at first, or as long as readers hold the version */
    memory.queues += bytes_of_notes(&informer->applier);
    memory.queues -= listed_in(informer, deltas);
    uint64_t then = memory.objects + memory.indexes;
    if (then <= now) {
        return 0; /* it frees memory, if not now then when readers release old versions */
    }
    memory.total = then + memory.versions + memory.queues + memory.decoding;
    int r = check(informer, &memory, UINT_MAX, error);
    informer->limit.drop = r < 0;
    return r;
}

/* ---- the state ---- */

static void drop_queue(ki_informer *informer)
{
    informer->limit.drop = false;
    informer->retrying = false;
    ki__queue_clear(informer->queue);
    ki__reflector_reject(informer->reflector, &informer->limit.reason);
}

static void report(ki_informer *informer)
{
    informer->limit.untold = false;
    ki__engine_report(informer->engine, "memory", informer->options.name, ki_str_from(""),
                      &informer->limit.reason);
}

static void recover(ki_informer *informer)
{
    char bytes[KI__DIGITS_SIZE];
    atomic_store(&informer->limit.over, false);
    KI__LOG(ki__engine_log(informer->engine), KI_LOG_WARNING, "memory", "within max_bytes again",
            {"name", ki_str_from(informer->options.name)},
            {"bytes", ki__digits(ki__informer_memory(informer).total, bytes)});
}

void ki__informer_review_limit(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    if (limit->drop || limit->reduces) {
        drop_queue(informer);
    }
    if (informer->queue->length == 0) {
        atomic_store_explicit(&limit->listed, 0, memory_order_relaxed);
    }
    bool over = atomic_load_explicit(&limit->over, memory_order_relaxed);
    if (over && limit->untold) {
        report(informer);
    }
    if (over && !limit->reduces && informer->queue->length == 0 &&
        informer->reflector->shared.health.syncs > limit->syncs) {
        recover(informer);
    }
    ki__informer_review_reduction(informer);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer does at its limit, by option, so that more objects fit: it reduces them to their
 * metadata, or packs them. Objects of the store become smaller some at a time, without a
 * notification, since they have not changed; then the reflector lists again, with objects of the
 * same form. If that does not fit either, the informer is over its limit as without an option.
 *
 * Packed objects stay packed: nothing is lost. Metadata becomes whole objects again when these
 * would use at most 3/4 of the limit, by the average size that they had: the reflector lists whole
 * objects, and handlers receive them as updates. If they do not fit, that is repeated after 30 s at
 * first and an hour at most. */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "cache/informer/informer.h"
#include "cache/reflector/reflector.h"
#include "cache/store/shrink.h"
#include "cache/store/version.h"
#include "object/pack/codec.h"
#include "object/projection/keep_tree.h"

enum {
    RESTORE_PART = 4, /* 1/4 of the limit must stay free */
    SHRINK_PART = 64, /* 1/64 of it is for the new objects of a batch */
};
#define RESTORE_WAIT_NS (30 * KI__SECOND_NS)
#define RESTORE_WAIT_MAX_NS (3600 * KI__SECOND_NS)

const char *ki_reduction_name(ki_reduction reduction)
{
    static const char *const names[] = {
        [KI_REDUCTION_NONE] = "none",
        [KI_REDUCTION_PACKED] = "packed",
        [KI_REDUCTION_METADATA] = "metadata only",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == KI_REDUCTION_MAX, "a name for each");
    return (unsigned)reduction < KI_REDUCTION_MAX ? names[reduction] : "unknown";
}

/* ---- creation ---- */

static void on_timer(ki__timer *timer)
{
    ki__memory_limit *limit = KI__CONTAINER_OF(timer, ki__memory_limit, timer);
    ki__queue_post_consumer(KI__CONTAINER_OF(limit, ki_informer, limit)->queue);
}

int ki__informer_init_limit(ki_informer *informer, const ki_informer_options *o, ki_error *error)
{
    ki__memory_limit *limit = &informer->limit;
    limit->restore_wait = RESTORE_WAIT_NS;
    ki__informer_limit_packer(informer);
    if (o->at_limit == KI_AT_LIMIT_PACK && !ki__codec_is_built()) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED,
                             "at_limit: packing: the library was built without libzstd");
    }
    if (o->at_limit != KI_AT_LIMIT_METADATA) {
        return 0;
    }
    int r = ki__timer_init(&limit->timer, informer->engine, on_timer);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    return ki__projection_new_metadata(o->keep, o->drop, ki__engine_alloc(informer->engine),
                                       &limit->metadata, error);
}

void ki__informer_end_limit(ki_informer *informer)
{
    ki__timer_done(&informer->limit.timer);
    (void)ki_projection_unref(informer->limit.metadata);
}

void ki__informer_on_many_opened(void *user)
{
    ki_informer *informer = user;
    (void)ki__engine_post(informer->engine, &informer->close_opened);
}

void ki__informer_listen_for_opened(ki_informer *informer, void (*on_full)(void *user))
{
    ki__packer *packer = informer->store->packer;
    if (packer != NULL) {
        ki__packer_on_full(packer, on_full, informer);
    }
}

/* ---- reduction ---- */

static ki_reduction reduction_of(const ki_informer *informer)
{
    return (ki_reduction)atomic_load_explicit(&informer->limit.reduction, memory_order_relaxed);
}

static void set_reduction(ki_informer *informer, ki_reduction reduction)
{
    atomic_store_explicit(&informer->limit.reduction, (int)reduction, memory_order_relaxed);
    KI__LOG(ki__engine_log(informer->engine), KI_LOG_WARNING, "memory",
            reduction == KI_REDUCTION_NONE ? "whole objects again" : "objects reduced",
            {"name", ki_str_from(informer->options.name)},
            {"reduction", ki_str_from(ki_reduction_name(reduction))});
}

static size_t count_of(const ki_informer *informer)
{
    ki_snapshot *snapshot = ki_store_snapshot(informer->store);
    size_t count = ki_snapshot_count(snapshot);
    (void)ki_snapshot_unref(snapshot);
    return count;
}

/* Whole objects are those of a list that is being received, or those of the store. */
static uint64_t whole_bytes(const ki_informer *informer, const ki_memory *memory)
{
    const ki_txn *txn = informer->applier.txn;
    size_t stored = txn != NULL ? txn->next->keys.count : count_of(informer);
    size_t found = informer->reflector->found.count;
    if (txn == NULL && (found != 0 || stored == 0)) {
        return memory->decoding / (found + 1);
    }
    return memory->objects / (stored != 0 ? stored : 1);
}

bool ki__informer_may_reduce(ki_informer *informer, const ki_memory *memory)
{
    ki__memory_limit *limit = &informer->limit;
    bool may = informer->options.at_limit == KI_AT_LIMIT_PACK && informer->store->packer == NULL;
    if (limit->metadata != NULL && (limit->restoring || reduction_of(informer) == 0)) {
        limit->whole_bytes = whole_bytes(informer, memory);
        may = true;
    }
    limit->reduces = limit->reduces || may;
    return may;
}

static int reduce_to_metadata(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    if (limit->restoring) {
        uint64_t twice = 2 * limit->restore_wait;
        limit->restore_wait = twice < RESTORE_WAIT_MAX_NS ? twice : RESTORE_WAIT_MAX_NS;
        limit->restoring = false;
    }
    limit->restore_at = ki__engine_now(informer->engine) + limit->restore_wait;
    informer->reflector->projection = limit->metadata;
    set_reduction(informer, KI_REDUCTION_METADATA);
    return 0;
}

static int begin_packing(ki_informer *informer)
{
    int r = ki__store_pack(informer->store, NULL);
    if (r >= 0) {
        informer->reflector->packer = informer->store->packer;
        ki__informer_limit_packer(informer);
        ki__informer_listen_for_opened(informer, ki__informer_on_many_opened);
        set_reduction(informer, KI_REDUCTION_PACKED);
    }
    return r;
}

/* The queue is empty, and the reflector waits. */
static void reduce(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    int r = limit->metadata != NULL ? reduce_to_metadata(informer) : begin_packing(informer);
    limit->reduces = r < 0; /* for lack of memory: retried soon */
    informer->retrying = r < 0;
    if (r >= 0) {
        limit->shrinking = true;
        limit->shrunk = 0;
        informer->reflector->reduced = false; /* the next list is complete: there will be memory */
    }
}

/* A part of the store. If readers hold old versions of it, nothing is freed until they release
 * them. */
static void shrink(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    uint64_t max = informer->options.max_bytes;
    uint64_t shared = limit->group != NULL ? limit->group->max_bytes : UINT64_MAX;
    max = (max == 0 || shared < max ? shared : max) / SHRINK_PART;
    const ki_memory memory = ki__informer_memory(informer);
    int r = ki__informer_has_room(informer, memory.total, UINT32_MAX)
                ? ki__store_shrink(informer->store, limit->metadata, &limit->shrunk, max, NULL)
                : KI_ERR_BUSY;
    if (r > 0) {
        ki__queue_post_consumer(informer->queue);
    } else if (r < 0) {
        informer->retrying = true;
    } else {
        limit->shrinking = false;
        if (informer->reflector->state == KI_REFLECTOR_BACKOFF) { /* otherwise a list came before */
            ki__reflector_relist(informer->reflector);
        }
    }
}

/* ---- restoration ---- */

/* The objects that the store has now are there until the list is in it. */
static bool can_restore(const ki_informer *informer)
{
    const ki__memory_limit *limit = &informer->limit;
    uint64_t whole = count_of(informer) * limit->whole_bytes;
    return informer->reflector->state == KI_REFLECTOR_WATCHING && informer->queue->length == 0 &&
           ki__informer_has_room(informer, ki__informer_memory(informer).total + whole,
                                 RESTORE_PART);
}

static void restore(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    limit->restoring = true;
    limit->restore_syncs = informer->reflector->shared.health.syncs;
    informer->reflector->projection = informer->projection;
    ki__reflector_relist(informer->reflector);
}

/* Objects that the list had, but that could not be decoded, are as they were. */
static void look_whether_restored(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    uint64_t syncs = informer->reflector->shared.health.syncs;
    if (syncs == limit->restore_syncs || informer->queue->length != 0) {
        return;
    }
    limit->restore_syncs = syncs;
    if (!ki__store_has_reduced(informer->store)) {
        limit->restoring = false;
        limit->restore_wait = RESTORE_WAIT_NS;
        set_reduction(informer, KI_REDUCTION_NONE);
    }
}

void ki__informer_review_reduction(ki_informer *informer)
{
    ki__memory_limit *limit = &informer->limit;
    if (limit->reduces) {
        reduce(informer);
    }
    if (limit->shrinking) {
        shrink(informer);
    } else if (limit->restoring) {
        look_whether_restored(informer);
    } else if (reduction_of(informer) == KI_REDUCTION_METADATA &&
               !atomic_load_explicit(&limit->over, memory_order_relaxed)) {
        uint64_t now = ki__engine_now(informer->engine);
        if (now >= limit->restore_at && can_restore(informer)) {
            restore(informer);
        } else if (!ki__timer_is_set(&limit->timer)) {
            ki__timer_set(&limit->timer,
                          now < limit->restore_at ? limit->restore_at : now + RESTORE_WAIT_NS);
        }
    }
}

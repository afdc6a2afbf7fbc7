/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of an informer and its limit, max_bytes; and the limit of a group of informers, those
 * of a factory.
 *
 * The reflector asks before it receives more, and the informer before it publishes a version. If
 * the answer is no, the store keeps its version, everything on its way to it is dropped, and the
 * reflector lists again after a backoff. From then on until such a list is in the store, the
 * informer is over its limit, and reports it. Before that list, by option, objects become smaller:
 * see reduction.c. */
#ifndef KI_CACHE_INFORMER_MEMORY_LIMIT_H
#define KI_CACHE_INFORMER_MEMORY_LIMIT_H

#include <stdatomic.h>

#include <kinformer/informer.h>
#include <kinformer/memory.h>
#include <kinformer/parts/queue.h>

#include "base/engine.h"
#include "base/list.h"
#include "base/refs.h"
#include "base/sync.h"

/** Informers with a common limit. */
typedef struct ki__limit_group {
    ki__refs refs;
    const ki_alloc *alloc;
    uint64_t max_bytes;
    ki__mutex lock;
    ki__list members; /* lock */
} ki__limit_group;

int ki__limit_group_new(const ki_alloc *alloc, uint64_t max_bytes, ki__limit_group **ret_group);
/** NULL is allowed. */
void ki__limit_group_unref(ki__limit_group *group);

/** The part of an informer. */
typedef struct ki__memory_limit {
    ki__limit_group *group; /* or NULL */
    ki__list link;          /* in the group */
    /* Any thread. */
    _Atomic(uint64_t) note_bytes; /* of handlers: see ki__note_bytes() */
    _Atomic(uint64_t) decoding;   /* objects that only the reflector holds */
    _Atomic(uint64_t) listed;     /* objects of lists in the queue that the store does not have */
    atomic_bool over;             /* over the limit */
    _Atomic(uint64_t) refusals;
    atomic_int reduction;    /* a ki_reduction */
    ki_projection *metadata; /* constant: what objects are reduced to, or NULL */
    /* Inside the engine only. */
    uint64_t syncs;  /* of the reflector at the last refusal */
    bool untold;     /* the program does not know yet */
    bool drop;       /* the queue must be dropped, as the store refused a batch */
    ki_error reason; /* of the last refusal */
    /* Reductions, see reduction.c. */
    bool reduces;           /* the refusal asks for one */
    bool shrinking;         /* objects of the store, */
    uint64_t shrunk;        /* up to this id */
    bool restoring;         /* whole objects are being listed again, */
    uint64_t restore_syncs; /* since the reflector had this many lists */
    uint64_t restore_at;    /* not before */
    uint64_t restore_wait;  /* between attempts */
    uint64_t whole_bytes;   /* memory of a whole object, on average */
    ki__timer timer;        /* for a restoration */
} ki__memory_limit;

/** For a new informer, whose options are `o`. */
int ki__informer_init_limit(ki_informer *informer, const ki_informer_options *o, ki_error *error);
void ki__informer_end_limit(ki_informer *informer);

/** Before the first start. Takes a reference. */
void ki__informer_join_group(ki_informer *informer, ki__limit_group *group);
void ki__informer_leave_group(ki_informer *informer);
/** Opened packed objects must not use up the limits of the informer. */
void ki__informer_limit_packer(const ki_informer *informer);

/** Its memory; a few loads. Any thread. */
ki_memory ki__informer_memory(const ki_informer *informer);

/* Inside the engine: */

/** For the target of the reflector: see there. */
int ki__informer_reserve(ki_informer *informer, size_t bytes, ki_error *error);
/** The list for which memory was reserved is in the queue. */
void ki__informer_list_queued(ki_informer *informer);
/** A batch is in the store: the objects of its lists are counted as those of the store. Before
 *  ki__apply_end(). */
void ki__informer_batch_applied(ki_informer *informer, const ki_deltas *deltas);
/** Whether the prepared version may be published: 0 or KI_ERR_OVER_LIMIT. */
int ki__informer_check_version(ki_informer *informer, const ki_deltas *deltas, ki_error *error);
/** After each poll of the queue: acts on refusals, and detects the end of the state. */
void ki__informer_review_limit(ki_informer *informer);
/** Whether `bytes` fit, with 1/`part` of each limit left free. */
bool ki__informer_has_room(const ki_informer *informer, uint64_t bytes, unsigned part);

/* reduction.c */

/** Something was refused, with this memory: whether a reduction follows. */
bool ki__informer_may_reduce(ki_informer *informer, const ki_memory *memory);
/** After each poll of the queue, after refusals. */
void ki__informer_review_reduction(ki_informer *informer);
/** With packed storage: when many objects are open, some are closed. */
void ki__informer_listen_for_opened(ki_informer *informer, void (*on_full)(void *user));
void ki__informer_on_many_opened(void *user);

#endif

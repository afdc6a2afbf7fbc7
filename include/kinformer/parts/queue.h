/* SPDX-License-Identifier: Apache-2.0 */
/* Delta queues: changes of objects on their way from a producer (a reflector) to the consumer that
 * applies them to a store (an informer). There are two kinds with the same functions:
 *
 *   ki_fifo        keeps every delta in order of arrival. A relist is one delta that holds all
 *                  objects, a resync is one delta, and bookmarks pass through. The default.
 *   ki_delta_fifo  groups deltas by key, and orders keys by arrival. It reads the store to find the
 *                  objects that a relist has removed.
 *
 * Any thread may add deltas; one thread at a time removes them. The deltas of one producer keep
 * their order. Keys are those of ki_object_key(). */
#ifndef KINFORMER_PARTS_QUEUE_H
#define KINFORMER_PARTS_QUEUE_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/queue_kind.h>
#include <kinformer/store.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_queue ki_queue;

/* Deltas */

typedef enum ki_delta_type {
    KI_DELTA_ADDED,
    KI_DELTA_UPDATED,
    KI_DELTA_DELETED,
    KI_DELTA_REPLACED,     /* ki_delta_fifo: one object of a list */
    KI_DELTA_REPLACED_ALL, /* ki_fifo: a whole list */
    KI_DELTA_SYNC,         /* ki_delta_fifo: a resync of one object */
    KI_DELTA_SYNC_ALL,     /* ki_fifo: a resync of all objects */
    KI_DELTA_BOOKMARK,     /* ki_fifo: the content is current at a resourceVersion */
    KI_DELTA_MAX
} ki_delta_type;

/** A list of all objects at a resourceVersion. */
typedef struct ki_replacement {
    size_t size; /* see KI_OPTIONS_INIT */
    const ki_object *const *objects;
    size_t object_count;
    /** Keys of objects that exist but could not be decoded: consumers keep their previous state. */
    const ki_str *unread;
    size_t unread_count;
    const char *resource_version; /* NULL: none */
} ki_replacement;

typedef struct ki_delta {
    size_t size; /* of the struct in the library */
    ki_delta_type type;
    /** Of KI_DELTA_DELETED: the deletion itself was missed. The object is its last known state and
     *  may be out of date. */
    bool final_state_unknown;
    /** NULL in deltas that do not concern a single object, and in a KI_DELTA_DELETED of ki_fifo for
     *  which only the key is known. */
    const ki_object *object;
    union {
        const ki_replacement *replaced; /* KI_DELTA_REPLACED_ALL */
        const char *resource_version;   /* KI_DELTA_BOOKMARK */
        const char *key;                /* KI_DELTA_DELETED without object */
    };
} ki_delta;

/** Returns the name of a delta type, such as "Added"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_delta_type_name(ki_delta_type type);

/** Returns the key of the object that a delta concerns; empty if it does not concern a single
 *  object.
 *  Owner: valid as long as the delta.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_str ki_delta_key(const ki_delta *delta);

/* Creating a queue */

typedef struct ki_queue_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the queue */
    const ki_random *random; /* hash seed; NULL: from addresses, which an attacker may guess */

    /** For ki_delta_fifo: the store that the deltas are applied to, kept by reference. It must
     *  contain every popped delta when the process function returns. NULL: no known objects; then
     *  deletions of keys that are not queued are ignored, and a resync does nothing. */
    ki_store *known;

    /** Replaces objects before they are queued: stores the object to queue in *ret_object (a
     *  reference; ki_object_ref(object) to keep it), which must have the same key. Called once for
     *  each object that is added, on the producer's thread and with no lock held; not for resyncs,
     *  nor for deletions that a relist detects. If the queue is the target of a reflector, the
     *  reflector calls it earlier, when the object has been decoded. NULL: none. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;

    const ki_error_hook *on_error; /* for objects of a list that were skipped; copied; NULL: none */

    /** Maximum number of queued deltas; above it, KI_ERR_LIMIT is returned. 0: 2^24. This is a last
     *  resort: producers should check ki_queue_count() or ki_queue_bytes() and pause, because the
     *  source can wait without losing changes. */
    size_t max_deltas;
} ki_queue_options;

/** Creates an empty queue of either kind. `options` may be NULL.
 *  Owner:  caller; release with ki_queue_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  ki_fifo with `known`;  -ENOMEM, -E2BIG, or the error of creating a lock.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_fifo_new(const ki_queue_options *options, ki_queue **ret_queue,
                                    ki_error *error);
KI_API KI_NODISCARD int ki_delta_fifo_new(const ki_queue_options *options, ki_queue **ret_queue,
                                          ki_error *error);

/** Takes and releases references. ki_queue_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_queue *ki_queue_ref(ki_queue *queue);
KI_API ki_queue *ki_queue_unref(ki_queue *queue);

/* Adding deltas. Objects are kept by reference. After an error the queue is unchanged. A stopped
 * queue still accepts deltas.
 * Thread: any, including process functions.  Blocks: no.
 * Errors: KI_ERR_KEY      the object has no name or a '/' in it, or the transform function changed
 *                         its key;
 *         KI_ERR_LIMIT    max_deltas, or a resourceVersion or key that is too long;
 *         KI_ERR_INVALID  the transform function returned neither an object nor an error;
 *         -ENOMEM;  what the transform function returned.
 * Since: 0.1 */

/** Queues that an object was added or has changed. */
KI_API KI_NODISCARD int ki_queue_add(ki_queue *queue, const ki_object *object, ki_error *error);
KI_API KI_NODISCARD int ki_queue_update(ki_queue *queue, const ki_object *object, ki_error *error);

/** Queues that an object was deleted; `object` is its final state. ki_delta_fifo ignores objects
 *  that are neither known nor queued. If the transform function fails, the deletion is queued with
 *  the object unchanged. */
KI_API KI_NODISCARD int ki_queue_delete(ki_queue *queue, const ki_object *object, ki_error *error);

/** The same if only the key is known: queues a deletion with final state unknown. */
KI_API KI_NODISCARD int ki_queue_delete_key(ki_queue *queue, ki_str key, ki_error *error);

/** Queues a list as the new content, completely or not at all. An object for which the transform
 *  function fails, or that has no key, is skipped, reported to `on_error`, and counts as
 *  undecodable; returns the number of these. Retriable errors (ki_error_is_retriable()) fail the
 *  whole call.
 *
 *  ki_fifo queues one KI_DELTA_REPLACED_ALL. ki_delta_fifo queues KI_DELTA_REPLACED for each
 *  object, in order, and then KI_DELTA_DELETED, final state unknown, for queued or known objects
 *  that are not in the list. */
KI_API KI_NODISCARD int ki_queue_replace(ki_queue *queue, const ki_replacement *replacement,
                                         ki_error *error);

/** Queues a resync. ki_fifo queues one KI_DELTA_SYNC_ALL; ki_delta_fifo KI_DELTA_SYNC for each
 *  known object without queued deltas. */
KI_API KI_NODISCARD int ki_queue_resync(ki_queue *queue, ki_error *error);

/** Queues a bookmark: the content is current at `resource_version`. Does nothing for ki_delta_fifo,
 *  which is ordered by key and cannot place it. */
KI_API KI_NODISCARD int ki_queue_bookmark(ki_queue *queue, const char *resource_version,
                                          ki_error *error);

/* Removing deltas */

/** A batch of popped deltas, borrowed until the process function returns. */
typedef struct ki_deltas {
    size_t size;            /* of the struct in the library */
    const ki_delta *deltas; /* the first; the others, whose size may differ: ki_deltas_at() */
    size_t count;
    bool is_initial; /* the queue was not yet synced when they were popped */
    /** Of ki_delta_fifo: set after a list with older resourceVersions, as from a server restored
     *  from a backup, once all of it has been processed with this batch. The resourceVersion of the
     *  content; otherwise NULL. */
    const char *set_back;
} ki_deltas;

/** Returns delta number `index`, from 0 to count - 1.
 *  Owner: valid as long as the deltas.  Thread: any.  Blocks: no.  Since: 0.1 */
static inline const ki_delta *ki_deltas_at(const ki_deltas *deltas, size_t index)
{
    const void *at = (const char *)deltas->deltas + index * deltas->deltas->size;
    return (const ki_delta *)at;
}

enum {
    KI_POP_DONE = 0,  /* the deltas have been processed */
    KI_POP_AGAIN = 1, /* all of them return to the queue */
};

/** Processes a batch of deltas. Returns KI_POP_DONE, KI_POP_AGAIN, or an error, which discards the
 *  deltas. No lock is held. After KI_POP_AGAIN, ki_fifo puts the deltas back at its front;
 *  ki_delta_fifo puts each key back at the end, its deltas before any that arrived meanwhile. */
typedef int (*ki_queue_process)(const ki_deltas *deltas, void *user);

/** Default maximum number of keys in a batch. */
#define KI_QUEUE_BATCH 1000

/** Pops a batch of up to `max_keys` keys (0: KI_QUEUE_BATCH) and calls `process` with it. Waits
 *  while the queue is empty. With `max_keys` 1 it pops one delta of ki_fifo, or the deltas of one
 *  key of ki_delta_fifo.
 *
 *  A batch of ki_fifo ends before a key that it already contains, and before and after deltas that
 *  do not concern a single object, which form their own batches. A batch of ki_delta_fifo ends
 *  where the first list ends.
 *
 *  Returns the number of deltas processed, including those put back.
 *  Thread: one at a time.  Blocks: yes, while the queue is empty and not stopped.
 *  Errors: KI_ERR_STOPPED  stopped and empty;
 *          KI_ERR_BUSY     another thread is popping, or called from a process function;
 *          -ENOMEM         nothing was popped;
 *          what `process` returned.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_queue_pop(ki_queue *queue, size_t max_keys, ki_queue_process process,
                                     void *user);

/** The same without waiting: returns 0 if the queue is empty.
 *  Thread, Errors: as ki_queue_pop().  Blocks: no.  Since: 0.1 */
KI_API KI_NODISCARD int ki_queue_poll(ki_queue *queue, size_t max_keys, ki_queue_process process,
                                      void *user);

/** Stops the queue: wakes waiting consumers; popping fails once the queue is empty.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_queue_stop(ki_queue *queue);
/** Returns whether the queue was stopped.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_queue_is_stopped(const ki_queue *queue);

/** Returns whether everything queued by the first ki_queue_replace() has been processed, or the
 *  first call was another one (ki_queue_add, _update or _delete). Remains true.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_queue_has_synced(const ki_queue *queue);

/** Returns the number of queued deltas, and the approximate memory of their objects, which may be
 *  shared. Deltas that are being processed do not count. A ki_fifo counts a whole list as one
 *  delta.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API size_t ki_queue_count(const ki_queue *queue);
KI_API size_t ki_queue_bytes(const ki_queue *queue);

KI_AUTO_DEFINE(ki_queue, ki_queue_unref)

KI_END_DECLS

#endif

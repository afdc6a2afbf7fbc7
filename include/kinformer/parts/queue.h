/* SPDX-License-Identifier: Apache-2.0 */
/* Delta queues: what happened to objects, between whoever finds out (a reflector) and whoever
 * applies it to a store (an informer). There are two kinds, with the same functions:
 *
 *   ki_fifo        keeps every delta in the order of arrival. A relist is one delta that holds all
 *                  objects, a resync is one delta, and bookmarks pass through. The default.
 *   ki_delta_fifo  gathers the deltas of each key, and keys in order of arrival. It looks at the
 *                  objects that are known already to tell what a relist has removed.
 *
 * Any thread may put deltas in; one at a time takes them out. The deltas of one producer keep their
 * order. Keys are those of ki_object_key(). */
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
    KI_DELTA_BOOKMARK,     /* ki_fifo: the content is current at a resource version */
    KI_DELTA_MAX
} ki_delta_type;

/** A list of all objects, at a resource version. */
typedef struct ki_replacement {
    const ki_object *const *objects;
    size_t object_count;
    /** Keys of objects that are there but could not be read: nothing is known of them, and so they
     * stay as they were. */
    const ki_str *unread;
    size_t unread_count;
    const char *resource_version; /* NULL: none */
} ki_replacement;

typedef struct ki_delta {
    ki_delta_type type;
    /** Of KI_DELTA_DELETED: the deletion itself was not seen. The object is the last that is known
     * of it, and may be out of date. */
    bool final_state_unknown;
    /** NULL in deltas that are not about one object, and in a KI_DELTA_DELETED of which ki_fifo
     * knows the key alone. */
    const ki_object *object;
    union {
        const ki_replacement *replaced; /* KI_DELTA_REPLACED_ALL */
        const char *resource_version;   /* KI_DELTA_BOOKMARK */
        const char *key;                /* KI_DELTA_DELETED without object */
    };
} ki_delta;

/** The name of a type, such as "Added"; "unknown" for any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_delta_type_name(ki_delta_type type);

/** The key of the object that a delta is about; empty if it is about none.
 *  Owner: as long as the delta.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_str ki_delta_key(const ki_delta *delta);

/* Making a queue */

typedef struct ki_queue_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the queue */
    const ki_random *random; /* seeds the hash; NULL: from addresses, which an attacker may guess */

    /** Of ki_delta_fifo: the store that the deltas go to, kept by reference. It must have every
     * delta that was popped when the process function returns. NULL: nothing is known; then
     * deletions of keys that are not queued are ignored, and there is nothing to resync. */
    ki_store *known;

    /** Called once for each object that is put in, on the producer's thread and with no lock held,
     * but not for resyncs nor for deletions that a relist finds; by a reflector, whose target the
     * queue is, before that, when the object was decoded: gives the object to queue instead
     * in *ret_object (a reference; ki_object_ref(object) to keep it), which must have the same key.
     * NULL: none. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    void *transform_user;

    ki_error_hook on_error; /* is told which objects of a list were left out */

    /** Deltas that may wait; more give KI_ERR_LIMIT. 0: 2^24. This is a last resort: a producer
     * looks at ki_queue_count() or ki_queue_bytes() and stops for a while, as it is the source
     * that can wait without losing anything. */
    size_t max_deltas;
} ki_queue_options;

/** An empty queue of either kind. `options` may be NULL.
 *  Owner:  release with ki_queue_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  ki_fifo with `known`;  -ENOMEM, -E2BIG, or what making a lock gave.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_fifo_new(const ki_queue_options *options, ki_queue **ret_queue,
                                    ki_error *error);
KI_API KI_NODISCARD int ki_delta_fifo_new(const ki_queue_options *options, ki_queue **ret_queue,
                                          ki_error *error);

/** References. ki_queue_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_queue *ki_queue_ref(ki_queue *queue);
KI_API ki_queue *ki_queue_unref(ki_queue *queue);

/* Putting in. Objects are kept by reference. After an error the queue is as it was. A queue that is
 * closed takes deltas nevertheless.
 * Thread: any, also from inside a process function.  Blocks: no.
 * Errors: KI_ERR_KEY      the object has no name or a '/' in it, or the transform function changed
 *                         its key;
 *         KI_ERR_LIMIT    max_deltas, or a resource version or key that is too long;
 *         KI_ERR_INVALID  the transform function gave no object, and no error either;
 *         -ENOMEM;  what the transform function returned.
 * Since: 0.1 */

/** The object was added, or has changed. */
KI_API KI_NODISCARD int ki_queue_add(ki_queue *queue, const ki_object *object, ki_error *error);
KI_API KI_NODISCARD int ki_queue_update(ki_queue *queue, const ki_object *object, ki_error *error);

/** The object was deleted; `object` is its final state. ki_delta_fifo ignores what is neither known
 *  nor queued. A deletion is not lost to a transform function that fails: the object is queued as
 *  it is. */
KI_API KI_NODISCARD int ki_queue_delete(ki_queue *queue, const ki_object *object, ki_error *error);

/** The same where only the key could be read: a deletion with its final state unknown. */
KI_API KI_NODISCARD int ki_queue_delete_key(ki_queue *queue, ki_str key, ki_error *error);

/** Makes a list the content. All is queued or nothing. An object for which the transform function
 *  fails, or that has no key, is left out, told to `on_error`, and counts as unread; returns how
 *  many those were. Errors that may pass, as ki_error_is_retriable() says, fail the whole call.
 *
 *  ki_fifo queues one KI_DELTA_REPLACED_ALL. ki_delta_fifo queues KI_DELTA_REPLACED for each object
 *  in turn, and then KI_DELTA_DELETED, final state unknown, for what is queued or known and not in
 *  the list. */
KI_API KI_NODISCARD int ki_queue_replace(ki_queue *queue, const ki_replacement *replacement,
                                         ki_error *error);

/** Asks for a resync. ki_fifo queues one KI_DELTA_SYNC_ALL; ki_delta_fifo KI_DELTA_SYNC for each
 *  known object that has nothing queued. */
KI_API KI_NODISCARD int ki_queue_resync(ki_queue *queue, ki_error *error);

/** The content is current at `resource_version`. ki_delta_fifo, whose order is by key, has no place
 *  for it and does nothing. */
KI_API KI_NODISCARD int ki_queue_bookmark(ki_queue *queue, const char *resource_version,
                                          ki_error *error);

/* Taking out */

/** What was popped: borrowed until the process function returns. */
typedef struct ki_deltas {
    const ki_delta *deltas;
    size_t count;
    bool is_initial; /* the queue had not synced when they were popped */
    /** Of ki_delta_fifo: a list went back in time, as that of a server that was restored from a
     * backup, and with this batch all of it is done. The resource version of the content then;
     * else NULL. */
    const char *set_back;
} ki_deltas;

enum {
    KI_POP_DONE = 0,  /* the deltas are done with */
    KI_POP_AGAIN = 1, /* they go back into the queue, all of them */
};

/** Processes deltas: KI_POP_DONE, KI_POP_AGAIN, or an error, after which they are gone. No lock is
 *  held. Asked to, ki_fifo puts them back in front, where they came from; ki_delta_fifo puts each
 *  key back at the end, its deltas before any that came for it meanwhile. */
typedef int (*ki_queue_process)(const ki_deltas *deltas, void *user);

/** How many keys a batch has at most if nothing else is asked for. */
#define KI_QUEUE_BATCH 1000

/** Pops a batch, up to `max_keys` keys (0: KI_QUEUE_BATCH), and calls `process` with it. Waits
 * while there is nothing. With 1 it is a plain pop: one delta of ki_fifo, the deltas of one key of
 *  ki_delta_fifo.
 *
 *  A batch of ki_fifo ends before a key that it has already, and around deltas that are not about
 *  one object: these come alone. Of ki_delta_fifo, it ends where the first list ends.
 *
 *  Returns the number of deltas that were processed, also if they went back.
 *  Thread: one at a time.  Blocks: yes, while the queue is empty and not closed.
 *  Errors: KI_ERR_STOPPED  closed, and nothing is left;
 *          KI_ERR_BUSY     someone else is popping, or this is called from a process function;
 *          -ENOMEM         nothing was popped;
 *          what `process` returned.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_queue_pop(ki_queue *queue, size_t max_keys, ki_queue_process process,
                                     void *user);

/** The same without waiting: 0 if there is nothing.
 *  Thread, Errors: as ki_queue_pop().  Blocks: no.  Since: 0.1 */
KI_API KI_NODISCARD int ki_queue_poll(ki_queue *queue, size_t max_keys, ki_queue_process process,
                                      void *user);

/** Closes the queue: whoever waits is released, and popping ends when nothing is left.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_queue_close(ki_queue *queue);
/** Whether the queue was closed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_queue_is_closed(const ki_queue *queue);

/** Whether all that was queued by the first call of ki_queue_replace() has been processed, or the
 *  first call was another one (ki_queue_add, _update or _delete). Stays true.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_queue_has_synced(const ki_queue *queue);

/** The deltas that wait, and about the memory of the objects in them, which they may share with
 *  others; without those that are being processed. A ki_fifo counts a whole list as one delta.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API size_t ki_queue_count(const ki_queue *queue);
KI_API size_t ki_queue_bytes(const ki_queue *queue);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector: keeps a target (a delta queue, a store, or any other) synchronized with a source.
 * It lists, then watches, and recovers from every failure: it resumes, backs off, or relists. It
 * stops only on request. docs/reflector.md describes its states. */
#ifndef KINFORMER_PARTS_REFLECTOR_H
#define KINFORMER_PARTS_REFLECTOR_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/health.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/source.h>
#include <kinformer/selection.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_reflector ki_reflector;

/** The target that receives the objects. Each function returns 0 or more, or an error, and is
 *  called inside ki_engine_run() only. After a retriable error (ki_error_is_retriable(), such as
 *  -ENOMEM) the same call is repeated later; any other error is reported to the engine, and the
 *  reflector continues. */
typedef struct ki_reflector_target {
    size_t size; /* see KI_OPTIONS_INIT */
    int (*add)(const ki_object *object, void *user, ki_error *error);
    int (*update)(const ki_object *object, void *user, ki_error *error);
    /** `object` is the final state. */
    int (*remove)(const ki_object *object, void *user, ki_error *error);
    /** The same if only the key could be decoded. NULL: the reflector relists instead. */
    int (*remove_key)(const char *key, void *user, ki_error *error);
    /** Replaces the whole content. After any error the list is requested again. */
    int (*replace)(const ki_replacement *list, void *user, ki_error *error);
    /** Called when the resync period has elapsed. After an error the reflector relists. May be
     *  NULL. */
    int (*resync)(void *user, ki_error *error);
    /** All changes up to this resourceVersion have been delivered. May be NULL. */
    int (*bookmark)(const char *resource_version, void *user, ki_error *error);
    /** Returns the object with a key as a reference, or NULL. If set, unchanged objects of a relist
     *  are taken from here, so that a relist needs very little memory. May be NULL. */
    ki_object *(*find)(const char *key, void *user);
    void *user;
    void (*destroy)(void *user); /* may be NULL; called once, when the reflector is freed */
    /** Stores the object to keep in *ret_object, as a ki_transform does. Called once for each
     *  object of a list or an event, as soon as it is decoded, so that lists are collected in
     *  transformed form. The other functions receive its results. NULL: objects are not changed. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
    /** Called before an object is added to the list that is being received, or passed to add() or
     *  update(), with the memory of all objects that only the reflector holds then; and with 0 when
     *  it holds none any more. KI_ERR_OVER_LIMIT refuses the object: the list or watch ends, and
     * the reflector lists again after a backoff. May be NULL. */
    int (*reserve)(size_t bytes, void *user, ki_error *error);
} ki_reflector_target;

/** Returns a target that writes to a queue or to a store. A store on its own ignores resyncs, and
 *  keeps the previous state of undecodable objects.
 *  Owner:  the target holds a reference, which `destroy` releases: the reflector calls it once it
 *          has been created with the target, otherwise the caller must.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int ki_reflector_target_queue(ki_queue *queue, ki_reflector_target *ret_target);
KI_API int ki_reflector_target_store(ki_store *store, ki_reflector_target *ret_target);

typedef struct ki_reflector_options {
    size_t size;                       /* see KI_OPTIONS_INIT */
    ki_engine *engine;                 /* required; kept by reference */
    const ki_source *source;           /* required; copied; owned by the reflector on success */
    const ki_reflector_target *target; /* required; copied; owned by the reflector on success */
    const char *name;                  /* for logs and reports; NULL: "reflector" */
    const char *description;           /* of the resource, for logs; NULL: the expected kind */
    const char *label_selector;        /* NULL: every object */
    const char *field_selector;        /* NULL: every object */
    const ki_projection *projection;   /* which fields are kept; NULL: all; kept by reference */

    /** Events of another kind are skipped and reported. NULL: any. Lists are not checked. */
    const char *expected_kind;
    const char *expected_api_version;

    uint64_t resync_period_ms; /* 0: never */
    /** Called when the resync period has elapsed; returns whether to resync. NULL: always. */
    bool (*should_resync)(void *user);

    /** Called for every failed attempt to list or watch, including those that the source retries by
     *  itself. Not called for a watch that the server had accepted and that is resumed at once, nor
     *  for a fallback (from a streaming list to a list, or to a list without a resourceVersion):
     *  these are not failures. Failures are logged with or without a callback; see
     *  docs/reflector.md. May be NULL. */
    void (*on_watch_error)(ki_reflector *reflector, const ki_watch_failure *failure, void *user);
    /** The last callback: no function of the source or the target is called after it. May be
     *  NULL. */
    void (*on_stopped)(ki_reflector *reflector, void *user);
    void *user;

    bool no_streaming;      /* list in pages even if the source supports streaming */
    bool allow_stale_start; /* the first list may be of any age: cheaper, but possibly stale */
    uint32_t page_size;     /* 0: 500, or the whole list if the server has it in its watch cache */
    size_t max_objects;     /* per list; 0: 2^30 */

    /* Times. 0: the default; UINT64_MAX: never. */
    /** The server ends a watch after a random time between this and twice this; 5 min, which is
     *  also the minimum. */
    uint64_t min_watch_timeout_ms;
    uint64_t initial_idle_ms; /* limit for a streaming list without an initial event; 15 s */
    uint64_t initial_max_ms;  /* limit for a whole streaming list; 5 min */
    uint64_t no_streaming_ms; /* how long to list in pages after either limit; 10 min */
    uint64_t silence_ms; /* limit without any received byte, then the call is restarted; 3 min */
    uint64_t backoff_initial_ms; /* 800 ms; doubled after each failure */
    uint64_t backoff_max_ms;     /* 30 s; jitter makes each wait up to twice as long */
    uint64_t backoff_reset_ms;   /* time without a wait after which backoff starts over; 2 min */
    /** How long a watch that ends with 500 is resumed before the reflector relists; 0: it relists
     *  at once. */
    uint64_t internal_error_retry_ms;
    const char *shard_selector; /* NULL: every object; see shard.h */
} ki_reflector_options;

/** Creates a reflector; does not start it.
 *  Owner:  caller; release with ki_reflector_unref(). On success it owns the source and the target.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a required member is missing;  KI_ERR_LIMIT  a string is too long;
 *          -ENOMEM, -E2BIG, or the error of creating a lock.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_reflector_new(const ki_reflector_options *options,
                                         ki_reflector **ret_reflector, ki_error *error);

/** Takes and releases references. A started reflector stays alive until it has stopped, even
 *  without references. ki_reflector_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_reflector *ki_reflector_ref(ki_reflector *reflector);
KI_API ki_reflector *ki_reflector_unref(ki_reflector *reflector);

/** Starts the reflector; it begins at the next ki_engine_run().
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it was already started;  KI_ERR_STOPPED.  Since: 0.1 */
KI_API int ki_reflector_start(ki_reflector *reflector);

/** Stops the reflector permanently. It has stopped when on_stopped is called, inside
 *  ki_engine_run(). If called from one of its callbacks, only on_stopped is called after that
 *  callback returns; otherwise a callback that is running at this moment may finish later. Stopping
 *  twice is allowed.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_reflector_stop(ki_reflector *reflector);

/** Pauses or resumes the source, for a target that cannot keep up. Some events may still arrive. A
 *  pause does not count as silence.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_reflector_pause(ki_reflector *reflector, bool paused);

/** Changes which objects are listed and watched. If the reflector was started, it lists again, and
 *  the target receives that list as a replacement.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_INVALID  a selector;  KI_ERR_STOPPED;  -ENOMEM, -EINVAL, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_reflector_select(ki_reflector *reflector, const ki_selection *selection,
                                            ki_error *error);

/** Returns the name from the options.
 *  Owner: the reflector.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reflector_name(const ki_reflector *reflector);
KI_API const char *ki_reflector_description(const ki_reflector *reflector);

/** Copies the resourceVersion that the target is synchronized to, "" before the first list, to
 *  `text` of `size` bytes. Returns its length.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  it does not fit, including the NUL; 1025 bytes always suffice.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_reflector_last_sync_resource_version(ki_reflector *reflector, char *text,
                                                                size_t size);

/** Fills `health`, whose `size` must be set, and `reason` (may be NULL) with the last failure; its
 *  code is 0 if there is none.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL  invalid `size`.  Since: 0.1 */
KI_API int ki_reflector_get_health(ki_reflector *reflector, ki_health *health,
                                   ki_error *ret_reason);

KI_AUTO_DEFINE(ki_reflector, ki_reflector_unref)

KI_END_DECLS

#endif

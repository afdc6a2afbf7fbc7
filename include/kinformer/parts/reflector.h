/* SPDX-License-Identifier: Apache-2.0 */
/* The reflector: keeps a target (a delta queue, a store, anything) in step with a source. It lists,
 * then watches, and does whatever it takes to go on: resumes, waits, lists again. It stops only
 * when it is told to. docs/reflector.md tells of its states. */
#ifndef KINFORMER_PARTS_REFLECTOR_H
#define KINFORMER_PARTS_REFLECTOR_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/health.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/source.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

typedef struct ki_reflector ki_reflector;

/** Where the objects go. Each function returns 0 or more, or an error, and is called inside
 *  ki_engine_run() only. After an error that may pass (ki_error_is_retriable(), such as -ENOMEM)
 * the same comes again later; any other is reported to the engine and counts as done with. */
typedef struct ki_reflector_target {
    int (*add)(const ki_object *object, void *user, ki_error *error);
    int (*update)(const ki_object *object, void *user, ki_error *error);
    /** `object` is the final state. */
    int (*remove)(const ki_object *object, void *user, ki_error *error);
    /** The same where only the key could be read. NULL: everything is listed again instead. */
    int (*remove_key)(const char *key, void *user, ki_error *error);
    /** These are all objects there are. Any error means that the list is asked for again. */
    int (*replace)(const ki_replacement *list, void *user, ki_error *error);
    /** The resync period is over. An error means that everything is listed again. May be NULL. */
    int (*resync)(void *user, ki_error *error);
    /** All that happened up to this resource version was told. May be NULL. */
    int (*bookmark)(const char *resource_version, void *user, ki_error *error);
    /** What there is under a key, as a reference, or NULL. With this, objects that a later list
     *  brings unchanged are taken from here, so that such a list takes hardly any memory. May be
     *  NULL. */
    ki_object *(*find)(const char *key, void *user);
    void *user;
    void (*destroy)(void *user); /* may be NULL; runs once, when the reflector is freed */
    /** Gives what to keep of an object in *ret_object, as a ki_transform does; called once for each
     *  object that a list or an event brings, as soon as it is decoded, so that lists are gathered
     *  transformed. The other functions get what this one gave. NULL: objects stay as they are. */
    int (*transform)(const ki_object *object, ki_object **ret_object, void *user);
} ki_reflector_target;

/** Targets for a queue and for a store. A store on its own has no use for resyncs, and keeps what
 *  could not be read as it was.
 *  Owner:  the target holds a reference, which `destroy` gives back: the reflector's, once one was
 *          made with it, else the caller's.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_reflector_target ki_reflector_target_queue(ki_queue *queue);
KI_API ki_reflector_target ki_reflector_target_store(ki_store *store);

typedef struct ki_reflector_options {
    size_t size;                       /* see KI_OPTIONS_INIT */
    ki_engine *engine;                 /* required; kept by reference */
    const ki_source *source;           /* required; copied, and the reflector's on success */
    const ki_reflector_target *target; /* required; the same */
    const char *name;                  /* in logs and reports; NULL: "reflector" */
    const char *description;           /* of what is reflected; NULL: the expected kind */
    const char *label_selector;        /* NULL: every object */
    const char *field_selector;        /* NULL: every object */

    /** Events of another kind are left out and reported. NULL: any. Lists are not checked here. */
    const char *expected_kind;
    const char *expected_api_version;

    uint64_t resync_period_ns; /* 0: never */
    /** Asked when the resync period is over. NULL: yes. */
    bool (*should_resync)(void *user);

    /** Called for every failed attempt to list or watch, also for those that the source repeats by
     *  itself. Not for a watch that the server had accepted and that is resumed at once, nor for a
     *  fallback (from a streaming list to a list, or to a list without a resource version): these
     *  are not failures. Failures are logged whether or not there is a callback: see
     *  docs/reflector.md. May be NULL. */
    void (*on_watch_error)(ki_reflector *reflector, const ki_watch_failure *failure, void *user);
    /** Nothing of the source or the target is called after this. May be NULL. */
    void (*on_stopped)(ki_reflector *reflector, void *user);
    void *user;

    bool no_streaming;      /* list in pages even where the source could stream */
    bool allow_stale_start; /* the first list may be of any age: cheaper, but maybe in the past */
    uint32_t page_size;     /* 0: 500, and everything at once where the server has it cached */
    size_t max_objects;     /* of one list; 0: 2^30 */

    /* Times. 0 stands for the default, UINT64_MAX for never. */
    uint64_t min_watch_timeout_ns; /* the server is asked to end a watch after this or up to twice
                                      as long; 5 min, and less than that counts as 5 min */
    uint64_t initial_idle_ns;    /* a stream of initial events that brings none for so long; 15 s */
    uint64_t initial_max_ns;     /* the same that does not end for so long; 5 min */
    uint64_t no_streaming_ns;    /* after either, lists in pages for so long; 10 min */
    uint64_t silence_ns;         /* not a byte for so long: begun anew; 3 min */
    uint64_t backoff_initial_ns; /* 800 ms; then doubled each time */
    uint64_t backoff_max_ns;     /* 30 s; each wait is up to twice as long by chance */
    uint64_t backoff_reset_ns;   /* without a wait for so long, the next is short again; 2 min */
    uint64_t internal_error_retry_ns; /* a watch that ends with a 500 is resumed for so long before
                                         everything is listed again; 0: not at all */
} ki_reflector_options;

/** A reflector, not started.
 *  Owner:  release with ki_reflector_unref(). On success the source and the target are its own.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a member is missing;  KI_ERR_LIMIT  a text is too long;  -ENOMEM, -E2BIG, or
 *          what making a lock gave.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_reflector_new(const ki_reflector_options *options,
                                         ki_reflector **ret_reflector, ki_error *error);

/** References. One that was started lives until it has stopped, whoever lets go of it.
 *  ki_reflector_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_reflector *ki_reflector_ref(ki_reflector *reflector);
KI_API ki_reflector *ki_reflector_unref(ki_reflector *reflector);

/** Has it begin at the next ki_engine_run().
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it was started before;  KI_ERR_STOPPED.  Since: 0.1 */
KI_API int ki_reflector_start(ki_reflector *reflector);

/** Ends it for good. From inside a callback of its own, nothing but on_stopped is called after that
 *  callback returns; from elsewhere, what is being called at this moment may still return. It is
 *  over when on_stopped was called, in ki_engine_run(). Stopping twice is fine.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_reflector_stop(ki_reflector *reflector);

/** Asks the source to hold back, or to go on: for a target that has enough to do. Some events may
 *  still come. A pause does not count as silence.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_reflector_pause(ki_reflector *reflector, bool paused);

/** What it was made with.  Owner: the reflector.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reflector_name(const ki_reflector *reflector);
KI_API const char *ki_reflector_description(const ki_reflector *reflector);

/** Copies the resource version up to which the target knows all, "" before the first list, to
 *  `text` of `size` bytes. Returns its length.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  it does not fit, NUL included; 1025 bytes are always enough.  Since: 0.1
 */
KI_API KI_NODISCARD int ki_reflector_last_sync_resource_version(ki_reflector *reflector, char *text,
                                                                size_t size);

/** Fills `health`, whose `size` must be set, and `reason` (may be NULL) with the last failure; its
 *  code is 0 if there is none.
 *  Thread: any.  Blocks: no.  Errors: -EINVAL  the size.  Since: 0.1 */
KI_API int ki_reflector_get_health(ki_reflector *reflector, ki_health *health,
                                   ki_error *ret_reason);

KI_END_DECLS

#endif

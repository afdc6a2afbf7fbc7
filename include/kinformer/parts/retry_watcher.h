/* SPDX-License-Identifier: Apache-2.0 */
/* The retry watcher: a watch from a known resource version that goes on over broken connections and
 * failing servers, and gives plain events. It never lists, so it misses nothing and repeats
 * nothing; when it cannot go on without missing something it says so and ends. */
#ifndef KINFORMER_PARTS_RETRY_WATCHER_H
#define KINFORMER_PARTS_RETRY_WATCHER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>

KI_BEGIN_DECLS

typedef struct ki_retry_watcher ki_retry_watcher;

typedef struct ki_retry_watcher_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    ki_engine *engine;       /* required; kept by reference */
    const ki_source *source; /* required; borrowed, and never destroyed by the watcher */
    /** Selectors, timeout, and the resource version to begin after, which is required and not "0".
     * Copied. */
    const ki_list_options *list;

    /** Required. An event: ADDED, MODIFIED or DELETED with its object; or ERROR, with `error` and
     * the Status if there is one, after which only on_end comes. */
    void (*on_event)(ki_retry_watcher *watcher, ki_watch_event_type type, const ki_object *object,
                     const ki_error *error, void *user);
    /** The last call, also after ki_retry_watcher_stop(). May be NULL. */
    void (*on_end)(ki_retry_watcher *watcher, void *user);
    void *user;
} ki_retry_watcher_options;

/** Begins to watch. It is begun anew at most once a second, or as long after as the server asks
 * for, whenever the watch ends or fails, with three exceptions: 410, 401 and 403 end it, and so
 * does an event without a resource version. Events that cannot be read are reported to the engine.
 *  Owner:  release with ki_retry_watcher_unref(). Until on_end it lives by itself.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a member is missing;  KI_ERR_INVALID  the resource version is "" or "0";
 *          KI_ERR_LIMIT  a text is too long;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_retry_watcher_start(const ki_retry_watcher_options *options,
                                               ki_retry_watcher **ret_watcher, ki_error *error);

/** Ends it: no event is given any more, unless it is being given at this moment on another thread.
 *  Stopping twice is fine.
 *  Thread: any, also from inside a callback.  Blocks: no.  Since: 0.1 */
KI_API void ki_retry_watcher_stop(ki_retry_watcher *watcher);

/** References. ki_retry_watcher_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_retry_watcher *ki_retry_watcher_ref(ki_retry_watcher *watcher);
KI_API ki_retry_watcher *ki_retry_watcher_unref(ki_retry_watcher *watcher);

KI_END_DECLS

#endif

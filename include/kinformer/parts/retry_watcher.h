/* SPDX-License-Identifier: Apache-2.0 */
/* The retry watcher: a watch from a known resourceVersion that survives broken connections and
 * server failures, and delivers plain events. It never lists, so it neither misses nor repeats an
 * event; if it cannot continue without missing one, it reports that and ends. */
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
    const ki_source *source; /* required; borrowed, never destroyed by the watcher */
    /** Selectors, timeout, and the resourceVersion to start after, which is required and must not
     *  be "0". Copied. */
    const ki_list_options *list;

    /** Required. Receives each event: ADDED, MODIFIED or DELETED with its object; or ERROR, with
     *  `error` and the Status if there is one, after which only on_end is called. */
    void (*on_event)(ki_retry_watcher *watcher, ki_watch_event_type type, const ki_object *object,
                     const ki_error *error, void *user);
    /** The last callback, also after ki_retry_watcher_stop(). May be NULL. */
    void (*on_end)(ki_retry_watcher *watcher, void *user);
    void *user;
} ki_retry_watcher_options;

/** Starts a watch that is retried. Whenever the watch ends or fails, it is restarted, at most once
 *  per second and not before the delay that the server requested, with these exceptions: 410, 401
 *  and 403 end it, and so does an event without a resourceVersion. Undecodable events are skipped
 *  and reported to the engine.
 *  Owner:  caller; release with ki_retry_watcher_unref(). It stays alive until on_end.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a required member is missing;  KI_ERR_INVALID  resourceVersion is "" or "0";
 *          KI_ERR_LIMIT  a string is too long;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_retry_watcher_start(const ki_retry_watcher_options *options,
                                               ki_retry_watcher **ret_watcher, ki_error *error);

/** Stops a watcher. No event is delivered any more, except one that is being delivered on another
 *  thread at this moment. Stopping twice is allowed.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_retry_watcher_stop(ki_retry_watcher *watcher);

/** Takes and releases references. ki_retry_watcher_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_retry_watcher *ki_retry_watcher_ref(ki_retry_watcher *watcher);
KI_API ki_retry_watcher *ki_retry_watcher_unref(ki_retry_watcher *watcher);

KI_AUTO_DEFINE(ki_retry_watcher, ki_retry_watcher_unref)

KI_END_DECLS

#endif

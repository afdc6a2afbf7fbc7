/* SPDX-License-Identifier: Apache-2.0 */
/* The pager: lists in pages, so that neither side ever holds more than one page of bytes. It
 * requests page after page and either delivers the objects one by one or collects them.
 *
 * Only the request for the first page has a resourceVersion; the others use the continue token of
 * the previous page. All pages of a list show the same resourceVersion. If that becomes impossible,
 * because the token has expired (410) or the server responds for another resourceVersion, the pager
 * starts again, once only, and requests the whole list without pages.
 *
 * The list must make progress: a continue token that repeats (KI_ERR_INVALID), or 100 consecutive
 * pages without a new key (KI_ERR_LIMIT), end it. */
#ifndef KINFORMER_PARTS_PAGER_H
#define KINFORMER_PARTS_PAGER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/source.h>

KI_BEGIN_DECLS

typedef struct ki_pager ki_pager;

#define KI_PAGER_LIMIT 500 /* default number of objects per page */

/** The result of a list. Valid during the callback only. */
typedef struct ki_pager_result {
    size_t size;                /* of the struct in the library */
    const ki_replacement *list; /* NULL on failure; without objects if `on_object` received them */
    const ki_error *error;      /* NULL on success */
    const ki_object *status;    /* the Status that `error` was made from, or NULL */
    uint32_t pages;             /* received, including those before a restart */
} ki_pager_result;

typedef struct ki_pager_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    ki_engine *engine;       /* required; kept by reference */
    const ki_source *source; /* required; borrowed, and never destroyed by the pager */
    /** Selectors, resourceVersion and match, a continue token to start from; `limit` is the page
     *  size (0: KI_PAGER_LIMIT). Copied; NULL: everything. */
    const ki_list_options *list;

    /** Receives each object as it arrives. The pager then never restarts a list, because delivered
     *  objects cannot be taken back: the list ends with the error instead. NULL: objects are
     *  collected for on_end. */
    void (*on_object)(ki_pager *pager, const ki_object *object, void *user);
    /** Required. The last callback; never called from inside ki_pager_start(). */
    void (*on_end)(ki_pager *pager, const ki_pager_result *result, void *user);
    void *user;
    bool no_full_list;  /* do not restart a collected list either */
    size_t max_objects; /* limit for collected objects; 0: 2^30 */
} ki_pager_options;

/** Starts a list. Undecodable objects are skipped and reported to the engine.
 *  Owner:  caller; release with ki_pager_unref(). It stays alive until on_end or ki_pager_cancel().
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a required member is missing;  KI_ERR_LIMIT  a string is too long;
 *          -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_pager_start(const ki_pager_options *options, ki_pager **ret_pager,
                                       ki_error *error);

/** Cancels a list. No callback is called any more, except one that is running on another thread at
 *  this moment.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_pager_cancel(ki_pager *pager);

/** Pauses or resumes the delivery of objects. After pausing, some may still arrive.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_pager_pause(ki_pager *pager, bool paused);

/** Takes and releases references. ki_pager_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_pager *ki_pager_ref(ki_pager *pager);
KI_API ki_pager *ki_pager_unref(ki_pager *pager);

KI_AUTO_DEFINE(ki_pager, ki_pager_unref)

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The pager: lists in pages, so that neither side ever holds more than one page of bytes. It asks
 * for page after page and either gives the objects one by one or gathers them.
 *
 * Only the first page is asked for with a resource version; the others go on from where the one
 * before ended. All pages of a list show one moment. If that is no longer possible, because the
 * server has forgotten the moment (410) or answers for another one, the pager starts again and asks
 * for everything at once; that can happen one time only.
 *
 * Progress is a key that no page had before: a continue token that repeats (KI_ERR_INVALID), or 100
 * pages in a row without a new key (KI_ERR_LIMIT), end the list. */
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

#define KI_PAGER_LIMIT 500 /* objects of a page if nothing else is asked for */

/** How a list ended. Valid during the call only. */
typedef struct ki_pager_result {
    const ki_replacement *list; /* NULL on failure; without objects if `on_object` took them */
    const ki_error *error;      /* NULL on success */
    const ki_object *status;    /* the Status that `error` was made of, or NULL */
    uint32_t pages;             /* received, those before a restart included */
} ki_pager_result;

typedef struct ki_pager_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    ki_engine *engine;       /* required; kept by reference */
    const ki_source *source; /* required; borrowed, and never destroyed by the pager */
    /** Selectors, resource version and match, a token to go on from; `limit` is the size of a page
     * (0: KI_PAGER_LIMIT). Copied; NULL: everything. */
    const ki_list_options *list;

    /** Takes each object as it comes. Then the list does not start again on its own: it ends with
     * the error, for what was taken cannot be taken back. NULL: they are gathered for on_end. */
    void (*on_object)(ki_pager *pager, const ki_object *object, void *user);
    /** Required. The last call; never from inside ki_pager_start(). */
    void (*on_end)(ki_pager *pager, const ki_pager_result *result, void *user);
    void *user;
    bool no_full_list;  /* also a list that is gathered does not start again */
    size_t max_objects; /* that are gathered; 0: 2^30 */
} ki_pager_options;

/** Begins to list. Objects that cannot be read are reported to the engine, and the rest goes on.
 *  Owner:  release with ki_pager_unref(). Until on_end or ki_pager_cancel() it lives by itself.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  a member is missing;  KI_ERR_LIMIT  a text is too long;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_pager_start(const ki_pager_options *options, ki_pager **ret_pager,
                                       ki_error *error);

/** Ends it: nothing is called any more, unless it is being called at this moment on another thread.
 *  Thread: any, also from inside a callback.  Blocks: no.  Since: 0.1 */
KI_API void ki_pager_cancel(ki_pager *pager);

/** Stops taking objects, or goes on; some may still come.
 *  Thread: any, also from inside a callback.  Blocks: no.  Since: 0.1 */
KI_API void ki_pager_pause(ki_pager *pager, bool paused);

/** References. ki_pager_unref() always returns NULL; NULL is fine for both.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_pager *ki_pager_ref(ki_pager *pager);
KI_API ki_pager *ki_pager_unref(ki_pager *pager);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A paginated list from a ki_source, by the rules of paging.h; for the pager and the reflector. */
#ifndef KI_WIRE_PAGES_H
#define KI_WIRE_PAGES_H

#include <kinformer/parts/source.h>

#include "wire/paging.h"

/** Callbacks. Any of them may call ki__pages_cancel(). */
typedef struct ki__pages_sink {
    void (*on_object)(const ki_object *object, void *user);
    void (*on_skipped)(const char *key, const ki_error *error, void *user);
    void (*on_alive)(size_t bytes, void *user);
    /** Like that of ki_source_sink; may be NULL. */
    void (*on_retry)(const ki_error *error, const ki_object *status, uint64_t delay_ms, void *user);
    /** The list restarts: drop the objects received so far. */
    void (*on_restart)(void *user);
    /** Last callback. `resource_version` is that of the first page, NULL on failure. */
    void (*on_end)(const char *resource_version, const ki_error *error, const ki_object *status,
                   void *user);
} ki__pages_sink;

typedef struct ki__pages {
    const ki_source *source;
    const ki__pages_sink *sink;
    void *user;
    bool paused;
    bool active; /* begun, and neither ended nor cancelled */
    void *call;  /* NULL between pages */
    ki__paging paging;
} ki__pages;

/** Allocates nothing. `source`, `sink` and `user` are borrowed. */
void ki__pages_init(ki__pages *pages, const ki_source *source, const ki__pages_sink *sink,
                    void *user, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__pages_done(ki__pages *pages);

/** Begins with `options`, whose strings must live until the end. An immediate failure is returned
 *  without a callback. */
int ki__pages_begin(ki__pages *pages, const ki_list_options *options, bool may_restart,
                    ki_error *error);
/** No effect if there is nothing to cancel. */
void ki__pages_cancel(ki__pages *pages);
void ki__pages_pause(ki__pages *pages, bool paused);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A list of a ki_source, page after page by the rules of paging.h: what the pager and the reflector
 * share. */
#ifndef KI_WIRE_PAGES_H
#define KI_WIRE_PAGES_H

#include <kinformer/parts/source.h>

#include "wire/paging.h"

/** Callbacks. From inside any of them ki__pages_cancel() may be called. */
typedef struct ki__pages_sink {
    void (*on_object)(const ki_object *object, void *user);
    void (*on_skipped)(const char *key, const ki_error *error, void *user);
    void (*on_alive)(size_t bytes, void *user);
    /** As that of ki_source_sink; may be NULL. */
    void (*on_retry)(const ki_error *error, const ki_object *status, uint64_t delay_ns, void *user);
    /** The list starts again: the objects so far do not count. */
    void (*on_restart)(void *user);
    /** The last call. `resource_version` is that of the first page, NULL on failure. */
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

/** Nothing is allocated. `source`, `sink` and `user` are borrowed. */
void ki__pages_init(ki__pages *pages, const ki_source *source, const ki__pages_sink *sink,
                    void *user, const ki_alloc *alloc, ki__hash_key hash_key);
void ki__pages_done(ki__pages *pages);

/** Begins with `options`, whose text must live until the end. A failure that is known at once is
 *  returned, and nothing is called. */
int ki__pages_begin(ki__pages *pages, const ki_list_options *options, bool may_restart,
                    ki_error *error);
/** Fine also when there is nothing to cancel. */
void ki__pages_cancel(ki__pages *pages);
void ki__pages_pause(ki__pages *pages, bool paused);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of objects: those of a walk over a store (store.h), or of a response (request.h), kept.
 * Nothing in a list changes or goes away until it is freed; one of a walk holds its snapshot. To
 * list keys, read ki_object_key() of its objects.
 * Thread: any; one-at-a-time while it is sorted or freed.  Blocks: no.  Since: 0.1 */
#ifndef KINFORMER_LIST_H
#define KINFORMER_LIST_H

#include <stddef.h>

#include <kinformer/defs.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_list ki_list;

/** Releases a list. Always returns NULL; NULL is fine. */
KI_API ki_list *ki_list_unref(ki_list *list);
/** The number of objects. */
KI_API size_t ki_list_count(const ki_list *list);
/** Object number `position`, from 0; NULL after the last. Borrowed from the list. */
KI_API const ki_object *ki_list_at(const ki_list *list, size_t position);
/** Sorts by key. */
KI_API void ki_list_sort(ki_list *list);

/** What to list or watch. Text is borrowed for the time of the call; NULL is the same as "". */
typedef struct ki_list_options {
    size_t size; /* see KI_OPTIONS_INIT */
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;
    const char *resource_version_match; /* "NotOlderThan", "Exact" or "" */
    const char *continue_token;
    uint32_t limit;           /* 0: none */
    uint32_t timeout_seconds; /* of a watch; 0: the server's own */
    bool allow_bookmarks;
    bool send_initial_events;
} ki_list_options;

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of objects, from a store (store.h) or a response (request.h). The objects in a list do not
 * change and remain valid until it is freed; a list from a store holds its snapshot. To list keys,
 * read ki_object_key() of its objects.
 * Thread: any; one-at-a-time while it is sorted or freed.  Blocks: no.  Since: 0.1 */
#ifndef KINFORMER_LIST_H
#define KINFORMER_LIST_H

#include <stddef.h>

#include <kinformer/defs.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_list ki_list;

/** Frees a list. Always returns NULL; accepts NULL. */
KI_API ki_list *ki_list_unref(ki_list *list);
/** Returns the number of objects in a list; 0 for NULL. */
KI_API size_t ki_list_count(const ki_list *list);
/** Returns object number `position`, from 0; NULL after the last. Borrowed from the list. */
KI_API const ki_object *ki_list_at(const ki_list *list, size_t position);
/** Iterates over a list: KI_LIST_FOR_EACH (pod, list) { printf("%s\n", ki_object_key(pod)); }.
 *  `break` and `continue` work as usual. `list` may be NULL, and is evaluated for each object. */
#define KI_LIST_FOR_EACH(object, list)                                                     \
    for (size_t object##_at = 0, object##_next = 1;                                        \
         object##_next != 0 && object##_at < ki_list_count(list); object##_at++)           \
        for (const ki_object *object = (object##_next = 0, ki_list_at(list, object##_at)); \
             object != NULL; object = NULL, object##_next = 1)
/** Sorts a list by key. */
KI_API void ki_list_sort(ki_list *list);

/** Options of a list or a watch. Strings are borrowed for the duration of the call; NULL is the
 *  same as "". */
typedef struct ki_list_options {
    size_t size; /* see KI_OPTIONS_INIT */
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;
    const char *resource_version_match; /* "NotOlderThan", "Exact" or "" */
    const char *continue_token;
    uint32_t limit;      /* 0: none */
    uint32_t timeout_ms; /* of a watch, rounded up to seconds; 0: the server's default */
    bool allow_bookmarks;
    bool send_initial_events;
    /** Which fields of the objects are needed (projection.h); NULL: all. For sources: one that
     *  decodes objects should apply it, as ki_object_options do; what it does not project, the
     *  reflector projects. Must be valid until the call has ended. Requests refuse it. */
    const ki_projection *projection;
    const char *shard_selector; /* see shard.h */
} ki_list_options;

KI_AUTO_DEFINE(ki_list, ki_list_unref)

KI_END_DECLS

#endif

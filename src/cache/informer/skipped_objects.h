/* SPDX-License-Identifier: Apache-2.0 */
/* Skipped objects, kept until the batch is committed: a batch that is retried must not report them
 * twice. */
#ifndef KI_CACHE_INFORMER_SKIPPED_OBJECTS_H
#define KI_CACHE_INFORMER_SKIPPED_OBJECTS_H

#include <kinformer/alloc.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

typedef struct ki__skipped_object ki__skipped_object;

/** Zeroed: empty. */
typedef struct ki__skipped_objects {
    ki__skipped_object *first; /* in order of arrival */
    ki__skipped_object *last;
} ki__skipped_objects;

/** Copies both. 0 or -ENOMEM. */
int ki__skipped_objects_add(ki__skipped_objects *skipped, const ki_alloc *alloc, ki_str key,
                            const ki_error *error);

/** Removes all, and reports each if `hook` is not NULL. */
void ki__skipped_objects_end(ki__skipped_objects *skipped, const ki_alloc *alloc,
                             const ki_error_hook *hook);

#endif

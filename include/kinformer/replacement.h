/* SPDX-License-Identifier: Apache-2.0 */
/* A list, as it is handed over to whoever keeps its objects. */
#ifndef KINFORMER_REPLACEMENT_H
#define KINFORMER_REPLACEMENT_H

#include <kinformer/defs.h>
#include <kinformer/object.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/** A list of all objects, at a resource version. */
typedef struct ki_replacement {
    const ki_object *const *objects;
    size_t object_count;
    /** Keys of objects that are there but could not be read: nothing is known of them, and so they
     * stay as they were. */
    const ki_str *unread;
    size_t unread_count;
    const char *resource_version; /* NULL: none */
} ki_replacement;

KI_END_DECLS

#endif

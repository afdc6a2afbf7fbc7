/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of objects need how many bytes: what to name in `keep` and `drop` of informers
 * (projection.h). `kinformer top --advise` and the page of the monitor server show it.
 *
 * Bytes are those of the encoding in which objects were received, names, tags and punctuation
 * included. Paths are those of path.h, with [*] for all elements of a list, at most 16 steps deep.
 * The content of managedFields[*].fieldsV1 counts as one field. Of a map with very many different
 * members, or of objects with very many different fields, later ones count as part of what contains
 * them: up to 128 members of a map, and 8,192 fields in all, have a path. */
#ifndef KINFORMER_FIELD_SIZES_H
#define KINFORMER_FIELD_SIZES_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

typedef struct ki_field_sizes ki_field_sizes;

/** The bytes of one field of all objects. Later versions may append members; `size` is the number
 *  of available bytes. */
typedef struct ki_field_size {
    size_t size;
    const char *path; /* such as ".spec.containers[*].env"; "" for the object itself */
    uint64_t bytes;
    uint64_t values; /* number of such fields; of list elements, their number */
    bool rest; /* only what is not in fields of their own below it, such as ".spec.volumes[*]" */
} ki_field_size;

/** Creates an empty sum. `alloc` may be NULL.
 *  Owner:  caller; release with ki_field_sizes_unref().
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_sizes_new(const ki_alloc *alloc, ki_field_sizes **ret_sizes,
                                           ki_error *error);

/** Releases it. Always returns NULL; accepts NULL.  Thread: one at a time.  Since: 0.1 */
KI_API ki_field_sizes *ki_field_sizes_unref(ki_field_sizes *sizes);

/** Adds the fields of an object. A packed object (storage.h) is decompressed for the call.
 *  Thread: one at a time for each sum.  Blocks: no.
 *  Errors: -ENOMEM;  KI_ERR_DAMAGED  a packed object was overwritten.  The sum is unchanged then,
 *          or has a part of the object.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_field_sizes_add(ki_field_sizes *sizes, const ki_object *object,
                                           ki_error *error);

/** Returns the bytes of all objects that were added.  Thread: one at a time.  Since: 0.1 */
KI_API uint64_t ki_field_sizes_total(const ki_field_sizes *sizes);

/** Calls `visit` for fields of at least `min_bytes`, largest first. Each byte is counted once, so
 *  that the sum is ki_field_sizes_total(): fields below `min_bytes` are counted in the field that
 *  contains them, at last in the object itself. What `field` points to is valid during the call.
 *  Thread: one at a time.  Blocks: no.  Errors: -ENOMEM, before the first call.  Since: 0.1 */
KI_API KI_NODISCARD int ki_field_sizes_visit(const ki_field_sizes *sizes, uint64_t min_bytes,
                                             void (*visit)(const ki_field_size *field, void *user),
                                             void *user);

KI_AUTO_DEFINE(ki_field_sizes, ki_field_sizes_unref)

KI_END_DECLS

#endif

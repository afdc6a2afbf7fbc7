/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two states of an object: as paths with both values, or as a merge patch. */
#ifndef KINFORMER_DIFF_H
#define KINFORMER_DIFF_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef enum ki_diff_type {
    KI_DIFF_ADDED,
    KI_DIFF_REMOVED,
    KI_DIFF_CHANGED,
    KI_DIFF_MAX
} ki_diff_type;

/** One difference. Programs only read it where ki_diff_at() returns it: it may grow. */
typedef struct ki_diff_change {
    ki_diff_type type;
    const char *path; /* such as spec.containers[name=web].image or metadata.labels['a.b/c'] */
    ki_value before;  /* of KI_TYPE_NONE if it was added */
    ki_value after;   /* of KI_TYPE_NONE if it was removed */
} ki_diff_change;

typedef struct ki_diff_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the diff */
    uint32_t max_changes;    /* 0: 1,000; at most 1,000,000 */
    uint32_t max_depth;      /* values below are reported as a whole; 0: 64; at most 1,024 */
    const char *const *skip; /* paths to leave out, spelt as in ki_diff_change, with all below */
    size_t skip_count;
} ki_diff_options;

typedef struct ki_diff ki_diff;

/** Compares two objects, of either encoding each. What is different inside of maps is reported
 *  field by field, and so it is inside of lists of maps. The elements of such a list are matched by
 *  the first of `name`, `type`, `key`, `uid` and `ip` that is a string in each element of both
 * lists and different in all elements of one list; then their order does not matter. Elements of
 * other lists of maps are matched by index. Other lists are compared as a whole. Numbers that are
 * equal and strings that are equal once decoded are the same, however they are spelt. Changes come
 * in the order of `after`; those that were removed follow at the end of their map or list.
 *
 *  Protobuf fields that the library has no schema for are not compared (ki_object_is_complete()).
 *
 *  Owner:  *ret_diff is the caller's; release with ki_diff_unref(). It keeps both objects.
 *  Thread: any.  Blocks: no.
 *  Errors: -ENOMEM;  -EINVAL, -E2BIG  the options.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_diff(const ki_object *before, const ki_object *after,
                                       const ki_diff_options *options, ki_diff **ret_diff,
                                       ki_error *error);

/** Releases a diff. Always returns NULL; NULL is fine.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_diff *ki_diff_unref(ki_diff *diff);

/** The number of changes; 0 for NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API size_t ki_diff_count(const ki_diff *diff);

/** One of them, from 0; NULL if there are not so many.
 *  Owner: the diff's, values and text as well.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_diff_change *ki_diff_at(const ki_diff *diff, size_t index);

/** Whether these are all: false if there are more than max_changes, or their paths take more than
 *  8 MiB.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_diff_is_complete(const ki_diff *diff);

/** Appends the smallest merge patch (RFC 7386) that turns `before` into `after`, for
 *  ki_client_patch() or ki_object_merge(). Lists are replaced as a whole. A merge patch cannot set
 *  null: members that are null count as absent, as on API servers. Returns 1, or 0 if nothing
 *  differs: then the patch is {}. On failure `out` is as it was.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NO_SCHEMA  one is protobuf and not complete (ki_object_is_complete());
 *          KI_ERR_LIMIT or -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_merge_patch(const ki_object *before, const ki_object *after,
                                              ki_buf *out, ki_error *error);

KI_END_DECLS

#endif

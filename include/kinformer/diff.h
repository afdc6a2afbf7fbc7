/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two states of an object: as paths with both values, or as a merge patch. */
#ifndef KINFORMER_DIFF_H
#define KINFORMER_DIFF_H

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

/** One difference. Read it only through the pointer from ki_diff_at(): the struct may grow. */
typedef struct ki_diff_change {
    size_t size; /* of the struct in the library */
    ki_diff_type type;
    const char *path; /* such as spec.containers[name=web].image or metadata.labels['a.b/c'] */
    ki_value before;  /* KI_TYPE_NONE if the value was added */
    ki_value after;   /* KI_TYPE_NONE if the value was removed */
} ki_diff_change;

typedef struct ki_diff_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive the diff */
    uint32_t max_changes;  /* 0: 1,000; at most 1,000,000 */
    uint32_t max_depth;    /* deeper values are reported as a whole; 0: 64; at most 1,024 */
    /** Paths to omit, with everything below, spelled as in ki_diff_change. */
    const char *const *skip;
    size_t skip_count;
} ki_diff_options;

typedef struct ki_diff ki_diff;

/** Compares two objects, each in either encoding. Differences inside maps are reported field by
 *  field, and so are those inside lists of maps. The elements of such a list are matched by the
 *  first of `name`, `type`, `key`, `uid` and `ip` that is a string in each element of both lists
 *  and unique within each list; then their order does not matter. Elements of other lists of maps
 *  are matched by index. All other lists are compared as a whole. Equal numbers, and strings that
 *  are equal when decoded, do not differ, however they are spelled. Changes are in the order of
 *  `after`; removed values follow at the end of their map or list.
 *
 *  Protobuf fields that the library has no schema for are not compared (ki_object_is_complete()).
 *
 *  Owner:  caller; release *ret_diff with ki_diff_unref(). It keeps references to both objects.
 *  Thread: any.  Blocks: no.
 *  Errors: -ENOMEM;  -EINVAL, -E2BIG  the options.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_diff(const ki_object *before, const ki_object *after,
                                       const ki_diff_options *options, ki_diff **ret_diff,
                                       ki_error *error);

/** Frees a diff. Always returns NULL; accepts NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_diff *ki_diff_unref(ki_diff *diff);

/** Returns the number of changes; 0 for NULL.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API size_t ki_diff_count(const ki_diff *diff);

/** Returns change number `index`, from 0; NULL after the last.
 *  Owner: the diff, including values and text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_diff_change *ki_diff_at(const ki_diff *diff, size_t index);

/** Returns whether the diff has all changes: false if there are more than max_changes, or their
 *  paths take more than 8 MiB.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_diff_is_complete(const ki_diff *diff);

/** Appends the smallest merge patch (RFC 7386) that turns `before` into `after`, for
 *  ki_client_patch() or ki_object_merge(). Lists are replaced as a whole. A merge patch cannot set
 *  null: members that are null count as absent, as on API servers. Returns 1, or 0 if nothing
 *  differs: then the patch is {}. On failure `out` is unchanged.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NO_SCHEMA  an object is incomplete protobuf (ki_object_is_complete());
 *          KI_ERR_LIMIT or -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_merge_patch(const ki_object *before, const ki_object *after,
                                              ki_buf *out, ki_error *error);

KI_AUTO_DEFINE(ki_diff, ki_diff_unref)

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Field paths in kubectl's JSONPath spelling, compiled once and read from any object:
 *   .spec.nodeName   {.spec.nodeName}   $.spec.nodeName      braces and $ may be left away
 *   .metadata.labels['app.kubernetes.io/name']               or
 * .metadata.labels.app\.kubernetes\.io/name .spec.containers[0].image   [-1]   [0,2]   [1:3] [::2]
 * ['a','b'] .spec.containers[*].name   .status.*   ..image
 *   .status.conditions[?(@.type=="Ready")].status            == != < <= > >= , or [?(@.x)] for
 * "has" All functions may be called on any thread and never block. */
#ifndef KINFORMER_PATH_H
#define KINFORMER_PATH_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_path ki_path;
typedef struct ki_path_iter ki_path_iter;

/** Compiles a path. `alloc` may be NULL.
 *  Owner:  *ret_path is the caller's; release with ki_path_unref(). Immutable; shared freely.
 *  Errors: KI_ERR_SYNTAX  with the offending place in `error`;  KI_ERR_LIMIT  over 4096 bytes or 64
 *          steps;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_compile(const char *text, const ki_alloc *alloc, ki_path **ret_path,
                                        ki_error *error);
KI_API ki_path *ki_path_ref(const ki_path *path);
KI_API ki_path *ki_path_unref(const ki_path *path);

/** The text it was compiled from.  Owner: the path's.  Since: 0.1 */
KI_API const char *ki_path_text(const ki_path *path);

/** The first value at the path under `root`.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_LIMIT or -ENOMEM  only with `..`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_first(const ki_path *path, const ki_value *root,
                                      ki_value *ret_value);

/** Begins a walk over all values at the path under `root`, in the order of the document. `path` and
 *  the object must outlive it.
 *  Owner: release with ki_path_iter_free().  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_path_iter_new(const ki_path *path, const ki_value *root,
                                         ki_path_iter **ret_iter);

/** The next value: 1 with *ret_value set, 0 at the end.
 *  Errors: KI_ERR_LIMIT or -ENOMEM  the walk cannot go on.  Since: 0.1 */
KI_API int ki_path_iter_next(ki_path_iter *iter, ki_value *ret_value);
KI_API ki_path_iter *ki_path_iter_free(ki_path_iter *iter);

/* The first value at the path of an object, as a C type.
 * Errors: those of ki_path_first() and of the ki_value function of the same name.  Since: 0.1 */
KI_API KI_NODISCARD int ki_object_get(const ki_object *object, const ki_path *path,
                                      ki_value *ret_value);
KI_API KI_NODISCARD int ki_object_get_string(const ki_object *object, const ki_path *path,
                                             char *text, size_t size);
KI_API KI_NODISCARD int ki_object_get_int64(const ki_object *object, const ki_path *path,
                                            int64_t *ret_number);
KI_API KI_NODISCARD int ki_object_get_double(const ki_object *object, const ki_path *path,
                                             double *ret_number);
KI_API KI_NODISCARD int ki_object_get_bool(const ki_object *object, const ki_path *path,
                                           bool *ret_flag);
/** Whether there is anything at the path. */
KI_API bool ki_object_has(const ki_object *object, const ki_path *path);

KI_END_DECLS

#endif

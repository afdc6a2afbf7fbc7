/* SPDX-License-Identifier: Apache-2.0 */
/* Field paths in kubectl's JSONPath syntax, compiled once and evaluated on any object.
 *
 *   .spec.nodeName                    also spec.nodeName, {.spec.nodeName}, $.spec.nodeName
 *   .metadata.labels['a.b/c']         also .metadata.labels.a\.b/c
 *   .spec.containers[0].image         [-1] is the last; an index out of range has no value
 *   .spec.containers[1:3]             [from:to:step], each optional; from the end if negative;
 *                                     clipped to the list
 *   .spec.containers[*].name          the elements of a list or the members of a map; also .*
 *   .spec.containers->name            the same, as C reaches it: for KI_PATHS() of view.h
 *   .metadata['name','uid']  [0,2]    a union: one after the other, in the order written
 *   ..image   ..*   ..[0]             in the value itself and in all values below it
 *   .status.conditions[?(@.type=="Ready")].status
 *                                     the elements of a list for which the condition is true
 *   .spec.containers[name=web].image  short for [?(@.name=="web")]; the value may be in
 *                                     quotes
 *
 * A condition is either a path, [?(@.x)], which is true if the path has a value, or a comparison
 * with == != < <= > >= of a path with a literal ('text', "text", a number, true, false) or of two
 * paths. Numbers compare as numbers and strings by bytes; between different types, and for lists
 * and maps, only != is true. If a path has no value, every comparison is false, even with !=. If it
 * has several values, the comparison is true if it is true for any of them.
 *
 * Intentional differences from kubectl: A quoted name is a single name, even if it contains dots.
 * [*] also applies to maps. A path that does not fit an object is not an error; it has no value.
 * Values are returned in document order also after a union, so [*]['a','b'] returns both values of
 * one element before those of the next. Conditions may be combined with && and ||; && binds
 * tighter. Templates ("text {.path}", several {...}, range and end) are not paths.
 *
 * All functions may be called on any thread and never block; a ki_path_iter must not be used by two
 * threads at once. */
#ifndef KINFORMER_PATH_H
#define KINFORMER_PATH_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_path ki_path;
typedef struct ki_path_iter ki_path_iter;

/** Compiles a path. `alloc` may be NULL; iterations over the path allocate from it too.
 *  Owner:  caller; release *ret_path with ki_path_unref(). Immutable; may be shared freely.
 *  Errors: KI_ERR_SYNTAX  with the position in `error`;  KI_ERR_LIMIT  over 4096 bytes, or 64 steps
 *          or conditions, including those in unions and filters;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_compile(const char *text, const ki_alloc *alloc, ki_path **ret_path,
                                        ki_error *error);

/** Takes and releases references. ki_path_unref() always returns NULL; both accept NULL.
 *  Since: 0.1 */
KI_API ki_path *ki_path_ref(const ki_path *path);
KI_API ki_path *ki_path_unref(const ki_path *path);

/** Returns the text that a path was compiled from.  Owner: the path.  Since: 0.1 */
KI_API const char *ki_path_text(const ki_path *path);

/** Finds the first value at a path under `root`. Allocates nothing, unless the path has `..`, or
 *  more than eight branching steps, or a filter compares strings that are stored encoded.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_NO_SCHEMA  not found, but the path leads to protobuf fields
 *          that the library has no schema for, and the value may be among them;
 *          KI_ERR_LIMIT  as ki_path_iter_next();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_first(const ki_path *path, const ki_value *root,
                                      ki_value *ret_value);

/** Begins an iteration over all values at a path under `root`, in document order. `path` and the
 *  object must outlive it.
 *  Owner: caller; release with ki_path_iter_end().  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_path_iter_begin(const ki_path *path, const ki_value *root,
                                           ki_path_iter **ret_iter);

/** Returns the next value of an iteration: 1 with *ret_value set, 0 at the end. A value is returned
 *  once for each way in which the path leads to it.
 *  Errors: KI_ERR_NO_SCHEMA  as ki_path_first(), after an iteration without values;
 *          KI_ERR_LIMIT  the iteration has read 64 MiB plus 256 times the size of the object, which
 *          requires several `..` or unions in one path, or very deep objects;  -ENOMEM. After a
 *          failure, all further calls fail.
 *  Since:  0.1 */
KI_API int ki_path_iter_next(ki_path_iter *iter, ki_value *ret_value);

/** Ends an iteration, at any time. Always returns NULL; accepts NULL.  Since: 0.1 */
KI_API ki_path_iter *ki_path_iter_end(ki_path_iter *iter);

/* Read the first value at a path of an object, as a C type.
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
/** Returns whether an object has a value at the path. */
KI_API bool ki_object_has(const ki_object *object, const ki_path *path);

KI_AUTO_DEFINE(ki_path, ki_path_unref)
KI_AUTO_DEFINE(ki_path_iter, ki_path_iter_end)

KI_END_DECLS

#endif

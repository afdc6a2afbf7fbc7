/* SPDX-License-Identifier: Apache-2.0 */
/* Field paths in kubectl's JSONPath spelling, compiled once and read from any object.
 *
 *   .spec.nodeName                    also spec.nodeName, {.spec.nodeName}, $.spec.nodeName
 *   .metadata.labels['a.b/c']         also .metadata.labels.a\.b/c
 *   .spec.containers[0].image         [-1] is the last; one that is not there is no value
 *   .spec.containers[1:3]             [from:to:step], each may be left away; from the end when
 *                                     negative; what lies outside the list is left out
 *   .spec.containers[*].name          the elements of a list or the members of a map; so is .*
 *   .metadata['name','uid']  [0,2]    one after the other, in the order they are written
 *   ..image   ..*   ..[0]             in the value itself and in all below it, at any depth
 *   .status.conditions[?(@.type=="Ready")].status
 *                                     the elements of a list for which the condition holds
 *   .spec.containers[name=web].image  short for [?(@.name=="web")]; the value may be in
 *                                     quotes
 *
 * A condition is a path alone, [?(@.x)], which holds if it leads to anything, or a comparison with
 * == != < <= > >= of a path with a literal ('text', "text", a number, true, false) or of two paths.
 * Numbers compare as numbers and strings byte by byte; between different types, and for lists and
 * maps, nothing but != holds. A path that leads to nothing compares with nothing, not even by !=.
 * If one leads to several values, it is enough that the comparison holds for any of them.
 *
 * What differs from kubectl, on purpose: a name in quotes is one name, whatever dots it has. [*]
 * takes maps too. A path that does not fit an object is no error but leads to no value. Values come
 * in the order of the document also after a union, so [*]['a','b'] gives both of one element before
 * those of the next. Conditions may be joined with && and ||, of which && binds closer. Templates
 * ("text {.path}", several {...}, range and end) are not paths.
 *
 * All functions may be called on any thread and never block; a ki_path_iter belongs to one thread
 * at a time. */
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

/** Compiles a path. `alloc` may be NULL; walks of the path take their memory from it as well.
 *  Owner:  *ret_path is the caller's; release with ki_path_unref(). Immutable; shared freely.
 *  Errors: KI_ERR_SYNTAX  with the offending place in `error`;  KI_ERR_LIMIT  over 4096 bytes, or
 *          64 steps or conditions, those in unions and filters included;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_compile(const char *text, const ki_alloc *alloc, ki_path **ret_path,
                                        ki_error *error);

/** References. ki_path_unref() always returns NULL; NULL is fine for both.  Since: 0.1 */
KI_API ki_path *ki_path_ref(const ki_path *path);
KI_API ki_path *ki_path_unref(const ki_path *path);

/** The text it was compiled from.  Owner: the path's.  Since: 0.1 */
KI_API const char *ki_path_text(const ki_path *path);

/** The first value at the path under `root`. Allocates nothing, unless the path has `..`, or over
 *  eight steps with a choice, or a filter compares strings that are stored encoded.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_NO_SCHEMA  the same, but the path led to protobuf fields that
 *          the library has no schema for, and the value may be among them;
 *          KI_ERR_LIMIT  as ki_path_iter_next();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_path_first(const ki_path *path, const ki_value *root,
                                      ki_value *ret_value);

/** Begins a walk over all values at the path under `root`, in the order of the document. `path` and
 *  the object must outlive it.
 *  Owner: release with ki_path_iter_end().  Errors: -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_path_iter_begin(const ki_path *path, const ki_value *root,
                                           ki_path_iter **ret_iter);

/** The next value: 1 with *ret_value set, 0 at the end. A value is given once for each way that the
 *  path has to it.
 *  Errors: KI_ERR_NO_SCHEMA  as ki_path_first(), after a walk that gave nothing;
 *          KI_ERR_LIMIT  the walk has read 64 MiB and the object 256 times over, which only several
 *          `..` or unions in one path, or objects of great depth, come near;  -ENOMEM. Once failed,
 *          a walk fails for ever.
 *  Since:  0.1 */
KI_API int ki_path_iter_next(ki_path_iter *iter, ki_value *ret_value);

/** Ends a walk, at any point of it. Always returns NULL; NULL is fine.  Since: 0.1 */
KI_API ki_path_iter *ki_path_iter_end(ki_path_iter *iter);

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

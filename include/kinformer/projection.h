/* SPDX-License-Identifier: Apache-2.0 */
/* Projections: keeping only some fields of objects. The fields that are not kept are skipped while
 * objects are decoded, so that they never need memory.
 *
 *   ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
 *   options.keep = ".spec.nodeName, .status.phase, .metadata.labels['app']";
 *
 *   options.drop = KI_DROP_USUAL ", .spec.volumes";       (or: everything except these)
 *
 * Both are lists of paths, separated by commas: names (.a.b, .a['b.c/d']) and [*] or ->, every
 * element of a list or member of a map; nothing else of path.h. A path includes everything below
 * it. `keep` NULL or "" keeps everything; `drop` overrides `keep`. KI_PATHS() of view.h makes lists
 * that the compiler checks.
 *
 * Always kept: kind, apiVersion, and metadata.name, .namespace, .uid, .resourceVersion and
 * .generation. Kept unless dropped by name: metadata.creationTimestamp, .deletionTimestamp,
 * .labels and .ownerReferences. If `keep` names single labels, only those labels are kept.
 *
 * An object with a projection is partial. Reading a field that was not kept is an error,
 * KI_ERR_NOT_KEPT, never an absent field; it depends on the projection only, not on the object. A
 * kept field that the object does not have is absent, as in the full object. So:
 *   - ki_value_member(), ki_value_element() and paths (ki_object_get(), ki_path_first()) return
 *     KI_ERR_NOT_KEPT;
 *   - ki_object_at(), ki_object_labels() and similar return a value of KI_TYPE_NONE for such a
 *     field, and ki_value_string(), ki_value_int64() and similar return KI_ERR_NOT_KEPT for that
 *     value;
 *   - an iteration over a map returns the kept members, and then KI_ERR_NOT_KEPT instead of 0 if
 *     the projection does not keep all; of a list, elements are kept or dropped together;
 *   - functions that cannot fail (ki_object_label(), ki_pod_phase(), ki_value_int64_or() and
 *     similar) return their result for absent fields: call them for kept fields only.
 * A value on the way to a kept one has only what is kept of it if it is a list or a map, and is
 * kept if it is of another type.
 *
 * Partial objects are for reading: edits, updates, applies and patches of them are refused with
 * KI_ERR_NOT_KEPT, because an update from a partial object deletes the other fields on the server.
 * Get the object from the server, and edit that. */
#ifndef KINFORMER_PROJECTION_H
#define KINFORMER_PROJECTION_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

/** For `drop`: what most programs never read, about a third of the bytes of a typical object. */
#define KI_DROP_USUAL          \
    ".metadata.managedFields," \
    ".metadata.annotations['kubectl.kubernetes.io/last-applied-configuration']"

/** Compiles a projection. `keep` and `drop` may be NULL, also both: then everything is kept, and
 *  objects are not partial. `alloc` may be NULL.
 *  Owner:  caller; release *ret_projection with ki_projection_unref(). Immutable; may be shared
 *          freely. Partial objects hold a reference.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX   not a path, with its position in `error`, or a path with an index, a
 *                          filter, a slice, a union or `..`;
 *          KI_ERR_INVALID  drops a field that is always kept, or all of a path in `keep`;
 *          KI_ERR_LIMIT    over 240 paths in all, 16 steps in a path, or 4096 different places;
 *          -ENOMEM.  The message names the path.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_projection_new(const char *keep, const char *drop, const ki_alloc *alloc,
                                          ki_projection **ret_projection, ki_error *error);

/** Takes and releases references. ki_projection_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_projection *ki_projection_ref(const ki_projection *projection);
KI_API ki_projection *ki_projection_unref(const ki_projection *projection);

/** Returns whether only some fields of an object were kept. Reading any other field is
 *  KI_ERR_NOT_KEPT where functions return errors.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_object_is_partial(const ki_object *object);

/** Creates a partial object from another, in the same encoding. An object that already has this
 *  projection is returned as it is, with a reference. To create one from bytes, set `projection` of
 *  ki_object_options: that needs no full object.
 *  Owner:  caller; release *ret_object with ki_object_unref(). Allocated like `object`.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_KEPT  `object` is partial, with another projection;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_project(const ki_object *object, const ki_projection *projection,
                                          ki_object **ret_object, ki_error *error);

KI_AUTO_DEFINE(ki_projection, ki_projection_unref)

KI_END_DECLS

#endif

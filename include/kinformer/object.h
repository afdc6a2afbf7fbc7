/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes objects: immutable and reference-counted. An object is a single block of memory with
 * the original bytes and the positions of its metadata. */
#ifndef KINFORMER_OBJECT_H
#define KINFORMER_OBJECT_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_object ki_object;
typedef struct ki_projection ki_projection; /* <kinformer/projection.h> */

typedef struct ki_object_options {
    size_t size;                     /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;           /* NULL: the default; must outlive the object */
    size_t max_bytes;                /* 0: 16 MiB; maximum: 1 GiB */
    uint32_t max_depth;              /* nested maps and lists; 0: 128; maximum: 1024 */
    const char *default_kind;        /* if the bytes have none, as in items of lists; NULL: "" */
    const char *default_api_version; /* if the bytes have none; NULL: "" */
    const ki_projection *projection; /* which fields are kept; NULL: all. Of protobuf, fields that
                                        are not kept are not validated */
} ki_object_options;

/** Creates an object from JSON: validates all of it (RFC 8259), locates the metadata, and keeps a
 *  copy of the bytes. `options` may be NULL.
 *
 *  Where RFC 8259 leaves a choice: duplicate members are rejected at the top level and in metadata;
 *  elsewhere the first is used. The escape \u0000 is rejected in strings that have an accessor
 *  below, and kept elsewhere. A lone surrogate escape reads as U+FFFD. A byte order mark is
 *  rejected.
 *
 *  Owner:  caller; release *ret_object with ki_object_unref().   Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH  with offset, line and column in `error`;
 *          KI_ERR_LIMIT    more than max_bytes, an identity string of over 1024 bytes, over 512
 *                          members at the top level and in metadata together, or too many names
 *                          there with the same hash;
 *          KI_ERR_INVALID  not a map, metadata of a wrong type (null counts as absent), or a
 *                          duplicate name;  -ENOMEM;  -EINVAL, -E2BIG  the options, or `bytes` is
 *                          NULL.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_from_json(const char *bytes, size_t len,
                                            const ki_object_options *options,
                                            ki_object **ret_object, ki_error *error);

/** Takes a reference and returns `object`; accepts NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_object *ki_object_ref(const ki_object *object);

/** Releases a reference; the last one frees the object. Always returns NULL; accepts NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_object *ki_object_unref(const ki_object *object);

/* The accessors below never fail: absent fields are "", 0 or KI_TYPE_NONE. Strings are
 * NUL-terminated and valid as long as the object.  Thread: any.  Blocks: no.  Since: 0.1 */

/** Returns the key: "namespace/name", or "name" without a namespace; "" if there is no name. */
KI_API const char *ki_object_key(const ki_object *object);
/** Return metadata.name, .namespace, .uid and .resourceVersion, kind and apiVersion; "" if
 *  absent. */
KI_API const char *ki_object_name(const ki_object *object);
KI_API const char *ki_object_namespace(const ki_object *object);
KI_API const char *ki_object_uid(const ki_object *object);
KI_API const char *ki_object_resource_version(const ki_object *object);
KI_API const char *ki_object_kind(const ki_object *object);
KI_API const char *ki_object_api_version(const ki_object *object);

/** Returns metadata.generation; 0 if absent. */
KI_API int64_t ki_object_generation(const ki_object *object);

/** Returns metadata.creationTimestamp in seconds since 1970; 0 if absent or invalid. */
KI_API int64_t ki_object_creation_time(const ki_object *object);

/** Returns metadata.deletionTimestamp in seconds since 1970; 0 if absent or invalid. */
KI_API int64_t ki_object_deletion_time(const ki_object *object);

/** Returns whether an object is being deleted: it has a deletionTimestamp. */
KI_API bool ki_object_is_deleting(const ki_object *object);

/** Return maps and lists of metadata; KI_TYPE_NONE if absent or null. */
KI_API ki_value ki_object_labels(const ki_object *object);
KI_API ki_value ki_object_annotations(const ki_object *object);
KI_API ki_value ki_object_owner_references(const ki_object *object);
KI_API ki_value ki_object_finalizers(const ki_object *object);

/** Returns the value of a label as a view into the object; "" if the label does not exist. `name`
 *  is the plain name, such as "app.kubernetes.io/name", not a path. Label values consist of
 *  letters, digits and "-_.", which servers never store encoded. If an object from elsewhere has an
 *  encoded value (see ki_value_string()), the result is "". */
KI_API ki_str ki_object_label(const ki_object *object, const char *name);
/** Returns whether an object has a label. */
KI_API bool ki_object_has_label(const ki_object *object, const char *name);
/** Returns whether a label has this value when decoded; false if the label does not exist. */
KI_API bool ki_object_label_is(const ki_object *object, const char *name, const char *value);

/** Returns the value of an annotation, a string; KI_TYPE_NONE if it does not exist. It is not a
 *  view because annotations often contain JSON, which JSON objects store with escapes: see
 *  ki_value_string_or(), ki_value_copy_string() and ki_value_equals_text(). */
KI_API ki_value ki_object_annotation(const ki_object *object, const char *name);
/** Returns whether an object has an annotation. */
KI_API bool ki_object_has_annotation(const ki_object *object, const char *name);

/** Returns whether an object has a finalizer. */
KI_API bool ki_object_has_finalizer(const ki_object *object, const char *name);

/** An owner reference. Strings are views into the object; encoded or absent ones are empty. */
typedef struct ki_owner {
    size_t size; /* see KI_OPTIONS_INIT */
    ki_str api_version;
    ki_str kind;
    ki_str name;
    ki_str uid;
    bool controller;
} ki_owner;

/** Gets the owner reference that has `controller: true`.
 *  Errors: KI_ERR_NOT_FOUND. */
KI_API KI_NODISCARD int ki_object_controller(const ki_object *object, ki_owner *ret_owner);

/** Returns whether `owner` is the controller of an object, by uid. apimachinery: IsControlledBy. */
KI_API bool ki_object_is_controlled_by(const ki_object *object, const ki_object *owner);

/** Returns the whole object as a value. */
KI_API ki_value ki_object_root(const ki_object *object);

/** Appends an object as JSON.  Errors: as ki_value_write_json(). */
KI_API KI_NODISCARD int ki_object_write_json(const ki_object *object, ki_buf *out);

/* Read fields by path. ki_object_at() is ki_value_at() of the whole object; the others are the
 * functions of the same name for that value; see value.h.
 *
 *   int64_t replicas = ki_object_int64_or(deployment, "spec.replicas", 1);
 *   bool running = ki_object_equals(pod, "status.phase", "Running");
 *   char node[64];
 *   puts(ki_object_string_or(pod, "spec.nodeName", "none", node, sizeof(node)));
 *
 * Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_value ki_object_at(const ki_object *object, const char *path);
KI_API int64_t ki_object_int64_or(const ki_object *object, const char *path, int64_t otherwise);
KI_API double ki_object_double_or(const ki_object *object, const char *path, double otherwise);
KI_API bool ki_object_bool_or(const ki_object *object, const char *path, bool otherwise);
KI_API const char *ki_object_string_or(const ki_object *object, const char *path,
                                       const char *otherwise, char *text, size_t size);
KI_API bool ki_object_equals(const ki_object *object, const char *path, const char *text);

KI_AUTO_DEFINE(ki_object, ki_object_unref)

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes objects: immutable, counted by reference, one block of memory that holds the bytes as
 * the server sent them and where the metadata stands in them. */
#ifndef KINFORMER_OBJECT_H
#define KINFORMER_OBJECT_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef struct ki_object ki_object;

typedef enum ki_encoding { KI_ENCODING_JSON, KI_ENCODING_PROTOBUF, KI_ENCODING_MAX } ki_encoding;

typedef struct ki_object_options {
    size_t size;                     /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;           /* NULL: the default; must outlive the object */
    size_t max_bytes;                /* 0: 16 MiB; never more than 1 GiB */
    uint32_t max_depth;              /* maps and lists within each other; 0: 128; at most 1024 */
    const char *default_kind;        /* when the bytes have none, as list items do; NULL: "" */
    const char *default_api_version; /* the same */
} ki_object_options;

/** Reads an object from JSON: checks all of it (RFC 8259), finds the metadata, and keeps a copy of
 *  the bytes. `options` may be NULL.
 *
 *  Policy where RFC 8259 leaves room: members named twice are refused at the top and in metadata;
 *  elsewhere the first counts. The escape \u0000 is refused in the strings that have an accessor
 *  below, and kept elsewhere. A lone surrogate escape reads as U+FFFD. A byte order mark is
 *  refused.
 *
 *  Owner:  *ret_object is the caller's; release with ki_object_unref().   Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX, KI_ERR_ENCODING, KI_ERR_DEPTH  with offset, line and column in `error`;
 *          KI_ERR_LIMIT    more than max_bytes, an identity string of over 1024 bytes, or over 512
 *                          members at the top and in metadata together, or names there that were
 *                          made to have one hash;
 *          KI_ERR_INVALID  not a map, metadata of a wrong type (null counts as absent), or a name
 *                          twice;  -ENOMEM;  -EINVAL, -E2BIG  the options, or NULL for `bytes`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_from_json(const char *bytes, size_t len,
                                            const ki_object_options *options,
                                            ki_object **ret_object, ki_error *error);

/** Reads an object from protobuf (application/vnd.kubernetes.protobuf): with the envelope that API
 *  servers put around it, or the message alone, as lists and watches hold it; then the kind comes
 *  from the options. Checks all of it to the bottom, finds the metadata, and keeps a copy of the
 *  bytes. `options` may be NULL.
 *
 *  Schema tables inside the library tell what the fields of the built-in kinds are: everything
 *  below reads as it would from JSON, with what JSON shows for fields that are absent. Fields and
 *  kinds that the tables do not know are kept: ki_object_is_complete() tells if there are any. Of
 *  an unknown kind the metadata is read, if it is where all kinds have it.
 *
 *  Policy: a field that is no list or map must stand once, and the parts of a list or map must
 *  stand together, as every Kubernetes server writes them; groups and packed lists are refused. Of
 *  several entries with one key, the first counts. Depth counts as in JSON, but for lists and maps
 *  of plain values. A
 *  string that is no UTF-8 reads with U+FFFD for each wrong byte. JSON text inside protobuf (such
 *  as managedFields) is looked at when it is read; what is no valid JSON, or over 128 deep, then
 *  reads as its bytes in base64.
 *
 *  Owner:  *ret_object is the caller's; release with ki_object_unref().   Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX   malformed, cut off or overlong;  KI_ERR_DEPTH;
 *          KI_ERR_INVALID  a field that stands twice, has another wire type than it must have, or a
 *                          NUL in a string that has an accessor below;  all these with the offset
 *                          in `error`, and the name of the field where it is known;
 *          KI_ERR_LIMIT    more than max_bytes, or an identity string of over 1024 bytes;
 *          KI_ERR_UNSUPPORTED  the envelope holds something else than plain protobuf;
 *          -ENOMEM;  -EINVAL, -E2BIG  the options, or NULL for `bytes`.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_from_protobuf(const char *bytes, size_t len,
                                                const ki_object_options *options,
                                                ki_object **ret_object, ki_error *error);

/** One more reference. Returns `object`; NULL gives NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_object *ki_object_ref(const ki_object *object);

/** Gives a reference back; the last one frees the object. Always returns NULL; NULL is fine.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_object *ki_object_unref(const ki_object *object);

/* The accessors below never fail: what the object does not have is "", 0 or KI_TYPE_NONE. Text is
 * NUL-terminated and valid as long as the object.  Thread: any.  Blocks: no.  Since: 0.1 */

/** "namespace/name", or "name" without a namespace; "" if there is no name. */
KI_API const char *ki_object_key(const ki_object *object);
/** metadata.name, .namespace, .uid and .resourceVersion; kind and apiVersion. */
KI_API const char *ki_object_name(const ki_object *object);
KI_API const char *ki_object_namespace(const ki_object *object);
KI_API const char *ki_object_uid(const ki_object *object);
KI_API const char *ki_object_resource_version(const ki_object *object);
KI_API const char *ki_object_kind(const ki_object *object);
KI_API const char *ki_object_api_version(const ki_object *object);

/** metadata.generation; 0 if absent. */
KI_API int64_t ki_object_generation(const ki_object *object);

/** metadata.creationTimestamp in seconds since 1970; 0 if absent or not a time. */
KI_API int64_t ki_object_creation_time(const ki_object *object);

/** metadata.deletionTimestamp in seconds since 1970; 0 if absent or not a time. */
KI_API int64_t ki_object_deletion_time(const ki_object *object);

/** Whether the object is being deleted: it has a deletionTimestamp. */
KI_API bool ki_object_is_deleting(const ki_object *object);

/** Maps and lists of metadata; of KI_TYPE_NONE if absent or null. */
KI_API ki_value ki_object_labels(const ki_object *object);
KI_API ki_value ki_object_annotations(const ki_object *object);
KI_API ki_value ki_object_owner_references(const ki_object *object);
KI_API ki_value ki_object_finalizers(const ki_object *object);

/** The value of a label or an annotation.
 *  Errors: KI_ERR_NOT_FOUND;  KI_ERR_TYPE  it is not a string.  */
KI_API KI_NODISCARD int ki_object_label(const ki_object *object, ki_str name, ki_value *ret_value);
KI_API KI_NODISCARD int ki_object_annotation(const ki_object *object, ki_str name,
                                             ki_value *ret_value);

/** One owner reference. Text is a view into the object; what is encoded or absent is empty. */
typedef struct ki_owner {
    ki_str api_version;
    ki_str kind;
    ki_str name;
    ki_str uid;
    bool controller;
} ki_owner;

/** The owner reference that has `controller: true`.
 *  Errors: KI_ERR_NOT_FOUND.  */
KI_API KI_NODISCARD int ki_object_controller(const ki_object *object, ki_owner *ret_owner);

/** The whole object as a value. */
KI_API ki_value ki_object_root(const ki_object *object);

/** Whether everything in the object can be read: false for protobuf of a kind, or with a field,
 * that the library does not know. Such fields are kept, but neither found nor written as JSON. */
KI_API bool ki_object_is_complete(const ki_object *object);

/** The bytes as they came, and how they are encoded. JSON that had no kind or apiVersion of its own
 * has those of the options as its first members. */
KI_API ki_str ki_object_bytes(const ki_object *object);
KI_API ki_encoding ki_object_encoding(const ki_object *object);

/** The memory the object takes, its header and bytes together. */
KI_API size_t ki_object_memory(const ki_object *object);

/** Appends the object as JSON.  Errors: as ki_value_write_json().  */
KI_API KI_NODISCARD int ki_object_write_json(const ki_object *object, ki_buf *out);

/** Appends the object as protobuf, with the envelope that API servers put around it. Protobuf
 *  objects give their own bytes, whatever their kind. Of a JSON object it is to the byte what Go
 *  makes of the same JSON: members that the schema does not know are dropped, null counts as
 *  absent. Quantities are written as they are spelt.
 *  Errors: KI_ERR_NO_SCHEMA  JSON of a kind that is not built in;
 *          KI_ERR_INVALID    a value that its field cannot hold; the message names the field;
 *          KI_ERR_DEPTH      nested too deep;
 *          KI_ERR_LIMIT or -ENOMEM.  On failure `out` is as it was.  */
KI_API KI_NODISCARD int ki_object_write_protobuf(const ki_object *object, ki_buf *out,
                                                 ki_error *error);

KI_END_DECLS

#endif

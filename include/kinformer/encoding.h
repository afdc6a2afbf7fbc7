/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and values as they are encoded: protobuf, the bytes as received, and their size. Objects
 * are read in the same way whatever their encoding is, so most programs do not need this header. */
#ifndef KINFORMER_ENCODING_H
#define KINFORMER_ENCODING_H

#include <kinformer/buf.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

KI_BEGIN_DECLS

typedef enum ki_encoding { KI_ENCODING_JSON, KI_ENCODING_PROTOBUF, KI_ENCODING_MAX } ki_encoding;

/** Creates an object from protobuf (application/vnd.kubernetes.protobuf): with the envelope of API
 *  servers, or the message alone, as in lists and watches; then the kind is taken from the options.
 *  Validates all of it, locates the metadata, and keeps a copy of the bytes. `options` may be NULL.
 *
 *  Schema tables in the library describe the fields of the built-in kinds: all functions for
 *  objects read them as from JSON, including the values that JSON has for absent fields. Unknown
 *  fields and kinds are kept; see ki_object_is_complete(). Of an unknown kind, the metadata is read
 *  if it is where all kinds have it.
 *
 *  Validation: a field that is not a list or map must occur once, and the entries of a list or map
 *  must be adjacent, as every Kubernetes server writes them; groups and packed lists are rejected.
 *  Of several map entries with the same key, the first is used. Depth counts as in JSON, except for
 *  lists and maps of plain values. In a string that is not UTF-8, each invalid byte reads as
 *  U+FFFD. JSON text inside protobuf (such as managedFields) is parsed when it is read; if it is
 *  not valid JSON, or nested over 128 deep, it reads as its bytes in base64.
 *
 *  Owner:  caller; release *ret_object with ki_object_unref().   Thread: any.  Blocks: no.
 *  Errors: KI_ERR_SYNTAX   malformed, truncated or overlong;  KI_ERR_DEPTH;
 *          KI_ERR_INVALID  a field occurs twice, has the wrong wire type, or a NUL in a string that
 *                          has an accessor in object.h;  all these with the offset in `error`, and
 *                          the name of the field where known;
 *          KI_ERR_LIMIT    more than max_bytes, or an identity string of over 1024 bytes;
 *          KI_ERR_UNSUPPORTED  the content of the envelope is not plain protobuf;
 *          -ENOMEM;  -EINVAL, -E2BIG  the options, or `bytes` is NULL.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_object_from_protobuf(const char *bytes, size_t len,
                                                const ki_object_options *options,
                                                ki_object **ret_object, ki_error *error);

/* Thread: any.  Blocks: no.  Since: 0.1 */

/** Returns whether all fields of an object can be read: false for protobuf with an unknown kind or
 *  unknown fields. Unknown fields are kept, but cannot be read and are not written as JSON. Of a
 *  partial object (projection.h), this is about the kept fields. */
KI_API bool ki_object_is_complete(const ki_object *object);

/** Return the bytes of an object as received, and their encoding. JSON without kind or apiVersion
 *  has those of the options as its first members. Of a partial object, only what was kept. */
KI_API ki_str ki_object_bytes(const ki_object *object);
KI_API ki_encoding ki_object_encoding(const ki_object *object);

/** Returns the memory that an object uses, header and bytes. */
KI_API size_t ki_object_memory(const ki_object *object);

/** Appends an object as protobuf, with the envelope of API servers. Protobuf objects are written
 *  with their own bytes, whatever their kind. A JSON object is written exactly as Go writes the
 *  same JSON: members that the schema does not know are dropped, null counts as absent. Quantities
 *  are written as they are spelled.
 *  Errors: KI_ERR_NO_SCHEMA  JSON of a kind that is not built in;
 *          KI_ERR_INVALID    a value that its field cannot hold; the message names the field;
 *          KI_ERR_DEPTH      nested too deep;
 *          KI_ERR_LIMIT or -ENOMEM.  On failure `out` is unchanged. */
KI_API KI_NODISCARD int ki_object_write_protobuf(const ki_object *object, ki_buf *out,
                                                 ki_error *error);

/** Returns the text of a number as the server wrote it.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_NOT_PLAIN  the encoding has no text.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_number_text(const ki_value *value, ki_str *ret_text);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Values inside objects, read in place, in the same way for all encodings. A ki_value is a small
 * cursor into its object; it owns nothing and is valid as long as the object. All functions are
 * thread-safe and never block. */
#ifndef KINFORMER_VALUE_H
#define KINFORMER_VALUE_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef enum ki_type {
    KI_TYPE_NONE, /* a zeroed ki_value */
    KI_TYPE_NULL,
    KI_TYPE_BOOL,
    KI_TYPE_NUMBER,
    KI_TYPE_STRING,
    KI_TYPE_LIST,
    KI_TYPE_MAP,
    KI_TYPE_MAX
} ki_type;

/** A value inside an object. Copy it freely; its members are private. */
typedef struct ki_value {
    const void *ops;
    const void *bytes;
    size_t len;
    const void *schema;
    uint64_t detail;
    const void *kept;
} ki_value;

/** An iterator over a list or a map. Its members are private. */
typedef struct ki_value_iter {
    ki_value container;
    const void *next;
    uint64_t detail[2];
} ki_value_iter;

/** Returns the type of a value.  Since: 0.1 */
KI_API ki_type ki_value_type(const ki_value *value);

/** Returns the name of a type, such as "string".  Owner: static text.  Since: 0.1 */
KI_API const char *ki_type_name(ki_type type);

/** Returns a string as a view into the object, without a copy.
 *  Errors: KI_ERR_TYPE       not a string;
 *          KI_ERR_NOT_PLAIN  it is stored encoded (for example with escapes, or as the seconds of a
 *                            time): use ki_value_copy_string().
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_string(const ki_value *value, ki_str *ret_text);

/** Appends a string, decoded, to `out`.
 *  Errors: KI_ERR_TYPE;  KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_copy_string(const ki_value *value, ki_buf *out);

/** Copies a string, decoded and NUL-terminated, to `text` of `size` bytes (not 0). Returns its
 *  length. On failure `text` is unchanged.
 *  Errors: KI_ERR_TYPE;  KI_ERR_LIMIT  it does not fit, including the NUL.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_get_string(const ki_value *value, char *text, size_t size);

/** Returns whether a value is a string with exactly these bytes when decoded. Never fails.
 *  Since: 0.1 */
KI_API bool ki_value_equals(const ki_value *value, ki_str text);
KI_API bool ki_value_equals_text(const ki_value *value, const char *text);

/** Reads an integer. 1e3 and 2.0 are integers; 2.5 is not.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_RANGE  not an integer, or beyond int64.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_value_int64(const ki_value *value, int64_t *ret_number);

/** Reads a number, rounded to the nearest double. The result does not depend on the locale.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_RANGE  beyond the largest double.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_double(const ki_value *value, double *ret_number);

/** Reads a boolean.  Errors: KI_ERR_TYPE.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_bool(const ki_value *value, bool *ret_flag);

/** Finds the member `name` of a map. Of duplicates, the first is used.
 *  Errors: KI_ERR_TYPE  not a map;  KI_ERR_NOT_FOUND;  KI_ERR_NO_SCHEMA  not found, but the map is
 *          protobuf with fields that the library has no schema for.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_member(const ki_value *map, ki_str name, ki_value *ret_member);

/** Finds element `index` of a list, from 0; from the end if negative.
 *  Errors: KI_ERR_TYPE  not a list;  KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_element(const ki_value *list, int64_t index,
                                         ki_value *ret_element);

/** Returns the first value at a path (path.h) below a value. Examples of paths:
 *  "status.nodeInfo.kubeletVersion", "spec.containers[0].image",
 *  "status.conditions[type=Ready].status", "metadata.annotations['example.com/hash']".
 *
 *  Never fails: the result is KI_TYPE_NONE if there is no value, if the path is invalid, and if it
 *  has over 512 bytes or 16 conditions. Allocates only where ki_path_first() does, so nothing for
 *  paths like these; if an allocation fails, the result is KI_TYPE_NONE as well. The path is parsed
 *  by each call. To read many objects, or to validate a path from a user, compile it once with
 *  ki_path_compile().  Since: 0.1 */
KI_API ki_value ki_value_at(const ki_value *value, const char *path);

/** Return a value as a C type, or `otherwise` where the function without "_or" would fail: the
 *  value is absent, null, of another type, or out of range.  Since: 0.1 */
KI_API int64_t ki_value_int64_or(const ki_value *value, int64_t otherwise);
KI_API double ki_value_double_or(const ki_value *value, double otherwise);
KI_API bool ki_value_bool_or(const ki_value *value, bool otherwise);

/** Copies a string, decoded and NUL-terminated, to `text` of `size` bytes, and returns `text`; or
 *  returns `otherwise`, which may be NULL, and leaves `text` unchanged: also if the string has
 *  `size` bytes or more. For strings of any length, see ki_value_copy_string().  Since: 0.1 */
KI_API const char *ki_value_string_or(const ki_value *value, const char *otherwise, char *text,
                                      size_t size);

/** Returns the number of elements of a list or members of a map; 0 for other values. Iterates over
 *  it.  Since: 0.1 */
KI_API size_t ki_value_count(const ki_value *container);

/** Begins an iteration over a list or a map. It needs no release.
 *  Errors: KI_ERR_TYPE  neither a list nor a map.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_iter_begin(const ki_value *container, ki_value_iter *ret_iter);

/** Returns the next element or member: 1 with *ret_value set, 0 at the end. *ret_key is the name of
 *  the member, a string, or KI_TYPE_NONE in a list; ret_key may be NULL.  Since: 0.1 */
KI_API int ki_value_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value);

/** Appends a value as JSON. JSON objects are written with their own bytes; protobuf fields that the
 *  library has no schema for are omitted.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then unchanged;  KI_ERR_TYPE  no value.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_write_json(const ki_value *value, ki_buf *out);

KI_END_DECLS

#endif

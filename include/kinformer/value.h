/* SPDX-License-Identifier: Apache-2.0 */
/* Values inside objects: read in place, the same way whatever the object's encoding is. A ki_value
 * is a small cursor into its object; it owns nothing and is valid as long as the object is. All
 * functions here may be called on any thread and never block. */
#ifndef KINFORMER_VALUE_H
#define KINFORMER_VALUE_H

#include <kinformer/buf.h>
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

/** A value. Copy it freely; its members are private. */
typedef struct ki_value {
    const void *ops;
    const void *bytes;
    size_t len;
    const void *schema;
    uint64_t detail;
} ki_value;

/** A walk over a list or a map. Its members are private. */
typedef struct ki_value_iter {
    ki_value container;
    const void *next;
    uint64_t detail[2];
} ki_value_iter;

/** What the value is.  Since: 0.1 */
KI_API ki_type ki_value_type(const ki_value *value);

/** The name of a type, such as "string".  Owner: static text.  Since: 0.1 */
KI_API const char *ki_type_name(ki_type type);

/** A string as a view into the object, without a copy.
 *  Errors: KI_ERR_TYPE       not a string;
 *          KI_ERR_NOT_PLAIN  it is stored encoded (say, with escapes, or as the number of seconds
 *                            of a time): use ki_value_copy_string().
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_string(const ki_value *value, ki_str *ret_text);

/** Appends a string, decoded, to `out`.
 *  Errors: KI_ERR_TYPE;  KI_ERR_LIMIT or -ENOMEM from `out`, which is then as it was.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_copy_string(const ki_value *value, ki_buf *out);

/** Copies a string, decoded and NUL-terminated, to `text` of `size` bytes (not 0). Returns its
 *  length. On failure `text` is untouched.
 *  Errors: KI_ERR_TYPE;  KI_ERR_LIMIT  it does not fit (`size` counts the NUL).
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_get_string(const ki_value *value, char *text, size_t size);

/** Whether the value is a string with exactly these bytes once decoded. Never fails.  Since: 0.1 */
KI_API bool ki_value_equals(const ki_value *value, ki_str text);

/** An integral number. 1e3 and 2.0 count as integral; 2.5 does not.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_RANGE  not integral, or beyond int64.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_int64(const ki_value *value, int64_t *ret_number);

/** Any number, rounded to the nearest double. The result does not depend on the locale.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_RANGE  beyond the largest double.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_double(const ki_value *value, double *ret_number);

/** The text of a number as the server wrote it.
 *  Errors: KI_ERR_TYPE  not a number;  KI_ERR_NOT_PLAIN  the encoding keeps no text.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_number_text(const ki_value *value, ki_str *ret_text);

/** A boolean.  Errors: KI_ERR_TYPE.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_bool(const ki_value *value, bool *ret_flag);

/** The member `name` of a map. Of several with one name, the first counts.
 *  Errors: KI_ERR_TYPE  not a map;  KI_ERR_NOT_FOUND;  KI_ERR_NO_SCHEMA  not found, but the map is
 *          protobuf with fields that the library has no schema for.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_member(const ki_value *map, ki_str name, ki_value *ret_member);

/** The element `index` of a list, from 0; from the end when negative.
 *  Errors: KI_ERR_TYPE  not a list;  KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_element(const ki_value *list, int64_t index,
                                         ki_value *ret_element);

/** The number of elements of a list or members of a map. Walks it.
 *  Errors: KI_ERR_TYPE.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_count(const ki_value *container, size_t *ret_count);

/** Begins a walk over a list or a map. There is nothing to release.
 *  Errors: KI_ERR_TYPE  neither of both.  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_iter_begin(const ki_value *container, ki_value_iter *ret_iter);

/** The next element or member: 1 with *ret_value set, 0 at the end. *ret_key is the member's name,
 * a string, or of KI_TYPE_NONE in a list; ret_key may be NULL. Since: 0.1 */
KI_API int ki_value_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value);

/** Appends the value as JSON. JSON objects give their own bytes back; of protobuf what the library
 *  has no schema for is left out.
 *  Errors: KI_ERR_LIMIT or -ENOMEM from `out`, which is then as it was;  KI_ERR_TYPE  no value.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_value_write_json(const ki_value *value, ki_buf *out);

KI_END_DECLS

#endif

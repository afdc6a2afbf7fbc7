/* SPDX-License-Identifier: Apache-2.0 */
/* The interface that an encoding implements for <kinformer/value.h>. The value API, paths and
 * selectors use only this table: a new encoding is a new table. Bytes are validated when the object
 * is created, so malformed input never gets here. */
#ifndef KI_OBJECT_VALUE_H
#define KI_OBJECT_VALUE_H

#include <kinformer/value.h>

#include "base/shared.h"

typedef struct ki__value_ops {
    ki_type (*type)(const ki_value *value);

    /* Strings only (the next three). */
    int (*string)(const ki_value *value, ki_str *ret_text); /* or KI_ERR_NOT_PLAIN */
    size_t (*decode)(const ki_value *value, char *out,
                     size_t size); /* returns the length; writes at most `size` bytes */
    bool (*equals)(const ki_value *value, ki_str text);

    /* Numbers only. */
    int (*number_text)(const ki_value *value, ki_str *ret_text); /* or KI_ERR_NOT_PLAIN */
    int (*int64)(const ki_value *value, int64_t *ret_number);
    int (*real)(const ki_value *value, double *ret_number);

    /* Booleans only. */
    bool (*boolean)(const ki_value *value);

    /* Maps only: the first member of that name, KI_ERR_NOT_FOUND, or KI_ERR_NO_SCHEMA if the map
     * has members of unknown names. */
    int (*member)(const ki_value *map, ki_str name, ki_value *ret_member);

    /* Lists and maps only. `iter` has its container set. `next` is a position in the bytes of the
     * object that only advances, at the end past the last child: paths use it to measure the bytes
     * they read. */
    void (*iter_init)(ki_value_iter *iter);
    int (*iter_next)(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value);

    int (*write_json)(const ki_value *value, ki_buf *out);
} ki__value_ops;

/** Decodes the start of a string: as many whole characters as fit into `size` bytes. Returns their
 *  length, 0 if it is not a string. No NUL is added. */
size_t ki__value_prefix(const ki_value *value, char *out, size_t size);

/** The value of KI_TYPE_NONE for a field that was not kept. */
ki_value ki__value_not_kept(void);
/** Whether it is that value. */
bool ki__value_is_not_kept(const ki_value *value);
/** The error of reading a value of KI_TYPE_NONE: KI_ERR_NOT_KEPT, the code of ki__object_open(), or
 *  0 if the field is absent. */
int ki__value_failure(const ki_value *value);
/** The value of KI_TYPE_NONE after a failure, with that code. */
ki_value ki__value_none(int code);

/* Member access that treats absent, null and wrongly typed members alike. */

/** The member `name`; KI_TYPE_NONE if absent or not kept, or `map` is not a map. */
KI__SHARED ki_value ki__value_child(const ki_value *map, const char *name);

/** A string stored without escapes; otherwise empty. */
ki_str ki__value_child_text(const ki_value *map, const char *name);

/** A count, clamped to INT32_MAX; 0 if negative or not an integer. */
int32_t ki__value_child_count(const ki_value *map, const char *name);

/** Whether the member is true. */
KI__SHARED bool ki__value_child_flag(const ki_value *map, const char *name);

/** Whether the member is the string `text`. */
bool ki__value_child_is(const ki_value *map, const char *name, const char *text);

#endif

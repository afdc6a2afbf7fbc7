/* SPDX-License-Identifier: Apache-2.0 */
/* What an encoding implements so that <kinformer/value.h> can read it. The reading API, paths and
 * selectors go through this table alone: a new encoding is a new table. Input was checked when the
 * object was made, so nothing here meets malformed bytes. */
#ifndef KI_OBJECT_VALUE_H
#define KI_OBJECT_VALUE_H

#include <kinformer/value.h>

#include "base/shared.h"

typedef struct ki__value_ops {
    ki_type (*type)(const ki_value *value);

    /* The next three are called for strings only. */
    int (*string)(const ki_value *value, ki_str *ret_text); /* or KI_ERR_NOT_PLAIN */
    size_t (*decode)(const ki_value *value, char *out,
                     size_t size); /* the length; writes the first `size` bytes, or all */
    bool (*equals)(const ki_value *value, ki_str text);

    /* For numbers only. */
    int (*number_text)(const ki_value *value, ki_str *ret_text); /* or KI_ERR_NOT_PLAIN */
    int (*int64)(const ki_value *value, int64_t *ret_number);
    int (*real)(const ki_value *value, double *ret_number);

    /* For booleans only. */
    bool (*boolean)(const ki_value *value);

    /* For maps only: the first member of that name, or KI_ERR_NOT_FOUND, or KI_ERR_NO_SCHEMA if the
     * map has members whose names nobody knows. */
    int (*member)(const ki_value *map, ki_str name, ki_value *ret_member);

    /* For lists and maps only. `iter` comes with its container set. Its `next` is a place in the
     * bytes of the object that goes forward with the walk, at the end behind the last child: paths
     * measure by it what they read. */
    void (*iter_init)(ki_value_iter *iter);
    int (*iter_next)(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value);

    int (*write_json)(const ki_value *value, ki_buf *out);
} ki__value_ops;

/** The beginning of a string, decoded: as many whole characters as `size` bytes hold. Returns how
 *  many bytes that is, 0 for what is not a string. No NUL is added. */
size_t ki__value_prefix(const ki_value *value, char *out, size_t size);

/* Members for readers to whom absent, null and of a wrong type are one. */

/** The member `name`; of KI_TYPE_NONE if there is none, or `map` is not a map. */
KI__SHARED ki_value ki__value_child(const ki_value *map, const char *name);

/** A string that is stored plain; empty if it is not. */
ki_str ki__value_child_text(const ki_value *map, const char *name);

/** A number from 0 to INT32_MAX, which more counts as; 0 if it is none. */
int32_t ki__value_child_count(const ki_value *map, const char *name);

/** Whether it is true. */
KI__SHARED bool ki__value_child_flag(const ki_value *map, const char *name);

/** Whether it is the string `text`. */
bool ki__value_child_is(const ki_value *map, const char *name, const char *text);

#endif

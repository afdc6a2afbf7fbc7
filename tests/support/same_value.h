/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two values, maybe of different encodings, read the same in every way there is. */
#ifndef TESTS_SUPPORT_SAME_VALUE_H
#define TESTS_SUPPORT_SAME_VALUE_H

#include <stdlib.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/value.h>

#define SAME_TEXT_MAX ((size_t)1 << 26)

static inline bool same_string(const ki_value *a, const ki_value *b)
{
    ki_buf left;
    ki_buf right;
    ki_str plain;
    ki_buf_init(&left, NULL, SAME_TEXT_MAX);
    ki_buf_init(&right, NULL, SAME_TEXT_MAX);
    bool same = ki_value_copy_string(a, &left) == 0 && ki_value_copy_string(b, &right) == 0 &&
                ki_str_eq(ki_buf_str(&left), ki_buf_str(&right)) &&
                ki_value_equals(a, ki_buf_str(&right)) && ki_value_equals(b, ki_buf_str(&left));
    if (same && ki_value_string(a, &plain) == 0) {
        same = ki_str_eq(plain, ki_buf_str(&left));
    }
    if (same && left.len != 0) {
        left.data[left.len - 1] ^= 1;
        same = !ki_value_equals(a, ki_buf_str(&left)) && !ki_value_equals(b, ki_buf_str(&left));
    }
    ki_buf_done(&left);
    ki_buf_done(&right);
    return same;
}

static inline bool same_number(const ki_value *a, const ki_value *b)
{
    int64_t left = 0;
    int64_t right = 0;
    double left_real = 0;
    double right_real = 0;
    int r = ki_value_int64(a, &left);
    int s = ki_value_int64(b, &right);
    if (r != s || left != right) {
        return false;
    }
    r = ki_value_double(a, &left_real);
    s = ki_value_double(b, &right_real);
    return r == s && memcmp(&left_real, &right_real, sizeof(left_real)) == 0;
}

static inline bool same_scalar(const ki_value *a, const ki_value *b)
{
    bool left = false;
    bool right = false;
    switch (ki_value_type(a)) {
    case KI_TYPE_STRING:
        return same_string(a, b);
    case KI_TYPE_NUMBER:
        return same_number(a, b);
    case KI_TYPE_BOOL:
        return ki_value_bool(a, &left) == 0 && ki_value_bool(b, &right) == 0 && left == right;
    default:
        return true;
    }
}

/** The member of `map` that has the name `key`. */
static inline bool same_find(const ki_value *map, const ki_value *key, ki_value *ret_value)
{
    ki_buf name;
    ki_buf_init(&name, NULL, SAME_TEXT_MAX);
    bool found = ki_value_copy_string(key, &name) == 0 &&
                 ki_value_member(map, ki_buf_str(&name), ret_value) == 0;
    ki_buf_done(&name);
    return found;
}

/** Called for every pair of values that are compared and differ; the innermost first. */
typedef void (*same_report)(const ki_value *a, const ki_value *b);

/** Members of maps may come in any order, but each name must be there once. */
static inline bool same_value(const ki_value *a, const ki_value *b, same_report report)
{
    ki_type type = ki_value_type(a);
    bool same = type == ki_value_type(b) && same_scalar(a, b);
    if (same && (type == KI_TYPE_LIST || type == KI_TYPE_MAP)) {
        ki_value_iter left;
        ki_value_iter right;
        ki_value left_key;
        ki_value left_value;
        ki_value right_value;
        same = ki_value_count(a) == ki_value_count(b) && ki_value_iter_begin(a, &left) == 0 &&
               ki_value_iter_begin(b, &right) == 0;
        while (same && ki_value_iter_next(&left, &left_key, &left_value) > 0) {
            ki_value again;
            if (type == KI_TYPE_LIST) {
                same = ki_value_iter_next(&right, NULL, &right_value) > 0;
            } else {
                same = same_find(b, &left_key, &right_value) && same_find(a, &left_key, &again) &&
                       ki_value_type(&again) == ki_value_type(&left_value);
            }
            same = same && same_value(&left_value, &right_value, report);
        }
    }
    if (!same && report != NULL) {
        report(a, b);
    }
    return same;
}

#endif

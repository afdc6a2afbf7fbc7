/* SPDX-License-Identifier: Apache-2.0 */
/* A decimal number of any length, as digits and a power of ten, and how it becomes a double. */
#ifndef KI_OBJECT_JSON_JSON_DECIMAL_H
#define KI_OBJECT_JSON_JSON_DECIMAL_H

#include <kinformer/str.h>

/* The point half-way between two doubles has at most 767 significant digits. So of all digits after
 * these only one thing matters: whether one is not 0. */
enum { KI__DECIMAL_DIGITS = 768 };

/** digits[0..count) x 10^power. No zero in front or at the end; zero itself has no digits. If there
 *  were too many digits, a last digit 1 stands for all those that were cut. */
typedef struct ki__decimal {
    bool negative;
    uint32_t count;
    int64_t power;
    uint8_t digits[KI__DECIMAL_DIGITS + 1];
} ki__decimal;

void ki__decimal_read(ki__decimal *number, ki_str text);

/** The magnitude, if it can be had with a single rounded operation. */
bool ki__decimal_to_double_fast(const ki__decimal *number, double *ret_value);

/** The magnitude in any case. 0, or KI_ERR_RANGE if it is beyond the largest double. */
int ki__decimal_to_double_exact(const ki__decimal *number, double *ret_value);

#endif

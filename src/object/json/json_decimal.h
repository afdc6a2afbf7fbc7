/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers of any length, as digits and a power of ten, and their conversion to double. */
#ifndef KI_OBJECT_JSON_JSON_DECIMAL_H
#define KI_OBJECT_JSON_JSON_DECIMAL_H

#include <kinformer/str.h>

/* The midpoint between two doubles has at most 767 significant digits. Of all later digits it only
 * matters whether any is not 0. */
enum { KI__DECIMAL_DIGITS = 768 };

/** digits[0..count) x 10^power. No leading or trailing zeros; zero has no digits. If digits were
 *  dropped, a final digit 1 represents them. */
typedef struct ki__decimal {
    bool negative;
    uint32_t count;
    int64_t power;
    uint8_t digits[KI__DECIMAL_DIGITS + 1];
} ki__decimal;

void ki__decimal_read(ki__decimal *number, ki_str text);

/** The absolute value, if a single rounded operation suffices. */
bool ki__decimal_to_double_fast(const ki__decimal *number, double *ret_value);

/** The absolute value in any case. 0, or KI_ERR_RANGE beyond the largest double. */
int ki__decimal_to_double_exact(const ki__decimal *number, double *ret_value);

#endif

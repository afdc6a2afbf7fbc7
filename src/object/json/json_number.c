/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are parsed into sign, decimal digits and a power of ten. From there int64 is exact. A
 * double takes one rounded operation if mantissa and power are exact as doubles; otherwise the
 * digits become a fraction of two big integers, whose quotient is rounded once. */
#include "object/json/json_number.h"

#include <kinformer/error.h>

#include "object/json/json_decimal.h"

int ki__json_int64(ki_str text, int64_t *ret_number)
{
    ki__decimal number;
    ki__decimal_read(&number, text);
    if (number.count == 0) {
        *ret_number = 0;
        return 0;
    }
    /* The digits have no trailing zero, so a negative power means a fraction. */
    if (number.power < 0 || number.count > 19 || number.power > 19 - (int64_t)number.count) {
        return KI_ERR_RANGE;
    }
    uint64_t value = 0;
    for (uint32_t i = 0; i < number.count; i++) {
        value = value * 10 + number.digits[i];
    }
    for (int64_t i = 0; i < number.power; i++) {
        value *= 10;
    }
    if (value > (uint64_t)INT64_MAX + (number.negative ? 1 : 0)) {
        return KI_ERR_RANGE;
    }
    *ret_number = number.negative ? -(int64_t)(value - 1) - 1 : (int64_t)value;
    return 0;
}

int ki__json_double(ki_str text, double *ret_number)
{
    ki__decimal number;
    ki__decimal_read(&number, text);
    double value;
    if (!ki__decimal_to_double_fast(&number, &value)) {
        int r = ki__decimal_to_double_exact(&number, &value);
        if (r < 0) {
            return r;
        }
    }
    *ret_number = number.negative ? -value : value;
    return 0;
}

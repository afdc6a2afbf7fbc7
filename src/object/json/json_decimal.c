/* SPDX-License-Identifier: Apache-2.0 */
/* The exact conversion writes digits x 10^power as N / M x 2^power with N = digits x 5^power or M =
 * 5^-power, both integers, and divides bit by bit. The number of digits and the range of double
 * bound both, so the integers have a fixed size. */
#include "object/json/json_decimal.h"

#include <float.h>

#include <kinformer/error.h>

#include "object/text/big.h"

/* ---- parsing ---- */

/* Exponents are clamped to this. Texts have less than 2^30 digits, so the digits cannot compensate
 * for the clamping. */
static const int64_t POWER_MAX = INT64_C(1) << 40;

static int64_t read_exponent(const char *p, const char *end)
{
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') {
        p++;
    }
    int64_t power = 0;
    for (; p != end; p++) {
        if (power < POWER_MAX) {
            power = power * 10 + (*p - '0');
        }
    }
    return negative ? -power : power;
}

void ki__decimal_read(ki__decimal *number, ki_str text)
{
    const char *p = text.ptr;
    const char *end = text.ptr + text.len;
    bool fraction = false;
    bool cut = false;
    number->negative = *p == '-';
    number->count = 0;
    number->power = 0;
    for (p += number->negative; p != end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        number->power -= fraction;
        if (number->count == 0 && *p == '0') {
            continue;
        }
        if (number->count < KI__DECIMAL_DIGITS) {
            number->digits[number->count++] = (uint8_t)(*p - '0');
        } else {
            cut = cut || *p != '0';
            number->power++;
        }
    }
    if (p != end) {
        number->power += read_exponent(p + 1, end);
    }
    if (cut) {
        number->digits[number->count++] = 1;
        number->power--;
    }
    while (number->count != 0 && number->digits[number->count - 1] == 0) {
        number->count--;
        number->power++;
    }
}

bool ki__decimal_to_double_fast(const ki__decimal *number, double *ret_value)
{
    /* Each of these is exact as a double, and so is any integer of up to 15 digits: one division or
     * multiplication then rounds once, to nearest. Requires arithmetic in double precision. */
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->count == 0) {
        *ret_value = 0;
        return true;
    }
    if (FLT_EVAL_METHOD != 0 || number->count > 15 || number->power < -22 || number->power > 22) {
        return false;
    }
    uint64_t mantissa = 0;
    for (uint32_t i = 0; i < number->count; i++) {
        mantissa = mantissa * 10 + number->digits[i];
    }
    if (number->power < 0) {
        *ret_value = (double)mantissa / tens[-number->power];
    } else {
        *ret_value = (double)mantissa * tens[number->power];
    }
    return true;
}

/* ---- exact conversion ---- */

static void big_from_digits(ki__big *b, const ki__decimal *number)
{
    b->count = 0;
    for (uint32_t i = 0; i < number->count; i++) {
        ki__big_multiply_add(b, 10, number->digits[i]);
    }
}

/* Rounds quotient x 2^power, plus less than one unit if `rest`, to the nearest double. The quotient
 * has bit 62 or 63 set. */
static int round_to_double(uint64_t quotient, bool rest, int64_t power, double *ret_value)
{
    int64_t bits = 64 - __builtin_clzll(quotient);
    int64_t exponent = power + bits - 1; /* of the leading bit */
    int64_t keep = exponent >= -1022 ? 53 : 53 - (-1022 - exponent);
    if (keep < 0) {
        *ret_value = 0;
        return 0;
    }
    int64_t drop = bits - keep; /* 10 to 64 */
    uint64_t half = UINT64_C(1) << (drop - 1);
    uint64_t kept = drop < 64 ? quotient >> drop : 0;
    bool above_half = (quotient & half) != 0 && ((quotient & (half - 1)) != 0 || rest);
    bool tie = (quotient & half) != 0 && !above_half;
    kept += above_half || (tie && (kept & 1) != 0);
    /* As bits of a double: a carry out of the mantissa correctly increments the exponent. */
    int64_t biased = exponent >= -1022 ? exponent + 1022 : 0;
    uint64_t as_bits = ((uint64_t)biased << 52) + kept;
    if (biased > 2046 || as_bits >= UINT64_C(0x7ff) << 52) {
        return KI_ERR_RANGE;
    }
    memcpy(ret_value, &as_bits, sizeof(*ret_value));
    return 0;
}

int ki__decimal_to_double_exact(const ki__decimal *number, double *ret_value)
{
    /* The number is at least 10^(count + power - 1) and less than ten times that. */
    int64_t magnitude = (int64_t)number->count + number->power;
    if (number->count == 0 || magnitude < -324) {
        *ret_value = 0;
        return 0;
    }
    if (magnitude > 309) {
        return KI_ERR_RANGE;
    }
    ki__big top;
    ki__big bottom = {.count = 1, .limb = {1}};
    big_from_digits(&top, number);
    ki__big_multiply_power_of_5(&top, number->power);
    ki__big_multiply_power_of_5(&bottom, -number->power);
    int64_t shift = ki__big_bits(&bottom) - ki__big_bits(&top);
    ki__big_shift_left(shift > 0 ? &top : &bottom, shift > 0 ? shift : -shift);
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        bool fits = !ki__big_less(&top, &bottom);
        if (fits) {
            ki__big_subtract(&top, &bottom);
        }
        quotient = quotient << 1 | fits;
        ki__big_shift_left(&top, 1);
    }
    return round_to_double(quotient, top.count != 0, number->power - shift - 63, ret_value);
}

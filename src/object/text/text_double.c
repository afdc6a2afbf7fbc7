/* SPDX-License-Identifier: Apache-2.0 */
/* Formats doubles. All numbers between the midpoints to the two neighbours parse as the same
 * double; of these the decimal with the fewest digits is chosen, and of several the nearest. Value
 * and distances are exact fractions with a common big denominator; digits are generated until the
 * remainder is within the distance. */
#include "base/assert.h"
#include "object/text/big.h"
#include "object/text/text_format.h"

enum { DIGITS_MAX = 17 };

/* 0.digits x 10^point; no leading or trailing zeros. */
typedef struct decimal {
    int count;
    int point;
    char digits[DIGITS_MAX + 1];
} decimal;

/* A positive double as mantissa x 2^exponent. */
typedef struct parts {
    uint64_t mantissa;
    int exponent;
    bool near_below; /* power of two: the lower neighbour is half as far */
} parts;

static parts parts_of(uint64_t bits)
{
    int biased = (int)(bits >> 52);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (biased == 0) {
        return (parts){.mantissa = fraction, .exponent = -1074};
    }
    return (parts){
        .mantissa = fraction | UINT64_C(1) << 52,
        .exponent = biased - 1075,
        .near_below = fraction == 0 && biased > 1,
    };
}

/* value / unit is the number; above / unit and below / unit are the distances to the midpoints. */
typedef struct fractions {
    ki__big value;
    ki__big unit;
    ki__big above;
    ki__big below;
    bool inclusive; /* the midpoints parse as this number: its mantissa is even */
} fractions;

static void big_set(ki__big *b, uint64_t number)
{
    b->limb[0] = (uint32_t)number;
    b->limb[1] = (uint32_t)(number >> 32);
    b->count = b->limb[1] != 0 ? 2 : 1;
}

static void multiply_power_of_10(ki__big *b, int power)
{
    ki__big_multiply_power_of_5(b, power);
    ki__big_shift_left(b, power);
}

static void fractions_init(fractions *f, const parts *number)
{
    int extra = number->near_below ? 2 : 1;
    int up = number->exponent > 0 ? number->exponent : 0;
    int down = number->exponent < 0 ? -number->exponent : 0;
    big_set(&f->value, number->mantissa);
    ki__big_shift_left(&f->value, up + extra);
    big_set(&f->unit, 1);
    ki__big_shift_left(&f->unit, down + extra);
    big_set(&f->below, 1);
    ki__big_shift_left(&f->below, up);
    f->above = f->below;
    ki__big_shift_left(&f->above, extra - 1);
    f->inclusive = number->mantissa % 2 == 0;
}

/* Whether the number plus the upper distance is at least 1. */
static bool reaches_unit(const fractions *f)
{
    ki__big sum = f->value;
    ki__big_add(&sum, &f->above);
    return f->inclusive ? !ki__big_less(&sum, &f->unit) : ki__big_less(&f->unit, &sum);
}

static bool within_below(const fractions *f)
{
    return f->inclusive ? !ki__big_less(&f->below, &f->value) : ki__big_less(&f->value, &f->below);
}

static void times_ten(fractions *f)
{
    ki__big_multiply_add(&f->value, 10, 0);
    ki__big_multiply_add(&f->above, 10, 0);
    ki__big_multiply_add(&f->below, 10, 0);
}

/* Scales the number to below 1; returns the power of ten divided out. */
static int scale(fractions *f, const parts *number)
{
    /* log10 of its power of two, rounded down, so that one or two steps remain. 1292913986 is
     * log10(2) x 2^32. */
    int bits = number->exponent + 63 - __builtin_clzll(number->mantissa);
    int64_t product = (int64_t)bits * INT64_C(1292913986);
    int point = (int)(product >= 0 ? product >> 32 : -((-product >> 32) + 1));
    if (point > 0) {
        multiply_power_of_10(&f->unit, point);
    } else {
        multiply_power_of_10(&f->value, -point);
        multiply_power_of_10(&f->above, -point);
        multiply_power_of_10(&f->below, -point);
    }
    while (reaches_unit(f)) {
        ki__big_multiply_add(&f->unit, 10, 0);
        point++;
    }
    return point;
}

static char take_digit(fractions *f)
{
    char digit = 0;
    while (!ki__big_less(&f->value, &f->unit)) {
        ki__big_subtract(&f->value, &f->unit);
        digit++;
    }
    return digit;
}

static void shortest(decimal *d, const parts *number)
{
    fractions f;
    fractions_init(&f, number);
    d->count = 0;
    d->point = scale(&f, number);
    bool low;
    bool high;
    do {
        ki_assert(d->count < DIGITS_MAX);
        times_ten(&f);
        d->digits[d->count++] = take_digit(&f);
        low = within_below(&f);
        high = reaches_unit(&f);
    } while (!low && !high);
    /* This digit, the next one, or both are close enough. */
    bool up = high;
    if (low && high) {
        ki__big_shift_left(&f.value, 1);
        bool more = ki__big_less(&f.unit, &f.value);
        bool less = ki__big_less(&f.value, &f.unit);
        up = more || (!less && d->digits[d->count - 1] % 2 != 0);
    }
    d->digits[d->count - 1] = (char)(d->digits[d->count - 1] + up);
}

/* ---- text ---- */

static char *put_digits(char *out, const decimal *d, int first, int end)
{
    for (int i = first; i < end; i++) {
        *out++ = i < d->count ? (char)('0' + d->digits[i]) : '0';
    }
    return out;
}

/* Exponent notation: 1e+21, 1.5e-7. */
static char *put_exponent(char *out, const decimal *d)
{
    out = put_digits(out, d, 0, 1);
    if (d->count > 1) {
        *out++ = '.';
        out = put_digits(out, d, 1, d->count);
    }
    int64_t exponent = d->point - 1;
    *out++ = 'e';
    if (exponent >= 0) {
        *out++ = '+';
    }
    char text[KI__INT64_TEXT_MAX];
    size_t len = ki__format_int64(exponent, text);
    memcpy(out, text, len);
    return out + len;
}

static char *put_plain(char *out, const decimal *d)
{
    if (d->point > 0) {
        out = put_digits(out, d, 0, d->point);
    } else {
        *out++ = '0';
    }
    if (d->count <= d->point) {
        return out;
    }
    *out++ = '.';
    for (int i = d->point; i < 0; i++) {
        *out++ = '0';
    }
    return put_digits(out, d, d->point > 0 ? d->point : 0, d->count);
}

size_t ki__format_double(double number, char out[static KI__DOUBLE_TEXT_MAX])
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    bool negative = bits >> 63 != 0;
    bits &= ~(UINT64_C(1) << 63);
    if (bits >= UINT64_C(0x7ff) << 52) {
        memcpy(out, "null", 4);
        return 4;
    }
    char *end = out;
    if (negative) {
        *end++ = '-';
    }
    double size = negative ? -number : number;
    if (size < 9007199254740992.0 && (double)(int64_t)size == size) {
        return (size_t)(end - out) + ki__format_int64((int64_t)size, end);
    }
    parts number_parts = parts_of(bits);
    decimal digits;
    shortest(&digits, &number_parts);
    end = size < 1e-6 || size >= 1e21 ? put_exponent(end, &digits) : put_plain(end, &digits);
    return (size_t)(end - out);
}

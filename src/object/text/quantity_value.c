/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as numbers. Decimal suffixes and exponents move the point in the digits. For binary
 * suffixes, the integer is shifted and 18 digits of the fraction are multiplied. */
#include <kinformer/error.h>

#include "object/json/json_number.h"
#include "object/text/quantity.h"
#include "object/text/text_format.h"

enum { FRACTION_DIGITS = 18 };
static const uint64_t FRACTION_ONE = UINT64_C(1000000000000000000); /* 10^18 */

typedef struct number {
    ki_str whole;    /* digits before the point */
    ki_str fraction; /* and after it */
    bool negative;
    int64_t power; /* of ten */
    unsigned bits; /* power of two; then the power of ten is 0 */
} number;

static ki_str take_digits(ki_str *text)
{
    size_t len = 0;
    while (len < text->len && text->ptr[len] >= '0' && text->ptr[len] <= '9') {
        len++;
    }
    ki_str digits = ki_str_make(text->ptr, len);
    *text = ki_str_make(text->ptr + len, text->len - len);
    return digits;
}

static bool take_char(ki_str *text, char c)
{
    if (text->len == 0 || *text->ptr != c) {
        return false;
    }
    *text = ki_str_make(text->ptr + 1, text->len - 1);
    return true;
}

static int64_t read_exponent(ki_str text)
{
    bool negative = take_char(&text, '-');
    (void)take_char(&text, '+');
    int64_t exponent = 0;
    for (size_t i = 0; i < text.len; i++) { /* at most 18 digits, or it would not be valid */
        exponent = exponent * 10 + (text.ptr[i] - '0');
    }
    return negative ? -exponent : exponent;
}

static void read_suffix(ki_str suffix, number *n)
{
    static const char letters[] = "numkMGTPE";
    static const int powers[] = {-9, -6, -3, 3, 6, 9, 12, 15, 18};
    if (suffix.len == 0) {
        return;
    }
    if (suffix.len == 2 && suffix.ptr[1] == 'i') {
        n->bits = 10 * (unsigned)(strchr("KMGTPE", suffix.ptr[0]) - "KMGTPE" + 1);
        return;
    }
    if (suffix.len > 1) {
        n->power = read_exponent(ki_str_make(suffix.ptr + 1, suffix.len - 1));
        return;
    }
    n->power = powers[strchr(letters, suffix.ptr[0]) - letters];
}

static bool read_number(ki_str text, number *ret_number)
{
    if (!ki__quantity_valid(text)) {
        return false;
    }
    *ret_number = (number){.negative = take_char(&text, '-')};
    (void)take_char(&text, '+');
    ret_number->whole = take_digits(&text);
    if (take_char(&text, '.')) {
        ret_number->fraction = take_digits(&text);
    }
    read_suffix(text, ret_number);
    return true;
}

/* The digit at a place, from the first of the whole part on; 0 beyond the last. */
static unsigned digit_at(const number *n, int64_t place)
{
    if (place < (int64_t)n->whole.len) {
        return (unsigned)(n->whole.ptr[place] - '0');
    }
    place -= (int64_t)n->whole.len;
    return place < (int64_t)n->fraction.len ? (unsigned)(n->fraction.ptr[place] - '0') : 0;
}

static bool append_digit(uint64_t *value, unsigned digit)
{
    if (*value > (UINT64_MAX - digit) / 10) {
        return false;
    }
    *value = *value * 10 + digit;
    return true;
}

/* Whether any digit from a place on is not 0. */
static bool has_rest(const number *n, int64_t place)
{
    int64_t end = (int64_t)(n->whole.len + n->fraction.len);
    for (int64_t i = place > 0 ? place : 0; i < end; i++) {
        if (digit_at(n, i) != 0) {
            return true;
        }
    }
    return false;
}

/* The digits before the point after it was moved. False if they do not fit. */
static bool whole_of(const number *n, int64_t point, uint64_t *ret_value)
{
    *ret_value = 0;
    for (int64_t i = 0; i < point; i++) {
        if (!append_digit(ret_value, digit_at(n, i))) {
            return false;
        }
        if (*ret_value == 0 && i >= (int64_t)(n->whole.len + n->fraction.len)) {
            break; /* zero, whatever the exponent */
        }
    }
    return true;
}

/* ceil(value * 2^bits), where `value` has its point at a place. */
static int scale_binary(const number *n, int64_t point, uint64_t *value)
{
    if (has_rest(n, point + FRACTION_DIGITS) || (*value != 0 && *value >> (64 - n->bits) != 0)) {
        return KI_ERR_RANGE;
    }
    uint64_t rest = 0;
    for (int64_t i = point; i < point + FRACTION_DIGITS; i++) {
        rest = rest * 10 + digit_at(n, i);
    }
    uint64_t scaled = 0;
    for (unsigned i = 0; i < n->bits; i++) {
        rest *= 2;
        scaled = scaled * 2 + (rest >= FRACTION_ONE ? 1 : 0);
        rest -= rest >= FRACTION_ONE ? FRACTION_ONE : 0;
    }
    uint64_t base = *value << n->bits;
    scaled += rest != 0 ? 1 : 0;
    if (scaled > UINT64_MAX - base) {
        return KI_ERR_RANGE;
    }
    *value = base + scaled;
    return 0;
}

int ki__quantity_int64(ki_str text, int shift, int64_t *ret_number)
{
    number n;
    uint64_t value;
    if (!read_number(text, &n)) {
        return KI_ERR_INVALID;
    }
    int64_t point = (int64_t)n.whole.len + n.power + shift;
    if (!whole_of(&n, point, &value)) {
        return KI_ERR_RANGE;
    }
    if (n.bits != 0) {
        int r = scale_binary(&n, point, &value);
        if (r < 0) {
            return r;
        }
    } else if (has_rest(&n, point)) {
        value++;
    }
    if (value > (uint64_t)INT64_MAX + (n.negative ? 1 : 0)) {
        return KI_ERR_RANGE;
    }
    *ret_number = n.negative ? -(int64_t)(value - (value != 0)) - (value != 0) : (int64_t)value;
    return 0;
}

static char *add(char *out, ki_str text)
{
    if (text.len != 0) {
        memcpy(out, text.ptr, text.len);
    }
    return out + text.len;
}

int ki__quantity_double(ki_str text, double *ret_number)
{
    char room[KI__QUANTITY_TEXT_MAX + KI__INT64_TEXT_MAX + 4]; /* and "0", ".", "0", "e" */
    number n;
    if (text.len > KI__QUANTITY_TEXT_MAX || !read_number(text, &n)) {
        return KI_ERR_INVALID;
    }
    /* As JSON would have it. */
    char *out = add(room, n.whole.len != 0 ? n.whole : ki_str_make("0", 1));
    *out++ = '.';
    out = add(out, n.fraction.len != 0 ? n.fraction : ki_str_make("0", 1));
    *out++ = 'e';
    out += ki__format_int64(n.power, out);
    double value;
    int r = ki__json_double(ki_str_make(room, (size_t)(out - room)), &value);
    if (r < 0) {
        return r;
    }
    value *= (double)(UINT64_C(1) << n.bits);
    *ret_number = n.negative ? -value : value;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sums are at most 2^63, which only a negative duration may reach. A fraction is computed in
 * double, as in Go, so that the same text yields the same nanoseconds. */
#include "object/text/duration.h"

#include <kinformer/error.h>

static const uint64_t LIMIT = UINT64_C(1) << 63;

static bool at_digit(ki_str text)
{
    return text.len != 0 && *text.ptr >= '0' && *text.ptr <= '9';
}

static ki_str after(ki_str text, size_t len)
{
    return ki_str_make(text.ptr + len, text.len - len);
}

/* The digits of an integer. */
static int take_whole(ki_str *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (; at_digit(*text); *text = after(*text, 1)) {
        if (number > LIMIT / 10) {
            return KI_ERR_RANGE;
        }
        number = number * 10 + (uint64_t)(*text->ptr - '0');
        if (number > LIMIT) {
            return KI_ERR_RANGE;
        }
    }
    *ret_number = number;
    return 0;
}

/* The digits after a point: number / *ret_scale. Digits that do not fit are dropped. */
static uint64_t take_fraction(ki_str *text, double *ret_scale)
{
    uint64_t number = 0;
    double scale = 1;
    bool full = false;
    for (; at_digit(*text); *text = after(*text, 1)) {
        uint64_t next = number * 10 + (uint64_t)(*text->ptr - '0');
        full = full || number > (LIMIT - 1) / 10 || next > LIMIT;
        if (!full) {
            number = next;
            scale *= 10;
        }
    }
    *ret_scale = scale;
    return number;
}

/* Parses the unit at the start of the text, up to the next number. Nanoseconds, or 0 if unknown. */
static uint64_t take_unit(ki_str *text)
{
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {
        {"ns", 1},
        {"us", 1000},
        {"\xc2\xb5s", 1000}, /* micro sign */
        {"\xce\xbcs", 1000}, /* Greek mu */
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", UINT64_C(60000000000)},
        {"h", UINT64_C(3600000000000)},
    };
    size_t len = 0;
    while (len != text->len && text->ptr[len] != '.' && !at_digit(after(*text, len))) {
        len++;
    }
    ki_str name = ki_str_make(text->ptr, len);
    *text = after(*text, len);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ki_str_eq_text(name, units[i].name)) {
            return units[i].nanoseconds;
        }
    }
    return 0;
}

/* One number with its unit. */
static int take_term(ki_str *text, uint64_t *ret_nanoseconds)
{
    size_t before = text->len;
    uint64_t whole;
    int r = take_whole(text, &whole);
    if (r < 0) {
        return r;
    }
    bool digits = text->len != before;
    double scale = 1;
    uint64_t fraction = 0;
    if (text->len != 0 && *text->ptr == '.') {
        *text = after(*text, 1);
        digits = digits || at_digit(*text);
        fraction = take_fraction(text, &scale);
    }
    uint64_t unit = digits ? take_unit(text) : 0;
    if (unit == 0) {
        return KI_ERR_INVALID;
    }
    if (whole > LIMIT / unit) {
        return KI_ERR_RANGE;
    }
    uint64_t sum = whole * unit;
    if (fraction != 0) {
        sum += (uint64_t)((double)fraction * ((double)unit / scale));
    }
    *ret_nanoseconds = sum;
    return sum > LIMIT ? KI_ERR_RANGE : 0;
}

int ki__duration_read(ki_str text, int64_t *ret_nanoseconds)
{
    bool negative = text.len != 0 && *text.ptr == '-';
    if (text.len != 0 && (*text.ptr == '-' || *text.ptr == '+')) {
        text = after(text, 1);
    }
    if (text.len == 0) {
        return KI_ERR_INVALID;
    }
    uint64_t sum = 0;
    if (ki_str_eq_text(text, "0")) {
        text.len = 0;
    }
    while (text.len != 0) {
        uint64_t term;
        int r = take_term(&text, &term);
        if (r < 0) {
            return r;
        }
        sum += term; /* both are at most 2^63 */
        if (sum > LIMIT || sum < term) {
            return KI_ERR_RANGE;
        }
    }
    if (sum == LIMIT && !negative) {
        return KI_ERR_RANGE;
    }
    *ret_nanoseconds = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return 0;
}

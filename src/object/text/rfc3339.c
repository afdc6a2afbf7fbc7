/* SPDX-License-Identifier: Apache-2.0 */
#include "object/text/rfc3339.h"

#include <kinformer/error.h>

/* Reads numbers and separators from the front of `left`; a mismatch clears `ok` permanently. */
typedef struct reader {
    ki_str left;
    bool ok;
} reader;

static char take(reader *r)
{
    if (r->left.len == 0) {
        r->ok = false;
        return '\0';
    }
    char c = *r->left.ptr;
    r->left = ki_str_make(r->left.ptr + 1, r->left.len - 1);
    return c;
}

static void take_mark(reader *r, char mark)
{
    r->ok = take(r) == mark && r->ok;
}

static int64_t take_number(reader *r, int digits, int64_t min, int64_t max)
{
    int64_t number = 0;
    for (int i = 0; i < digits; i++) {
        char c = take(r);
        r->ok = r->ok && c >= '0' && c <= '9';
        number = number * 10 + (c - '0');
    }
    r->ok = r->ok && number >= min && number <= max;
    return number;
}

static int32_t take_fraction(reader *r)
{
    if (r->left.len == 0 || *r->left.ptr != '.') {
        return 0;
    }
    (void)take(r);
    int32_t nanos = 0;
    int32_t unit = 100000000;
    do {
        int64_t digit = take_number(r, 1, 0, 9); /* at least one */
        nanos += r->ok ? (int32_t)digit * unit : 0;
        unit /= 10;
    } while (r->left.len != 0 && *r->left.ptr >= '0' && *r->left.ptr <= '9');
    return nanos;
}

static int64_t take_offset(reader *r)
{
    char c = take(r);
    if (c == 'Z') {
        return 0;
    }
    r->ok = r->ok && (c == '+' || c == '-');
    int64_t hours = take_number(r, 2, 0, 23);
    take_mark(r, ':');
    int64_t minutes = take_number(r, 2, 0, 59);
    int64_t seconds = (hours * 60 + minutes) * 60;
    return c == '-' ? -seconds : seconds;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* Days since 1970-01-01. Years are 0 to 9999. */
static int64_t days_since_epoch(int64_t year, int64_t month, int64_t day)
{
    int64_t days = year * 365 + day - 1;
    if (year > 0) {
        int64_t past = year - 1; /* last complete year; year 0 was a leap year */
        days += past / 4 - past / 100 + past / 400 + 1;
    }
    for (int64_t m = 1; m < month; m++) {
        days += days_in_month(year, m);
    }
    return days - 719528; /* from year 0 to 1970 */
}

int ki__rfc3339_read_nanos(ki_str text, int64_t *ret_seconds, int32_t *ret_nanos)
{
    reader r = {.left = text, .ok = true};
    int64_t year = take_number(&r, 4, 0, 9999);
    take_mark(&r, '-');
    int64_t month = take_number(&r, 2, 1, 12);
    take_mark(&r, '-');
    int64_t day = take_number(&r, 2, 1, 31);
    take_mark(&r, 'T');
    int64_t hour = take_number(&r, 2, 0, 23);
    take_mark(&r, ':');
    int64_t minute = take_number(&r, 2, 0, 59);
    take_mark(&r, ':');
    int64_t second = take_number(&r, 2, 0, 59);
    int32_t nanos = take_fraction(&r);
    int64_t offset = take_offset(&r);
    if (!r.ok || r.left.len != 0 || day > days_in_month(year, month)) {
        return KI_ERR_INVALID;
    }
    int64_t days = days_since_epoch(year, month, day);
    *ret_seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset;
    *ret_nanos = nanos;
    return 0;
}

int ki__rfc3339_read(ki_str text, int64_t *ret_seconds)
{
    int32_t nanos;
    return ki__rfc3339_read_nanos(text, ret_seconds, &nanos);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Formats integers, times and durations. Like Go, computes modulo 2^64, so that every int64 has a
 * text. */
#include "object/text/text_format.h"

#include <string.h>

#include "base/digits.h"

/* Writes `number` in decimal, zero-padded to `width` digits. */
static char *put_digits(char *out, uint64_t number, size_t width)
{
    char room[KI__DIGITS_SIZE];
    ki_str digits = ki__digits(number, room);
    for (size_t zeros = digits.len; zeros < width; zeros++) {
        *out++ = '0';
    }
    memcpy(out, digits.ptr, digits.len);
    return out + digits.len;
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

static char *put_int64(char *out, int64_t number, size_t width)
{
    if (number < 0) {
        *out++ = '-';
    }
    return put_digits(out, magnitude(number), width);
}

size_t ki__format_int64(int64_t number, char out[static KI__INT64_TEXT_MAX])
{
    return (size_t)(put_int64(out, number, 1) - out);
}

/* ---- times ---- */

enum { DAY_SECONDS = 86400, DAYS_IN_400_YEARS = 146097 };

/* Like Go, counts from the 1st of March of this many years before year 0, so that every int64 is at
 * or after it, modulo 2^64. A multiple of 400 years. */
static const int64_t YEARS_BEFORE_0 = INT64_C(292277022400);

typedef struct date {
    int64_t year;
    uint32_t month;
    uint32_t day;
} date;

/* Years that start in March have the leap day last, so that all months start at fixed days. */
static date date_of(uint64_t days)
{
    uint64_t cycles = days / DAYS_IN_400_YEARS;
    uint32_t rest = (uint32_t)(days % DAYS_IN_400_YEARS);
    uint32_t century = rest / 36524 < 4 ? rest / 36524 : 3; /* the last century has an extra day */
    rest -= century * 36524;
    uint32_t four = rest / 1461;
    rest -= four * 1461;
    uint32_t year = rest / 365 < 4 ? rest / 365 : 3;
    rest -= year * 365;
    /* From March on, month lengths repeat 31, 30, 31, 30, 31: 153 days in five months. */
    uint32_t month = (rest * 5 + 2) / 153;
    uint64_t years = cycles * 400 + century * 100 + four * 4 + year + (month >= 10);
    return (date){
        .year = (int64_t)(years - (uint64_t)YEARS_BEFORE_0),
        .month = month < 10 ? month + 3 : month - 9,
        .day = rest - (month * 153 + 2) / 5 + 1,
    };
}

/* Everything but the zone. */
static char *put_time(char *out, int64_t seconds)
{
    /* 719468 days from the 1st of March of year 0 to 1970. */
    uint64_t since =
        (uint64_t)seconds +
        ((uint64_t)YEARS_BEFORE_0 / 400 * DAYS_IN_400_YEARS + UINT64_C(719468)) * DAY_SECONDS;
    date on = date_of(since / DAY_SECONDS);
    uint64_t second = since % DAY_SECONDS;
    out = put_int64(out, on.year, 4);
    *out++ = '-';
    out = put_digits(out, on.month, 2);
    *out++ = '-';
    out = put_digits(out, on.day, 2);
    *out++ = 'T';
    out = put_digits(out, second / 3600, 2);
    *out++ = ':';
    out = put_digits(out, second / 60 % 60, 2);
    *out++ = ':';
    return put_digits(out, second % 60, 2);
}

size_t ki__format_time(int64_t seconds, char out[static KI__TIME_TEXT_MAX])
{
    char *end = put_time(out, seconds);
    *end++ = 'Z';
    return (size_t)(end - out);
}

size_t ki__format_micro_time(int64_t seconds, int32_t nanos, char out[static KI__TIME_TEXT_MAX])
{
    int32_t micros = nanos / 1000;
    int32_t carry = micros / 1000000 - (micros % 1000000 < 0);
    seconds = (int64_t)((uint64_t)seconds + (uint64_t)(int64_t)carry);
    char *end = put_time(out, seconds);
    *end++ = '.';
    end = put_digits(end, (uint64_t)(micros - carry * 1000000), 6);
    *end++ = 'Z';
    return (size_t)(end - out);
}

/* ---- durations ---- */

/* number / 10^places without trailing zeros. */
static char *put_fraction(char *out, uint64_t number, size_t places)
{
    uint64_t unit = 1;
    for (size_t i = 0; i < places; i++) {
        unit *= 10;
    }
    out = put_digits(out, number / unit, 1);
    uint64_t fraction = number % unit;
    if (fraction == 0) {
        return out;
    }
    for (; fraction % 10 == 0; fraction /= 10) {
        places--;
    }
    *out++ = '.';
    return put_digits(out, fraction, places);
}

static char *put_text(char *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len);
    return out + len;
}

static char *put_duration(char *out, uint64_t nanoseconds)
{
    static const uint64_t minute = UINT64_C(60000000000);
    if (nanoseconds == 0) {
        return put_text(out, "0s");
    }
    if (nanoseconds < 1000) {
        return put_text(put_digits(out, nanoseconds, 1), "ns");
    }
    if (nanoseconds < 1000000) {
        return put_text(put_fraction(out, nanoseconds, 3), "\xc2\xb5s"); /* micro sign */
    }
    if (nanoseconds < 1000000000) {
        return put_text(put_fraction(out, nanoseconds, 6), "ms");
    }
    if (nanoseconds >= 60 * minute) {
        out = put_text(put_digits(out, nanoseconds / (60 * minute), 1), "h");
    }
    if (nanoseconds >= minute) {
        out = put_text(put_digits(out, nanoseconds / minute % 60, 1), "m");
    }
    return put_text(put_fraction(out, nanoseconds % minute, 9), "s");
}

size_t ki__format_duration(int64_t nanoseconds, char out[static KI__DURATION_TEXT_MAX])
{
    char *end = out;
    if (nanoseconds < 0) {
        *end++ = '-';
    }
    return (size_t)(put_duration(end, magnitude(nanoseconds)) - out);
}

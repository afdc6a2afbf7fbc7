/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/emit.h"

#include <kinformer/error.h>

int ki__emit_texts(ki_buf *out, va_list texts)
{
    int r = 0;
    for (const char *text = va_arg(texts, const char *); text != NULL && r == 0;
         text = va_arg(texts, const char *)) {
        r = ki_buf_add_text(out, text);
    }
    return r;
}

int ki__emit_text(ki_buf *out, ...)
{
    va_list texts;
    va_start(texts, out);
    int r = ki__emit_texts(out, texts);
    va_end(texts);
    return r;
}

int ki__emit_u64(ki_buf *out, uint64_t number)
{
    char room[20];
    size_t i = sizeof(room);
    do {
        room[--i] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return ki_buf_add(out, room + i, sizeof(room) - i);
}

int ki__emit_i64(ki_buf *out, int64_t number)
{
    int r = number < 0 ? ki_buf_add_char(out, '-') : 0;
    return r < 0 ? r : ki__emit_u64(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* ---- strings ---- */

static bool is_tail(const unsigned char *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

/* The bytes of the character at `p`, or 0 if it is not UTF-8. */
static size_t utf8_len(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        return left >= 2 && is_tail(p + 1, 1) ? 2 : 0;
    }
    if (p[0] >= 0xe0 && p[0] <= 0xef) {
        bool ok = left >= 3 && is_tail(p + 1, 2);
        ok = ok && !(p[0] == 0xe0 && p[1] < 0xa0) && !(p[0] == 0xed && p[1] >= 0xa0);
        return ok ? 3 : 0;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        bool ok = left >= 4 && is_tail(p + 1, 3);
        ok = ok && !(p[0] == 0xf0 && p[1] < 0x90) && !(p[0] == 0xf4 && p[1] >= 0x90);
        return ok ? 4 : 0;
    }
    return 0;
}

static int emit_escaped(ki_buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    switch (c) {
    case '"':
    case '\\':
        text[1] = (char)c;
        return ki_buf_add(out, text, 2);
    case '\n':
        return ki_buf_add(out, "\\n", 2);
    default:
        return ki_buf_add(out, text, sizeof(text));
    }
}

int ki__emit_string(ki_buf *out, ki_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    int r = ki_buf_add_char(out, '"');
    for (size_t i = 0; i < text.len && r == 0;) {
        size_t run = 0; /* bytes that stand for themselves */
        while (i + run < text.len && p[i + run] >= ' ' && p[i + run] != '"' && p[i + run] != '\\') {
            size_t len = utf8_len(p + i + run, text.len - i - run);
            if (len == 0) {
                break;
            }
            run += len;
        }
        if (run != 0) {
            r = ki_buf_add(out, text.ptr + i, run);
            i += run;
        } else {
            r = p[i] >= 0x80 ? ki_buf_add_char(out, '?') : emit_escaped(out, p[i]);
            i++;
        }
    }
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

int ki__emit_member(ki_buf *out, const char *name, ki_str text, bool first)
{
    int r = ki__emit_text(out, first ? "\"" : ",\"", name, "\":", NULL);
    return r < 0 ? r : ki__emit_string(out, text);
}

/* ---- time ---- */

static int emit_digits(ki_buf *out, int64_t number, int digits)
{
    char room[4];
    for (int i = digits - 1; i >= 0; i--) {
        room[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return ki_buf_add(out, room, (size_t)digits);
}

/* The civil date of a day since 1970-01-01; years from 0 to 9999. Eras of 400 years begin on the
 * first of March, so that the leap day is the last of its year. */
static void date_of(int64_t days, int64_t *ret_year, int64_t *ret_month, int64_t *ret_day)
{
    days += 719468; /* from 0000-03-01 */
    int64_t era = days / 146097;
    int64_t in_era = days % 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153; /* from March */
    *ret_day = in_year - (153 * month + 2) / 5 + 1;
    *ret_month = month < 10 ? month + 3 : month - 9;
    *ret_year = year + era * 400 + (*ret_month <= 2 ? 1 : 0);
}

int ki__emit_time(ki_buf *out, int64_t seconds)
{
    const int64_t first = INT64_C(-62162035200); /* 0000-03-01 */
    const int64_t last = INT64_C(253402300799);  /* 9999-12-31T23:59:59Z */
    seconds = seconds < first ? first : seconds > last ? last : seconds;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0 ? 1 : 0);
    int64_t rest = seconds - days * 86400;
    int64_t year;
    int64_t month;
    int64_t day;
    date_of(days, &year, &month, &day);
    const struct {
        int64_t number;
        int digits;
        char after;
    } parts[] = {{year, 4, '-'},        {month, 2, '-'},          {day, 2, 'T'},
                 {rest / 3600, 2, ':'}, {rest / 60 % 60, 2, ':'}, {rest % 60, 2, 'Z'}};
    int r = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && r == 0; i++) {
        r = emit_digits(out, parts[i].number, parts[i].digits);
        r = r < 0 ? r : ki_buf_add_char(out, parts[i].after);
    }
    return r;
}

/* ---- base64url and numbers ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int ki__emit_base64url(ki_buf *out, ki_str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    int r = 0;
    for (size_t i = 0; i < bytes.len && r == 0; i += 3) {
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t word = (uint32_t)p[i] << 16;
        word |= have > 1 ? (uint32_t)p[i + 1] << 8 : 0;
        word |= have > 2 ? (uint32_t)p[i + 2] : 0;
        char text[4];
        for (int j = 0; j < 4; j++) {
            text[j] = alphabet[word >> (18 - 6 * j) & 63];
        }
        r = ki_buf_add(out, text, have + 1);
    }
    return r;
}

int ki__read_base64url(ki_str text, ki_buf *out)
{
    int r = text.len % 4 == 1 ? KI_ERR_SYNTAX : 0;
    for (size_t i = 0; i < text.len && r == 0; i += 4) {
        size_t have = text.len - i < 4 ? text.len - i : 4;
        uint32_t word = 0;
        for (size_t j = 0; j < 4; j++) {
            const char *at = j < have ? memchr(alphabet, text.ptr[i + j], 64) : alphabet;
            if (at == NULL) {
                return KI_ERR_SYNTAX;
            }
            word = word << 6 | (uint32_t)(at - alphabet);
        }
        if ((have == 2 && (word & 0xffff) != 0) || (have == 3 && (word & 0xff) != 0)) {
            return KI_ERR_SYNTAX; /* two texts for the same bytes */
        }
        const char bytes[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        r = ki_buf_add(out, bytes, have - 1);
    }
    return r;
}

bool ki__read_u64(ki_str text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return text.len != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/validate/pattern_class.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/sort.h"
#include "base/utf8.h"

uint32_t ki__pattern_rune(ki_str text, size_t *at)
{
    ki_str rest = ki_str_make(text.ptr + *at, text.len - *at);
    size_t len = ki__utf8_length(rest);
    const unsigned char *b = (const unsigned char *)rest.ptr;
    uint32_t c = len == 1 ? b[0] : len == 0 ? 0xfffd : b[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        c = c << 6 | (b[i] & 0x3f);
    }
    *at += len != 0 ? len : 1;
    return c;
}

void ki__pattern_class_begin(ki__pattern_class *class, ki__pattern *p, bool fold)
{
    *class = (ki__pattern_class){.p = p, .first = p->range_count, .fold = fold};
}

static int add_range(ki__pattern_class *class, uint32_t from, uint32_t to)
{
    ki__pattern *p = class->p;
    void *ranges = p->ranges;
    int r =
        ki__array_reserve(p->alloc, &ranges, &p->range_cap, p->range_count + 1, sizeof(*p->ranges));
    p->ranges = ranges;
    if (r == 0) {
        p->ranges[p->range_count++] = (ki__pattern_range){from, to};
    }
    return r;
}

/* Adds the intersection of a range with [low, high], shifted by an offset. */
static int add_moved(ki__pattern_class *class, uint32_t from, uint32_t to, char low, char high,
                     int distance)
{
    uint32_t begin = from > (uint32_t)low ? from : (uint32_t)low;
    uint32_t end = to < (uint32_t)high ? to : (uint32_t)high;
    if (begin > end) {
        return 0;
    }
    return add_range(class, (uint32_t)((int)begin + distance), (uint32_t)((int)end + distance));
}

int ki__pattern_class_add(ki__pattern_class *class, uint32_t from, uint32_t to)
{
    int r = add_range(class, from, to);
    if (class->fold) {
        r = r < 0 ? r : add_moved(class, from, to, 'a', 'z', 'A' - 'a');
        r = r < 0 ? r : add_moved(class, from, to, 'A', 'Z', 'a' - 'A');
    }
    return r;
}

static int compare(const void *a, const void *b)
{
    const ki__pattern_range *left = a;
    const ki__pattern_range *right = b;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Sorts the ranges from `first` on, and merges adjacent ones. */
static void tidy(ki__pattern *p, size_t first)
{
    size_t count = p->range_count - first;
    size_t kept = 0;
    if (count == 0) {
        return;
    }
    ki__pattern_range *ranges = p->ranges + first;
    ki__sort(ranges, count, sizeof(*ranges), compare);
    for (size_t i = 1; i < count; i++) {
        if (ranges[i].from <= ranges[kept].to + 1) {
            ranges[kept].to = ranges[kept].to < ranges[i].to ? ranges[i].to : ranges[kept].to;
        } else {
            ranges[++kept] = ranges[i];
        }
    }
    p->range_count = first + kept + 1;
}

/* Replaces the ranges from `first` on by their complement. */
static int invert(ki__pattern_class *class, size_t first)
{
    ki__pattern *p = class->p;
    tidy(p, first);
    size_t count = p->range_count - first;
    uint32_t next = 0;
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        ki__pattern_range range = p->ranges[first + i];
        if (range.from > next) {
            r = add_range(class, next, range.from - 1);
        }
        next = range.to + 1;
    }
    if (r == 0 && next <= KI__PATTERN_RUNE_MAX) {
        r = add_range(class, next, KI__PATTERN_RUNE_MAX);
    }
    if (r == 0) {
        memmove(p->ranges + first, p->ranges + first + count,
                (p->range_count - first - count) * sizeof(*p->ranges));
        p->range_count -= count;
    }
    return r;
}

int ki__pattern_class_end(ki__pattern_class *class)
{
    ki__pattern *p = class->p;
    tidy(p, class->first);
    int r = ki__pattern_emit(p, KI__PATTERN_CLASS, (uint32_t) class->first);
    if (r == 0) {
        p->code[p->count - 1].count = (uint32_t)(p->range_count - class->first);
        p->code[p->count - 1].negated = class->negated;
    }
    return r;
}

/* ---- named classes ---- */

/* Ranges as pairs of bytes. */
static const struct {
    const char *name;
    const char *pairs;
} posix_classes[] = {
    {"alnum", "09AZaz"},
    {"alpha", "AZaz"},
    {"ascii", "\x01\x7f"},
    {"blank", "\t\t  "},
    {"cntrl", "\x01\x1f\x7f\x7f"},
    {"digit", "09"},
    {"graph", "!~"},
    {"lower", "az"},
    {"print", " ~"},
    {"punct", "!/:@[`{~"},
    {"space", "\t\r  "},
    {"upper", "AZ"},
    {"word", "09AZaz__"},
    {"xdigit", "09AFaf"},
};

static int add_pairs(ki__pattern_class *class, const char *pairs, bool negated)
{
    size_t first = class->p->range_count;
    int r = 0;
    for (size_t i = 0; pairs[i] != '\0' && r == 0; i += 2) {
        uint32_t from = (unsigned char)pairs[i];
        from = from == 1 ? 0 : from; /* no text contains NUL */
        r = negated ? add_range(class, from, (unsigned char)pairs[i + 1])
                    : ki__pattern_class_add(class, from, (unsigned char)pairs[i + 1]);
    }
    return r == 0 && negated ? invert(class, first) : r;
}

/* \d, \S and so on: 1, or 0 for another letter. */
static int add_perl(ki__pattern_class *class, char letter)
{
    char lower = (char)(letter | 0x20);
    const char *pairs = lower == 'd'   ? "09"
                        : lower == 's' ? "\t\n\f\r  "
                        : lower == 'w' ? "09AZaz__"
                                       : NULL;
    if (pairs == NULL) {
        return 0;
    }
    int r = add_pairs(class, pairs, letter != lower);
    return r < 0 ? r : 1;
}

/* [:alpha:] and [:^alpha:]: 1, or 0 if there is none at this position. */
static int read_posix(ki__pattern_class *class, ki_str text, size_t *at, ki__pattern_fault *fault)
{
    size_t start = *at;
    if (text.len - start < 2 || text.ptr[start] != '[' || text.ptr[start + 1] != ':') {
        return 0;
    }
    size_t end = start + 2;
    while (end + 1 < text.len && !(text.ptr[end] == ':' && text.ptr[end + 1] == ']')) {
        end++;
    }
    if (end + 1 >= text.len) {
        return 0;
    }
    size_t name = start + 2;
    bool negated = name < end && text.ptr[name] == '^';
    ki_str wanted = ki_str_make(text.ptr + name + negated, end - name - negated);
    for (size_t i = 0; i < sizeof(posix_classes) / sizeof(posix_classes[0]); i++) {
        if (ki_str_eq_text(wanted, posix_classes[i].name)) {
            *at = end + 2;
            int r = add_pairs(class, posix_classes[i].pairs, negated);
            return r < 0 ? r : 1;
        }
    }
    return ki__pattern_fail(fault, "invalid character class range", start, end + 2 - start);
}

/* ---- escapes ---- */

/* The part after \x: two digits, or any number in braces. */
static bool read_hex(ki_str text, size_t *at, uint32_t *ret_rune)
{
    size_t i = *at;
    bool braces = i < text.len && text.ptr[i] == '{';
    size_t digits = 0;
    uint32_t c = 0;
    i += braces ? 1 : 0;
    while (i < text.len && ki__hex_value(text.ptr[i]) >= 0 && (braces || digits < 2)) {
        c = c * 16 + (uint32_t)ki__hex_value(text.ptr[i++]);
        digits++;
        if (c > KI__PATTERN_RUNE_MAX) {
            return false;
        }
    }
    if (braces ? digits == 0 || i == text.len || text.ptr[i] != '}' : digits != 2) {
        return false;
    }
    *at = i + (braces ? 1 : 0);
    *ret_rune = c;
    return true;
}

/* An octal number: a single digit other than 0 would be a backreference, which RE2 does not
 * have. */
static bool read_octal(ki_str text, size_t *at, uint32_t *ret_rune)
{
    size_t i = *at;
    uint32_t c = 0;
    while (i < text.len && i < *at + 3 && text.ptr[i] >= '0' && text.ptr[i] <= '7') {
        c = c * 8 + (uint32_t)(text.ptr[i++] - '0');
    }
    if (i == *at || (i == *at + 1 && text.ptr[*at] != '0')) {
        return false;
    }
    *at = i;
    *ret_rune = c;
    return true;
}

static bool is_punctuation(char c)
{
    unsigned char u = (unsigned char)c;
    bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return u < 0x80 && !alphanumeric;
}

/* A single character. */
static bool read_char(ki_str text, size_t *at, uint32_t *ret_rune)
{
    static const char letters[] = "aftnrv";
    static const char meant[] = "\a\f\t\n\r\v";
    char c = text.ptr[*at];
    const char *letter = memchr(letters, c, sizeof(letters) - 1);
    if (c == 'x') {
        (*at)++;
        return read_hex(text, at, ret_rune);
    }
    if (c >= '0' && c <= '7') {
        return read_octal(text, at, ret_rune);
    }
    if (letter != NULL || is_punctuation(c)) {
        *ret_rune = (unsigned char)(letter != NULL ? meant[letter - letters] : c);
        (*at)++;
        return true;
    }
    return false;
}

int ki__pattern_class_escape(ki__pattern_class *class, ki_str text, size_t *at,
                             ki__pattern_fault *fault, uint32_t *ret_rune)
{
    size_t start = *at;
    size_t next = start + 1;
    if (next == text.len) {
        return ki__pattern_fail(fault, "trailing backslash at end of expression", start, 0);
    }
    char c = text.ptr[next];
    int r = add_perl(class, c);
    if (r != 0) {
        *at = next + 1;
        return r;
    }
    if (c == 'p' || c == 'P') {
        return KI_ERR_UNSUPPORTED;
    }
    if (!read_char(text, &next, ret_rune)) {
        size_t end = next < text.len ? next + 1 : next;
        return ki__pattern_fail(fault, "invalid escape sequence", start, end - start);
    }
    *at = next;
    return 0;
}

/* ---- brackets ---- */

/* One end of a range, or a class: 0 with a character, or 1. */
static int read_item(ki__pattern_class *class, ki_str text, size_t *at, ki__pattern_fault *fault,
                     uint32_t *ret_rune)
{
    if (text.ptr[*at] == '\\') {
        return ki__pattern_class_escape(class, text, at, fault, ret_rune);
    }
    *ret_rune = ki__pattern_rune(text, at);
    return 0;
}

static int read_range(ki__pattern_class *class, ki_str text, size_t *at, ki__pattern_fault *fault)
{
    size_t start = *at;
    uint32_t from;
    int r = read_item(class, text, at, fault, &from);
    if (r != 0) {
        return r < 0 ? r : 0;
    }
    uint32_t to = from;
    if (text.len - *at >= 2 && text.ptr[*at] == '-' && text.ptr[*at + 1] != ']') {
        (*at)++;
        size_t end = *at;
        r = read_item(class, text, at, fault, &to);
        if (r == 1) { /* a class cannot end a range */
            return ki__pattern_fail(fault, "invalid escape sequence", end, *at - end);
        }
        if (r == 0 && to < from) {
            return ki__pattern_fail(fault, "invalid character class range", start, *at - start);
        }
    }
    return r < 0 ? r : ki__pattern_class_add(class, from, to);
}

int ki__pattern_class_read(ki__pattern_class *class, ki_str text, size_t *at,
                           ki__pattern_fault *fault)
{
    size_t start = *at;
    bool first = true;
    int r = 0;
    (*at)++;
    if (*at < text.len && text.ptr[*at] == '^') {
        class->negated = true;
        (*at)++;
    }
    while (r == 0 && *at < text.len && (first || text.ptr[*at] != ']')) {
        first = false;
        r = read_posix(class, text, at, fault);
        r = r != 0 ? (r < 0 ? r : 0) : read_range(class, text, at, fault);
    }
    if (r == 0 && *at == text.len) {
        return ki__pattern_fail(fault, "missing closing ]", start, text.len - start);
    }
    (*at)++;
    return r;
}

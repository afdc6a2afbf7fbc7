/* SPDX-License-Identifier: Apache-2.0 */
/* Each format is a function of the string. They follow go-openapi, which is more lenient than the
 * RFCs in places: a duration may be "3 days", an IPv4 address may have leading zeros. */
#include "apiserver/validate/formats.h"

#include "apiserver/validate/name_rules.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "object/names.h"

/* ---- characters ---- */

static bool all(ki_str text, bool (*is)(char))
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is(text.ptr[i])) {
            return false;
        }
    }
    return true;
}

static ki_str cut(ki_str text, size_t from, size_t to)
{
    return ki_str_make(text.ptr + from, to - from);
}

static size_t find(ki_str text, char c)
{
    const char *at = text.len != 0 ? memchr(text.ptr, c, text.len) : NULL;
    return at != NULL ? (size_t)(at - text.ptr) : text.len;
}

/* Matches the text against a shape: 0 is a digit, x a hexadecimal digit, anything else itself. A
 * '?' after it makes it optional. */
static bool has_shape(ki_str text, const char *shape)
{
    size_t at = 0;
    for (size_t i = 0; shape[i] != '\0'; i++) {
        bool maybe = shape[i + 1] == '?';
        char c = at < text.len ? text.ptr[at] : '\0';
        bool fits = at < text.len && (shape[i] == '0'   ? ki__is_digit(c)
                                      : shape[i] == 'x' ? ki__is_hex(c)
                                                        : c == shape[i]);
        if (!fits && !maybe) {
            return false;
        }
        at += fits ? 1 : 0;
        i += maybe ? 1 : 0;
    }
    return at == text.len;
}

static unsigned int number(ki_str text)
{
    unsigned int n = 0;
    for (size_t i = 0; i < text.len; i++) {
        n = n > 100000 ? n : n * 10 + (unsigned int)(text.ptr[i] - '0');
    }
    return n;
}

/* ---- times ---- */

static bool is_date(ki_str text)
{
    static const unsigned char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!has_shape(text, "0000-00-00")) {
        return false;
    }
    unsigned int year = number(cut(text, 0, 4));
    unsigned int month = number(cut(text, 5, 7));
    unsigned int day = number(cut(text, 8, 10));
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day < 29 || leap);
}

static bool is_zone(ki_str text)
{
    if (text.len == 1) {
        return ki__to_lower(text.ptr[0]) == 'z';
    }
    return text.len == 6 && (text.ptr[0] == '+' || text.ptr[0] == '-') &&
           has_shape(cut(text, 1, 6), "00:00");
}

static bool is_date_time(ki_str text)
{
    size_t t = find(text, 'T');
    t = t < text.len ? t : find(text, 't');
    if (t == text.len || !is_date(cut(text, 0, t))) {
        return false;
    }
    ki_str time = cut(text, t + 1, text.len);
    if (time.len < 9 || !has_shape(cut(time, 0, 8), "00:00:00") || number(cut(time, 0, 2)) > 23 ||
        number(cut(time, 3, 5)) > 59 || number(cut(time, 6, 8)) > 59) {
        return false;
    }
    size_t end = 8;
    if (end + 1 < time.len && ki__is_digit(time.ptr[end + 1]) && time.ptr[end] != '+' &&
        time.ptr[end] != '-') {
        end++;
        while (end < time.len && ki__is_digit(time.ptr[end])) {
            end++;
        }
    }
    return is_zone(cut(time, end, time.len));
}

static bool equals_lower(ki_str text, const char *word)
{
    size_t i = 0;
    while (i < text.len && word[i] != '\0' && ki__to_lower(text.ptr[i]) == word[i]) {
        i++;
    }
    return i == text.len && word[i] == '\0';
}

static bool begins_lower(ki_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && equals_lower(cut(text, 0, len), word);
}

/* A unit, abbreviated or not: long forms may have a suffix ("minutes"). */
static bool is_unit(ki_str unit)
{
    static const char *const exact[] = {"ns", "us", "\xc2\xb5s", "ms", "s", "m",
                                        "h",  "hr", "d",         "w",  "wk"};
    static const char *const begins[] = {"nano", "micro", "milli", "sec",
                                         "min",  "hour",  "day",   "week"};
    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        if (equals_lower(unit, exact[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (begins_lower(unit, begins[i])) {
            return true;
        }
    }
    return false;
}

static size_t skip_unit(ki_str text, size_t at)
{
    while (at < text.len && (ki__is_letter(text.ptr[at]) ||
                             (text.len - at >= 2 && memcmp(text.ptr + at, "\xc2\xb5", 2) == 0))) {
        at += ki__is_letter(text.ptr[at]) ? 1 : 2;
    }
    return at;
}

static bool is_go_unit(ki_str unit)
{
    static const char *const units[] = {"ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (ki_str_eq_text(unit, units[i])) {
            return true;
        }
    }
    return false;
}

/* As in Go's time.ParseDuration: "1h2.5m". The range is not checked. */
static bool is_go_duration(ki_str text)
{
    size_t at = text.len != 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    if (text.len == at + 1 && text.ptr[at] == '0') {
        return true;
    }
    bool any = false;
    while (at < text.len) {
        size_t start = at;
        size_t digits = 0;
        size_t dots = 0;
        while (at < text.len &&
               (ki__is_digit(text.ptr[at]) || (text.ptr[at] == '.' && dots == 0))) {
            dots += text.ptr[at] == '.' ? 1 : 0;
            digits += text.ptr[at] != '.' ? 1 : 0;
            at++;
        }
        size_t unit = at;
        while (at < text.len && text.ptr[at] != '.' && !ki__is_digit(text.ptr[at])) {
            at++;
        }
        if (start == unit || digits == 0 || !is_go_unit(cut(text, unit, at))) {
            return false;
        }
        any = true;
    }
    return any;
}

static bool is_duration(ki_str text)
{
    if (is_go_duration(text)) {
        return true;
    }
    /* Any number followed by a unit matches, whatever surrounds it. */
    for (size_t at = 0; at < text.len;) {
        if (!ki__is_digit(text.ptr[at])) {
            at++;
            continue;
        }
        while (at < text.len && ki__is_digit(text.ptr[at])) {
            at++;
        }
        size_t unit = at;
        while (unit < text.len &&
               (text.ptr[unit] == ' ' || (text.ptr[unit] >= '\t' && text.ptr[unit] <= '\r'))) {
            unit++;
        }
        size_t end = skip_unit(text, unit);
        if (end != unit && is_unit(cut(text, unit, end))) {
            return true;
        }
        at = end > at ? end : at;
    }
    return false;
}

/* ---- addresses ---- */

static bool is_ipv4(ki_str text)
{
    size_t parts = 0;
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len || text.ptr[i] == '.') {
            ki_str part = cut(text, start, i);
            if (part.len == 0 || !all(part, ki__is_digit) || number(part) > 255) {
                return false;
            }
            parts++;
            start = i + 1;
        }
    }
    return parts == 4;
}

static bool is_ipv6(ki_str text)
{
    size_t groups = 0;
    bool gap = false;
    size_t at = 0;
    if (text.len >= 2 && text.ptr[0] == ':' && text.ptr[1] == ':') {
        gap = true;
        at = 2;
    }
    while (at < text.len) {
        size_t end = at;
        while (end < text.len && ki__is_hex(text.ptr[end])) {
            end++;
        }
        if (end < text.len && text.ptr[end] == '.') { /* the last four bytes may be IPv4 */
            groups += is_ipv4(cut(text, at, text.len)) ? 2 : 9;
            break;
        }
        if (end == at || end - at > 4) {
            return false;
        }
        groups++;
        if (end == text.len) {
            break;
        }
        if (text.ptr[end] != ':' || end + 1 == text.len) {
            return false;
        }
        at = end + 1;
        if (text.ptr[at] == ':') {
            if (gap) {
                return false;
            }
            gap = true;
            at++;
        }
    }
    return gap ? groups < 8 : groups == 8;
}

static bool is_cidr(ki_str text)
{
    size_t slash = find(text, '/');
    if (slash == text.len) {
        return false;
    }
    ki_str address = cut(text, 0, slash);
    ki_str bits = cut(text, slash + 1, text.len);
    if (bits.len == 0 || bits.len > 5 || !all(bits, ki__is_digit)) {
        return false;
    }
    return is_ipv4(address) ? number(bits) <= 32 : is_ipv6(address) && number(bits) <= 128;
}

/* 6, 8 or 20 bytes, in one of three spellings. */
static bool is_mac(ki_str text)
{
    if (text.len < 14) {
        return false;
    }
    bool dots = text.ptr[4] == '.';
    char separator = dots ? '.' : text.ptr[2];
    size_t digits = dots ? 4 : 2;
    size_t bytes = 0;
    if (!dots && separator != ':' && separator != '-') {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        bool between = i % (digits + 1) == digits;
        if (between ? text.ptr[i] != separator : !ki__is_hex(text.ptr[i])) {
            return false;
        }
        bytes += !between && i % (digits + 1) % 2 == 1 ? 1 : 0;
    }
    return (text.len + 1) % (digits + 1) == 0 && (bytes == 6 || bytes == 8 || bytes == 20);
}

/* Non-ASCII characters count as letters, which needs no tables. */
static bool is_host_byte(char c)
{
    return ki__is_letter(c) || ki__is_digit(c) || (unsigned char)c >= 0x80;
}

static bool is_host_label(ki_str label)
{
    if (label.len == 0 || label.len > 63 || !is_host_byte(label.ptr[0]) ||
        !is_host_byte(label.ptr[label.len - 1])) {
        return false;
    }
    for (size_t i = 0; i < label.len; i++) {
        if (!is_host_byte(label.ptr[i]) && label.ptr[i] != '-') {
            return false;
        }
    }
    return true;
}

static bool is_top_level(char c)
{
    return ki__is_letter(c) || (unsigned char)c >= 0x80;
}

/* A single label has its dash, if any, after the first character; a domain ends in letters. */
static bool is_hostname(ki_str text)
{
    size_t start = 0;
    if (text.len == 0 || text.len > 255) {
        return false;
    }
    if (find(text, '.') == text.len) {
        size_t dash = find(text, '-');
        bool one =
            dash == text.len || (dash == 1 && find(cut(text, 2, text.len), '-') == text.len - 2);
        return one && text.len <= 63 && is_host_byte(text.ptr[0]) &&
               (dash == text.len ? all(text, is_host_byte)
                                 : all(cut(text, 2, text.len), is_host_byte));
    }
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '.') {
            continue;
        }
        ki_str label = cut(text, start, i);
        bool last = i == text.len;
        if (last ? label.len < 2 || label.len > 63 || !all(label, is_top_level)
                 : !is_host_label(label)) {
            return false;
        }
        start = i + 1;
    }
    return true;
}

/* ---- the rest ---- */

static bool is_scheme(ki_str scheme)
{
    if (scheme.len == 0 || !ki__is_letter(scheme.ptr[0])) {
        return false;
    }
    for (size_t i = 0; i < scheme.len; i++) {
        char c = scheme.ptr[i];
        if (!ki__is_letter(c) && !ki__is_digit(c) && c != '+' && c != '-' && c != '.') {
            return false;
        }
    }
    return true;
}

static bool has_good_escapes(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%' &&
            (text.len - i < 3 || !ki__is_hex(text.ptr[i + 1]) || !ki__is_hex(text.ptr[i + 2]))) {
            return false;
        }
    }
    return true;
}

static bool is_port(ki_str host)
{
    size_t end = host.len;
    while (end != 0 && ki__is_digit(host.ptr[end - 1])) {
        end--;
    }
    size_t colon = find(host, ':');
    bool literal = host.len != 0 && host.ptr[0] == '[';
    return literal || colon == host.len || colon + 1 == end;
}

/* As in Go's url.ParseRequestURI: a URL with a scheme, or an absolute path. */
static bool is_uri(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f) {
            return false;
        }
    }
    if (ki_str_eq_text(text, "*")) {
        return true;
    }
    ki_str rest = text;
    size_t colon = find(text, ':');
    bool schemed = colon < text.len && is_scheme(cut(text, 0, colon));
    if (schemed) {
        rest = cut(text, colon + 1, text.len);
    }
    ki_str path = cut(rest, 0, find(rest, '?'));
    if (path.len == 0 || path.ptr[0] != '/') {
        return schemed; /* opaque if it has no path */
    }
    if (!schemed || rest.len < 2 || rest.ptr[1] != '/') {
        return has_good_escapes(path);
    }
    ki_str authority = cut(path, 2, path.len);
    ki_str host = cut(authority, 0, find(authority, '/'));
    size_t at = find(host, '@');
    host = at < host.len ? cut(host, at + 1, host.len) : host;
    return find(host, ' ') == host.len && is_port(host) &&
           has_good_escapes(cut(authority, find(authority, '/'), authority.len));
}

static bool is_base64_byte(char c)
{
    return ki__is_letter(c) || ki__is_digit(c) || c == '+' || c == '/';
}

static bool is_base64(ki_str text)
{
    size_t padding = 0;
    while (padding < 2 && text.len > padding && text.ptr[text.len - 1 - padding] == '=') {
        padding++;
    }
    return text.len != 0 && text.len % 4 == 0 &&
           all(cut(text, 0, text.len - padding), is_base64_byte);
}

static bool is_uuid_of(ki_str text, const char *shape, bool variant)
{
    if (!has_shape(text, shape)) {
        return false;
    }
    size_t digits = 0;
    for (size_t i = 0; variant && i < text.len; i++) {
        if (text.ptr[i] != '-' && digits++ == 16) {
            char c = ki__to_lower(text.ptr[i]);
            return c == '8' || c == '9' || c == 'a' || c == 'b';
        }
    }
    return true;
}

#define UUID(version) "xxxxxxxx-?xxxx-?" version "xxx-?xxxx-?xxxxxxxxxxxx"

static bool is_uuid(ki_str text)
{
    return is_uuid_of(text, UUID("x"), false);
}

static bool is_uuid3(ki_str text)
{
    return is_uuid_of(text, UUID("3"), false);
}

static bool is_uuid4(ki_str text)
{
    return is_uuid_of(text, UUID("4"), true);
}

static bool is_uuid5(ki_str text)
{
    return is_uuid_of(text, UUID("5"), true);
}

static bool is_object_id(ki_str text)
{
    return text.len == 24 && all(text, ki__is_hex);
}

static bool is_hex_color(ki_str text)
{
    size_t start = text.len != 0 && text.ptr[0] == '#' ? 1 : 0;
    ki_str digits = cut(text, start, text.len);
    return (digits.len == 3 || digits.len == 6) && all(digits, ki__is_hex);
}

static size_t skip_spaces(ki_str text, size_t at)
{
    while (at < text.len && (text.ptr[at] == ' ' || (text.ptr[at] >= '\t' && text.ptr[at] <= '\r' &&
                                                     text.ptr[at] != '\v'))) {
        at++;
    }
    return at;
}

static bool is_rgb_color(ki_str text)
{
    size_t at = 4;
    if (text.len < 4 || memcmp(text.ptr, "rgb(", 4) != 0) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        size_t start = skip_spaces(text, at);
        size_t end = start;
        while (end < text.len && ki__is_digit(text.ptr[end])) {
            end++;
        }
        ki_str part = cut(text, start, end);
        if (part.len == 0 || number(part) > 255 || (part.len > 1 && part.ptr[0] == '0')) {
            return false;
        }
        at = skip_spaces(text, end);
        if (at == text.len || text.ptr[at] != (i < 2 ? ',' : ')')) {
            return false;
        }
        at++;
    }
    return at == text.len;
}

static bool is_ssn(ki_str text)
{
    return text.len == 11 && ki__is_digit(text.ptr[0]) && ki__is_digit(text.ptr[1]) &&
           ki__is_digit(text.ptr[2]) && (text.ptr[3] == '-' || text.ptr[3] == ' ') &&
           ki__is_digit(text.ptr[4]) && ki__is_digit(text.ptr[5]) &&
           (text.ptr[6] == '-' || text.ptr[6] == ' ') && all(cut(text, 7, 11), ki__is_digit);
}

/* Extracts at most `max` digits of a text and returns their number. `isbn`: the last may be an
 * X. */
static size_t digits_of(ki_str text, bool isbn, unsigned char *digits, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool x = isbn && c == 'X' && count == 9;
        if (ki__is_digit(c) || x) {
            if (count == max) {
                return max + 1;
            }
            digits[count++] = (unsigned char)(x ? 10 : c - '0');
        } else if (isbn && c != '-' && skip_spaces(text, i) == i) {
            return max + 1;
        }
    }
    return count;
}

static bool is_isbn10(ki_str text)
{
    unsigned char digits[10];
    unsigned int sum = 0;
    if (digits_of(text, true, digits, 10) != 10) {
        return false;
    }
    for (unsigned int i = 0; i < 10; i++) {
        sum += (i + 1) * digits[i];
    }
    return sum % 11 == 0;
}

static bool is_isbn13(ki_str text)
{
    unsigned char digits[13];
    unsigned int sum = 0;
    if (digits_of(text, true, digits, 13) != 13) {
        return false;
    }
    for (unsigned int i = 0; i < 12; i++) {
        if (digits[i] > 9) {
            return false;
        }
        sum += (i % 2 == 0 ? 1u : 3u) * digits[i];
    }
    return digits[12] == (10 - sum % 10) % 10;
}

static bool is_isbn(ki_str text)
{
    return is_isbn10(text) || is_isbn13(text);
}

/* Number of digits of credit card numbers with this prefix; 0: none. */
static size_t card_digits(const unsigned char *d, size_t count)
{
    unsigned int two = d[0] * 10u + d[1];
    unsigned int four = two * 100 + d[2] * 10u + d[3];
    if (d[0] == 4) {
        return count == 13 ? 13 : 16;
    }
    if ((two >= 51 && two <= 55) || four == 6011 || two == 65) {
        return 16;
    }
    if (two == 34 || two == 37) {
        return 15;
    }
    if (two == 36 || two == 38 || (two == 30 && d[2] <= 5)) {
        return 14;
    }
    return four == 2131 || four == 1800 ? 15 : two == 35 ? 16 : 0;
}

static bool is_credit_card(ki_str text)
{
    unsigned char digits[16];
    size_t count = digits_of(text, false, digits, 16);
    unsigned int sum = 0;
    if (count < 13 || count > 16 || card_digits(digits, count) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        unsigned int digit = digits[count - 1 - i] * (i % 2 == 1 ? 2u : 1u);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 == 0;
}

static bool is_atom_byte(char c)
{
    return ki__is_letter(c) || ki__is_digit(c) || (unsigned char)c >= 0x80 ||
           memchr("!#$%&'*+-/=?^_`{|}~", c, 19) != NULL;
}

/* Atoms separated by dots. */
static bool is_dot_atom(ki_str text)
{
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len || text.ptr[i] == '.') {
            if (i == start || !all(cut(text, start, i), is_atom_byte)) {
                return false;
            }
            start = i + 1;
        }
    }
    return true;
}

/* An address, or a name with an address in angle brackets. */
static bool is_email(ki_str text)
{
    size_t open = find(text, '<');
    if (open < text.len) {
        if (text.ptr[text.len - 1] != '>') {
            return false;
        }
        text = cut(text, open + 1, text.len - 1);
    }
    size_t at = find(text, '@');
    return at < text.len && is_dot_atom(cut(text, 0, at)) &&
           is_dot_atom(cut(text, at + 1, text.len));
}

static bool is_short_name(ki_str text)
{
    return text.len <= KI__DNS_LABEL_MAX && ki__name_matches(KI__NAME_LABEL, text);
}

static bool is_long_name(ki_str text)
{
    return text.len <= KI__DNS_SUBDOMAIN_MAX && ki__name_matches(KI__NAME_SUBDOMAIN, text);
}

static bool is_anything(ki_str text)
{
    (void)text;
    return true;
}

/* By name without dashes. */
static const struct {
    const char *name;
    bool (*matches)(ki_str text);
} formats[] = {
    {"bsonobjectid", is_object_id},
    {"uri", is_uri},
    {"email", is_email},
    {"hostname", is_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"cidr", is_cidr},
    {"mac", is_mac},
    {"uuid", is_uuid},
    {"uuid3", is_uuid3},
    {"uuid4", is_uuid4},
    {"uuid5", is_uuid5},
    {"isbn", is_isbn},
    {"isbn10", is_isbn10},
    {"isbn13", is_isbn13},
    {"creditcard", is_credit_card},
    {"ssn", is_ssn},
    {"hexcolor", is_hex_color},
    {"rgbcolor", is_rgb_color},
    {"byte", is_base64},
    {"password", is_anything},
    {"date", is_date},
    {"duration", is_duration},
    {"datetime", is_date_time},
    {"k8sshortname", is_short_name},
    {"k8slongname", is_long_name},
};

static bool is_named(ki_str format, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < format.len; i++) {
        if (format.ptr[i] == '-') {
            continue;
        }
        if (name[n] == '\0' || format.ptr[i] != name[n]) {
            return false;
        }
        n++;
    }
    return name[n] == '\0';
}

bool ki__format_is_known(ki_str format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (is_named(format, formats[i].name)) {
            return true;
        }
    }
    return false;
}

bool ki__format_matches(ki_str format, ki_str text)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (is_named(format, formats[i].name)) {
            return formats[i].matches(text);
        }
    }
    return true;
}

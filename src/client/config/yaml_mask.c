/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: in a masked text, the mask letter appears only in masked positions. */
#include "client/config/yaml_mask.h"

#include "base/ascii.h"

/* Letters that are not hexadecimal digits and start no escape. */
static const char letters[] = "kqzjwyhgGHIJKMOQRSTVWXYZilmops";

static bool is_alphanumeric(char c)
{
    return ki__is_digit(c) || ki__is_letter(c);
}

/* Number of hexadecimal digits of an escape with this letter; -1 if it has none. */
static int escape_digits(char c)
{
    switch (c) {
    case 'x':
        return 2;
    case 'u':
        return 4;
    case 'U':
        return 8;
    default:
        return c != '\0' && strchr("0abtnvfreNLP", c) != NULL ? 0 : -1;
    }
}

/* Number of letters and digits after the backslash at `at` that belong to an escape, and its code
 * point if it is numeric. Quotes are not tracked: where a backslash is not an escape, unmasked
 * letters do no harm. */
static size_t escape_length(ki_str text, size_t at, uint32_t *ret_code)
{
    *ret_code = 0;
    int digits = at + 1 < text.len ? escape_digits(text.ptr[at + 1]) : -1;
    if (digits < 0) {
        return 0;
    }
    size_t len = 1;
    while (len <= (size_t)digits && at + 1 + len < text.len &&
           ki__hex_value(text.ptr[at + 1 + len]) >= 0) {
        *ret_code = *ret_code << 4 | (uint32_t)ki__hex_value(text.ptr[at + 1 + len]);
        len++;
    }
    return len;
}

char ki__yaml_mask_letter(ki_str text)
{
    bool taken[128] = {false};
    for (size_t i = 0; i < text.len; i++) {
        uint32_t code;
        if (text.ptr[i] == '\\' && escape_length(text, i, &code) != 0 && code < 128) {
            taken[code] = true;
        }
    }
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (!taken[(unsigned char)letters[i]]) {
            return letters[i];
        }
    }
    return '\0';
}

static bool begins_block(char c)
{
    return c == '|' || c == '>';
}

/* Whether the digit at `at` may be the indentation indicator of a block scalar. */
static bool may_indent(ki_str text, size_t at)
{
    const char *p = text.ptr + at;
    return ki__is_digit(p[0]) && at >= 1 &&
           (begins_block(p[-1]) ||
            (at >= 2 && (p[-1] == '+' || p[-1] == '-') && begins_block(p[-2])));
}

void ki__yaml_mask(ki_str text, char letter, char *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        out[i] = is_alphanumeric(c) && !may_indent(text, i) ? letter : c;
        uint32_t code;
        size_t escape = c == '\\' ? escape_length(text, i, &code) : 0;
        memcpy(out + i + 1, text.ptr + i + 1, escape);
        i += escape;
    }
}

bool ki__yaml_unmask(ki_str text, const char *masked, char letter, char *value, size_t len)
{
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] != letter) {
            continue;
        }
        while (from < text.len && masked[from] != letter) {
            from++;
        }
        if (from == text.len) {
            return false;
        }
        value[i] = text.ptr[from++];
    }
    while (from < text.len && masked[from] != letter) {
        from++;
    }
    return from == text.len;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ASCII character classes, independent of the locale. Bytes from 0x80 on belong to no class. */
#ifndef KI_BASE_ASCII_H
#define KI_BASE_ASCII_H

#include <stdbool.h>
#include <string.h>

#include <kinformer/str.h>

static inline bool ki__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ki__is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ki__is_hex(char c)
{
    return ki__is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/** Value of a hexadecimal digit; -1 if `c` is not one. */
static inline int ki__hex_value(char c)
{
    if (ki__is_digit(c)) {
        return c - '0';
    }
    return ki__is_hex(c) ? (c | 0x20) - 'a' + 10 : -1;
}

/** JSON white space. */
static inline bool ki__is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline char ki__to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/** ASCII case-insensitive comparison. */
static inline bool ki__str_eq_nocase(ki_str a, ki_str b)
{
    bool same = a.len == b.len;
    for (size_t i = 0; same && i < a.len; i++) {
        same = ki__to_lower(a.ptr[i]) == ki__to_lower(b.ptr[i]);
    }
    return same;
}

/** Strips the bytes in `blanks` from both ends of the text. */
static inline ki_str ki__trim(ki_str text, const char *blanks)
{
    while (text.len != 0 && text.ptr[0] != '\0' && strchr(blanks, text.ptr[0]) != NULL) {
        text = ki_str_make(text.ptr + 1, text.len - 1);
    }
    while (text.len != 0 && text.ptr[text.len - 1] != '\0' &&
           strchr(blanks, text.ptr[text.len - 1]) != NULL) {
        text.len--;
    }
    return text;
}

#endif

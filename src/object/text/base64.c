/* SPDX-License-Identifier: Apache-2.0 */
#include "object/text/base64.h"

#include <kinformer/error.h>

static void encode_group(const unsigned char *p, size_t left, char out[4])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = (uint32_t)p[0] << 16;
    bits |= left > 1 ? (uint32_t)p[1] << 8 : 0;
    bits |= left > 2 ? p[2] : 0;
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = left > 1 ? alphabet[bits >> 6 & 63] : '=';
    out[3] = left > 2 ? alphabet[bits & 63] : '=';
}

size_t ki__base64_encode(ki_str bytes, char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < bytes.len && at < size; i += 3, at += 4) {
        char group[4];
        encode_group((const unsigned char *)bytes.ptr + i, bytes.len - i, group);
        memcpy(out + at, group, size - at < 4 ? size - at : 4);
    }
    return ki__base64_length(bytes.len);
}

/* 0 to 63, or -1. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Whether the text from its first '=' on, after `count` characters of a group, is exactly the
 * padding that the group needs. */
static bool padding_fits(const char *p, const char *end, int count)
{
    for (; p != end; p++) {
        if (*p == '\n' || *p == '\r') {
            continue;
        }
        if (*p != '=' || count < 2 || count > 3) {
            return false;
        }
        count++;
    }
    return count == 4;
}

int ki__base64_decode(ki_str text, char *out, size_t *ret_len)
{
    const char *end = text.len != 0 ? text.ptr + text.len : NULL;
    size_t len = 0;
    uint32_t bits = 0;
    int count = 0; /* characters of the current group */
    for (const char *p = text.len != 0 ? text.ptr : NULL; p != end; p++) {
        int value = value_of(*p);
        if (value < 0) {
            if (*p == '\n' || *p == '\r') {
                continue;
            }
            if (*p != '=' || !padding_fits(p, end, count)) {
                return KI_ERR_INVALID;
            }
            count = 0;
            break;
        }
        bits = bits << 6 | (uint32_t)value;
        /* Complete bytes are written at once: never beyond the characters already read. */
        if (++count >= 2) {
            if (out != NULL) {
                out[len] = (char)(bits >> (8 - 2 * count));
            }
            len++;
        }
        count %= 4;
    }
    if (count != 0) {
        return KI_ERR_INVALID;
    }
    *ret_len = len;
    return 0;
}

/* ---- base64url ---- */

static const char url_alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int ki__base64url_encode(ki_str bytes, ki_buf *out)
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
            text[j] = url_alphabet[word >> (18 - 6 * j) & 63];
        }
        r = ki_buf_add(out, text, have + 1);
    }
    return r;
}

int ki__base64url_decode(ki_str text, ki_buf *out)
{
    int r = text.len % 4 == 1 ? KI_ERR_SYNTAX : 0;
    for (size_t i = 0; i < text.len && r == 0; i += 4) {
        size_t have = text.len - i < 4 ? text.len - i : 4;
        uint32_t word = 0;
        for (size_t j = 0; j < 4; j++) {
            const char *at = j < have ? memchr(url_alphabet, text.ptr[i + j], 64) : url_alphabet;
            if (at == NULL) {
                return KI_ERR_SYNTAX;
            }
            word = word << 6 | (uint32_t)(at - url_alphabet);
        }
        if ((have == 2 && (word & 0xffff) != 0) || (have == 3 && (word & 0xff) != 0)) {
            return KI_ERR_SYNTAX; /* not canonical */
        }
        const char bytes[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        r = ki_buf_add(out, bytes, have - 1);
    }
    return r;
}

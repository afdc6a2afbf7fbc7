/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes, reasons and their texts, all from the tables of <kinformer/error.h>. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

const char *ki_error_name(int code)
{
    switch (code) {
#define ERROR_NAME(name, value, text) \
    case value:                       \
        return "KI_ERR_" #name;
        KI_ERROR_MAP(ERROR_NAME)
#undef ERROR_NAME
    default:
        break;
    }
    const char *name = code < 0 && code > -4096 ? strerrorname_np(-code) : NULL;
    return name != NULL ? name : code == 0 ? "ok" : "unknown";
}

const char *ki_error_text(int code)
{
    switch (code) {
#define ERROR_TEXT(name, value, text) \
    case value:                       \
        return text;
        KI_ERROR_MAP(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        break;
    }
    const char *text = code <= 0 && code > -4096 ? strerrordesc_np(-code) : NULL;
    return text != NULL ? text : "unknown error";
}

bool ki_error_is_retriable(int code)
{
    switch (code) {
    case -EAGAIN:
    case -EINTR:
    case -ENOMEM:
    case -ETIMEDOUT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ECONNABORTED:
    case -ENETUNREACH:
    case -EHOSTUNREACH:
    case -EPIPE:
    case KI_ERR_BUSY:
        return true;
    default:
        return false;
    }
}

static const struct {
    const char *text;
} reasons[] = {
#define REASON_TEXT(name, text, code) [KI_REASON_##name] = {text},
    KI_REASON_MAP(REASON_TEXT)
#undef REASON_TEXT
};
_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == KI_REASON_MAX, "a text for each reason");

const char *ki_reason_text(ki_reason reason)
{
    return (size_t)reason < KI_REASON_MAX ? reasons[reason].text : "";
}

ki_reason ki_reason_from(ki_str text)
{
    for (size_t i = KI_REASON_UNKNOWN + 1; i < KI_REASON_MAX; i++) {
        if (ki_str_eq_text(text, reasons[i].text)) {
            return (ki_reason)i;
        }
    }
    return KI_REASON_UNKNOWN;
}

static int error_vset(ki_error *error, int code, const char *format, va_list args)
{
    ki_assert(code < 0);
    *error = (ki_error){.code = code};
    (void)vsnprintf(error->message, sizeof(error->message), format, args); /* cut is fine */
    return code;
}

int ki__error_set(ki_error *error, int code, const char *format, ...)
{
    if (error == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    (void)error_vset(error, code, format, args);
    va_end(args);
    return code;
}

static void locate(ki_error *error, ki_str text, size_t offset)
{
    size_t end = offset < text.len ? offset : text.len;
    size_t line_start = 0;
    uint32_t line = 1;
    for (size_t i = 0; i < end; i++) {
        if (text.ptr[i] == '\n') {
            line_start = i + 1;
            line++;
        }
    }
    error->offset = end;
    error->line = line;
    error->column = (uint32_t)(end - line_start) + 1;
}

int ki__error_at(ki_error *error, int code, ki_str text, size_t offset, const char *format, ...)
{
    if (error == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    (void)error_vset(error, code, format, args);
    va_end(args);
    locate(error, text, offset);
    return code;
}

int ki__error_code(ki_error *error, int code)
{
    return ki__error_set(error, code, "%s", ki_error_text(code));
}

/* The length of the UTF-8 character at the start of `text`, which is not empty; 0 if there is none:
 * no surrogates, nothing overlong, nothing beyond U+10FFFF. */
static size_t character_length(ki_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    if (p[0] < 0x80) {
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || len > text.len) {
        return 0;
    }
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    for (size_t i = 1; i < len; i++) {
        if (p[i] < low || p[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

/* What stands for the character of `len` bytes at `p`, or NUL if it may stay. */
static char replacement(const char *p, size_t len)
{
    unsigned char first = (unsigned char)p[0];
    if (len == 0) {
        return '?';
    }
    if (first == '\t' || first == '\n' || first == '\r') {
        return ' ';
    }
    bool high_control = first == 0xc2 && (unsigned char)p[1] < 0xa0; /* U+0080 to U+009F */
    return first < 0x20 || first == 0x7f || high_control ? '?' : '\0';
}

void ki__error_add(ki_error *error, ki_str text)
{
    if (error == NULL) {
        return;
    }
    char *out = error->message + strnlen(error->message, sizeof(error->message) - 1);
    const char *end = error->message + sizeof(error->message) - 1; /* keeps a place for the NUL */
    while (text.len != 0) {
        size_t len = character_length(text);
        char other = replacement(text.ptr, len);
        const char *from = other != '\0' ? &other : text.ptr;
        size_t size = other != '\0' ? 1 : len;
        if ((size_t)(end - out) < size) {
            break;
        }
        memcpy(out, from, size);
        out += size;
        size_t taken = len != 0 ? len : 1;
        text = ki_str_make(text.ptr + taken, text.len - taken);
    }
    *out = '\0';
}

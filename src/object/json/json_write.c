/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings are mostly plain: they are scanned a word at a time and copied in runs. */
#include "object/json/json_write.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"

/* Number of ASCII bytes starting at `p` that need no escape. */
static size_t plain_length(const char *p, const char *end)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    static const uint64_t tops = UINT64_C(0x8080808080808080);
    const char *start = p;
    for (; end - p >= 8; p += 8) {
        uint64_t word = ki__load_le64(p);
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        /* A byte below 0x20, or a zero byte in either word, borrows into its top bit. A borrow can
         * cause false positives only in bytes after a true one. */
        uint64_t found = ((word - ones * 0x20) | (quote - ones) | (slash - ones) | word) & tops;
        if (found != 0) {
            p += (size_t)__builtin_ctzll(found) / 8;
            return (size_t)(p - start);
        }
    }
    while (p != end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\') {
        p++;
    }
    return (size_t)(p - start);
}

static int add_escape(ki_buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 0xf]};
    switch (c) {
    case '"':
    case '\\':
        text[1] = (char)c;
        return ki_buf_add(out, text, 2);
    case '\n':
        return ki_buf_add(out, "\\n", 2);
    case '\r':
        return ki_buf_add(out, "\\r", 2);
    case '\t':
        return ki_buf_add(out, "\\t", 2);
    default:
        return ki_buf_add(out, text, sizeof(text));
    }
}

int ki__json_write_content(ki_buf *out, ki_str raw)
{
    const char *end = raw.len != 0 ? raw.ptr + raw.len : raw.ptr;
    int r = 0;
    for (const char *p = raw.ptr; r >= 0 && p != end;) {
        size_t len = plain_length(p, end);
        if (len != 0) {
            r = ki_buf_add(out, p, len);
        } else if ((unsigned char)*p < 0x80) {
            r = add_escape(out, (unsigned char)*p);
            len = 1;
        } else {
            len = ki__utf8_length(ki_str_make(p, (size_t)(end - p)));
            r = len != 0 ? ki_buf_add(out, p, len) : ki_buf_add(out, "\xef\xbf\xbd", 3);
            len = len != 0 ? len : 1;
        }
        p += len;
    }
    return r;
}

char *ki__json_write_quotes(ki_buf *out, size_t len, int *ret_code)
{
    char *room;
    int r = ki_buf_reserve(out, len + 2, &room);
    if (r < 0) {
        *ret_code = r;
        return NULL;
    }
    room[0] = '"';
    room[len + 1] = '"';
    return room + 1;
}

int ki_buf_add_json_string(ki_buf *out, ki_str raw)
{
    KI__REQUIRE(out, NULL);
    int r = 0;
    if (raw.len == 0 || plain_length(raw.ptr, raw.ptr + raw.len) == raw.len) {
        char *room = ki__json_write_quotes(out, raw.len, &r);
        if (room != NULL) {
            if (raw.len != 0) {
                memcpy(room, raw.ptr, raw.len);
            }
            ki_buf_commit(out, raw.len + 2);
        }
        return r;
    }
    r = ki_buf_add_char(out, '"');
    r = r >= 0 ? ki__json_write_content(out, raw) : r;
    return r >= 0 ? ki_buf_add_char(out, '"') : r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf values written as JSON: a walk over the value with a stack of what is open, so that
 * nothing recurses. What it writes is what the reading functions show, member by member. */
#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "object/base64.h"
#include "object/proto_value.h"
#include "object/proto_wire.h"
#include "object/text_format.h"

enum { OPEN_INLINE = 24 }; /* deeper than most objects */

typedef struct writer {
    ki_buf *out;
    ki_iter *open; /* lists and maps, the innermost last */
    size_t depth;
    size_t cap;
    ki_iter *heap; /* where they are when there are many */
    ki_iter inline_open[OPEN_INLINE];
} writer;

/* ---- strings ---- */

/* How many bytes from `p` on need no escape and are ASCII. */
static size_t plain_length(const char *p, const char *end)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    static const uint64_t tops = UINT64_C(0x8080808080808080);
    const char *start = p;
    for (; end - p >= 8; p += 8) {
        uint64_t word = ki__load_le64(p);
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        /* A byte below 0x20, or a zero in one of the two, borrows into the top bit; what is wrong
         * there because of a borrow comes after a byte that is rightly found. */
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

/* The content of a string that is not all plain. */
static int add_encoded(ki_buf *out, ki_str raw)
{
    const char *end = raw.ptr + raw.len;
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

/* Room for a string of so many bytes and its quotes, which are written. NULL if there is none. */
static char *add_quotes(ki_buf *out, size_t len, int *ret_code)
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

static int add_text(ki_buf *out, ki_str raw)
{
    int r = 0;
    if (raw.len == 0 || plain_length(raw.ptr, raw.ptr + raw.len) == raw.len) {
        char *room = add_quotes(out, raw.len, &r);
        if (room != NULL) {
            if (raw.len != 0) {
                memcpy(room, raw.ptr, raw.len);
            }
            ki_buf_commit(out, raw.len + 2);
        }
        return r;
    }
    r = ki_buf_add_char(out, '"');
    r = r >= 0 ? add_encoded(out, raw) : r;
    return r >= 0 ? ki_buf_add_char(out, '"') : r;
}

static int add_string(ki_buf *out, const ki_value *value)
{
    if (ki__proto_shape_of(value) == KI__PROTO_TEXT) {
        return add_text(out, ki__proto_bytes_of(value));
    }
    /* Times, durations and base64 have nothing to escape. */
    int r = 0;
    size_t len = ki__proto_decode(value, NULL, 0);
    char *room = add_quotes(out, len, &r);
    if (room != NULL) {
        (void)ki__proto_decode(value, room, len);
        ki_buf_commit(out, len + 2);
    }
    return r;
}

/* ---- values ---- */

static int add_number(ki_buf *out, const ki_value *value)
{
    char text[KI__DOUBLE_TEXT_MAX];
    int64_t number = 0;
    switch (ki__proto_shape_of(value)) {
    case KI__PROTO_NUMBER:
        return ki_buf_add_str(out, ki__proto_bytes_of(value));
    case KI__PROTO_DOUBLE:
        return ki_buf_add(out, text,
                          ki__format_double(ki__proto_double(ki__proto_bytes_of(value)), text));
    default:
        (void)ki__proto_int64_of(value, &number); /* never fails for integers */
        return ki_buf_add(out, text, ki__format_int64(number, text));
    }
}

/* Opens a list or map. */
static int open_container(writer *w, const ki_value *value, char bracket)
{
    if (w->depth == w->cap) {
        void *block = w->heap;
        size_t cap = w->heap != NULL ? w->cap : 0;
        int r = ki__array_reserve(w->out->alloc, &block, &cap, w->depth + 1, sizeof(*w->open));
        if (r < 0) {
            return r;
        }
        if (w->heap == NULL) {
            memcpy(block, w->inline_open, sizeof(w->inline_open));
        }
        w->heap = block;
        w->open = block;
        w->cap = cap;
    }
    int r = ki_value_iter(value, &w->open[w->depth]);
    if (r >= 0) {
        w->depth++;
        r = ki_buf_add_char(w->out, bracket);
    }
    return r;
}

static int add_value(writer *w, const ki_value *value)
{
    if (value->ops != &ki__proto_value_ops) {
        return ki_value_write_json(value, w->out); /* JSON as it stands in the bytes */
    }
    switch (ki_value_type(value)) {
    case KI_TYPE_BOOL:
        return ki_buf_add_text(w->out, ki__proto_bool(value) ? "true" : "false");
    case KI_TYPE_NUMBER:
        return add_number(w->out, value);
    case KI_TYPE_STRING:
        return add_string(w->out, value);
    case KI_TYPE_LIST:
        return open_container(w, value, '[');
    case KI_TYPE_MAP:
        return open_container(w, value, '{');
    default:
        return ki_buf_add(w->out, "null", 4);
    }
}

/* The next child of the innermost list or map, or its end. */
static int add_next(writer *w)
{
    ki_buf *out = w->out;
    ki_iter *iter = &w->open[w->depth - 1];
    ki_value key;
    ki_value value;
    bool map = ki_value_type(&iter->container) == KI_TYPE_MAP;
    if (ki_iter_next(iter, &key, &value) <= 0) {
        w->depth--;
        return ki_buf_add_char(out, map ? '}' : ']');
    }
    int r = 0;
    char last = out->data[out->len - 1]; /* nothing that is written ends with an opening bracket */
    if (last != '{' && last != '[') {
        r = ki_buf_add_char(out, ',');
    }
    if (r >= 0 && map) {
        r = add_text(out, ki__proto_bytes_of(&key));
        r = r >= 0 ? ki_buf_add_char(out, ':') : r;
    }
    return r >= 0 ? add_value(w, &value) : r;
}

int ki__proto_write_json(const ki_value *value, ki_buf *out)
{
    writer w;
    w.out = out;
    w.open = w.inline_open;
    w.depth = 0;
    w.cap = OPEN_INLINE;
    w.heap = NULL;
    size_t before = out->len;
    int r = add_value(&w, value);
    while (r >= 0 && w.depth != 0) {
        r = add_next(&w);
    }
    ki__free(out->alloc, w.heap);
    if (r < 0 && out->data != NULL) {
        out->len = before;
        out->data[before] = '\0';
    }
    return r;
}

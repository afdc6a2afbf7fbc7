/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes protobuf values as JSON: iterative, with a stack of open lists and maps instead of
 * recursion. The output matches the value API, member by member. */
#include <kinformer/error.h>

#include "base/alloc.h"
#include "object/edit/json_out.h"
#include "object/json/json_write.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"
#include "object/text/base64.h"
#include "object/text/text_format.h"

enum { OPEN_INLINE = 24 }; /* deeper than most objects */

typedef struct writer {
    ki_buf *out;
    ki_value_iter *open; /* lists and maps, innermost last */
    size_t depth;
    size_t cap;
    ki_value_iter *heap; /* the stack if it exceeds inline_open */
    ki_value_iter inline_open[OPEN_INLINE];
} writer;

/* ---- strings ---- */

static int add_string(ki_buf *out, const ki_value *value)
{
    if (ki__proto_shape_of(value) == KI__PROTO_TEXT) {
        return ki_buf_add_json_string(out, ki__proto_bytes_of(value));
    }
    /* Times, durations and base64 need no escapes. */
    int r = 0;
    size_t len = ki__proto_decode(value, NULL, 0);
    char *room = ki__json_write_quotes(out, len, &r);
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
        (void)ki__proto_int64_of(value, &number); /* cannot fail for integers */
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
    int r = ki_value_iter_begin(value, &w->open[w->depth]);
    if (r >= 0) {
        w->depth++;
        r = ki_buf_add_char(w->out, bracket);
    }
    return r;
}

static int add_value(writer *w, const ki_value *value)
{
    if (value->ops != &ki__proto_value_ops) {
        return ki_value_write_json(value, w->out); /* embedded JSON, copied as is */
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

/* Writes the next child of the innermost list or map, or its end. */
static int add_next(writer *w)
{
    ki_buf *out = w->out;
    ki_value_iter *iter = &w->open[w->depth - 1];
    ki_value key;
    ki_value value;
    bool map = ki_value_type(&iter->container) == KI_TYPE_MAP;
    if (ki_value_iter_next(iter, &key, &value) <= 0) {
        w->depth--;
        return ki_buf_add_char(out, map ? '}' : ']');
    }
    int r = 0;
    char last = out->data[out->len - 1]; /* no written value ends with an opening bracket */
    if (last != '{' && last != '[') {
        r = ki_buf_add_char(out, ',');
    }
    if (r >= 0 && map) {
        r = ki_buf_add_json_string(out, ki__proto_bytes_of(&key));
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
    if (r < 0) {
        ki__buf_truncate(out, before);
    }
    return r;
}

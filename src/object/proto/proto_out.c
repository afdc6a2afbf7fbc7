/* SPDX-License-Identifier: Apache-2.0 */
#include "object/proto/proto_out.h"

#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, HEAD_MAX = 5 + 10 };

/* Keeps all offsets, including the inserted lengths, within 32 bits. */
static const size_t BYTES_MAX = UINT32_MAX / 2;

static size_t put_varint(char *out, uint64_t value)
{
    size_t len = 0;
    while (value >= 0x80) {
        out[len++] = (char)(value | 0x80);
        value >>= 7;
    }
    out[len++] = (char)value;
    return len;
}

static uint32_t varint_size(uint64_t value)
{
    return (uint32_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static size_t put_tag(char *out, uint32_t number, unsigned wire)
{
    return put_varint(out, number << 3 | wire);
}

void ki__proto_out_init(ki__proto_out *out, ki_buf *buf)
{
    *out = (ki__proto_out){.buf = buf, .start = buf->len};
}

void ki__proto_out_done(ki__proto_out *out)
{
    ki__free(out->buf->alloc, out->lengths);
}

void ki__proto_out_undo(ki__proto_out *out)
{
    if (out->buf->data != NULL) {
        out->buf->len = out->start;
        ki_buf_commit(out->buf, 0);
    }
}

int ki__proto_out_open(ki__proto_out *out, uint32_t number, uint32_t *ret_message)
{
    void *lengths = out->lengths;
    int r = ki__array_reserve(out->buf->alloc, &lengths, &out->capacity, (size_t)out->count + 1,
                              sizeof(out->lengths[0]));
    out->lengths = lengths;
    if (r < 0) {
        return r;
    }
    char tag[HEAD_MAX];
    r = ki_buf_add(out->buf, tag, put_tag(tag, number, WIRE_BYTES));
    if (r < 0) {
        return r;
    }
    size_t written = out->buf->len - out->start;
    if (written > BYTES_MAX) {
        return KI_ERR_LIMIT;
    }
    out->lengths[out->count] = (ki__proto_length){.at = (uint32_t)written, .bytes = out->grown};
    *ret_message = out->count++;
    return 0;
}

void ki__proto_out_close(ki__proto_out *out, uint32_t message)
{
    ki__proto_length *length = &out->lengths[message];
    size_t written = out->buf->len - out->start - length->at;
    /* An overlong message is rejected by ki__proto_out_finish(). */
    length->bytes = (uint32_t)written + (out->grown - length->bytes);
    out->grown += varint_size(length->bytes);
}

int ki__proto_out_varint(ki__proto_out *out, uint32_t number, uint64_t value)
{
    char bytes[HEAD_MAX];
    size_t len = put_tag(bytes, number, WIRE_VARINT);
    len += put_varint(bytes + len, value);
    return ki_buf_add(out->buf, bytes, len);
}

int ki__proto_out_double(ki__proto_out *out, uint32_t number, double value)
{
    char bytes[HEAD_MAX];
    size_t len = put_tag(bytes, number, WIRE_FIXED64);
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; i++) {
        bytes[len++] = (char)(bits >> (8 * i));
    }
    return ki_buf_add(out->buf, bytes, len);
}

int ki__proto_out_head(ki__proto_out *out, uint32_t number, size_t len)
{
    char bytes[HEAD_MAX];
    size_t head = put_tag(bytes, number, WIRE_BYTES);
    head += put_varint(bytes + head, len);
    return ki_buf_add(out->buf, bytes, head);
}

int ki__proto_out_bytes(ki__proto_out *out, uint32_t number, ki_str bytes)
{
    int r = ki__proto_out_head(out, number, bytes.len);
    return r < 0 ? r : ki_buf_add_str(out->buf, bytes);
}

int ki__proto_out_finish(ki__proto_out *out)
{
    size_t written = out->buf->len - out->start;
    char *room;
    if (written > BYTES_MAX) {
        return KI_ERR_LIMIT;
    }
    int r = ki_buf_reserve(out->buf, out->grown, &room);
    if (r < 0) {
        return r;
    }
    char *bytes = out->buf->data + out->start;
    size_t from = written;            /* bytes before this have not been moved yet */
    size_t to = written + out->grown; /* final position of `from` */
    for (uint32_t i = out->count; i-- > 0;) {
        const ki__proto_length *length = &out->lengths[i];
        size_t len = from - length->at;
        memmove(bytes + to - len, bytes + length->at, len);
        to -= len + varint_size(length->bytes);
        (void)put_varint(bytes + to, length->bytes);
        from = length->at;
    }
    ki_assert(from == to);
    ki_buf_commit(out->buf, out->grown);
    return 0;
}

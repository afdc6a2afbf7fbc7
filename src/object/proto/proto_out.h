/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the protobuf wire format to a ki_buf, front to back. A message is preceded by its length,
 * which is known only at its end: lengths are collected and inserted in one final pass, so that
 * each byte moves once, regardless of depth. */
#ifndef KI_OBJECT_PROTO_PROTO_OUT_H
#define KI_OBJECT_PROTO_PROTO_OUT_H

#include <kinformer/buf.h>

typedef struct ki__proto_length {
    uint32_t at;    /* insertion offset, relative to `start` */
    uint32_t bytes; /* the length; while the message is open, the previous `grown` */
} ki__proto_length;

typedef struct ki__proto_out {
    ki_buf *buf;
    size_t start;    /* of the output, in the buffer */
    uint32_t grown;  /* bytes needed for the lengths of closed messages */
    uint32_t count;  /* messages so far */
    size_t capacity; /* of `lengths` */
    ki__proto_length *lengths;
} ki__proto_out;

/** Appends to the contents of `buf`. */
void ki__proto_out_init(ki__proto_out *out, ki_buf *buf);

/** Frees everything but the buffer. */
void ki__proto_out_done(ki__proto_out *out);

/** Restores the buffer. */
void ki__proto_out_undo(ki__proto_out *out);

/* All functions below return 0, KI_ERR_LIMIT or -ENOMEM. `number` is the field number, 1 to 255. */

/** Opens a message; pass *ret_message to ki__proto_out_close(). */
int ki__proto_out_open(ki__proto_out *out, uint32_t number, uint32_t *ret_message);

/** Closes the most recently opened message. */
void ki__proto_out_close(ki__proto_out *out, uint32_t message);

int ki__proto_out_varint(ki__proto_out *out, uint32_t number, uint64_t value);
int ki__proto_out_double(ki__proto_out *out, uint32_t number, double value);
int ki__proto_out_bytes(ki__proto_out *out, uint32_t number, ki_str bytes);

/** Writes tag and length of a field; the caller appends its `len` bytes to the buffer. */
int ki__proto_out_head(ki__proto_out *out, uint32_t number, size_t len);

/** Inserts all lengths, once every message is closed. */
int ki__proto_out_finish(ki__proto_out *out);

#endif

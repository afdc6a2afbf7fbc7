/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the protobuf wire format to a ki_buf, front to back. A message stands behind its own
 * length, which is known only at its end: the lengths are kept aside and put in place all at once,
 * so that each byte moves once, however deep it stands. */
#ifndef KI_OBJECT_PROTO_PROTO_OUT_H
#define KI_OBJECT_PROTO_PROTO_OUT_H

#include <kinformer/buf.h>

typedef struct ki__proto_length {
    uint32_t at;    /* where it goes, from the start */
    uint32_t bytes; /* the length; while the message is open, `grown` as it was before it */
} ki__proto_length;

typedef struct ki__proto_out {
    ki_buf *buf;
    size_t start;    /* of what is written here, in the buffer */
    uint32_t grown;  /* bytes that the lengths of closed messages will take */
    uint32_t count;  /* messages so far */
    size_t capacity; /* of lengths */
    ki__proto_length *lengths;
} ki__proto_out;

/** Writes after what `buf` holds. */
void ki__proto_out_init(ki__proto_out *out, ki_buf *buf);

/** Frees what is not the buffer. */
void ki__proto_out_done(ki__proto_out *out);

/** Makes the buffer what it was. */
void ki__proto_out_undo(ki__proto_out *out);

/* All below give 0, KI_ERR_LIMIT or -ENOMEM. `number` is that of the field, from 1 to 255. */

/** Opens a message; *ret_message is for closing it. */
int ki__proto_out_open(ki__proto_out *out, uint32_t number, uint32_t *ret_message);

/** Closes the message that was opened last of those that are open. */
void ki__proto_out_close(ki__proto_out *out, uint32_t message);

int ki__proto_out_varint(ki__proto_out *out, uint32_t number, uint64_t value);
int ki__proto_out_double(ki__proto_out *out, uint32_t number, double value);
int ki__proto_out_bytes(ki__proto_out *out, uint32_t number, ki_str bytes);

/** Writes tag and length of a field whose `len` bytes the caller adds to the buffer. */
int ki__proto_out_head(ki__proto_out *out, uint32_t number, size_t len);

/** Puts all lengths in place, once every message is closed. */
int ki__proto_out_finish(ki__proto_out *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles one value from the chunks in which it arrives. A value contained in one chunk is not
 * copied; others are accumulated in a buffer, up to a maximum. */
#ifndef KI_WIRE_GATHER_H
#define KI_WIRE_GATHER_H

#include <kinformer/buf.h>

enum { KI__GATHER_KEPT_MAX = 256 << 10 };

/** The bytes of one feed call. */
typedef struct ki__piece {
    const char *bytes;
    uint64_t start; /* stream offset of the first byte */
} ki__piece;

/** Appends the part of the value [start, end) contained in the chunk, up to `max` bytes in the
 *  buffer. 0 or -ENOMEM. */
static inline int ki__gather_add(ki_buf *buf, const ki__piece *piece, uint64_t start, uint64_t end,
                                 size_t max)
{
    uint64_t from = start > piece->start ? start : piece->start;
    size_t room = buf->len < max ? max - buf->len : 0;
    size_t len = end - from < room ? (size_t)(end - from) : room;
    return len != 0 ? ki_buf_add(buf, piece->bytes + (from - piece->start), len) : 0;
}

/** Returns the bytes of the value, whose end is in this chunk; at most the first `max`. Valid until
 *  the buffer is cleared or the chunk is gone. 0 or -ENOMEM. */
static inline int ki__gather_take(ki_buf *buf, const ki__piece *piece, uint64_t start, uint64_t end,
                                  size_t max, ki_str *ret_bytes)
{
    if (start >= piece->start) {
        size_t len = end - start < max ? (size_t)(end - start) : max;
        *ret_bytes = ki_str_make(piece->bytes + (start - piece->start), len);
        return 0;
    }
    int r = ki__gather_add(buf, piece, start, end, max);
    if (r < 0) {
        return r;
    }
    *ret_bytes = ki_buf_str(buf);
    return 0;
}

/** Prepares for the next value. Frees the buffer if a large value made it grow. */
static inline void ki__gather_clear(ki_buf *buf)
{
    if (buf->cap > KI__GATHER_KEPT_MAX) {
        ki_buf_done(buf);
    } else {
        ki_buf_clear(buf);
    }
}

#endif

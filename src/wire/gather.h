/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one value that may arrive in pieces. What lies whole in a piece is never copied;
 * what does not is put together here, up to a maximum. */
#ifndef KI_WIRE_GATHER_H
#define KI_WIRE_GATHER_H

#include <kinformer/buf.h>

enum { KI__GATHER_KEPT_MAX = 256 << 10 };

/** What was fed to a stream in one call. */
typedef struct ki__piece {
    const char *bytes;
    uint64_t start; /* of it, counted as the stream counts */
} ki__piece;

/** Adds the part of the value from `start` to `end` that lies in the piece, as far as the buffer
 *  has no more than `max` bytes then. 0 or -ENOMEM. */
static inline int ki__gather_add(ki_buf *buf, const ki__piece *piece, uint64_t start, uint64_t end,
                                 size_t max)
{
    uint64_t from = start > piece->start ? start : piece->start;
    size_t room = buf->len < max ? max - buf->len : 0;
    size_t len = end - from < room ? (size_t)(end - from) : room;
    return len != 0 ? ki_buf_add(buf, piece->bytes + (from - piece->start), len) : 0;
}

/** The bytes of the value, of which the piece has the end; no more than the first `max`. They are
 *  valid until the buffer is cleared or the piece is gone. 0 or -ENOMEM. */
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

/** Makes ready for the next value. One that was large does not hold its memory forever. */
static inline void ki__gather_clear(ki_buf *buf)
{
    if (buf->cap > KI__GATHER_KEPT_MAX) {
        ki_buf_done(buf);
    } else {
        ki_buf_clear(buf);
    }
}

#endif

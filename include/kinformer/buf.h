/* SPDX-License-Identifier: Apache-2.0 */
/* A growable byte buffer with a maximum size. The content is always followed by a NUL that is not
 * part of it, so `data` is a C string if the content has no NUL itself. */
#ifndef KINFORMER_BUF_H
#define KINFORMER_BUF_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_buf {
    char *data;            /* NULL until something was added */
    size_t len;            /* bytes of content */
    size_t cap;            /* bytes allocated, including the NUL */
    size_t max;            /* limit of `len` */
    const ki_alloc *alloc; /* allocator of `data` */
} ki_buf;

/** Initializes an empty buffer for up to `max` bytes. Every buffer has a limit: with 0, nothing
 *  fits. Allocates nothing. `alloc` may be NULL.
 *  Owner: caller; release with ki_buf_done().  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_init(ki_buf *buf, const ki_alloc *alloc, size_t max);

/** Frees the content. The buffer is then empty and may be used again. `buf` may be NULL.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_done(ki_buf *buf);

/** Empties the buffer and keeps its memory.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_clear(ki_buf *buf);

/** Appends `len` bytes, which must not be part of the buffer. On failure the content is unchanged.
 *  Thread: one-at-a-time.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  the maximum would be exceeded;  -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add(ki_buf *buf, const void *bytes, size_t len);

/** Appends one byte. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_char(ki_buf *buf, char c);

/** Appends a view. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_str(ki_buf *buf, ki_str s);

/** Appends a C string; NULL appends nothing. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_text(ki_buf *buf, const char *text);

/** Appends text as a JSON string, with quotes and escapes, for patches and objects that a program
 *  writes. Each byte that is not valid UTF-8 becomes U+FFFD. As ki_buf_add(), but on failure part
 *  of the text may have been added.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_json_string(ki_buf *buf, ki_str text);

/** Reserves space for `len` more bytes and returns its address. After writing there, call
 *  ki_buf_commit() before any other function of the buffer. As ki_buf_add(); *ret_room is set on
 *  success only.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_reserve(ki_buf *buf, size_t len, char **ret_room);

/** Adds the first `len` bytes of the space from ki_buf_reserve() to the content: at most as many as
 *  were reserved; 0 to add nothing.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
static inline void ki_buf_commit(ki_buf *buf, size_t len)
{
    buf->len += len;
    buf->data[buf->len] = '\0';
}

/** Returns a view of the content, valid until the next call that changes the buffer.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
static inline ki_str ki_buf_str(const ki_buf *buf)
{
    return ki_str_make(buf->data, buf->len);
}

/** Returns the content as a C string: "" if nothing was added. As ki_buf_str().  Since: 0.1 */
static inline const char *ki_buf_text(const ki_buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

KI_END_DECLS

#endif

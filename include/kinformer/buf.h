/* SPDX-License-Identifier: Apache-2.0 */
/* A growable byte buffer with a maximum. Its content is always followed by a NUL that is not part
 * of it, so `data` is a C string whenever the content has no NUL of its own. */
#ifndef KINFORMER_BUF_H
#define KINFORMER_BUF_H

#include <kinformer/alloc.h>
#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_buf {
    char *data;            /* NULL while nothing was ever added */
    size_t len;            /* bytes of content */
    size_t cap;            /* bytes allocated, the NUL included */
    size_t max;            /* content never grows beyond this */
    const ki_alloc *alloc; /* where data comes from */
} ki_buf;

/** Prepares an empty buffer that may hold up to `max` bytes. Every buffer has a limit: 0 does not
 *  mean none, it means that nothing fits. Allocates nothing. `alloc` may be NULL.
 *  Owner: release with ki_buf_done().  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_init(ki_buf *buf, const ki_alloc *alloc, size_t max);

/** Frees the content. The buffer may be used again, empty. NULL is fine.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_done(ki_buf *buf);

/** Empties the buffer and keeps its memory for what comes next.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_buf_clear(ki_buf *buf);

/** Appends `len` bytes, which must not be the buffer's own. On failure the content is as it was.
 *  Thread: one-at-a-time.  Blocks: no.
 *  Errors: KI_ERR_LIMIT  the maximum would be passed;  -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add(ki_buf *buf, const void *bytes, size_t len);

/** Appends one byte. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_char(ki_buf *buf, char c);

/** Appends a view. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_str(ki_buf *buf, ki_str s);

/** Appends a C string; NULL appends nothing. As ki_buf_add().  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_text(ki_buf *buf, const char *text);

/** Appends a text as a string of JSON, with its quotes and escapes, for patches and objects that a
 *  program writes. What is not UTF-8 becomes U+FFFD, byte by byte. As ki_buf_add(), but on failure
 *  some of it may be there.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_add_json_string(ki_buf *buf, ki_str text);

/** Makes room for `len` more bytes and gives the place where they go. Whoever writes there finishes
 *  with ki_buf_commit(), before anything else is done with the buffer. As ki_buf_add(); *ret_room
 *  is set on success only.  Since: 0.1 */
KI_API KI_NODISCARD int ki_buf_reserve(ki_buf *buf, size_t len, char **ret_room);

/** Makes the first `len` bytes of the room that ki_buf_reserve() gave part of the content: no more
 *  than were asked for there, and 0 if none is wanted after all.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
static inline void ki_buf_commit(ki_buf *buf, size_t len)
{
    buf->len += len;
    buf->data[buf->len] = '\0';
}

/** A view of the content, valid until the next call that changes the buffer.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
static inline ki_str ki_buf_str(const ki_buf *buf)
{
    return ki_str_make(buf->data, buf->len);
}

/** The content as a C string: "" while nothing was added. As ki_buf_str().  Since: 0.1 */
static inline const char *ki_buf_text(const ki_buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

KI_END_DECLS

#endif

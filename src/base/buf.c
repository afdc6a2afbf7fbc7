/* SPDX-License-Identifier: Apache-2.0 */
/* The growable buffer. Invariant: either data is NULL and len and cap are 0, or len < cap <= max +
 * 1 and data[len] is NUL, except between ki_buf_reserve() and ki_buf_commit(). */
#include <errno.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "base/alloc.h"
#include "base/error.h"

enum { BUF_FIRST_CAP = 64 };

void ki_buf_init(ki_buf *buf, const ki_alloc *alloc, size_t max)
{
    *buf = (ki_buf){
        /* Leaves space for the NUL and for doubling without overflow. */
        .max = max < SIZE_MAX / 4 ? max : SIZE_MAX / 4,
        .alloc = ki__alloc_or_default(alloc),
    };
}

void ki_buf_done(ki_buf *buf)
{
    if (buf == NULL || buf->data == NULL) {
        return;
    }
    ki__free(buf->alloc, buf->data);
    buf->data = NULL;
    buf->len = 0;
    buf->cap = 0;
}

void ki_buf_clear(ki_buf *buf)
{
    if (buf == NULL) {
        return;
    }
    buf->len = 0;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

int ki_buf_reserve(ki_buf *buf, size_t len, char **ret_room)
{
    KI__REQUIRE(buf, NULL);
    KI__REQUIRE(ret_room, NULL);
    if (len > buf->max - buf->len) {
        return KI_ERR_LIMIT;
    }
    size_t need = buf->len + len + 1;
    if (need > buf->cap) {
        size_t cap = buf->cap < BUF_FIRST_CAP ? BUF_FIRST_CAP : buf->cap * 2;
        if (cap > buf->max + 1) {
            cap = buf->max + 1;
        }
        if (cap < need) {
            cap = need;
        }
        char *data = ki__realloc_array(buf->alloc, buf->data, cap, 1);
        if (data == NULL) {
            return -ENOMEM;
        }
        data[buf->len] = '\0';
        buf->data = data;
        buf->cap = cap;
    }
    *ret_room = buf->data + buf->len;
    return 0;
}

int ki_buf_add(ki_buf *buf, const void *bytes, size_t len)
{
    KI__REQUIRE(buf, NULL);
    if (len != 0) {
        KI__REQUIRE(bytes, NULL);
    }
    char *room;
    int r = ki_buf_reserve(buf, len, &room);
    if (r < 0) {
        return r;
    }
    if (len != 0) {
        memcpy(room, bytes, len);
    }
    ki_buf_commit(buf, len);
    return 0;
}

int ki_buf_add_char(ki_buf *buf, char c)
{
    KI__REQUIRE(buf, NULL);
    return ki_buf_add(buf, &c, 1);
}

int ki_buf_add_str(ki_buf *buf, ki_str s)
{
    KI__REQUIRE(buf, NULL);
    return ki_buf_add(buf, s.ptr, s.len);
}

int ki_buf_add_text(ki_buf *buf, const char *text)
{
    KI__REQUIRE(buf, NULL);
    return ki_buf_add_str(buf, ki_str_from(text));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gzip, by zlib. zlib decodes one member; subsequent members are started here. */
#define ZLIB_CONST /* zlib's input is const */
#include "client/curl/gzip.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

enum { WINDOW_BITS = 15, GZIP_ONLY = 16 };

/* The position of the next byte. */
typedef enum place {
    PLACE_START,   /* before the first byte */
    PLACE_INSIDE,  /* of a member */
    PLACE_BETWEEN, /* after a complete member, possibly before another */
    PLACE_BROKEN
} place;

struct ki__gzip {
    const ki_alloc *alloc;
    z_stream stream;
    place place;
    uint64_t members; /* complete ones */
    uint64_t taken;
};

static voidpf take_memory(voidpf user, uInt count, uInt size)
{
    return ki__alloc_array(user, count, size);
}

static void give_memory(voidpf user, voidpf block)
{
    ki__free(user, block);
}

/* zlib's hook takes a non-const pointer. */
static voidpf without_const(const ki_alloc *alloc)
{
    union {
        const ki_alloc *in;
        voidpf out;
    } u = {.in = alloc};
    return u.out;
}

int ki__gzip_new(const ki_alloc *alloc, ki__gzip **ret_gzip)
{
    ki__gzip *gzip = ki__alloc_zero(alloc, sizeof(*gzip));
    if (gzip == NULL) {
        return -ENOMEM;
    }
    gzip->alloc = alloc;
    gzip->stream.zalloc = take_memory;
    gzip->stream.zfree = give_memory;
    gzip->stream.opaque = without_const(alloc);
    int r = inflateInit2(&gzip->stream, WINDOW_BITS + GZIP_ONLY);
    if (r != Z_OK) {
        ki_assert(r == Z_MEM_ERROR);
        ki__free(alloc, gzip);
        return -ENOMEM;
    }
    *ret_gzip = gzip;
    return 0;
}

void ki__gzip_free(ki__gzip *gzip)
{
    if (gzip != NULL) {
        (void)inflateEnd(&gzip->stream); /* fails only if never initialized */
        ki__free(gzip->alloc, gzip);
    }
}

static int fail(ki__gzip *gzip, int result, ki_error *error)
{
    bool in_header = gzip->stream.total_out == 0 && gzip->stream.total_in <= 2;
    gzip->place = PLACE_BROKEN;
    if (result == Z_MEM_ERROR) {
        return ki__error_code(error, -ENOMEM);
    }
    if (in_header) {
        return ki__error_set(error, -EBADMSG,
                             gzip->members == 0 ? "gzip: missing gzip header"
                                                : "gzip: trailing garbage after the last member");
    }
    return ki__error_set(error, -EBADMSG, "gzip: damaged data before byte %llu: %s",
                         (unsigned long long)gzip->taken,
                         gzip->stream.msg != NULL ? gzip->stream.msg : "no reason given");
}

/* One call of inflate(). */
static int step(ki__gzip *gzip, ki_str *in, uInt *ret_made)
{
    uInt offered = in->len < UINT_MAX ? (uInt)in->len : UINT_MAX;
    uInt room = gzip->stream.avail_out;
    gzip->stream.next_in = (const Bytef *)in->ptr;
    gzip->stream.avail_in = offered;
    int r = inflate(&gzip->stream, Z_NO_FLUSH);
    size_t used = offered - gzip->stream.avail_in;
    if (used != 0) { /* `ptr` may be NULL otherwise */
        *in = ki_str_make(in->ptr + used, in->len - used);
    }
    gzip->taken += used;
    *ret_made = room - gzip->stream.avail_out;
    return r;
}

int ki__gzip_feed(ki__gzip *gzip, ki_str *in, char *room, size_t size, size_t *ret_len,
                  ki_error *error)
{
    size_t len = 0;
    if (gzip->place == PLACE_BROKEN) {
        return ki__error_set(error, -EBADMSG, "gzip: data after an error");
    }
    while (len < size && (in->len != 0 || gzip->place == PLACE_INSIDE)) {
        if (gzip->place == PLACE_BETWEEN) {
            int reset = inflateReset(&gzip->stream);
            ki_assert(reset == Z_OK);
        }
        gzip->place = PLACE_INSIDE;
        uInt made = 0;
        gzip->stream.next_out = (Bytef *)room + len;
        gzip->stream.avail_out = size - len < UINT_MAX ? (uInt)(size - len) : UINT_MAX;
        int r = step(gzip, in, &made);
        len += made;
        if (r == Z_STREAM_END) {
            gzip->members++;
            gzip->place = PLACE_BETWEEN;
        } else if (r == Z_BUF_ERROR || (r == Z_OK && in->len == 0 && len < size)) {
            break; /* needs more input */
        } else if (r != Z_OK) {
            return fail(gzip, r, error);
        }
    }
    *ret_len = len;
    return 0;
}

int ki__gzip_finish(const ki__gzip *gzip, ki_error *error)
{
    switch (gzip->place) {
    case PLACE_START:
    case PLACE_BETWEEN:
        return 0;
    case PLACE_INSIDE:
        return ki__error_set(error, -EBADMSG, "gzip: truncated after %llu bytes",
                             (unsigned long long)gzip->taken);
    case PLACE_BROKEN:
        break;
    }
    return ki__error_set(error, -EBADMSG, "gzip: data after an error");
}

uint64_t ki__gzip_taken(const ki__gzip *gzip)
{
    return gzip->taken;
}

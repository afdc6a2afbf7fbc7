/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as gzip. The first byte says how they are cut and how much room there is. What comes
 * out must be the same in pieces as whole, and so must the reason why it is refused. */
#include <stdlib.h>
#include <string.h>

#include "client/curl/gzip.h"

enum { OUT_MAX = 1 << 22, ROOM = 4096 };

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

typedef struct outcome {
    int code;
    size_t len;
    unsigned long long sum; /* of the output, whatever pieces it came in */
    bool cut;               /* it was more than OUT_MAX */
} outcome;

static void take(outcome *o, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        o->sum = (o->sum ^ (unsigned char)bytes[i]) * 1099511628211ULL;
    }
    o->len += len;
    o->cut = o->len > OUT_MAX;
}

static outcome inflate_in_pieces(const uint8_t *data, size_t size, size_t piece, size_t room)
{
    ki__gzip *gzip = NULL;
    outcome o = {0};
    ki_error error = KI_ERROR_INIT;
    must(ki__gzip_new(ki_alloc_default(), &gzip) == 0);
    for (size_t at = 0; at < size && o.code == 0 && !o.cut; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        char *copy = malloc(len); /* of its own, so that nobody reads beyond it */
        must(copy != NULL);
        memcpy(copy, data + at, len);
        ki_str in = ki_str_make(copy, len);
        size_t made = room;
        while (o.code == 0 && !o.cut && (in.len != 0 || made == room)) {
            char bytes[ROOM];
            o.code = ki__gzip_feed(gzip, &in, bytes, room, &made, &error);
            must(o.code < 0 || made <= room);
            must(o.code < 0 || made == room || in.len == 0);
            take(&o, bytes, o.code == 0 ? made : 0);
        }
        free(copy);
    }
    if (o.code == 0 && !o.cut) {
        must(ki__gzip_taken(gzip) == size);
        o.code = ki__gzip_finish(gzip, &error);
    }
    must(o.code == error.code);
    must(o.code == 0 || error.message[0] != '\0');
    ki__gzip_free(gzip);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t piece = 1U + data[0] % 32U;
    size_t room = 1U + data[0] / 32U * 17U;
    outcome whole = inflate_in_pieces(data + 1, size - 1, size, ROOM);
    outcome pieces = inflate_in_pieces(data + 1, size - 1, piece, room);
    if (whole.cut || pieces.cut) {
        return 0;
    }
    must(whole.code == pieces.code);
    /* What came before the damage depends on where zlib was called; what is good does not. */
    must(whole.code < 0 || (whole.len == pieces.len && whole.sum == pieces.sum));
    return 0;
}

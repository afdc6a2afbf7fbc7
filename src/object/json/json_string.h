/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between the quotes of a JSON string, decoded. "Raw" is that text as it is written;
 * it was checked before. A surrogate without its partner becomes U+FFFD. */
#ifndef KI_OBJECT_JSON_JSON_STRING_H
#define KI_OBJECT_JSON_JSON_STRING_H

#include <kinformer/str.h>

/** Decodes piece by piece: each piece is up to 4 bytes of an escape, or a run of plain bytes. */
typedef struct ki__json_pieces {
    const char *next;
    const char *end;
    char escape[4]; /* what the last escape stood for */
} ki__json_pieces;

void ki__json_pieces_init(ki__json_pieces *pieces, ki_str raw);

/** The next piece, valid until the next call; an empty one at the end. */
ki_str ki__json_pieces_next(ki__json_pieces *pieces);

/** How many bytes it is decoded. Writes the first `size` of them, or all, to `out`. */
size_t ki__json_decode(ki_str raw, char *out, size_t size);

/** Whether it is exactly `text` once decoded. */
bool ki__json_raw_equals(ki_str raw, ki_str text);

/** The order of both by bytes once decoded, as memcmp gives it. */
int ki__json_raw_compare(ki_str a, ki_str b);

/** Whether both are the same once decoded. */
static inline bool ki__json_raw_same(ki_str a, ki_str b)
{
    return ki__json_raw_compare(a, b) == 0;
}

/** Whether it has an escape and so is not what it reads as. */
static inline bool ki__json_raw_is_encoded(ki_str raw)
{
    return raw.len != 0 && memchr(raw.ptr, '\\', raw.len) != NULL;
}

#endif

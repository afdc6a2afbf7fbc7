/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding JSON strings. "Raw" is the text between the quotes as written; it was validated before.
 * A lone surrogate becomes U+FFFD. */
#ifndef KI_OBJECT_JSON_JSON_STRING_H
#define KI_OBJECT_JSON_JSON_STRING_H

#include <kinformer/str.h>

/** Decodes in pieces: each is the result of an escape, up to 4 bytes, or a run of plain bytes. */
typedef struct ki__json_pieces {
    const char *next;
    const char *end;
    char escape[4]; /* decoded bytes of the last escape */
} ki__json_pieces;

void ki__json_pieces_init(ki__json_pieces *pieces, ki_str raw);

/** The next piece, valid until the next call; an empty one at the end. */
ki_str ki__json_pieces_next(ki__json_pieces *pieces);

/** Returns the decoded length and writes at most the first `size` bytes to `out`. */
size_t ki__json_decode(ki_str raw, char *out, size_t size);

/** Whether it decodes to exactly `text`. */
bool ki__json_raw_equals(ki_str raw, ki_str text);

/** Bytewise order of the decoded texts, as memcmp. */
int ki__json_raw_compare(ki_str a, ki_str b);

/** Whether both decode to the same text. */
static inline bool ki__json_raw_same(ki_str a, ki_str b)
{
    return ki__json_raw_compare(a, b) == 0;
}

/** Whether it contains an escape. */
static inline bool ki__json_raw_is_encoded(ki_str raw)
{
    return raw.len != 0 && memchr(raw.ptr, '\\', raw.len) != NULL;
}

#endif

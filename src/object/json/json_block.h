/* SPDX-License-Identifier: Apache-2.0 */
/* Finds JSON brackets 64 bytes at a time: the quotes so far determine which bytes are inside
 * strings. Meaningful only for valid text, but memory-safe for any bytes. */
#ifndef KI_OBJECT_JSON_JSON_BLOCK_H
#define KI_OBJECT_JSON_JSON_BLOCK_H

#include "object/json/json_simd.h"

/** State carried from one block to the next. All zero at the start, outside of any string. */
typedef struct ki__json_block {
    uint64_t escaped;   /* 1 if the first byte of the next block is escaped */
    uint64_t in_string; /* all ones if the next block begins inside a string */
} ki__json_block;

/* Mask of the bytes that follow an unescaped backslash. `len` bytes of the block are text. Escapes
 * are rare, so the loop seldom runs. */
static inline uint64_t ki__json_block_escaped(ki__json_block *block, uint64_t slashes, size_t len)
{
    uint64_t escaped = block->escaped;
    slashes &= ~escaped;
    block->escaped = 0;
    while (slashes != 0) {
        uint64_t slash = slashes & -slashes;
        uint64_t next = slash << 1;
        block->escaped = next == 0;
        escaped |= next;
        slashes &= ~(slash | next);
    }
    if (len < 64) {
        block->escaped = escaped >> len & 1;
    }
    return escaped;
}

/* Prefix XOR: bit i is the parity of bits 0 to i, so it is set from an opening up to the closing
 * quote. */
static inline uint64_t ki__json_parity(uint64_t mask)
{
    mask ^= mask << 1;
    mask ^= mask << 2;
    mask ^= mask << 4;
    mask ^= mask << 8;
    mask ^= mask << 16;
    mask ^= mask << 32;
    return mask;
}

/** Masks of the brackets outside of strings in the 64 bytes at `p`. If only `len` of them (not 0)
 *  are text, the rest must be 0. */
static inline void ki__json_block_brackets(ki__json_block *block, const char *p, size_t len,
                                           uint64_t *ret_open, uint64_t *ret_close)
{
    ki__json_masks m = ki__json_masks_64(p);
    uint64_t quotes = m.quote & ~ki__json_block_escaped(block, m.slash, len);
    uint64_t strings = ki__json_parity(quotes) ^ block->in_string;
    block->in_string = -(strings >> 63);
    *ret_open = m.open & ~strings;
    *ret_close = m.close & ~strings;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Skipping maps and lists, 64 bytes at a time: which bytes are in strings follows from the quotes
 * before them, and in valid text the brackets outside match, so a count is all it takes. */
#include "object/json_skip.h"

/* The bytes after a backslash that is not itself escaped. *carry: the last byte of the block before
 * was such a backslash. Escapes are rare, so the loop seldom runs. */
static inline uint64_t find_escaped(uint64_t slashes, uint64_t *carry)
{
    uint64_t escaped = *carry;
    slashes &= ~escaped;
    *carry = 0;
    while (slashes != 0) {
        uint64_t slash = slashes & -slashes;
        uint64_t next = slash << 1;
        *carry = next == 0;
        escaped |= next;
        slashes &= ~(slash | next);
    }
    return escaped;
}

/* Bit i is the parity of bits 0 to i: set from an opening quote on, up to the closing one. */
static inline uint64_t parity_up_to(uint64_t mask)
{
    mask ^= mask << 1;
    mask ^= mask << 2;
    mask ^= mask << 4;
    mask ^= mask << 8;
    mask ^= mask << 16;
    mask ^= mask << 32;
    return mask;
}

/* The place of the bracket that brings *depth to 0, or 64 if there is none in this block. */
static inline unsigned find_last_close(uint64_t open, uint64_t close, uint64_t *depth)
{
    for (uint64_t left = open | close; left != 0; left &= left - 1) {
        uint64_t bit = left & -left;
        *depth += (open & bit) != 0 ? UINT64_C(1) : -UINT64_C(1);
        if (*depth == 0) {
            return (unsigned)__builtin_ctzll(bit);
        }
    }
    return 64;
}

/* `p` is at the opening bracket. */
static const char *skip_container(const char *p)
{
    uint64_t depth = 0;
    uint64_t carry = 0;
    uint64_t in_string = 0; /* all ones if the block begins inside a string */
    for (;; p += 64) {
        ki__json_masks m = ki__json_masks_64(p);
        uint64_t quotes = m.quote & ~find_escaped(m.slash, &carry);
        uint64_t strings = parity_up_to(quotes) ^ in_string;
        in_string = -(strings >> 63);
        uint64_t open = m.open & ~strings;
        uint64_t close = m.close & ~strings;
        uint64_t closing = ki__json_bits(close);
        if (closing < depth) { /* fewer than are open, so none of them is the last */
            depth += ki__json_bits(open) - closing;
            continue;
        }
        unsigned at = find_last_close(open, close, &depth);
        if (at != 64) {
            return p + at + 1;
        }
    }
}

const char *ki__json_skip_value(const char *p)
{
    switch (*p) {
    case '"':
        return ki__json_string_end(p + 1) + 1;
    case '{':
    case '[':
        return skip_container(p);
    default:
        /* Letters, digits, signs and the point are all that numbers and literals are made of; the
         * text is a map, so something else always follows. */
        while ((*p >= '+' && *p <= '9' && *p != ',') || (*p >= 'A' && *p <= 'z' && *p != ']')) {
            p++;
        }
        return p;
    }
}

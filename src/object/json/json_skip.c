/* SPDX-License-Identifier: Apache-2.0 */
/* Skipping maps and lists: brackets match in valid text, so counting them suffices. */
#include "object/json/json_skip.h"

#include "object/json/json_block.h"

/* Position of the bracket that brings *depth to 0, or 64 if it is not in this block. */
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
    ki__json_block block = {0};
    for (;; p += 64) {
        uint64_t open;
        uint64_t close;
        ki__json_block_brackets(&block, p, 64, &open, &close);
        uint64_t closing = ki__json_bits(close);
        if (closing < depth) { /* fewer than are open, so the last one is not here */
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
        /* Numbers and literals consist of letters, digits, signs and the point; the text is a map,
         * so another character always follows. */
        while ((*p >= '+' && *p <= '9' && *p != ',') || (*p >= 'A' && *p <= 'z' && *p != ']')) {
            p++;
        }
        return p;
    }
}

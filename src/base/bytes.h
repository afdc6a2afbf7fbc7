/* SPDX-License-Identifier: Apache-2.0 */
/* Unaligned little-endian loads, independent of the machine's byte order, and comparison of short
 * byte strings. */
#ifndef KI_BASE_BYTES_H
#define KI_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Loads 8 bytes at `p`, little-endian. */
static inline uint64_t ki__load_le64(const void *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/** Loads 4 bytes at `p`, little-endian. */
static inline uint32_t ki__load_le32(const void *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/** Compares `len` bytes for equality. For short keys: inline, a word at a time. */
static inline bool ki__bytes_eq(const void *a, const void *b, size_t len)
{
    const unsigned char *p = a;
    const unsigned char *q = b;
    if (len < 8) {
        if (len >= 4) {
            return ki__load_le32(p) == ki__load_le32(q) &&
                   ki__load_le32(p + len - 4) == ki__load_le32(q + len - 4); /* may overlap */
        }
        return len == 0 || (p[0] == q[0] && p[len / 2] == q[len / 2] && p[len - 1] == q[len - 1]);
    }
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (ki__load_le64(p + i) != ki__load_le64(q + i)) {
            return false;
        }
    }
    return ki__load_le64(p + len - 8) == ki__load_le64(q + len - 8); /* may overlap */
}

#endif

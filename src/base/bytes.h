/* SPDX-License-Identifier: Apache-2.0 */
/* Reading numbers from bytes, wherever they stand and whatever the machine's own order is; and
 * comparing bytes. */
#ifndef KI_BASE_BYTES_H
#define KI_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** Eight bytes at `p`, the first of them the lowest. */
static inline uint64_t ki__load_le64(const void *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/** Four bytes, likewise. */
static inline uint32_t ki__load_le32(const void *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/** Whether `len` bytes are the same. For keys, which are short: inline, by words. */
static inline bool ki__bytes_eq(const void *a, const void *b, size_t len)
{
    const unsigned char *p = a;
    const unsigned char *q = b;
    if (len < 8) {
        return len == 0 || memcmp(p, q, len) == 0;
    }
    for (size_t i = 0; i + 8 < len; i += 8) {
        if (ki__load_le64(p + i) != ki__load_le64(q + i)) {
            return false;
        }
    }
    return ki__load_le64(p + len - 8) == ki__load_le64(q + len - 8); /* some may be read twice */
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading numbers from bytes, wherever they stand and whatever the machine's own order is. */
#ifndef KI_BASE_BYTES_H
#define KI_BASE_BYTES_H

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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a block of bytes at once. This is the only file that knows vector instructions: SSE2
 * where x86-64 has it, NEON on 64-bit ARM, plain 64-bit words elsewhere or when KI_JSON_PORTABLE is
 * defined. Every function reads exactly KI__JSON_BLOCK bytes, aligned or not. */
#ifndef KI_OBJECT_JSON_SIMD_H
#define KI_OBJECT_JSON_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(KI_JSON_PORTABLE)
#define KI__JSON_WORDS 1
#elif defined(__SSE2__)
#include <emmintrin.h>
#define KI__JSON_SSE2 1
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define KI__JSON_NEON 1
#else
#define KI__JSON_WORDS 1
#endif

#if defined(KI__JSON_SSE2)

#define KI__JSON_BLOCK 16

static inline unsigned ki__json_first_bit(__m128i found)
{
    unsigned mask = (unsigned)_mm_movemask_epi8(found);
    return (unsigned)__builtin_ctz(mask | 0x10000U);
}

/** The place of the first byte that ends a run of plain text in a string: a quote, a backslash, a
 *  control character or anything that is not ASCII. KI__JSON_BLOCK if there is none. */
static inline unsigned ki__json_block_special(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    /* Compared as signed bytes, what is not ASCII is negative and so also below 0x20. */
    __m128i other = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    return ki__json_first_bit(_mm_or_si128(_mm_or_si128(quote, slash), other));
}

/** The place of the first quote or backslash, or KI__JSON_BLOCK. */
static inline unsigned ki__json_block_quote(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    return ki__json_first_bit(_mm_or_si128(quote, slash));
}

#elif defined(KI__JSON_NEON)

#define KI__JSON_BLOCK 16

static inline unsigned ki__json_first_bit(uint8x16_t found)
{
    /* Four bits for each byte: the cheapest mask that NEON can make. */
    uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(found), 4);
    uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
    return mask != 0 ? (unsigned)__builtin_ctzll(mask) / 4 : KI__JSON_BLOCK;
}

static inline unsigned ki__json_block_special(const char *p)
{
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t quote = vceqq_u8(v, vdupq_n_u8('"'));
    uint8x16_t slash = vceqq_u8(v, vdupq_n_u8('\\'));
    uint8x16_t other = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
    return ki__json_first_bit(vorrq_u8(vorrq_u8(quote, slash), other));
}

static inline unsigned ki__json_block_quote(const char *p)
{
    uint8x16_t v = vld1q_u8((const uint8_t *)p);
    uint8x16_t quote = vceqq_u8(v, vdupq_n_u8('"'));
    uint8x16_t slash = vceqq_u8(v, vdupq_n_u8('\\'));
    return ki__json_first_bit(vorrq_u8(quote, slash));
}

#else

#define KI__JSON_BLOCK 8

#define KI__JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

static inline uint64_t ki__json_word(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The top bit of each byte that is below `limit`. Borrows run upwards only, so the lowest bit that
 * is set is always right, and that is the one that is asked for. */
static inline uint64_t ki__json_below(uint64_t word, unsigned limit)
{
    return (word - KI__JSON_EACH(limit)) & ~word & KI__JSON_EACH(0x80);
}

static inline uint64_t ki__json_equal(uint64_t word, char c)
{
    return ki__json_below(word ^ KI__JSON_EACH((unsigned char)c), 1);
}

static inline unsigned ki__json_first_bit(uint64_t found)
{
    return found != 0 ? (unsigned)__builtin_ctzll(found) / 8 : KI__JSON_BLOCK;
}

static inline unsigned ki__json_block_special(const char *p)
{
    uint64_t word = ki__json_word(p);
    return ki__json_first_bit(ki__json_equal(word, '"') | ki__json_equal(word, '\\') |
                              ki__json_below(word, 0x20) | (word & KI__JSON_EACH(0x80)));
}

static inline unsigned ki__json_block_quote(const char *p)
{
    uint64_t word = ki__json_word(p);
    return ki__json_first_bit(ki__json_equal(word, '"') | ki__json_equal(word, '\\'));
}

#endif

#endif

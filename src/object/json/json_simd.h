/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of blocks of bytes. This is the only file with vector instructions: SSE2 on
 * x86-64, NEON on 64-bit ARM, plain 64-bit words elsewhere or if KI_JSON_PORTABLE is defined.
 * Blocks need not be aligned, and exactly as many bytes are read as the name says.
 *
 * All variants provide the same functions:
 *   ki__json_special_64(p)  bit i is set if byte i ends a run of plain text in a string: a quote, a
 *                           backslash, a control character or a non-ASCII byte
 *   ki__json_quotes_32(p)   likewise for quotes and backslashes only
 *   ki__json_quote_pairs_32(p, q)  bit i is set if there is a quote at both p + i and q + i
 *   ki__json_masks_64(p)    masks of quotes, backslashes, opening and closing brackets
 *   ki__json_bits(mask)     population count */
#ifndef KI_OBJECT_JSON_JSON_SIMD_H
#define KI_OBJECT_JSON_JSON_SIMD_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

#if !defined(KI_JSON_PORTABLE) && defined(__SSE2__)
#include <emmintrin.h>
#define KI__JSON_SIMD "sse2"
#elif !defined(KI_JSON_PORTABLE) && defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define KI__JSON_SIMD "neon"
#define KI__JSON_NEON 1
#else
#define KI__JSON_SIMD "words"
#define KI__JSON_WORDS 1
#endif

typedef struct ki__json_masks {
    uint64_t quote;
    uint64_t slash; /* backslash */
    uint64_t open;  /* { or [ */
    uint64_t close; /* } or ] */
} ki__json_masks;

static inline unsigned ki__json_bits(uint64_t mask)
{
    /* Baseline x86-64 has no popcnt; the builtin would call a slow function. */
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(mask * UINT64_C(0x0101010101010101) >> 56);
}

#if defined(KI__JSON_WORDS)

#define KI__JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

/* Gathers the top bit of each byte into one byte. */
static inline uint64_t ki__json_gather(uint64_t tops)
{
    return (tops >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Sets the top bit of each byte equal to `c`; all other bits are 0. No carry crosses a byte. */
static inline uint64_t ki__json_equal(uint64_t word, char c)
{
    uint64_t low = KI__JSON_EACH(0x7f);
    uint64_t other = word ^ KI__JSON_EACH((unsigned char)c);
    return ~(((other & low) + low) | other | low);
}

/* Sets the top bit of each byte that is a control character or non-ASCII. */
static inline uint64_t ki__json_unusual(uint64_t word)
{
    uint64_t low = KI__JSON_EACH(0x7f);
    return (~((word & low) + KI__JSON_EACH(0x60)) | word) & ~low;
}

static inline uint64_t ki__json_special_64(const char *p)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = ki__load_le64(p + 8 * i);
        uint64_t found =
            ki__json_equal(word, '"') | ki__json_equal(word, '\\') | ki__json_unusual(word);
        mask |= ki__json_gather(found) << (8 * i);
    }
    return mask;
}

static inline uint32_t ki__json_quotes_32(const char *p)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t word = ki__load_le64(p + 8 * i);
        uint64_t found = ki__json_equal(word, '"') | ki__json_equal(word, '\\');
        mask |= (uint32_t)ki__json_gather(found) << (8 * i);
    }
    return mask;
}

static inline uint32_t ki__json_quote_pairs_32(const char *p, const char *q)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t found = ki__json_equal(ki__load_le64(p + 8 * i), '"') &
                         ki__json_equal(ki__load_le64(q + 8 * i), '"');
        mask |= (uint32_t)ki__json_gather(found) << (8 * i);
    }
    return mask;
}

static inline ki__json_masks ki__json_masks_64(const char *p)
{
    ki__json_masks m = {0};
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word = ki__load_le64(p + 8 * i);
        uint64_t folded = word | KI__JSON_EACH(0x20); /* maps [ to { and ] to } */
        m.quote |= ki__json_gather(ki__json_equal(word, '"')) << (8 * i);
        m.slash |= ki__json_gather(ki__json_equal(word, '\\')) << (8 * i);
        m.open |= ki__json_gather(ki__json_equal(folded, '{')) << (8 * i);
        m.close |= ki__json_gather(ki__json_equal(folded, '}')) << (8 * i);
    }
    return m;
}

#else

/* The primitives of both vector units, for 16 bytes: load, compare, mask. */
#if defined(KI__JSON_NEON)

typedef uint8x16_t ki__json_vector;

static inline ki__json_vector ki__json_load(const char *p)
{
    return vld1q_u8((const uint8_t *)p);
}

static inline ki__json_vector ki__json_equal(ki__json_vector v, char c)
{
    return vceqq_u8(v, vdupq_n_u8((uint8_t)c));
}

/* Signed comparison: non-ASCII bytes are negative, so also below 0x20. */
static inline ki__json_vector ki__json_unusual(ki__json_vector v)
{
    return vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
}

static inline ki__json_vector ki__json_or(ki__json_vector a, ki__json_vector b)
{
    return vorrq_u8(a, b);
}

static inline ki__json_vector ki__json_and(ki__json_vector a, ki__json_vector b)
{
    return vandq_u8(a, b);
}

static inline ki__json_vector ki__json_fold(ki__json_vector v)
{
    return vorrq_u8(v, vdupq_n_u8(0x20));
}

static inline uint32_t ki__json_mask(ki__json_vector found)
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t one_each = vandq_u8(found, vld1q_u8(bits));
    uint32_t low = vaddv_u8(vget_low_u8(one_each));
    uint32_t high = vaddv_u8(vget_high_u8(one_each));
    return low | high << 8;
}

#else

typedef __m128i ki__json_vector;

static inline ki__json_vector ki__json_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline ki__json_vector ki__json_equal(ki__json_vector v, char c)
{
    return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

/* Signed comparison: non-ASCII bytes are negative, so also below 0x20. */
static inline ki__json_vector ki__json_unusual(ki__json_vector v)
{
    return _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
}

static inline ki__json_vector ki__json_or(ki__json_vector a, ki__json_vector b)
{
    return _mm_or_si128(a, b);
}

static inline ki__json_vector ki__json_and(ki__json_vector a, ki__json_vector b)
{
    return _mm_and_si128(a, b);
}

static inline ki__json_vector ki__json_fold(ki__json_vector v)
{
    return _mm_or_si128(v, _mm_set1_epi8(0x20));
}

static inline uint32_t ki__json_mask(ki__json_vector found)
{
    return (uint32_t)_mm_movemask_epi8(found);
}

#endif

static inline ki__json_vector ki__json_quote_or_slash(ki__json_vector v)
{
    return ki__json_or(ki__json_equal(v, '"'), ki__json_equal(v, '\\'));
}

static inline uint64_t ki__json_special_64(const char *p)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 4; i++) {
        ki__json_vector v = ki__json_load(p + 16 * i);
        ki__json_vector found = ki__json_or(ki__json_quote_or_slash(v), ki__json_unusual(v));
        mask |= (uint64_t)ki__json_mask(found) << (16 * i);
    }
    return mask;
}

static inline uint32_t ki__json_quotes_32(const char *p)
{
    uint32_t low = ki__json_mask(ki__json_quote_or_slash(ki__json_load(p)));
    uint32_t high = ki__json_mask(ki__json_quote_or_slash(ki__json_load(p + 16)));
    return low | high << 16;
}

static inline uint32_t ki__json_quote_pairs_32(const char *p, const char *q)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < 2; i++) {
        ki__json_vector one = ki__json_equal(ki__json_load(p + 16 * i), '"');
        ki__json_vector other = ki__json_equal(ki__json_load(q + 16 * i), '"');
        mask |= ki__json_mask(ki__json_and(one, other)) << (16 * i);
    }
    return mask;
}

static inline ki__json_masks ki__json_masks_64(const char *p)
{
    ki__json_masks m = {0};
    for (unsigned i = 0; i < 4; i++) {
        ki__json_vector v = ki__json_load(p + 16 * i);
        ki__json_vector folded = ki__json_fold(v); /* maps [ to { and ] to } */
        m.quote |= (uint64_t)ki__json_mask(ki__json_equal(v, '"')) << (16 * i);
        m.slash |= (uint64_t)ki__json_mask(ki__json_equal(v, '\\')) << (16 * i);
        m.open |= (uint64_t)ki__json_mask(ki__json_equal(folded, '{')) << (16 * i);
        m.close |= (uint64_t)ki__json_mask(ki__json_equal(folded, '}')) << (16 * i);
    }
    return m;
}

#endif

#endif

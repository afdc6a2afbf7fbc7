/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash with one compression and three finalisation rounds (Aumasson and Bernstein, 2012). */
#include "base/hash.h"

#include "base/bytes.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotl(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotl(s->v1, 13) ^ s->v0;
    s->v0 = rotl(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotl(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotl(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotl(s->v1, 17) ^ s->v2;
    s->v2 = rotl(s->v2, 32);
}

/* The last `left` bytes (less than 8) of the `len` bytes that end at `end`. With at least 8 bytes
 * in total, shifts the last 8; otherwise two overlapping 4-byte loads, or single bytes. */
static inline uint64_t load_tail(const unsigned char *end, size_t left, size_t len)
{
    if (left == 0) {
        return 0;
    }
    if (len >= 8) {
        return ki__load_le64(end - 8) >> (8 * (8 - left));
    }
    const unsigned char *p = end - left;
    if (left >= 4) {
        return ki__load_le32(p) | (uint64_t)ki__load_le32(end - 4) << (8 * (left - 4));
    }
    return p[0] | (uint64_t)p[left / 2] << (8 * (left / 2)) | (uint64_t)end[-1] << (8 * (left - 1));
}

uint64_t ki__hash(ki__hash_key key, const void *bytes, size_t len)
{
    struct sip s = {
        .v0 = key.k0 ^ UINT64_C(0x736f6d6570736575),
        .v1 = key.k1 ^ UINT64_C(0x646f72616e646f6d),
        .v2 = key.k0 ^ UINT64_C(0x6c7967656e657261),
        .v3 = key.k1 ^ UINT64_C(0x7465646279746573),
    };
    const unsigned char *p = bytes;
    size_t left = len;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word = ki__load_le64(p);
        s.v3 ^= word;
        sip_round(&s);
        s.v0 ^= word;
    }
    uint64_t last = load_tail(p + left, left, len) | (uint64_t)(len & 0xff) << 56;
    s.v3 ^= last;
    sip_round(&s);
    s.v0 ^= last;
    s.v2 ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

ki__hash_key ki__hash_key_make(const ki_random *random, const void *salt)
{
    ki__hash_key key;
    if (random != NULL && random->fill(&key, sizeof(key), random->user) >= 0) {
        return key;
    }
    ki__hash_key mix = {(uint64_t)(uintptr_t)salt, (uint64_t)(uintptr_t)&ki__hash_key_make};
    const void *stack = &key;
    key.k0 = ki__hash(mix, &stack, sizeof(stack));
    key.k1 = ki__hash(mix, &key.k0, sizeof(key.k0));
    return key;
}

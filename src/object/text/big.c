/* SPDX-License-Identifier: Apache-2.0 */
#include "object/text/big.h"

#include <string.h>

#include "base/assert.h"

void ki__big_multiply_add(ki__big *b, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (uint32_t i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        ki_assert(b->count < KI__BIG_LIMBS);
        b->limb[b->count++] = (uint32_t)carry;
    }
}

void ki__big_multiply_power_of_5(ki__big *b, int64_t power)
{
    for (; power >= 13; power -= 13) {
        ki__big_multiply_add(b, 1220703125U, 0); /* 5^13, the largest power below 2^32 */
    }
    for (; power > 0; power--) {
        ki__big_multiply_add(b, 5, 0);
    }
}

int64_t ki__big_bits(const ki__big *b)
{
    return (int64_t)b->count * 32 - __builtin_clz(b->limb[b->count - 1]);
}

void ki__big_shift_left(ki__big *b, int64_t bits)
{
    uint32_t limbs = (uint32_t)(bits / 32);
    uint32_t rest = (uint32_t)(bits % 32);
    ki_assert(b->count + limbs + 1 <= KI__BIG_LIMBS);
    uint32_t carry = 0;
    for (uint32_t i = 0; i < b->count && rest != 0; i++) {
        uint32_t limb = b->limb[i];
        b->limb[i] = limb << rest | carry;
        carry = limb >> (32 - rest);
    }
    if (carry != 0) {
        b->limb[b->count++] = carry;
    }
    if (limbs != 0 && b->count != 0) {
        memmove(b->limb + limbs, b->limb, b->count * sizeof(b->limb[0]));
        memset(b->limb, 0, limbs * sizeof(b->limb[0]));
        b->count += limbs;
    }
}

bool ki__big_less(const ki__big *a, const ki__big *b)
{
    if (a->count != b->count) {
        return a->count < b->count;
    }
    for (uint32_t i = a->count; i-- > 0;) {
        if (a->limb[i] != b->limb[i]) {
            return a->limb[i] < b->limb[i];
        }
    }
    return false;
}

void ki__big_subtract(ki__big *a, const ki__big *b)
{
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint64_t take = borrow + (i < b->count ? b->limb[i] : 0);
        borrow = a->limb[i] < take;
        a->limb[i] = (uint32_t)(a->limb[i] - take);
    }
    while (a->count != 0 && a->limb[a->count - 1] == 0) {
        a->count--;
    }
}

void ki__big_add(ki__big *a, const ki__big *b)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < b->count || carry != 0; i++) {
        if (i == a->count) {
            ki_assert(i < KI__BIG_LIMBS);
            a->limb[a->count++] = 0;
        }
        carry += (uint64_t)a->limb[i] + (i < b->count ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

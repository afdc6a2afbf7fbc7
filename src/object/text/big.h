/* SPDX-License-Identifier: Apache-2.0 */
/* Big integers for the exact conversion between decimal digits and doubles. Their size is fixed,
 * bounded by the ranges of both. */
#ifndef KI_OBJECT_TEXT_BIG_H
#define KI_OBJECT_TEXT_BIG_H

#include <stdbool.h>
#include <stdint.h>

/* 769 digits need 2555 bits, 5^1093 needs 2538; plus spare bits for division. */
enum { KI__BIG_LIMBS = 84 };

typedef struct ki__big {
    uint32_t count; /* limbs in use; the last is not 0 */
    uint32_t limb[KI__BIG_LIMBS];
} ki__big;

/** b = b * factor + addend. */
void ki__big_multiply_add(ki__big *b, uint32_t factor, uint32_t addend);

/** b *= 5^power; no effect if power < 0. */
void ki__big_multiply_power_of_5(ki__big *b, int64_t power);

void ki__big_shift_left(ki__big *b, int64_t bits);

/** Bit length; b must not be 0. */
int64_t ki__big_bits(const ki__big *b);

bool ki__big_less(const ki__big *a, const ki__big *b);

/** a += b. */
void ki__big_add(ki__big *a, const ki__big *b);

/** a -= b; requires b <= a. */
void ki__big_subtract(ki__big *a, const ki__big *b);

#endif

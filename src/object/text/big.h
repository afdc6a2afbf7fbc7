/* SPDX-License-Identifier: Apache-2.0 */
/* Integers large enough for every double: for the exact way from decimal digits to a double and
 * back. They have a fixed size, which the ranges of both bound. */
#ifndef KI_OBJECT_TEXT_BIG_H
#define KI_OBJECT_TEXT_BIG_H

#include <stdbool.h>
#include <stdint.h>

/* Space for 769 digits (2555 bits), for 5^1093 (2538 bits) and for a bit more while dividing. */
enum { KI__BIG_LIMBS = 84 };

typedef struct ki__big {
    uint32_t count; /* limbs in use; the last is not 0 */
    uint32_t limb[KI__BIG_LIMBS];
} ki__big;

/** b = b * factor + addend. */
void ki__big_multiply_add(ki__big *b, uint32_t factor, uint32_t addend);

/** b *= 5^power; nothing for a power below 0. */
void ki__big_multiply_power_of_5(ki__big *b, int64_t power);

void ki__big_shift_left(ki__big *b, int64_t bits);

/** How many bits it has; it is not 0. */
int64_t ki__big_bits(const ki__big *b);

bool ki__big_less(const ki__big *a, const ki__big *b);

/** a += b. */
void ki__big_add(ki__big *a, const ki__big *b);

/** a -= b, which is not larger. */
void ki__big_subtract(ki__big *a, const ki__big *b);

#endif

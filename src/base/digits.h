/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers without printf and scanf, so independent of the locale. */
#ifndef KI_BASE_DIGITS_H
#define KI_BASE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#include <kinformer/str.h>

/** Buffer size for the digits of any 64-bit number and a NUL. */
enum { KI__DIGITS_SIZE = 21 };

/** Formats `number` into `room`, NUL-terminated; the result points into `room`. */
static inline ki_str ki__digits(uint64_t number, char room[static KI__DIGITS_SIZE])
{
    size_t at = KI__DIGITS_SIZE - 1;
    room[at] = '\0';
    do {
        room[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return ki_str_make(room + at, KI__DIGITS_SIZE - 1 - at);
}

/** Parses a 64-bit number: decimal digits only. False on other characters or overflow. */
static inline bool ki__digits_read(ki_str text, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return text.len != 0;
}

#endif

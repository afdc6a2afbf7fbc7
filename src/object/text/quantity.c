/* SPDX-License-Identifier: Apache-2.0 */
#include "object/text/quantity.h"

enum { EXPONENT_DIGITS_MAX = 18 }; /* certain to fit into 64 bits, as Go requires */

static size_t count_digits(ki_str text)
{
    size_t count = 0;
    while (count != text.len && text.ptr[count] >= '0' && text.ptr[count] <= '9') {
        count++;
    }
    return count;
}

static ki_str after(ki_str text, size_t len)
{
    return ki_str_make(text.ptr + len, text.len - len);
}

static ki_str after_sign(ki_str text)
{
    return text.len != 0 && (*text.ptr == '-' || *text.ptr == '+') ? after(text, 1) : text;
}

static bool is_suffix(ki_str text)
{
    static const char *const suffixes[] = {"",  "n", "u",  "m",  "k",  "M",  "G",  "T",
                                           "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (ki_str_eq_text(text, suffixes[i])) {
            return true;
        }
    }
    if (*text.ptr != 'e' && *text.ptr != 'E') {
        return false;
    }
    text = after_sign(after(text, 1));
    return text.len != 0 && text.len <= EXPONENT_DIGITS_MAX && count_digits(text) == text.len;
}

bool ki__quantity_valid(ki_str text)
{
    if (text.len == 0) {
        return false;
    }
    text = after_sign(text);
    size_t digits = count_digits(text);
    text = after(text, digits);
    if (text.len != 0 && *text.ptr == '.') {
        size_t fraction = count_digits(after(text, 1));
        digits += fraction;
        text = after(text, 1 + fraction);
    }
    return digits != 0 && is_suffix(text);
}

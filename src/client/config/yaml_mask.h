/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the content of a YAML text from the YAML library.
 *
 * libyaml copies its input through its own memory, which it frees without wiping. So it gets a text
 * of the same structure, in which every letter and digit is replaced by one letter; only
 * punctuation and white space are significant in YAML, except in escapes and block scalar headers,
 * which are kept. The results are filled in again from the original text. */
#ifndef KI_CLIENT_CONFIG_YAML_MASK_H
#define KI_CLIENT_CONFIG_YAML_MASK_H

#include <kinformer/str.h>

/** A letter that no escape in the text produces or contains; NUL if there is none, which takes a
 *  specially crafted text. */
char ki__yaml_mask_letter(ki_str text);

/** Writes the masked text, which has the same length, to `out`. The letter appears only in masked
 *  positions. */
void ki__yaml_mask(ki_str text, char letter, char *out);

/** Unmasks a value that was parsed from a part of the masked text, given the corresponding original
 *  text of the same length. False if the numbers of letters and positions differ. */
bool ki__yaml_unmask(ki_str text, const char *masked, char letter, char *value, size_t len);

#endif

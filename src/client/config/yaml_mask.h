/* SPDX-License-Identifier: Apache-2.0 */
/* Hides the content of a YAML text from the YAML library.
 *
 * libyaml copies its input through its own memory, which it frees without wiping. So it gets a text
 * of the same structure, in which every letter and digit is replaced by one letter; only
 * punctuation and space are significant in YAML, except in escapes and in the heads of block
 * scalars, which stay. The results are filled in again from the original text. */
#ifndef KI_CLIENT_CONFIG_YAML_MASK_H
#define KI_CLIENT_CONFIG_YAML_MASK_H

#include <kinformer/str.h>

/** A letter that no escape in the text stands for and none is written with; NUL if there is none,
 *  which takes a text made for it. */
char ki__yaml_mask_letter(ki_str text);

/** Writes the masked text, as long as the text, to `out`. There, the letter stands in masked places
 *  only. */
void ki__yaml_mask(ki_str text, char letter, char *out);

/** Fills in a value that was read from the part of the masked text, both of the same length, that
 *  is given with its true text. Whether there were as many letters as places. */
bool ki__yaml_unmask(ki_str text, const char *masked, char letter, char *value, size_t len);

#endif

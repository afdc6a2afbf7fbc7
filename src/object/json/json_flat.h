/* SPDX-License-Identifier: Apache-2.0 */
/* Flat maps: every member is a string, and nothing is escaped. Labels almost always are, and
 * selectors and indexes access them most; a member is found without parsing those before it. */
#ifndef KI_OBJECT_JSON_JSON_FLAT_H
#define KI_OBJECT_JSON_JSON_FLAT_H

#include <stdint.h>

#include <kinformer/str.h>

/** Length of the map at `p`, in validated text followed by padding; 0 if not flat, or over 4
 *  GiB. */
uint32_t ki__json_flat_len(const char *p);

/** Whether the functions below support this name: it starts with a letter or a digit, which only
 *  text inside a string does, and has no quote. True for every label key. */
static inline bool ki__json_flat_can_find(ki_str name)
{
    char c = (char)(name.len != 0 ? name.ptr[0] : '\0');
    bool text = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return text && memchr(name.ptr, '"', name.len) == NULL;
}

/** The value of the first member `name` of the flat map of `len` bytes at `p`, or NULL. */
const char *ki__json_flat_find(const char *p, size_t len, ki_str name);

/** Whether the member exists; *ret_text is its text. */
bool ki__json_flat_text(const char *p, size_t len, ki_str name, ki_str *ret_text);

/** Whether the member exists and equals `text`, which must not contain a quote. */
bool ki__json_flat_is(const char *p, size_t len, ki_str name, ki_str text);

#endif

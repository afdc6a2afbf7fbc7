/* SPDX-License-Identifier: Apache-2.0 */
/* Flat maps: every member is a string, and nothing in the text is escaped. Labels are such maps in
 * all but odd objects, and are what selectors and indexes look into most; a member is found there
 * without going through those before it. */
#ifndef KI_OBJECT_JSON_JSON_FLAT_H
#define KI_OBJECT_JSON_JSON_FLAT_H

#include <stdint.h>

#include <kinformer/str.h>

/** The bytes of the map that begins at `p`, in checked text with padding after it; 0 if it is not
 *  flat, or has 4 GiB. */
uint32_t ki__json_flat_len(const char *p);

/** Whether the functions below can look for this name: it begins with a letter or a digit, which
 *  nothing but the text of a string does, and has no quote. Every label key is such a name. */
static inline bool ki__json_flat_can_find(ki_str name)
{
    char c = (char)(name.len != 0 ? name.ptr[0] : '\0');
    bool text = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return text && memchr(name.ptr, '"', name.len) == NULL;
}

/** The value of the first member `name` of the flat map of `len` bytes at `p`, or NULL. */
const char *ki__json_flat_find(const char *p, size_t len, ki_str name);

/** Whether there is such a member; *ret_text is its text. */
bool ki__json_flat_text(const char *p, size_t len, ki_str name, ki_str *ret_text);

/** Whether there is such a member, and its text is `text`, which has no quote. */
bool ki__json_flat_is(const char *p, size_t len, ki_str name, ki_str text);

#endif

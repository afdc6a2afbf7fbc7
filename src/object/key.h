/* SPDX-License-Identifier: Apache-2.0 */
/* What a part of a key may not have. */
#ifndef KI_OBJECT_KEY_H
#define KI_OBJECT_KEY_H

#include <kinformer/str.h>

/** Whether the text has the character that parts the namespace from the name. */
static inline bool ki__key_has_slash(ki_str text)
{
    return text.len != 0 && memchr(text.ptr, '/', text.len) != NULL;
}

#endif

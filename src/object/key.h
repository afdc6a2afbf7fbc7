/* SPDX-License-Identifier: Apache-2.0 */
/* What a part of a key may not have, and which of two versions is older. */
#ifndef KI_OBJECT_KEY_H
#define KI_OBJECT_KEY_H

#include <kinformer/key.h>
#include <kinformer/str.h>

/** Whether the text has the character that parts the namespace from the name. */
static inline bool ki__key_has_slash(ki_str text)
{
    return text.len != 0 && memchr(text.ptr, '/', text.len) != NULL;
}

/** Whether a resource version is older than another. What has no order is never older. */
static inline bool ki__version_is_older(const char *version, const char *than)
{
    int order;
    return ki_resource_version_compare(ki_str_from(version), ki_str_from(than), &order) == 0 &&
           order < 0;
}

#endif

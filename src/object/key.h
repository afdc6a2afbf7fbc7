/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for keys and resourceVersions. */
#ifndef KI_OBJECT_KEY_H
#define KI_OBJECT_KEY_H

#include <kinformer/key.h>
#include <kinformer/str.h>

/** Whether the text contains the separator of namespace and name. */
static inline bool ki__key_has_slash(ki_str text)
{
    return text.len != 0 && memchr(text.ptr, '/', text.len) != NULL;
}

/** Whether a resourceVersion is older than another; false if they are not comparable. */
static inline bool ki__version_is_older(const char *version, const char *than)
{
    int order;
    return ki_resource_version_compare(ki_str_from(version), ki_str_from(than), &order) == 0 &&
           order < 0;
}

#endif

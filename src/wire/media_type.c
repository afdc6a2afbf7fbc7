/* SPDX-License-Identifier: Apache-2.0 */
/* Media types (RFC 9110, section 8.3.1), as far as they matter here: the type without its
 * parameters, in any case. */
#include "wire/media_type.h"

#include "base/error.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_type(ki_str text, const char *type)
{
    size_t len = strlen(type);
    for (size_t i = 0; i < len && i < text.len; i++) {
        if (lower(text.ptr[i]) != type[i]) {
            return false;
        }
    }
    return text.len == len;
}

int ki__media_type_encoding(const char *content_type, ki_encoding *ret_encoding, ki_error *error)
{
    ki_str type = ki_str_from(content_type);
    const char *parameters = type.len != 0 ? memchr(type.ptr, ';', type.len) : NULL;
    if (parameters != NULL) {
        type.len = (size_t)(parameters - type.ptr);
    }
    while (type.len != 0 && is_blank(type.ptr[0])) {
        type = ki_str_make(type.ptr + 1, type.len - 1);
    }
    while (type.len != 0 && is_blank(type.ptr[type.len - 1])) {
        type.len--;
    }
    if (type.len == 0 || is_type(type, KI__MEDIA_TYPE_JSON)) {
        *ret_encoding = KI_ENCODING_JSON;
        return 0;
    }
    if (is_type(type, KI__MEDIA_TYPE_PROTOBUF)) {
        *ret_encoding = KI_ENCODING_PROTOBUF;
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_UNSUPPORTED,
                        "the server answers neither in JSON nor in protobuf, but in ");
    ki__error_add(error, type);
    return KI_ERR_UNSUPPORTED;
}

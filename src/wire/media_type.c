/* SPDX-License-Identifier: Apache-2.0 */
/* Media types (RFC 9110, section 8.3.1): only the type itself, case-insensitive, without its
 * parameters. */
#include "wire/media_type.h"

#include "base/ascii.h"
#include "base/error.h"

int ki__media_type_encoding(const char *content_type, ki_encoding *ret_encoding, ki_error *error)
{
    ki_str type = ki_str_from(content_type);
    const char *parameters = type.len != 0 ? memchr(type.ptr, ';', type.len) : NULL;
    if (parameters != NULL) {
        type.len = (size_t)(parameters - type.ptr);
    }
    type = ki__trim(type, " \t");
    if (type.len == 0 || ki__str_eq_nocase(type, ki_str_from(KI__MEDIA_TYPE_JSON))) {
        *ret_encoding = KI_ENCODING_JSON;
        return 0;
    }
    if (ki__str_eq_nocase(type, ki_str_from(KI__MEDIA_TYPE_PROTOBUF))) {
        *ret_encoding = KI_ENCODING_PROTOBUF;
        return 0;
    }
    (void)ki__error_set(error, KI_ERR_UNSUPPORTED,
                        "unsupported content type (neither JSON nor protobuf): ");
    ki__error_add(error, type);
    return KI_ERR_UNSUPPORTED;
}

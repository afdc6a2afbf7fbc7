/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/negotiate.h"

#include "base/ascii.h"
#include "wire/media_type.h"

/* Removes and returns the text before the next `separator` of *rest; at the end *rest is empty. */
static ki_str take(ki_str *rest, char separator)
{
    const char *at = rest->len != 0 ? memchr(rest->ptr, separator, rest->len) : NULL;
    size_t len = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
    ki_str part = ki_str_make(rest->ptr, len);
    *rest = at != NULL ? ki_str_make(at + 1, rest->len - len - 1) : ki_str_make(NULL, 0);
    return ki__trim(part, " \t");
}

bool ki__api_is_media_type(ki_str type, const char *other)
{
    return ki__str_eq_nocase(type, ki_str_from(other));
}

ki_str ki__api_media_type(ki_str content_type)
{
    return take(&content_type, ';');
}

ki_str ki__api_request_header(const ki__api_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (ki__api_is_media_type(request->headers[i].name, name)) {
            return request->headers[i].value;
        }
    }
    return ki_str_make(NULL, 0);
}

/* Parses the form requested by media type parameters. False if it is unsupported, or excluded
 * (q=0). */
static bool read_parameters(ki_str parameters, ki__api_form *ret_form)
{
    *ret_form = KI__API_FORM_OBJECT;
    bool version = true;
    while (parameters.len != 0) {
        ki_str parameter = take(&parameters, ';');
        ki_str name = take(&parameter, '=');
        if (ki__api_is_media_type(name, "as")) {
            if (ki__api_is_media_type(parameter, "table")) {
                *ret_form = KI__API_FORM_TABLE;
            } else if (ki__api_is_media_type(parameter, "partialobjectmetadata") ||
                       ki__api_is_media_type(parameter, "partialobjectmetadatalist")) {
                *ret_form = KI__API_FORM_METADATA;
            } else {
                return false;
            }
        }
        if (ki__api_is_media_type(name, "v")) {
            version = ki__api_is_media_type(parameter, "v1");
        }
        if (ki__api_is_media_type(name, "q")) {
            bool zero = parameter.len != 0;
            for (size_t i = 0; i < parameter.len; i++) {
                zero = zero && (parameter.ptr[i] == '0' || parameter.ptr[i] == '.');
            }
            if (zero) {
                return false;
            }
        }
    }
    return version || *ret_form == KI__API_FORM_OBJECT;
}

bool ki__api_negotiate(ki_str accept, bool protobuf, bool forms, ki_encoding *ret_encoding,
                       ki__api_form *ret_form)
{
    *ret_encoding = KI_ENCODING_JSON;
    *ret_form = KI__API_FORM_OBJECT;
    if (ki__trim(accept, " \t").len == 0) {
        return true;
    }
    while (accept.len != 0) {
        ki_str range = take(&accept, ',');
        ki_str type = take(&range, ';');
        ki__api_form form;
        if (!read_parameters(range, &form) || (form != KI__API_FORM_OBJECT && !forms)) {
            continue;
        }
        if (protobuf && form == KI__API_FORM_OBJECT &&
            ki__api_is_media_type(type, KI__MEDIA_TYPE_PROTOBUF)) {
            *ret_encoding = KI_ENCODING_PROTOBUF;
            return true;
        }
        if (ki__api_is_media_type(type, KI__MEDIA_TYPE_JSON) ||
            ki__api_is_media_type(type, "application/*") || ki__api_is_media_type(type, "*/*")) {
            *ret_form = form;
            return true;
        }
    }
    return false;
}

bool ki__api_accepts_form(ki_str accept, const char *form, const char *version)
{
    while (accept.len != 0) {
        ki_str range = take(&accept, ',');
        bool is_form = false;
        bool is_version = false;
        (void)take(&range, ';');
        while (range.len != 0) {
            ki_str parameter = take(&range, ';');
            ki_str name = take(&parameter, '=');
            is_form = is_form ||
                      (ki__api_is_media_type(name, "as") && ki__api_is_media_type(parameter, form));
            is_version = is_version || (ki__api_is_media_type(name, "v") &&
                                        ki__api_is_media_type(parameter, version));
        }
        if (is_form && is_version) {
            return true;
        }
    }
    return false;
}

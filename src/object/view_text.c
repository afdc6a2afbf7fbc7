/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, bytes and quantities of views. A text that is not plain has the table of its encoding,
 * and is converted back to a value to decode it. */
#include <kinformer/error.h>

#include "base/error.h"
#include "object/json/json_skip.h"
#include "object/json/json_value.h"
#include "object/proto/proto_value.h"
#include "object/text/base64.h"
#include "object/text/quantity.h"
#include "object/view.h"

/* A JSON string without its quotes. */
static ki_str between_quotes(const char *quote)
{
    return ki_str_make(quote + 1, (size_t)(ki__json_string_end(quote + 1) - quote) - 1);
}

bool ki__text_of(const ki_value *value, ki_text *ret_text)
{
    ki_str text;
    int r = ki_value_string(value, &text);
    if (r == 0) {
        *ret_text = (ki_text){text.len != 0 ? text.ptr : "", text.len, NULL};
        return true;
    }
    if (r != KI_ERR_NOT_PLAIN) {
        return false;
    }
    if (value->ops == &ki__json_value_ops) {
        text = between_quotes(value->bytes);
    } else if (ki__proto_shape_of(value) == KI__PROTO_TEXT) {
        text = ki__proto_bytes_of(value);
    } else {
        return false; /* a time or bytes: not a string in the API */
    }
    *ret_text = (ki_text){text.ptr, text.len, value->ops};
    return true;
}

ki_value ki__text_value(ki_text text)
{
    return text.encoding == &ki__json_value_ops
               ? ki__json_value_at(text.ptr - 1, text.ptr + text.len + 1)
               : ki__proto_make(KI__PROTO_TEXT, ki_str_make(text.ptr, text.len), NULL);
}

bool ki_text_equals(ki_text text, ki_str other)
{
    if (text.encoding == NULL) {
        return ki_str_eq(ki_str_make(text.ptr, text.len), other);
    }
    ki_value value = ki__text_value(text);
    return ki_value_equals(&value, other);
}

int ki_text_copy(ki_text text, char *out, size_t size)
{
    KI__REQUIRE(out, NULL);
    if (text.encoding != NULL) {
        ki_value value = ki__text_value(text);
        return size != 0 ? ki_value_get_string(&value, out, size) : KI_ERR_LIMIT;
    }
    if (text.len >= size || text.len > INT32_MAX) {
        return KI_ERR_LIMIT;
    }
    if (text.len != 0) {
        memcpy(out, text.ptr, text.len);
    }
    out[text.len] = '\0';
    return (int)text.len;
}

const char *ki_text_or(ki_text text, const char *otherwise, char *out, size_t size)
{
    return text.len != 0 && ki_text_copy(text, out, size) >= 0 ? out : otherwise;
}

int ki_text_append(ki_text text, ki_buf *out)
{
    KI__REQUIRE(out, NULL);
    if (text.encoding != NULL) {
        ki_value value = ki__text_value(text);
        return ki_value_copy_string(&value, out);
    }
    return ki_buf_add(out, text.ptr, text.len);
}

/* ---- bytes ---- */

bool ki__bytes_of(const ki_value *value, ki_bytes *ret_bytes)
{
    if (ki_value_type(value) != KI_TYPE_STRING) {
        return false;
    }
    ki_str bytes;
    const void *encoding = NULL;
    if (value->ops == &ki__json_value_ops) {
        bytes = between_quotes(value->bytes);
        encoding = value->ops;
    } else if (ki__proto_shape_of(value) == KI__PROTO_BASE64) {
        bytes = ki__proto_bytes_of(value);
    } else {
        return false;
    }
    *ret_bytes = (ki_bytes){bytes.ptr, bytes.len, encoding};
    return true;
}

int ki_bytes_append(ki_bytes bytes, ki_buf *out)
{
    KI__REQUIRE(out, NULL);
    if (bytes.encoding == NULL) {
        return ki_buf_add(out, bytes.ptr, bytes.len);
    }
    char *room;
    ki_value value = ki__text_value((ki_text){bytes.ptr, bytes.len, bytes.encoding});
    const ki__value_ops *ops = value.ops;
    size_t len = ops->decode(&value, NULL, 0);
    int r = ki_buf_reserve(out, len, &room);
    if (r < 0) {
        return r;
    }
    (void)ops->decode(&value, room, len);
    r = ki__base64_decode(ki_str_make(room, len), room, &len);
    ki_buf_commit(out, r < 0 ? 0 : len);
    return r;
}

int ki_bytes_copy(ki_bytes bytes, char *out, size_t size)
{
    KI__REQUIRE(out, NULL);
    if (bytes.encoding == NULL) {
        if (bytes.len > size || bytes.len > INT32_MAX) {
            return KI_ERR_LIMIT;
        }
        if (bytes.len != 0) {
            memcpy(out, bytes.ptr, bytes.len);
        }
        return (int)bytes.len;
    }
    ki_buf decoded;
    ki_buf_init(&decoded, NULL, bytes.len);
    int r = ki_bytes_append(bytes, &decoded);
    if (r == 0 && (decoded.len > size || decoded.len > INT32_MAX)) {
        r = KI_ERR_LIMIT;
    }
    if (r == 0 && decoded.len != 0) {
        memcpy(out, decoded.data, decoded.len);
    }
    r = r < 0 ? r : (int)decoded.len;
    ki_buf_done(&decoded);
    return r;
}

/* ---- quantities ---- */

/* JSON may have escapes in a quantity, although no encoder writes them. */
static int read_quantity(ki_quantity quantity, int shift, int64_t *ret_number, double *ret_real)
{
    char room[KI__QUANTITY_TEXT_MAX + 1];
    ki_str text = ki_str_make(quantity.text.ptr, quantity.text.len);
    if (quantity.text.encoding != NULL) {
        int len = ki_text_copy(quantity.text, room, sizeof(room));
        if (len < 0) {
            return KI_ERR_INVALID;
        }
        text = ki_str_make(room, (size_t)len);
    }
    return ret_number != NULL ? ki__quantity_int64(text, shift, ret_number)
                              : ki__quantity_double(text, ret_real);
}

int ki_quantity_int64(ki_quantity quantity, int64_t *ret_number)
{
    KI__REQUIRE(ret_number, NULL);
    return read_quantity(quantity, 0, ret_number, NULL);
}

int ki_quantity_milli(ki_quantity quantity, int64_t *ret_number)
{
    KI__REQUIRE(ret_number, NULL);
    return read_quantity(quantity, 3, ret_number, NULL);
}

int ki_quantity_double(ki_quantity quantity, double *ret_number)
{
    KI__REQUIRE(ret_number, NULL);
    return read_quantity(quantity, 0, NULL, ret_number);
}

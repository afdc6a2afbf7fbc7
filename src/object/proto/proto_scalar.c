/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf strings, numbers and booleans. Strings may hold any bytes on the wire; invalid UTF-8 is
 * decoded as U+FFFD, as in Go's JSON. */
#include <kinformer/error.h>

#include "base/utf8.h"
#include "object/json/json_number.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"
#include "object/text/base64.h"
#include "object/text/text_format.h"

enum { FORMATTED_MAX = KI__TIME_TEXT_MAX };
_Static_assert((int)KI__DURATION_TEXT_MAX <= FORMATTED_MAX, "large enough for both");

/* ---- strings ---- */

int ki__proto_string(const ki_value *value, ki_str *ret_text)
{
    ki_str raw = ki__proto_bytes_of(value);
    if (ki__proto_shape_of(value) != KI__PROTO_TEXT || !ki__utf8_valid(raw)) {
        return KI_ERR_NOT_PLAIN;
    }
    *ret_text = raw;
    return 0;
}

/* Formats a time or a duration. */
static size_t format(const ki_value *value, char out[static FORMATTED_MAX])
{
    ki_str payload = ki__proto_bytes_of(value);
    if (ki__proto_shape_of(value) == KI__PROTO_DURATION) {
        return ki__format_duration(ki__proto_int64(ki__proto_number(payload)), out);
    }
    ki__proto_item item;
    int64_t seconds = 0;
    int32_t nanos = 0;
    if (ki__proto_find(payload, 1, &item) != NULL) {
        seconds = ki__proto_int64(ki__proto_number(item.payload));
    }
    if (ki__proto_shape_of(value) == KI__PROTO_TIME) {
        return ki__format_time(seconds, out);
    }
    if (ki__proto_find(payload, 2, &item) != NULL) {
        nanos = ki__proto_int32(ki__proto_number(item.payload));
    }
    return ki__format_micro_time(seconds, nanos, out);
}

size_t ki__proto_decode(const ki_value *value, char *out, size_t size)
{
    char text[FORMATTED_MAX];
    switch (ki__proto_shape_of(value)) {
    case KI__PROTO_TEXT:
        return ki__utf8_repair(ki__proto_bytes_of(value), out, size);
    case KI__PROTO_BASE64:
        return ki__base64_encode(ki__proto_bytes_of(value), out, size);
    default:
        break;
    }
    size_t len = format(value, text);
    size_t written = len < size ? len : size;
    if (written != 0) {
        memcpy(out, text, written);
    }
    return len;
}

/* Compares invalid UTF-8, replaced with U+FFFD, character by character. */
static bool repaired_is(ki_str raw, ki_str text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    while (raw.len != 0) {
        size_t len = ki__utf8_length(raw);
        ki_str piece = len != 0 ? ki_str_make(raw.ptr, len) : ki_str_from(replacement);
        if (text.len < piece.len || memcmp(text.ptr, piece.ptr, piece.len) != 0) {
            return false;
        }
        text = ki_str_make(text.ptr + piece.len, text.len - piece.len);
        len = len != 0 ? len : 1;
        raw = ki_str_make(raw.ptr + len, raw.len - len);
    }
    return text.len == 0;
}

/* Repairing only lengthens the text, and changes nothing before the first non-ASCII byte. */
bool ki__proto_text_is(ki_str raw, ki_str text)
{
    if (raw.len == text.len) {
        return raw.len == 0 || (memcmp(raw.ptr, text.ptr, raw.len) == 0 && ki__utf8_valid(raw));
    }
    if (raw.len > text.len) {
        return false;
    }
    size_t same = 0;
    while (same < raw.len && raw.ptr[same] == text.ptr[same] &&
           (unsigned char)raw.ptr[same] < 0x80) {
        same++;
    }
    return same < raw.len && (unsigned char)raw.ptr[same] >= 0x80 && repaired_is(raw, text);
}

static bool base64_is(ki_str bytes, ki_str text)
{
    enum { PIECE = 48 };
    char room[PIECE / 3 * 4];
    if (ki__base64_length(bytes.len) != text.len) {
        return false;
    }
    while (bytes.len != 0) {
        size_t piece = bytes.len < PIECE ? bytes.len : PIECE;
        size_t len = ki__base64_encode(ki_str_make(bytes.ptr, piece), room, sizeof(room));
        if (memcmp(room, text.ptr, len) != 0) {
            return false;
        }
        bytes = ki_str_make(bytes.ptr + piece, bytes.len - piece);
        text = ki_str_make(text.ptr + len, text.len - len);
    }
    return true;
}

bool ki__proto_equals(const ki_value *value, ki_str text)
{
    char formatted[FORMATTED_MAX];
    switch (ki__proto_shape_of(value)) {
    case KI__PROTO_TEXT:
        return ki__proto_text_is(ki__proto_bytes_of(value), text);
    case KI__PROTO_BASE64:
        return base64_is(ki__proto_bytes_of(value), text);
    default:
        return ki_str_eq(ki_str_make(formatted, format(value, formatted)), text);
    }
}

/* ---- numbers and booleans ---- */

int ki__proto_number_text(const ki_value *value, ki_str *ret_text)
{
    if (ki__proto_shape_of(value) != KI__PROTO_NUMBER) {
        return KI_ERR_NOT_PLAIN;
    }
    *ret_text = ki__proto_bytes_of(value);
    return 0;
}

/* A double counts as its JSON text, which from 2^53 on does not have all digits. */
static int int64_from_double(double number, int64_t *ret_number)
{
    char text[KI__DOUBLE_TEXT_MAX];
    return ki__json_int64(ki_str_make(text, ki__format_double(number, text)), ret_number);
}

int ki__proto_int64_of(const ki_value *value, int64_t *ret_number)
{
    ki_str payload = ki__proto_bytes_of(value);
    switch (ki__proto_shape_of(value)) {
    case KI__PROTO_INT32:
        *ret_number = ki__proto_int32(ki__proto_number(payload));
        return 0;
    case KI__PROTO_INT64:
        *ret_number = ki__proto_int64(ki__proto_number(payload));
        return 0;
    case KI__PROTO_DOUBLE:
        return int64_from_double(ki__proto_double(payload), ret_number);
    default:
        return ki__json_int64(payload, ret_number);
    }
}

int ki__proto_double_of(const ki_value *value, double *ret_number)
{
    ki_str payload = ki__proto_bytes_of(value);
    switch (ki__proto_shape_of(value)) {
    case KI__PROTO_INT32:
        *ret_number = ki__proto_int32(ki__proto_number(payload));
        return 0;
    case KI__PROTO_INT64:
        *ret_number = (double)ki__proto_int64(ki__proto_number(payload));
        return 0;
    case KI__PROTO_DOUBLE:
        *ret_number = ki__proto_double(payload);
        return 0;
    default:
        return ki__json_double(payload, ret_number);
    }
}

bool ki__proto_bool(const ki_value *value)
{
    return ki__proto_number(ki__proto_bytes_of(value)) != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes protobuf from text. */
#include "support/proto.h"

#include <stdlib.h>

#include <kinformer/encoding.h>

#include "support/test.h"

#define PROTO_MAX ((size_t)1 << 24)

static void add_varint(ki_buf *out, uint64_t number)
{
    while (number >= 0x80) {
        assert_int_equal(ki_buf_add_char(out, (char)(number | 0x80)), 0);
        number >>= 7;
    }
    assert_int_equal(ki_buf_add_char(out, (char)number), 0);
}

void test_proto_field(ki_buf *out, uint32_t number, ki_str payload)
{
    add_varint(out, number << 3 | 2);
    add_varint(out, payload.len);
    assert_int_equal(ki_buf_add_str(out, payload), 0);
}

static unsigned hex_digit(char c)
{
    assert_true((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Appends pairs of digits; gives the place after them. */
static const char *add_hex(ki_buf *out, const char *p)
{
    while ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f')) {
        unsigned byte = hex_digit(p[0]) << 4 | hex_digit(p[1]);
        assert_int_equal(ki_buf_add_char(out, (char)byte), 0);
        p += 2;
    }
    return p;
}

static const char *add_fields(ki_buf *out, const char *p);

static const char *add_double(ki_buf *out, uint32_t number, const char *p)
{
    char *end;
    double real = strtod(p, &end);
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    add_varint(out, number << 3 | 1);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(ki_buf_add_char(out, (char)(bits >> (8 * i))), 0);
    }
    return end;
}

/* The payload of a field from `p` on; gives the place after it. */
static const char *add_payload(ki_buf *out, uint32_t number, const char *p)
{
    ki_buf inner;
    char *end;
    ki_buf_init(&inner, NULL, PROTO_MAX);
    switch (*p) {
    case '\'':
        end = strchr(p + 1, '\'');
        assert_non_null(end);
        test_proto_field(out, number, ki_str_make(p + 1, (size_t)(end - p) - 1));
        p = end + 1;
        break;
    case '{':
        p = add_fields(&inner, p + 1);
        assert_int_equal(*p, '}');
        test_proto_field(out, number, ki_buf_str(&inner));
        p++;
        break;
    case 'x':
        p = add_hex(&inner, p + 2);
        assert_int_equal(*p, '\'');
        test_proto_field(out, number, ki_buf_str(&inner));
        p++;
        break;
    case 'd':
        p = add_double(out, number, p + 1);
        break;
    default:
        add_varint(out, number << 3);
        add_varint(out, (uint64_t)strtoll(p, &end, 10));
        assert_true(end != p);
        p = end;
        break;
    }
    ki_buf_done(&inner);
    return p;
}

static const char *add_fields(ki_buf *out, const char *p)
{
    for (;;) {
        while (*p == ' ') {
            p++;
        }
        if (*p == '\0' || *p == '}') {
            return p;
        }
        if (*p == '#') {
            p = add_hex(out, p + 1);
            continue;
        }
        char *end;
        unsigned long number = strtoul(p, &end, 10);
        assert_int_equal(*end, ':');
        p = add_payload(out, (uint32_t)number, end + 1);
    }
}

void test_proto(ki_buf *out, const char *text)
{
    assert_int_equal(*add_fields(out, text), '\0');
}

void test_proto_envelope(ki_buf *out, const char *api_version, const char *kind, ki_str message)
{
    ki_buf type;
    ki_buf_init(&type, NULL, PROTO_MAX);
    test_proto_field(&type, 1, ki_str_from(api_version));
    test_proto_field(&type, 2, ki_str_from(kind));
    assert_int_equal(ki_buf_add(out, "k8s", 4), 0);
    test_proto_field(out, 1, ki_buf_str(&type));
    test_proto_field(out, 2, message);
    ki_buf_done(&type);
}

ki_object *test_proto_object(const char *api_version, const char *kind, const char *text)
{
    const ki_object_options options = {
        .max_depth = 1024, .default_kind = kind, .default_api_version = api_version};
    ki_buf bytes;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&bytes, NULL, PROTO_MAX);
    test_proto(&bytes, text);
    if (ki_object_from_protobuf(bytes.data, bytes.len, &options, &object, &error) < 0) {
        fail_msg("%s at %zu in %s", error.message, error.offset, text);
    }
    ki_buf_done(&bytes);
    return object;
}

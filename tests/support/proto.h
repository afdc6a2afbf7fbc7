/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf for tests, from a text that can be read: fields one after the other, as
 *
 *   1:'text'   2:-7   3:{1:'a' 2:'b'}   4:x'00ff'   5:d1.5
 *
 * that is a field with a text, a varint, a message, bytes or a double; and #0a03 for bytes as they
 * are, malformed or not. */
#ifndef TESTS_SUPPORT_PROTO_H
#define TESTS_SUPPORT_PROTO_H

#include <kinformer/object.h>

/** Appends what the text tells. */
void test_proto(ki_buf *out, const char *text);

/** Appends one field that is a message, text or bytes. */
void test_proto_field(ki_buf *out, uint32_t number, ki_str payload);

/** Appends an envelope around a message. */
void test_proto_envelope(ki_buf *out, const char *api_version, const char *kind, ki_str message);

/** An object from the message alone, which must be good. */
ki_object *test_proto_object(const char *api_version, const char *kind, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the targets for lists and watches share: how an input is read, and what a decoder found, as
 * one number that is the same only if everything was. */
#ifndef TESTS_FUZZ_WIRE_SUMMARY_H
#define TESTS_FUZZ_WIRE_SUMMARY_H

#include <stdlib.h>
#include <string.h>

#include "wire/intake.h"

static inline void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

/* The first byte: bit 0 protobuf, bit 1 a small limit, bit 2 an expected kind. The second: how the
 * rest is cut. So '0' is plain JSON and '1' plain protobuf. */
enum { HEAD = 2 };

static inline ki__wire_options options_of(const uint8_t *bytes)
{
    return (ki__wire_options){
        .encoding = (bytes[0] & 1) != 0 ? KI_ENCODING_PROTOBUF : KI_ENCODING_JSON,
        .max_bytes = (bytes[0] & 2) != 0 ? 100 : 0,
        .max_depth = (bytes[0] & 2) != 0 ? 5 : 0,
        .expected_kind = (bytes[0] & 4) != 0 ? "Pod" : NULL,
        .default_kind = "Thing",
        .default_api_version = "x.io/v1",
    };
}

/* The size of the next piece; `cut` 0 does not cut. */
static inline size_t next_piece(uint32_t *state, unsigned cut, size_t left)
{
    if (cut == 0) {
        return left;
    }
    *state = *state * 1664525U + 1013904223U;
    size_t size = cut == 1 ? 1 : (*state >> 16) % (2 * cut);
    return size < left ? size : left;
}

/* A piece in memory of its own, so that a sanitizer sees whatever reads beyond it. */
static inline char *copy_piece(const uint8_t *bytes, size_t len)
{
    char *piece = malloc(len != 0 ? len : 1);
    must(piece != NULL);
    if (len != 0) {
        memcpy(piece, bytes, len);
    }
    return piece;
}

static inline void add_bytes(uint64_t *hash, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) {
        *hash = (*hash ^ p[i]) * UINT64_C(0x100000001b3);
    }
    *hash = (*hash ^ len) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline void add_text(uint64_t *hash, const char *text)
{
    add_bytes(hash, text, strlen(text));
}

static inline void add_number(uint64_t *hash, uint64_t number)
{
    add_bytes(hash, &number, sizeof(number));
}

static inline void add_error(uint64_t *hash, const ki_error *error)
{
    must(error->code < 0 && error->message[0] != '\0');
    add_number(hash, (uint64_t)(int64_t)error->code);
    add_number(hash, (uint64_t)(int64_t)error->http_code);
    add_number(hash, error->offset);
    add_text(hash, error->message);
}

/* Takes the object. */
static inline void add_item(uint64_t *hash, ki__wire_item *item)
{
    if (item->object == NULL) {
        add_text(hash, item->key);
        add_text(hash, item->resource_version);
        add_error(hash, &item->error);
        return;
    }
    ki_str bytes = ki_object_bytes(item->object);
    add_bytes(hash, bytes.ptr, bytes.len);
    add_text(hash, ki_object_key(item->object));
    add_text(hash, ki_object_kind(item->object));
    add_text(hash, ki_object_api_version(item->object));
    ki_object_unref(item->object);
}

#endif

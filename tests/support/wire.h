/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders of lists and watches give, as text that can be compared; and protobuf by hand.
 */
#ifndef TESTS_SUPPORT_WIRE_H
#define TESTS_SUPPORT_WIRE_H

#include <kinformer/buf.h>

#include "wire/list_decoder.h"
#include "wire/watch_decoder.h"

/** How bytes are cut: gives the size of the next piece, which may be 0, of those that are left. */
typedef size_t (*test_cutter)(void *user, size_t left);

size_t test_cut_none(void *user, size_t left);
size_t test_cut_every(void *user, size_t left);  /* user: a size_t, the size of all pieces */
size_t test_cut_once(void *user, size_t left);   /* user: a size_t, of the first piece */
size_t test_cut_random(void *user, size_t left); /* user: the uint64_t of test_random() */
size_t test_cut_mask(void *user, size_t left);   /* user: a uint64_t, a bit set cuts there */

/** Decodes a list and appends to `trace`, for each item "namespace/name@version kind apiVersion\n",
 *  or "aside key@version code: message\n" with the name of the code; then the same for the end:
 *  "complete ...\n" or "failed ...\n". Each piece is in memory of its own. Returns how it ended. */
int test_trace_list(const ki__wire_options *options, ki_str body, test_cutter cut, void *user,
                    ki_buf *trace);

/** The same for a watch. */
int test_trace_watch(const ki__wire_options *options, ki_str body, test_cutter cut, void *user,
                     ki_buf *trace);

typedef int (*test_tracer)(const ki__wire_options *options, ki_str body, test_cutter cut,
                           void *user, ki_buf *trace);

/** Checks that the trace of the body in one piece is `expected`, and that it is the same however
 *  the body is cut. Small bodies are cut in every way there is. */
void test_trace_is(test_tracer tracer, const ki__wire_options *options, ki_str body,
                   const char *expected);

/** Every cut of the body is the same; does not say what it is. */
void test_trace_is_stable(test_tracer tracer, const ki__wire_options *options, ki_str body);

/** Text with ' for " in a buffer that is the caller's. */
void test_quote(ki_buf *out, const char *text);

/* Protobuf, field by field. */
void test_put_varint(ki_buf *out, uint64_t number);
void test_put_number(ki_buf *out, uint32_t field, uint64_t number);
void test_put_bytes(ki_buf *out, uint32_t field, ki_str bytes);
void test_put_text(ki_buf *out, uint32_t field, const char *text);
/** "k8s", a NUL, and a runtime.Unknown around the message. */
void test_put_envelope(ki_buf *out, const char *api_version, const char *kind, ki_str message);
/** The message of an object that has metadata alone; what is NULL is left out. */
void test_put_object(ki_buf *out, const char *name_space, const char *name, const char *version);
/** A frame of a watch, around an object that has its envelope. */
void test_put_event(ki_buf *out, const char *type, ki_str object);
/** A frame around any bytes. */
void test_put_frame(ki_buf *out, ki_str event);

#endif

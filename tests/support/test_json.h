/* SPDX-License-Identifier: Apache-2.0 */
/* Random JSON for tests, the same for the same seed. */
#ifndef TESTS_SUPPORT_TEST_JSON_H
#define TESTS_SUPPORT_TEST_JSON_H

#include <kinformer/buf.h>

/** Appends a random value of about `budget` values in all: every type, all kinds of escapes and of
 *  UTF-8, numbers of all shapes, white space at any place, occasionally a name twice in one map. */
void test_json_random(ki_buf *out, uint64_t *random, unsigned budget);

/** The same, but always a map. */
void test_json_random_map(ki_buf *out, uint64_t *random, unsigned budget);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a server has, for tests, from the files of tests/data/discovery. */
#ifndef TESTS_SUPPORT_DISCOVERING_H
#define TESTS_SUPPORT_DISCOVERING_H

#include <kinformer/buf.h>
#include <kinformer/discovery.h>

/** The content of a file there, by its name without ".json"; ends with ki_buf_done(). */
void test_discovery_file(const char *name, ki_buf *ret_content);

/** All of it in the aggregated form. 0 or -ENOMEM; anything else fails the test. */
int test_discovery_aggregated(const ki_alloc *alloc, ki_discovery **ret_discovery);

/** The same in the form of old, each path read for itself and the last one first; those that have
 *  no file fail. */
int test_discovery_legacy(const ki_alloc *alloc, ki_discovery **ret_discovery);

#endif

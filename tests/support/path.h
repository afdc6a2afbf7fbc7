/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling a path and comparing all that it leads to, in one line. */
#ifndef TESTS_SUPPORT_PATH_H
#define TESTS_SUPPORT_PATH_H

#include <kinformer/path.h>

#include "support/objects.h"

/** One row of a table: what a path leads to in a document. */
typedef struct test_path_case {
    const char *path;
    const char *results; /* as JSON with one space between; "" for none */
} test_path_case;

/** A path that must compile. */
ki_path *test_path(const char *text);

/** Checks every row on one document: the results, and that the first value is the first result. */
void test_path_cases(const char *json, const test_path_case *cases, size_t count);

#define TEST_PATH_CASES(json, cases) \
    test_path_cases((json), (cases), sizeof(cases) / sizeof((cases)[0]))

#endif

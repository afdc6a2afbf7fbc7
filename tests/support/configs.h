/* SPDX-License-Identifier: Apache-2.0 */
/* Help for tests of configurations: files in a folder of their own, an environment that is none,
 * and a configuration as one line of text. */
#ifndef TESTS_SUPPORT_CONFIGS_H
#define TESTS_SUPPORT_CONFIGS_H

#include <kinformer/config.h>

#include "support/test.h"

/** Variables as "NAME=value", up to a NULL. */
typedef struct test_environment {
    const char *variables[8];
} test_environment;

/** The table for it: valid until the eighth call after this one. */
const ki_config_environment *test_environment_of(const test_environment *environment);

/** A new folder; removed with all in it by test_folder_done(). */
typedef struct test_folder {
    char path[128];
} test_folder;

void test_folder_init(test_folder *folder);
void test_folder_done(test_folder *folder);
/** Writes a file that only its owner may read; folders on the way are made. */
void test_folder_write(const test_folder *folder, const char *name, const char *text);
/** The path of a file in it: valid until the eighth call after this one. */
const char *test_folder_path(const test_folder *folder, const char *name);

/** Appends all that is set, as "server=https://h namespace=default token=t"; the name of the folder
 *  of test files, if given, as DIR. */
void test_config_print(const ki_config *config, const test_folder *folder, ki_buf *out);

/** Loads, and compares with what test_config_print() should give; or with the message of an error,
 *  which begins with the name of its code. */
void test_config_expect(const ki_config_options *options, const test_folder *folder,
                        const char *expected);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The golden vectors: objects as Go writes them, in protobuf and in JSON. tools/gen-schema makes
 * the files; each is a run of records: five lengths (32 bits, little-endian), then the five texts
 * in the order of golden_record. */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdio.h>

#include <kinformer/str.h>

typedef struct golden_record {
    ki_str api_version;
    ki_str kind;
    ki_str protobuf; /* with its envelope */
    ki_str json;     /* what Go makes of the object that it decodes from this protobuf */
    /* The protobuf that Go makes of the object that it decodes from this JSON: mostly the same, and
     * then empty in the file; golden_each() gives it always. JSON does not keep all: bytes that are
     * not UTF-8, an empty time that a pointer leads to, spaces in embedded JSON. */
    ki_str rewritten;
} golden_record;

typedef void (*golden_visit)(const golden_record *record, void *user);

/** Visits every record of every file *.bin in a folder, by name; gives their number. Fails the test
 *  if a file cannot be read, or there is none. If the environment names another folder in
 *  KI_GOLDEN_DIR, that is read instead: for long runs, with files that are not in the tree. */
size_t golden_each(const char *folder, golden_visit visit, void *user);

/** Appends a record to a file, in the same format; tools/gen-schema can verify it. */
void golden_write(FILE *file, const golden_record *record);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes files of golden vectors. A file that is not as it should be fails the test. */
#include "support/golden.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { PARTS = 5, LENGTH_BYTES = 4 };

static uint32_t length_at(const unsigned char *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Takes one record off `rest`. */
static golden_record take(ki_str *rest)
{
    ki_str parts[PARTS];
    size_t at = (size_t)PARTS * LENGTH_BYTES;
    assert_true(rest->len >= at);
    for (size_t i = 0; i < PARTS; i++) {
        size_t len = length_at((const unsigned char *)rest->ptr + i * LENGTH_BYTES);
        assert_true(len <= rest->len - at);
        parts[i] = ki_str_make(rest->ptr + at, len);
        at += len;
    }
    *rest = ki_str_make(rest->ptr + at, rest->len - at);
    return (golden_record){
        .api_version = parts[0],
        .kind = parts[1],
        .protobuf = parts[2],
        .json = parts[3],
        .rewritten = parts[4].len > 0 ? parts[4] : parts[2],
    };
}

static char *read_whole(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long len = ftell(file);
    assert_true(len >= 0);
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    char *bytes = malloc(len > 0 ? (size_t)len : 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)len, file), (size_t)len);
    assert_int_equal(fclose(file), 0);
    *ret_len = (size_t)len;
    return bytes;
}

static size_t visit_file(const char *path, golden_visit visit, void *user)
{
    size_t len;
    char *bytes = read_whole(path, &len);
    ki_str rest = ki_str_make(bytes, len);
    size_t count = 0;
    while (rest.len > 0) {
        golden_record record = take(&rest);
        visit(&record, user);
        count++;
    }
    free(bytes);
    return count;
}

static int is_golden(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".bin") == 0;
}

size_t golden_each(const char *folder, golden_visit visit, void *user)
{
    const char *other = getenv("KI_GOLDEN_DIR");
    if (other != NULL && other[0] != '\0') {
        folder = other;
    }
    struct dirent **entries = NULL;
    int files = scandir(folder, &entries, is_golden, alphasort);
    assert_true(files > 0);
    size_t count = 0;
    for (int i = 0; i < files; i++) {
        char path[4096];
        int len = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        assert_true(len > 0 && (size_t)len < sizeof path);
        count += visit_file(path, visit, user);
        free(entries[i]);
    }
    free(entries);
    assert_true(count > 0);
    return count;
}

void golden_write(FILE *file, const golden_record *record)
{
    const ki_str parts[PARTS] = {record->api_version, record->kind, record->protobuf, record->json,
                                 record->rewritten};
    for (size_t i = 0; i < PARTS; i++) {
        uint32_t len = (uint32_t)parts[i].len;
        unsigned char bytes[LENGTH_BYTES];
        for (size_t j = 0; j < LENGTH_BYTES; j++) {
            bytes[j] = (unsigned char)(len >> 8 * j);
        }
        assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    }
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(fwrite(parts[i].ptr, 1, parts[i].len, file), parts[i].len);
    }
}

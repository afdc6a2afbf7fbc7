/* SPDX-License-Identifier: Apache-2.0 */
/* Reads golden vectors and writes them again with the protobuf that the library makes of their
 * JSON, so that Go can tell whether it reads the same object: golden_rewrite FOLDER FILE, then
 * `gen-schema verify FILE`. */
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "support/golden.h"

enum { OUT_MAX = 64 << 20 };

typedef struct rewrite {
    FILE *file;
    ki_buf out;
} rewrite;

static void rewrite_record(const golden_record *record, void *user)
{
    rewrite *to = user;
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    ki_buf_clear(&to->out);
    if (ki_object_from_json(record->json.ptr, record->json.len, NULL, &object, &error) < 0 ||
        ki_object_write_protobuf(object, &to->out, &error) < 0) {
        (void)fprintf(stderr, "%s\n%.*s\n", error.message, KI_STR_ARG(record->json));
        exit(1);
    }
    ki_object_unref(object);
    golden_record ours = *record;
    ours.protobuf = ki_buf_str(&to->out);
    ours.rewritten = ki_str_make(NULL, 0);
    golden_write(to->file, &ours);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: golden_rewrite FOLDER FILE\n");
        return 2;
    }
    rewrite to = {.file = fopen(argv[2], "wb")};
    if (to.file == NULL) {
        perror(argv[2]);
        return 1;
    }
    ki_buf_init(&to.out, NULL, OUT_MAX);
    size_t count = golden_each(argv[1], rewrite_record, &to);
    ki_buf_done(&to.out);
    if (fclose(to.file) != 0) {
        perror(argv[2]);
        return 1;
    }
    (void)printf("%zu objects\n", count);
    return 0;
}

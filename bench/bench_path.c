/* SPDX-License-Identifier: Apache-2.0 */
/* Reading fields of the 11.6 KB pod by compiled paths. bench/go reads the same paths with
 * client-go's jsonpath from a pod that is decoded already; ours reads them from the JSON bytes. */
#include <stdlib.h>

#include <kinformer/object.h>
#include <kinformer/path.h>

#include "support/bench.h"

typedef struct read {
    const char *row;
    const char *text;
    size_t values; /* how many are there */
    const ki_object *object;
    ki_path *path;
} read;

static void run_first(void *user, uint64_t count)
{
    const read *r = user;
    for (; count != 0; count--) {
        ki_value value;
        ki_str text;
        if (ki_object_get(r->object, r->path, &value) < 0 || ki_value_string(&value, &text) < 0) {
            bench_fail("%s: no text at %s", r->row, r->text);
        }
        bench_use(text.ptr);
    }
}

static void run_all(void *user, uint64_t count)
{
    const read *r = user;
    ki_value root = ki_object_root(r->object);
    for (; count != 0; count--) {
        ki_path_iter *iter = NULL;
        ki_value value;
        size_t values = 0;
        if (ki_path_iter_begin(r->path, &root, &iter) < 0) {
            bench_fail("%s: no walk", r->row);
        }
        while (ki_path_iter_next(iter, &value) > 0) {
            bench_use(&value);
            values++;
        }
        (void)ki_path_iter_end(iter);
        if (values != r->values) {
            bench_fail("%s: %zu values at %s", r->row, values, r->text);
        }
    }
}

static void run_label(void *user, uint64_t count)
{
    const read *r = user;
    for (; count != 0; count--) {
        ki_str value = ki_object_label(r->object, r->text);
        if (value.len == 0) {
            bench_fail("%s: no label %s", r->row, r->text);
        }
        bench_use(&value);
    }
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"file", "the pod", BENCH_DATA_DIR "/pod.json"},
        {"rounds", "rounds over all paths", "15"},
        {"ms", "of one path in one round", "20"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    read reads[] = {
        {.row = "node_name", .text = ".spec.nodeName", .values = 1},
        {.row = "label", .text = ".metadata.labels['app.kubernetes.io/name']", .values = 1},
        {.row = "ready", .text = ".status.conditions[?(@.type==\"Ready\")].status", .values = 1},
        {.row = "images", .text = "..image", .values = 4},
        {.row = "label_accessor", .text = "app.kubernetes.io/name", .values = 0},
    };
    enum { READS = sizeof(reads) / sizeof(reads[0]) };
    size_t len;
    char *text = bench_read_file(options[0].value, 0, &len);
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(text, len, NULL, &object, &error) < 0) {
        bench_fail("%s: %s", options[0].value, error.message);
    }
    bench_case cases[READS];
    for (size_t i = 0; i < READS; i++) {
        read *r = &reads[i];
        r->object = object;
        if (r->values != 0 && ki_path_compile(r->text, NULL, &r->path, &error) < 0) {
            bench_fail("%s: %s", r->text, error.message);
        }
        cases[i] = (bench_case){.bench = "path",
                                .impl = "kinformer",
                                .row = r->row,
                                .run = r->values == 0   ? run_label
                                       : r->values == 1 ? run_first
                                                        : run_all,
                                .user = r,
                                .memory = -1};
    }
    bench_measure(cases, READS, (unsigned)bench_option_number(&options[1]),
                  (unsigned)bench_option_number(&options[2]));
    for (size_t i = 0; i < READS; i++) {
        (void)ki_path_unref(reads[i].path);
    }
    (void)ki_object_unref(object);
    free(text);
    return 0;
}

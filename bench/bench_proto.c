/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf objects: the pod of data/pod.json as protobuf, which ki_object_write_protobuf makes of
 * it. bench/go makes the same bytes and decodes them.
 *   row "pod"      ingest with the envelope, again and again, and free;
 *   row "pods"     the same for a thousand different pods in turn;
 *   row "message"  without the envelope, as lists and watches hold it;
 *   row "write_json"  the object as JSON;
 *   row "json_to_protobuf"  the text of data/pod.json to protobuf, ingest included;
 *   the rest are paths and a label, as in bench_path.c. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>
#include <kinformer/path.h>

#include "support/bench.h"
#include "support/pod.h"

enum {
    KEEP = 64,         /* objects held at once to measure memory */
    OUT_MAX = 1 << 20, /* more than any pod takes */
    CASES_MAX = 16,
};

typedef struct texts {
    ki_buf *text;
    size_t count;
    size_t next;
    double bytes; /* of all */
    const ki_object_options *options;
} texts;

static ki_object *ingest(const ki_buf *text, const ki_object_options *options)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_protobuf(text->data, text->len, options, &object, &error) < 0) {
        bench_fail("the pod is refused: %s", error.message);
    }
    return object;
}

static void run_ingest(void *user, uint64_t count)
{
    texts *t = user;
    for (; count != 0; count--) {
        const ki_buf *text = &t->text[t->next];
        t->next = t->next + 1 == t->count ? 0 : t->next + 1;
        (void)ki_object_unref(ingest(text, t->options));
    }
}

/* What any cache must do at least: take memory and copy. */
static void run_copy(void *user, uint64_t count)
{
    texts *t = user;
    for (; count != 0; count--) {
        const ki_buf *text = &t->text[t->next];
        t->next = t->next + 1 == t->count ? 0 : t->next + 1;
        void *copy = malloc(text->len);
        if (copy == NULL) {
            bench_fail("out of memory");
        }
        memcpy(copy, text->data, text->len);
        bench_use(copy);
        free(copy);
    }
}

static double memory_of(const texts *t)
{
    ki_object *kept[KEEP];
    (void)ki_object_unref(ingest(&t->text[0], t->options));
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < KEEP; i++) {
        kept[i] = ingest(&t->text[0], t->options);
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < KEEP; i++) {
        (void)ki_object_unref(kept[i]);
    }
    return (double)(after - before) / KEEP;
}

/* ---- reading and writing ---- */

typedef struct read {
    const char *row;
    const char *text;
    size_t values; /* how many are there; 0: a label, not a path */
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

typedef struct writing {
    const ki_object *object;
    ki_str text;
    ki_buf out;
} writing;

static void run_write_json(void *user, uint64_t count)
{
    writing *w = user;
    for (; count != 0; count--) {
        ki_buf_clear(&w->out);
        if (ki_object_write_json(w->object, &w->out) < 0) {
            bench_fail("the pod cannot be written");
        }
        bench_use(w->out.data);
    }
}

static void write_protobuf(const ki_object *object, ki_buf *out)
{
    ki_error error = KI_ERROR_INIT;
    if (ki_object_write_protobuf(object, out, &error) < 0) {
        bench_fail("the pod cannot be written: %s", error.message);
    }
}

/* ---- what is read ---- */

static ki_object *json_object(const char *text, size_t len)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_object_from_json(text, len, NULL, &object, &error) < 0) {
        bench_fail("the pod is refused: %s", error.message);
    }
    return object;
}

static void run_json_to_protobuf(void *user, uint64_t count)
{
    writing *w = user;
    for (; count != 0; count--) {
        ki_object *object = json_object(w->text.ptr, w->text.len);
        ki_buf_clear(&w->out);
        write_protobuf(object, &w->out);
        bench_use(w->out.data);
        (void)ki_object_unref(object);
    }
}

static texts texts_new(size_t room, const ki_object_options *options)
{
    texts t = {.text = calloc(room, sizeof(ki_buf)), .options = options};
    if (t.text == NULL) {
        bench_fail("out of memory");
    }
    return t;
}

static ki_buf *texts_add(texts *t)
{
    ki_buf *buf = &t->text[t->count++];
    ki_buf_init(buf, NULL, OUT_MAX);
    return buf;
}

static texts texts_generated(size_t count)
{
    texts t = texts_new(count, NULL);
    for (size_t i = 0; i < count; i++) {
        char text[BENCH_POD_MAX];
        bench_pod pod = {.number = i, .ns = i / 100, .generation = i % 7};
        ki_object *object = json_object(text, bench_pod_json(BENCH_POD_FULL, &pod, text));
        ki_buf *buf = texts_add(&t);
        write_protobuf(object, buf);
        t.bytes += (double)buf->len;
        (void)ki_object_unref(object);
    }
    return t;
}

static texts texts_one(ki_str bytes, const ki_object_options *options)
{
    texts t = texts_new(1, options);
    if (ki_buf_add_str(texts_add(&t), bytes) < 0) {
        bench_fail("out of memory");
    }
    t.bytes = (double)bytes.len;
    return t;
}

/* The message in an envelope of a pod: behind magic, field 1 (its type) and the tag of field 2, two
 * bytes of length; before fields 3 and 4, both empty. */
static ki_str message_in(ki_str whole)
{
    static const char head[] = "k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12";
    size_t before = sizeof(head) - 1;
    if (whole.len < before + 6 || memcmp(whole.ptr, head, before) != 0 ||
        (unsigned char)whole.ptr[before + 1] > 0x7f) {
        bench_fail("the envelope is not as it was");
    }
    return ki_str_make(whole.ptr + before + 2, whole.len - before - 2 - 4);
}

static void texts_done(texts *t)
{
    for (size_t i = 0; i < t->count; i++) {
        ki_buf_done(&t->text[i]);
    }
    free(t->text);
}

/* ---- cases ---- */

typedef struct cases {
    bench_case list[CASES_MAX];
    size_t count;
} cases;

static bench_case *add_case(cases *all, const char *row, void (*run)(void *, uint64_t), void *user)
{
    bench_case *c = &all->list[all->count++];
    *c = (bench_case){
        .bench = "proto", .impl = "kinformer", .row = row, .run = run, .user = user, .memory = -1};
    return c;
}

static void add_ingest(cases *all, const char *row, texts *t)
{
    bench_case *c = add_case(all, row, run_ingest, t);
    c->bytes = t->bytes / (double)t->count;
    c->memory = t->count == 1 ? memory_of(t) : -1;
    c = add_case(all, row, run_copy, t);
    c->impl = "memcpy";
    c->bytes = t->bytes / (double)t->count;
    c->comment = "malloc, copy and free: no parser";
}

static void add_read(cases *all, read *r, const ki_object *object)
{
    ki_error error = KI_ERROR_INIT;
    r->object = object;
    if (r->values != 0 && ki_path_compile(r->text, NULL, &r->path, &error) < 0) {
        bench_fail("%s: %s", r->text, error.message);
    }
    (void)add_case(all, r->row,
                   r->values == 0   ? run_label
                   : r->values == 1 ? run_first
                                    : run_all,
                   r);
}

static void print_object_memory(const ki_object *object)
{
    double bytes = (double)ki_object_bytes(object).len;
    bench_line_begin("proto", "kinformer", "object_memory");
    bench_line_number("bytes", bytes);
    bench_line_number("memory", (double)ki_object_memory(object));
    bench_line_number("memory_over", (double)ki_object_memory(object) - bytes);
    bench_line_end();
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"file", "the pod, as JSON", BENCH_DATA_DIR "/pod.json"},
        {"pods", "texts in row \"pods\"", "1000"},
        {"rounds", "rounds over all rows", "15"},
        {"ms", "of one row in one round", "30"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    static read reads[] = {
        {.row = "node_name", .text = ".spec.nodeName", .values = 1},
        {.row = "label", .text = ".metadata.labels['app.kubernetes.io/name']", .values = 1},
        {.row = "ready", .text = ".status.conditions[?(@.type==\"Ready\")].status", .values = 1},
        {.row = "images", .text = "..image", .values = 4},
        {.row = "label_accessor", .text = "app.kubernetes.io/name", .values = 0},
    };
    static cases all;
    size_t len;
    char *text = bench_read_file(options[0].value, 0, &len);
    ki_object *from_json = json_object(text, len);
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, OUT_MAX);
    write_protobuf(from_json, &bytes);
    ki_object_options item = KI_OPTIONS_INIT(ki_object_options);
    item.default_api_version = "v1";
    item.default_kind = "Pod";
    texts one = texts_one(ki_buf_str(&bytes), NULL);
    texts message = texts_one(message_in(ki_buf_str(&bytes)), &item);
    texts many = texts_generated(bench_option_number(&options[1]));
    ki_object *object = ingest(&bytes, NULL);
    writing as_json = {.object = object};
    writing as_protobuf = {.text = ki_str_make(text, len)};
    ki_buf_init(&as_json.out, NULL, OUT_MAX);
    ki_buf_init(&as_protobuf.out, NULL, OUT_MAX);

    add_ingest(&all, "pod", &one);
    add_ingest(&all, "pods", &many);
    add_ingest(&all, "message", &message);
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        add_read(&all, &reads[i], object);
    }
    (void)add_case(&all, "write_json", run_write_json, &as_json);
    (void)add_case(&all, "json_to_protobuf", run_json_to_protobuf, &as_protobuf);
    bench_measure(all.list, all.count, (unsigned)bench_option_number(&options[2]),
                  (unsigned)bench_option_number(&options[3]));
    print_object_memory(object);

    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        (void)ki_path_unref(reads[i].path);
    }
    ki_buf_done(&as_protobuf.out);
    ki_buf_done(&as_json.out);
    (void)ki_object_unref(object);
    texts_done(&many);
    texts_done(&message);
    texts_done(&one);
    ki_buf_done(&bytes);
    (void)ki_object_unref(from_json);
    free(text);
    return 0;
}

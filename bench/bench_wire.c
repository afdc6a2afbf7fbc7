/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of lists as they arrive: 1,000 pods in pieces of 16 KiB, each item an object that is
 * kept until the list is over. One run is a whole list.
 *   row "list_json", "list_protobuf"   the same pods in both encodings;
 *   impl "memcpy"                      the items copied into memory of their own: no decoder.
 * With --write DIR it writes the two lists to DIR/list.json and DIR/list.pb, for others to read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/buf.h>

#include "support/bench.h"
#include "support/pod.h"
#include "wire/list_decoder.h"

#define PODS 1000
#define PIECE 16384

typedef struct work {
    ki_encoding encoding;
    ki_buf body;
    ki_object *kept[PODS];
} work;

static void add(ki_buf *buf, const void *bytes, size_t len)
{
    if (ki_buf_add(buf, bytes, len) < 0) {
        bench_fail("out of memory");
    }
}

/* ---- the lists ---- */

static void add_json(ki_buf *body)
{
    static const char head[] = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
                               "{\"resourceVersion\":\"900000000\"},\"items\":[";
    add(body, head, sizeof(head) - 1);
    for (uint64_t i = 0; i < PODS; i++) {
        char text[BENCH_POD_MAX];
        bench_pod pod = {.number = i, .ns = i / 100, .generation = i % 7};
        size_t len = bench_pod_json(BENCH_POD_FULL, &pod, text);
        add(body, i == 0 ? "" : ",", i == 0 ? 0 : 1);
        add(body, text, len);
    }
    add(body, "]}", 2);
}

static void add_field(ki_buf *out, unsigned number, const char *bytes, size_t len)
{
    unsigned char head[11] = {(unsigned char)(number << 3 | 2)};
    size_t head_len = 1;
    uint64_t left = len;
    for (; left >= 0x80; left >>= 7) {
        head[head_len++] = (unsigned char)(0x80 | (left & 0x7f));
    }
    head[head_len++] = (unsigned char)left;
    add(out, head, head_len);
    add(out, bytes, len);
}

/* The message inside the envelope that ki_object_write_protobuf() writes: the type comes first, and
 * is short. */
static ki_str message_of(const ki_buf *envelope)
{
    const unsigned char *p = (const unsigned char *)envelope->data + 4;
    p += 2 + p[1] + 1;
    uint64_t len = 0;
    for (unsigned shift = 0;; shift += 7) {
        len |= (uint64_t)(*p & 0x7f) << shift;
        if (*p++ < 0x80) {
            return ki_str_make((const char *)p, (size_t)len);
        }
    }
}

static void add_item(ki_buf *content, uint64_t number)
{
    char text[BENCH_POD_MAX];
    bench_pod pod = {.number = number, .ns = number / 100, .generation = number % 7};
    size_t len = bench_pod_json(BENCH_POD_FULL, &pod, text);
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf envelope;
    ki_buf_init(&envelope, NULL, SIZE_MAX);
    if (ki_object_from_json(text, len, NULL, &object, &error) < 0 ||
        ki_object_write_protobuf(object, &envelope, &error) < 0) {
        bench_fail("a pod: %s", error.message);
    }
    ki_str message = message_of(&envelope);
    add_field(content, 2, message.ptr, message.len);
    ki_buf_done(&envelope);
    (void)ki_object_unref(object);
}

static void add_protobuf(ki_buf *body)
{
    static const char type[] = "\x0a\x02v1\x12\x07PodList";
    static const char metadata[] = "\x0a\x00\x12\x09"
                                   "900000000\x1a\x00";
    ki_buf content;
    ki_buf_init(&content, NULL, SIZE_MAX);
    add_field(&content, 1, metadata, sizeof(metadata) - 1);
    for (uint64_t i = 0; i < PODS; i++) {
        add_item(&content, i);
    }
    add(body, "k8s", 4);
    add_field(body, 1, type, sizeof(type) - 1);
    add_field(body, 2, content.data, content.len);
    add_field(body, 3, "", 0);
    add_field(body, 4, "", 0);
    ki_buf_done(&content);
}

static void write_file(const char *folder, const char *name, const ki_buf *body)
{
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = len > 0 && (size_t)len < sizeof(path) ? fopen(path, "wb") : NULL;
    if (file == NULL || fwrite(body->data, 1, body->len, file) != body->len || fclose(file) != 0) {
        bench_fail("cannot write %s in %s", name, folder);
    }
}

/* ---- the work ---- */

static void decode(work *w)
{
    ki__list_decoder decoder;
    ki__wire_options options = {.encoding = w->encoding};
    ki_error error = KI_ERROR_INIT;
    size_t count = 0;
    int r = 0;
    ki__list_decoder_init(&decoder, &options);
    for (size_t at = 0; at < w->body.len && r >= 0;) {
        size_t left = PIECE - at % PIECE;
        size_t len = w->body.len - at < left ? w->body.len - at : left;
        ki__wire_item item;
        size_t taken;
        r = ki__list_decoder_feed(&decoder, w->body.data + at, len, &taken, &item, &error);
        if (r == 1 && (item.object == NULL || count == PODS)) {
            bench_fail("item %zu: %s", count, item.error.message);
        }
        if (r == 1) {
            w->kept[count++] = item.object;
        }
        at += taken;
    }
    if (r < 0 || ki__list_decoder_finish(&decoder, &error) < 0 || count != PODS) {
        bench_fail("the list: %s", error.message);
    }
    ki__list_decoder_done(&decoder);
    for (size_t i = 0; i < PODS; i++) {
        (void)ki_object_unref(w->kept[i]);
    }
}

static void run_ours(void *user, uint64_t count)
{
    for (; count != 0; count--) {
        decode(user);
    }
}

/* What keeping the items costs anyone. */
static void run_copy(void *user, uint64_t count)
{
    work *w = user;
    void *copies[PODS];
    size_t len = w->body.len / PODS;
    for (; count != 0; count--) {
        for (size_t i = 0; i < PODS; i++) {
            copies[i] = malloc(len);
            if (copies[i] == NULL) {
                bench_fail("out of memory");
            }
            memcpy(copies[i], w->body.data + i * len, len);
            bench_use(copies[i]);
        }
        for (size_t i = 0; i < PODS; i++) {
            free(copies[i]);
        }
    }
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"rounds", "rounds over all rows", "15"},
        {"ms", "of one row in one round", "30"},
        {"write", "a folder: only write the lists there", ""},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    static work works[2] = {{.encoding = KI_ENCODING_JSON}, {.encoding = KI_ENCODING_PROTOBUF}};
    ki_buf_init(&works[0].body, NULL, SIZE_MAX);
    ki_buf_init(&works[1].body, NULL, SIZE_MAX);
    add_json(&works[0].body);
    add_protobuf(&works[1].body);
    if (options[2].value[0] != '\0') {
        write_file(options[2].value, "list.json", &works[0].body);
        write_file(options[2].value, "list.pb", &works[1].body);
    } else {
        bench_case cases[4];
        for (size_t i = 0; i < 4; i++) {
            work *w = &works[i / 2];
            cases[i] = (bench_case){.bench = "wire",
                                    .impl = i % 2 == 0 ? "kinformer" : "memcpy",
                                    .row = i / 2 == 0 ? "list_json" : "list_protobuf",
                                    .run = i % 2 == 0 ? run_ours : run_copy,
                                    .user = w,
                                    .bytes = (double)w->body.len,
                                    .memory = -1};
        }
        bench_measure(cases, 4, (unsigned)bench_option_number(&options[0]),
                      (unsigned)bench_option_number(&options[1]));
    }
    ki_buf_done(&works[0].body);
    ki_buf_done(&works[1].body);
    return 0;
}

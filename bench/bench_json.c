/* SPDX-License-Identifier: Apache-2.0 */
/* Ingest of JSON: ki_object_from_json and other parsers on the same bytes, parse and free.
 *   row "pod"   one text again and again: branches are learnt, the text is in the cache;
 *   row "pods"  a thousand different pods in turn: nearer to a list from a server.
 * "memory" is what one kept result takes, as the C library counts it, our copy of the text and the
 * allocator's rounding included. The parsers that build trees do not keep the text. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "peers.h"
#include "support/bench.h"
#include "support/pod.h"

#define KEEP 64 /* results held at once to measure memory */

typedef struct texts {
    char **text;
    size_t *len;
    size_t count;
    double bytes; /* of all */
} texts;

typedef struct work {
    const peer *with;
    const texts *on;
    size_t next;
} work;

static void *ours_parse(const char *text, size_t len)
{
    ki_object *object = NULL;
    if (ki_object_from_json(text, len, NULL, &object, NULL) < 0) {
        return NULL;
    }
    return object;
}

static void ours_drop(void *object)
{
    (void)ki_object_unref(object);
}

/* What any cache must do at least: take memory and copy. */
static void *copy_parse(const char *text, size_t len)
{
    void *copy = malloc(len);
    if (copy != NULL) {
        memcpy(copy, text, len);
        bench_use(copy);
    }
    return copy;
}

static void copy_drop(void *copy)
{
    free(copy);
}

static const peer ours = {"kinformer", ours_parse, ours_drop, true, NULL};
static const peer copy = {"memcpy", copy_parse, copy_drop, true,
                          "malloc, copy and free: no parser"};

static const peer *const peers[] = {
    &ours,
#ifdef HAVE_JANSSON
    &peer_jansson,
#endif
#ifdef HAVE_JSON_C
    &peer_json_c,
#endif
#ifdef HAVE_CJSON
    &peer_cjson,
#endif
#ifdef HAVE_SIMDJSON
    &peer_simdjson_dom,
    &peer_simdjson_dom_new,
    &peer_simdjson_ondemand,
#endif
    &copy,
};
#define PEERS (sizeof(peers) / sizeof(peers[0]))

static void run(void *user, uint64_t count)
{
    work *w = user;
    for (; count != 0; count--) {
        size_t i = w->next;
        w->next = i + 1 == w->on->count ? 0 : i + 1;
        void *tree = w->with->parse(w->on->text[i], w->on->len[i]);
        if (tree == NULL) {
            bench_fail("%s does not read text %zu", w->with->name, i);
        }
        w->with->drop(tree);
    }
}

/* Bytes that one kept result takes; less than 0 if it cannot be kept. */
static double memory_of(const peer *p, const texts *t)
{
    void *kept[KEEP];
    if (!p->keeps) {
        return -1;
    }
    p->drop(p->parse(t->text[0], t->len[0]));
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < KEEP; i++) {
        kept[i] = p->parse(t->text[0], t->len[0]);
        if (kept[i] == NULL) {
            bench_fail("%s does not read the text", p->name);
        }
    }
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (size_t i = 0; i < KEEP; i++) {
        p->drop(kept[i]);
    }
    return (double)(after - before) / KEEP;
}

static void print_object_memory(const texts *t)
{
    ki_object *object = ours_parse(t->text[0], t->len[0]);
    if (object == NULL) {
        bench_fail("the pod is refused");
    }
    bench_line_begin("json", "kinformer", "object_memory");
    bench_line_number("bytes", (double)t->len[0]);
    bench_line_number("memory", (double)ki_object_memory(object));
    bench_line_number("memory_over", (double)ki_object_memory(object) - (double)t->len[0]);
    bench_line_end();
    (void)ki_object_unref(object);
}

static void texts_add(texts *t, char *text, size_t len)
{
    t->text[t->count] = text;
    t->len[t->count] = len;
    t->bytes += (double)len;
    t->count++;
}

static texts texts_new(size_t room)
{
    texts t = {calloc(room, sizeof(char *)), calloc(room, sizeof(size_t)), 0, 0};
    if (t.text == NULL || t.len == NULL) {
        bench_fail("out of memory");
    }
    return t;
}

static texts texts_from_file(const char *path)
{
    texts t = texts_new(1);
    size_t len;
    char *text = bench_read_file(path, PEER_PADDING, &len);
    texts_add(&t, text, len);
    return t;
}

static texts texts_generated(size_t count)
{
    texts t = texts_new(count);
    for (size_t i = 0; i < count; i++) {
        char pod_text[BENCH_POD_MAX];
        bench_pod pod = {.number = i, .ns = i / 100, .generation = i % 7};
        size_t len = bench_pod_json(BENCH_POD_FULL, &pod, pod_text);
        char *text = calloc(1, len + PEER_PADDING);
        if (text == NULL) {
            bench_fail("out of memory");
        }
        memcpy(text, pod_text, len);
        texts_add(&t, text, len);
    }
    return t;
}

static void texts_done(texts *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->text[i]);
    }
    free(t->text);
    free(t->len);
}

int main(int argc, char **argv)
{
    bench_option options[] = {
        {"file", "the JSON text of row \"pod\"", BENCH_DATA_DIR "/pod.json"},
        {"pods", "texts in row \"pods\"", "1000"},
        {"rounds", "rounds over all parsers", "15"},
        {"ms", "of one parser in one round", "30"},
        {NULL, NULL, NULL},
    };
    bench_options(argc, argv, options);
    texts one = texts_from_file(options[0].value);
    texts many = texts_generated(bench_option_number(&options[1]));

    work works[2 * PEERS];
    bench_case cases[2 * PEERS];
    for (size_t i = 0; i < 2 * PEERS; i++) {
        const texts *t = i < PEERS ? &one : &many;
        const peer *p = peers[i % PEERS];
        works[i] = (work){.with = p, .on = t};
        cases[i] = (bench_case){.bench = "json",
                                .impl = p->name,
                                .row = i < PEERS ? "pod" : "pods",
                                .run = run,
                                .user = &works[i],
                                .bytes = t->bytes / (double)t->count,
                                .memory = i < PEERS ? memory_of(p, t) : -1,
                                .comment = p->comment};
    }
    bench_measure(cases, 2 * PEERS, (unsigned)bench_option_number(&options[2]),
                  (unsigned)bench_option_number(&options[3]));
    print_object_memory(&one);
    texts_done(&many);
    texts_done(&one);
    return 0;
}

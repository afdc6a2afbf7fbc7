/* SPDX-License-Identifier: Apache-2.0 */
/* The template is made from a pod whose fields are marks, such as "~NNNN": the library encodes it,
 * and the marks are looked for in the bytes. Times are texts in JSON and in annotations, numbers in
 * the rest of protobuf; their marks are two moments that no pod has. */
#include "support/pod_template.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "support/bench.h"

enum {
    HOLES_MAX = 256,
    TIME_BYTES = 5, /* of a moment of our time as a varint */
    FIELD_MAX = 40,
    VERSION_BASE = 1000000000,
    MONTH_DAYS = 27,
};
#define MONTH_START INT64_C(1790812800) /* 2026-10-01T00:00:00Z */
#define CREATED_MARK (MONTH_START + 30 * 86400 + 1)
#define READY_MARK (MONTH_START + 30 * 86400 + 2)

/* How long each field is; 0: it is the same in all pods. */
static const unsigned char widths[BENCH_POD_LETTERS] = {
    ['c' - 'a'] = 20, /* created */
    ['d' - 'a'] = 2,  /* version of the program */
    ['e' - 'a'] = 20, /* ready since */
    ['h' - 'a'] = 10, /* hash of the replica set */
    ['i' - 'a'] = 14, /* address */
    ['k' - 'a'] = 11, /* node */
    ['m' - 'a'] = 11, /* namespace */
    ['n' - 'a'] = 23, /* name */
    ['o' - 'a'] = 36, /* uid of the owner */
    ['p' - 'a'] = 15, /* address of the node */
    ['q' - 'a'] = 5,  /* part of a volume's name */
    ['t' - 'a'] = 4,  /* tier */
    ['u' - 'a'] = 36, /* uid */
    ['v' - 'a'] = 10, /* resourceVersion */
    ['w' - 'a'] = 17, /* hardware address */
    ['x' - 'a'] = 32, /* parts of checksums and of container ids */
    ['y' - 'a'] = 32, ['z' - 'a'] = 32,
};

typedef struct fields {
    char text[BENCH_POD_LETTERS][FIELD_MAX];
    char created[TIME_BYTES]; /* as protobuf has it */
    char ready[TIME_BYTES];
} fields;

typedef struct hole {
    size_t at;
    unsigned char letter; /* from 0 */
    bool is_number;       /* a time as a varint */
} hole;

struct bench_template {
    bench_template_options options;
    ki_buf bytes;
    hole holes[HOLES_MAX];
    size_t hole_count;
};

#define FIELD(letter) f->text[(letter) - 'a'], FIELD_MAX

static void write_time(int64_t moment, char *text, char *varint)
{
    int64_t second = moment - MONTH_START;
    (void)snprintf(text, FIELD_MAX, "2026-10-%02uT%02u:%02u:%02uZ", (unsigned)(second / 86400 + 1),
                   (unsigned)(second / 3600 % 24), (unsigned)(second / 60 % 60),
                   (unsigned)(second % 60));
    for (unsigned i = 0; i < TIME_BYTES; i++) {
        varint[i] = (char)((moment >> (7 * i) & 0x7f) | (i + 1 < TIME_BYTES ? 0x80 : 0));
    }
}

static void write_times(int64_t created, int64_t ready, fields *f)
{
    write_time(created, f->text['c' - 'a'], f->created);
    write_time(ready, f->text['e' - 'a'], f->ready);
}

/* Three numbers of three digits each, from 100 to 199. */
static void write_address(const char *prefix, uint64_t number, char *text, size_t size)
{
    (void)snprintf(text, size, "%s.%u.%u.%u", prefix, (unsigned)(100 + number / 10000 % 100),
                   (unsigned)(100 + number / 100 % 100), (unsigned)(100 + number % 100));
}

static void write_hash(uint64_t seed, char *text, size_t size)
{
    (void)snprintf(text, size, "%016" PRIx64 "%016" PRIx64, bench_mix(seed), bench_mix(~seed));
}

/* ---- the fields of a pod ---- */

static void fill_names(const bench_template_options *o, uint64_t number, fields *f)
{
    uint64_t ns = number / BENCH_PODS_IN_NAMESPACE;
    uint64_t set = bench_mix(o->seed + ns * 64 + number % 64);
    uint64_t r = bench_mix(o->seed ^ number);
    char tail[16];
    bench_random_name(set, 10, f->text['h' - 'a']);
    bench_random_name(bench_mix(o->seed ^ number ^ (UINT64_C(1) << 40)), 8, tail);
    (void)snprintf(FIELD('n'), "web-%.10s-%.8s", f->text['h' - 'a'], tail);
    (void)snprintf(FIELD('m'), "team-%06" PRIu64, ns);
    bench_uid_text(o->seed ^ number ^ (UINT64_C(1) << 41), FIELD('u'));
    bench_uid_text(set, FIELD('o'));
    bench_random_name(r, 5, f->text['q' - 'a']);
    (void)snprintf(FIELD('d'), "%02u", (unsigned)(set % 40));
    (void)snprintf(FIELD('t'), "%s", r % 4 == 0 ? "edge" : "core");
    write_hash(r, FIELD('x'));
}

static void fill_state(const bench_template_options *o, uint64_t number, uint64_t state, fields *f)
{
    uint64_t r = bench_mix(o->seed ^ number);
    uint64_t now = bench_mix(r ^ state);
    uint64_t node = r % (o->objects / BENCH_PODS_ON_NODE + 1);
    int64_t created = MONTH_START + (int64_t)(r % (MONTH_DAYS * 86400));
    write_times(created, created + 60 + (int64_t)(state % 3600), f);
    (void)snprintf(FIELD('v'), "%" PRIu64, (state == 0 ? number : state) + VERSION_BASE);
    (void)snprintf(FIELD('k'), "node-%06" PRIu64, node);
    write_address("172", node, FIELD('p'));
    write_address("10", state == 0 ? number : now, FIELD('i'));
    (void)snprintf(FIELD('w'), "02:%02x:%02x:%02x:%02x:%02x", (unsigned)(now & 0xff),
                   (unsigned)(now >> 8 & 0xff), (unsigned)(now >> 16 & 0xff),
                   (unsigned)(now >> 24 & 0xff), (unsigned)(now >> 32 & 0xff));
    write_hash(now, FIELD('y'));
    write_hash(now + 1, FIELD('z'));
}

/* ---- the template ---- */

static void fill_marks(fields *f)
{
    for (size_t i = 0; i < BENCH_POD_LETTERS; i++) {
        memset(f->text[i], 'A' + (int)i, widths[i]);
        f->text[i][0] = '~';
        f->text[i][widths[i]] = '\0';
    }
    memcpy(f->text['r' - 'a'], "3", 2); /* a number of one digit */
    write_times(CREATED_MARK, READY_MARK, f);
}

static void find_all(bench_template *t, const char *mark, size_t len, size_t letter, bool is_number)
{
    const char *start = t->bytes.data;
    const char *end = start + t->bytes.len;
    const char *at = start;
    while ((at = memmem(at, (size_t)(end - at), mark, len)) != NULL) {
        if (t->hole_count == HOLES_MAX) {
            bench_fail("a pod has more than %d places that differ", HOLES_MAX);
        }
        t->holes[t->hole_count++] = (hole){
            .at = (size_t)(at - start), .letter = (unsigned char)letter, .is_number = is_number};
        at += len;
    }
}

static void find_holes(bench_template *t, const fields *f)
{
    for (size_t i = 0; i < BENCH_POD_LETTERS; i++) {
        if (widths[i] != 0) {
            find_all(t, f->text[i], widths[i], i, false);
        }
    }
    if (!t->options.json) {
        find_all(t, f->created, TIME_BYTES, 'c' - 'a', true);
        find_all(t, f->ready, TIME_BYTES, 'e' - 'a', true);
    }
}

bench_template *bench_template_new(const bench_template_options *options)
{
    static char text[BENCH_POD_MAX];
    fields f;
    const char *values[BENCH_POD_LETTERS];
    bench_template *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        bench_fail("out of memory");
    }
    t->options = *options;
    fill_marks(&f);
    for (size_t i = 0; i < BENCH_POD_LETTERS; i++) {
        values[i] = f.text[i];
    }
    size_t len = bench_pod_expand(options->kind, values, text);
    ki_buf_init(&t->bytes, NULL, BENCH_POD_MAX);
    ki_object *object = NULL;
    int r = ki_object_from_json(text, len, NULL, &object, NULL);
    if (r == 0) {
        r = options->json ? ki_buf_add(&t->bytes, text, len)
                          : ki_object_write_protobuf(object, &t->bytes, NULL);
    }
    (void)ki_object_unref(object);
    if (r < 0) {
        bench_fail("the template of a pod: %s", ki_error_name(r));
    }
    find_holes(t, &f);
    return t;
}

void bench_template_free(bench_template *template)
{
    if (template != NULL) {
        ki_buf_done(&template->bytes);
        free(template);
    }
}

size_t bench_template_size(const bench_template *template)
{
    return template->bytes.len;
}

void bench_template_write(const bench_template *template, uint64_t number, uint64_t state,
                          char *bytes)
{
    fields f;
    fill_names(&template->options, number, &f);
    fill_state(&template->options, number, state, &f);
    memcpy(bytes, template->bytes.data, template->bytes.len);
    for (size_t i = 0; i < template->hole_count; i++) {
        const hole *h = &template->holes[i];
        if (h->is_number) {
            memcpy(bytes + h->at, h->letter == 'c' - 'a' ? f.created : f.ready, TIME_BYTES);
        } else {
            memcpy(bytes + h->at, f.text[h->letter], widths[h->letter]);
        }
    }
}

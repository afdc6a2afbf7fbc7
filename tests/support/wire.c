/* SPDX-License-Identifier: Apache-2.0 */
#include "support/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/status.h>

#include "support/test.h"

/* ---- cutting ---- */

size_t test_cut_none(void *user, size_t left)
{
    (void)user;
    return left;
}

size_t test_cut_every(void *user, size_t left)
{
    size_t size = *(size_t *)user;
    return size < left ? size : left;
}

size_t test_cut_once(void *user, size_t left)
{
    size_t *size = user;
    size_t count = *size < left ? *size : left;
    *size = SIZE_MAX;
    return count;
}

size_t test_cut_random(void *user, size_t left)
{
    size_t count = test_random(user) % 70;
    return count < left ? count : left;
}

size_t test_cut_mask(void *user, size_t left)
{
    uint64_t *mask = user;
    size_t count = 1;
    while (count < left && (*mask & 1) == 0) {
        *mask >>= 1;
        count++;
    }
    *mask >>= 1;
    return count < left ? count : left;
}

/* A piece in memory of its own, so that a sanitizer sees whatever reads beyond it. */
static char *new_piece(const char *bytes, size_t len)
{
    char *piece = malloc(len != 0 ? len : 1);
    assert_non_null(piece);
    if (len != 0) {
        memcpy(piece, bytes, len);
    }
    return piece;
}

/* ---- traces ---- */

typedef struct counts {
    size_t objects;
    size_t aside;
} counts;

__attribute__((format(printf, 2, 3))) static void say(ki_buf *trace, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof(line));
    assert_int_equal(ki_buf_add_text(trace, line), 0);
}

static void say_item(ki_buf *trace, ki__wire_item *item, counts *c)
{
    if (item->object != NULL) {
        c->objects++;
        say(trace, "%s@%s %s %s\n", ki_object_key(item->object),
            ki_object_resource_version(item->object), ki_object_kind(item->object),
            ki_object_api_version(item->object));
        assert_string_equal(item->key, "");
        assert_string_equal(item->resource_version, "");
        ki_object_unref(item->object);
    } else {
        c->aside++;
        assert_true(item->error.code < 0);
        say(trace, "aside %s@%s %s: %s\n", item->key, item->resource_version,
            ki_error_name(item->error.code), item->error.message);
    }
}

static void say_failure(ki_buf *trace, const ki_error *error)
{
    assert_true(error->code < 0);
    say(trace, "failed %s %d %s", ki_error_name(error->code), error->http_code,
        ki_reason_text(error->reason));
    say(trace, " at %zu: %s\n", error->offset, error->message);
}

static int feed_list(ki__list_decoder *decoder, const char *piece, size_t len, ki_buf *trace,
                     counts *c, ki_error *error)
{
    for (;;) {
        ki__wire_item item;
        size_t taken;
        int r = ki__list_decoder_feed(decoder, piece, len, &taken, &item, error);
        assert_true(taken <= len && (r != 0 || taken == len));
        if (r != 1) {
            return r;
        }
        say_item(trace, &item, c);
        piece += taken;
        len -= taken;
    }
}

static void say_list_end(ki_buf *trace, ki__list_decoder *decoder, const counts *c, int r,
                         const ki_error *error)
{
    ki_error again = KI_ERROR_INIT;
    if (r < 0) {
        say_failure(trace, error);
        assert_int_equal(ki__list_decoder_finish(decoder, &again), r); /* failed stays failed */
        assert_string_equal(again.message, error->message);
        return;
    }
    ki__list_info info = ki__list_decoder_info(decoder);
    say(trace, "complete %s %s @%s", info.kind, info.api_version, info.resource_version);
    say(trace, " continue=%s remaining=%lld objects=%zu aside=%zu\n", info.continue_token,
        (long long)info.remaining_item_count, c->objects, c->aside);
}

int test_trace_list(const ki__wire_options *options, ki_str body, test_cutter cut, void *user,
                    ki_buf *trace)
{
    ki__list_decoder decoder;
    counts c = {0};
    ki_error error = KI_ERROR_INIT;
    ki__list_decoder_init(&decoder, options);
    int r = 0;
    for (size_t at = 0; at < body.len && r == 0;) {
        size_t len = cut(user, body.len - at);
        char *piece = new_piece(body.ptr + at, len);
        r = feed_list(&decoder, piece, len, trace, &c, &error);
        free(piece);
        at += len;
    }
    r = r == 0 ? ki__list_decoder_finish(&decoder, &error) : r;
    say_list_end(trace, &decoder, &c, r, &error);
    ki__list_decoder_done(&decoder);
    return r;
}

static bool ends_initial_events(const ki__watch_event *event)
{
    if (event->type != KI_WATCH_EVENT_BOOKMARK || event->item.object == NULL) {
        return false;
    }
    ki_value value = ki_object_annotation(event->item.object, "k8s.io/initial-events-end");
    return ki_value_equals_text(&value, "true");
}

static void say_event(ki_buf *trace, ki__watch_event *event, counts *c)
{
    say(trace, "%s%s ", ki_watch_event_type_name(event->type),
        ends_initial_events(event) ? "(end)" : "");
    if (event->type == KI_WATCH_EVENT_ERROR) {
        say(trace, "%s ", event->item.object != NULL ? "status" : "none");
        say_failure(trace, &event->item.error);
        ki_object_unref(event->item.object);
    } else {
        say_item(trace, &event->item, c);
    }
}

static int feed_watch(ki__watch_decoder *decoder, const char *piece, size_t len, ki_buf *trace,
                      counts *c, ki_error *error)
{
    for (;;) {
        ki__watch_event event;
        size_t taken;
        int r = ki__watch_decoder_feed(decoder, piece, len, &taken, &event, error);
        assert_true(taken <= len && (r != 0 || taken == len));
        if (r != 1) {
            return r;
        }
        say_event(trace, &event, c);
        piece += taken;
        len -= taken;
    }
}

int test_trace_watch(const ki__wire_options *options, ki_str body, test_cutter cut, void *user,
                     ki_buf *trace)
{
    ki__watch_decoder decoder;
    counts c = {0};
    ki_error error = KI_ERROR_INIT;
    ki__watch_decoder_init(&decoder, options);
    int r = 0;
    for (size_t at = 0; at < body.len && r == 0;) {
        size_t len = cut(user, body.len - at);
        char *piece = new_piece(body.ptr + at, len);
        r = feed_watch(&decoder, piece, len, trace, &c, &error);
        free(piece);
        at += len;
    }
    r = r == 0 ? ki__watch_decoder_finish(&decoder, &error) : r;
    if (r < 0) {
        ki_error again = KI_ERROR_INIT;
        say_failure(trace, &error);
        assert_int_equal(ki__watch_decoder_finish(&decoder, &again), r);
        assert_string_equal(again.message, error.message);
    } else {
        say(trace, "complete objects=%zu aside=%zu\n", c.objects, c.aside);
    }
    ki__watch_decoder_done(&decoder);
    return r;
}

/* ---- every cut ---- */

static void cut_is_same(test_tracer tracer, const ki__wire_options *options, ki_str body,
                        test_cutter cut, void *user, const ki_buf *expected)
{
    ki_buf trace;
    ki_buf_init(&trace, NULL, SIZE_MAX);
    (void)tracer(options, body, cut, user, &trace);
    if (!ki_str_eq(ki_buf_str(&trace), ki_buf_str(expected))) {
        fail_msg("%.*s\nin one piece:\n%sin pieces:\n%s", KI_STR_ARG(body), ki_buf_text(expected),
                 ki_buf_text(&trace));
    }
    ki_buf_done(&trace);
}

static void cuts_are_same(test_tracer tracer, const ki__wire_options *options, ki_str body,
                          const ki_buf *expected)
{
    for (size_t size = 1; size < body.len && size < 80; size++) {
        size_t user = size;
        cut_is_same(tracer, options, body, test_cut_every, &user, expected);
    }
    for (size_t at = 0; at < body.len; at++) {
        size_t user = at;
        cut_is_same(tracer, options, body, test_cut_once, &user, expected);
    }
    uint64_t seed = body.len;
    for (unsigned i = 0; i < 30; i++) {
        cut_is_same(tracer, options, body, test_cut_random, &seed, expected);
    }
    if (body.len <= 13) { /* every way there is */
        for (uint64_t mask = 0; mask < UINT64_C(1) << body.len; mask++) {
            uint64_t user = mask;
            cut_is_same(tracer, options, body, test_cut_mask, &user, expected);
        }
    }
}

void test_trace_is_stable(test_tracer tracer, const ki__wire_options *options, ki_str body)
{
    ki_buf whole;
    ki_buf_init(&whole, NULL, SIZE_MAX);
    (void)tracer(options, body, test_cut_none, NULL, &whole);
    cuts_are_same(tracer, options, body, &whole);
    ki_buf_done(&whole);
}

void test_trace_is(test_tracer tracer, const ki__wire_options *options, ki_str body,
                   const char *expected)
{
    ki_buf whole;
    ki_buf_init(&whole, NULL, SIZE_MAX);
    (void)tracer(options, body, test_cut_none, NULL, &whole);
    if (strcmp(ki_buf_text(&whole), expected) != 0) {
        fail_msg("%.*s\nexpected:\n%sgot:\n%s", KI_STR_ARG(body), expected, ki_buf_text(&whole));
    }
    cuts_are_same(tracer, options, body, &whole);
    ki_buf_done(&whole);
}

void test_quote(ki_buf *out, const char *text)
{
    ki_buf_clear(out);
    for (; *text != '\0'; text++) {
        assert_int_equal(ki_buf_add_char(out, *text == '\'' ? '"' : *text), 0);
    }
}

/* ---- protobuf ---- */

void test_put_varint(ki_buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7) {
        assert_int_equal(ki_buf_add_char(out, (char)(0x80 | (number & 0x7f))), 0);
    }
    assert_int_equal(ki_buf_add_char(out, (char)number), 0);
}

void test_put_number(ki_buf *out, uint32_t field, uint64_t number)
{
    test_put_varint(out, (uint64_t)field << 3);
    test_put_varint(out, number);
}

void test_put_bytes(ki_buf *out, uint32_t field, ki_str bytes)
{
    test_put_varint(out, (uint64_t)field << 3 | 2);
    test_put_varint(out, bytes.len);
    assert_int_equal(ki_buf_add_str(out, bytes), 0);
}

void test_put_text(ki_buf *out, uint32_t field, const char *text)
{
    test_put_bytes(out, field, ki_str_from(text));
}

void test_put_envelope(ki_buf *out, const char *api_version, const char *kind, ki_str message)
{
    ki_buf type;
    ki_buf_init(&type, NULL, SIZE_MAX);
    test_put_text(&type, 1, api_version);
    test_put_text(&type, 2, kind);
    assert_int_equal(ki_buf_add(out, "k8s", 4), 0);
    test_put_bytes(out, 1, ki_buf_str(&type));
    test_put_bytes(out, 2, message);
    test_put_text(out, 3, "");
    test_put_text(out, 4, "");
    ki_buf_done(&type);
}

void test_put_object(ki_buf *out, const char *name_space, const char *name, const char *version)
{
    ki_buf metadata;
    ki_buf_init(&metadata, NULL, SIZE_MAX);
    if (name != NULL) {
        test_put_text(&metadata, 1, name);
    }
    if (name_space != NULL) {
        test_put_text(&metadata, 3, name_space);
    }
    if (version != NULL) {
        test_put_text(&metadata, 6, version);
    }
    test_put_bytes(out, 1, ki_buf_str(&metadata));
    ki_buf_done(&metadata);
}

void test_put_frame(ki_buf *out, ki_str event)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        assert_int_equal(ki_buf_add_char(out, (char)(event.len >> shift & 0xff)), 0);
    }
    assert_int_equal(ki_buf_add_str(out, event), 0);
}

void test_put_event(ki_buf *out, const char *type, ki_str object)
{
    ki_buf extension;
    ki_buf event;
    ki_buf_init(&extension, NULL, SIZE_MAX);
    ki_buf_init(&event, NULL, SIZE_MAX);
    test_put_bytes(&extension, 1, object);
    test_put_text(&event, 1, type);
    test_put_bytes(&event, 2, ki_buf_str(&extension));
    test_put_frame(out, ki_buf_str(&event));
    ki_buf_done(&extension);
    ki_buf_done(&event);
}

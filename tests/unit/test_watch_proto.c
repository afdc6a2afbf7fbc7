/* SPDX-License-Identifier: Apache-2.0 */
/* Watches in protobuf. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/objects.h"
#include "support/test.h"
#include "support/wire.h"

static const ki__wire_options plain = {.encoding = KI_ENCODING_PROTOBUF};

/* An event of a pod of this namespace, name and version; `more` follows in its message. */
static void put_pod(ki_buf *body, const char *type, const char *name, const char *version,
                    ki_str more)
{
    ki_buf message;
    ki_buf object;
    ki_buf_init(&message, NULL, SIZE_MAX);
    ki_buf_init(&object, NULL, SIZE_MAX);
    test_put_object(&message, "n", name, version);
    assert_int_equal(ki_buf_add_str(&message, more), 0);
    test_put_envelope(&object, "v1", "Pod", ki_buf_str(&message));
    test_put_event(body, type, ki_buf_str(&object));
    ki_buf_done(&message);
    ki_buf_done(&object);
}

/* The same from an object that is written as JSON with ' for ". */
static void put_json(ki_buf *body, const char *type, const char *json)
{
    ki_object *object = test_object(NULL, json);
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, SIZE_MAX);
    assert_int_equal(ki_object_write_protobuf(object, &bytes, NULL), 0);
    test_put_event(body, type, ki_buf_str(&bytes));
    ki_buf_done(&bytes);
    ki_object_unref(object);
}

static void watch_is(const ki_buf *body, const char *expected)
{
    test_trace_is(test_trace_watch, &plain, ki_buf_str(body), expected);
}

static const ki_str none = {NULL, 0};

#define FIRST "ADDED n/a@5 Pod v1\n"
#define LAST "DELETED n/a@9 Pod v1\n"

static void each_type_of_event_comes_with_its_object(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    put_pod(&body, "MODIFIED", "a", "6", none);
    put_pod(&body, "DELETED", "a", "9", none);
    watch_is(&body, FIRST "MODIFIED n/a@6 Pod v1\n" LAST "complete objects=3 aside=0\n");
    ki_buf_clear(&body);
    watch_is(&body, "complete objects=0 aside=0\n");
    ki_buf_done(&body);
}

static void a_bookmark_has_its_version_and_may_end_the_initial_events(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_json(&body, "BOOKMARK",
             "{'kind':'Pod','apiVersion':'v1','metadata':{'resourceVersion':'7'}}");
    put_json(&body, "BOOKMARK",
             "{'kind':'Pod','apiVersion':'v1','metadata':{'resourceVersion':'8','annotations':"
             "{'k8s.io/initial-events-end':'true'}}}");
    put_json(&body, "BOOKMARK", "{'kind':'Pod','apiVersion':'v1','metadata':{}}");
    watch_is(&body, "BOOKMARK @7 Pod v1\nBOOKMARK(end) @8 Pod v1\n"
                    "BOOKMARK aside @ KI_ERR_INVALID: bookmark without resourceVersion\n"
                    "complete objects=2 aside=1\n");
    ki_buf_done(&body);
}

static void an_error_event_is_the_error_of_its_status(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_json(&body, "ERROR",
             "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
             "'message':'too old','reason':'Expired','code':410}");
    put_json(&body, "ERROR",
             "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'TooManyRequests',"
             "'details':{'retryAfterSeconds':4},'code':429,'message':'later'}");
    test_put_event(&body, "ERROR", ki_str_from("junk"));
    ki_buf trace;
    ki_buf_init(&trace, NULL, SIZE_MAX);
    assert_int_equal(test_trace_watch(&plain, ki_buf_str(&body), test_cut_none, NULL, &trace), 0);
    const char *text = ki_buf_text(&trace);
    const char *expected = "ERROR status failed KI_ERR_STATUS 410 Expired at 0: too old\n"
                           "ERROR status failed KI_ERR_STATUS 429 TooManyRequests at 0: later\n"
                           "ERROR none failed KI_ERR_INVALID 0  at 0: undecodable ERROR "
                           "event: ";
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    test_trace_is_stable(test_trace_watch, &plain, ki_buf_str(&body));
    ki_buf_done(&trace);
    ki_buf_done(&body);
}

/* ---- poison ---- */

#define BYTES(text) ki_str_make((text), sizeof(text) - 1)

/* A frame with these bytes, between two good events, is skipped. */
static void frame_is_skipped(ki_str frame, const char *aside)
{
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    test_put_frame(&body, frame);
    put_pod(&body, "DELETED", "a", "9", none);
    char expected[400];
    (void)snprintf(expected, sizeof(expected), FIRST "%s\n" LAST "complete objects=2 aside=1\n",
                   aside);
    watch_is(&body, expected);
    ki_buf_done(&body);
}

static void one_bad_frame_is_skipped_and_the_rest_continues(void **state)
{
    (void)state;
    frame_is_skipped(none, "unknown aside @ KI_ERR_INVALID: watch event without an object");
    frame_is_skipped(BYTES("\x0a\x05"
                           "ADDED"),
                     "ADDED aside @ KI_ERR_INVALID: watch event without an object");
    frame_is_skipped(BYTES("\x0a\x05"
                           "ADDED\x12\x00"),
                     "ADDED aside @ KI_ERR_INVALID: watch event without an object");
    frame_is_skipped(BYTES("\x0a\x05"
                           "ADDED\x12\x02\x0a\x00"),
                     "ADDED aside @ KI_ERR_KEY: object without metadata.name");
    frame_is_skipped(BYTES("\x0a\x05"
                           "ADDED\x12\x60"),
                     "ADDED aside @ KI_ERR_SYNTAX: field exceeds its message");
    frame_is_skipped(BYTES("\x0a\x05"
                           "ADDED\x0a\x05"
                           "ADDED"),
                     "ADDED aside @ KI_ERR_INVALID: watch event: duplicate field");
    frame_is_skipped(BYTES("\x0f junk that nobody reads"),
                     "unknown aside @ KI_ERR_SYNTAX: unsupported wire type");
    frame_is_skipped(BYTES("\x0a\x28"
                           "0123456789012345678901234567890123456789"),
                     "unknown aside @ KI_ERR_INVALID: watch event without an object");
}

static void an_undecodable_object_is_skipped_with_its_key(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf trace;
    ki_buf_init(&body, NULL, SIZE_MAX);
    ki_buf_init(&trace, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    put_pod(&body, "DELETED", "p", "7", BYTES("\x12\x60"));
    put_pod(&body, "CHANGED", "q", "8", none);
    put_pod(&body, "ADDED", NULL, "8", none);
    put_pod(&body, "DELETED", "a", "9", none);
    assert_int_equal(test_trace_watch(&plain, ki_buf_str(&body), test_cut_none, NULL, &trace), 0);
    const char *text = ki_buf_text(&trace);
    assert_int_equal(strncmp(text, FIRST "DELETED aside n/p@7 KI_ERR_SYNTAX: ", 50), 0);
    assert_non_null(strstr(
        text, "\nunknown aside n/q@8 KI_ERR_INVALID: watch event of an unknown type\nADDED aside "
              "@8 KI_ERR_KEY: object without metadata.name\n" LAST "complete objects=2 aside=3\n"));
    test_trace_is_stable(test_trace_watch, &plain, ki_buf_str(&body));
    ki_buf_done(&trace);
    ki_buf_done(&body);
}

/* The object is whole when the frame turns out to be malformed. */
static void a_frame_malformed_after_its_object_is_skipped_with_its_key(void **state)
{
    (void)state;
    ki_buf frame;
    ki_buf_init(&frame, NULL, SIZE_MAX);
    put_pod(&frame, "ADDED", "p", "7", none);
    test_add(&frame, "\x0f", 1);
    frame_is_skipped(ki_str_make(frame.data + 4, frame.len - 4),
                     "ADDED aside n/p@7 KI_ERR_SYNTAX: unsupported wire type");
    ki_buf_done(&frame);
}

/* ---- ends and memory ---- */

static void a_frame_over_the_limit_ends_the_watch(void **state)
{
    (void)state;
    ki__wire_options small = plain;
    small.max_bytes = 60;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    put_pod(&body, "ADDED", "a-name-that-is-a-little-longer", "5", none);
    test_trace_is(test_trace_watch, &small, ki_buf_str(&body),
                  FIRST "failed KI_ERR_LIMIT 0  at 0: watch event too large: 72 bytes, limit 60\n");
    ki_buf_clear(&body);
    test_add(&body, "\xff", 4); /* not even the length is believed */
    test_trace_is(test_trace_watch, &plain, ki_buf_str(&body),
                  "failed KI_ERR_LIMIT 0  at 0: watch event too large: 4294967295 bytes, limit "
                  "16777216\n");
    ki_buf_done(&body);
}

static void a_body_cut_anywhere_gives_the_events_so_far(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    size_t first = body.len;
    put_pod(&body, "DELETED", "a", "9", none);
    for (size_t len = 0; len <= body.len; len++) {
        ki_buf trace;
        ki_buf_init(&trace, NULL, SIZE_MAX);
        int r = test_trace_watch(&plain, ki_str_make(body.data, len), test_cut_none, NULL, &trace);
        bool between = len == 0 || len == first || len == body.len;
        assert_int_equal(r, between ? 0 : KI_ERR_TRUNCATED);
        assert_int_equal(strstr(ki_buf_text(&trace), FIRST) != NULL, len >= first);
        assert_int_equal(strstr(ki_buf_text(&trace), LAST) != NULL, len == body.len);
        ki_buf_done(&trace);
    }
    ki_buf_done(&body);
}

static void random_bytes_are_the_same_in_any_pieces(void **state)
{
    (void)state;
    uint64_t seed = 14;
    for (int round = 0; round < 400; round++) {
        ki_buf body;
        ki_buf_init(&body, NULL, SIZE_MAX);
        put_pod(&body, "ADDED", "a", "5", none);
        put_pod(&body, "DELETED", "a", "9", none);
        for (uint64_t left = test_random(&seed) % 3; left != 0; left--) {
            uint64_t bits = test_random(&seed);
            body.data[(bits >> 8) % body.len] = (char)bits;
        }
        test_trace_is_stable(test_trace_watch, &plain, ki_buf_str(&body));
        ki_buf_done(&body);
    }
}

static int decode(const ki_alloc *alloc, void *user)
{
    const ki_str *body = user;
    ki__wire_options options = plain;
    options.alloc = alloc;
    ki__watch_decoder decoder;
    ki__watch_decoder_init(&decoder, &options);
    int r = 0;
    for (size_t at = 0; at < body->len && r >= 0;) {
        ki__watch_event event;
        size_t taken;
        size_t len = body->len - at < 9 ? body->len - at : 9;
        r = ki__watch_decoder_feed(&decoder, body->ptr + at, len, &taken, &event, NULL);
        if (r == 1) {
            assert_int_not_equal(event.item.error.code, -ENOMEM);
            ki_object_unref(event.item.object);
        }
        at += taken;
    }
    r = r >= 0 ? ki__watch_decoder_finish(&decoder, NULL) : r;
    ki__watch_decoder_done(&decoder);
    return r;
}

static void a_lack_of_memory_fails_and_sets_nothing_aside(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    put_pod(&body, "ADDED", "a", "5", none);
    put_pod(&body, "MODIFIED", "p", "7", BYTES("\x12\x60"));
    put_pod(&body, "CHANGED", "q", "8", none);
    put_json(&body, "ERROR", "{'kind':'Status','apiVersion':'v1','code':410}");
    put_pod(&body, "DELETED", "a", "9", none);
    ki_str bytes = ki_buf_str(&body);
    test_alloc_sweep(decode, &bytes);
    ki_buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_event_comes_with_its_object),
        cmocka_unit_test(a_bookmark_has_its_version_and_may_end_the_initial_events),
        cmocka_unit_test(an_error_event_is_the_error_of_its_status),
        cmocka_unit_test(one_bad_frame_is_skipped_and_the_rest_continues),
        cmocka_unit_test(an_undecodable_object_is_skipped_with_its_key),
        cmocka_unit_test(a_frame_malformed_after_its_object_is_skipped_with_its_key),
        cmocka_unit_test(a_frame_over_the_limit_ends_the_watch),
        cmocka_unit_test(a_body_cut_anywhere_gives_the_events_so_far),
        cmocka_unit_test(random_bytes_are_the_same_in_any_pieces),
        cmocka_unit_test(a_lack_of_memory_fails_and_sets_nothing_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

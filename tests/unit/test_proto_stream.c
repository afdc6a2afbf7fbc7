/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/wire.h"
#include "wire/proto_stream.h"

/* What to read, and how. */
typedef struct reading {
    ki_str bytes;
    uint64_t len; /* of the message, as passed to the stream */
    uint32_t enter[2];
} reading;

static void note(ki_buf *trace, const ki__proto_event *event)
{
    static const char *const names[] = {"begin", "end", "value", "number", "fixed", "over"};
    char line[120];
    (void)snprintf(line, sizeof(line), "%s%u@%u:%llu-%llu ", names[event->type], event->number,
                   event->depth, (unsigned long long)event->start, (unsigned long long)event->end);
    if (event->type == KI__PROTO_NUMBER) {
        (void)snprintf(line, sizeof(line), "number%u@%u=%llu ", event->number, event->depth,
                       (unsigned long long)event->value);
    } else if (event->type == KI__PROTO_END || event->type == KI__PROTO_OVER) {
        (void)snprintf(line, sizeof(line), "%s@%u ", names[event->type], event->depth);
    }
    assert_int_equal(ki_buf_add_text(trace, line), 0);
}

static int feed(ki__proto_stream *stream, const char *piece, size_t len, ki_buf *trace,
                ki_error *error)
{
    for (;;) {
        ki__proto_event event;
        size_t taken;
        int r = ki__proto_stream_feed(stream, piece, len, &taken, &event, error);
        assert_true(taken <= len);
        if (r != 1) {
            return r;
        }
        note(trace, &event);
        piece += taken;
        len -= taken;
    }
}

static void read_all(const reading *what, test_cutter cut, void *user, ki_buf *trace)
{
    ki__proto_stream stream;
    ki_error error = KI_ERROR_INIT;
    ki__proto_stream_init(&stream, what->len);
    stream.enter[0] = what->enter[0];
    stream.enter[1] = what->enter[1];
    int r = feed(&stream, NULL, 0, trace, &error);
    for (size_t at = 0; at < what->bytes.len && r == 0;) {
        size_t len = cut(user, what->bytes.len - at);
        char *piece = malloc(len != 0 ? len : 1);
        assert_non_null(piece);
        memcpy(piece, what->bytes.ptr + at, len);
        r = feed(&stream, piece, len, trace, &error);
        free(piece);
        at += len;
    }
    char line[sizeof(error.message) + 32];
    if (r < 0) {
        (void)snprintf(line, sizeof(line), "%zu: %s", error.offset, error.message);
        ki__proto_event event;
        size_t taken;
        assert_int_equal(ki__proto_stream_feed(&stream, "", 0, &taken, &event, NULL), r);
    } else {
        (void)snprintf(line, sizeof(line), "%s", ki__proto_stream_may_end(&stream) ? "ok" : "cut");
    }
    assert_int_equal(ki_buf_add_text(trace, line), 0);
}

static void is(const reading *what, const char *expected)
{
    ki_buf trace;
    ki_buf_init(&trace, NULL, SIZE_MAX);
    read_all(what, test_cut_none, NULL, &trace);
    assert_string_equal(ki_buf_text(&trace), expected);
    for (uint64_t mask = 0; mask < UINT64_C(1) << what->bytes.len && mask < 4096; mask++) {
        uint64_t user = mask;
        ki_buf_clear(&trace);
        read_all(what, test_cut_mask, &user, &trace);
        assert_string_equal(ki_buf_text(&trace), expected);
    }
    ki_buf_done(&trace);
}

#define BYTES(text) ki_str_make((text), sizeof(text) - 1)

static void fields_come_with_their_place(void **state)
{
    (void)state;
    /* 1: "ab", 2: 300, 3: a fixed32, 4: a fixed64, 5: "" */
    ki_str bytes = BYTES("\x0a\x02"
                         "ab\x10\xac\x02\x1d....\x21........\x2a\x00");
#define FIELDS "value1@0:2-4 number2@0=300 fixed3@0:8-12 fixed4@0:13-21 value5@0:23-23 "
    is(&(reading){bytes, bytes.len, {0, 0}}, FIELDS "over@0 ok");
    is(&(reading){bytes, UINT64_MAX, {0, 0}}, FIELDS "ok");
    is(&(reading){BYTES(""), 0, {0, 0}}, "over@0 ok");
    is(&(reading){BYTES(""), UINT64_MAX, {0, 0}}, "ok");
}

static void one_field_at_each_depth_may_be_entered(void **state)
{
    (void)state;
    ki_str bytes = BYTES("\x0a\x06\x12\x04\x0a\x00\x08\x07\x0a\x00");
    is(&(reading){bytes, bytes.len, {0, 0}}, "value1@0:2-8 value1@0:10-10 over@0 ok");
    is(&(reading){bytes, bytes.len, {1, 0}},
       "begin1@0:2-8 value2@1:4-8 end@0 begin1@0:10-10 end@0 over@0 ok");
    is(&(reading){bytes, bytes.len, {1, 2}},
       "begin1@0:2-8 begin2@1:4-8 value1@2:6-6 number1@2=7 end@1 end@0 begin1@0:10-10 end@0 "
       "over@0 ok");
}

static void what_is_not_over_is_cut(void **state)
{
    (void)state;
    ki_str bytes = BYTES("\x0a\x06\x12\x04\x0a\x00\x08\x07");
    for (size_t len = 1; len < bytes.len; len++) {
        ki__proto_stream stream;
        ki__proto_event event;
        size_t taken;
        ki__proto_stream_init(&stream, UINT64_MAX);
        stream.enter[0] = 1;
        for (size_t at = 0;
             ki__proto_stream_feed(&stream, bytes.ptr + at, len - at, &taken, &event, NULL) == 1;) {
            at += taken;
        }
        assert_false(ki__proto_stream_may_end(&stream));
    }
}

static void the_current_value_can_be_read(void **state)
{
    (void)state;
    ki__proto_stream stream;
    ki__proto_event event;
    size_t taken;
    ki__proto_stream_init(&stream, UINT64_MAX);
    assert_false(ki__proto_stream_is_inside(&stream, &event));
    assert_int_equal(ki__proto_stream_feed(&stream, "\x1a\x05xy", 4, &taken, &event, NULL), 0);
    assert_true(ki__proto_stream_is_inside(&stream, &event));
    assert_int_equal(event.number, 3);
    assert_int_equal(event.start, 2);
    assert_int_equal(event.end, 7);
    assert_int_equal(ki__proto_stream_feed(&stream, "zzz", 3, &taken, &event, NULL), 1);
    assert_false(ki__proto_stream_is_inside(&stream, &event));
}

static void malformed_bytes_are_refused_at_their_place(void **state)
{
    (void)state;
    is(&(reading){BYTES("\x0a\x03xy"), 4, {0, 0}}, "2: field exceeds its message");
    is(&(reading){BYTES("\x0a\x02\x12\x01 "), 5, {1, 0}},
       "begin1@0:2-4 4: field exceeds its message");
    is(&(reading){BYTES("\x08\x80"), 2, {0, 0}}, "2: message truncated in a field");
    is(&(reading){BYTES("\x08"), 1, {0, 0}}, "1: message truncated in a field");
    is(&(reading){BYTES("\x8a"), 1, {0, 0}}, "1: message truncated in a field");
    is(&(reading){BYTES("\x1d..."), 4, {0, 0}}, "1: field exceeds its message");
    is(&(reading){BYTES("\x00"), 1, {0, 0}}, "1: invalid field number");
    is(&(reading){BYTES("\x02\x00"), 2, {0, 0}}, "1: invalid field number");
    is(&(reading){BYTES("\x8a\x80\x80\x80\x10"), 5, {0, 0}}, "5: invalid field number");
    is(&(reading){BYTES("\x8a\x80\x80\x80\x80\x01"), 6, {0, 0}}, "4: varint too long");
    is(&(reading){BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80"), 11, {0, 0}},
       "10: varint too long");
    is(&(reading){BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 11, {0, 0}},
       "number1@0=18446744073709551615 over@0 ok");
    is(&(reading){BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, {0, 0}},
       "11: field exceeds its message");
    for (char wire = 3; wire <= 7; wire++) {
        char tag = (char)(8 | wire);
        if (wire != 5) {
            is(&(reading){ki_str_make(&tag, 1), 1, {0, 0}}, "1: unsupported wire type");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_with_their_place),
        cmocka_unit_test(one_field_at_each_depth_may_be_entered),
        cmocka_unit_test(what_is_not_over_is_cut),
        cmocka_unit_test(the_current_value_can_be_read),
        cmocka_unit_test(malformed_bytes_are_refused_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <kinformer/error.h>

#include "object/proto/proto_out.h"
#include "support/test.h"

static void fields_as_they_are_on_the_wire(void **state)
{
    (void)state;
    static const char expected[] = "\x08\x00"
                                   "\x10\xac\x02"
                                   "\xf8\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                   "\x19\x00\x00\x00\x00\x00\x00\xf8\x3f"
                                   "\x22\x03"
                                   "abc"
                                   "\x2a";
    ki_buf buf;
    ki_buf_init(&buf, NULL, 1000);
    ki__proto_out out;
    ki__proto_out_init(&out, &buf);
    assert_int_equal(ki__proto_out_varint(&out, 1, 0), 0);
    assert_int_equal(ki__proto_out_varint(&out, 2, 300), 0);
    assert_int_equal(ki__proto_out_varint(&out, 255, UINT64_MAX), 0);
    assert_int_equal(ki__proto_out_double(&out, 3, 1.5), 0);
    assert_int_equal(ki__proto_out_bytes(&out, 4, ki_str_from("abc")), 0);
    assert_int_equal(ki__proto_out_bytes(&out, 5, ki_str_make(NULL, 0)), 0);
    assert_int_equal(ki__proto_out_finish(&out), 0);
    assert_int_equal(buf.len, sizeof(expected));
    assert_memory_equal(buf.data, expected, sizeof(expected));
    ki__proto_out_done(&out);
    ki_buf_done(&buf);
}

/* The plain way to the same: a message in a message, from the inside out. */
static void wrap(ki_buf *buf, size_t text_len, int depth)
{
    ki_buf inner;
    ki_buf_init(&inner, NULL, 1 << 20);
    for (size_t i = 0; i < text_len; i++) {
        test_add(buf, "x", 1);
    }
    for (int i = 0; i < depth; i++) {
        ki_buf_clear(&inner);
        assert_int_equal(ki_buf_add_str(&inner, ki_buf_str(buf)), 0);
        ki_buf_clear(buf);
        ki__proto_out out;
        ki__proto_out_init(&out, buf);
        assert_int_equal(ki__proto_out_bytes(&out, 1, ki_buf_str(&inner)), 0);
        ki__proto_out_done(&out);
    }
    ki_buf_done(&inner);
}

static void lengths_of_every_size_at_every_depth(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 60, 120, 126, 127, 128, 129, 300, 16370, 16384, 70000};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int depth = 0; depth < 9; depth++) {
            ki_buf expected;
            ki_buf buf;
            ki__proto_out out;
            uint32_t messages[9];
            ki_buf_init(&expected, NULL, 1 << 20);
            ki_buf_init(&buf, NULL, 1 << 20);
            wrap(&expected, lengths[i], depth);
            test_add(&buf, "before", 1);
            ki__proto_out_init(&out, &buf);
            for (int d = 0; d < depth; d++) {
                assert_int_equal(ki__proto_out_open(&out, 1, &messages[d]), 0);
            }
            test_add(&buf, "x", lengths[i]);
            for (int d = depth; d-- > 0;) {
                ki__proto_out_close(&out, messages[d]);
            }
            assert_int_equal(ki__proto_out_finish(&out), 0);
            assert_int_equal(buf.len, expected.len + 6);
            assert_memory_equal(buf.data, "before", 6);
            if (expected.len != 0) {
                assert_memory_equal(buf.data + 6, expected.data, expected.len);
            }
            ki__proto_out_done(&out);
            ki_buf_done(&buf);
            ki_buf_done(&expected);
        }
    }
}

static void messages_side_by_side(void **state)
{
    (void)state;
    static const char expected[] = "\x0a\x06\x12\x00\x12\x02"
                                   "ab"
                                   "\x1a\x01"
                                   "c";
    ki_buf buf;
    ki_buf_init(&buf, NULL, 100);
    ki__proto_out out;
    uint32_t outer;
    uint32_t inner;
    ki__proto_out_init(&out, &buf);
    assert_int_equal(ki__proto_out_open(&out, 1, &outer), 0);
    assert_int_equal(ki__proto_out_open(&out, 2, &inner), 0);
    ki__proto_out_close(&out, inner);
    assert_int_equal(ki__proto_out_open(&out, 2, &inner), 0);
    test_add(&buf, "ab", 1);
    ki__proto_out_close(&out, inner);
    ki__proto_out_close(&out, outer);
    assert_int_equal(ki__proto_out_open(&out, 3, &inner), 0);
    test_add(&buf, "c", 1);
    ki__proto_out_close(&out, inner);
    assert_int_equal(ki__proto_out_finish(&out), 0);
    assert_int_equal(buf.len, sizeof(expected) - 1);
    assert_memory_equal(buf.data, expected, sizeof(expected) - 1);
    ki__proto_out_done(&out);
    ki_buf_done(&buf);
}

static void what_was_written_can_be_undone(void **state)
{
    (void)state;
    ki_buf buf;
    ki_buf_init(&buf, NULL, 20);
    ki__proto_out out;
    uint32_t message;
    ki__proto_out_init(&out, &buf);
    ki__proto_out_undo(&out);
    assert_null(buf.data);
    test_add(&buf, "before", 1);
    ki__proto_out_init(&out, &buf);
    assert_int_equal(ki__proto_out_open(&out, 1, &message), 0);
    assert_int_equal(ki__proto_out_bytes(&out, 1, ki_str_from("0123456789")), 0);
    assert_int_equal(ki__proto_out_bytes(&out, 1, ki_str_from("0123456789")), KI_ERR_LIMIT);
    ki__proto_out_undo(&out);
    ki__proto_out_done(&out);
    assert_string_equal(ki_buf_text(&buf), "before");
    assert_int_equal(buf.len, 6);
    ki_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_as_they_are_on_the_wire),
        cmocka_unit_test(lengths_of_every_size_at_every_depth),
        cmocka_unit_test(messages_side_by_side),
        cmocka_unit_test(what_was_written_can_be_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gzip: members, pieces of every size, damage, and no more output than the buffer holds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <kinformer/buf.h>

#include "client/curl/gzip.h"
#include "support/test.h"

enum { DATA_MAX = 1 << 20, ROOM = 64 };

static const char text[] = "{\"kind\":\"List\",\"items\":[{\"a\":1},{\"a\":2},{\"a\":3}]}";

/* ---- compressed data ---- */

/* Adds a member, with a name in its header if there is one. */
static void add_member(ki_buf *out, const char *bytes, size_t len, const char *name)
{
    z_stream stream = {0};
    unsigned char comment[] = "a comment";
    unsigned char extra[] = {'K', 'I', 2, 0, 1, 2};
    char copy[64] = "";
    gz_header header = {.extra = extra, .extra_len = sizeof(extra), .comment = comment, .hcrc = 1};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    if (name != NULL) {
        snprintf(copy, sizeof(copy), "%s", name);
        header.name = (Bytef *)copy;
        assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
    }
    ki_buf in;
    ki_buf_init(&in, NULL, DATA_MAX); /* zlib's input is not const here */
    assert_int_equal(ki_buf_add(&in, bytes, len), 0);
    char *room = NULL;
    size_t bound = deflateBound(&stream, len) + 128;
    assert_int_equal(ki_buf_reserve(out, bound, &room), 0);
    stream.next_in = (Bytef *)in.data;
    stream.avail_in = (uInt)len;
    stream.next_out = (Bytef *)room;
    stream.avail_out = (uInt)bound;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    ki_buf_commit(out, bound - stream.avail_out);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    ki_buf_done(&in);
}

/* `text` in two members with an empty one before, between and behind them. */
static void make_members(ki_buf *out)
{
    ki_buf_init(out, NULL, DATA_MAX);
    add_member(out, "", 0, NULL);
    add_member(out, text, 10, "name");
    add_member(out, "", 0, NULL);
    add_member(out, text + 10, strlen(text) - 10, NULL);
    add_member(out, "", 0, "empty");
}

/* ---- inflating ---- */

/* Inflates a piece with `room` bytes of output at a time. */
static int feed(ki__gzip *gzip, ki_str in, size_t room, ki_buf *out, ki_error *error)
{
    char bytes[ROOM];
    size_t len = room;
    while (in.len != 0 || len == room) {
        int r = ki__gzip_feed(gzip, &in, bytes, room, &len, error);
        if (r < 0) {
            return r;
        }
        assert_true(len <= room);
        assert_true(len == room || in.len == 0);
        assert_int_equal(ki_buf_add(out, bytes, len), 0);
    }
    return 0;
}

/* The same in two pieces, cut at `cut`, to the end. */
static int inflate_cut(const ki_alloc *alloc, ki_str in, size_t cut, size_t room, ki_buf *out,
                       ki_error *error)
{
    ki__gzip *gzip = NULL;
    ki_buf_init(out, NULL, DATA_MAX);
    int r = ki__gzip_new(alloc, &gzip);
    if (r < 0) {
        return r;
    }
    r = feed(gzip, ki_str_make(in.ptr, cut), room, out, error);
    if (r == 0) {
        r = feed(gzip, ki_str_make(in.ptr + cut, in.len - cut), room, out, error);
    }
    if (r == 0) {
        assert_int_equal(ki__gzip_taken(gzip), in.len);
        r = ki__gzip_finish(gzip, error);
    }
    ki__gzip_free(gzip);
    return r;
}

static void expect_text(ki_str in, size_t cut, size_t room)
{
    ki_buf out;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(inflate_cut(ki_alloc_default(), in, cut, room, &out, &error), 0);
    assert_string_equal(ki_buf_text(&out), text);
    ki_buf_done(&out);
}

static void expect_failure(ki_str in, int code, const char *words)
{
    for (size_t cut = 0; cut <= in.len; cut++) {
        ki_buf out;
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(inflate_cut(ki_alloc_default(), in, cut, ROOM, &out, &error), code);
        assert_int_equal(error.code, code);
        assert_non_null(strstr(error.message, words));
        ki_buf_done(&out);
    }
}

/* ---- tests ---- */

static void members_may_be_cut_anywhere(void **state)
{
    (void)state;
    ki_buf in;
    make_members(&in);
    for (size_t cut = 0; cut <= in.len; cut++) {
        expect_text(ki_buf_str(&in), cut, ROOM);
        expect_text(ki_buf_str(&in), cut, 1);
    }
    ki_buf_done(&in);
}

static void members_may_end_anywhere_in_the_text(void **state)
{
    (void)state;
    for (size_t at = 0; at <= strlen(text); at++) {
        ki_buf in;
        ki_buf_init(&in, NULL, DATA_MAX);
        add_member(&in, text, at, NULL);
        add_member(&in, text + at, strlen(text) - at, NULL);
        for (size_t room = 1; room <= ROOM; room++) {
            expect_text(ki_buf_str(&in), in.len / 2, room);
        }
        ki_buf_done(&in);
    }
}

static void single_bytes_do_as_well(void **state)
{
    (void)state;
    ki_buf in;
    ki_buf out;
    make_members(&in);
    ki_buf_init(&out, NULL, DATA_MAX);
    ki__gzip *gzip = NULL;
    assert_int_equal(ki__gzip_new(ki_alloc_default(), &gzip), 0);
    for (size_t i = 0; i < in.len; i++) {
        assert_int_equal(feed(gzip, ki_str_make(in.data + i, 1), 1, &out, NULL), 0);
    }
    assert_int_equal(ki__gzip_finish(gzip, NULL), 0);
    assert_string_equal(ki_buf_text(&out), text);
    ki__gzip_free(gzip);
    ki__gzip_free(NULL);
    ki_buf_done(&in);
    ki_buf_done(&out);
}

static void nothing_at_all_is_no_truncation(void **state)
{
    (void)state;
    ki_buf out;
    assert_int_equal(inflate_cut(ki_alloc_default(), ki_str_make("", 0), 0, ROOM, &out, NULL), 0);
    assert_int_equal(out.len, 0);
    ki_buf_done(&out);
}

/* Every prefix but those that end with a member. */
static void truncation_is_found(void **state)
{
    (void)state;
    ki_buf in;
    ki_buf_init(&in, NULL, DATA_MAX);
    add_member(&in, text, 20, "name");
    size_t whole = in.len;
    add_member(&in, text + 20, strlen(text) - 20, NULL);
    for (size_t len = 1; len < in.len; len++) {
        if (len != whole) {
            expect_failure(ki_str_make(in.data, len), -EBADMSG, "gzip: truncated after");
        }
    }
    ki_buf_done(&in);
}

static void garbage_is_refused(void **state)
{
    (void)state;
    ki_buf in;
    expect_failure(ki_str_from("{\"kind\":\"List\"}"), -EBADMSG, "missing gzip header");
    expect_failure(ki_str_make("\x78\x9c\x03\x00\x00\x00\x00\x01", 8), -EBADMSG,
                   "missing gzip header"); /* zlib, as for "deflate" */
    make_members(&in);
    assert_int_equal(ki_buf_add_text(&in, "xy"), 0);
    expect_failure(ki_buf_str(&in), -EBADMSG, "trailing garbage");
    in.len -= 2;
    assert_int_equal(ki_buf_add(&in, "\0\0\0\0", 4), 0);
    expect_failure(ki_buf_str(&in), -EBADMSG, "trailing garbage");
    ki_buf_done(&in);
}

/* Each bit of a member, one after the other: header, data, checksum, length. */
static void damage_is_found_or_harmless(void **state)
{
    (void)state;
    ki_buf in;
    ki_buf_init(&in, NULL, DATA_MAX);
    add_member(&in, text, strlen(text), "name");
    size_t found = 0;
    for (size_t bit = 0; bit < in.len * 8; bit++) {
        ki_buf out;
        ki_error error = KI_ERROR_INIT;
        in.data[bit / 8] = (char)(in.data[bit / 8] ^ (1 << bit % 8));
        int r = inflate_cut(ki_alloc_default(), ki_buf_str(&in), in.len / 2, ROOM, &out, &error);
        assert_true(r == 0 || r == -EBADMSG);
        if (r == 0) { /* a bit of the header that says nothing of the data */
            assert_string_equal(ki_buf_text(&out), text);
        }
        found += r < 0 ? 1 : 0;
        ki_buf_done(&out);
        in.data[bit / 8] = (char)(in.data[bit / 8] ^ (1 << bit % 8));
    }
    assert_true(found > in.len * 7); /* the header has a checksum, too */
    ki_buf_done(&in);
}

static void a_broken_one_stays_broken(void **state)
{
    (void)state;
    ki__gzip *gzip = NULL;
    char room[ROOM];
    size_t len = 0;
    ki_str in = ki_str_from("garbage");
    assert_int_equal(ki__gzip_new(ki_alloc_default(), &gzip), 0);
    assert_int_equal(ki__gzip_feed(gzip, &in, room, ROOM, &len, NULL), -EBADMSG);
    assert_int_equal(ki__gzip_feed(gzip, &in, room, ROOM, &len, NULL), -EBADMSG);
    assert_int_equal(ki__gzip_finish(gzip, NULL), -EBADMSG);
    ki__gzip_free(gzip);
}

/* A million blanks are a thousand bytes; the output comes in steps, and so does the input. */
static void output_is_bounded(void **state)
{
    (void)state;
    enum { BLANKS = 1000000 };
    ki_buf blanks;
    ki_buf in;
    ki_buf_init(&blanks, NULL, DATA_MAX);
    ki_buf_init(&in, NULL, DATA_MAX);
    for (size_t i = 0; i < BLANKS; i++) {
        assert_int_equal(ki_buf_add_char(&blanks, ' '), 0);
    }
    add_member(&in, blanks.data, BLANKS, NULL);
    assert_true(in.len < 1200);
    ki__gzip *gzip = NULL;
    assert_int_equal(ki__gzip_new(ki_alloc_default(), &gzip), 0);
    char room[4096];
    ki_str left = ki_buf_str(&in);
    size_t len = 0;
    assert_int_equal(ki__gzip_feed(gzip, &left, room, sizeof(room), &len, NULL), 0);
    assert_int_equal(len, sizeof(room));
    assert_true(left.len > in.len / 2); /* input beyond the requested output was not read */
    size_t total = len;
    while (left.len != 0 || len == sizeof(room)) {
        assert_int_equal(ki__gzip_feed(gzip, &left, room, sizeof(room), &len, NULL), 0);
        total += len;
    }
    assert_int_equal(total, BLANKS);
    assert_int_equal(ki__gzip_finish(gzip, NULL), 0);
    ki__gzip_free(gzip);
    ki_buf_done(&blanks);
    ki_buf_done(&in);
}

static int inflate_members(const ki_alloc *alloc, void *user)
{
    const ki_buf *in = user;
    ki_buf out;
    ki_error error = KI_ERROR_INIT;
    int r = inflate_cut(alloc, ki_buf_str(in), in->len / 3, ROOM, &out, &error);
    if (r == 0) {
        assert_string_equal(ki_buf_text(&out), text);
    }
    ki_buf_done(&out);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ki_buf in;
    make_members(&in);
    test_alloc_sweep(inflate_members, &in);
    ki_buf_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_may_be_cut_anywhere),
        cmocka_unit_test(members_may_end_anywhere_in_the_text),
        cmocka_unit_test(single_bytes_do_as_well),
        cmocka_unit_test(nothing_at_all_is_no_truncation),
        cmocka_unit_test(truncation_is_found),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(damage_is_found_or_harmless),
        cmocka_unit_test(a_broken_one_stays_broken),
        cmocka_unit_test(output_is_bounded),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

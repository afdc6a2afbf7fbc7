/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/json/json_scan.h"
#include "object/json/json_stream.h"
#include "support/test.h"
#include "support/test_json.h"

/* All events of a text as words, and how it ended. */
typedef struct trace {
    ki_buf text;
    int code;
    size_t error_offset;
} trace;

static void note(trace *t, const ki__json_event *event)
{
    static const char *const names[] = {"begin", "end", "name", "value"};
    char line[100];
    (void)snprintf(line, sizeof(line), "%s%c@%u:%llu-%llu ", names[event->type], event->first,
                   event->depth, (unsigned long long)event->start, (unsigned long long)event->end);
    assert_int_equal(ki_buf_add_text(&t->text, line), 0);
}

/* Feeds the text in pieces: `cut(user, left)` says how many bytes come next. Each piece is in
 * memory of its own, so that a sanitizer sees whatever reads beyond it. */
typedef size_t (*cutter)(void *user, size_t left);

static void run(trace *t, ki__json_stream *stream, const char *text, size_t len, cutter cut,
                void *user)
{
    ki__json_event event;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&t->text, NULL, SIZE_MAX);
    t->code = 0;
    for (size_t at = 0; at < len && t->code == 0;) {
        size_t count = cut(user, len - at);
        char *piece = malloc(count != 0 ? count : 1);
        assert_non_null(piece);
        memcpy(piece, text + at, count);
        for (size_t done = 0; t->code == 0;) {
            size_t taken;
            int r =
                ki__json_stream_feed(stream, piece + done, count - done, &taken, &event, &error);
            done += taken;
            assert_true(done <= count);
            if (r == 1) {
                note(t, &event);
            } else if (r == 0) {
                assert_int_equal(done, count);
                break;
            } else {
                t->code = r;
            }
        }
        free(piece);
        at += count;
    }
    if (t->code == 0) {
        int r = ki__json_stream_finish(stream, &event, &error);
        if (r == 1) {
            note(t, &event);
            assert_int_equal(ki__json_stream_finish(stream, &event, &error), 0);
        } else {
            t->code = r;
        }
    }
    t->error_offset = error.offset;
}

static size_t cut_none(void *user, size_t left)
{
    (void)user;
    return left;
}

static size_t cut_every(void *user, size_t left)
{
    size_t size = *(size_t *)user;
    return size < left ? size : left;
}

/* The first piece has this size, the rest is one. */
static size_t cut_once(void *user, size_t left)
{
    size_t *size = user;
    size_t count = *size < left ? *size : left;
    *size = SIZE_MAX;
    return count;
}

static size_t cut_random(void *user, size_t left)
{
    size_t count = test_random(user) % 90;
    return count < left ? count : left;
}

typedef struct limits {
    uint64_t bytes;
    uint32_t depth;
    uint32_t enter;
} limits;

static const limits wide = {1 << 20, 128, 2};

static void start(ki__json_stream *stream, const limits *l)
{
    ki__json_stream_init(stream, l->bytes, l->depth);
    ki__json_stream_enter(stream, l->enter);
}

static void events_are(const char *text, const limits *l, const char *expected, int code)
{
    ki__json_stream stream;
    trace t;
    start(&stream, l);
    run(&t, &stream, text, strlen(text), cut_none, NULL);
    if (strcmp(ki_buf_text(&t.text), expected) != 0 || t.code != code) {
        fail_msg("%s gave %s and %d", text, ki_buf_text(&t.text), t.code);
    }
    ki_buf_done(&t.text);
}

static void same_trace(const trace *a, const trace *b, const char *text)
{
    if (a->code != b->code || a->error_offset != b->error_offset ||
        strcmp(ki_buf_text(&a->text), ki_buf_text(&b->text)) != 0) {
        fail_msg("%s\n%s %d at %zu\n%s %d at %zu", text, ki_buf_text(&a->text), a->code,
                 a->error_offset, ki_buf_text(&b->text), b->code, b->error_offset);
    }
}

/* ---- what the events are ---- */

static void values_at_the_top_come_one_by_one(void **state)
{
    (void)state;
    const limits whole = {1000, 10, 0};
    events_are("", &whole, "", 0);
    events_are(" \n\t\r ", &whole, "", 0);
    events_are("{\"a\":1}\n{\"b\":[2]}\n", &whole, "value{@0:0-7 value{@0:8-17 ", 0);
    events_are("{}{}[]", &whole, "value{@0:0-2 value{@0:2-4 value[@0:4-6 ", 0);
    events_are("\"a\\\"b\" 12 true", &whole, "value\"@0:0-6 value1@0:7-9 valuet@0:10-14 ", 0);
    events_are("{\"}\":\"\\\\\"}", &whole, "value{@0:0-10 ", 0);
    events_are("{", &whole, "", KI_ERR_SYNTAX);
    events_are("\"abc", &whole, "", KI_ERR_SYNTAX);
    events_are("]", &whole, "", KI_ERR_SYNTAX);
    events_are("{},", &whole, "value{@0:0-2 ", KI_ERR_SYNTAX);
    events_are("\xef\xbb\xbf{}", &whole, "", KI_ERR_SYNTAX);
}

static void a_list_is_taken_apart(void **state)
{
    (void)state;
    events_are("{\"kind\":\"PodList\",\"metadata\":{},\"items\":[{\"a\":[1]},{}]}",
               &(limits){1000, 10, 1},
               "begin{@0:0-1 name\"@1:1-7 value\"@1:8-17 name\"@1:18-28 value{@1:29-31 "
               "name\"@1:32-39 value[@1:40-54 end}@0:54-55 ",
               0);
    events_are("{\"items\":[{\"a\":[1]},{}]}", &wide,
               "begin{@0:0-1 name\"@1:1-8 begin[@1:9-10 value{@2:10-19 value{@2:20-22 end]@1:22-23 "
               "end}@0:23-24 ",
               0);
}

/* As the wire layer does it: looks at each name and enters only the list of items. */
static void the_caller_chooses_what_to_enter(void **state)
{
    (void)state;
    static const char text[] =
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"x\":1},{\"y\":{}}],\"z\":[1]}";
    ki__json_stream stream;
    ki__json_event event;
    ki_buf items;
    ki_buf_init(&items, NULL, 1000);
    start(&stream, &(limits){1000, 10, 1});
    size_t at = 0;
    size_t taken;
    while (ki__json_stream_feed(&stream, text + at, strlen(text) - at, &taken, &event, NULL) == 1) {
        at += taken;
        ki_str token = ki_str_make(text + event.start, (size_t)(event.end - event.start));
        if (event.type == KI__JSON_NAME && event.depth == 1) {
            ki__json_stream_enter(&stream, ki_str_eq_text(token, "\"items\"") ? 2 : 1);
        } else if (event.type == KI__JSON_VALUE && event.depth == 2) {
            assert_int_equal(ki_buf_add_str(&items, token), 0);
        }
    }
    assert_string_equal(ki_buf_text(&items), "{\"x\":1}{\"y\":{}}");
    ki_buf_done(&items);
}

static void structure_is_checked_where_it_enters(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{1:2}",       "{\"a\" 1}",  "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}",
        "{,}",         "{\"a\":1]",  "[1,]",     "[,1]",       "[1 2]",
        "[1}",         "{\"a\"::1}", "[:]",      "{]",         "[}",
        "{\"a\":\v1}", "{\"a\",1}",  "[1,,2]",   "{\"a\":1",   "{\"a\":",
        "{\"a\"",      "{",          "[",        "[1,",        "[\"a"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ki__json_stream stream;
        trace t;
        start(&stream, &wide);
        run(&t, &stream, bad[i], strlen(bad[i]), cut_none, NULL);
        if (t.code != KI_ERR_SYNTAX) {
            fail_msg("%s gave %s and %d", bad[i], ki_buf_text(&t.text), t.code);
        }
        ki_buf_done(&t.text);
    }
}

static void depth_and_size_are_limited(void **state)
{
    (void)state;
    events_are("[[[]]]", &(limits){100, 3, 0}, "value[@0:0-6 ", 0);
    events_are("[[[]]]", &(limits){100, 2, 0}, "", KI_ERR_DEPTH);
    events_are("[[[]]]", &(limits){100, 3, 2},
               "begin[@0:0-1 begin[@1:1-2 value[@2:2-4 end]@1:4-5 "
               "end]@0:5-6 ",
               0);
    events_are("[[[]]]", &(limits){100, 2, 1}, "begin[@0:0-1 ", KI_ERR_DEPTH);
    events_are("[[[]]]", &(limits){100, 1, 2}, "begin[@0:0-1 ", KI_ERR_DEPTH);
    events_are("[123456]", &(limits){8, 3, 0}, "value[@0:0-8 ", 0);
    events_are("[1234567]", &(limits){8, 3, 0}, "", KI_ERR_LIMIT);
    events_are("123456", &(limits){6, 3, 0}, "value1@0:0-6 ", 0);
    events_are("1234567", &(limits){6, 3, 0}, "", KI_ERR_LIMIT);
    events_are("\"1234\"", &(limits){6, 3, 0}, "value\"@0:0-6 ", 0);
    events_are("\"12345\"", &(limits){6, 3, 0}, "", KI_ERR_LIMIT);
    /* What is entered may be longer. */
    events_are("[1,2,3,4,5]", &(limits){2, 3, 1},
               "begin[@0:0-1 value1@1:1-2 value2@1:3-4 value3@1:5-6 value4@1:7-8 value5@1:9-10 "
               "end]@0:10-11 ",
               0);
}

static void a_failed_stream_stays_failed(void **state)
{
    (void)state;
    ki__json_stream stream;
    ki__json_event event;
    ki_error error = KI_ERROR_INIT;
    size_t taken;
    start(&stream, &wide);
    assert_int_equal(ki__json_stream_feed(&stream, "  x]", 4, &taken, &event, &error), 1);
    assert_int_equal(ki__json_stream_feed(&stream, "]", 1, &taken, &event, &error), KI_ERR_SYNTAX);
    assert_int_equal(error.offset, 3);
    assert_int_equal(ki__json_stream_feed(&stream, "{}", 2, &taken, &event, &error), KI_ERR_SYNTAX);
    assert_int_equal(taken, 0);
    assert_int_equal(ki__json_stream_finish(&stream, &event, &error), KI_ERR_SYNTAX);
}

/* ---- cutting ---- */

static void every_cut_gives_the_same_events(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"kind\":\"PodList\",\"items\":[{\"a\\\\\":\"}\\\"]\"},{\"b\":[[],{}]}, 12 ,null]} [1] 2",
        "{\"a\\\"b\":\"\\\\\",\"c\":-1.5e3,\"d\":[true,{\"e\":\"\\u005d\"}]}\n{}\n\"x\"",
        "[[[[[[[[[[]]]]]]]]]]",
        "[1,[2,[3]],}",
        "{\"a\":[[[[[[[[]]]]]]]]]}",
        "tru"};
    static const limits choices[] = {{1000, 100, 0},  {1000, 100, 1}, {1000, 100, 2},
                                     {1000, 100, 32}, {1000, 5, 1},   {12, 100, 1},
                                     {5, 3, 2},       {30, 4, 0}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t k = 0; k < sizeof(choices) / sizeof(choices[0]); k++) {
            ki__json_stream stream;
            trace whole;
            trace cut;
            size_t len = strlen(texts[i]);
            start(&stream, &choices[k]);
            run(&whole, &stream, texts[i], len, cut_none, NULL);
            for (size_t size = 0; size <= len; size++) {
                size_t first = size;
                start(&stream, &choices[k]);
                run(&cut, &stream, texts[i], len, cut_once, &first);
                same_trace(&whole, &cut, texts[i]);
                ki_buf_done(&cut.text);
                size_t each = size + 1;
                start(&stream, &choices[k]);
                run(&cut, &stream, texts[i], len, cut_every, &each);
                same_trace(&whole, &cut, texts[i]);
                ki_buf_done(&cut.text);
            }
            ki_buf_done(&whole.text);
        }
    }
}

/* Long documents in random pieces; and what is not entered ends where the check says. */
static void random_cuts_give_the_same_events(void **state)
{
    (void)state;
    uint64_t random = 21;
    ki_buf text;
    ki_buf_init(&text, NULL, SIZE_MAX);
    for (int round = 0; round < 400; round++) {
        ki_buf_clear(&text);
        for (int i = 0; i < 3; i++) {
            test_json_random_map(&text, &random, (unsigned)(test_random(&random) % 80));
        }
        if (round % 3 == 0) { /* and broken ones */
            text.data[test_random(&random) % text.len] = "{}[]\",:\\1 "[test_random(&random) % 10];
        }
        limits l = {1 + test_random(&random) % (text.len * 2), 1 + (uint32_t)(round % 40),
                    (uint32_t)(test_random(&random) % 5)};
        ki__json_stream stream;
        trace whole;
        start(&stream, &l);
        run(&whole, &stream, text.data, text.len, cut_none, NULL);
        for (int i = 0; i < 10; i++) {
            trace cut;
            start(&stream, &l);
            run(&cut, &stream, text.data, text.len, cut_random, &random);
            same_trace(&whole, &cut, text.data);
            ki_buf_done(&cut.text);
        }
        ki_buf_done(&whole.text);
    }
    ki_buf_done(&text);
}

static void values_end_where_the_check_says(void **state)
{
    (void)state;
    uint64_t random = 22;
    ki_buf text;
    ki_buf_init(&text, NULL, SIZE_MAX);
    for (int round = 0; round < 500; round++) {
        ki_buf_clear(&text);
        test_json_random_map(&text, &random, 60);
        ki__json_stream stream;
        ki__json_event event;
        start(&stream, &(limits){1 << 20, 128, (uint32_t)(round % 4)});
        size_t taken;
        for (size_t at = 0; ki__json_stream_feed(&stream, text.data + at, text.len - at, &taken,
                                                 &event, NULL) == 1;) {
            at += taken;
            ki_str token = ki_str_make(text.data + event.start, (size_t)(event.end - event.start));
            if (event.type == KI__JSON_NAME || event.type == KI__JSON_VALUE) {
                assert_int_equal(token.ptr[0], event.first);
                assert_int_equal(ki__json_check(token, 128, NULL), 0);
            }
        }
        assert_int_equal(ki__json_stream_finish(&stream, &event, NULL), 0);
    }
    ki_buf_done(&text);
}

static void an_unfinished_value_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool inside;
        uint64_t start;
    } cases[] = {
        {"", false, 0},           {" ", false, 0},           {"{", false, 0},
        {"{\"a", true, 1},        {"{\"a\"", false, 0},      {"{\"a\": ", false, 0},
        {"{\"a\": [", true, 6},   {"{\"a\": [1]", false, 0}, {"{\"a\":12", true, 5},
        {"{\"a\":\"\\", true, 5}, {"{\"a\":1}", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__json_stream stream;
        ki__json_event event;
        size_t taken;
        size_t len = strlen(cases[i].text);
        uint64_t at = 0;
        ki__json_stream_init(&stream, 100, 10);
        ki__json_stream_enter(&stream, 1);
        for (size_t done = 0; ki__json_stream_feed(&stream, cases[i].text + done, len - done,
                                                   &taken, &event, NULL) == 1;) {
            done += taken;
        }
        assert_int_equal(ki__json_stream_is_inside(&stream, &at), cases[i].inside);
        assert_int_equal(at, cases[i].start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_the_top_come_one_by_one),
        cmocka_unit_test(a_list_is_taken_apart),
        cmocka_unit_test(the_caller_chooses_what_to_enter),
        cmocka_unit_test(structure_is_checked_where_it_enters),
        cmocka_unit_test(depth_and_size_are_limited),
        cmocka_unit_test(a_failed_stream_stays_failed),
        cmocka_unit_test(every_cut_gives_the_same_events),
        cmocka_unit_test(random_cuts_give_the_same_events),
        cmocka_unit_test(values_end_where_the_check_says),
        cmocka_unit_test(an_unfinished_value_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

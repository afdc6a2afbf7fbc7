/* SPDX-License-Identifier: Apache-2.0 */
/* Watches in JSON, and what does not depend on the encoding. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/status.h>

#include "support/test.h"
#include "support/wire.h"

static const ki__wire_options plain = {.encoding = KI_ENCODING_JSON};

/* The text has ' for ". */
static void watch_is(const ki__wire_options *options, const char *text, const char *expected)
{
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, text);
    test_trace_is(test_trace_watch, options, ki_buf_str(&body), expected);
    ki_buf_done(&body);
}

#define POD(name, version)                                                                      \
    "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'" name "','resourceVersion':'" version \
    "'}}"
#define EVENT(type, object) "{'type':'" type "','object':" object "}"
#define ADDED_A EVENT("ADDED", POD("a", "5")) "\n"
#define DELETED_A EVENT("DELETED", POD("a", "9")) "\n"
#define FIRST "ADDED a@5 Pod v1\n"
#define LAST "DELETED a@9 Pod v1\n"

/* ---- events ---- */

static void each_type_of_event_comes_with_its_object(void **state)
{
    (void)state;
    watch_is(&plain, ADDED_A EVENT("MODIFIED", POD("a", "6")) DELETED_A,
             FIRST "MODIFIED a@6 Pod v1\n" LAST "complete objects=3 aside=0\n");
    watch_is(&plain, "", "complete objects=0 aside=0\n");
    watch_is(&plain, " \n\r\n\t", "complete objects=0 aside=0\n");
}

static void members_may_stand_in_any_order(void **state)
{
    (void)state;
    watch_is(&plain,
             "{'object':" POD("a", "5") ",'type':'ADDED'}"
                                        "{ 'x' : [ {} ] , 'object' : " POD(
                                            "b", "6") " , 'type' : 'MODIFIED' , 'y' : 1 }",
             FIRST "MODIFIED b@6 Pod v1\ncomplete objects=2 aside=0\n");
    watch_is(&plain, "{'t\\u0079pe':'ADDE\\u0044','\\u006fbject':" POD("a", "5") "}",
             FIRST "complete objects=1 aside=0\n");
}

static void an_event_is_given_with_its_last_byte(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, EVENT("ADDED", POD("a", "5")));
    ki__watch_decoder decoder;
    ki__watch_event event;
    size_t taken;
    ki__watch_decoder_init(&decoder, &plain);
    assert_int_equal(
        ki__watch_decoder_feed(&decoder, body.data, body.len - 1, &taken, &event, NULL), 0);
    assert_int_equal(ki__watch_decoder_feed(&decoder, body.data + taken, 1, &taken, &event, NULL),
                     1);
    assert_string_equal(ki_object_key(event.item.object), "a");
    ki_object_unref(event.item.object);
    assert_int_equal(ki__watch_decoder_feed(&decoder, NULL, 0, &taken, &event, NULL), 0);
    ki__watch_decoder_done(&decoder);
    ki_buf_done(&body);
}

static void a_bookmark_has_its_version_and_may_end_the_initial_events(void **state)
{
    (void)state;
    watch_is(&plain,
             EVENT("BOOKMARK", "{'kind':'Pod','apiVersion':'v1','metadata':{"
                               "'resourceVersion':'77','creationTimestamp':null}}"),
             "BOOKMARK @77 Pod v1\ncomplete objects=1 aside=0\n");
    watch_is(&plain,
             EVENT("BOOKMARK", "{'kind':'Pod','apiVersion':'v1','metadata':{'annotations':{"
                               "'k8s.io/initial-events-end':'true'},'resourceVersion':'78'}}"),
             "BOOKMARK(end) @78 Pod v1\ncomplete objects=1 aside=0\n");
    watch_is(&plain,
             EVENT("BOOKMARK", "{'kind':'Pod','apiVersion':'v1','metadata':{'annotations':{"
                               "'k8s.io/initial-events-end':'false'},'resourceVersion':'79'}}"),
             "BOOKMARK @79 Pod v1\ncomplete objects=1 aside=0\n");
    /* The annotation means nothing on another event. */
    watch_is(&plain,
             EVENT("ADDED", "{'metadata':{'name':'a','annotations':{"
                            "'k8s.io/initial-events-end':'true'}}}"),
             "ADDED a@  \ncomplete objects=1 aside=0\n");
}

static void a_bookmark_without_a_version_is_skipped(void **state)
{
    (void)state;
    watch_is(&plain, EVENT("BOOKMARK", "{'kind':'Pod','apiVersion':'v1','metadata':{}}") ADDED_A,
             "BOOKMARK aside @ KI_ERR_INVALID: bookmark without resourceVersion\n" FIRST
             "complete objects=1 aside=1\n");
}

static void an_error_event_is_the_error_of_its_status(void **state)
{
    (void)state;
    watch_is(&plain,
             ADDED_A EVENT("ERROR", "{'kind':'Status','apiVersion':'v1','metadata':{},"
                                    "'status':'Failure','message':'too old resource version: 1 "
                                    "(2)','reason':'Expired','code':410}"),
             FIRST "ERROR status failed KI_ERR_STATUS 410 Expired at 0: too old resource version: "
                   "1 (2)\ncomplete objects=1 aside=0\n");
}

/* What an HTTP answer with this code means, and the event, must be the same to every caller. */
static void an_error_event_of_any_code_is_what_the_http_code_is(void **state)
{
    (void)state;
    for (int reason = KI_REASON_UNKNOWN + 1; reason < KI_REASON_MAX; reason++) {
        static const int codes[] = {
#define CODE(name, text, code) [KI_REASON_##name] = (code),
            KI_REASON_MAP(CODE)
#undef CODE
        };
        const char *name = ki_reason_text((ki_reason)reason);
        char status[300];
        char text[400];
        (void)snprintf(status, sizeof(status),
                       "{'kind':'Status','apiVersion':'v1','status':'Failure','message':'m',"
                       "'reason':'%s','code':%d}",
                       name, codes[reason]);
        const char *code = reason == KI_REASON_NOT_FOUND        ? "NOT_FOUND"
                           : reason == KI_REASON_ALREADY_EXISTS ? "EXISTS"
                                                                : "STATUS";
        char expected[300];
        (void)snprintf(expected, sizeof(expected), "failed KI_ERR_%s %d %s at 0: m\n", code,
                       codes[reason], name);
        ki_buf body;
        ki_buf_init(&body, NULL, SIZE_MAX);
        test_quote(&body, status);
        test_trace_is(test_trace_list, &plain, ki_buf_str(&body), expected);
        ki_buf_done(&body);
        (void)snprintf(text, sizeof(text), "{'type':'ERROR','object':%s}", status);
        (void)snprintf(expected, sizeof(expected),
                       "ERROR status failed KI_ERR_%s %d %s at 0: m\n"
                       "complete objects=0 aside=0\n",
                       code, codes[reason], name);
        watch_is(&plain, text, expected);
    }
}

static void an_error_event_is_an_error_whatever_is_in_it(void **state)
{
    (void)state;
#define CANNOT_BE_READ "ERROR none failed KI_ERR_INVALID 0  at 0: undecodable ERROR event: "
    watch_is(&plain, "{'type':'ERROR'}" ADDED_A,
             CANNOT_BE_READ "no Status\n" FIRST "complete objects=1 aside=0\n");
    watch_is(&plain, EVENT("ERROR", POD("a", "5")),
             CANNOT_BE_READ "no Status\ncomplete objects=0 aside=0\n");
    watch_is(&plain, EVENT("ERROR", "{'kind':'Status','apiVersion':'v1','status':'Success'}"),
             CANNOT_BE_READ "no Status\ncomplete objects=0 aside=0\n");
    watch_is(&plain, EVENT("ERROR", "[1,]"),
             CANNOT_BE_READ "expected a value\ncomplete objects=0 aside=0\n");
    watch_is(&plain, EVENT("ERROR", "null"),
             CANNOT_BE_READ "an object must be a map, not a null\ncomplete objects=0 aside=0\n");
}

/* ---- poison ---- */

static void one_bad_event_is_skipped_and_the_rest_continues(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        const char *aside;
    } cases[] = {
        {"{}", "unknown aside @ KI_ERR_INVALID: watch event without an object"},
        {"{'type':'ADDED'}", "ADDED aside @ KI_ERR_INVALID: watch event without an object"},
        {"{'object':" POD("p", "7") "}",
         "unknown aside p@7 KI_ERR_INVALID: watch event of an unknown type"},
        {EVENT("CHANGED", POD("p", "7")),
         "unknown aside p@7 KI_ERR_INVALID: watch event of an unknown type"},
        {"{'type':5,'object':" POD("p", "7") "}",
         "unknown aside p@7 KI_ERR_INVALID: watch event of an unknown type"},
        {EVENT("ADDED", "null"),
         "ADDED aside @ KI_ERR_INVALID: an object must be a map, not a null"},
        {EVENT("DELETED", "{}"), "DELETED aside @ KI_ERR_KEY: object without metadata.name"},
        {EVENT("DELETED", "{'metadata':{'resourceVersion':'7'}}"),
         "DELETED aside @7 KI_ERR_KEY: object without metadata.name"},
        {EVENT("DELETED", "{'metadata':{'name':'p','namespace':'n','resourceVersion':'7'},"
                          "'spec':{'x':01}}"),
         "DELETED aside n/p@7 KI_ERR_SYNTAX: a number must not begin with 0"},
        {EVENT("MODIFIED", "{'metadata':{'name':'p','resourceVersion':'7','labels':[]}}"),
         "MODIFIED aside p@7 KI_ERR_INVALID: metadata.labels must be a map, not a list"},
        {"{'type':'ADDED','type':'DELETED','object':" POD("p", "7") "}",
         "DELETED aside p@7 KI_ERR_INVALID: watch event: duplicate field"},
        {"{'type':'ADDED','object':" POD("p", "7") ",'object':" POD("q", "8") "}",
         "ADDED aside p@7 KI_ERR_INVALID: watch event: duplicate field"},
        {"{'\\q':1,'type':'ADDED','object':" POD("p", "7") "}",
         "ADDED aside p@7 KI_ERR_ENCODING: unknown escape sequence"},
        {"{'type':'ADD\\q','object':" POD("p", "7") "}",
         "unknown aside p@7 KI_ERR_ENCODING: unknown escape sequence"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[600];
        char expected[500];
        (void)snprintf(text, sizeof(text), ADDED_A "%s" DELETED_A, cases[i].event);
        (void)snprintf(expected, sizeof(expected), FIRST "%s\n" LAST "complete objects=2 aside=1\n",
                       cases[i].aside);
        watch_is(&plain, text, expected);
    }
}

static void the_key_of_one_bad_event_is_not_that_of_the_next(void **state)
{
    (void)state;
    watch_is(&plain, EVENT("NONE", POD("p", "7")) "{'type':'ADDED'}",
             "unknown aside p@7 KI_ERR_INVALID: watch event of an unknown type\n"
             "ADDED aside @ KI_ERR_INVALID: watch event without an object\n"
             "complete objects=0 aside=2\n");
}

static void an_object_of_another_kind_is_skipped(void **state)
{
    (void)state;
    const ki__wire_options nodes = {.expected_kind = "Node", .expected_api_version = "v1"};
    watch_is(&nodes, ADDED_A EVENT("ADDED", "{'kind':'Node','metadata':{'name':'n'}}"),
             "ADDED aside a@5 KI_ERR_TYPE: unexpected kind: Pod of v1\nADDED n@ Node \n"
             "complete objects=1 aside=1\n");
}

static void tables_end_the_watch(void **state)
{
    (void)state;
    watch_is(
        &plain,
        EVENT("ADDED", "{'kind':'Table','apiVersion':'meta.k8s.io/v1','metadata':{},"
                       "'rows':[]}") ADDED_A,
        "failed KI_ERR_UNSUPPORTED 0  at 0: the server responded with a Table instead of objects; "
        "remove as=Table from the Accept header\n");
}

/* ---- what ends the watch ---- */

static void what_makes_no_sense_between_events_ends_the_watch(void **state)
{
    (void)state;
    watch_is(&plain, ADDED_A "," DELETED_A,
             FIRST "failed KI_ERR_SYNTAX 0  at 105: expected a value\n");
    watch_is(&plain, "[" ADDED_A, "failed KI_ERR_INVALID 0  at 0: watch event is not a map\n");
    watch_is(&plain, " 'x' ", "failed KI_ERR_INVALID 0  at 1: watch event is not a map\n");
    watch_is(&plain, "12", "failed KI_ERR_INVALID 0  at 0: watch event is not a map\n");
    watch_is(&plain, ADDED_A "{'type' 'ADDED'}",
             FIRST "failed KI_ERR_SYNTAX 0  at 113: expected a colon after the field name\n");
}

static void an_event_over_the_limit_ends_the_watch_and_is_named(void **state)
{
    (void)state;
    const ki__wire_options small = {.max_bytes = 110};
    watch_is(&small,
             ADDED_A EVENT("ADDED",
                           "{'metadata':{'name':'big','namespace':'n'},'spec':'012345678901"
                           "2345678901234567890123456789'}"),
             FIRST "failed KI_ERR_LIMIT 0  at 105: watch event larger than 110 bytes: n/big\n");
    watch_is(&small,
             "{'x':'0123456789012345678901234567890123456789012345678901234567890123456789"
             "012345678901234567890123456789012345'}",
             "failed KI_ERR_LIMIT 0  at 0: watch event larger than 110 bytes\n");
    /* Exactly as many as are allowed. */
    watch_is(&small,
             "{'x':'0123456789012345678901234567890123456789012345678901234567890123456789"
             "01234567890123456789012345678901'}\n" ADDED_A,
             "unknown aside @ KI_ERR_INVALID: watch event without an object\n" FIRST
             "complete objects=1 aside=1\n");
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_add(&body, "1234567890", 12);
    test_trace_is(test_trace_watch, &small, ki_buf_str(&body),
                  "failed KI_ERR_LIMIT 0  at 110: the value is too large\n");
    ki_buf_done(&body);
}

/* Brackets that do not match must not swallow the events to come for ever. */
static void an_object_without_an_end_ends_the_watch_at_the_limit(void **state)
{
    (void)state;
    const ki__wire_options small = {.max_bytes = 300};
    ki_buf body;
    ki_buf trace;
    ki_buf_init(&body, NULL, SIZE_MAX);
    ki_buf_init(&trace, NULL, SIZE_MAX);
    test_quote(&body, "{'type':'ADDED','object':{'metadata':{'name':'p','x':'never closed}}\n");
    for (int i = 0; i < 8; i++) {
        test_add(&body, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n", 1);
    }
    assert_int_equal(test_trace_watch(&small, ki_buf_str(&body), test_cut_none, NULL, &trace),
                     KI_ERR_LIMIT);
    test_trace_is_stable(test_trace_watch, &small, ki_buf_str(&body));
    test_quote(&body, "{'type':'ADDED','object':{'metadata':{'name':'p','x':[[{}}\n");
    for (int i = 0; i < 8; i++) {
        test_add(&body, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n", 1);
    }
    ki_buf_clear(&trace);
    assert_int_equal(test_trace_watch(&small, ki_buf_str(&body), test_cut_none, NULL, &trace),
                     KI_ERR_LIMIT);
    test_trace_is_stable(test_trace_watch, &small, ki_buf_str(&body));
    ki_buf_done(&body);
    ki_buf_done(&trace);
}

static void a_body_cut_anywhere_gives_the_events_so_far(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, ADDED_A DELETED_A);
    size_t first = strlen(EVENT("ADDED", POD("a", "5")));
    for (size_t len = 0; len <= body.len; len++) {
        ki_buf trace;
        ki_buf_init(&trace, NULL, SIZE_MAX);
        int r = test_trace_watch(&plain, ki_str_make(body.data, len), test_cut_none, NULL, &trace);
        bool between = len == 0 || len == first || len == first + 1 || len >= body.len - 1;
        assert_int_equal(r, between ? 0 : KI_ERR_TRUNCATED);
        assert_int_equal(strstr(ki_buf_text(&trace), FIRST) != NULL, len >= first);
        assert_int_equal(strstr(ki_buf_text(&trace), LAST) != NULL, len >= body.len - 1);
        ki_buf_done(&trace);
    }
    ki_buf_done(&body);
}

static void random_watches_are_the_same_in_any_pieces(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "{",       "}",       "[",           "]",
        ",",       ":",       "'type'",      "'object'",
        "'ADDED'", "'ERROR'", "null",        "1",
        " ",       ADDED_A,   POD("a", "5"), "{'type':'BOOKMARK','object':",
        "'\\'",
    };
    uint64_t seed = 12;
    for (int round = 0; round < 300; round++) {
        ki_buf body;
        ki_buf text;
        ki_buf_init(&body, NULL, SIZE_MAX);
        ki_buf_init(&text, NULL, SIZE_MAX);
        for (uint64_t left = test_random(&seed) % 12; left != 0; left--) {
            test_add(&text, parts[test_random(&seed) % (sizeof(parts) / sizeof(parts[0]))], 1);
        }
        test_quote(&body, ki_buf_text(&text));
        test_trace_is_stable(test_trace_watch, &plain, ki_buf_str(&body));
        ki_buf_done(&text);
        ki_buf_done(&body);
    }
}

/* ---- memory ---- */

static int decode(const ki_alloc *alloc, void *user)
{
    const ki_str *body = user;
    ki__wire_options options = {.alloc = alloc};
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
    test_quote(&body,
               ADDED_A EVENT("MODIFIED", "{'metadata':{'name':'p','resourceVersion':'3'},'x':tru}")
                   EVENT("NONE", POD("q", "4"))
                       EVENT("ERROR", "{'kind':'Status','apiVersion':'v1','code':410}") DELETED_A);
    ki_str text = ki_buf_str(&body);
    test_alloc_sweep(decode, &text);
    ki_buf_done(&body);
}

static void a_large_event_does_not_hold_its_memory(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__wire_options options = {.alloc = &alloc.table};
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{'type':'ADDED','object':{'metadata':{'name':'a'},'x':'");
    test_add(&body, "0123456789abcdef", 100000);
    test_add(&body, "\"}}", 1);
    ki__watch_decoder decoder;
    ki__watch_event event;
    ki__watch_decoder_init(&decoder, &options);
    size_t taken;
    size_t half = body.len / 2;
    assert_int_equal(ki__watch_decoder_feed(&decoder, body.data, half, &taken, &event, NULL), 0);
    assert_int_equal(
        ki__watch_decoder_feed(&decoder, body.data + half, body.len - half, &taken, &event, NULL),
        1);
    ki_object_unref(event.item.object);
    assert_true(alloc.live_bytes < 4096);
    ki__watch_decoder_done(&decoder);
    ki_buf_done(&body);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_of_event_comes_with_its_object),
        cmocka_unit_test(members_may_stand_in_any_order),
        cmocka_unit_test(an_event_is_given_with_its_last_byte),
        cmocka_unit_test(a_bookmark_has_its_version_and_may_end_the_initial_events),
        cmocka_unit_test(a_bookmark_without_a_version_is_skipped),
        cmocka_unit_test(an_error_event_is_the_error_of_its_status),
        cmocka_unit_test(an_error_event_of_any_code_is_what_the_http_code_is),
        cmocka_unit_test(an_error_event_is_an_error_whatever_is_in_it),
        cmocka_unit_test(one_bad_event_is_skipped_and_the_rest_continues),
        cmocka_unit_test(the_key_of_one_bad_event_is_not_that_of_the_next),
        cmocka_unit_test(an_object_of_another_kind_is_skipped),
        cmocka_unit_test(tables_end_the_watch),
        cmocka_unit_test(what_makes_no_sense_between_events_ends_the_watch),
        cmocka_unit_test(an_event_over_the_limit_ends_the_watch_and_is_named),
        cmocka_unit_test(an_object_without_an_end_ends_the_watch_at_the_limit),
        cmocka_unit_test(a_body_cut_anywhere_gives_the_events_so_far),
        cmocka_unit_test(random_watches_are_the_same_in_any_pieces),
        cmocka_unit_test(a_lack_of_memory_fails_and_sets_nothing_aside),
        cmocka_unit_test(a_large_event_does_not_hold_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in JSON, and what does not depend on the encoding. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/status.h>

#include "support/test.h"
#include "support/wire.h"

static const ki__wire_options plain = {.encoding = KI_ENCODING_JSON};

/* The text has ' for ". */
static void list_is(const ki__wire_options *options, const char *text, const char *expected)
{
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, text);
    test_trace_is(test_trace_list, options, ki_buf_str(&body), expected);
    ki_buf_done(&body);
}

#define ITEM_A "{'metadata':{'name':'a','namespace':'n','resourceVersion':'5'}}"
#define ITEM_B "{'metadata':{'name':'b','resourceVersion':'6'}}"
#define HEAD "'kind':'PodList','apiVersion':'v1'"
#define META "'metadata':{'resourceVersion':'9'}"
#define END "complete PodList v1 @9 continue= remaining=-1"

/* ---- lists ---- */

static void items_come_one_by_one_with_the_kind_of_the_list(void **state)
{
    (void)state;
    list_is(&plain, "{" HEAD "," META ",'items':[" ITEM_A "," ITEM_B "]}",
            "n/a@5 Pod v1\nb@6 Pod v1\n" END " objects=2 aside=0\n");
    list_is(&plain, " {\n" HEAD " ,\n" META " , 'items' : [ " ITEM_A " , " ITEM_B " ] } \n ",
            "n/a@5 Pod v1\nb@6 Pod v1\n" END " objects=2 aside=0\n");
}

static void an_item_is_given_with_its_last_byte(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{" HEAD ",'items':[" ITEM_A);
    ki__list_decoder decoder;
    ki__wire_item item;
    size_t taken;
    ki__list_decoder_init(&decoder, &plain);
    assert_int_equal(ki__list_decoder_feed(&decoder, body.data, body.len - 1, &taken, &item, NULL),
                     0);
    assert_int_equal(ki__list_decoder_feed(&decoder, body.data + taken, 1, &taken, &item, NULL), 1);
    assert_int_equal(taken, 1);
    assert_string_equal(ki_object_key(item.object), "n/a");
    ki_object_unref(item.object);
    assert_int_equal(ki__list_decoder_feed(&decoder, NULL, 0, &taken, &item, NULL), 0);
    ki__list_decoder_done(&decoder);
    ki_buf_done(&body);
}

static void metadata_is_found_wherever_it_stands(void **state)
{
    (void)state;
    const char *metadata = "'metadata':{'selfLink':'','continue':'to\\u006ben','x':[{}],"
                           "'remainingItemCount':17,'resourceVersion':'9'}";
    const char *expected = "n/a@5 Pod v1\ncomplete PodList v1 @9 continue=token remaining=17 "
                           "objects=1 aside=0\n";
    char text[600];
    (void)snprintf(text, sizeof(text), "{%s," HEAD ",'items':[" ITEM_A "]}", metadata);
    list_is(&plain, text, expected);
    (void)snprintf(text, sizeof(text), "{" HEAD ",'items':[" ITEM_A "],%s}", metadata);
    list_is(&plain, text, expected);
    list_is(&plain, "{" HEAD ",'metadata':null,'items':[]}",
            "complete PodList v1 @ continue= remaining=-1 objects=0 aside=0\n");
    list_is(&plain, "{" HEAD ",'metadata':{'resourceVersion':null,'remainingItemCount':'x'}}",
            "complete PodList v1 @ continue= remaining=-1 objects=0 aside=0\n");
}

static void names_may_be_escaped(void **state)
{
    (void)state;
    list_is(&plain, "{'k\\u0069nd':'Pod\\u004cist','apiVersion':'v1','\\u0069tems':[" ITEM_A "]}",
            "n/a@5 Pod v1\ncomplete PodList v1 @ continue= remaining=-1 objects=1 aside=0\n");
}

static void unknown_members_are_passed_over(void **state)
{
    (void)state;
    list_is(&plain,
            "{'a':[[{}]],'itemsx':[1],'b':{'items':[1]},'c':12,'d':'[','e':null," HEAD "," META
            ",'items':[" ITEM_A "],'f':true}",
            "n/a@5 Pod v1\n" END " objects=1 aside=0\n");
}

/* Lists of custom resources have their members in alphabetical order, and items with a kind. */
static void items_before_the_kind_tell_their_own_or_have_the_default(void **state)
{
    (void)state;
    const char *text =
        "{'apiVersion':'x.io/v1','items':[{'kind':'Foo','apiVersion':'x.io/v1',"
        "'metadata':{'name':'a'}}," ITEM_B "],'kind':'FooList','metadata':{'resourceVersion':'7'}}";
    list_is(&plain, text,
            "a@ Foo x.io/v1\nb@6  \n"
            "complete FooList x.io/v1 @7 continue= remaining=-1 objects=2 aside=0\n");
    const ki__wire_options with = {.default_kind = "Foo", .default_api_version = "x.io/v1"};
    list_is(&with, text,
            "a@ Foo x.io/v1\nb@6 Foo x.io/v1\n"
            "complete FooList x.io/v1 @7 continue= remaining=-1 objects=2 aside=0\n");
}

static void a_list_of_partial_metadata_is_a_list(void **state)
{
    (void)state;
    list_is(&plain,
            "{'kind':'PartialObjectMetadataList','apiVersion':'meta.k8s.io/v1'," META
            ",'items':[" ITEM_A "]}",
            "n/a@5 PartialObjectMetadata meta.k8s.io/v1\ncomplete PartialObjectMetadataList "
            "meta.k8s.io/v1 @9 continue= remaining=-1 objects=1 aside=0\n");
}

static void a_list_of_anything_leaves_the_kind_to_its_items(void **state)
{
    (void)state;
    const ki__wire_options with = {.default_kind = "Foo", .default_api_version = "x.io/v1"};
    list_is(&with, "{'kind':'List','apiVersion':'v1','items':[" ITEM_A "]}",
            "n/a@5 Foo x.io/v1\n"
            "complete List v1 @ continue= remaining=-1 objects=1 aside=0\n");
}

static void null_or_missing_items_are_an_empty_list(void **state)
{
    (void)state;
    list_is(&plain, "{" HEAD "," META ",'items':null}", END " objects=0 aside=0\n");
    list_is(&plain, "{" HEAD "," META "}", END " objects=0 aside=0\n");
    list_is(&plain, "{" HEAD "," META ",'items':[]}", END " objects=0 aside=0\n");
    list_is(&plain, "{'items':[]}", "complete   @ continue= remaining=-1 objects=0 aside=0\n");
}

/* ---- what is no list ---- */

static void something_else_than_a_list_is_not_an_empty_list(void **state)
{
    (void)state;
    list_is(&plain, "{}",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list: kind is missing\n");
    list_is(&plain, "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'}}",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Pod of v1\n");
    list_is(&plain, "[]",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but an array\n");
    list_is(&plain, "'x' ",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list: not a map\n");
    list_is(&plain, "12", "failed KI_ERR_INVALID 0  at 0: the response is not a list: not a map\n");
    list_is(&plain, "", "failed KI_ERR_TRUNCATED 0  at 0: list truncated\n");
    list_is(&plain, "<html>", "failed KI_ERR_SYNTAX 0  at 0: expected a value\n");
}

static void items_or_metadata_of_a_wrong_type_are_refused(void **state)
{
    (void)state;
    list_is(&plain, "{" HEAD ",'items':{}}",
            "failed KI_ERR_INVALID 0  at 0: list: items is not a list\n");
    list_is(&plain, "{" HEAD ",'items':nul}",
            "failed KI_ERR_INVALID 0  at 44: list: items is not a list\n");
    list_is(&plain, "{'metadata':[]}",
            "failed KI_ERR_INVALID 0  at 12: list: metadata is a list\n");
    list_is(&plain, "{'metadata':{'resourceVersion':9}}",
            "failed KI_ERR_INVALID 0  at 12: list: expected a string, found a number\n");
    list_is(&plain, "{'kind':[]}",
            "failed KI_ERR_INVALID 0  at 8: list: expected a string, found a list\n");
    list_is(&plain, "{'kind':'a\\u0000'}",
            "failed KI_ERR_INVALID 0  at 8: list: metadata string contains NUL\n");
    list_is(&plain, "{'kind':trux}",
            "failed KI_ERR_SYNTAX 0  at 11: expected true, false or null\n");
}

static void members_of_the_list_must_not_be_duplicate(void **state)
{
    (void)state;
    list_is(&plain, "{'items':[" ITEM_A "],'items':[" ITEM_B "]}",
            "n/a@5  \nfailed KI_ERR_INVALID 0  at 75: list: duplicate field\n");
    list_is(&plain, "{'kind':'PodList','kind':'PodList'}",
            "failed KI_ERR_INVALID 0  at 18: list: duplicate field\n");
}

static void nothing_may_follow_the_list(void **state)
{
    (void)state;
    const char *const tails[] = {"{}", "1", "\"x", "]", "tru"};
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        ki_buf body;
        ki_buf trace;
        ki_buf_init(&body, NULL, SIZE_MAX);
        ki_buf_init(&trace, NULL, SIZE_MAX);
        test_quote(&body, "{" HEAD ",'items':[" ITEM_A "]} ");
        assert_int_equal(ki_buf_add_text(&body, tails[i]), 0);
        assert_int_equal(test_trace_list(&plain, ki_buf_str(&body), test_cut_none, NULL, &trace),
                         KI_ERR_SYNTAX);
        test_trace_is_stable(test_trace_list, &plain, ki_buf_str(&body));
        ki_buf_done(&body);
        ki_buf_done(&trace);
    }
}

static void a_table_is_refused_with_advice(void **state)
{
    (void)state;
    list_is(
        &plain,
        "{'kind':'Table','apiVersion':'meta.k8s.io/v1','metadata':{},"
        "'columnDefinitions':[],'rows':[]}",
        "failed KI_ERR_UNSUPPORTED 0  at 29: the server responded with a Table instead of objects; "
        "remove as=Table from the Accept header\n");
    list_is(&plain, "{'apiVersion':'x.io/v1','kind':'Table','items':[]}",
            "complete Table x.io/v1 @ continue= remaining=-1 objects=0 aside=0\n");
}

static void a_status_in_place_of_the_list_is_its_error(void **state)
{
    (void)state;
    list_is(&plain,
            "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
            "'message':'too old resource version','reason':'Expired','code':410}",
            "failed KI_ERR_STATUS 410 Expired at 0: too old resource version\n");
    list_is(&plain,
            "{'code':429,'details':{'retryAfterSeconds':3},'kind':'Status',"
            "'reason':'TooManyRequests','apiVersion':'v1'}",
            "failed KI_ERR_STATUS 429 TooManyRequests at 0: "
            "the API server answered with an error: TooManyRequests\n");
    list_is(&plain, "{'kind':'Status','apiVersion':'v1','status':'Success'}",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Status of v1\n");
    list_is(&plain, "{'kind':'Status','apiVersion':'v1','items':[" ITEM_A "]}",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Status of v1\n");
    list_is(&plain, "{'kind':'Status','apiVersion':'v1','code':tru}",
            "failed KI_ERR_SYNTAX 0  at 0: Status instead of the list: expected true, false or "
            "null\n");
}

static void the_status_lists_its_causes(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{'kind':'Status','apiVersion':'v1','code':504,'details':{'causes':"
                      "[{'reason':'ResourceVersionTooLarge'}],'retryAfterSeconds':1}}");
    ki__list_decoder decoder;
    ki__wire_item item;
    ki_error error = KI_ERROR_INIT;
    size_t taken;
    ki__list_decoder_init(&decoder, &plain);
    assert_null(ki__list_decoder_status(&decoder));
    assert_int_equal(ki__list_decoder_feed(&decoder, body.data, body.len, &taken, &item, &error),
                     KI_ERR_STATUS);
    assert_int_equal(error.retry_after_ms, 1000);
    const ki_object *status = ki__list_decoder_status(&decoder);
    assert_true(ki_status_has_cause(status, "ResourceVersionTooLarge"));
    ki__list_decoder_done(&decoder);
    ki_buf_done(&body);
}

static void a_list_of_another_kind_is_refused(void **state)
{
    (void)state;
    const ki__wire_options pods = {.expected_kind = "Pod", .expected_api_version = "v1"};
    list_is(&pods, "{" HEAD "," META ",'items':[" ITEM_A "]}",
            "n/a@5 Pod v1\n" END " objects=1 aside=0\n");
    list_is(&pods, "{'kind':'NodeList','apiVersion':'v1','items':[" ITEM_A "]}",
            "failed KI_ERR_TYPE 0  at 32: unexpected kind of list: NodeList of v1\n");
    list_is(&pods, "{'items':[" ITEM_A "],'kind':'PodList','apiVersion':'v2'}",
            "n/a@5  \nfailed KI_ERR_TYPE 0  at 105: unexpected kind of list: PodList of v2\n");
}

/* ---- poison ---- */

static void one_bad_item_is_skipped_and_the_rest_continues(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        const char *aside;
    } cases[] = {
        {"null", "aside @ KI_ERR_INVALID: an object must be a map, not a null"},
        {"12", "aside @ KI_ERR_INVALID: an object must be a map, not a number"},
        {"[]", "aside @ KI_ERR_INVALID: an object must be a map, not a list"},
        {"{}", "aside @ KI_ERR_KEY: object without metadata.name"},
        {"{'metadata':{'namespace':'n','resourceVersion':'3'}}",
         "aside @3 KI_ERR_KEY: object without metadata.name"},
        {"{'metadata':{'name':'a/b'}}", "aside @ KI_ERR_KEY: name or namespace contains '/'"},
        {"{'metadata':{'name':'p','namespace':'n','resourceVersion':'3'},'spec':[1,]}",
         "aside n/p@3 KI_ERR_SYNTAX: expected a value"},
        {"{'spec':{a},'metadata':{'name':'p'}}",
         "aside p@ KI_ERR_SYNTAX: expected a field name in quotes"},
        {"{'metadata':{'name':'p','labels':12}}",
         "aside p@ KI_ERR_INVALID: metadata.labels must be a map, not a number"},
        {"{'metadata':{'name':'p','name':'q'}}",
         "aside @ KI_ERR_INVALID: duplicate field metadata.name"},
        {"{'metadata':{'name':7,'resourceVersion':'3'}}",
         "aside @3 KI_ERR_INVALID: metadata.name must be a string, not a number"},
        {"{'metadata':{'name':'p','x':'\\q'}}",
         "aside p@ KI_ERR_ENCODING: unknown escape sequence"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[500];
        char expected[500];
        (void)snprintf(text, sizeof(text), "{" HEAD ",'items':[" ITEM_A ",%s," ITEM_B "]," META "}",
                       cases[i].item);
        (void)snprintf(expected, sizeof(expected),
                       "n/a@5 Pod v1\n%s\nb@6 Pod v1\n" END " objects=2 aside=1\n", cases[i].aside);
        list_is(&plain, text, expected);
    }
}

static void an_item_of_another_kind_is_skipped(void **state)
{
    (void)state;
    const ki__wire_options pods = {.expected_kind = "Pod", .expected_api_version = "v1"};
    list_is(&pods,
            "{" HEAD ",'items':[{'kind':'Node','metadata':{'name':'x'}}," ITEM_A "]," META "}",
            "aside x@ KI_ERR_TYPE: unexpected kind: Node of v1\nn/a@5 Pod v1\n" END
            " objects=1 aside=1\n");
}

static void an_item_over_the_limit_is_skipped(void **state)
{
    (void)state;
    const ki__wire_options small = {.max_bytes = 70};
    list_is(&small,
            "{" HEAD ",'items':[" ITEM_A ",{'metadata':{'name':'p','namespace':'n'},'spec':"
            "{'x':'0123456789012345678901234567890123456789'}}," ITEM_B "]," META "}",
            "n/a@5 Pod v1\naside n/p@ KI_ERR_LIMIT: item too large: 97 bytes, limit 70\n"
            "b@6 Pod v1\n" END " objects=2 aside=1\n");
    /* The key is unknown if its fields are beyond the limit. */
    list_is(&small,
            "{" HEAD ",'items':[{'spec':{'x':'0123456789012345678901234567890123456789'},"
            "'metadata':{'name':'p','namespace':'n'}}]," META "}",
            "aside @ KI_ERR_LIMIT: item too large: 97 bytes, limit 70\n" END
            " objects=0 aside=1\n");
}

/* The limit is for items; what the list says of itself has its own. */
static void a_limit_for_items_is_none_for_the_list(void **state)
{
    (void)state;
    const ki__wire_options small = {.max_bytes = 10};
    list_is(&small,
            "{'kind':'PodList','apiVersion':'a-group.that-is-long.example.org/v1'," META
            ",'items':[]}",
            "complete PodList a-group.that-is-long.example.org/v1 @9 continue= remaining=-1 "
            "objects=0 aside=0\n");
}

static void an_item_nested_too_deep_is_skipped(void **state)
{
    (void)state;
    const ki__wire_options flat = {.max_depth = 3};
    list_is(&flat,
            "{" HEAD ",'items':[{'metadata':{'name':'p'},'x':[[[[]]]]}," ITEM_A "]," META "}",
            "aside p@ KI_ERR_DEPTH: maps and lists are nested too deeply\nn/a@5 Pod v1\n" END
            " objects=1 aside=1\n");
}

static void what_is_wrong_with_the_list_itself_ends_it(void **state)
{
    (void)state;
    list_is(&plain, "{" HEAD ",'items':[" ITEM_A " " ITEM_B "]}",
            "n/a@5 Pod v1\nfailed KI_ERR_SYNTAX 0  at 109: expected a comma or ]\n");
    list_is(&plain, "{" HEAD ",'items':[" ITEM_A ",]}",
            "n/a@5 Pod v1\nfailed KI_ERR_SYNTAX 0  at 109: expected a value\n");
    list_is(&plain, "{" HEAD ",items:[]}",
            "failed KI_ERR_SYNTAX 0  at 36: expected a field name in quotes\n");
    list_is(&plain, "{'\\q':1}", "failed KI_ERR_ENCODING 0  at 2: unknown escape sequence\n");
}

/* ---- limits and ends ---- */

static void large_parts_of_the_list_itself_are_refused(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf trace;
    ki_buf_init(&body, NULL, SIZE_MAX);
    ki_buf_init(&trace, NULL, SIZE_MAX);
    test_quote(&body, "{'metadata':{'x':'");
    test_add(&body, "0123456789abcdef", 70000);
    test_add(&body, "\"}}", 1);
    size_t size = 16384;
    assert_int_equal(test_trace_list(&plain, ki_buf_str(&body), test_cut_every, &size, &trace),
                     KI_ERR_LIMIT);
    test_quote(&body, "{'kind':'");
    test_add(&body, "0123456789abcdef", 65);
    test_add(&body, "\"}", 1);
    test_trace_is(test_trace_list, &plain, ki_buf_str(&body),
                  "failed KI_ERR_LIMIT 0  at 8: list: metadata string too long: 1040 bytes\n");
    ki_buf_done(&body);
    ki_buf_done(&trace);
}

static void only_one_item_is_held_at_a_time(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__wire_options options = {.alloc = &alloc.table};
    ki__list_decoder decoder;
    ki__list_decoder_init(&decoder, &options);
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{'items':[" ITEM_A);
    size_t objects = 0;
    for (int i = 0; i < 5000; i++) {
        ki__wire_item item;
        for (size_t at = 0; at < body.len;) {
            size_t taken;
            size_t len = body.len - at < 7 ? body.len - at : 7;
            int r = ki__list_decoder_feed(&decoder, body.data + at, len, &taken, &item, NULL);
            assert_true(r >= 0);
            if (r == 1) {
                ki_object_unref(item.object);
                objects++;
            }
            at += taken;
        }
        test_quote(&body, "," ITEM_A);
    }
    assert_int_equal(objects, 5000);
    assert_true(alloc.peak_bytes < 2000);
    ki__list_decoder_done(&decoder);
    ki_buf_done(&body);
    test_alloc_done(&alloc);
}

/* Cut at every byte: the items so far, and never "complete" before the end. */
static void a_body_cut_anywhere_gives_the_items_so_far_and_says_so(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{" HEAD "," META ",'items':[" ITEM_A "," ITEM_B "]}");
    const char *after_a = strstr(body.data, ",{\"metadata\":{\"name\":\"b\"");
    const char *after_b = body.data + body.len - 2;
    for (size_t len = 0; len < body.len; len++) {
        ki_buf trace;
        ki_buf_init(&trace, NULL, SIZE_MAX);
        int r = test_trace_list(&plain, ki_str_make(body.data, len), test_cut_none, NULL, &trace);
        assert_int_equal(r, KI_ERR_TRUNCATED);
        bool a = strstr(ki_buf_text(&trace), "n/a@5 Pod v1\n") != NULL;
        bool b = strstr(ki_buf_text(&trace), "\nb@6 Pod v1\n") != NULL;
        assert_int_equal(a, body.data + len >= after_a);
        assert_int_equal(b, body.data + len >= after_b);
        ki_buf_done(&trace);
    }
    ki_buf_done(&body);
}

static void random_lists_are_the_same_in_any_pieces(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "'items'",
        "'kind'",
        "'metadata'",
        "'apiVersion'",
        "'v1'",
        "'PodList'",
        "'Status'",
        "null",
        "1",
        " ",
        ITEM_A,
        ITEM_B,
        "{" HEAD ",'items':[",
        "'\\'",
    };
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        ki_buf body;
        ki_buf text;
        ki_buf_init(&body, NULL, SIZE_MAX);
        ki_buf_init(&text, NULL, SIZE_MAX);
        for (uint64_t left = test_random(&seed) % 12; left != 0; left--) {
            test_add(&text, parts[test_random(&seed) % (sizeof(parts) / sizeof(parts[0]))], 1);
        }
        test_quote(&body, ki_buf_text(&text));
        test_trace_is_stable(test_trace_list, &plain, ki_buf_str(&body));
        ki_buf_done(&text);
        ki_buf_done(&body);
    }
}

/* ---- memory ---- */

/* Decodes a list in pieces of 9 bytes; every object and every error is met. */
static int decode(const ki_alloc *alloc, void *user)
{
    const ki_str *body = user;
    ki__wire_options options = {.alloc = alloc};
    ki__list_decoder decoder;
    ki__list_decoder_init(&decoder, &options);
    int r = 0;
    for (size_t at = 0; at < body->len && r >= 0;) {
        ki__wire_item item;
        size_t taken;
        size_t len = body->len - at < 9 ? body->len - at : 9;
        r = ki__list_decoder_feed(&decoder, body->ptr + at, len, &taken, &item, NULL);
        if (r == 1) {
            assert_true(item.object != NULL || item.error.code != -ENOMEM);
            ki_object_unref(item.object);
        }
        at += taken;
    }
    r = r >= 0 ? ki__list_decoder_finish(&decoder, NULL) : r;
    ki__list_decoder_done(&decoder);
    return r == KI_ERR_STATUS ? 0 : r;
}

static void a_lack_of_memory_fails_and_sets_nothing_aside(void **state)
{
    (void)state;
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_quote(&body, "{" HEAD ",'metadata':{'resourceVersion':'9','continue':'c'},'items':[" ITEM_A
                      ",{'metadata':{'name':'p','resourceVersion':'3'},'x':tru}," ITEM_B
                      ",{'metadata':{}}]}");
    ki_str text = ki_buf_str(&body);
    test_alloc_sweep(decode, &text);
    test_quote(&body, "{'code':410,'apiVersion':'v1','kind':'Status','reason':'Gone'}");
    text = ki_buf_str(&body);
    test_alloc_sweep(decode, &text);
    ki_buf_done(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_one_by_one_with_the_kind_of_the_list),
        cmocka_unit_test(an_item_is_given_with_its_last_byte),
        cmocka_unit_test(metadata_is_found_wherever_it_stands),
        cmocka_unit_test(names_may_be_escaped),
        cmocka_unit_test(unknown_members_are_passed_over),
        cmocka_unit_test(items_before_the_kind_tell_their_own_or_have_the_default),
        cmocka_unit_test(a_list_of_partial_metadata_is_a_list),
        cmocka_unit_test(a_list_of_anything_leaves_the_kind_to_its_items),
        cmocka_unit_test(null_or_missing_items_are_an_empty_list),
        cmocka_unit_test(something_else_than_a_list_is_not_an_empty_list),
        cmocka_unit_test(items_or_metadata_of_a_wrong_type_are_refused),
        cmocka_unit_test(members_of_the_list_must_not_be_duplicate),
        cmocka_unit_test(nothing_may_follow_the_list),
        cmocka_unit_test(a_table_is_refused_with_advice),
        cmocka_unit_test(a_status_in_place_of_the_list_is_its_error),
        cmocka_unit_test(the_status_lists_its_causes),
        cmocka_unit_test(a_list_of_another_kind_is_refused),
        cmocka_unit_test(one_bad_item_is_skipped_and_the_rest_continues),
        cmocka_unit_test(an_item_of_another_kind_is_skipped),
        cmocka_unit_test(an_item_over_the_limit_is_skipped),
        cmocka_unit_test(a_limit_for_items_is_none_for_the_list),
        cmocka_unit_test(an_item_nested_too_deep_is_skipped),
        cmocka_unit_test(what_is_wrong_with_the_list_itself_ends_it),
        cmocka_unit_test(large_parts_of_the_list_itself_are_refused),
        cmocka_unit_test(only_one_item_is_held_at_a_time),
        cmocka_unit_test(a_body_cut_anywhere_gives_the_items_so_far_and_says_so),
        cmocka_unit_test(random_lists_are_the_same_in_any_pieces),
        cmocka_unit_test(a_lack_of_memory_fails_and_sets_nothing_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

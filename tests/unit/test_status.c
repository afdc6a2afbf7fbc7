/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/object.h>
#include <kinformer/status.h>

#include "base/error.h"
#include "object/value.h"
#include "status_golden.h"
#include "support/test.h"

static bool (*const predicates[])(const ki_error *error) = {
    ki_error_is_not_found,
    ki_error_is_already_exists,
    ki_error_is_conflict,
    ki_error_is_invalid,
    ki_error_is_gone,
    ki_error_is_resource_expired,
    ki_error_is_not_acceptable,
    ki_error_is_unsupported_media_type,
    ki_error_is_method_not_supported,
    ki_error_is_service_unavailable,
    ki_error_is_bad_request,
    ki_error_is_unauthorized,
    ki_error_is_forbidden,
    ki_error_is_timeout,
    ki_error_is_server_timeout,
    ki_error_is_internal_error,
    ki_error_is_too_many_requests,
    ki_error_is_request_entity_too_large,
    ki_error_is_store_read_error,
};
enum { PREDICATES = sizeof(predicates) / sizeof(predicates[0]) };

static uint32_t mask_of(const ki_error *error)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < PREDICATES; i++) {
        mask |= predicates[i](error) ? UINT32_C(1) << i : 0;
    }
    return mask;
}

static ki_object *parse(const char *json)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_from_json(json, strlen(json), NULL, &object, &error);
    if (r < 0) {
        fail_msg("%s: %s", json, error.message);
    }
    return object;
}

/* What "not found" and "already exists" are called, with every kind of error. */
static int code_of(const ki_error *error)
{
    bool unknown = error->reason == KI_REASON_UNKNOWN;
    if (error->reason == KI_REASON_NOT_FOUND || (unknown && error->http_code == 404)) {
        return KI_ERR_NOT_FOUND;
    }
    return error->reason == KI_REASON_ALREADY_EXISTS ? KI_ERR_EXISTS : KI_ERR_STATUS;
}

/* The error of {"kind":"Status","apiVersion":"v1",<rest>}; checks what is true of all of them. */
static ki_error error_of(const char *rest)
{
    size_t size = strlen(rest) + 64;
    char *json = malloc(size);
    assert_non_null(json);
    (void)snprintf(json, size, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",%s}", rest);
    ki_object *status = parse(json);
    free(json);
    ki_error error = KI_ERROR_INIT;
    memset(&error, 0x5a, sizeof(error)); /* as if used before */
    int code = ki_status_to_error(status, &error);
    assert_int_equal(code, code_of(&error));
    assert_int_equal(ki_status_to_error(status, NULL), code);
    assert_int_equal(error.code, code);
    assert_int_equal(error.offset, 0);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_non_null(memchr(error.message, '\0', sizeof(error.message)));
    assert_true(error.message[0] != '\0');
    ki_object_unref(status);
    return error;
}

static void only_status_kinds_of_the_api_count(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool is_status;
    } cases[] = {
        {"{\"kind\":\"Status\",\"apiVersion\":\"v1\"}", true},
        {"{\"kind\":\"Status\",\"apiVersion\":\"meta.k8s.io/v1\"}", true},
        {"{\"kind\":\"St\\u0061tus\",\"apiVersion\":\"v\\u0031\"}", true},
        {"{\"kind\":\"Status\",\"apiVersion\":\"v2\"}", false},
        {"{\"kind\":\"Status\",\"apiVersion\":\"example.com/v1\"}", false},
        {"{\"kind\":\"Status\"}", false},
        {"{\"apiVersion\":\"v1\"}", false},
        {"{\"kind\":\"status\",\"apiVersion\":\"v1\"}", false},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"status\":\"Failure\"}", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = parse(cases[i].json);
        ki_error error = KI_ERROR_INIT;
        int expected = cases[i].is_status ? KI_ERR_STATUS : KI_ERR_INVALID;
        assert_int_equal(ki_object_is_status(object), cases[i].is_status);
        assert_int_equal(ki_status_to_error(object, &error), expected);
        assert_int_equal(error.code, expected);
        ki_object_unref(object);
    }
    assert_false(ki_object_is_status(NULL));
    assert_int_equal(ki_status_to_error(NULL, NULL), -EINVAL);
}

static void success_is_no_error(void **state)
{
    (void)state;
    ki_object *status = parse("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                              "\"status\":\"Success\",\"code\":200}");
    ki_error error = {.code = 5, .message = "kept"};
    assert_int_equal(ki_status_to_error(status, &error), 0);
    assert_int_equal(error.code, 5);
    assert_string_equal(error.message, "kept");
    assert_int_equal(ki_status_to_error(status, NULL), 0);
    ki_object_unref(status);
}

static void everything_else_is_one_whatever_it_says(void **state)
{
    (void)state;
    (void)error_of("\"status\":\"Failure\"");
    (void)error_of("\"status\":\"success\"");
    (void)error_of("\"status\":null");
    (void)error_of("\"status\":{\"a\":1}");
    (void)error_of("\"metadata\":{}");
}

static void a_failure_becomes_an_error(void **state)
{
    (void)state;
    ki_error error = error_of("\"metadata\":{},\"status\":\"Failure\","
                              "\"message\":\"pods \\\"web\\\" not found\",\"reason\":\"NotFound\","
                              "\"details\":{\"name\":\"web\",\"kind\":\"pods\","
                              "\"retryAfterSeconds\":3},\"code\":404");
    assert_int_equal(error.http_code, 404);
    assert_int_equal(error.reason, KI_REASON_NOT_FOUND);
    assert_int_equal(error.retry_after_ms, 3000);
    assert_string_equal(error.message, "pods \"web\" not found");
    assert_true(ki_error_is_not_found(&error));
}

static void without_a_message_the_reason_speaks(void **state)
{
    (void)state;
    ki_error error = error_of("\"reason\":\"Exp\\u0069red\",\"code\":410,\"message\":\"\"");
    assert_int_equal(error.reason, KI_REASON_EXPIRED);
    assert_string_equal(error.message, "the API server answered with an error: Expired");
    error = error_of("\"reason\":\"Brand\\nNew\"");
    assert_int_equal(error.reason, KI_REASON_UNKNOWN);
    assert_string_equal(error.message, "the API server answered with an error: Brand New");
    error = error_of("\"reason\":\"\"");
    assert_string_equal(error.message, "the API server answered with an error");
}

static void members_of_wrong_types_count_as_absent(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\"code\":\"404\",\"reason\":404,\"message\":[],\"details\":[1]",
        "\"code\":null,\"reason\":null,\"message\":null,\"details\":null",
        "\"code\":1.5,\"reason\":{},\"message\":{},\"details\":\"x\"",
        "\"code\":{},\"details\":{\"retryAfterSeconds\":\"5\"}",
        "\"code\":-404,\"details\":{\"retryAfterSeconds\":-1}",
        "\"code\":false,\"details\":{\"retryAfterSeconds\":0.5}",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = error_of(cases[i]);
        assert_int_equal(error.http_code, 0);
        assert_int_equal(error.reason, KI_REASON_UNKNOWN);
        assert_int_equal(error.retry_after_ms, 0);
        assert_string_equal(error.message, "the API server answered with an error");
        assert_int_equal(mask_of(&error), 0);
    }
}

static void numbers_too_large_are_held_down(void **state)
{
    (void)state;
    ki_error error = error_of("\"code\":4294967700,\"details\":{\"retryAfterSeconds\":4294967296}");
    assert_int_equal(error.http_code, INT32_MAX);
    assert_int_equal(error.retry_after_ms, UINT32_MAX);
    error = error_of("\"code\":1e99,\"details\":{\"retryAfterSeconds\":1e99}");
    assert_int_equal(error.http_code, 0);
    assert_int_equal(error.retry_after_ms, 0);
}

static void predicates_agree_with_apimachinery(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof(golden_predicates) / sizeof(golden_predicates[0]); r++) {
        for (size_t c = 0; c < GOLDEN_CODES; c++) {
            char rest[128];
            (void)snprintf(rest, sizeof(rest), "\"reason\":\"%s\",\"code\":%d",
                           golden_predicates[r].reason, golden_codes[c]);
            ki_error error = error_of(rest);
            assert_int_equal(error.http_code, golden_codes[c]);
            if (mask_of(&error) != golden_predicates[r].masks[c]) {
                fail_msg("%s: 0x%x, not 0x%x", rest, mask_of(&error),
                         golden_predicates[r].masks[c]);
            }
        }
    }
}

static void predicates_are_false_for_other_errors(void **state)
{
    (void)state;
    uint32_t ms = 77;
    assert_int_equal(mask_of(NULL), 0);
    assert_false(ki_error_suggests_delay(NULL, &ms));
    for (size_t c = 0; c < GOLDEN_CODES; c++) {
        for (int reason = 0; reason < KI_REASON_MAX; reason++) {
            ki_error error = {.code = KI_ERR_SYNTAX,
                              .http_code = golden_codes[c],
                              .reason = (ki_reason)reason,
                              .retry_after_ms = 9};
            assert_int_equal(mask_of(&error), 0);
            assert_false(ki_error_suggests_delay(&error, &ms));
        }
    }
    assert_int_equal(ms, 77);
}

static void delays_agree_with_apimachinery(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(golden_delays) / sizeof(golden_delays[0]); i++) {
        char rest[128];
        (void)snprintf(rest, sizeof(rest),
                       "\"reason\":\"%s\",\"details\":{\"retryAfterSeconds\":%d}",
                       golden_delays[i].reason, golden_delays[i].retry_after_s);
        ki_error error = error_of(rest);
        uint32_t ms = 77;
        assert_int_equal(ki_error_suggests_delay(&error, NULL), golden_delays[i].delay);
        assert_int_equal(ki_error_suggests_delay(&error, &ms), golden_delays[i].delay);
        if (!golden_delays[i].delay) {
            assert_int_equal(ms, 77);
        } else { /* a time before now is no time at all */
            int64_t expected = golden_delays[i].delay_s * INT64_C(1000);
            assert_int_equal(ms, expected < 0 ? 0 : expected < UINT32_MAX ? expected : UINT32_MAX);
        }
    }
}

static void http_answers_agree_with_apimachinery(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(golden_responses) / sizeof(golden_responses[0]); i++) {
        ki_error error = {.code = 1, .offset = 5, .line = 5, .message = "before"};
        int r = ki_status_from_http(golden_responses[i].code, golden_responses[i].verb, "pods",
                                    "web", ki_str_from("body"), 7000, &error);
        uint32_t ms = 0;
        assert_int_equal(r, code_of(&error));
        assert_int_equal(error.code, r);
        assert_int_equal(ki_status_from_http(golden_responses[i].code, golden_responses[i].verb,
                                             NULL, NULL, ki_str_from(""), 0, NULL),
                         r);
        assert_int_equal(error.http_code, golden_responses[i].code);
        assert_string_equal(ki_reason_text(error.reason), golden_responses[i].reason);
        assert_int_equal(mask_of(&error), golden_responses[i].mask);
        assert_int_equal(ki_error_suggests_delay(&error, &ms), golden_responses[i].delay);
        assert_int_equal(ms, golden_responses[i].delay_s * 1000);
        assert_int_equal(error.offset, 0);
        assert_int_equal(error.line, 0);
        assert_non_null(strstr(error.message, " pods web): body"));
    }
}

static void http_messages_say_what_is_known(void **state)
{
    (void)state;
    ki_error error = KI_ERROR_INIT;
    (void)ki_status_from_http(404, "GET", "pods", "web", ki_str_from(""), 0, &error);
    assert_string_equal(error.message,
                        "the server could not find the requested resource (get pods web)");
    (void)ki_status_from_http(418, "GET", "pods", NULL, ki_str_from("\r\n short and\tstout \n"), 0,
                              &error);
    assert_string_equal(error.message,
                        "the server responded with status code 418 (get pods): short and stout");
    (void)ki_status_from_http(502, NULL, NULL, "", ki_str_from(" \n"), 0, &error);
    assert_string_equal(error.message, "the server failed with status code 502");
    assert_int_equal(error.retry_after_ms, 0);
    (void)ki_status_from_http(403, NULL, "pods", NULL, ki_str_from("no"), 0, &error);
    assert_string_equal(error.message,
                        "the server denied access to the requested resource (pods): no");
    assert_int_equal(ki_status_from_http(500, NULL, NULL, NULL, ki_str_from(NULL), 0, NULL),
                     KI_ERR_STATUS);
}

static void not_found_and_exists_are_codes_of_their_own(void **state)
{
    (void)state;
    const ki_error found = {.code = KI_ERR_NOT_FOUND}; /* of discovery, say: no server said so */
    assert_true(ki_error_is_not_found(&found));
    assert_false(ki_error_is_already_exists(&found));
    assert_false(ki_error_is_conflict(&found));
    const ki_error exists = {.code = KI_ERR_EXISTS};
    assert_true(ki_error_is_already_exists(&exists));
    assert_false(ki_error_is_not_found(&exists));
    const ki_error own = {.code = KI_ERR_STATUS, .http_code = 404}; /* a source of a program */
    assert_true(ki_error_is_not_found(&own));
    const ki_error path = {.code = KI_ERR_TYPE, .http_code = 404, .reason = KI_REASON_NOT_FOUND};
    assert_false(ki_error_is_not_found(&path));
    assert_false(ki_error_is_not_found(NULL));
    assert_false(ki_error_is_already_exists(NULL));
    assert_int_equal(ki_status_from_http(404, "GET", NULL, NULL, ki_str_from(""), 0, NULL),
                     KI_ERR_NOT_FOUND);
    assert_int_equal(ki_status_from_http(409, "POST", NULL, NULL, ki_str_from(""), 0, NULL),
                     KI_ERR_EXISTS);
    assert_int_equal(ki_status_from_http(409, "PUT", NULL, NULL, ki_str_from(""), 0, NULL),
                     KI_ERR_STATUS);
}

static void http_bodies_are_made_fit_to_print(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        size_t len;
        const char *shown;
    } cases[] = {
        {"\x1b[31mred\x1b[0m", 12, "?[31mred?[0m"},
        {"a\0b", 3, "a?b"},
        {"a\nb\r\nc\td\x7f", 9, "a b  c d?"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 14,
         "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"c1 \xc2\x85\xc2\x9f\xc2\xa0", 9, "c1 ??\xc2\xa0"},
        {"\xff\xfe", 2, "??"},
        {"\xc3", 1, "?"},
        {"\xc3(", 2, "?("},
        {"\xe2\x82", 2, "??"},
        {"\xed\xa0\x80", 3, "???"},                  /* a surrogate */
        {"\xc0\xaf", 2, "??"},                       /* overlong */
        {"\xe0\x80\xaf", 3, "???"},                  /* overlong */
        {"\xf0\x80\x80\xaf", 4, "????"},             /* overlong */
        {"\xf4\x90\x80\x80", 4, "????"},             /* beyond U+10FFFF */
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"}, /* U+10FFFF */
        {"\xf5\x80\x80\x80", 4, "????"},
        {"\x80"
         "a",
         2, "?a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        char expected[128];
        (void)ki_status_from_http(400, NULL, NULL, NULL, ki_str_make(cases[i].body, cases[i].len),
                                  0, &error);
        (void)snprintf(expected, sizeof(expected), "the server rejected the request: %s",
                       cases[i].shown);
        assert_string_equal(error.message, expected);
    }
}

/* What is left of `text` when at most `max` bytes of whole characters fit. */
static size_t cut_length(const char *text, size_t max)
{
    size_t len = strlen(text);
    if (len <= max) {
        return len;
    }
    len = max;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
        len--;
    }
    return len;
}

/* `before` times 'a', then 20 times `ending`. */
static void fill(char *text, size_t before, const char *ending)
{
    memset(text, 'a', before);
    for (size_t i = 0; i < 20; i++) {
        memcpy(text + before + i * strlen(ending), ending, strlen(ending) + 1);
    }
}

static void long_messages_end_with_a_whole_character(void **state)
{
    (void)state;
    static const char *const plain[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    static const char *const escaped[] = {"\\u0078", "\\u00e9", "\\u20ac", "\\ud83d\\ude00"};
    enum { ROOM = sizeof(((ki_error *)NULL)->message) - 1 };
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t before = ROOM - 9; before <= ROOM + 3; before++) {
            const char *const endings[] = {plain[kind], escaped[kind]};
            char text[2 * ROOM];
            fill(text, before, plain[kind]);
            bool fits = strlen(text) <= ROOM;
            size_t expected = fits ? strlen(text) : cut_length(text, ROOM - 3);
            for (size_t i = 0; i < 2; i++) {
                char message[4 * ROOM];
                char json[sizeof(message) + 16];
                fill(message, before, endings[i]);
                (void)snprintf(json, sizeof(json), "\"message\":\"%s\"", message);
                ki_error error = error_of(json);
                assert_memory_equal(error.message, text, expected);
                assert_string_equal(error.message + expected, fits ? "" : "...");
            }
        }
    }
}

static void control_characters_of_a_status_are_replaced(void **state)
{
    (void)state;
    ki_error error = error_of("\"message\":\"a\\u001b[2Jb\\u0000c\\nd\\u0085e\\u007ff\\ud800g\"");
    assert_string_equal(error.message, "a?[2Jb?c d?e?f\xef\xbf\xbdg");
    error = error_of("\"message\":\"\\u0000\"");
    assert_string_equal(error.message, "?");
}

static void messages_of_a_megabyte_are_cut(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char *json = malloc(SIZE + 64);
    assert_non_null(json);
    int start = snprintf(json, 64, "\"message\":\"\\\"");
    memset(json + start, 'm', SIZE);
    memcpy(json + start + SIZE, "\"", 2);
    ki_error error = error_of(json);
    free(json);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
    assert_memory_equal(error.message, "\"mmmm", 5);
}

static void long_requests_do_not_overflow_the_message(void **state)
{
    (void)state;
    char name[600];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ki_error error = KI_ERROR_INIT;
    (void)ki_status_from_http(404, name, name, name, ki_str_from(name), 0, &error);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

static void prefixes_of_strings_are_whole_characters(void **state)
{
    (void)state;
    ki_object *object = parse("{\"plain\":\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\","
                              "\"encoded\":\"a\\u00e9\\u20ac\\ud83d\\ude00z\",\"n\":1}");
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    ki_value root = ki_object_root(object);
    static const char *const names[] = {"plain", "encoded"};
    for (size_t n = 0; n < 2; n++) {
        ki_value value;
        assert_int_equal(ki_value_member(&root, ki_str_from(names[n]), &value), 0);
        for (size_t size = 0; size < sizeof(expected) / sizeof(expected[0]); size++) {
            char out[16];
            memset(out, '#', sizeof(out));
            assert_int_equal(ki__value_prefix(&value, out, size), expected[size]);
            assert_memory_equal(out, text, expected[size]);
            assert_memory_equal(out + size, "################", sizeof(out) - size);
        }
    }
    ki_value number;
    assert_int_equal(ki_value_member(&root, ki_str_from("n"), &number), 0);
    assert_int_equal(ki__value_prefix(&number, NULL, 0), 0);
    ki_object_unref(object);
}

static void assert_text(const ki_value *value, const char *expected)
{
    if (expected == NULL) {
        assert_int_equal(ki_value_type(value), KI_TYPE_NONE);
        return;
    }
    char text[128];
    assert_true(ki_value_get_string(value, text, sizeof(text)) >= 0);
    assert_string_equal(text, expected);
}

static void causes_are_read_in_place(void **state)
{
    (void)state;
    ki_object *status =
        parse("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"details\":{"
              "\"causes\":["
              "{\"reason\":\"FieldValueInvalid\",\"message\":\"Invalid value: \\\"x\\\"\","
              "\"field\":\"spec.replicas\"},"
              "{\"reason\":\"FieldValueRequired\",\"field\":7},"
              "null,"
              "{\"reason\":\"Resource\\u0056ersionTooLarge\",\"message\":null}]}}");
    static const struct {
        const char *type, *message, *field;
    } expected[] = {
        {"FieldValueInvalid", "Invalid value: \"x\"", "spec.replicas"},
        {"FieldValueRequired", NULL, NULL},
        {NULL, NULL, NULL},
        {"ResourceVersionTooLarge", NULL, NULL},
    };
    ki_status_cause cause = {0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ki_status_cause_at(status, i, &cause), 0);
        assert_text(&cause.type, expected[i].type);
        assert_text(&cause.message, expected[i].message);
        assert_text(&cause.field, expected[i].field);
        if (expected[i].type != NULL) {
            assert_true(ki_status_has_cause(status, expected[i].type));
        }
    }
    memset(&cause, 0x5a, sizeof(cause));
    cause.size = sizeof(cause);
    ki_status_cause before = cause;
    assert_int_equal(ki_status_cause_at(status, 4, &cause), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_status_cause_at(status, SIZE_MAX, &cause), KI_ERR_NOT_FOUND);
    assert_memory_equal(&cause, &before, sizeof(cause));
    assert_false(ki_status_has_cause(status, "FieldValue"));
    assert_false(ki_status_has_cause(status, ""));
    assert_false(ki_status_has_cause(status, NULL));
    ki_object_unref(status);
}

static void the_whole_message_is_read_in_place(void **state)
{
    (void)state;
    char json[4096] = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"";
    size_t len = strlen(json);
    memset(json + len, 'm', 3000);
    memcpy(json + len + 3000, "end\"}", 6);
    ki_object *status = parse(json);
    ki_value message = ki_status_message(status);
    char text[4096];
    assert_int_equal(ki_value_get_string(&message, text, sizeof(text)), 3003);
    assert_string_equal(text + 3000, "end");
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_status_to_error(status, &error), KI_ERR_STATUS);
    assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
    assert_string_equal(error.message + sizeof(error.message) - 6, "mm...");
    ki_object_unref(status);
    message = ki_status_message(NULL);
    assert_text(&message, NULL);
    status = parse("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":7}");
    message = ki_status_message(status);
    assert_text(&message, NULL);
    ki_object_unref(status);
    status = parse("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"message\":\"x\"}");
    message = ki_status_message(status);
    assert_text(&message, NULL);
    ki_object_unref(status);
}

static void no_causes_where_there_are_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\"}",
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"details\":null}",
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"details\":{}}",
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"details\":{\"causes\":[]}}",
        ("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"details\":"
         "{\"causes\":{\"a\":{\"reason\":\"R\"}}}}"),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"details\":{\"causes\":[{\"reason\":\"R\"}]}}",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_object *object = parse(cases[i]);
        ki_status_cause cause = {0};
        assert_int_equal(ki_status_cause_at(object, 0, &cause), KI_ERR_NOT_FOUND);
        assert_false(ki_status_has_cause(object, "R"));
        ki_object_unref(object);
    }
    assert_false(ki_status_has_cause(NULL, "R"));
}

static int read_a_status(const ki_alloc *alloc, void *user)
{
    (void)user;
    static const char json[] =
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"too \\\"old\\\"\","
        "\"reason\":\"Expired\",\"code\":410,\"details\":{\"causes\":[{\"reason\":\"R\"}]}}";
    ki_object *status = NULL;
    int r = ki_object_from_json(json, sizeof(json) - 1,
                                KI_OPTIONS(ki_object_options, .alloc = alloc), &status, NULL);
    if (r < 0) {
        return r;
    }
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki_status_to_error(status, &error), KI_ERR_STATUS);
    assert_string_equal(error.message, "too \"old\"");
    assert_true(ki_error_is_resource_expired(&error));
    assert_true(ki_status_has_cause(status, "R"));
    ki_object_unref(status);
    return 0;
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    test_alloc_sweep(read_a_status, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_status_kinds_of_the_api_count),
        cmocka_unit_test(success_is_no_error),
        cmocka_unit_test(everything_else_is_one_whatever_it_says),
        cmocka_unit_test(a_failure_becomes_an_error),
        cmocka_unit_test(without_a_message_the_reason_speaks),
        cmocka_unit_test(members_of_wrong_types_count_as_absent),
        cmocka_unit_test(numbers_too_large_are_held_down),
        cmocka_unit_test(predicates_agree_with_apimachinery),
        cmocka_unit_test(predicates_are_false_for_other_errors),
        cmocka_unit_test(delays_agree_with_apimachinery),
        cmocka_unit_test(http_answers_agree_with_apimachinery),
        cmocka_unit_test(http_messages_say_what_is_known),
        cmocka_unit_test(not_found_and_exists_are_codes_of_their_own),
        cmocka_unit_test(http_bodies_are_made_fit_to_print),
        cmocka_unit_test(long_messages_end_with_a_whole_character),
        cmocka_unit_test(control_characters_of_a_status_are_replaced),
        cmocka_unit_test(messages_of_a_megabyte_are_cut),
        cmocka_unit_test(long_requests_do_not_overflow_the_message),
        cmocka_unit_test(prefixes_of_strings_are_whole_characters),
        cmocka_unit_test(causes_are_read_in_place),
        cmocka_unit_test(the_whole_message_is_read_in_place),
        cmocka_unit_test(no_causes_where_there_are_none),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

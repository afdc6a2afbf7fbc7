/* SPDX-License-Identifier: Apache-2.0 */
/* The pure part of requests: what they are made of, what they may not be made of, and reading the
 * answers in pieces of any size. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/status.h>

#include "rest/request_build.h"
#include "rest/request_response.h"
#include "support/test.h"

static ki_object *object_of(const char *json)
{
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, strlen(json), NULL, &object, NULL), 0);
    return object;
}

static ki_request request_of(ki_verb verb)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = verb;
    request.resource = KI_CORE_V1_PODS;
    return request;
}

/* ---- building ---- */

static void expect_built(const ki_request *request, const char *line, const char *type)
{
    ki__built built;
    ki_error error = KI_ERROR_INIT;
    char text[512];
    if (ki__built_make(&built, NULL, request, "mine", &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki_http_header headers[KI__BUILT_HEADERS];
    ki_http_request wire = ki__built_request(&built, headers);
    snprintf(text, sizeof(text), "%s %s%s%s", wire.method, wire.path,
             wire.query[0] != '\0' ? "?" : "", wire.query);
    assert_string_equal(text, line);
    if (type != NULL) {
        assert_int_equal(wire.header_count, 2);
        assert_true(ki_str_eq_text(wire.headers[1].value, type));
    } else {
        assert_int_equal(wire.header_count, 1);
        assert_int_equal(wire.body.len, 0);
    }
    ki__built_done(&built);
}

static void where_a_request_goes(void **state)
{
    (void)state;
    ki_object *here = object_of("{\"metadata\":{\"name\":\"o\",\"namespace\":\"his\"}}");
    ki_object *nowhere = object_of("{\"metadata\":{\"name\":\"o\"}}");
    ki_request q = request_of(KI_VERB_GET);
    q.name = "p";
    expect_built(&q, "GET /api/v1/namespaces/mine/pods/p", NULL);
    q.name_space = "n";
    expect_built(&q, "GET /api/v1/namespaces/n/pods/p", NULL);
    q.name_space = NULL;
    q.resource = KI_CORE_V1_NODES;
    expect_built(&q, "GET /api/v1/nodes/p", NULL);
    q = request_of(KI_VERB_LIST);
    expect_built(&q, "GET /api/v1/pods", NULL);
    q = request_of(KI_VERB_UPDATE);
    q.object = here;
    expect_built(&q, "PUT /api/v1/namespaces/his/pods/o", "application/json");
    q.name_space = "n";
    q.name = "other";
    expect_built(&q, "PUT /api/v1/namespaces/n/pods/other", "application/json");
    q = request_of(KI_VERB_CREATE);
    q.object = nowhere;
    expect_built(&q, "POST /api/v1/namespaces/mine/pods", "application/json");
    q.resource = KI_APPS_V1_DEPLOYMENTS;
    q.object = here;
    q.subresource = "scale";
    expect_built(&q, "POST /apis/apps/v1/namespaces/his/deployments/o/scale", "application/json");
    q = request_of(KI_VERB_DELETE_COLLECTION);
    q.resource = KI_CORE_V1_NODES;
    expect_built(&q, "DELETE /api/v1/nodes", "application/json");
    q = KI_OPTIONS_INIT(ki_request);
    q.verb = KI_VERB_RAW;
    q.path = "/healthz";
    q.method = "HEAD";
    expect_built(&q, "HEAD /healthz", NULL);
    (void)ki_object_unref(here);
    (void)ki_object_unref(nowhere);
}

static void expect_refused(const ki_request *request, int code, const char *words)
{
    ki__built built;
    ki_error error = KI_ERROR_INIT;
    assert_int_equal(ki__built_make(&built, NULL, request, "mine", &error), code);
    assert_int_equal(error.code, code);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
    ki__built_done(&built);
}

static void members_that_are_missing_or_too_many(void **state)
{
    (void)state;
    ki_object *object = object_of("{\"metadata\":{\"name\":\"o\"}}");
    ki_request q = request_of(KI_VERB_MAX);
    expect_refused(&q, -EINVAL, "verb: unknown value");
    q = request_of(KI_VERB_GET);
    expect_refused(&q, -EINVAL, "name must be set");
    q.name = "p";
    q.force = true;
    expect_refused(&q, -EINVAL, "must not have force");
    q = request_of(KI_VERB_GET);
    q.resource = NULL;
    expect_refused(&q, -EINVAL, "requires resource");
    q = request_of(KI_VERB_LIST);
    q.name = "p";
    expect_refused(&q, -EINVAL, "must not have name");
    q = request_of(KI_VERB_CREATE);
    expect_refused(&q, -EINVAL, "exactly one of object and body");
    q.object = object;
    q.body = ki_str_from("{}");
    expect_refused(&q, -EINVAL, "exactly one of object and body");
    q.body = ki_str_from("");
    q.name = "o";
    expect_refused(&q, -EINVAL, "name");
    q = request_of(KI_VERB_UPDATE);
    q.body = ki_str_from("{}");
    expect_refused(&q, -EINVAL, "name must be set");
    q = request_of(KI_VERB_PATCH);
    q.name = "o";
    expect_refused(&q, -EINVAL, "requires body");
    q.body = ki_str_from("{}");
    q.patch_type = KI_PATCH_MAX;
    expect_refused(&q, -EINVAL, "unknown value");
    q = request_of(KI_VERB_APPLY);
    q.object = object;
    expect_refused(&q, -EINVAL, "requires field_manager");
    q = request_of(KI_VERB_DELETE);
    q.name = "o";
    q.at_once = true;
    q.grace_ms = 1;
    expect_refused(&q, -EINVAL, "at_once and grace_ms are mutually exclusive");
    q = request_of(KI_VERB_DELETE_COLLECTION);
    expect_refused(&q, -EINVAL, "name_space must be set");
    q = request_of(KI_VERB_RAW);
    q.path = "/x";
    expect_refused(&q, -EINVAL, "must not have resource");
    q.resource = NULL;
    q.path = "x";
    expect_refused(&q, -EINVAL, "path: must begin with");
    q.path = NULL;
    expect_refused(&q, -EINVAL, "requires path");
    (void)ki_object_unref(object);
}

static void names_that_would_change_the_path(void **state)
{
    (void)state;
    static const char *const names[] = {".", "..", "a/b", "../x", "a%2fb"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ki_request q = request_of(KI_VERB_GET);
        q.name = names[i];
        expect_refused(&q, KI_ERR_INVALID, "name: ");
        q.name = "p";
        q.name_space = names[i];
        expect_refused(&q, KI_ERR_INVALID, "namespace: ");
        q.name_space = "n";
        q.subresource = names[i];
        expect_refused(&q, KI_ERR_INVALID, "subresource: ");
    }
    ki_request q = request_of(KI_VERB_GET);
    q.resource = KI_CORE_V1_NODES;
    q.name_space = "n";
    q.name = "p";
    expect_refused(&q, KI_ERR_INVALID, "are not namespaced");
}

static void a_body_of_a_list_item_gets_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        const char *sent;
    } cases[] = {
        {" { \"metadata\":{\"name\":\"o\"} }",
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\", \"metadata\":{\"name\":\"o\"} }"},
        {"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"o\"}}",
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"o\"}}"},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"o\"}}",
         "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"o\"}}"},
    };
    for (size_t i = 0; i < 3; i++) {
        ki_object *object = NULL;
        ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
        options.default_kind = "Pod";
        options.default_api_version = "v1";
        assert_int_equal(
            ki_object_from_json(cases[i].json, strlen(cases[i].json), &options, &object, NULL), 0);
        ki_request q = request_of(KI_VERB_UPDATE);
        q.object = object;
        ki__built built;
        assert_int_equal(ki__built_make(&built, NULL, &q, "mine", NULL), 0);
        assert_string_equal(ki_buf_text(&built.body), cases[i].sent);
        ki__built_done(&built);
        (void)ki_object_unref(object);
    }
}

/* ---- reading ---- */

typedef struct reading {
    int code;
    ki_response answer;
    ki_error error;
    int unread;
} reading;

static void note_unread(const char *key, const ki_error *error, void *user)
{
    (void)key;
    assert_true(error->code < 0);
    ((reading *)user)->unread++;
}

static int read_answer(const ki_alloc *alloc, const ki_request *request, int status,
                       const char *type, ki_str body, size_t piece, reading *r)
{
    ki__built built;
    ki__reader reader;
    *r = (reading){0};
    alloc = alloc != NULL ? alloc : ki_alloc_default();
    int code = ki__built_make(&built, alloc, request, "mine", &r->error);
    if (code < 0) {
        ki__built_done(&built);
        return code;
    }
    ki__reader_init(&reader, alloc, &built, note_unread, r);
    ki_http_header header = {ki_str_from("Content-Type"), ki_str_from(type)};
    code = ki__reader_head(&reader, status, &header, 1, &r->error);
    for (size_t at = 0; code == 0 && at < body.len; at += piece) {
        size_t len = body.len - at < piece ? body.len - at : piece;
        code = ki__reader_body(&reader, ki_str_make(body.ptr + at, len), &r->error);
    }
    if (code >= 0 || r->error.code == KI_ERR_STATUS) {
        code = ki__reader_finish(&reader, &r->answer, &r->error);
    }
    ki__reader_done(&reader);
    ki__built_done(&built);
    r->code = code;
    return code;
}

#define LIST                                                                                   \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\","     \
    "\"continue\":\"c\",\"remainingItemCount\":4},\"items\":[{\"metadata\":{\"name\":\"b\"}}," \
    "{\"metadata\":{\"name\":7}},{\"metadata\":{\"name\":\"a\"}}]}"
#define FORBIDDEN                                                                        \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"," \
    "\"message\":\"no\",\"reason\":\"Forbidden\",\"code\":403}"
#define SUCCESS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\"}"

static void answers_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 300; piece += piece < 20 ? 1 : 37) {
        reading r;
        ki_request q = request_of(KI_VERB_LIST);
        assert_int_equal(
            read_answer(NULL, &q, 200, "application/json", ki_str_from(LIST), piece, &r), 0);
        assert_int_equal(ki_list_count(r.answer.list), 2);
        assert_string_equal(ki_object_name(ki_list_at(r.answer.list, 0)), "b");
        assert_string_equal(ki_object_kind(ki_list_at(r.answer.list, 1)), "Pod");
        assert_string_equal(r.answer.resource_version, "9");
        assert_string_equal(r.answer.continue_token, "c");
        assert_int_equal(r.answer.remaining, 4);
        assert_int_equal(r.answer.unread, 1);
        assert_int_equal(r.unread, 1);
        ki_list_sort(r.answer.list);
        assert_string_equal(ki_object_name(ki_list_at(r.answer.list, 0)), "a");
        ki_response_done(&r.answer);

        /* A Status in place of the list, or of the object. */
        for (size_t i = 0; i < 2; i++) {
            q = request_of(i == 0 ? KI_VERB_LIST : KI_VERB_GET);
            q.name = i == 0 ? "" : "p";
            assert_int_equal(
                read_answer(NULL, &q, 200, "application/json", ki_str_from(FORBIDDEN), piece, &r),
                KI_ERR_STATUS);
            assert_true(ki_error_is_forbidden(&r.error));
            assert_true(ki_object_is_status(r.answer.object));
            ki_response_done(&r.answer);
        }
        q = request_of(KI_VERB_DELETE_COLLECTION);
        q.name_space = "n";
        assert_int_equal(
            read_answer(NULL, &q, 200, "application/json", ki_str_from(SUCCESS), piece, &r), 0);
        assert_true(ki_object_is_status(r.answer.object));
        ki_response_done(&r.answer);
        q = request_of(KI_VERB_LIST);
        assert_true(read_answer(NULL, &q, 200, "application/json", ki_str_from(SUCCESS), piece,
                                &r) < 0); /* no list */
        ki_response_done(&r.answer);
    }
}

static void a_failure_has_its_status_and_no_more_than_is_good(void **state)
{
    (void)state;
    static char much[100000];
    reading r;
    ki_request q = request_of(KI_VERB_DELETE);
    q.name = "p";
    assert_int_equal(read_answer(NULL, &q, 403, "application/json", ki_str_from(FORBIDDEN), 50, &r),
                     KI_ERR_STATUS);
    assert_int_equal(r.answer.http_code, 403);
    assert_non_null(r.answer.object);
    ki_response_done(&r.answer);
    memset(much, 'x', sizeof(much));
    assert_int_equal(
        read_answer(NULL, &q, 500, "text/plain", ki_str_make(much, sizeof(much)), 999, &r),
        KI_ERR_STATUS);
    assert_null(r.answer.object);
    assert_true(ki_error_is_internal_error(&r.error));
    ki_response_done(&r.answer);
    /* A deletion may have nothing to say. */
    assert_int_equal(read_answer(NULL, &q, 200, "", ki_str_from(""), 1, &r), 0);
    ki_response_done(&r.answer);
    ki_response_done(&r.answer); /* twice is allowed */
}

static void an_answer_that_never_began(void **state)
{
    (void)state;
    ki__built built;
    ki__reader reader;
    ki_response answer = {0};
    ki_request q = request_of(KI_VERB_LIST);
    assert_int_equal(ki__built_make(&built, NULL, &q, "mine", NULL), 0);
    ki__reader_init(&reader, ki_alloc_default(), &built, NULL, NULL);
    assert_int_equal(ki__reader_finish(&reader, &answer, NULL), -EPIPE);
    ki_response_done(&answer);
    ki__reader_done(&reader);
    ki__built_done(&built);
}

/* ---- want of memory ---- */

typedef struct shape {
    ki_request request;
    int status;
    const char *body;
    int code;
} shape;

static int scenario(const ki_alloc *alloc, void *user)
{
    const shape *s = user;
    reading r;
    int code = read_answer(alloc, &s->request, s->status, "application/json", ki_str_from(s->body),
                           13, &r);
    ki_response_done(&r.answer);
    if (code == s->code) {
        return 0; /* a Status that cannot be kept leaves its code */
    }
    assert_int_equal(code, -ENOMEM);
    return code;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ki_object *object = object_of("{\"metadata\":{\"name\":\"o\"}}");
    shape shapes[] = {
        {request_of(KI_VERB_LIST), 200, LIST, 0},
        {request_of(KI_VERB_UPDATE), 200, "{\"metadata\":{\"name\":\"o\"}}", 0},
        {request_of(KI_VERB_DELETE), 200, SUCCESS, 0},
        {request_of(KI_VERB_GET), 403, FORBIDDEN, KI_ERR_STATUS},
        {request_of(KI_VERB_RAW), 200, "plain", 0},
    };
    shapes[0].request.list = KI_OPTIONS(ki_list_options, .label_selector = "a=b");
    shapes[1].request.object = object;
    shapes[1].request.field_manager = "m";
    shapes[2].request.name = "p";
    shapes[2].request.uid = "u";
    shapes[3].request.name = "p";
    shapes[4].request.resource = NULL;
    shapes[4].request.path = "/x";
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        test_alloc_sweep(scenario, &shapes[i]);
    }
    (void)ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_a_request_goes),
        cmocka_unit_test(members_that_are_missing_or_too_many),
        cmocka_unit_test(names_that_would_change_the_path),
        cmocka_unit_test(a_body_of_a_list_item_gets_its_kind),
        cmocka_unit_test(answers_in_pieces_of_any_size),
        cmocka_unit_test(a_failure_has_its_status_and_no_more_than_is_good),
        cmocka_unit_test(an_answer_that_never_began),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

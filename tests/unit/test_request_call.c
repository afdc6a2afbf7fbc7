/* SPDX-License-Identifier: Apache-2.0 */
/* Calls without a client: attempts, retries, deadline, and the end at any moment. */
#include <errno.h>
#include <string.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/status.h>

#include "base/error.h"
#include "rest/request_call.h"
#include "support/fake_transport.h"
#include "support/test.h"

typedef struct fixture {
    test_alloc alloc;
    test_world world;
    ki_engine *engine;
    fake_transport transport;
    ki__request_call call;
    ki_request request;
    size_t ends;
    ki_response answer;
    ki_error error;
} fixture;

static void ended(ki__request_call *call, ki_response *answer, const ki_error *error)
{
    fixture *f = KI__CONTAINER_OF(call, fixture, call);
    f->ends++;
    f->answer = *answer;
    f->error = error != NULL ? *error : KI_ERROR_INIT;
    assert_int_equal(call->state, KI__REQUEST_CLOSED);
    ki__request_call_done(call); /* nothing of it is used after this */
    memset(call, 0xee, sizeof(*call));
}

static void begin(fixture *f, ki_verb verb)
{
    memset(f, 0, sizeof(*f));
    test_alloc_init(&f->alloc);
    test_world_init(&f->world);
    ki_engine_options options = test_world_engine_options(&f->world, &f->alloc.table);
    assert_int_equal(ki_engine_new(&options, &f->engine, NULL), 0);
    fake_transport_init(&f->transport, f->engine, &f->world);
    f->transport.takes_writes = true;
    f->request = KI_OPTIONS_INIT(ki_request);
    f->request.verb = verb;
    f->request.resource = KI_CORE_V1_CONFIGMAPS;
    f->request.name = verb == KI_VERB_CREATE ? NULL : "a";
    f->request.body = verb == KI_VERB_CREATE ? ki_str_from("{}") : ki_str_make(NULL, 0);
}

static void make(fixture *f)
{
    ki_error error = KI_ERROR_INIT;
    int r = ki__request_call_init(&f->call, f->engine, &f->request, "mine", 60000, ended, &error);
    if (r < 0) {
        fail_msg("%s", error.message);
    }
}

static void start(fixture *f)
{
    make(f);
    ki__request_call_begin(&f->call, &f->transport.table);
    test_world_settle(f->engine);
}

static void end(fixture *f)
{
    assert_false(f->transport.open);
    assert_true(ki_engine_deadline(f->engine) == UINT64_MAX);
    ki_response_done(&f->answer);
    fake_transport_done(&f->transport);
    (void)ki_engine_unref(f->engine);
    test_alloc_done(&f->alloc);
}

static void respond(fixture *f, int status, const char *retry_after, const char *body)
{
    fake_head(&f->transport, status, "application/json", retry_after);
    fake_body_text(&f->transport, body);
    fake_over(&f->transport, 0);
    test_world_settle(f->engine);
}

static void break_off(fixture *f, int code)
{
    fake_over(&f->transport, code);
    test_world_settle(f->engine);
}

#define OBJECT "{'metadata':{'name':'a','resourceVersion':'7'}}"
#define BUSY "{'kind':'Status','apiVersion':'v1','status':'Failure','code':503}"

static void an_answer_ends_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    f.transport.piece = 5;
    start(&f);
    assert_string_equal(fake_transport_last(&f.transport)->path,
                        "/api/v1/namespaces/mine/configmaps/a");
    respond(&f, 200, "", OBJECT);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, 0);
    assert_int_equal(f.answer.http_code, 200);
    assert_string_equal(ki_object_name(f.answer.object), "a");
    end(&f);
}

static void a_refusal_without_a_time_ends_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    start(&f);
    respond(&f, 503, "", BUSY);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, KI_ERR_STATUS);
    assert_true(ki_object_is_status(f.answer.object));
    end(&f);
}

static void a_refusal_with_a_time_is_retried(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_CREATE);
    start(&f);
    for (size_t i = 0; i < 3; i++) {
        respond(&f, 503, "2", BUSY);
        assert_int_equal(f.call.state, KI__REQUEST_WAITING);
        test_world_advance(&f.world, f.engine, 2 * TEST_SECOND - 1);
        assert_int_equal(f.transport.count, i + 1);
        test_world_advance(&f.world, f.engine, TEST_SECOND / 2 + 1);
        assert_int_equal(f.transport.count, i + 2);
    }
    respond(&f, 201, "", OBJECT);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.answer.http_code, 201);
    end(&f);
}

static void broken_connections_are_retried_where_it_is_safe(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    start(&f);
    for (size_t i = 0; i < 10; i++) {
        break_off(&f, -ECONNRESET);
        assert_int_equal(f.ends, 0);
        test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
        assert_int_equal(f.transport.count, i + 2);
    }
    break_off(&f, -ECONNRESET);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, -ECONNRESET);
    end(&f);

    begin(&f, KI_VERB_CREATE);
    start(&f);
    break_off(&f, -ECONNRESET);
    assert_int_equal(f.error.code, -ECONNRESET);
    end(&f);

    begin(&f, KI_VERB_GET);
    start(&f);
    fake_head(&f.transport, 200, "application/json", "");
    break_off(&f, -ECONNRESET); /* in the middle */
    assert_int_equal(f.error.code, -ECONNRESET);
    assert_int_equal(f.answer.http_code, 200);
    end(&f);

    begin(&f, KI_VERB_GET);
    f.request.no_retry = true;
    start(&f);
    break_off(&f, -EPIPE);
    assert_int_equal(f.error.code, -EPIPE);
    end(&f);
}

static void it_ends_at_its_deadline(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    f.request.timeout_ms = 5000;
    start(&f);
    test_world_advance(&f.world, f.engine, 5 * TEST_SECOND - 1);
    assert_int_equal(f.ends, 0);
    test_world_advance(&f.world, f.engine, 1);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, -ETIMEDOUT);
    assert_int_equal(f.transport.cancels, 1);
    end(&f);

    begin(&f, KI_VERB_GET); /* the default; a wait that would end too late is not begun */
    start(&f);
    test_world_advance(&f.world, f.engine, 58 * TEST_SECOND);
    respond(&f, 503, "2", BUSY);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, KI_ERR_STATUS);
    end(&f);

    begin(&f, KI_VERB_GET); /* inside a wait */
    f.request.timeout_ms = 1300;
    start(&f);
    break_off(&f, -EPIPE);
    assert_int_equal(f.ends, 0);
    test_world_advance(&f.world, f.engine, 1300 * TEST_MS);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, -ETIMEDOUT);
    end(&f);

    begin(&f, KI_VERB_GET);
    f.request.timeout_ms = UINT32_MAX;
    start(&f);
    assert_true(ki_engine_deadline(f.engine) == UINT64_MAX);
    respond(&f, 200, "", OBJECT);
    end(&f);
}

static void a_transport_that_refuses_ends_it(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    f.transport.refuse = -ENETDOWN;
    start(&f);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, -ENETDOWN);
    assert_int_equal(f.answer.http_code, 0);
    end(&f);

    begin(&f, KI_VERB_GET);
    start(&f);
    break_off(&f, -EPIPE);
    f.transport.refuse = -ENETDOWN; /* the second time */
    test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
    assert_int_equal(f.error.code, -ENETDOWN);
    end(&f);
}

static void it_is_closed_at_any_moment(void **state)
{
    (void)state;
    for (int when = 0; when < 4; when++) {
        fixture f;
        begin(&f, KI_VERB_GET);
        make(&f);
        if (when > 0) {
            ki__request_call_begin(&f.call, &f.transport.table);
            test_world_settle(f.engine);
        }
        if (when == 2) {
            fake_head(&f.transport, 200, "application/json", "");
            fake_body_text(&f.transport, "{'meta");
            test_world_settle(f.engine);
        } else if (when == 3) {
            break_off(&f, -EPIPE);
        }
        static const ki__request_state states[] = {KI__REQUEST_NEW, KI__REQUEST_SENT,
                                                   KI__REQUEST_SENT, KI__REQUEST_WAITING};
        assert_int_equal(f.call.state, states[when]);
        ki__request_call_close(&f.call);
        ki__request_call_close(&f.call);
        ki__request_call_done(&f.call);
        test_world_advance(&f.world, f.engine, 100 * TEST_SECOND);
        assert_int_equal(f.ends, 0);
        end(&f);
    }
}

static void it_can_be_failed_from_outside(void **state)
{
    (void)state;
    fixture f;
    ki_error error = KI_ERROR_INIT;
    begin(&f, KI_VERB_GET);
    start(&f);
    (void)ki__error_code(&error, KI_ERR_STOPPED);
    ki__request_call_fail(&f.call, &error);
    assert_int_equal(f.ends, 1);
    assert_int_equal(f.error.code, KI_ERR_STOPPED);
    assert_int_equal(f.answer.remaining, -1);
    end(&f);
}

static void a_request_that_cannot_be_is_refused(void **state)
{
    (void)state;
    fixture f;
    begin(&f, KI_VERB_GET);
    f.request.name = "..";
    assert_int_equal(ki__request_call_init(&f.call, f.engine, &f.request, "", 1, ended, NULL),
                     KI_ERR_INVALID);
    ki__request_call_done(&f.call);
    end(&f);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    (void)user;
    fixture f;
    memset(&f, 0, sizeof(f));
    test_world_init(&f.world);
    ki_engine_options options = test_world_engine_options(&f.world, alloc);
    int r = ki_engine_new(&options, &f.engine, NULL);
    if (r < 0) {
        return r;
    }
    fake_transport_init(&f.transport, f.engine, &f.world);
    f.request = KI_OPTIONS_INIT(ki_request);
    f.request.resource = KI_CORE_V1_CONFIGMAPS;
    f.request.name = "a";
    r = ki__request_call_init(&f.call, f.engine, &f.request, "mine", 60000, ended, NULL);
    if (r < 0) {
        ki__request_call_done(&f.call);
    } else {
        ki__request_call_begin(&f.call, &f.transport.table);
        test_world_settle(f.engine);
        break_off(&f, -EPIPE);
        test_world_advance(&f.world, f.engine, 2 * TEST_SECOND);
        respond(&f, 200, "", OBJECT);
        assert_int_equal(f.ends, 1);
        r = f.error.code;
    }
    ki_response_done(&f.answer);
    fake_transport_done(&f.transport);
    (void)ki_engine_unref(f.engine);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_ends_it),
        cmocka_unit_test(a_refusal_without_a_time_ends_it),
        cmocka_unit_test(a_refusal_with_a_time_is_retried),
        cmocka_unit_test(broken_connections_are_retried_where_it_is_safe),
        cmocka_unit_test(it_ends_at_its_deadline),
        cmocka_unit_test(a_transport_that_refuses_ends_it),
        cmocka_unit_test(it_is_closed_at_any_moment),
        cmocka_unit_test(it_can_be_failed_from_outside),
        cmocka_unit_test(a_request_that_cannot_be_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

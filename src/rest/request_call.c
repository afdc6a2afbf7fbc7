/* SPDX-License-Identifier: Apache-2.0 */
/* The state machine of a call. Invariant: a call is not accessed after ended(). */
#include "rest/request_call.h"

#include <errno.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/time_units.h"

#define BIT(state) (1U << KI__REQUEST_##state)

static void set_state(ki__request_call *call, ki__request_state state)
{
    static const unsigned may_follow[] = {
        [KI__REQUEST_NEW] = BIT(SENT) | BIT(CLOSED),
        [KI__REQUEST_SENT] = BIT(WAITING) | BIT(CLOSED),
        [KI__REQUEST_WAITING] = BIT(SENT) | BIT(CLOSED),
        [KI__REQUEST_CLOSED] = 0,
    };
    ki_assert((may_follow[call->state] & (1U << state)) != 0);
    call->state = state;
}

/* ---- the end ---- */

static void end_attempt(ki__request_call *call)
{
    void *exchange = call->exchange;
    call->exchange = NULL;
    if (exchange != NULL) {
        call->transport.cancel(exchange, call->transport.user);
    }
    if (call->state == KI__REQUEST_SENT) {
        ki__reader_done(&call->reader);
    }
}

void ki__request_call_close(ki__request_call *call)
{
    if (call->state == KI__REQUEST_CLOSED) {
        return;
    }
    end_attempt(call);
    set_state(call, KI__REQUEST_CLOSED);
    ki__timer_cancel(&call->again);
    ki__timer_cancel(&call->end_of_time);
}

static void finish(ki__request_call *call, ki_response *response, const ki_error *error)
{
    ki__request_call_close(call);
    call->ended(call, response, error);
}

void ki__request_call_fail(ki__request_call *call, const ki_error *error)
{
    ki_response response = {
        .size = sizeof(response),
        .http_code = call->last_status,
        .resource_version = "",
        .continue_token = "",
        .remaining = -1,
    };
    finish(call, &response, error);
}

static void on_end_of_time(ki__timer *timer)
{
    ki__request_call *call = KI__CONTAINER_OF(timer, ki__request_call, end_of_time);
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, -ETIMEDOUT, "timeout: no response within %u ms",
                        (unsigned)call->built.timeout_ms);
    error.http_code = call->last_status;
    ki__request_call_fail(call, &error);
}

/* ---- the response ---- */

static void send_later(ki__request_call *call, uint64_t delay_ns)
{
    end_attempt(call);
    set_state(call, KI__REQUEST_WAITING);
    ki__timer_set_after(&call->again, delay_ns);
}

static void on_unread(const char *key, const ki_error *error, void *user)
{
    const ki__request_call *call = user;
    ki__engine_report(call->engine, "client", ki_resource_name(call->built.resource),
                      ki_str_from(key), error);
}

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    ki__request_call *call = user;
    ki_error error = KI_ERROR_INIT;
    call->last_status = status;
    if (ki__reader_head(&call->reader, status, headers, header_count, &error) < 0) {
        error.http_code = status;
        ki__request_call_fail(call, &error);
    }
}

/* Everything needed was received. */
static void complete(ki__request_call *call)
{
    ki_response response;
    ki_error error = KI_ERROR_INIT;
    uint64_t delay_ns;
    if (ki__retry_response(&call->retry, call->engine, &call->reader.head, &delay_ns)) {
        send_later(call, delay_ns);
        return;
    }
    int r = ki__reader_finish(&call->reader, &response, &error);
    finish(call, &response, r < 0 ? &error : NULL);
}

static void on_body(ki_str bytes, void *user)
{
    ki__request_call *call = user;
    ki_error error = KI_ERROR_INIT;
    int r = ki__reader_body(&call->reader, bytes, &error);
    if (r > 0) {
        complete(call);
    } else if (r < 0 && ki__error_is_status(&error)) {
        complete(call); /* a list; the reader has the Status */
    } else if (r < 0) {
        error.http_code = call->last_status;
        ki__request_call_fail(call, &error);
    }
}

static void on_end(const ki_error *error, void *user)
{
    ki__request_call *call = user;
    uint64_t delay_ns;
    call->exchange = NULL;
    bool refused =
        call->reader.state == KI__READER_FAILURE; /* more informative than a broken connection */
    if (error == NULL || refused) {
        complete(call);
    } else if (call->reader.head.status == 0 &&
               ki__retry_failure(&call->retry, call->engine, error->code, &delay_ns)) {
        send_later(call, delay_ns);
    } else {
        ki__request_call_fail(call, error);
    }
}

/* ---- the request ---- */

static int on_send(void *user, ki_error *error)
{
    ki__request_call *call = user;
    return call->may_send(call, error);
}

static void send_request(ki__request_call *call)
{
    const ki_transport *transport = &call->transport;
    const ki_http_sink sink = {.size = sizeof(sink),
                               .on_response = on_response,
                               .on_body = on_body,
                               .on_end = on_end,
                               .user = call};
    ki_http_header headers[KI__BUILT_HEADERS];
    ki_http_request request = ki__built_request(&call->built, headers);
    ki_error error = KI_ERROR_INIT;
    request.retry_of = ki__retry_of(&call->retry);
    request.may_send = call->may_send != NULL ? on_send : NULL;
    request.may_send_user = call;
    ki__reader_init(&call->reader, call->built.alloc, &call->built, on_unread, call);
    set_state(call, KI__REQUEST_SENT);
    int r = transport->start(&request, &sink, transport->user, &call->exchange, &error);
    if (r < 0) {
        call->exchange = NULL;
        if (error.code == 0) {
            (void)ki__error_code(&error, r);
        }
        ki__request_call_fail(call, &error);
    }
}

static void on_again(ki__timer *timer)
{
    send_request(KI__CONTAINER_OF(timer, ki__request_call, again));
}

void ki__request_call_begin(ki__request_call *call, const ki_transport *transport)
{
    call->transport = *transport;
    ki__timer_set(&call->end_of_time, call->retry.deadline);
    send_request(call);
}

/* ---- creation ---- */

static ki__retry_kind kind_of(const ki__built *built)
{
    if (built->no_retry) {
        return KI__RETRY_NEVER;
    }
    return built->safe ? KI__RETRY_READ : KI__RETRY_WRITE;
}

int ki__request_call_init(ki__request_call *call, ki_engine *engine, const ki_request *request,
                          const char *name_space, uint32_t timeout_ms,
                          void (*ended)(ki__request_call *call, ki_response *response,
                                        const ki_error *error),
                          ki_error *error)
{
    *call = (ki__request_call){.engine = engine, .ended = ended};
    ki__built *built = &call->built;
    int r = ki__built_make(built, ki__engine_alloc(engine), request, name_space, error);
    if (r < 0) {
        return r;
    }
    if (built->timeout_ms == 0) {
        built->timeout_ms = timeout_ms;
    }
    bool limited = built->timeout_ms != UINT32_MAX;
    call->retry = (ki__retry){
        .kind = kind_of(built),
        .deadline = limited ? ki__engine_now(engine) + built->timeout_ms * KI__MS_NS : UINT64_MAX,
    };
    r = ki__timer_init(&call->again, engine, on_again);
    if (r == 0) {
        r = ki__timer_init(&call->end_of_time, engine, on_end_of_time);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

void ki__request_call_done(ki__request_call *call)
{
    ki_assert(call->state == KI__REQUEST_NEW || call->state == KI__REQUEST_CLOSED);
    ki__timer_done(&call->again);
    ki__timer_done(&call->end_of_time);
    ki__built_done(&call->built);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls. What is asked for from any thread is carried into the loop by the task; everything else
 * happens there.
 *
 * Repetitions are client-go's: ten at most, on 429 and 5xx if the server says when, whatever the
 * verb, since a request that was refused so was not carried out; and a second later on connections
 * that broke before there was an answer, if making it twice changes nothing. Each waits for the
 * throttle as the first did. What a wait would bring only after the end of time is not waited for.
 */
#include "client/request.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/time_units.h"
#include "loop/loop.h"

enum { TRIES_MAX = 10 };

/* ---- references ---- */

ki_client_call *ki_client_call_ref(ki_client_call *call)
{
    if (call != NULL) {
        ki__refs_take(&call->refs);
    }
    return call;
}

ki_client_call *ki_client_call_unref(ki_client_call *call)
{
    if (call == NULL || !ki__refs_drop(&call->refs)) {
        return NULL;
    }
    ki_client *client = call->client;
    ki_client_answer_done(&call->answer);
    ki__timer_done(&call->again);
    ki__timer_done(&call->end_of_time);
    ki__built_done(&call->built);
    ki__free(client->alloc, call);
    (void)ki_client_unref(client);
    return NULL;
}

/* ---- the end ---- */

static ki_transport transport_of(const ki_client_call *call)
{
    return call->at_once ? ki__curl_table(call->client->curl) : call->client->transport;
}

static void end_exchange(ki_client_call *call)
{
    void *exchange = call->exchange;
    const ki_transport transport = transport_of(call);
    call->exchange = NULL;
    if (exchange != NULL) {
        transport.cancel(exchange, transport.user);
    }
    if (call->reading) {
        ki__reader_done(&call->reader);
        call->reading = false;
    }
}

/* From here on nothing comes any more. The reference that it had on itself is the caller's now. */
static void close_call(ki_client_call *call)
{
    ki_client *client = call->client;
    end_exchange(call);
    atomic_store(&call->over, true);
    ki__timer_cancel(&call->again);
    ki__timer_cancel(&call->end_of_time);
    ki__mutex_lock(&client->calls.lock);
    ki__list_remove(&call->link); /* so the task is not posted any more */
    ki__mutex_unlock(&client->calls.lock);
    if (ki__engine_unpost(client->engine, &call->task)) {
        (void)ki_client_call_unref(call); /* of the posting */
    }
}

/* Takes the answer. The call may be gone after it. */
static void finish(ki_client_call *call, ki_client_answer *answer, const ki_error *error)
{
    close_call(call);
    if (call->done != NULL) {
        if (!atomic_load(&call->cancelled)) {
            call->done(call, answer, error, call->user);
        }
        ki_client_answer_done(answer);
        (void)ki_client_call_unref(call);
        return;
    }
    ki_loop *loop = call->client->loop; /* which is running, and so will be here */
    call->answer = *answer;
    call->result = error != NULL ? error->code : 0;
    call->error = error != NULL ? *error : KI_ERROR_INIT;
    (void)ki_client_call_unref(call); /* never the last: somebody waits for this */
    atomic_store(&call->ended, true);
    ki__loop_changed(loop);
}

static void fail(ki_client_call *call, const ki_error *error)
{
    ki_client_answer answer = {.http_code = call->last_status, .remaining = -1};
    answer.resource_version = "";
    answer.continue_token = "";
    finish(call, &answer, error);
}

void ki__call_drop(void *arg)
{
    ki_client_call *call = arg;
    if (atomic_load(&call->over)) {
        return;
    }
    close_call(call);
    (void)ki_client_call_unref(call);
}

bool ki__calls_close(ki_client *client)
{
    ki__mutex_lock(&client->calls.lock);
    client->calls.stopped = true;
    bool any = !ki__list_is_empty(&client->calls.list);
    ki__mutex_unlock(&client->calls.lock);
    return any;
}

/* Each in the list holds the client, and only this thread ends them. */
void ki__calls_stop(ki_client *client)
{
    ki__calls *calls = &client->calls;
    bool last = false;
    while (!last) {
        ki__mutex_lock(&calls->lock);
        ki__list *link = calls->list.next;
        last = link->next == &calls->list;
        ki__mutex_unlock(&calls->lock);
        ki_client_call *call = KI__CONTAINER_OF(link, ki_client_call, link);
        ki_error error = KI_ERROR_INIT;
        (void)ki__error_set(&error, KI_ERR_STOPPED, KI__STOPPED_BEFORE_ANSWER);
        error.http_code = call->last_status;
        fail(call, &error);
    }
}

/* ---- once more ---- */

static int send_request(ki_client_call *call, ki_error *error);

static bool try_again(ki_client_call *call, uint32_t after_s)
{
    ki_engine *engine = call->client->engine;
    /* A server in trouble needs a breath. */
    uint64_t delay = ki__backoff_asked(engine, after_s != 0 ? after_s : 1);
    uint64_t now = ki__engine_now(engine);
    if (call->built.no_retry || call->tries >= TRIES_MAX || call->deadline <= now ||
        call->deadline - now <= delay) {
        return false;
    }
    call->tries++;
    end_exchange(call);
    ki__timer_set_after(&call->again, delay);
    return true;
}

static void on_again(ki__timer *timer)
{
    ki_client_call *call = KI__CONTAINER_OF(timer, ki_client_call, again);
    ki_error error = KI_ERROR_INIT;
    if (send_request(call, &error) < 0) {
        fail(call, &error);
    }
}

static void on_end_of_time(ki__timer *timer)
{
    ki_client_call *call = KI__CONTAINER_OF(timer, ki_client_call, end_of_time);
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, -ETIMEDOUT, "no answer came within %u ms",
                        (unsigned)call->built.timeout_ms);
    error.http_code = call->last_status;
    fail(call, &error);
}

/* ---- the answer ---- */

static void on_unread(const char *key, const ki_error *error, void *user)
{
    const ki_client_call *call = user;
    ki__engine_report(call->client->engine, "client", ki_resource_name(call->built.resource),
                      ki_str_from(key), error);
}

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    ki_client_call *call = user;
    ki_error error = KI_ERROR_INIT;
    call->last_status = status;
    if (ki__reader_head(&call->reader, status, headers, header_count, &error) < 0) {
        error.http_code = status;
        fail(call, &error);
    }
}

/* All has come that is needed. */
static void complete(ki_client_call *call)
{
    const ki__http_head *head = &call->reader.head;
    ki_client_answer answer;
    ki_error error = KI_ERROR_INIT;
    if (ki__http_asks_again(head) && try_again(call, head->retry_after_s)) {
        return;
    }
    int r = ki__reader_finish(&call->reader, &answer, &error);
    finish(call, &answer, r < 0 ? &error : NULL);
}

static void on_body(ki_str bytes, void *user)
{
    ki_client_call *call = user;
    ki_error error = KI_ERROR_INIT;
    int r = ki__reader_body(&call->reader, bytes, &error);
    if (r > 0) {
        complete(call);
    } else if (r < 0 && error.code == KI_ERR_STATUS) {
        complete(call); /* of a list; the reader has the Status */
    } else if (r < 0) {
        error.http_code = call->last_status;
        fail(call, &error);
    }
}

/* A connection that broke before there was an answer: Go calls it a probable EOF. */
static bool is_worth_another(const ki_client_call *call, int code)
{
    return call->built.safe && call->reader.head.status == 0 &&
           (code == -EPIPE || code == -ECONNRESET || code == -ECONNABORTED);
}

static void on_end(const ki_error *error, void *user)
{
    ki_client_call *call = user;
    call->exchange = NULL;
    bool refused = call->reader.state == KI__READER_FAILURE; /* which says more than a cut */
    if (error == NULL || refused) {
        complete(call);
    } else if (!is_worth_another(call, error->code) || !try_again(call, 1)) {
        fail(call, error);
    }
}

/* ---- the request ---- */

static int send_request(ki_client_call *call, ki_error *error)
{
    const ki_transport transport = transport_of(call);
    const ki_response_sink sink = {
        .on_response = on_response, .on_body = on_body, .on_end = on_end, .user = call};
    ki_http_header headers[KI__BUILT_HEADERS];
    ki_request request = ki__built_request(&call->built, headers);
    ki__reader_init(&call->reader, call->client->alloc, &call->built, on_unread, call);
    call->reading = true;
    int r = transport.start(&request, &sink, transport.user, &call->exchange, error);
    if (r < 0) {
        call->exchange = NULL;
        if (error->code == 0) {
            (void)ki__error_code(error, r);
        }
    }
    return r;
}

static void begin(ki_client_call *call)
{
    ki_error error = KI_ERROR_INIT;
    call->begun = true;
    ki__timer_set(&call->end_of_time, call->deadline);
    if (send_request(call, &error) < 0) {
        fail(call, &error);
    }
}

static void work(ki__task *task)
{
    ki_client_call *call = KI__CONTAINER_OF(task, ki_client_call, task);
    if (atomic_load(&call->cancelled)) {
        ki__call_drop(call);
    } else if (!call->begun) {
        begin(call);
    }
    (void)ki_client_call_unref(call); /* of the posting */
}

/* With the lock of the calls held, while it is in their list. */
static void post(ki_client_call *call)
{
    (void)ki_client_call_ref(call);
    if (!ki__engine_post(call->client->engine, &call->task)) {
        (void)ki_client_call_unref(call);
    }
}

/* Puts it into the list and has it begin. False if the loop was stopped. */
static bool admit(ki_client_call *call, ki_client_call **ret_call)
{
    ki__calls *calls = &call->client->calls;
    ki__mutex_lock(&calls->lock);
    bool admitted = !calls->stopped;
    if (admitted) {
        ki__list_push_back(&calls->list, &call->link);
        if (ret_call != NULL) {
            *ret_call = ki_client_call_ref(call); /* the other one is its own */
        }
        post(call);
    }
    ki__mutex_unlock(&calls->lock);
    return admitted;
}

static uint64_t deadline_of(const ki_client_call *call)
{
    uint64_t now = ki__engine_now(call->client->engine);
    uint32_t ms = call->built.timeout_ms;
    return ms == UINT32_MAX ? UINT64_MAX : now + ms * KI__MS_NS;
}

static int prepare(ki_client_call *call, const ki_client_request *request, ki_error *error)
{
    ki_client *client = call->client;
    int r = ki__built_make(&call->built, client->alloc, request,
                           ki_config_namespace(client->config), error);
    if (r < 0) {
        return r;
    }
    if (call->built.timeout_ms == 0) {
        call->built.timeout_ms = client->timeout_ms;
    }
    call->deadline = deadline_of(call);
    r = ki__timer_init(&call->again, client->engine, on_again);
    if (r == 0) {
        r = ki__timer_init(&call->end_of_time, client->engine, on_end_of_time);
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int refuse_stopped(ki_error *error)
{
    return ki__error_set(error, KI_ERR_STOPPED, "the loop of the client was stopped");
}

int ki__call_start(ki_client *client, const ki_client_request *request, bool at_once,
                   ki_client_done done, void *user, ki_client_call **ret_call, ki_error *error)
{
    if (ki__loop_is_stopped(client->loop)) {
        return refuse_stopped(error);
    }
    ki_client_call *call = ki__alloc_zero(client->alloc, sizeof(*call));
    if (call == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&call->refs);
    call->client = ki_client_ref(client);
    call->at_once = at_once;
    call->done = done;
    call->user = user;
    ki__task_init(&call->task, work);
    ki__list_init(&call->link);
    int r = prepare(call, request, error);
    if (r == 0 && !admit(call, ret_call)) {
        r = refuse_stopped(error);
    }
    if (r < 0) {
        (void)ki_client_call_unref(call);
    }
    return r;
}

int ki_client_start(ki_client *client, const ki_client_request *request, ki_client_done done,
                    void *user, ki_client_call **ret_call, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(request, error);
    KI__REQUIRE(done, error);
    return ki__call_start(client, request, false, done, user, ret_call, error);
}

void ki_client_call_cancel(ki_client_call *call)
{
    if (call == NULL || ki__engine_is_inherited(call->client->engine)) {
        return;
    }
    ki_client *client = call->client;
    atomic_store(&call->cancelled, true);
    if (atomic_load(&call->over)) {
        return;
    }
    bool inside = ki__engine_is_inside(client->engine); /* perhaps in a callback of this */
    if (!inside && ki__loop_try_call(client->loop, ki__call_drop, call)) {
        return;
    }
    ki__mutex_lock(&client->calls.lock);
    if (!ki__list_is_empty(&call->link)) {
        post(call); /* if the loop is stopped first, that ends the call */
    }
    ki__mutex_unlock(&client->calls.lock);
}

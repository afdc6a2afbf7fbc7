/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a client: references, cancelling from any thread, and delivery of the result to a
 * callback or a waiting thread. The task carries start and cancel into the loop; everything else
 * happens there. Attempts, retries and the deadline are in rest/request_call.c. */
#include "client/request.h"

#include <errno.h>

#include <kinformer/call.h>
#include <kinformer/config.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time_units.h"
#include "controller/scope.h"
#include "loop/loop.h"

/* ---- references ---- */

ki_call *ki_call_ref(ki_call *call)
{
    if (call != NULL) {
        ki__refs_take(&call->refs);
    }
    return call;
}

ki_call *ki_call_unref(ki_call *call)
{
    if (call == NULL || !ki__refs_drop(&call->refs)) {
        return NULL;
    }
    ki_client *client = call->client;
    ki_response_done(&call->response);
    ki__request_call_done(&call->request);
    if (call->fence != NULL) {
        ki__leader_release(call->fence);
    }
    ki__free(client->alloc, call);
    ki__client_release(client);
    return NULL;
}

/* ---- completion ---- */

/* No callbacks from here on. The call's reference to itself passes to the caller. */
static void close_call(ki_call *call)
{
    ki_client *client = call->client;
    ki__request_call_close(&call->request);
    atomic_store(&call->over, true);
    ki__mutex_lock(&client->calls.lock);
    ki__list_remove(&call->link); /* so the task cannot be posted any more */
    ki__mutex_unlock(&client->calls.lock);
    if (ki__engine_unpost(client->engine, &call->task)) {
        (void)ki_call_unref(call); /* of the posted task */
    }
}

/* Delivers the result. The call may be gone afterwards. */
static void on_ended(ki__request_call *request, ki_response *response, const ki_error *error)
{
    ki_call *call = KI__CONTAINER_OF(request, ki_call, request);
    close_call(call);
    if (call->done != NULL) {
        if (!atomic_load(&call->cancelled)) {
            call->done(call, response, error, call->user);
        }
        ki_response_done(response);
        (void)ki_call_unref(call);
        return;
    }
    ki_loop *loop = call->client->loop; /* it is running, so it stays valid */
    call->response = *response;
    call->result = error != NULL ? error->code : 0;
    ki__error_clear(&call->error);
    if (error != NULL) {
        ki__error_copy(&call->error, error);
    }
    (void)ki_call_unref(call); /* never the last: a waiter has one */
    atomic_store(&call->ended, true);
    ki__loop_changed(loop);
}

void ki__call_drop(void *arg)
{
    ki_call *call = arg;
    if (atomic_load(&call->over)) {
        return;
    }
    close_call(call);
    (void)ki_call_unref(call);
}

bool ki__calls_close(ki_client *client)
{
    ki__mutex_lock(&client->calls.lock);
    client->calls.stopped = true;
    bool any = !ki__list_is_empty(&client->calls.list);
    ki__mutex_unlock(&client->calls.lock);
    return any;
}

/* Each call in the list holds the client, and only this thread ends them. */
void ki__calls_stop(ki_client *client)
{
    ki__calls *calls = &client->calls;
    bool last = false;
    while (!last) {
        ki__mutex_lock(&calls->lock);
        ki__list *link = calls->list.next;
        last = link->next == &calls->list;
        ki__mutex_unlock(&calls->lock);
        ki_call *call = KI__CONTAINER_OF(link, ki_call, link);
        ki_error error = KI_ERROR_INIT;
        (void)ki__error_set(&error, KI_ERR_STOPPED, KI__STOPPED_BEFORE_RESPONSE);
        error.http_code = call->request.last_status;
        ki__request_call_fail(&call->request, &error);
    }
}

/* ---- inside the loop ---- */

static void begin(ki_call *call)
{
    const ki_client *client = call->client;
    const ki_transport transport = call->at_once ? ki__curl_table(client->curl) : client->transport;
    ki__request_call_begin(&call->request, &transport);
}

static void work(ki__task *task)
{
    ki_call *call = KI__CONTAINER_OF(task, ki_call, task);
    if (atomic_load(&call->cancelled)) {
        ki__call_drop(call);
    } else if (call->request.state == KI__REQUEST_NEW) {
        begin(call);
    }
    (void)ki_call_unref(call); /* of the posted task */
}

/* Requires the lock; the call must be in the list. */
static void post(ki_call *call)
{
    (void)ki_call_ref(call);
    if (!ki__engine_post(call->client->engine, &call->task)) {
        (void)ki_call_unref(call);
    }
}

/* Adds it to the list and starts it. False if the loop was stopped. */
static bool admit(ki_call *call, ki_call **ret_call)
{
    ki__calls *calls = &call->client->calls;
    ki__mutex_lock(&calls->lock);
    bool admitted = !calls->stopped;
    if (admitted) {
        ki__list_push_back(&calls->list, &call->link);
        if (ret_call != NULL) {
            *ret_call = ki_call_ref(call); /* the other reference is its own */
        }
        post(call);
    }
    ki__mutex_unlock(&calls->lock);
    return admitted;
}

static int refuse_stopped(ki_error *error)
{
    return ki__error_set(error, KI_ERR_STOPPED, "the client's loop is stopped");
}

/* ---- calls of reconcile ---- */

static int check_fence(ki__request_call *request, ki_error *error)
{
    const ki_call *call = KI__CONTAINER_OF(request, ki_call, request);
    if (ki_leader_holds(call->fence, call->term)) {
        return 0;
    }
    return ki__error_set(error, KI_ERR_NOT_LEADER,
                         "not sent: this replica no longer leads in term %lld",
                         (long long)call->term);
}

/* Applies the limits of the reconcile function that makes the request, if one does. A thread that
 * waits for a response may run the loop: what is sent there is not of `reconcile`. */
static int inherit(ki_call *call, ki_error *error)
{
    ki__request_call *request = &call->request;
    if (ki__engine_is_inside(call->client->engine)) {
        return 0;
    }
    bool writes = !request->built.safe;
    uint64_t left_ns;
    int r = ki__scope_admit(writes, &left_ns, error);
    if (r < 0) {
        return r;
    }
    uint64_t now = ki__engine_now(call->client->engine);
    if (left_ns != UINT64_MAX && now + left_ns < request->retry.deadline) {
        request->retry.deadline = now + left_ns;
        request->built.timeout_ms = (uint32_t)(left_ns / KI__MS_NS); /* for the message */
    }
    call->fence = writes ? ki__scope_fence(&call->term) : NULL;
    if (call->fence != NULL) {
        ki__leader_hold(call->fence);
        request->may_send = check_fence;
    }
    return 0;
}

int ki__call_start(ki_client *client, const ki_request *request, bool at_once, ki_call_done done,
                   void *user, ki_call **ret_call, ki_error *error)
{
    if (ki__loop_is_stopped(client->loop)) {
        return refuse_stopped(error);
    }
    ki_call *call = ki__alloc_zero(client->alloc, sizeof(*call));
    if (call == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    ki__refs_init(&call->refs);
    ki__client_hold(client);
    call->client = client;
    call->at_once = at_once;
    call->done = done;
    call->user = user;
    ki__task_init(&call->task, work);
    ki__list_init(&call->link);
    int r = ki__request_call_init(&call->request, client->engine, request,
                                  ki_config_namespace(client->config), client->timeout_ms, on_ended,
                                  error);
    if (r == 0) {
        r = inherit(call, error);
    }
    if (r == 0 && !admit(call, ret_call)) {
        r = refuse_stopped(error);
    }
    if (r < 0) {
        (void)ki_call_unref(call);
    }
    return r;
}

int ki_client_call(ki_client *client, const ki_request *request, ki_call_done done, void *user,
                   ki_call **ret_call, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(request, error);
    KI__REQUIRE(done, error);
    return ki__call_start(client, request, false, done, user, ret_call, error);
}

void ki_call_cancel(ki_call *call)
{
    if (call == NULL || ki__engine_is_inherited(call->client->engine)) {
        return;
    }
    ki_client *client = call->client;
    atomic_store(&call->cancelled, true);
    if (atomic_load(&call->over)) {
        return;
    }
    bool inside = ki__engine_is_inside(client->engine); /* possibly in a callback of this call */
    if (!inside && ki__loop_try_call(client->loop, ki__call_drop, call)) {
        return;
    }
    ki__mutex_lock(&client->calls.lock);
    if (!ki__list_is_empty(&call->link)) {
        post(call); /* if the loop is stopped first, that ends the call */
    }
    ki__mutex_unlock(&client->calls.lock);
}

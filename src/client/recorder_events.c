/* SPDX-License-Identifier: Apache-2.0 */
/* The event recorder on a client: events on the API server. Requests are subject to the rate limit
 * of the client, as others are. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/builtin_resources.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "client/request.h"
#include "controller/recorder.h"

enum { HOST_MAX = 64, REQUEST_MS = 30000 };

/* Inside the loop only. */
typedef struct event_client {
    ki_client *client;     /* held */
    ki_recorder *recorder; /* owns this */
    ki__stop_hook stop_hook;
    ki_call *call; /* in progress, or NULL */
} event_client;

static void on_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    event_client *c = user;
    (void)call;
    (void)answer;
    c->call = ki_call_unref(c->call);
    ki__recorder_on_answer(c->recorder, error);
}

static int send(const ki__event_message *message, const ki_object *object, ki_str patch, void *user,
                ki_error *error)
{
    event_client *c = user;
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = object != NULL ? KI_VERB_CREATE : KI_VERB_PATCH;
    request.resource = message->legacy ? KI_CORE_V1_EVENTS : KI_EVENTS_V1_EVENTS;
    request.name_space = message->name_space;
    request.json = true;
    request.no_retry = true; /* the recorder repeats requests itself */
    request.timeout_ms = REQUEST_MS;
    if (object != NULL) {
        request.object = object;
    } else {
        request.name = message->name;
        request.body = patch;
        request.patch_type = KI_PATCH_MERGE;
    }
    return ki__call_start(c->client, &request, false, on_done, c, &c->call, error);
}

static void cancel(void *user)
{
    event_client *c = user;
    ki_call_cancel(c->call);
    c->call = ki_call_unref(c->call);
}

/* ---- life ---- */

static void on_ended(void *user)
{
    event_client *c = user;
    ki__loop_remove_stop_hook(c->client->loop, &c->stop_hook);
    ki__loop_changed(c->client->loop);
}

static void on_loop_stop(ki__stop_hook *hook)
{
    event_client *c = KI__CONTAINER_OF(hook, event_client, stop_hook);
    ki__recorder_abort(c->recorder);
}

static void destroy(void *user)
{
    event_client *c = user;
    ki_client *client = c->client;
    ki__free(client->alloc, c);
    ki__client_release(client);
}

/* "controller-host", as client-go names an instance. */
static void make_instance(const char *controller, char instance[])
{
    char host[HOST_MAX];
    if (gethostname(host, sizeof(host)) < 0 || host[0] == '\0') {
        memcpy(host, "host", sizeof("host"));
    }
    host[HOST_MAX - 1] = '\0';
    size_t len = strnlen(controller, KI__EVENT_TEXT_MAX - HOST_MAX);
    memcpy(instance, controller, len);
    instance[len++] = '-';
    memcpy(instance + len, host, strlen(host) + 1);
}

int ki_recorder_new(ki_client *client, const ki_recorder_options *options,
                    ki_recorder **ret_recorder, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_recorder, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    ki_recorder_options o;
    char instance[KI__EVENT_TEXT_MAX + 1];
    int r = KI__TAKE(ki_recorder_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.instance == NULL || o.instance[0] == '\0') {
        make_instance(o.controller != NULL ? o.controller : "", instance);
        o.instance = instance;
    }
    if (ki__loop_is_stopped(client->loop)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the client's loop is stopped");
    }
    event_client *c = ki__alloc_zero(client->alloc, sizeof(*c));
    if (c == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    c->client = client;
    ki__list_init(&c->stop_hook.link);
    c->stop_hook.run = on_loop_stop;
    const ki__event_api api = {
        .send = send, .cancel = cancel, .ended = on_ended, .destroy = destroy, .user = c};
    r = ki__recorder_new(client->engine, &o, &api, &c->recorder, error);
    if (r < 0) {
        ki__free(client->alloc, c);
        return r;
    }
    ki__members_set_owner(&c->recorder->member, client);
    ki__client_hold(client);
    ki__loop_add_stop_hook(client->loop, &c->stop_hook);
    *ret_recorder = c->recorder;
    return 0;
}

static bool is_ended(const void *arg)
{
    return atomic_load(&((const ki_recorder *)arg)->ended);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

ki_recorder *ki_recorder_close(ki_recorder *recorder)
{
    if (recorder != NULL && !ki__is_inherited(recorder->process)) {
        const event_client *c = recorder->api.user;
        ki_recorder_stop(recorder);
        int r = ki__loop_wait(c->client->loop, is_ended, recorder);
        if (r == 0) {
            ki__loop_call(c->client->loop, do_nothing, NULL); /* its last step is over, too */
        } /* otherwise inside the loop, or it is stopped: it ends without this thread */
    }
    return ki_recorder_unref(recorder);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking requests, their convenience forms, and retries of conflicting writes. */
#include <errno.h>
#include <time.h>

#include <kinformer/call.h>
#include <kinformer/status.h>

#include "base/error.h"
#include "base/options.h"
#include "client/request.h"
#include "controller/scope.h"
#include "loop/loop.h"

enum { ATTEMPTS = 5, BETWEEN_NS = 10000000 };

/* ---- waiting ---- */

static int refuse_inside(ki_error *error)
{
    return ki__error_set(error, KI_ERR_BUSY,
                         "would block the client's thread: use ki_client_call()");
}

static bool is_ended(const void *arg)
{
    return atomic_load(&((ki_call *)(uintptr_t)arg)->ended);
}

/* Records a write of a reconcile function. */
static void record(const ki_call *call, const ki_request *request)
{
    const ki__built *built = &call->request.built;
    if (call->result >= 0 && !built->safe && built->whole && !request->dry_run &&
        request->verb < KI_VERB_DELETE && call->response.object != NULL) {
        ki__scope_wrote(built->resource, call->response.object);
    }
}

int ki_client_do(ki_client *client, const ki_request *request, ki_response *ret_response,
                 ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(request, error);
    ki_call *call = NULL;
    if (ret_response != NULL) {
        KI__REQUIRE_SIZED(ki_response, ret_response, error);
        const ki_response none = {
            .size = sizeof(none), .resource_version = "", .continue_token = "", .remaining = -1};
        (void)KI__GIVE(ki_response, ret_response, &none);
    }
    if (ki__engine_is_inside(client->engine)) {
        return refuse_inside(error);
    }
    int r = ki__call_start(client, request, false, NULL, NULL, &call, error);
    if (r < 0) {
        return r;
    }
    r = ki__loop_wait(client->loop, is_ended, call);
    if (r < 0) {
        ki__loop_call(client->loop, ki__call_drop, call);
        r = r == KI_ERR_BUSY ? refuse_inside(error)
                             : ki__error_set(error, r, KI__STOPPED_BEFORE_RESPONSE);
    } else {
        r = call->result;
        if (r < 0 && error != NULL) {
            ki__error_copy(error, &call->error);
        }
        record(call, request);
        if (ret_response != NULL) {
            (void)KI__GIVE(ki_response, ret_response, &call->response);
            call->response = (ki_response){0};
        }
    }
    (void)ki_call_unref(call);
    return r;
}

/* ---- convenience functions ---- */

/* Returns the object of the response, or the Status of a failure. */
static int do_for_object(ki_client *client, const ki_request *request, ki_object **ret_object,
                         ki_object **reterr_status, ki_error *error)
{
    ki_response response = KI_OPTIONS_INIT(ki_response);
    int r = ki_client_do(client, request, &response, error);
    ki_object **out = r < 0 ? reterr_status : ret_object;
    if (out != NULL) {
        *out = response.object;
        response.object = NULL;
    }
    ki_response_done(&response);
    return r;
}

int ki_client_get(ki_client *client, const ki_resource *resource, const char *name_space,
                  const char *name, ki_object **ret_object, ki_object **reterr_status,
                  ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_object, error);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_GET;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

static int write_object(ki_client *client, ki_verb verb, const ki_resource *resource,
                        const ki_object *object, const char *subresource, ki_object **ret_object,
                        ki_object **reterr_status, ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = verb;
    request.resource = resource;
    request.object = object;
    request.subresource = subresource;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_create(ki_client *client, const ki_resource *resource, const ki_object *object,
                     ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_CREATE, resource, object, "", ret_object, reterr_status,
                        error);
}

int ki_client_update(ki_client *client, const ki_resource *resource, const ki_object *object,
                     ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_UPDATE, resource, object, "", ret_object, reterr_status,
                        error);
}

int ki_client_update_status(ki_client *client, const ki_resource *resource, const ki_object *object,
                            ki_object **ret_object, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    return write_object(client, KI_VERB_UPDATE, resource, object, "status", ret_object,
                        reterr_status, error);
}

int ki_client_patch(ki_client *client, const ki_resource *resource, const char *name_space,
                    const char *name, ki_patch_type type, ki_str patch, ki_object **ret_object,
                    ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_PATCH;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    request.patch_type = type;
    request.body = patch;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_apply(ki_client *client, const ki_resource *resource, const ki_object *object,
                    const char *field_manager, bool force, ki_object **ret_object,
                    ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    KI__REQUIRE(field_manager, error);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_APPLY;
    request.resource = resource;
    request.object = object;
    request.field_manager = field_manager;
    request.force = force;
    return do_for_object(client, &request, ret_object, reterr_status, error);
}

int ki_client_delete(ki_client *client, const ki_resource *resource, const char *name_space,
                     const char *name, ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(name, error);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_DELETE;
    request.resource = resource;
    request.name_space = name_space;
    request.name = name;
    return do_for_object(client, &request, NULL, reterr_status, error);
}

int ki_client_delete_object(ki_client *client, const ki_resource *resource, const ki_object *object,
                            ki_object **reterr_status, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(object, error);
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_DELETE;
    request.resource = resource;
    request.name_space = ki_object_namespace(object);
    request.name = ki_object_name(object);
    request.uid = ki_object_uid(object);
    return do_for_object(client, &request, NULL, reterr_status, error);
}

/* ---- conflicts ---- */

/* Ten milliseconds plus up to ten percent jitter. */
static void rest(ki_client *client)
{
    uint64_t ns = BETWEEN_NS + ki__engine_random(client->engine, BETWEEN_NS / 10);
    struct timespec left = {.tv_nsec = (long)ns};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

int ki__client_retry(ki_client *client, int (*attempt)(void *user, ki_error *error),
                     bool (*again)(const ki_error *failure, void *user), void *user,
                     ki_error *error)
{
    if (ki__engine_is_inside(client->engine)) {
        return refuse_inside(error);
    }
    ki_error failure = KI_ERROR_INIT;
    int r = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        if (i != 0) {
            rest(client);
        }
        failure = KI_ERROR_INIT;
        r = attempt(user, &failure);
        if (r >= 0 || !again(&failure, user)) {
            break;
        }
    }
    if (r < 0 && error != NULL) {
        ki__error_copy(error, &failure);
    }
    return r;
}

static bool is_conflict(const ki_error *failure, void *user)
{
    (void)user;
    return ki_error_is_conflict(failure);
}

int ki_client_retry_on_conflict(ki_client *client, int (*attempt)(void *user, ki_error *error),
                                void *user, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(attempt, error);
    return ki__client_retry(client, attempt, is_conflict, user, error);
}

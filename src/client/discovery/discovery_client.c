/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery of a client: requests, waiting for the cache, and resolution of names. */
#include <errno.h>
#include <stdatomic.h>

#include <kinformer/call.h>

#include "base/error.h"
#include "base/time_units.h"
#include "client/client.h"
#include "client/request.h"
#include "loop/loop.h"

enum { REQUEST_TIMEOUT_MS = 32000 }; /* client-go's; also the limit for one group version */
#define MAX_AGE_NS (600 * KI__SECOND_NS)
#define MISS_AGE_NS (2 * KI__SECOND_NS) /* a newer result is not refreshed for an unknown name */

/* ---- the requester ---- */

static int get(const char *path, const char *accept, bool at_once, ki_call_done done,
               void *done_user, void *user, ki_call **ret_call, ki_error *error)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_RAW;
    request.path = path;
    request.accept = accept;
    request.timeout_ms = REQUEST_TIMEOUT_MS;
    return ki__call_start(user, &request, at_once, done, done_user, ret_call, error);
}

/* Synchronous: no part of the call may be in progress when waiters continue. */
static void end(ki_call *call, bool is_done, void *user)
{
    (void)user;
    if (!is_done) {
        ki__call_drop(call);
    }
    (void)ki_call_unref(call);
}

static void take_client(void *user)
{
    ki__client_hold(user);
}

static void drop_client(void *user)
{
    ki__client_release(user);
}

int ki__client_init_discovery(ki_client *client)
{
    const ki__discovery_requester requester = {
        .get = get, .end = end, .ref = take_client, .unref = drop_client, .user = client};
    return ki__discovery_cache_init(&client->discovery, client->engine, &requester);
}

/* ---- waiting ---- */

/* `age_ns` before `now`; 0 if that is before the start of the clock. */
static uint64_t before(uint64_t now, uint64_t age_ns)
{
    return now > age_ns ? now - age_ns : 0;
}

typedef struct visitor {
    ki_client *client;
    ki_discovery *discovery;
    ki_error error;
    atomic_bool is_notified;
} visitor;

static bool is_notified(const void *arg)
{
    return atomic_load(&((visitor *)(uintptr_t)arg)->is_notified);
}

static void on_done(const ki_discovery *discovery, const ki_error *error, void *user)
{
    visitor *v = user;
    ki_loop *loop = v->client->loop; /* it is running this, so it stays valid */
    v->discovery = ki_discovery_ref(discovery);
    if (error != NULL) {
        ki__error_copy(&v->error, error);
    }
    atomic_store(&v->is_notified, true); /* from here on it may be gone */
    ki__loop_changed(loop);
}

typedef struct withdrawal {
    ki_client *client;
    const void *user;
} withdrawal;

static void withdraw(void *arg)
{
    const withdrawal *w = arg;
    ki__discovery_cache_withdraw(&w->client->discovery, w->user);
}

static int refuse_inside(ki_error *error)
{
    return ki__error_set(error, KI_ERR_BUSY,
                         "would block the client's thread: use ki_client_discover_start()");
}

/* Waits for a discovery from `since` or later. */
static int wait_for(ki_client *client, uint64_t since, ki_discovery **ret_discovery,
                    ki_error *error)
{
    visitor v = {.client = client};
    if (ki__engine_is_inside(client->engine)) {
        return refuse_inside(error);
    }
    int r = ki__discovery_cache_request(&client->discovery, since, false, on_done, &v);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = ki__loop_wait(client->loop, is_notified, &v);
    if (r < 0) {
        ki_client_discover_cancel(client, &v);
        if (r == KI_ERR_BUSY) {
            return refuse_inside(error);
        }
        if (!is_notified(&v)) {
            return ki__error_set(error, r, KI__STOPPED_BEFORE_RESPONSE);
        }
    }
    if (v.discovery == NULL) {
        if (error != NULL) {
            ki__error_copy(error, &v.error);
        }
        return v.error.code;
    }
    *ret_discovery = v.discovery;
    return 0;
}

static int discover(ki_client *client, uint64_t since, ki_discovery **ret_discovery,
                    ki_error *error)
{
    ki_discovery *known = ki__discovery_cache_known(&client->discovery, since);
    if (known == NULL) {
        return wait_for(client, since, ret_discovery, error);
    }
    *ret_discovery = known;
    return 0;
}

int ki_client_discover(ki_client *client, uint32_t max_age_ms, ki_discovery **ret_discovery,
                       ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(ret_discovery, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    uint64_t now = ki__engine_now(client->engine);
    if (max_age_ms == 0) {
        return wait_for(client, now, ret_discovery, error);
    }
    return discover(client, before(now, max_age_ms * KI__MS_NS), ret_discovery, error);
}

int ki_client_discover_start(ki_client *client, uint32_t max_age_ms,
                             void (*done)(const ki_discovery *discovery, const ki_error *error,
                                          void *user),
                             void *user, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(done, error);
    if (ki__loop_is_stopped(client->loop)) {
        return ki__error_set(error, KI_ERR_STOPPED, "the client's loop is stopped");
    }
    uint64_t since = before(ki__engine_now(client->engine), max_age_ms * KI__MS_NS);
    int r = ki__discovery_cache_request(&client->discovery, since, true, done, user);
    return r < 0 ? ki__error_code(error, r) : 0;
}

void ki_client_discover_cancel(ki_client *client, const void *user)
{
    if (client == NULL) {
        return;
    }
    withdrawal w = {.client = client, .user = user};
    ki__loop_call(client->loop, withdraw, &w);
}

/* ---- resolving ---- */

static int find(const ki_discovery *discovery, const char *name, ki_resource **ret_resource,
                ki_error *error)
{
    const ki_resource *resource = NULL;
    int r = ki_discovery_find(discovery, name, &resource, error);
    if (r == 0) {
        *ret_resource = ki_resource_ref(resource);
    }
    return r;
}

/* An older result is used if it has the name and the server is unreachable. */
static int find_in_old(ki_client *client, int failure, const char *name, ki_resource **ret_resource)
{
    const ki_discovery *old = ki__discovery_cache_known(&client->discovery, 0);
    int r = old != NULL ? find(old, name, ret_resource, NULL) : failure;
    (void)ki_discovery_unref(old);
    return r == 0 ? 0 : failure;
}

static int resolve(ki_client *client, const char *name, ki_resource **ret_resource, ki_error *error)
{
    uint64_t now = ki__engine_now(client->engine);
    ki_discovery *first = NULL;
    ki_discovery *second = NULL;
    int r = discover(client, before(now, MAX_AGE_NS), &first, error);
    if (r < 0) {
        return find_in_old(client, r, name, ret_resource);
    }
    r = find(first, name, ret_resource, error);
    if (r == KI_ERR_NOT_FOUND) { /* it may have been added since */
        ki_error failure = KI_ERROR_INIT;
        int again = discover(client, before(now, MISS_AGE_NS), &second, &failure);
        if (again < 0) {
            r = again;
            ki__error_copy(error, &failure);
        } else if (second != first) {
            r = find(second, name, ret_resource, error);
        }
    }
    (void)ki_discovery_unref(first);
    (void)ki_discovery_unref(second);
    return r;
}

int ki_client_resolve(ki_client *client, const char *name, ki_resource **ret_resource,
                      ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_resource, error);
    KI__REQUIRE_OWN_ENGINE(client->engine, error);
    ki_error failure = KI_ERROR_INIT;
    int r = resolve(client, name, ret_resource, &failure);
    if (r < 0 && error != NULL) {
        ki__error_copy(error, &failure);
    }
    return r;
}

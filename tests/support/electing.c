/* SPDX-License-Identifier: Apache-2.0 */
#include "support/electing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/edit.h>

#include "base/error.h"
#include "support/test.h"

/* ---- time ---- */

static uint64_t local_time(const electing_replica *r)
{
    return r->offset + r->all->now / 1000 * r->rate_permille;
}

/* When it is `local` at the replica, rounded up. */
static uint64_t global_time(const electing_replica *r, uint64_t local)
{
    if (local == UINT64_MAX) {
        return UINT64_MAX;
    }
    return local <= r->offset ? 0 : (local - r->offset) / r->rate_permille * 1000 + 1000;
}

static uint64_t replica_monotonic(void *user)
{
    return local_time(user);
}

static int64_t replica_realtime(void *user)
{
    return INT64_C(1700000000000000000) + (int64_t)local_time(user);
}

/* ---- messages ---- */

static bool chance(electing *e, uint32_t permille)
{
    return test_random(&e->seed) % 1000 < permille;
}

static void deliver_later(electing *e, const electing_message *message)
{
    const electing_replica *r = &e->replicas[message->replica];
    for (size_t i = 0; i < ELECTING_MESSAGES_MAX; i++) {
        if (e->messages[i].kind == ELECTING_NOTHING) {
            if (r->cut || chance(e, e->loss_permille)) {
                return;
            }
            e->messages[i] = *message;
            e->messages[i].when = e->now + 1 + test_random(&e->seed) % (e->latency_ns + 1);
            e->messages[i].lease = ki_object_ref(message->lease);
            return;
        }
    }
    fail_msg("too many messages");
}

static int api_send(ki__lease_verb verb, const ki_object *lease, void *user, ki_error *error)
{
    electing_replica *r = user;
    (void)error;
    assert_int_equal(r->request, 0);
    r->request = ++r->all->requests;
    electing_message message = {.kind = ELECTING_REQUEST,
                                .replica = r->index,
                                .request = r->request,
                                .verb = verb,
                                .lease = ki_object_ref(lease)};
    deliver_later(r->all, &message);
    (void)ki_object_unref(lease);
    /* A response that is lost becomes a timeout. */
    for (size_t i = 0; i < ELECTING_MESSAGES_MAX; i++) {
        if (r->all->messages[i].kind == ELECTING_NOTHING) {
            uint64_t limit = UINT64_C(1000000) * r->leader->options.renew_deadline_ms / 2;
            message.kind = ELECTING_RESPONSE;
            message.when = global_time(r, local_time(r) + limit);
            message.lease = NULL;
            (void)ki__error_set(&message.error, -ETIMEDOUT, "no response");
            r->all->messages[i] = message;
            return 0;
        }
    }
    fail_msg("too many messages");
    return 0;
}

static void api_cancel(void *user)
{
    ((electing_replica *)user)->request = 0;
}

static void api_watch(const char *resource_version, void *user)
{
    electing_replica *r = user;
    assert_true(resource_version[0] != '\0');
    r->watching = !r->all->no_watch;
}

static void api_ended(void *user)
{
    ((electing_replica *)user)->watching = false;
}

/* ---- the server ---- */

static void store(electing *e, const ki_object *lease)
{
    char version[24];
    (void)snprintf(version, sizeof(version), "%llu", (unsigned long long)++e->version);
    ki_edit *edit = NULL;
    ki_object *stored = NULL;
    assert_int_equal(ki_edit_new(lease, NULL, &edit, NULL), 0);
    ki_edit_set_string(edit, "metadata.resourceVersion", version);
    ki_edit_set_string(edit, "metadata.uid", "u");
    assert_int_equal(ki_edit_object(edit, &stored, NULL), 0);
    (void)ki_edit_unref(edit);
    (void)ki_object_unref(e->lease);
    e->lease = stored;
}

static void notify(electing *e)
{
    for (int i = 0; i < e->count; i++) {
        if (e->replicas[i].watching) {
            electing_message event = {.kind = ELECTING_EVENT, .replica = i, .lease = e->lease};
            deliver_later(e, &event);
        }
    }
}

static int refuse(ki_error *error, int code, int http_code)
{
    (void)ki__error_set(error, code, "refused");
    error->http_code = http_code;
    return code;
}

static int process(electing *e, const electing_message *request, ki_error *error)
{
    if (e->forbidden) {
        return refuse(error, KI_ERR_STATUS, 403);
    }
    if (request->verb == KI__LEASE_CREATE && e->lease != NULL) {
        return refuse(error, KI_ERR_EXISTS, 409);
    }
    if (request->verb != KI__LEASE_CREATE && e->lease == NULL) {
        return refuse(error, KI_ERR_NOT_FOUND, 404);
    }
    if (request->verb == KI__LEASE_UPDATE && strcmp(ki_object_resource_version(request->lease),
                                                    ki_object_resource_version(e->lease)) != 0) {
        return refuse(error, KI_ERR_STATUS, 409);
    }
    if (request->verb != KI__LEASE_GET) {
        store(e, request->lease);
        e->writes++;
        notify(e);
    }
    return 0;
}

static void serve(electing *e, const electing_message *request)
{
    electing_message response = {
        .kind = ELECTING_RESPONSE, .replica = request->replica, .request = request->request};
    if (e->replicas[request->replica].cut) {
        return;
    }
    if (process(e, request, &response.error) == 0) {
        response.lease = e->lease;
    }
    deliver_later(e, &response);
}

/* ---- replicas ---- */

static void on_started(int64_t term, void *user)
{
    electing_replica *r = user;
    r->started++;
    r->starts++;
    assert_int_equal(r->started, 1);
    r->term = term;
}

static void on_stopped(void *user)
{
    electing_replica *r = user;
    r->started--;
    assert_int_equal(r->started, 0);
    assert_false(ki_leader_is(r->leader));
}

static void on_new_leader(const char *identity, void *user)
{
    electing_replica *r = user;
    (void)snprintf(r->holder, sizeof(r->holder), "%s", identity);
}

static void receive(electing *e, const electing_message *message)
{
    electing_replica *r = &e->replicas[message->replica];
    if (r->leader == NULL) {
        return;
    }
    if (message->kind == ELECTING_EVENT) {
        ki__leader_on_lease(r->leader, message->lease);
    } else if (message->request == r->request) {
        r->request = 0;
        ki__leader_on_answer(r->leader, message->lease,
                             message->error.code != 0 ? &message->error : NULL);
    }
}

/* ---- steps ---- */

static void check(electing *e)
{
    int leaders = 0;
    for (int i = 0; i < e->count; i++) {
        electing_replica *r = &e->replicas[i];
        int64_t term = ki_leader_term(r->leader);
        leaders += term >= 0;
        if (term >= 0 && i != e->last_leader) {
            assert_true(term > e->last_term);
            e->last_leader = i;
        }
        e->last_term = term > e->last_term ? term : e->last_term;
    }
    assert_true(leaders <= 1);
}

static electing_message *next_message(electing *e)
{
    electing_message *next = NULL;
    for (size_t i = 0; i < ELECTING_MESSAGES_MAX; i++) {
        electing_message *m = &e->messages[i];
        bool waits = m->kind != ELECTING_REQUEST && e->replicas[m->replica].paused;
        if (m->kind != ELECTING_NOTHING && !waits && (next == NULL || m->when < next->when)) {
            next = m;
        }
    }
    return next;
}

static electing_replica *next_replica(electing *e, uint64_t *ret_when)
{
    electing_replica *next = NULL;
    *ret_when = UINT64_MAX;
    for (int i = 0; i < e->count; i++) {
        electing_replica *r = &e->replicas[i];
        uint64_t when = r->engine == NULL || r->paused
                            ? UINT64_MAX
                            : global_time(r, ki_engine_deadline(r->engine));
        if (when < *ret_when) {
            *ret_when = when;
            next = r;
        }
    }
    return next;
}

static void step_message(electing *e, electing_message *slot)
{
    electing_message message = *slot;
    *slot = (electing_message){0};
    if (message.kind == ELECTING_REQUEST) {
        serve(e, &message);
    } else {
        receive(e, &message);
    }
    (void)ki_object_unref(message.lease);
}

void electing_run(electing *e, uint64_t ns)
{
    uint64_t end = e->now + ns;
    for (;;) {
        electing_message *message = next_message(e);
        uint64_t when = 0;
        electing_replica *r = next_replica(e, &when);
        bool first = message != NULL && message->when <= when;
        uint64_t at = first ? message->when : when;
        if (at > end) {
            break;
        }
        e->now = at > e->now ? at : e->now;
        check(e); /* leadership also ends by time alone */
        if (first) {
            step_message(e, message);
        } else {
            (void)ki_engine_run(r->engine, 1);
        }
        check(e);
    }
    e->now = end;
    check(e);
}

int electing_leader(const electing *e)
{
    for (int i = 0; i < e->count; i++) {
        if (ki_leader_is(e->replicas[i].leader)) {
            return i;
        }
    }
    return -1;
}

uint64_t electing_until_leader(electing *e, uint64_t limit_ns)
{
    uint64_t begin = e->now;
    while (electing_leader(e) < 0) {
        assert_true(e->now - begin < limit_ns);
        electing_run(e, 10 * TEST_MS);
    }
    return e->now - begin;
}

/* ---- life ---- */

void electing_begin(electing *e, int replicas, uint64_t seed)
{
    *e = (electing){
        .now = TEST_SECOND, .seed = seed, .count = replicas, .last_term = -1, .last_leader = -1};
    e->latency_ns = 20 * TEST_MS;
    for (int i = 0; i < replicas; i++) {
        electing_replica *r = &e->replicas[i];
        *r = (electing_replica){.all = e, .index = i, .rate_permille = 1000, .term = -1};
        r->offset = (uint64_t)i * 1000 * TEST_SECOND;
    }
}

int electing_start(electing *e, int replica, const ki_leader_options *options)
{
    static const char *const names[ELECTING_REPLICAS_MAX] = {"a", "b", "c"};
    electing_replica *r = &e->replicas[replica];
    test_world_init(&r->world);
    r->world.seed = test_random(&e->seed);
    r->world.clock =
        (ki_clock){.monotonic_ns = replica_monotonic, .realtime_ns = replica_realtime, .user = r};
    ki_engine_options engine = test_world_engine_options(&r->world, e->alloc);
    int result = ki_engine_new(&engine, &r->engine, NULL);
    if (result < 0) {
        return result;
    }
    ki_leader_options o = KI_OPTIONS_INIT(ki_leader_options);
    if (options != NULL) {
        o = *options;
    }
    o.name = "lease";
    o.name_space = "default";
    o.identity = o.identity != NULL ? o.identity : names[replica];
    o.on_started = on_started;
    o.on_stopped = on_stopped;
    o.on_new_leader = on_new_leader;
    o.user = r;
    const ki__lease_api api = {
        .send = api_send, .cancel = api_cancel, .watch = api_watch, .ended = api_ended, .user = r};
    result = ki__leader_new(r->engine, &o, &api, &r->leader, NULL);
    if (result == 0) {
        assert_int_equal(ki_leader_start(r->leader, NULL), 0);
    }
    return result;
}

void electing_kill(electing *e, int replica)
{
    electing_replica *r = &e->replicas[replica];
    if (r->leader != NULL) {
        r->leader->options.on_stopped = NULL;
        ki__leader_abort(r->leader);
        r->leader = ki_leader_unref(r->leader);
    }
    r->engine = ki_engine_unref(r->engine);
    r->request = 0;
    r->started = 0;
    r->watching = r->paused = r->cut = false;
}

void electing_end(electing *e)
{
    for (int i = 0; i < e->count; i++) {
        electing_kill(e, i);
    }
    for (size_t i = 0; i < ELECTING_MESSAGES_MAX; i++) {
        (void)ki_object_unref(e->messages[i].lease);
    }
    e->lease = ki_object_unref(e->lease);
}

/* ---- what a person does ---- */

void electing_delete(electing *e)
{
    e->lease = ki_object_unref(e->lease);
    e->version++;
    notify(e);
}

void electing_set_holder(electing *e, const char *holder)
{
    ki_edit *edit = NULL;
    ki_object *changed = NULL;
    assert_int_equal(ki_edit_new(e->lease, NULL, &edit, NULL), 0);
    ki_edit_set_string(edit, "spec.holderIdentity", holder);
    assert_int_equal(ki_edit_object(edit, &changed, NULL), 0);
    (void)ki_edit_unref(edit);
    store(e, changed);
    (void)ki_object_unref(changed);
    notify(e);
}

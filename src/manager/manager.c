/* SPDX-License-Identifier: Apache-2.0 */
/* The manager: creation, controllers, and the end. */
#include "manager/manager.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <kinformer/consistency.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "client/client.h"
#include "controller/controller.h"
#include "controller/leader.h"
#include "controller/scope.h"

enum { NAME_MAX_BYTES = 128, DRAIN_MS = 15000, WORKERS_MAX = 10000 };

const char *ki_stop_reason_name(ki_stop_reason reason)
{
    static const char *const names[KI_STOP_REASON_MAX] = {
        [KI_STOP_NONE] = "none",         [KI_STOP_REQUESTED] = "requested",
        [KI_STOP_SIGNAL] = "signal",     [KI_STOP_LEADERSHIP] = "leadership lost",
        [KI_STOP_SYNC] = "sync timeout", [KI_STOP_LOOP] = "loop stopped",
    };
    return (unsigned)reason < KI_STOP_REASON_MAX ? names[reason] : "unknown";
}

/* ---- election ---- */

static void on_started(int64_t term, void *user)
{
    const ki__election *e = user;
    if (e->program.on_started != NULL) {
        e->program.on_started(term, e->program.user);
    }
}

static void on_stopped(void *user)
{
    const ki__election *e = user;
    atomic_store(&e->manager->lost, true);
    ki__manager_wake(e->manager);
    if (e->program.on_stopped != NULL) {
        e->program.on_stopped(e->program.user);
    }
}

static void on_new_leader(const char *identity, void *user)
{
    const ki__election *e = user;
    if (e->program.on_new_leader != NULL) {
        e->program.on_new_leader(identity, e->program.user);
    }
}

static void destroy_election(void *user)
{
    ki__election *e = user;
    const ki_leader_options program = e->program;
    ki__free(e->alloc, e);
    if (program.destroy != NULL) {
        program.destroy(program.user);
    }
}

static int make_leader(ki_manager *manager, const ki_leader_options *election, ki_error *error)
{
    ki_leader_options o;
    int r = KI__TAKE(ki_leader_options, &o, election, error);
    if (r < 0) {
        return r;
    }
    ki__election *e = ki__alloc_zero(manager->alloc, sizeof(*e));
    if (e == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    *e = (ki__election){.manager = manager, .alloc = manager->alloc, .program = o};
    o.name = o.name != NULL ? o.name : manager->name;
    o.on_started = on_started;
    o.on_stopped = on_stopped;
    o.on_new_leader = on_new_leader;
    o.destroy = destroy_election;
    o.user = e;
    r = ki_leader_new(manager->client, &o, &manager->leader, error);
    if (r < 0) {
        ki__free(manager->alloc, e);
    }
    return r;
}

/* ---- creation ---- */

static int check_options(const ki_manager_options *options, ki_manager_options *o, ki_error *error)
{
    int r = KI__TAKE(ki_manager_options, o, options, error);
    if (r < 0) {
        return r;
    }
    if (o->name == NULL || o->name[0] == '\0') {
        return ki__error_set(error, -EINVAL, "name: must be set to the name of the program");
    }
    if (strlen(o->name) > NAME_MAX_BYTES) {
        return ki__error_set(error, KI_ERR_LIMIT, "name: longer than %d bytes", NAME_MAX_BYTES);
    }
    if (o->client != NULL && o->client_options != NULL) {
        return ki__error_set(error, -EINVAL, "client and client_options are mutually exclusive");
    }
    if ((unsigned)o->on_lost >= KI_ON_LOST_MAX) {
        return ki__error_set(error, -EINVAL, "on_lost: unknown value");
    }
    o->drain_ms = o->drain_ms != 0 ? o->drain_ms : DRAIN_MS;
    return 0;
}

static int take_client(ki_manager *manager, const ki_manager_options *o, ki_error *error)
{
    ki_client_options options = {0};
    if (o->client != NULL) {
        manager->client = ki_client_ref(o->client);
        return 0;
    }
    int r = KI__TAKE(ki_client_options, &options, o->client_options, error);
    manager->own_client = true;
    options.user_agent = options.user_agent != NULL ? options.user_agent : manager->name;
    return r < 0 ? r : ki_client_new(&options, &manager->client, error);
}

static int make_recorder(ki_manager *manager, ki_error *error)
{
    ki_recorder_options options = KI_OPTIONS_INIT(ki_recorder_options);
    options.controller = manager->name;
    return ki_recorder_new(manager->client, &options, &manager->recorder, error);
}

/* `before` is the mask to restore if the creation fails. */
static int open_signals(ki_manager *manager, sigset_t *before, ki_error *error)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    int r = -pthread_sigmask(SIG_BLOCK, &ends, before);
    if (r == 0) {
        manager->signal_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
        r = manager->signal_fd < 0 ? -errno : 0;
    }
    return r < 0 ? ki__error_set(error, r, "signals: %s", ki_error_text(r)) : 0;
}

static void on_loop_stop(ki__stop_hook *hook)
{
    ki__manager_wake(KI__CONTAINER_OF(hook, ki_manager, stop_hook));
}

static int open_parts(ki_manager *manager, const ki_manager_options *o, ki_error *error)
{
    manager->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (manager->wake_fd < 0) {
        return ki__error_code(error, -errno);
    }
    int r = take_client(manager, o, error);
    if (r >= 0) {
        r = make_recorder(manager, error);
    }
    if (r >= 0 && o->election != NULL) {
        r = make_leader(manager, o->election, error);
    }
    if (r >= 0) {
        ki__loop_add_stop_hook(manager->client->loop, &manager->stop_hook);
        manager->hooked = true;
    }
    return r;
}

static ki_manager *make(const ki_manager_options *o)
{
    const ki_alloc *alloc =
        o->client != NULL
            ? o->client->alloc
            : ki__alloc_or_default(o->client_options != NULL ? o->client_options->alloc : NULL);
    size_t name_size = strlen(o->name) + 1;
    ki_manager *manager = ki__alloc_zero(alloc, sizeof(*manager) + name_size);
    if (manager == NULL) {
        return NULL;
    }
    manager->alloc = alloc;
    memcpy(manager->name, o->name, name_size);
    manager->options = *o;
    manager->options.name = manager->name;
    manager->options.client = NULL;
    manager->options.client_options = NULL;
    manager->options.election = NULL;
    manager->process = ki__process();
    manager->wake_fd = manager->signal_fd = -1;
    manager->error = KI_ERROR_INIT;
    ki__list_init(&manager->stop_hook.link);
    manager->stop_hook.run = on_loop_stop;
    ki__list_init(&manager->controllers);
    ki__list_init(&manager->at_close);
    int r = ki__mutex_init(&manager->lock);
    if (r == 0) {
        r = ki__cond_init(&manager->changed);
        if (r < 0) {
            ki__mutex_done(&manager->lock);
        }
    }
    if (r < 0) {
        ki__free(alloc, manager);
        return NULL;
    }
    return manager;
}

static void free_manager(ki_manager *manager);

int ki_manager_new(const ki_manager_options *options, ki_manager **ret_manager, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_manager, error);
    ki_manager_options o;
    sigset_t before;
    int r = check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    ki_manager *manager = make(&o);
    if (manager == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = o.signals ? open_signals(manager, &before, error) : 0;
    if (r >= 0) {
        r = open_parts(manager, &o, error);
        if (r < 0 && o.signals) {
            (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
    }
    if (r < 0) {
        free_manager(manager);
        return r;
    }
    *ret_manager = manager;
    return 0;
}

/* ---- parts ---- */

ki_client *ki_manager_client(const ki_manager *manager)
{
    return manager != NULL ? manager->client : NULL;
}

ki_recorder *ki_manager_recorder(const ki_manager *manager)
{
    return manager != NULL ? manager->recorder : NULL;
}

ki_leader *ki_manager_leader(const ki_manager *manager)
{
    return manager != NULL ? manager->leader : NULL;
}

ki_stop_reason ki_manager_reason(const ki_manager *manager)
{
    return manager != NULL ? atomic_load(&manager->reason) : KI_STOP_NONE;
}

/* With what the manager adds to the options. */
static int make_controller(const ki_manager *manager, const ki_controller_options *options,
                           ki_controller **ret_controller, ki_error *error)
{
    ki_controller_options o;
    ki_consistency *own = NULL;
    int r = KI__TAKE(ki_controller_options, &o, options, error);
    if (r >= 0 && o.consistency == NULL) {
        ki_consistency_options how = KI_OPTIONS_INIT(ki_consistency_options);
        how.alloc = o.alloc = o.alloc != NULL ? o.alloc : manager->alloc;
        r = ki_consistency_new(&how, &own, error);
        o.consistency = own;
    }
    if (r >= 0) {
        o.leader = o.leader != NULL ? o.leader : manager->leader;
        r = ki_controller_new(&o, ret_controller, error);
    }
    (void)ki_consistency_unref(own);
    return r;
}

int ki_manager_controller(ki_manager *manager, const ki_controller_options *options,
                          uint32_t workers, ki_controller **ret_controller, ki_error *error)
{
    KI__REQUIRE(manager, error);
    KI__REQUIRE(options, error);
    KI__REQUIRE_OWN(manager->process, error);
    if (workers > WORKERS_MAX) {
        return ki__error_set(error, -EINVAL, "workers: must be at most %d", WORKERS_MAX);
    }
    ki__managed *managed = ki__alloc_zero(manager->alloc, sizeof(*managed));
    if (managed == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    managed->workers = workers;
    ki__mutex_lock(&manager->lock);
    int r = manager->state == KI__MANAGER_NEW
                ? make_controller(manager, options, &managed->controller, error)
                : ki__error_set(error, KI_ERR_BUSY, "the manager was started");
    if (r >= 0) {
        ki__list_push_back(&manager->controllers, &managed->link);
    }
    ki__mutex_unlock(&manager->lock);
    if (r < 0) {
        ki__free(manager->alloc, managed);
        return r;
    }
    if (ret_controller != NULL) {
        *ret_controller = managed->controller;
    }
    return 0;
}

int ki_manager_on_close(ki_manager *manager, void (*fn)(void *user), void *user, ki_error *error)
{
    KI__REQUIRE(manager, error);
    KI__REQUIRE(fn, error);
    KI__REQUIRE_OWN(manager->process, error);
    ki__at_close *at_close = ki__alloc_zero(manager->alloc, sizeof(*at_close));
    if (at_close == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    at_close->fn = fn;
    at_close->user = user;
    ki__mutex_lock(&manager->lock);
    ki__list_push_front(&manager->at_close, &at_close->link);
    ki__mutex_unlock(&manager->lock);
    return 0;
}

/* ---- start, stop and wait ---- */

static int start_controller(ki_manager *manager, const ki__managed *managed, ki_error *error)
{
    if (managed->workers != 0) {
        return ki_controller_start(managed->controller, manager->client, managed->workers, error);
    }
    (void)ki__controller_join(managed->controller, ki__engine_members(manager->client->engine),
                              manager->client);
    return 0;
}

/* Requires the lock. */
static int start_locked(ki_manager *manager, ki_error *error)
{
    if (manager->state != KI__MANAGER_NEW) {
        return ki__error_set(error, KI_ERR_EXISTS, "the manager was started before");
    }
    int r = ki_client_start(manager->client, error);
    KI__LIST_FOR_EACH (link, &manager->controllers) {
        if (r >= 0) {
            r = start_controller(manager, KI__CONTAINER_OF(link, ki__managed, link), error);
        }
    }
    if (r >= 0) {
        r = ki__manager_start_thread(manager);
        manager->state = r < 0 ? KI__MANAGER_NEW : KI__MANAGER_RUNNING;
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    return r;
}

int ki_manager_start(ki_manager *manager, ki_error *error)
{
    KI__REQUIRE(manager, error);
    KI__REQUIRE_OWN(manager->process, error);
    ki__mutex_lock(&manager->lock);
    int r = start_locked(manager, error);
    ki__mutex_unlock(&manager->lock);
    return r;
}

void ki_manager_stop(ki_manager *manager)
{
    if (manager != NULL && !ki__is_inherited(manager->process)) {
        atomic_store(&manager->stop_requested, true);
        ki__manager_wake(manager);
    }
}

static bool would_wait_for_itself(const ki_manager *manager)
{
    return ki__scope_is_inside() || ki__engine_is_inside(manager->client->engine);
}

int ki_manager_wait(ki_manager *manager, ki_error *error)
{
    KI__REQUIRE(manager, error);
    KI__REQUIRE_OWN(manager->process, error);
    if (would_wait_for_itself(manager)) {
        return ki__error_set(error, KI_ERR_BUSY, "would wait for itself");
    }
    ki__mutex_lock(&manager->lock);
    bool started = manager->state != KI__MANAGER_NEW;
    while (manager->state == KI__MANAGER_RUNNING) {
        ki__cond_wait(&manager->changed, &manager->lock);
    }
    ki__mutex_unlock(&manager->lock);
    if (!started) {
        return ki__error_set(error, KI_ERR_STOPPED, "the manager was not started");
    }
    if (manager->result < 0 && error != NULL) {
        ki__error_copy(error, &manager->error);
    }
    return manager->result;
}

int ki_manager_run(ki_manager *manager, ki_error *error)
{
    int r = ki_manager_start(manager, error);
    return r < 0 ? r : ki_manager_wait(manager, error);
}

/* ---- the end ---- */

static void unhook(void *arg)
{
    ki_manager *manager = arg;
    ki__loop_remove_stop_hook(manager->client->loop, &manager->stop_hook);
}

static void close_parts(ki_manager *manager)
{
    while (!ki__list_is_empty(&manager->controllers)) {
        ki__managed *managed = KI__CONTAINER_OF(manager->controllers.next, ki__managed, link);
        ki__list_remove(&managed->link);
        (void)ki_controller_close(managed->controller);
        ki__free(manager->alloc, managed);
    }
    while (!ki__list_is_empty(&manager->at_close)) {
        ki__at_close *at_close = KI__CONTAINER_OF(manager->at_close.next, ki__at_close, link);
        ki__list_remove(&at_close->link);
        at_close->fn(at_close->user);
        ki__free(manager->alloc, at_close);
    }
    manager->leader = ki_leader_close(manager->leader);
    manager->recorder = ki_recorder_close(manager->recorder);
}

static void free_manager(ki_manager *manager)
{
    close_parts(manager);
    if (manager->hooked) {
        ki__loop_call(manager->client->loop, unhook, manager);
    }
    manager->client =
        manager->own_client ? ki_client_close(manager->client) : ki_client_unref(manager->client);
    if (manager->wake_fd >= 0) {
        (void)close(manager->wake_fd);
    }
    if (manager->signal_fd >= 0) {
        (void)close(manager->signal_fd);
    }
    ki__cond_done(&manager->changed);
    ki__mutex_done(&manager->lock);
    ki__free(manager->alloc, manager);
}

ki_manager *ki_manager_close(ki_manager *manager)
{
    if (manager == NULL || ki__is_inherited(manager->process)) {
        return NULL;
    }
    ki_manager_stop(manager);
    if (would_wait_for_itself(manager)) {
        return NULL; /* it stops; freeing it here would free what this call uses */
    }
    ki__mutex_lock(&manager->lock);
    bool started = manager->state != KI__MANAGER_NEW;
    ki__mutex_unlock(&manager->lock);
    if (!started) {
        ki__manager_shut_down(manager); /* controllers may have been started */
    } else {
        (void)pthread_join(manager->thread, NULL);
    }
    if (manager->drained) {
        free_manager(manager);
    } /* otherwise a call of `reconcile` still uses all of it */
    return NULL;
}

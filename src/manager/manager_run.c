/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a manager: from the start of the election to the end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <kinformer/worker.h>

#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "client/client.h"
#include "controller/controller.h"
#include "controller/leader.h"
#include "loop/system.h"
#include "loop/wakeup.h"
#include "manager/manager.h"

enum { LOOK_MS = 50, DRAIN_LOOK_MS = 2 };

void ki__manager_wake(ki_manager *manager)
{
    uint64_t one = 1;
    ssize_t written = write(manager->wake_fd, &one, sizeof(one));
    (void)written; /* fails only if it is readable already */
}

/* ---- reasons to stop ---- */

/* Waits at most `timeout_ms`, -1: no limit. Whether a signal arrived. */
static bool look(const ki_manager *manager, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = manager->wake_fd, .events = POLLIN},
                           {.fd = manager->signal_fd, .events = POLLIN}};
    uint64_t count;
    struct signalfd_siginfo info;
    if (poll(fds, manager->signal_fd >= 0 ? 2 : 1, timeout_ms) <= 0) {
        return false;
    }
    if (fds[0].revents != 0) {
        ssize_t got = read(manager->wake_fd, &count, sizeof(count));
        (void)got; /* another look finds the same */
    }
    return fds[1].revents != 0 && read(manager->signal_fd, &info, sizeof(info)) > 0;
}

static ki_stop_reason find_reason(const ki_manager *manager, bool signaled)
{
    if (atomic_load(&manager->stop_requested)) {
        return KI_STOP_REQUESTED;
    }
    if (signaled) {
        return KI_STOP_SIGNAL;
    }
    if (ki__loop_is_stopped(manager->client->loop)) {
        return KI_STOP_LOOP;
    }
    bool lost = atomic_load(&manager->lost) && manager->options.on_lost == KI_ON_LOST_STOP;
    return lost ? KI_STOP_LEADERSHIP : KI_STOP_NONE;
}

static ki_stop_reason wait_for_sync(ki_manager *manager)
{
    uint32_t limit_ms = manager->options.sync_timeout_ms;
    uint64_t end = limit_ms != 0 ? ki__system_now_ns() + ki__ms_to_ns(limit_ms) : UINT64_MAX;
    ki_stop_reason reason = find_reason(manager, false);
    while (reason == KI_STOP_NONE &&
           ki_client_wait_for_sync(manager->client, 0, &manager->error) < 0) {
        if (ki__system_now_ns() >= end) {
            return KI_STOP_SYNC;
        }
        reason = find_reason(manager, look(manager, LOOK_MS));
    }
    return reason;
}

static ki_stop_reason wait_for_reason(ki_manager *manager)
{
    ki_stop_reason reason = wait_for_sync(manager);
    if (reason == KI_STOP_NONE && manager->leader != NULL) {
        int r = ki_leader_start(manager->leader, NULL);
        (void)r; /* fails if the loop was stopped, which is found below */
    }
    while (reason == KI_STOP_NONE) {
        reason = find_reason(manager, look(manager, -1));
    }
    return reason;
}

/* ---- the stop ---- */

/* The first controller with a running call; NULL: none. */
static const ki_controller *find_running(ki_manager *manager)
{
    KI__LIST_FOR_EACH (link, &manager->controllers) {
        const ki_controller *controller = KI__CONTAINER_OF(link, ki__managed, link)->controller;
        if (!ki_workqueue_is_drained(controller->options.queue, KI_DRAIN_IDLE)) {
            return controller;
        }
    }
    return NULL;
}

/* All stop before any is waited for. A second signal ends the wait. */
static void drain(ki_manager *manager)
{
    uint64_t drain_ns = ki__ms_to_ns(manager->options.drain_ms);
    uint64_t end = ki__system_now_ns() + drain_ns;
    KI__LIST_FOR_EACH (link, &manager->controllers) {
        ki__controller_stop(KI__CONTAINER_OF(link, ki__managed, link)->controller, drain_ns);
    }
    const ki_controller *running = find_running(manager);
    while (running != NULL && ki__system_now_ns() < end && !look(manager, DRAIN_LOOK_MS)) {
        running = find_running(manager);
    }
    manager->drained = running == NULL;
    if (running != NULL) {
        manager->result = ki__error_set(&manager->error, -ETIMEDOUT,
                                        "controller %s: reconcile has not returned (drain_ms: %u)",
                                        running->name, (unsigned)manager->options.drain_ms);
    }
}

static void abort_leader(void *arg)
{
    ki__leader_abort(arg);
}

void ki__manager_shut_down(ki_manager *manager)
{
    drain(manager);
    (void)ki_recorder_close(ki_recorder_ref(manager->recorder));
    if (manager->leader != NULL && manager->drained) {
        (void)ki_leader_close(ki_leader_ref(manager->leader));
    } else if (manager->leader != NULL) {
        ki__loop_call(manager->client->loop, abort_leader, manager->leader);
    }
}

/* What ki_manager_wait() returns if all calls of `reconcile` end. */
static void set_result(ki_manager *manager, ki_stop_reason reason)
{
    ki_error *error = &manager->error;
    switch (reason) {
    case KI_STOP_LEADERSHIP:
        manager->result = ki__error_set(error, KI_ERR_NOT_LEADER, "leadership lost");
        break;
    case KI_STOP_SYNC:
        manager->result = -ETIMEDOUT; /* with the message of the last check */
        break;
    case KI_STOP_LOOP:
        manager->result = ki__error_set(error, KI_ERR_STOPPED, "the client's loop is stopped");
        break;
    case KI_STOP_NONE:
    case KI_STOP_REQUESTED:
    case KI_STOP_SIGNAL:
    case KI_STOP_REASON_MAX:
        manager->result = 0;
        break;
    }
}

static void *run(void *arg)
{
    ki_manager *manager = arg;
    ki__thread_name("ki-manager");
    ki_stop_reason reason = wait_for_reason(manager);
    atomic_store(&manager->reason, reason);
    set_result(manager, reason);
    KI__LOG(ki__engine_log(manager->client->engine), KI_LOG_INFO, "manager", "stopping",
            {"name", ki_str_from(manager->name)},
            {"reason", ki_str_from(ki_stop_reason_name(reason))});
    if (manager->options.on_stop != NULL) {
        manager->options.on_stop(reason, manager->options.user);
    }
    ki__manager_shut_down(manager);
    ki__mutex_lock(&manager->lock);
    manager->state = KI__MANAGER_STOPPED;
    ki__cond_wake_all(&manager->changed);
    ki__mutex_unlock(&manager->lock);
    return NULL;
}

int ki__manager_start_thread(ki_manager *manager)
{
    return ki__thread_start(run, manager, false, &manager->thread);
}

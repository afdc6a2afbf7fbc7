/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the manager.
 *
 *   manager.c      creation, controllers, the end
 *   manager_run.c  the thread: waits for the sync and for a reason to stop, and stops everything
 *
 * Invariant: what a call of `reconcile` may use is freed only after all calls have ended. */
#ifndef KI_MANAGER_MANAGER_H
#define KI_MANAGER_MANAGER_H

#include <pthread.h>
#include <stdatomic.h>

#include <kinformer/manager.h>

#include "base/list.h"
#include "base/sync.h"
#include "loop/loop.h"

typedef struct ki__managed {
    ki__list link;
    ki_controller *controller; /* a reference */
    uint32_t workers;
} ki__managed;

typedef struct ki__at_close {
    ki__list link;
    void (*fn)(void *user);
    void *user;
} ki__at_close;

/* The callbacks of the election: the manager's and the program's. Owned by the leader. */
typedef struct ki__election {
    ki_manager *manager; /* not used after the leader has ended */
    const ki_alloc *alloc;
    ki_leader_options program;
} ki__election;

typedef enum ki__manager_state {
    KI__MANAGER_NEW,
    KI__MANAGER_RUNNING, /* the thread was started */
    KI__MANAGER_STOPPED, /* the thread is about to exit */
} ki__manager_state;

struct ki_manager {
    const ki_alloc *alloc;
    uint64_t process;
    ki_manager_options options; /* without borrowed pointers */
    ki_client *client;          /* a reference */
    bool own_client;
    ki_recorder *recorder;
    ki_leader *leader; /* or NULL */
    int wake_fd;       /* eventfd: a reason to stop may have appeared */
    int signal_fd;     /* or -1 */
    ki__stop_hook stop_hook;
    bool hooked;

    /* Any thread. */
    _Atomic ki_stop_reason reason;
    atomic_bool stop_requested;
    atomic_bool lost; /* led, and does no longer */

    ki__mutex lock;
    ki__cond changed;        /* the state */
    ki__manager_state state; /* protected by the lock, as are the next two */
    ki__list controllers;
    ki__list at_close;
    pthread_t thread;

    /* Of the thread; others read them once it has stopped. */
    bool drained; /* no call of `reconcile` is running */
    int result;
    ki_error error;
    char name[];
};

/** Starts the thread. -errno. */
int ki__manager_start_thread(ki_manager *manager);
/** Has the thread look for a reason to stop. */
void ki__manager_wake(ki_manager *manager);
/** Steps 1 to 3 of the stop, as in <kinformer/manager.h>. */
void ki__manager_shut_down(ki_manager *manager);

#endif

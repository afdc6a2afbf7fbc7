/* SPDX-License-Identifier: Apache-2.0 */
/* Wake-ups and threads. Threads are detached and counted; each holds a reference until it ends. */
#include "loop/wakeup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/refs.h"
#include "base/sync.h"

struct ki__wakeup {
    ki__refs refs;
    const ki_alloc *alloc;
    int fd;
    atomic_bool pending; /* the eventfd is readable, or a thread is about to write to it */
    ki_threads threads;
    ki__mutex lock;
    ki__cond changed;
    size_t running;   /* number of threads */
    unsigned started; /* total */
};

/* Argument of a thread. */
typedef struct job {
    ki__wakeup *wakeup;
    void (*run)(void *arg);
    void *arg;
    unsigned number;
} job;

/* ---- threads ---- */

int ki__thread_start(void *(*run)(void *arg), void *arg, bool detached, void *ret_thread)
{
    sigset_t all;
    sigset_t before;
    pthread_attr_t attributes;
    int r = pthread_attr_init(&attributes);
    if (r != 0) {
        return -r;
    }
    int kind = detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE;
    (void)pthread_attr_setdetachstate(&attributes, kind); /* cannot fail for a valid kind */
    (void)sigfillset(&all);
    r = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (r == 0) {
        r = pthread_create(ret_thread, &attributes, run, arg);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_attr_destroy(&attributes);
    return -r;
}

void ki__thread_name(const char *name)
{
    (void)pthread_setname_np(pthread_self(), name); /* optional: failure is harmless */
}

static void free_wakeup(ki__wakeup *wakeup)
{
    if (wakeup->fd >= 0) {
        (void)close(wakeup->fd);
    }
    ki__cond_done(&wakeup->changed);
    ki__mutex_done(&wakeup->lock);
    ki__free(wakeup->alloc, wakeup);
}

/* The thread's reference is dropped under the lock (waiters for the threads hold their own): once
 * the wait is over, no thread touches anything. */
static void end_job(job *j)
{
    ki__wakeup *wakeup = j->wakeup;
    ki__free(wakeup->alloc, j);
    ki__mutex_lock(&wakeup->lock);
    wakeup->running--;
    bool last = ki__refs_drop(&wakeup->refs);
    ki__cond_wake_all(&wakeup->changed);
    ki__mutex_unlock(&wakeup->lock);
    if (last) {
        free_wakeup(wakeup);
    }
}

static void *run_job(void *arg)
{
    enum { NUMBERS = 10000 }; /* as many as fit into a thread name */
    job *j = arg;
    char name[16] = "ki-handler-";
    char room[KI__DIGITS_SIZE];
    ki_str number = ki__digits(j->number % NUMBERS, room);
    memcpy(name + strlen(name), number.ptr, number.len + 1);
    ki__thread_name(name);
    j->run(j->arg);
    end_job(j);
    return NULL;
}

static int start(void (*run)(void *arg), void *arg, void *user)
{
    ki__wakeup *wakeup = user;
    job *j = ki__alloc(wakeup->alloc, sizeof(*j));
    if (j == NULL) {
        return -ENOMEM;
    }
    *j = (job){.wakeup = wakeup, .run = run, .arg = arg};
    ki__wakeup_ref(wakeup);
    ki__mutex_lock(&wakeup->lock);
    wakeup->running++;
    j->number = ++wakeup->started;
    ki__mutex_unlock(&wakeup->lock);
    pthread_t thread;
    int r = ki__thread_start(run_job, j, true, &thread);
    if (r < 0) {
        end_job(j);
    }
    return r;
}

void ki__wakeup_wait_for_threads(ki__wakeup *wakeup)
{
    ki__mutex_lock(&wakeup->lock);
    while (wakeup->running != 0) {
        ki__cond_wait(&wakeup->changed, &wakeup->lock);
    }
    ki__mutex_unlock(&wakeup->lock);
}

/* ---- creation, waking ---- */

static int init_locks(ki__wakeup *wakeup)
{
    int r = ki__mutex_init(&wakeup->lock);
    if (r < 0) {
        return r;
    }
    r = ki__cond_init(&wakeup->changed);
    if (r < 0) {
        ki__mutex_done(&wakeup->lock);
    }
    return r;
}

int ki__wakeup_new(const ki_alloc *alloc, ki__wakeup **ret_wakeup)
{
    ki__wakeup *wakeup = ki__alloc_zero(alloc, sizeof(*wakeup));
    if (wakeup == NULL) {
        return -ENOMEM;
    }
    int r = init_locks(wakeup);
    if (r < 0) {
        ki__free(alloc, wakeup);
        return r;
    }
    ki__refs_init(&wakeup->refs);
    wakeup->alloc = alloc;
    wakeup->threads = (ki_threads){.size = sizeof(ki_threads), .start = start, .user = wakeup};
    wakeup->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wakeup->fd < 0) {
        r = -errno;
        ki__wakeup_unref(wakeup);
        return r;
    }
    *ret_wakeup = wakeup;
    return 0;
}

void ki__wakeup_ref(ki__wakeup *wakeup)
{
    ki__refs_take(&wakeup->refs);
}

void ki__wakeup_unref(ki__wakeup *wakeup)
{
    if (ki__refs_drop(&wakeup->refs)) {
        free_wakeup(wakeup);
    }
}

int ki__wakeup_fd(const ki__wakeup *wakeup)
{
    return wakeup->fd;
}

/* One write() suffices for any number of wake-ups until the loop has read it.
 *
 * Why no wake-up is lost: `pending` is set before the write, and cleared after the read and before
 * the loop looks for work. All these are operations on one atomic variable, so they have a single
 * modification order.
 *  - Our exchange comes after the clearing: it returns false, and we write.
 *  - It comes before the clearing and returns true: the loop looks for work afterwards and sees
 *    everything stored before our exchange, since the clearing, an exchange too, reads our value
 *    or that of a later exchange (a release sequence).
 *  - And the clearing does happen: the thread whose exchange returned false writes. Until it has,
 *    nobody reads, since the eventfd is empty: earlier writes were read before `pending` was
 *    cleared. For the same reason a read never consumes a write whose `pending` stays set. If the
 *    clearing came before the read, a write between the two could be consumed that way, and all
 *    later ones would be suppressed.
 * A full eventfd is readable as well, so no failure of write() matters. */
void ki__wakeup_send(ki__wakeup *wakeup)
{
    uint64_t one = 1;
    ssize_t written;
    if (atomic_exchange_explicit(&wakeup->pending, true, memory_order_acq_rel)) {
        return;
    }
    do {
        written = write(wakeup->fd, &one, sizeof(one));
    } while (written < 0 && errno == EINTR);
}

void ki__wakeup_drained(ki__wakeup *wakeup)
{
    (void)atomic_exchange_explicit(&wakeup->pending, false, memory_order_acq_rel);
}

const ki_threads *ki__wakeup_threads(const ki__wakeup *wakeup)
{
    return &wakeup->threads;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The thread pool. One lock protects all of it; it is never held while a job runs or a thread is
 * started.
 *
 * No wake-up is wasted: a post wakes one idle thread, unless one is already being woken, and a
 * thread that takes a job wakes the next if more are queued. The most recently idle thread is woken
 * first, so that surplus threads time out.
 *
 * While jobs are queued and no thread is idle, one thread watches instead of working: it checks
 * every few milliseconds whether the first job is still queued, and if so becomes a worker; then a
 * thread that takes a job and leaves others queued starts the next watcher. If no job has ended
 * between two checks, the threads are blocked rather than busy: the number of added threads doubles
 * each time. */
#include "base/pool.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/refs.h"
#include "base/sync.h"
#include "base/time_units.h"

#define LOOK_NS (5 * KI__MS_NS)
#define LOOK_FULL_NS (100 * KI__MS_NS)
#define IDLE_NS (10 * KI__SECOND_NS)
#define LOG_AGAIN_NS (60 * KI__SECOND_NS)
enum { LOOKS = 2 }; /* checks before a thread is added while jobs still complete */

/* Kept until the pool is freed: threads are woken without the lock. */
typedef struct worker {
    ki__list link; /* in `idle` or `unused` */
    struct worker *next;
    ki__pool *pool;
    ki__cond wake;
    bool chosen;  /* woken: no longer idle, looks for a job */
    bool watcher; /* starts as the watcher */
} worker;

struct ki__pool {
    ki__refs refs; /* the owner's and each thread's */
    ki__pool_options options;
    ki__mutex lock;
    ki__list jobs;
    _Atomic size_t waiting; /* queued jobs; written with the lock held */
    uint64_t posts;         /* total */
    uint64_t ends;          /* completed jobs, total */
    size_t users;
    size_t threads; /* including those being started, and the watcher */
    ki__list idle;
    ki__list unused; /* workers without a thread */
    worker *workers; /* all of them */
    size_t starting; /* threads being started, without the watcher */
    bool searching;  /* a thread was woken or started and has not reached the jobs yet */
    bool watching;   /* a watcher runs or is being started */
    size_t growth;   /* number of threads that the watcher adds next */
    bool known_full; /* the watcher could not add a thread */
    uint64_t full;
    uint64_t logged_at; /* when a full pool was last logged; 0: never */
};

/* The thread to wake or start once the lock is released; at most one is set. */
typedef struct wakeups {
    worker *wake;
    worker *start;
} wakeups;

/* ---- creation and release ---- */

int ki__pool_new(const ki__pool_options *options, ki__pool **ret_pool)
{
    ki__pool *pool = ki__alloc_zero(options->alloc, sizeof(*pool));
    if (pool == NULL) {
        return -ENOMEM;
    }
    int r = ki__mutex_init(&pool->lock);
    if (r < 0) {
        ki__free(options->alloc, pool);
        return r;
    }
    ki__refs_init(&pool->refs);
    pool->options = *options;
    if (pool->options.limit == 0) {
        pool->options.limit = KI__POOL_LIMIT;
    }
    pool->growth = 1;
    ki__list_init(&pool->jobs);
    ki__list_init(&pool->idle);
    ki__list_init(&pool->unused);
    *ret_pool = pool;
    return 0;
}

void ki__pool_unref(ki__pool *pool)
{
    if (pool == NULL || !ki__refs_drop(&pool->refs)) {
        return;
    }
    ki_assert(pool->threads == 0 && ki__list_is_empty(&pool->jobs));
    const ki_alloc *alloc = pool->options.alloc;
    while (pool->workers != NULL) {
        worker *w = pool->workers;
        pool->workers = w->next;
        ki__cond_done(&w->wake);
        ki__free(alloc, w);
    }
    ki__mutex_done(&pool->lock);
    ki__free(alloc, pool);
}

/* ---- waking and starting threads ---- */

static uint64_t now(const ki__pool *pool)
{
    return pool->options.clock->monotonic_ns(pool->options.clock->user);
}

/* Rate limit for logging that the pool is full or a thread failed to start. Requires the lock. */
static bool may_log(ki__pool *pool)
{
    uint64_t at = now(pool);
    bool may = pool->logged_at == 0 || at - pool->logged_at >= LOG_AGAIN_NS;
    pool->logged_at = may ? at : pool->logged_at;
    return may;
}

/* A worker for one more thread, or NULL on failure. Requires the lock. */
static worker *take_idle_worker(ki__pool *pool, bool watcher)
{
    ki__list *link = ki__list_pop_front(&pool->unused);
    worker *w = link != NULL ? KI__CONTAINER_OF(link, worker, link) : NULL;
    if (w == NULL) {
        w = ki__alloc_zero(pool->options.alloc, sizeof(*w));
        if (w == NULL) {
            return NULL;
        }
        if (ki__cond_init(&w->wake) < 0) {
            ki__free(pool->options.alloc, w);
            return NULL;
        }
        ki__list_init(&w->link);
        w->pool = pool;
        w->next = pool->workers;
        pool->workers = w;
    }
    w->chosen = false;
    w->watcher = watcher;
    pool->threads++;
    pool->starting += !watcher;
    return w;
}

/* Requires the lock. */
static void dismiss(ki__pool *pool, worker *w)
{
    pool->threads--;
    ki__list_push_front(&pool->unused, &w->link);
}

static void run_thread(void *arg);

static int start(ki__pool *pool, worker *w)
{
    const ki_threads *threads = pool->options.threads;
    ki__refs_take(&pool->refs); /* the thread's */
    int r = threads->start(run_thread, w, threads->user);
    if (r < 0) {
        ki__mutex_lock(&pool->lock);
        if (w->watcher) {
            pool->watching = false;
        } else {
            pool->starting--;
            pool->searching = false;
        }
        dismiss(pool, w);
        bool log = may_log(pool);
        ki__mutex_unlock(&pool->lock);
        if (log) {
            KI__LOG(pool->options.log, KI_LOG_WARNING, "pool",
                    "cannot start another thread; events of handlers may be delayed",
                    {"error", ki_str_from(ki_error_text(r))});
        }
        ki__pool_unref(pool); /* not the last: the caller holds one */
    }
    return r;
}

/* Selects a thread for the queued jobs. Requires the lock. */
static wakeups choose_workers(ki__pool *pool)
{
    wakeups s = {NULL, NULL};
    if (ki__list_is_empty(&pool->jobs) || pool->searching) {
        return s;
    }
    ki__list *link = ki__list_pop_front(&pool->idle);
    if (link != NULL) {
        s.wake = KI__CONTAINER_OF(link, worker, link);
        s.wake->chosen = true;
        pool->searching = true;
    } else if (pool->threads == 0) { /* the first thread failed to start */
        s.start = take_idle_worker(pool, false);
        pool->searching = s.start != NULL;
    } else if (!pool->watching) {
        s.start = take_idle_worker(pool, true);
        pool->watching = s.start != NULL;
    }
    return s;
}

/* Called without the lock. */
static void call_up(ki__pool *pool, wakeups s)
{
    if (s.wake != NULL) {
        ki__cond_wake_one(&s.wake->wake);
    } else if (s.start != NULL) {
        (void)start(pool, s.start);
    }
}

/* ---- threads ---- */

/* The first job is still queued after a check, and no thread can be added. Requires the lock, which
 * is released while logging. */
static void note_full(ki__pool *pool)
{
    if (pool->known_full) {
        return;
    }
    pool->known_full = true;
    pool->full++;
    if (may_log(pool)) {
        ki__mutex_unlock(&pool->lock);
        KI__LOG(pool->options.log, KI_LOG_WARNING, "pool",
                "all threads for handlers are busy; events of other handlers are delayed");
        ki__mutex_lock(&pool->lock);
    }
}

/* Starts workers; the lock is released meanwhile. */
static void grow(ki__pool *pool, size_t count)
{
    bool started = true;
    ki__mutex_unlock(&pool->lock);
    while (started && count-- > 0) {
        ki__mutex_lock(&pool->lock);
        worker *w = take_idle_worker(pool, false);
        ki__mutex_unlock(&pool->lock);
        started = w != NULL && start(pool, w) == 0;
    }
    ki__mutex_lock(&pool->lock);
}

static bool is_full(const ki__pool *pool)
{
    return pool->threads - 1 >= pool->options.limit; /* minus the watcher */
}

/* Jobs have been queued since the last check. Returns the number of threads to add, including the
 * watcher itself. Requires the lock. */
static size_t threads_to_add(ki__pool *pool, bool blocked)
{
    size_t limit = pool->options.limit;
    size_t waiting = atomic_load_explicit(&pool->waiting, memory_order_relaxed);
    size_t wanted = waiting > pool->starting ? waiting - pool->starting : 0;
    size_t room = is_full(pool) ? 0 : limit - (pool->threads - 1);
    size_t add = blocked ? pool->growth : 1;
    pool->growth = blocked ? pool->growth * 2 : 1;
    pool->growth = pool->growth < limit ? pool->growth : limit;
    add = add < wanted ? add : wanted;
    return add < room ? add : room;
}

/* Watches until the thread is needed as a worker, or no job is queued. Returns whether the thread
 * continues. Requires the lock. */
static bool watch(ki__pool *pool, worker *w)
{
    size_t add = 0;
    unsigned looks = 0;
    while (add == 0 && !ki__list_is_empty(&pool->jobs)) {
        uint64_t posts = pool->posts;
        uint64_t ends = pool->ends;
        uint64_t until = now(pool) + (pool->known_full ? LOOK_FULL_NS : LOOK_NS);
        while (ki__cond_wait_until(&w->wake, &pool->lock, until)) {
        }
        ki__list *first = pool->jobs.next;
        bool waited =
            first != &pool->jobs && KI__CONTAINER_OF(first, ki__job, link)->number <= posts;
        bool blocked = ends == pool->ends;
        looks = waited && !blocked ? looks + 1 : 0;
        if (waited && (blocked || looks == LOOKS)) {
            looks = 0;
            add = threads_to_add(pool, blocked);
            if (is_full(pool)) {
                note_full(pool);
            }
        }
    }
    if (add == 0) {
        pool->growth = 1;
        pool->known_full = false;
    } else {
        grow(pool, add - 1);
    }
    pool->watching = false; /* only now, so that the next watcher counts the new threads */
    return add != 0 || pool->threads <= pool->options.limit;
}

/* Removes and returns the first job, or NULL. Requires the lock. */
static ki__job *take(ki__pool *pool)
{
    ki__list *link = ki__list_pop_front(&pool->jobs);
    if (link == NULL) {
        return NULL;
    }
    ki__job *job = KI__CONTAINER_OF(link, ki__job, link);
    job->posted = false;
    atomic_fetch_sub_explicit(&pool->waiting, 1, memory_order_relaxed);
    return job;
}

/* Requires the lock, which is released while the job runs. */
static void run(ki__pool *pool, ki__job *job)
{
    wakeups s = choose_workers(pool);
    ki__mutex_unlock(&pool->lock);
    call_up(pool, s);
    job->run(job); /* may free the job */
    ki__mutex_lock(&pool->lock);
    pool->ends++;
}

/* Returns whether the thread continues; if not, no job is queued. Requires the lock. */
static bool wait_for_job(ki__pool *pool, worker *w)
{
    uint64_t until = now(pool) + IDLE_NS;
    w->chosen = false;
    ki__list_push_front(&pool->idle, &w->link);
    while (!w->chosen && pool->users != 0) {
        bool woken = ki__cond_wait_until(&w->wake, &pool->lock, until);
        if (!woken && !w->chosen && pool->threads > 1) {
            break;
        }
        until = woken ? until : UINT64_MAX; /* the last thread does not time out */
    }
    if (!w->chosen) {
        ki__list_remove(&w->link);
        return !ki__list_is_empty(&pool->jobs);
    }
    pool->searching = false;
    return true;
}

static void run_thread(void *arg)
{
    worker *w = arg;
    ki__pool *pool = w->pool;
    ki__mutex_lock(&pool->lock);
    bool stay = true;
    if (w->watcher) {
        stay = watch(pool, w);
    } else {
        pool->starting--;
        pool->searching = false;
    }
    while (stay) {
        ki__job *job = take(pool);
        if (job != NULL) {
            run(pool, job);
        } else {
            stay = wait_for_job(pool, w);
        }
    }
    dismiss(pool, w);
    ki__mutex_unlock(&pool->lock);
    ki__pool_unref(pool);
}

/* ---- users ---- */

int ki__pool_enter(ki__pool *pool)
{
    ki__mutex_lock(&pool->lock);
    pool->users++;
    bool first = pool->threads == 0;
    worker *w = first ? take_idle_worker(pool, false) : NULL;
    pool->searching = pool->searching || w != NULL;
    ki__mutex_unlock(&pool->lock);
    if (!first) {
        return 0;
    }
    int r = w != NULL ? start(pool, w) : -ENOMEM;
    if (r < 0) {
        ki__mutex_lock(&pool->lock);
        pool->users--;
        ki__mutex_unlock(&pool->lock);
    }
    return r;
}

void ki__pool_leave(ki__pool *pool)
{
    ki__mutex_lock(&pool->lock);
    if (--pool->users == 0) {
        KI__LIST_FOR_EACH (link, &pool->idle) {
            ki__cond_wake_one(&KI__CONTAINER_OF(link, worker, link)->wake);
        }
    }
    ki__mutex_unlock(&pool->lock);
}

void ki__job_init(ki__job *job, void (*run_it)(ki__job *job))
{
    ki__list_init(&job->link);
    job->posted = false;
    job->number = 0;
    job->run = run_it;
}

bool ki__pool_post(ki__pool *pool, ki__job *job)
{
    wakeups s = {NULL, NULL};
    ki__mutex_lock(&pool->lock);
    bool posted = !job->posted;
    if (posted) {
        job->posted = true;
        job->number = ++pool->posts;
        ki__list_push_back(&pool->jobs, &job->link);
        atomic_fetch_add_explicit(&pool->waiting, 1, memory_order_relaxed);
        s = choose_workers(pool);
    }
    ki__mutex_unlock(&pool->lock);
    call_up(pool, s);
    return posted;
}

bool ki__pool_unpost(ki__pool *pool, ki__job *job)
{
    ki__mutex_lock(&pool->lock);
    bool was_posted = job->posted;
    if (was_posted) {
        job->posted = false;
        ki__list_remove(&job->link);
        atomic_fetch_sub_explicit(&pool->waiting, 1, memory_order_relaxed);
    }
    ki__mutex_unlock(&pool->lock);
    return was_posted;
}

bool ki__pool_has_waiting(const ki__pool *pool)
{
    return atomic_load_explicit(&pool->waiting, memory_order_relaxed) != 0;
}

ki__pool_stats ki__pool_get_stats(ki__pool *pool)
{
    ki__mutex_lock(&pool->lock);
    ki__pool_stats stats = {.threads = pool->threads, .full = pool->full};
    ki__mutex_unlock(&pool->lock);
    return stats;
}

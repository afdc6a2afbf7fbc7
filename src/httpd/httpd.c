/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd on the loop: the loop watches libmicrohttpd's epoll descriptor, a timer represents
 * its next timeout, and a single task makes all calls into it. */
#include "httpd/httpd.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time_units.h"

enum { REQUEST_TIMEOUT_MS = 30000, IDLE_TIMEOUT_MS = 120000, CONNECTIONS_MAX = 1000000 };

/* ---- running ---- */

static void set_timer(ki__httpd *httpd)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(httpd->daemon, &ms) != MHD_YES) {
        /* Polled periodically while there are connections, in case libmicrohttpd lost track of
         * one. */
        ki__timer_set_after(&httpd->timer,
                            ki__list_is_empty(&httpd->busy) ? UINT64_MAX : KI__SECOND_NS);
    } else if (ms == 0) {
        ki__httpd_wake(httpd);
    } else {
        ki__timer_set_after(&httpd->timer, ms * KI__MS_NS);
    }
}

static void resume_due(ki__httpd *httpd)
{
    for (ki__list *link; (link = ki__list_pop_front(&httpd->due)) != NULL;) {
        ki__httpd_resume(KI__CONTAINER_OF(link, ki__httpd_connection, link));
    }
}

/* Inside ki_engine_run(). */
static void run(ki__task *task)
{
    ki__httpd *httpd = KI__CONTAINER_OF(task, ki__httpd, task);
    const ki__httpd_service *service = httpd->options.service;
    ki__mutex_lock(httpd->options.lock);
    resume_due(httpd);
    httpd->active = false;
    (void)MHD_run(httpd->daemon);
    if (service->after_run != NULL && service->after_run(httpd)) {
        httpd->active = ki__httpd_poll_waiting(httpd) || httpd->active;
    }
    /* Further work may be possible immediately without libmicrohttpd's timeout saying so: a closed
     * connection has to be cleaned up before another one can be accepted. */
    if (httpd->active) {
        ki__httpd_wake(httpd);
    } else {
        set_timer(httpd);
    }
    ki__mutex_unlock(httpd->options.lock);
}

static void on_timer(ki__timer *timer)
{
    ki__httpd_wake(KI__CONTAINER_OF(timer, ki__httpd, timer));
}

/* Outside of ki_engine_run(). */
static void on_ready(ki__watch *watch, uint32_t events)
{
    (void)events;
    ki__httpd_wake(KI__CONTAINER_OF(watch, ki__httpd, watch));
}

/* ---- start ---- */

static int start_daemon(ki__httpd *httpd, int listen_fd, ki_error *error)
{
    const ki__httpd_options *o = &httpd->options;
    uint32_t connections =
        o->max_connections < CONNECTIONS_MAX ? o->max_connections : CONNECTIONS_MAX;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, o->key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, o->certificate},
        {o->client_ca != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, o->client_ca},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    bool with_tls = o->key != NULL;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (with_tls ? MHD_USE_TLS : 0);
    errno = 0;
    httpd->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, ki__httpd_on_request, httpd,                      /* */
        MHD_OPTION_LISTEN_SOCKET, listen_fd,                                    /* */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections,                     /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)KI__HTTPD_CONNECTION_BYTES, /* */
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, /* our own timeouts are stricter */  /* */
        MHD_OPTION_NOTIFY_CONNECTION, ki__httpd_on_connection, httpd,           /* */
        MHD_OPTION_NOTIFY_COMPLETED, ki__httpd_on_completed, httpd,             /* */
        MHD_OPTION_URI_LOG_CALLBACK, ki__httpd_on_target, httpd,                /* */
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                                        /* */
        MHD_OPTION_ARRAY, with_tls ? tls : none,                                /* */
        MHD_OPTION_END);
    if (httpd->daemon == NULL) {
        int r = errno > 0 ? -errno : -EIO;
        (void)close(listen_fd);
        return ki__error_set(error, r, "cannot start libmicrohttpd: %s", ki_error_text(r));
    }
    return 0;
}

static int attach(ki__httpd *httpd, ki_error *error)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(httpd->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    int r = ki__timer_init(&httpd->timer, httpd->engine, on_timer);
    if (r == 0) {
        r = info != NULL ? ki__watch_add(&httpd->watch, httpd->options.loop, info->epoll_fd,
                                         EPOLLIN, on_ready)
                         : -EIO;
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static uint64_t timeout_ns(uint32_t ms, uint32_t otherwise)
{
    return ki__ms_to_ns(ms != 0 ? ms : otherwise);
}

void ki__httpd_init(ki__httpd *httpd)
{
    *httpd = (ki__httpd){.engine = NULL};
    ki__list_init(&httpd->busy);
    ki__list_init(&httpd->waiting);
    ki__list_init(&httpd->due);
    ki__task_init(&httpd->task, run);
}

int ki__httpd_start(ki__httpd *httpd, const ki__httpd_options *options, int listen_fd,
                    ki_error *error)
{
    httpd->options = *options;
    httpd->request_timeout_ns = timeout_ns(options->request_timeout_ms, REQUEST_TIMEOUT_MS);
    httpd->idle_timeout_ns = timeout_ns(options->idle_timeout_ms, IDLE_TIMEOUT_MS);
    int r = start_daemon(httpd, listen_fd, error);
    httpd->engine = r == 0 ? ki_loop_engine(options->loop) : NULL;
    httpd->options.key = httpd->options.certificate = httpd->options.client_ca = NULL;
    r = r < 0 ? r : attach(httpd, error);
    if (r == 0) {
        ki__httpd_wake(httpd);
    }
    return r;
}

/* ---- stop ---- */

void ki__httpd_stop(ki__httpd *httpd)
{
    ki__watch_remove(&httpd->watch);
    if (httpd->daemon != NULL) {
        (void)ki__engine_unpost(httpd->engine, &httpd->task);
        resume_due(httpd);
        KI__LIST_FOR_EACH (link, &httpd->waiting) {
            ki__httpd_resume(KI__CONTAINER_OF(link, ki__httpd_connection, link));
        }
        MHD_stop_daemon(httpd->daemon);
        httpd->daemon = NULL;
        (void)ki__engine_unpost(httpd->engine, &httpd->task);
    }
    ki__timer_done(&httpd->timer);
}

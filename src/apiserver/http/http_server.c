/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle of the embedded server, and libmicrohttpd on the loop: the loop watches
 * libmicrohttpd's epoll descriptor, a timer represents its next timeout, and a single task makes
 * all calls into it. */
#include "apiserver/http/http_server.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/secret.h"
#include "base/time_units.h"

enum {
    CONNECTIONS_MAX = 1000,
    TOKEN_MAX = 4096,
    REQUEST_TIMEOUT_MS = 30000,
    IDLE_TIMEOUT_MS = 120000,
    PEM_MAX = 64 * 1024,
};

/* ---- running ---- */

static void set_timer(ki_apiserver *server)
{
    MHD_UNSIGNED_LONG_LONG ms;
    if (MHD_get_timeout(server->daemon, &ms) != MHD_YES) {
        /* Polled periodically while there are connections, in case libmicrohttpd lost track of
         * one. */
        ki__timer_set_after(&server->timer,
                            ki__list_is_empty(&server->busy) ? UINT64_MAX : KI__SECOND_NS);
    } else if (ms == 0) {
        ki__http_wake(server);
    } else {
        ki__timer_set_after(&server->timer, ms * KI__MS_NS);
    }
}

static void resume_due(ki_apiserver *server)
{
    for (ki__list *link; (link = ki__list_pop_front(&server->due)) != NULL;) {
        ki__http_resume(KI__CONTAINER_OF(link, ki__http_connection, link));
    }
}

/* Inside ki_engine_run(). */
static void run(ki__task *task)
{
    ki_apiserver *server = KI__CONTAINER_OF(task, ki_apiserver, task);
    ki__mutex_lock(&server->lock);
    resume_due(server);
    server->active = false;
    (void)MHD_run(server->daemon);
    if (server->changed) {
        server->changed = false;
        ki__http_follow(server);
        server->active = ki__http_poll_waiting(server) || server->active;
    }
    /* Further work may be possible immediately without libmicrohttpd's timeout saying so: a closed
     * connection has to be cleaned up before another one can be accepted. */
    if (server->active) {
        ki__http_wake(server);
    } else {
        set_timer(server);
    }
    ki__mutex_unlock(&server->lock);
}

static void on_timer(ki__timer *timer)
{
    ki__http_wake(KI__CONTAINER_OF(timer, ki_apiserver, timer));
}

/* Outside of ki_engine_run(). */
static void on_ready(ki__watch *watch, uint32_t events)
{
    (void)events;
    ki__http_wake(KI__CONTAINER_OF(watch, ki_apiserver, watch));
}

/* Called with the lock held. */
static void on_change(void *user)
{
    ki_apiserver *server = user;
    server->changed = true;
    ki__http_wake(server);
}

/* ---- creation ---- */

static void decide(const ki__api_point *point, ki__api_plan *plan, void *user)
{
    ki_apiserver *server = user;
    ki__api_rules_decide(point, plan, &server->fault_set.rules);
}

static int make_model(ki_apiserver *server, const ki_apiserver_options *o, ki_error *error)
{
    const ki__api_model_options model = {
        .alloc = server->alloc,
        .clock = ki__engine_clock(server->engine),
        .random = ki__engine_entropy(server->engine),
        .history_max = o->max_history,
        .history_bytes = o->max_history_bytes,
        .objects_max = o->max_objects,
        .object_bytes_max = o->max_body_bytes,
        .namespaces = !o->any_namespace,
        .collects_garbage = !o->no_garbage_collection,
    };
    server->faults = (ki__api_faults){decide, server};
    const ki__api_server_options options = {
        .bookmark_ms = o->bookmark_ms,
        .watch_timeout_s = ki__ms_to_seconds(o->watch_timeout_ms),
        .faults = &server->faults,
        .tracks_fields = true,
    };
    const ki__api_server_options direct = {.whole_objects = true};
    int r = ki__api_model_new(&model, &server->model);
    r = r < 0 ? r : ki__api_server_new(server->model, &options, &server->server);
    r = r < 0 ? r : ki__api_server_new(server->model, &direct, &server->direct);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    server->model->on_change = on_change;
    server->model->on_change_user = server;
    return 0;
}

static int take_token(ki_apiserver *server, const char *token, ki_error *error)
{
    if (token == NULL) {
        return 0;
    }
    ki_str text = ki_str_from(token);
    bool ok = text.len != 0 && text.len <= TOKEN_MAX;
    for (size_t i = 0; i < text.len && ok; i++) {
        ok = text.ptr[i] > ' ' && text.ptr[i] < 0x7f && text.ptr[i] != '"' && text.ptr[i] != '\\';
    }
    if (!ok) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "token: not 1 to %d printable characters without blanks and quotes",
                             (int)TOKEN_MAX);
    }
    int r = ki_buf_add_str(&server->token, text);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int pick_seed(ki_apiserver *server, uint64_t seed, ki_error *error)
{
    const ki_random *random = ki__engine_entropy(server->engine);
    server->seed = seed;
    if (seed == 0 && random->fill(&server->seed, sizeof(server->seed), random->user) < 0) {
        return ki__error_set(error, -EIO, "no source of random numbers");
    }
    return 0;
}

static int start_daemon(ki_apiserver *server, const ki_apiserver_options *o, ki_error *error)
{
    size_t connections = o->max_connections != 0 ? o->max_connections : CONNECTIONS_MAX;
    connections = connections < 1000000 ? connections : 1000000;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, server->identity.key.data},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, server->identity.certificate.data},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (o->tls ? MHD_USE_TLS : 0);
    errno = 0;
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, ki__http_on_request, server,                     /* */
        MHD_OPTION_LISTEN_SOCKET, server->listen_fd,                           /* */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections,                    /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)KI__HTTP_CONNECTION_BYTES, /* */
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, /* our own timeouts are stricter */ /* */
        MHD_OPTION_NOTIFY_CONNECTION, ki__http_on_connection, server,          /* */
        MHD_OPTION_NOTIFY_COMPLETED, ki__http_on_completed, server,            /* */
        MHD_OPTION_URI_LOG_CALLBACK, ki__http_on_target, server,               /* */
        MHD_OPTION_STRICT_FOR_CLIENT, 1,                                       /* */
        MHD_OPTION_ARRAY, o->tls ? tls : none,                                 /* */
        MHD_OPTION_END);
    if (server->daemon == NULL) {
        int r = errno > 0 ? -errno : -EIO;
        return ki__error_set(error, r, "cannot start libmicrohttpd: %s", ki_error_text(r));
    }
    server->listen_fd = -1; /* now owned by the daemon */
    return 0;
}

static int attach(ki_apiserver *server, ki_error *error)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    int r = ki__timer_init(&server->timer, server->engine, on_timer);
    r = r < 0 ? r : ki__timer_init(&server->lag_timer, server->engine, ki__http_on_lag);
    if (r == 0) {
        r = info != NULL
                ? ki__watch_add(&server->watch, server->loop, info->epoll_fd, EPOLLIN, on_ready)
                : -EIO;
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int make_loop(ki_apiserver *server, const ki_apiserver_options *o, ki_error *error)
{
    if (o->loop != NULL) {
        server->loop = ki_loop_ref(o->loop);
    } else {
        ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
        options.alloc = server->alloc;
        options.log = o->log;
        options.no_threads = true;
        int r = ki_loop_new(&options, &server->loop, error);
        if (r < 0) {
            return r;
        }
        server->own_loop = true;
    }
    server->engine = ki_engine_ref(ki_loop_engine(server->loop));
    return 0;
}

static int make(ki_apiserver *server, const ki_apiserver_options *o, ki_error *error)
{
    if (o->tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED, "libmicrohttpd was built without TLS");
    }
    int r = make_loop(server, o, error);
    r = r < 0 ? r : take_token(server, o->token, error);
    r = r < 0 ? r : ki__http_allow_hosts(server, o->allowed_hosts, error);
    r = r < 0 ? r : pick_seed(server, o->seed, error);
    r = r < 0 ? r : make_model(server, o, error);
    r = r < 0 ? r : ki__http_set_faults(server, ki_str_from(o->faults), error);
    const char *listen = o->listen != NULL ? o->listen : "127.0.0.1:0";
    r = r < 0 ? r : ki__http_listen(server, listen, o->tls, error);
    if (r == 0 && o->tls) {
        r = ki__http_make_identity(server, &server->identity, error);
    }
    r = r < 0 ? r : start_daemon(server, o, error);
    r = r < 0 ? r : attach(server, error);
    if (r == 0 && server->own_loop) {
        r = ki_loop_start(server->loop, error);
    }
    return r;
}

/* ---- destruction ---- */

/* Only while no thread runs the loop, or on the loop's thread. Also for partially initialized
 * servers. */
static void destroy(ki_apiserver *server)
{
    if (server->own_loop) {
        ki_loop_stop(server->loop);
        int r = ki_loop_join(server->loop);
        ki_assert(r == 0); /* we make no callbacks on that thread */
    }
    ki__watch_remove(&server->watch);
    if (server->engine != NULL) {
        (void)ki__engine_unpost(server->engine, &server->task);
    }
    if (server->daemon != NULL) {
        resume_due(server);
        KI__LIST_FOR_EACH (link, &server->waiting) {
            ki__http_resume(KI__CONTAINER_OF(link, ki__http_connection, link));
        }
        MHD_stop_daemon(server->daemon);
    } else if (server->listen_fd >= 0) {
        (void)close(server->listen_fd);
    }
    ki__timer_done(&server->timer);
    ki__timer_done(&server->lag_timer);
    if (server->engine != NULL) {
        (void)ki__engine_unpost(server->engine, &server->task);
    }
    ki__api_server_free(server->direct);
    ki__api_server_free(server->server);
    ki__api_model_free(server->model);
    ki__api_fault_set_done(&server->fault_set);
    (void)ki_engine_unref(server->engine);
    (void)ki_loop_unref(server->loop);
    ki__wipe(server->token.data, server->token.len);
    ki__wipe(server->identity.key.data, server->identity.key.len);
    ki_buf_done(&server->token);
    ki_buf_done(&server->allowed_hosts);
    ki_buf_done(&server->identity.ca);
    ki_buf_done(&server->identity.certificate);
    ki_buf_done(&server->identity.key);
    ki__mutex_done(&server->lock);
    ki__free(server->alloc, server);
}

int ki_apiserver_new(const ki_apiserver_options *options, ki_apiserver **ret_server,
                     ki_error *error)
{
    KI__REQUIRE(ret_server, error);
    ki_apiserver_options o = {0};
    int r = KI__TAKE(ki_apiserver_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_apiserver *server = ki__alloc_zero(alloc, sizeof(*server));
    if (server == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = ki__mutex_init(&server->lock);
    if (r < 0) {
        ki__free(alloc, server);
        return ki__error_code(error, r);
    }
    ki__refs_init(&server->refs);
    server->alloc = alloc;
    server->log = o.log;
    server->listen_fd = -1;
    server->request_timeout_ns =
        ki__ms_to_ns(o.request_timeout_ms != 0 ? o.request_timeout_ms : REQUEST_TIMEOUT_MS);
    server->idle_timeout_ns =
        ki__ms_to_ns(o.idle_timeout_ms != 0 ? o.idle_timeout_ms : IDLE_TIMEOUT_MS);
    ki_buf_init(&server->token, alloc, TOKEN_MAX);
    ki_buf_init(&server->identity.ca, alloc, PEM_MAX);
    ki_buf_init(&server->identity.certificate, alloc, PEM_MAX);
    ki_buf_init(&server->identity.key, alloc, PEM_MAX);
    ki__list_init(&server->busy);
    ki__list_init(&server->waiting);
    ki__list_init(&server->due);
    ki__task_init(&server->task, run);
    r = make(server, &o, error);
    if (r < 0) {
        destroy(server);
        return r;
    }
    KI__LOG(server->log, KI_LOG_INFO, "apiserver", "listens", {"url", ki_str_from(server->url)});
    *ret_server = server;
    return 0;
}

ki_apiserver *ki_apiserver_ref(ki_apiserver *server)
{
    if (server != NULL) {
        ki__refs_take(&server->refs);
    }
    return server;
}

ki_apiserver *ki_apiserver_unref(ki_apiserver *server)
{
    if (server != NULL && ki__refs_drop(&server->refs) &&
        !ki__engine_is_inherited(server->engine)) {
        destroy(server);
    }
    return NULL;
}

const char *ki_apiserver_url(const ki_apiserver *server)
{
    return server->url;
}

const char *ki_apiserver_ca(const ki_apiserver *server)
{
    return ki_buf_text(&server->identity.ca);
}

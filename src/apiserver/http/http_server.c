/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle of the embedded server. */
#include "apiserver/http/http_server.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/secret.h"
#include "base/time_units.h"

enum { CONNECTIONS_MAX = 1000, TOKEN_MAX = 4096, PEM_MAX = 64 * 1024 };

/* ---- the service ---- */

static int next(void *exchange, size_t max, ki_str *ret_bytes)
{
    static const ki__httpd_result results[] = {
        [KI__API_WAIT] = KI__HTTPD_WAIT,       [KI__API_DATA] = KI__HTTPD_DATA,
        [KI__API_END] = KI__HTTPD_END,         [KI__API_CUT] = KI__HTTPD_CUT,
        [KI__API_REFUSED] = KI__HTTPD_REFUSED,
    };
    int r = ki__api_exchange_next(exchange, max, ret_bytes);
    return r < 0 ? r : (int)results[r];
}

static uint64_t deadline(const void *exchange)
{
    return ki__api_exchange_deadline(exchange);
}

static int status(const void *exchange)
{
    return ki__api_exchange_status(exchange);
}

static void end(void *exchange)
{
    (void)ki__api_exchange_free(exchange);
}

static bool after_run(ki__httpd *httpd)
{
    ki_apiserver *server = httpd->options.user;
    if (!server->changed) {
        return false;
    }
    server->changed = false;
    ki__http_follow(server);
    return true;
}

static const ki__httpd_service service = {
    .begin = ki__http_begin,
    .next = next,
    .deadline = deadline,
    .status = status,
    .add_headers = ki__http_add_headers,
    .end = end,
    .after_run = after_run,
};

/* Called with the lock held. */
static void on_change(void *user)
{
    ki_apiserver *server = user;
    server->changed = true;
    ki__httpd_wake(&server->httpd);
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

static int pick_seed(ki_apiserver *server, uint64_t seed, ki_error *error)
{
    const ki_random *random = ki__engine_entropy(server->engine);
    server->seed = seed;
    if (seed == 0 && random->fill(&server->seed, sizeof(server->seed), random->user) < 0) {
        return ki__error_set(error, -EIO, "no source of random numbers");
    }
    return 0;
}

static int start(ki_apiserver *server, const ki_apiserver_options *o, ki_error *error)
{
    size_t connections = o->max_connections != 0 ? o->max_connections : CONNECTIONS_MAX;
    const ki__httpd_options options = {
        .service = &service,
        .user = server,
        .alloc = server->alloc,
        .loop = server->loop,
        .lock = &server->lock,
        .target_max = KI__API_TARGET_MAX,
        .body_max = server->model->options.object_bytes_max,
        .max_connections = connections < UINT32_MAX ? (uint32_t)connections : UINT32_MAX,
        .request_timeout_ms = o->request_timeout_ms,
        .idle_timeout_ms = o->idle_timeout_ms,
        .key = o->tls ? server->identity.key.data : NULL,
        .certificate = o->tls ? server->identity.certificate.data : NULL,
    };
    int r = ki__timer_init(&server->lag_timer, server->engine, ki__http_on_lag);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    int fd = server->address.fd;
    server->address.fd = -1;
    return ki__httpd_start(&server->httpd, &options, fd, error);
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
    r = r < 0 ? r : ki__httpd_take_token(&server->token, o->token, error);
    r = r < 0
            ? r
            : ki__httpd_allow_hosts(&server->allowed_hosts, server->alloc, o->allowed_hosts, error);
    r = r < 0 ? r : pick_seed(server, o->seed, error);
    r = r < 0 ? r : make_model(server, o, error);
    r = r < 0 ? r : ki__http_set_faults(server, ki_str_from(o->faults), error);
    const char *listen = o->listen != NULL ? o->listen : "127.0.0.1:0";
    r = r < 0 ? r : ki__httpd_listen(listen, o->tls, &server->address, error);
    if (r == 0 && o->tls) {
        r = ki__http_make_identity(server, &server->identity, error);
    }
    r = r < 0 ? r : start(server, o, error);
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
    ki__httpd_stop(&server->httpd);
    ki__httpd_address_done(&server->address);
    ki__timer_done(&server->lag_timer);
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
    server->address.fd = -1;
    ki_buf_init(&server->token, alloc, TOKEN_MAX);
    ki_buf_init(&server->identity.ca, alloc, PEM_MAX);
    ki_buf_init(&server->identity.certificate, alloc, PEM_MAX);
    ki_buf_init(&server->identity.key, alloc, PEM_MAX);
    ki__httpd_init(&server->httpd);
    r = make(server, &o, error);
    if (r < 0) {
        destroy(server);
        return r;
    }
    KI__LOG(server->log, KI_LOG_INFO, "apiserver", "listens",
            {"url", ki_str_from(server->address.url)});
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
    return server->address.url;
}

const char *ki_apiserver_ca(const ki_apiserver *server)
{
    return ki_buf_text(&server->identity.ca);
}

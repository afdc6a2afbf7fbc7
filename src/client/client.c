/* SPDX-License-Identifier: Apache-2.0 */
/* The client: configuration, credentials, transport and rate limiter on one loop. Everything that
 * uses the loop is created and freed inside it, on any thread. */
#include "client/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <kinformer/buf.h>
#include <kinformer/config.h>
#include <kinformer/parts/shared_informer.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "client/request.h"
#include "loop/loop.h"

enum { URL_MAX_BYTES = 1 << 20 };

/* ---- policy ---- */

static int check_policy(const ki_config *config, const ki_client_options *o, ki_error *error)
{
    if (ki_config_get_tls(config)->insecure && !o->allow_insecure) {
        return ki__error_set(error, KI_ERR_DENIED,
                             "insecure-skip-tls-verify in the configuration requires the client "
                             "option allow_insecure");
    }
    return 0; /* plugins are checked where one is needed */
}

static int check_options(const ki_client_options *options, ki_client_options *ret_options,
                         ki_error *error)
{
    ki_client_options o = {0};
    int r = KI__TAKE(ki_client_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if ((unsigned)o.exec_policy >= KI_EXEC_MAX || (unsigned)o.http >= KI_CLIENT_HTTP_MAX) {
        return ki__error_set(error, -EINVAL, "exec_policy or http: unknown value");
    }
    *ret_options = o;
    return 0;
}

/* ---- inside the loop ---- */

typedef struct making {
    ki_client *client;
    const ki_client_options *options;
    const char *url;
    ki_error *error;
    int result;
} making;

static int open_curl(ki_client *client, const making *m)
{
    static const ki__curl_http http[KI_CLIENT_HTTP_MAX] = {
        [KI_CLIENT_HTTP_AUTO] = KI__CURL_HTTP_AUTO,
        [KI_CLIENT_HTTP_1_1] = KI__CURL_HTTP_1_1,
        [KI_CLIENT_HTTP_2] = KI__CURL_HTTP_2,
    };
    ki_str proxy = ki_config_proxy_url(client->config);
    const ki__curl_options options = {
        .loop = client->loop,
        .url = m->url,
        .tls = ki__credentials_tls(client->credentials),
        .auth = ki__credentials_auth(client->credentials),
        .user_agent = m->options->user_agent,
        .proxy = proxy.len != 0 ? proxy.ptr : NULL,
        .environment = m->options->environment_proxy,
        .unix_socket = m->options->unix_socket,
        .http = http[m->options->http],
        .stats = &client->stats,
        .no_compression = ki_config_disable_compression(client->config),
    };
    return ki__curl_new(&options, &client->curl, m->error);
}

static void take_reference(void *user)
{
    ki__client_hold(user);
}

static void drop_reference(void *user)
{
    ki__client_release(user);
}

static int start_call(const ki_http_request *request, const ki_http_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    const ki_client *client = user;
    return ki__curl_start_throttled(client->curl, client->throttle, request, sink, ret_call, error);
}

static void set_table(ki_client *client)
{
    client->transport = ki__curl_table(client->curl);
    client->transport.start =
        start_call; /* the rest of the table takes a call of libcurl's transport */
    client->transport.ref = take_reference;
    client->transport.unref = drop_reference;
    client->transport.user = client;
}

static int open_parts(const making *m)
{
    ki_client *client = m->client;
    int r = ki__credentials_new(client->loop, client->config, m->options, &client->credentials,
                                m->error);
    if (r == 0) {
        r = open_curl(client, m);
    }
    if (r < 0) {
        return r;
    }
    ki__credentials_attach(client->credentials, client->curl);
    r = ki__throttle_new(client->engine, m->options->qps, m->options->burst, &client->throttle,
                         m->error);
    if (r == 0) {
        set_table(client);
    }
    return r;
}

static void open_inside(void *arg)
{
    making *m = arg;
    m->result = open_parts(m);
}

static void close_inside(void *arg)
{
    ki_client *client = arg;
    ki__loop_remove_stop_hook(client->loop, &client->stop_hook);
    ki__discovery_cache_done(&client->discovery);
    if (client->credentials != NULL) {
        ki__credentials_attach(client->credentials, NULL);
    }
    ki__throttle_free(client->throttle);
    ki__curl_free(client->curl);
    ki__credentials_free(client->credentials);
}

/* The loop was stopped: pending calls end. Calls and waiters hold the client, the last of them
 * until it is notified: a waiting thread may then release the client. So the client is not accessed
 * afterwards, and without calls and waiters another thread may be about to close it. */
static void on_stop(ki__stop_hook *hook)
{
    ki_client *client = KI__CONTAINER_OF(hook, ki_client, stop_hook);
    bool calls = ki__calls_close(client);
    if (calls) {
        ki__client_hold(client); /* ending the discovery calls may drop the last reference */
    }
    ki_error error = KI_ERROR_INIT;
    (void)ki__error_set(&error, KI_ERR_STOPPED, KI__STOPPED_BEFORE_RESPONSE);
    bool waiters = ki__discovery_cache_close(&client->discovery, &error);
    if (calls) {
        calls = ki__calls_close(client);
        ki__client_release(client);
    }
    if (waiters) {
        ki__discovery_cache_notify(&client->discovery);
    }
    if (calls) {
        ki__calls_stop(client);
    }
}

/* ---- creation ---- */

static int take_loop(ki_client *client, const ki_client_options *o, ki_error *error)
{
    if (o->loop != NULL && ki__engine_is_inherited(ki_loop_engine(o->loop))) {
        return ki__error_set(error, KI_ERR_STOPPED, "loop: belongs to the parent process");
    }
    if (o->loop != NULL) {
        client->loop = ki_loop_ref(o->loop);
    } else {
        ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
        options.alloc = o->alloc;
        options.log = o->log;
        options.handler_threads = o->handler_threads;
        int r = ki_loop_new(&options, &client->loop, error);
        if (r < 0) {
            return r;
        }
        client->own_loop = true;
    }
    client->engine = ki_loop_engine(client->loop);
    return 0;
}

static int take_config(ki_client *client, const ki_client_options *o, ki_error *error)
{
    ki_config *loaded = NULL;
    int r = 0;
    if (o->config == NULL) {
        ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
        options.alloc = client->alloc;
        options.log = ki__engine_log(client->engine);
        r = ki_config_load(&options, &loaded, error);
    }
    if (r < 0) {
        return r;
    }
    client->config = loaded != NULL ? loaded : ki_config_ref(o->config);
    r = check_policy(client->config, o, error);
    if (r == 0 && ki_config_get_tls(client->config)->insecure) {
        KI__LOG(ki__engine_log(client->engine), KI_LOG_WARNING, "client",
                "server certificate is not verified (insecure-skip-tls-verify)",
                {"server", ki_str_from(ki_config_server(client->config))});
    }
    return r;
}

static int open_client(ki_client *client, const ki_client_options *o, ki_error *error)
{
    ki_buf url;
    ki_buf_init(&url, client->alloc, URL_MAX_BYTES);
    int r = ki_buf_add_text(&url, ki_config_server(client->config));
    if (r == 0) {
        r = ki_buf_add_text(&url, ki_config_path_prefix(client->config));
    }
    if (r < 0) {
        (void)ki__error_code(error, r);
    } else {
        making m = {.client = client, .options = o, .url = ki_buf_text(&url), .error = error};
        ki__loop_call(client->loop, open_inside, &m);
        r = m.result;
    }
    ki_buf_done(&url);
    if (r == 0 && client->own_loop) {
        r = ki_loop_start(client->loop, error);
    }
    return r;
}

static int init_locks(ki_client *client)
{
    int r = ki__mutex_init(&client->calls.lock);
    if (r < 0) {
        return r;
    }
    r = ki__mutex_init(&client->lock);
    if (r < 0) {
        ki__mutex_done(&client->calls.lock);
    }
    return r;
}

int ki_client_new(const ki_client_options *options, ki_client **ret_client, ki_error *error)
{
    KI__REQUIRE(ret_client, error);
    ki_client_options o = {0};
    int r = check_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc =
        o.loop != NULL ? ki__engine_alloc(ki_loop_engine(o.loop)) : ki__alloc_or_default(o.alloc);
    ki_client *client = ki__alloc_zero(alloc, sizeof(*client));
    if (client == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    r = init_locks(client);
    if (r < 0) {
        ki__free(alloc, client);
        return ki__error_code(error, r);
    }
    ki__list_init(&client->calls.list);
    ki__list_init(&client->stop_hook.link);
    client->stop_hook.run = on_stop;
    ki__refs_init(&client->users);
    ki__refs_init(&client->parts);
    client->timeout_ms = o.request_timeout_ms != 0 ? o.request_timeout_ms : KI_REQUEST_TIMEOUT_MS;
    client->alloc = alloc;
    client->pid = getpid();
    r = take_loop(client, &o, error);
    if (r == 0) {
        r = ki__client_init_discovery(client);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    if (r == 0) {
        r = take_config(client, &o, error);
    }
    if (r == 0) {
        r = open_client(client, &o, error);
    }
    if (r < 0) {
        (void)ki_client_unref(client);
        return r;
    }
    ki__loop_add_stop_hook(client->loop, &client->stop_hook);
    *ret_client = client;
    return 0;
}

/* ---- destruction ---- */

void ki__client_hold(ki_client *client)
{
    ki__refs_take(&client->parts);
}

void ki__client_release(ki_client *client)
{
    if (!ki__refs_drop(&client->parts)) {
        return;
    }
    ki_loop *loop = client->loop;
    if (client->pid != getpid()) {
        /* In a child of fork(), connections, plugins and locks belong to the parent. The memory is
         * leaked. */
        (void)ki_loop_unref(loop);
        return;
    }
    if (loop != NULL) {
        ki__members_remove(ki__engine_members(client->engine), client);
        ki__loop_call(loop, close_inside, client);
        if (client->own_loop) {
            ki_loop_stop(loop);
        }
    }
    (void)ki_config_unref(client->config);
    ki__mutex_done(&client->lock);
    ki__mutex_done(&client->calls.lock);
    ki__free(client->alloc, client);
    (void)ki_loop_unref(loop);
}

ki_client *ki_client_ref(ki_client *client)
{
    if (client != NULL) {
        ki__refs_take(&client->users);
    }
    return client;
}

ki_client *ki_client_unref(ki_client *client)
{
    if (client != NULL && ki__refs_drop(&client->users)) {
        ki__client_stop_informers(client);
        ki__client_release(client);
    }
    return NULL;
}

ki_client *ki_client_close(ki_client *client)
{
    if (client == NULL) {
        return NULL;
    }
    bool wait = client->own_loop && client->pid == getpid();
    ki_loop *loop = ki_loop_ref(client->loop);
    (void)ki_client_unref(client);
    if (wait) {
        int r = ki_loop_join(loop);
        (void)r; /* fails inside the loop, or if another thread joins it */
    }
    (void)ki_loop_unref(loop);
    return NULL;
}

/* ---- accessors ---- */

const ki_config *ki_client_config(const ki_client *client)
{
    return client->config;
}

ki_loop *ki_client_loop(const ki_client *client)
{
    return client->loop;
}

ki_engine *ki_client_engine(const ki_client *client)
{
    return client->engine;
}

const ki_transport *ki_client_transport(const ki_client *client)
{
    return &client->transport;
}

int ki_client_factory(ki_client *client, const ki_factory_options *options,
                      ki_factory **ret_factory, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(ret_factory, error);
    ki_factory_options o = {0};
    int r = KI__TAKE(ki_factory_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if ((o.engine != NULL && o.engine != client->engine) || o.transport != NULL ||
        o.make_source != NULL) {
        return ki__error_set(
            error, -EINVAL,
            "engine, transport and make_source: must not be set; the client provides them");
    }
    o.engine = client->engine;
    o.transport = &client->transport;
    return ki_factory_new(&o, ret_factory, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle of the monitor server. Everything on the loop is created and freed inside it,
 * whichever thread calls. */
#include "monitor_server/monitor_server.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include <kinformer/manager.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/secret.h"
#include "monitor/checks.h"

enum {
    CONNECTIONS_MAX = 64,
    REQUEST_TIMEOUT_MS = 10000,
    IDLE_TIMEOUT_MS = 60000,
    TOKEN_MAX = 4096,
    PEM_MAX = 1 << 20,
};

static const char unix_prefix[] = "unix:";

/* ---- creation ---- */

static uint32_t or_default(uint32_t number, uint32_t otherwise)
{
    return number != 0 ? number : otherwise;
}

static int take_checks(ki_monitor_server *server, const ki_check_options *checks, ki_error *error)
{
    int r = ki__check_options(checks, &server->checks, error);
    server->checks.size = sizeof(server->checks);
    return r;
}

static int listen_at(ki_monitor_server *server, const ki_monitor_server_options *o, ki_error *error)
{
    const char *text = o->listen != NULL ? o->listen : "127.0.0.1:0";
    bool is_unix = strncmp(text, unix_prefix, strlen(unix_prefix)) == 0;
    int r = is_unix ? ki__httpd_listen_unix(text + strlen(unix_prefix), &server->address, error)
                    : ki__httpd_listen(text, o->certificate != NULL, &server->address, error);
    if (r == 0 && !server->address.loopback && server->token.len == 0 && !server->client_ca) {
        return ki__error_set(error, KI_ERR_DENIED,
                             "listen: other machines can reach %.80s: require a token or client "
                             "certificates",
                             text);
    }
    return r;
}

/* GnuTLS's own message names neither the option nor the reason. */
static int check_pem(const char *certificate, const char *key, const char *client_ca,
                     ki_error *error)
{
    gnutls_certificate_credentials_t credentials;
    const gnutls_datum_t cert = {(unsigned char *)(uintptr_t)certificate,
                                 (unsigned)strlen(certificate)};
    const gnutls_datum_t secret = {(unsigned char *)(uintptr_t)key, (unsigned)strlen(key)};
    if (gnutls_certificate_allocate_credentials(&credentials) < 0) {
        return ki__error_code(error, -ENOMEM);
    }
    int g = gnutls_certificate_set_x509_key_mem(credentials, &cert, &secret, GNUTLS_X509_FMT_PEM);
    const char *what = "certificate and private_key";
    if (g >= 0 && client_ca != NULL) {
        const gnutls_datum_t ca = {(unsigned char *)(uintptr_t)client_ca,
                                   (unsigned)strlen(client_ca)};
        what = "client_ca";
        g = gnutls_certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM);
        g = g == 0 ? GNUTLS_E_NO_CERTIFICATE_FOUND : g;
    }
    gnutls_certificate_free_credentials(credentials);
    return g < 0 ? ki__error_set(error, KI_ERR_INVALID, "%s: %s", what, gnutls_strerror(g)) : 0;
}

static int check_tls(const ki_monitor_server_options *o, ki_error *error)
{
    if ((o->certificate == NULL) != (o->private_key == NULL)) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "certificate and private_key: either both or neither");
    }
    if (o->certificate == NULL) {
        return o->client_ca == NULL
                   ? 0
                   : ki__error_set(error, KI_ERR_INVALID, "client_ca: requires a certificate");
    }
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        return ki__error_set(error, KI_ERR_UNSUPPORTED, "libmicrohttpd was built without TLS");
    }
    return check_pem(o->certificate, o->private_key, o->client_ca, error);
}

/* libmicrohttpd takes the texts as if it changed them. */
static int start_httpd(ki_monitor_server *server, const ki_monitor_server_options *o,
                       ki_error *error)
{
    ki_buf pem[3];
    const char *const texts[] = {o->private_key, o->certificate, o->client_ca};
    int r = 0;
    for (size_t i = 0; i < 3; i++) {
        ki_buf_init(&pem[i], server->alloc, PEM_MAX);
        r = r == 0 && texts[i] != NULL ? ki_buf_add_text(&pem[i], texts[i]) : r;
    }
    const ki__httpd_options options = {
        .service = &ki__monitor_service,
        .user = server,
        .alloc = server->alloc,
        .loop = server->loop,
        .lock = &server->lock,
        .target_max = KI__MONITOR_TARGET_MAX,
        .body_max = 0,
        .max_connections = or_default(o->max_connections, CONNECTIONS_MAX),
        .request_timeout_ms = or_default(o->request_timeout_ms, REQUEST_TIMEOUT_MS),
        .idle_timeout_ms = or_default(o->idle_timeout_ms, IDLE_TIMEOUT_MS),
        .key = pem[0].data,
        .certificate = pem[1].data,
        .client_ca = pem[2].data,
    };
    if (r == 0) {
        int fd = server->address.fd;
        server->address.fd = -1;
        r = ki__httpd_start(&server->httpd, &options, fd, error);
    } else {
        (void)ki__error_code(error, r);
    }
    ki__wipe(pem[0].data, pem[0].len);
    for (size_t i = 0; i < 3; i++) {
        ki_buf_done(&pem[i]);
    }
    return r;
}

typedef struct starting {
    ki_monitor_server *server;
    const ki_monitor_server_options *options;
    ki_error *error;
    int r;
} starting;

/* Inside the loop. */
static void start(void *arg)
{
    starting *s = arg;
    s->r =
        ki__slots_init(&s->server->slots, s->server->alloc, s->server->client, s->server->engine);
    if (s->r < 0) {
        (void)ki__error_code(s->error, s->r);
        return;
    }
    s->r = start_httpd(s->server, s->options, s->error);
}

static int make(ki_monitor_server *server, const ki_monitor_server_options *o, ki_error *error)
{
    int r = ki__httpd_take_token(&server->token, o->token, error);
    r = r < 0
            ? r
            : ki__httpd_allow_hosts(&server->allowed_hosts, server->alloc, o->allowed_hosts, error);
    r = r < 0 ? r : take_checks(server, o->checks, error);
    r = r < 0 ? r : check_tls(o, error);
    r = r < 0 ? r : listen_at(server, o, error);
    if (r < 0) {
        return r;
    }
    starting s = {.server = server, .options = o, .error = error, .r = -ECANCELED};
    ki__loop_call(server->loop, start, &s);
    return s.r;
}

/* ---- destruction ---- */

/* Inside the loop. */
static void stop(void *arg)
{
    ki_monitor_server *server = arg;
    ki__httpd_stop(&server->httpd);
    ki__slots_done(&server->slots);
}

/* Also for partially initialized servers. */
static void destroy(ki_monitor_server *server)
{
    ki__loop_call(server->loop, stop, server);
    ki__httpd_address_done(&server->address);
    ki__wipe(server->token.data, server->token.len);
    ki_buf_done(&server->token);
    ki_buf_done(&server->allowed_hosts);
    ki__mutex_done(&server->lock);
    (void)ki_engine_unref(server->engine);
    (void)ki_loop_unref(server->loop);
    (void)ki_client_unref(server->client);
    ki__free(server->alloc, server);
}

int ki_monitor_server_new(ki_client *client, const ki_monitor_server_options *options,
                          ki_monitor_server **ret_server, ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(ret_server, error);
    ki_monitor_server_options o = {0};
    int r = KI__TAKE(ki_monitor_server_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    KI__REQUIRE_OWN_ENGINE(ki_loop_engine(ki_client_loop(client)), error);
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_monitor_server *server = ki__alloc_zero(alloc, sizeof(*server));
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
    server->client = ki_client_ref(client);
    server->loop = ki_loop_ref(ki_client_loop(client));
    server->engine = ki_engine_ref(ki_loop_engine(server->loop));
    server->address.fd = -1;
    server->client_ca = o.client_ca != NULL;
    server->open_probes = o.open_probes;
    server->objects = o.objects;
    server->streams_max = (or_default(o.max_connections, CONNECTIONS_MAX) + 1) / 2;
    server->started_ns = ki__engine_now(server->engine);
    ki_buf_init(&server->token, alloc, TOKEN_MAX);
    ki__httpd_init(&server->httpd);
    r = make(server, &o, error);
    if (r < 0) {
        destroy(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

ki_monitor_server *ki_monitor_server_ref(ki_monitor_server *server)
{
    if (server != NULL) {
        ki__refs_take(&server->refs);
    }
    return server;
}

ki_monitor_server *ki_monitor_server_unref(ki_monitor_server *server)
{
    if (server != NULL && ki__refs_drop(&server->refs) &&
        !ki__engine_is_inherited(server->engine)) {
        destroy(server);
    }
    return NULL;
}

const char *ki_monitor_server_url(const ki_monitor_server *server)
{
    return server->address.url;
}

static void release(void *user)
{
    (void)ki_monitor_server_unref(user);
}

int ki_manager_serve(ki_manager *manager, const ki_monitor_server_options *options,
                     ki_monitor_server **ret_server, ki_error *error)
{
    KI__REQUIRE(manager, error);
    ki_monitor_server *server = NULL;
    int r = ki_monitor_server_new(ki_manager_client(manager), options, &server, error);
    if (r >= 0) {
        r = ki_manager_on_close(manager, release, server, error);
    }
    if (r < 0) {
        (void)ki_monitor_server_unref(server);
    } else if (ret_server != NULL) {
        *ret_server = server;
    }
    return r < 0 ? r : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials: connects headers, token file, certificate files and plugin to the transport's hook
 * and its certificates.
 *
 * Invariant: `generation` changes whenever the credentials of requests change, so that a 401 only
 * invalidates the credentials that were rejected.
 *
 * Failures are reported to the program, which may release everything in its callback; so external
 * calls are counted in `inside`, and the last one frees. */
#include "client/auth/credentials.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "client/auth/auth_headers.h"
#include "client/auth/exec_auth.h"
#include "client/auth/tls_files.h"
#include "client/auth/token_file.h"

struct ki__credentials {
    const ki_alloc *alloc;
    ki_loop *loop;
    ki_engine *engine;
    const ki_config *config;
    ki__curl *curl; /* notified of changes, or NULL */
    pid_t pid;
    unsigned inside;
    bool freed; /* while a call was active */
    uint64_t generation;
    ki__auth_headers headers;
    bool has_token_file;
    ki__token_file token_file;
    ki__tls_files files;
    ki__timer timer; /* checks the files */
    ki__task task;   /* sets it for the first time */
    bool has_exec;
    ki__exec_auth exec;
};

static void destroy(ki__credentials *credentials);

static void enter(ki__credentials *credentials)
{
    credentials->inside++;
}

static void leave(ki__credentials *credentials)
{
    if (--credentials->inside == 0 && credentials->freed) {
        destroy(credentials);
    }
}

static void report(ki__credentials *credentials, const ki_error *error)
{
    ki__engine_report(credentials->engine, "credentials", NULL, ki_str_make(NULL, 0), error);
}

/* ---- certificates ---- */

/* The TLS settings of the transport with these files and this plugin certificate. */
static ki__curl_tls make_tls(const ki__credentials *credentials, const ki__tls_set *set,
                             ki_str certificate, ki_str key)
{
    const ki_config_tls *tls = ki_config_get_tls(credentials->config);
    bool own = certificate.len != 0;
    return (ki__curl_tls){
        .ca = set->parts[KI__TLS_CA],
        .certificate = own ? certificate : set->parts[KI__TLS_CERTIFICATE],
        .key = own ? key : set->parts[KI__TLS_KEY],
        .server_name = tls->server_name[0] != '\0' ? tls->server_name : NULL,
        .insecure = tls->insecure,
    };
}

ki__curl_tls ki__credentials_tls(const ki__credentials *credentials)
{
    return make_tls(credentials, &credentials->files.set, credentials->exec.secret.certificate,
                    credentials->exec.secret.key);
}

static int update_transport(ki__credentials *credentials, const ki__curl_tls *tls, ki_error *error)
{
    return credentials->curl != NULL ? ki__curl_set_tls(credentials->curl, tls, error) : 0;
}

static void look_at_files(ki__credentials *credentials)
{
    ki__tls_set set;
    ki_error error = KI_ERROR_INIT;
    if (ki__tls_files_look(&credentials->files, &set) != 1) {
        return;
    }
    const ki__curl_tls tls = make_tls(credentials, &set, credentials->exec.secret.certificate,
                                      credentials->exec.secret.key);
    if (update_transport(credentials, &tls, &error) < 0) {
        ki__tls_set_done(&set);
        ki__tls_files_failed(&credentials->files, &error);
        return;
    }
    ki__tls_files_take(&credentials->files, &set);
    credentials->generation++;
}

static void on_timer(ki__timer *timer)
{
    ki__credentials *credentials = KI__CONTAINER_OF(timer, ki__credentials, timer);
    enter(credentials);
    ki__timer_set_after(timer, KI__TLS_LOOK_NS);
    look_at_files(credentials);
    leave(credentials);
}

static void begin_looking(ki__task *task)
{
    ki__credentials *credentials = KI__CONTAINER_OF(task, ki__credentials, task);
    ki__timer_set_after(&credentials->timer, KI__TLS_LOOK_NS);
}

/* Certificate files are checked only while a transport is attached. */
void ki__credentials_attach(ki__credentials *credentials, ki__curl *curl)
{
    credentials->curl = curl;
    if (curl == NULL) {
        (void)ki__engine_unpost(credentials->engine, &credentials->task);
        ki__timer_cancel(&credentials->timer);
    } else if (ki__tls_files_has_any(&credentials->files)) {
        (void)ki__engine_post(credentials->engine, &credentials->task);
    }
}

/* ---- the plugin ---- */

static int on_certificate(ki_str certificate, ki_str key, void *user, ki_error *error)
{
    ki__credentials *credentials = user;
    const ki__curl_tls tls = make_tls(credentials, &credentials->files.set, certificate, key);
    return update_transport(credentials, &tls, error);
}

static void on_ended(bool renewed, const ki_error *error, void *user)
{
    ki__credentials *credentials = user;
    enter(credentials);
    credentials->generation += renewed ? 1 : 0;
    if (credentials->curl != NULL) {
        ki__curl_auth_ready(credentials->curl);
    }
    if (error != NULL) {
        report(credentials, error);
    }
    leave(credentials);
}

static ki_str ca_of(void *user)
{
    const ki__credentials *credentials = user;
    return credentials->files.set.parts[KI__TLS_CA];
}

/* ---- the hook ---- */

static ki_str authorization_of(const ki__credentials *credentials)
{
    if (credentials->has_token_file && credentials->token_file.authorization.len != 0) {
        return credentials->token_file.authorization;
    }
    return credentials->has_exec ? credentials->exec.secret.authorization
                                 : credentials->headers.authorization;
}

static int add_headers(ki__credentials *credentials, ki__curl_headers *out, ki_error *error)
{
    ki_str authorization = authorization_of(credentials);
    int r = 0;
    if (authorization.len != 0) {
        r = ki__curl_header_add(out, "Authorization", authorization);
    }
    for (size_t i = 0; r == 0 && i < credentials->headers.count; i++) {
        const ki__auth_header *header = &credentials->headers.list[i];
        r = ki__curl_header_add(out, header->name, header->value);
    }
    return r < 0 ? ki__error_set(error, r, "credentials: %s", ki_error_text(r)) : 0;
}

static int give_headers(ki__curl_headers *out, uint64_t *ret_generation, void *user,
                        ki_error *error)
{
    ki__credentials *credentials = user;
    int r = 0;
    enter(credentials);
    look_at_files(credentials);
    if (credentials->has_token_file && ki__token_file_look(&credentials->token_file)) {
        credentials->generation++;
    }
    if (credentials->has_exec) {
        r = ki__exec_auth_get(&credentials->exec, error);
    }
    if (r == 0 && credentials->freed) {
        r = ki__error_code(error, KI_ERR_STOPPED);
    }
    if (r == 0) {
        r = add_headers(credentials, out, error);
    }
    if (r == 0) {
        *ret_generation = credentials->generation;
    }
    leave(credentials);
    return r;
}

/* Called inside libcurl: only records it. */
static void on_refused(uint64_t generation, void *user)
{
    ki__credentials *credentials = user;
    if (generation != credentials->generation) {
        return;
    }
    if (credentials->has_token_file) {
        ki__token_file_refused(&credentials->token_file);
    }
    if (credentials->has_exec) {
        ki__exec_auth_refused(&credentials->exec);
    }
}

ki__curl_auth ki__credentials_auth(ki__credentials *credentials)
{
    return (ki__curl_auth){.headers = give_headers, .refused = on_refused, .user = credentials};
}

/* ---- creation ---- */

/* The configured token is used until the file can be read. */
static int open_token_file(ki__credentials *credentials, ki_error *error)
{
    const char *path = ki_config_get_credentials(credentials->config)->token_file;
    ki_error failure = KI_ERROR_INIT;
    if (path[0] == '\0') {
        return 0;
    }
    credentials->has_token_file = true;
    int r = ki__token_file_init(&credentials->token_file, credentials->engine, path, &failure);
    if (r >= 0) {
        return 0;
    }
    if (r == -ENOMEM || credentials->headers.authorization.len == 0) {
        return ki__error_set(error, r, "%s", failure.message);
    }
    report(credentials, &failure);
    return 0;
}

static int open_exec(ki__credentials *credentials, const ki_client_options *options,
                     ki_error *error)
{
    const ki__exec_listener listener = {
        .certificate = on_certificate,
        .ended = on_ended,
        .ca = ca_of,
        .user = credentials,
    };
    if (!ki__exec_auth_is_configured(credentials->config)) {
        return 0;
    }
    credentials->has_exec = true;
    return ki__exec_auth_init(&credentials->exec, credentials->loop, credentials->config, options,
                              &listener, error);
}

static int fill(ki__credentials *credentials, const ki_client_options *options, ki_error *error)
{
    int r = ki__timer_init(&credentials->timer, credentials->engine, on_timer);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    r = ki__auth_headers_init(&credentials->headers, credentials->alloc, credentials->config,
                              error);
    if (r == 0) {
        r = open_token_file(credentials, error);
    }
    if (r == 0) {
        r = ki__tls_files_init(&credentials->files, credentials->engine, credentials->config,
                               error);
    }
    return r < 0 ? r : open_exec(credentials, options, error);
}

int ki__credentials_new(ki_loop *loop, const ki_config *config, const ki_client_options *options,
                        ki__credentials **ret_credentials, ki_error *error)
{
    ki_engine *engine = ki_loop_engine(loop);
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki__credentials *credentials = ki__alloc_zero(alloc, sizeof(*credentials));
    if (credentials == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    credentials->alloc = alloc;
    credentials->loop = loop;
    credentials->engine = ki_engine_ref(engine);
    credentials->config = ki_config_ref(config);
    credentials->pid = getpid();
    credentials->generation = 1;
    ki__task_init(&credentials->task, begin_looking);
    int r = fill(credentials, options, error);
    if (r < 0) {
        ki__credentials_free(credentials);
        return r;
    }
    *ret_credentials = credentials;
    return 0;
}

static void destroy(ki__credentials *credentials)
{
    ki_engine *engine = credentials->engine;
    (void)ki__engine_unpost(engine, &credentials->task);
    ki__timer_done(&credentials->timer);
    ki__exec_auth_done(&credentials->exec);
    ki__tls_files_done(&credentials->files);
    ki__token_file_done(&credentials->token_file);
    ki__auth_headers_done(&credentials->headers);
    (void)ki_config_unref(credentials->config);
    ki__free(credentials->alloc, credentials);
    (void)ki_engine_unref(engine);
}

void ki__credentials_free(ki__credentials *credentials)
{
    /* In a child of fork(), the plugin is a process of the parent. */
    if (credentials == NULL || credentials->pid != getpid()) {
        return;
    }
    credentials->freed = true;
    credentials->curl = NULL;
    if (credentials->inside == 0) {
        destroy(credentials);
    }
}

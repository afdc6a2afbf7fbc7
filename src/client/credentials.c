/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials: joins headers, token file, certificate files and plugin into the transport's hook
 * and its certificates.
 *
 * Invariant: `generation` is another one whenever what a request would be sent with is, so that an
 * answer of 401 is held against nothing newer than what it was about. */
#include "client/credentials.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/engine.h"
#include "base/error.h"
#include "client/auth_headers.h"
#include "client/token_file.h"

struct ki__credentials {
    const ki_alloc *alloc;
    ki_loop *loop;
    ki_engine *engine;
    const ki_config *config;
    ki__curl *curl; /* who is told of changes, or NULL */
    pid_t pid;
    uint64_t generation;
    ki__auth_headers headers;
    ki__token_file token_file;
    bool has_token_file;
    ki__curl_tls tls; /* what is there now */
};

/* ---- the hook ---- */

static ki_str authorization_of(const ki__credentials *credentials)
{
    if (credentials->has_token_file && credentials->token_file.authorization.len != 0) {
        return credentials->token_file.authorization;
    }
    return credentials->headers.authorization;
}

static int give_headers(ki__curl_headers *out, uint64_t *ret_generation, void *user,
                        ki_error *error)
{
    ki__credentials *credentials = user;
    if (credentials->has_token_file && ki__token_file_look(&credentials->token_file)) {
        credentials->generation++;
    }
    ki_str authorization = authorization_of(credentials);
    int r = 0;
    if (authorization.len != 0) {
        r = ki__curl_header_add(out, "Authorization", authorization);
    }
    for (size_t i = 0; r == 0 && i < credentials->headers.count; i++) {
        const ki__auth_header *header = &credentials->headers.list[i];
        r = ki__curl_header_add(out, header->name, header->value);
    }
    if (r < 0) {
        return ki__error_set(error, r, "credentials: %s", ki_error_text(r));
    }
    *ret_generation = credentials->generation;
    return 0;
}

/* Inside libcurl: only a note is made. */
static void on_refused(uint64_t generation, void *user)
{
    ki__credentials *credentials = user;
    if (generation != credentials->generation) {
        return;
    }
    if (credentials->has_token_file) {
        ki__token_file_refused(&credentials->token_file);
    }
}

ki__curl_auth ki__credentials_auth(ki__credentials *credentials)
{
    return (ki__curl_auth){.headers = give_headers, .refused = on_refused, .user = credentials};
}

/* ---- making ---- */

static void report(ki__credentials *credentials, const ki_error *error)
{
    ki__engine_report(credentials->engine, "credentials", NULL, ki_str_make(NULL, 0), error);
}

/* A token beside the file serves until the file can be read. */
static int open_token_file(ki__credentials *credentials, ki_error *error)
{
    const char *path = ki_config_credentials_of(credentials->config)->token_file;
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

static void take_tls(ki__credentials *credentials)
{
    const ki_config_tls *tls = ki_config_tls_of(credentials->config);
    credentials->tls = (ki__curl_tls){
        .ca = tls->ca_data,
        .certificate = tls->cert_data,
        .key = tls->key_data,
        .server_name = tls->server_name[0] != '\0' ? tls->server_name : NULL,
        .insecure = tls->insecure,
    };
}

static int fill(ki__credentials *credentials, ki_error *error)
{
    int r = ki__auth_headers_init(&credentials->headers, credentials->alloc, credentials->config,
                                  error);
    if (r == 0) {
        r = open_token_file(credentials, error);
    }
    if (r == 0) {
        take_tls(credentials);
    }
    return r;
}

int ki__credentials_new(ki_loop *loop, const ki_config *config, const ki_client_options *options,
                        ki__credentials **ret_credentials, ki_error *error)
{
    (void)options;
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
    int r = fill(credentials, error);
    if (r < 0) {
        ki__credentials_free(credentials);
        return r;
    }
    *ret_credentials = credentials;
    return 0;
}

void ki__credentials_free(ki__credentials *credentials)
{
    if (credentials == NULL || credentials->pid != getpid()) {
        return;
    }
    ki_engine *engine = credentials->engine;
    ki__token_file_done(&credentials->token_file);
    ki__auth_headers_done(&credentials->headers);
    (void)ki_config_unref(credentials->config);
    ki__free(credentials->alloc, credentials);
    (void)ki_engine_unref(engine);
}

ki__curl_tls ki__credentials_tls(const ki__credentials *credentials)
{
    return credentials->tls;
}

void ki__credentials_attach(ki__credentials *credentials, ki__curl *curl)
{
    credentials->curl = curl;
}

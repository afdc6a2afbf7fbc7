/* SPDX-License-Identifier: Apache-2.0 */
/* Who may make a request: everyone on this machine, except for web pages of others, or clients
 * with the token or a certificate. All of it is decided before the path is looked at. */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/ascii.h"
#include "monitor_server/monitor_server.h"
#include "object/text/base64.h"

enum { CREDENTIALS_MAX = 5632 };

static const char *const own_names[] = {"localhost", NULL};

/* ---- targets ---- */

ki__monitor_request ki__monitor_request_of(ki_str target)
{
    const char *mark = target.len != 0 ? memchr(target.ptr, '?', target.len) : NULL;
    if (mark == NULL) {
        return (ki__monitor_request){.path = target};
    }
    size_t len = (size_t)(mark - target.ptr);
    return (ki__monitor_request){
        .path = ki_str_make(target.ptr, len),
        .query = ki_str_make(mark + 1, target.len - len - 1),
    };
}

int ki__monitor_decode(ki_str text, bool form, ki_buf *out)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < text.len; i++) {
        char c = text.ptr[i] == '+' && form ? ' ' : text.ptr[i];
        if (c == '%' && text.len - i > 2 && ki__is_hex(text.ptr[i + 1]) &&
            ki__is_hex(text.ptr[i + 2])) {
            c = (char)(ki__hex_value(text.ptr[i + 1]) * 16 + ki__hex_value(text.ptr[i + 2]));
            i += 2;
        }
        r = ki_buf_add(out, &c, 1);
    }
    return r;
}

int ki__monitor_parameter(const ki__monitor_request *request, const char *name, ki_buf *out)
{
    size_t name_len = strlen(name);
    ki_str rest = request->query;
    while (rest.len != 0) {
        const char *mark = memchr(rest.ptr, '&', rest.len);
        size_t len = mark != NULL ? (size_t)(mark - rest.ptr) : rest.len;
        bool same = len >= name_len && memcmp(rest.ptr, name, name_len) == 0;
        if (same && (len == name_len || rest.ptr[name_len] == '=')) {
            size_t skip = len == name_len ? len : name_len + 1;
            int r = ki__monitor_decode(ki_str_make(rest.ptr + skip, len - skip), true, out);
            return r < 0 ? r : 1;
        }
        len += mark != NULL;
        rest = ki_str_make(rest.ptr + len, rest.len - len);
    }
    return 0;
}

/* ---- authentication ---- */

static ki_str header(const ki__httpd_connection *c, const char *name)
{
    const char *value = MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, name);
    return value != NULL ? ki_str_from(value) : ki_str_make(NULL, 0);
}

/* "Basic" with the token as the password, for browsers. */
static bool has_password(ki_str value, ki_str token)
{
    static const ki_str scheme = {"basic ", 6};
    char text[CREDENTIALS_MAX];
    size_t len = 0;
    if (value.len < scheme.len || value.len > sizeof(text) ||
        !ki__str_eq_nocase(ki_str_make(value.ptr, scheme.len), scheme) ||
        ki__base64_decode(ki_str_make(value.ptr + scheme.len, value.len - scheme.len), text, &len) <
            0) {
        return false;
    }
    const char *colon = memchr(text, ':', len);
    size_t used = colon != NULL ? (size_t)(colon - text) + 1 : len;
    return colon != NULL && ki__httpd_same_secret(ki_str_make(text + used, len - used), token);
}

static bool has_certificate(const ki__httpd_connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned status = 0;
    return info != NULL && info->tls_session != NULL &&
           gnutls_certificate_get_peers(info->tls_session, &status) != NULL &&
           gnutls_certificate_verify_peers2(info->tls_session, &status) == 0 && status == 0;
}

static bool is_allowed(const ki_monitor_server *server, const ki__httpd_connection *c)
{
    ki_str value = header(c, "Authorization");
    ki_str token = ki_buf_str(&server->token);
    return (!server->client_ca || has_certificate(c)) &&
           (token.len == 0 || ki__httpd_has_token(value, token) || has_password(value, token));
}

/* ---- checks ---- */

static bool is_probe(ki_str path)
{
    return ki_str_eq_text(path, "/healthz") || ki_str_eq_text(path, "/livez") ||
           ki_str_eq_text(path, "/readyz");
}

/* Sets the response if the request is refused. */
static int check_sender(ki__monitor_exchange *x, const ki__httpd_connection *c)
{
    const ki_monitor_server *server = x->server;
    const ki__httpd_identity self = {&server->address, own_names, &server->allowed_hosts};
    ki_str host = header(c, "Host");
    bool named = server->token.len == 0 && !server->client_ca && server->address.inode == 0;
    if (named && !ki__httpd_is_own_host(&self, host)) {
        return ki__monitor_say(x, 403,
                               "Host header does not name this server; add the name with "
                               "allowed_hosts, or require a token");
    }
    ki_str origin = header(c, "Origin");
    ki_str site = header(c, "Sec-Fetch-Site");
    if (server->address.inode == 0 && !ki__httpd_is_own_origin(&self, host, origin, site)) {
        return ki__monitor_say(x, 403, "request of another web page; open this address directly");
    }
    return 0;
}

static int check_form(ki__monitor_exchange *x, const ki__httpd_connection *c, const char *method)
{
    if (c->malformed) {
        return ki__monitor_say(x, 400, "NUL byte in the request target");
    }
    if (c->target.len > KI__MONITOR_TARGET_MAX) {
        return ki__monitor_say(x, 414, "the request target is too long");
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        x->allow = "GET, HEAD";
        return ki__monitor_say(x, 405, "only GET and HEAD");
    }
    return c->too_large ? ki__monitor_say(x, 413, "a request body is not accepted") : 0;
}

static int respond(ki__monitor_exchange *x, const ki__httpd_connection *c, const char *method)
{
    ki__monitor_request request = ki__monitor_request_of(ki_buf_str(&c->target));
    bool open = x->server->open_probes && is_probe(request.path);
    int r = check_sender(x, c);
    if (r == 0 && x->status == 0) {
        r = check_form(x, c, method);
    }
    if (r < 0 || x->status != 0) {
        return r;
    }
    if (!is_allowed(x->server, c)) {
        if (!open) {
            return ki__monitor_say(x, 401, "Unauthorized");
        }
        request.anonymous = true;
    }
    return ki__monitor_route(x, &request, header(c, "Accept"));
}

int ki__monitor_begin(ki__httpd_connection *c, const char *method, void **ret_exchange)
{
    ki__monitor_exchange *x;
    int r = ki__monitor_exchange_new(c->httpd->options.user, &x);
    if (r < 0) {
        return r;
    }
    r = respond(x, c, method);
    if (r == 0 && ki__monitor_charge(x) < 0) {
        ki_buf_done(&x->body);
        r = ki__monitor_say(x, 503, "too many large responses at the same time; try again");
    }
    if (r < 0 && r != -ENOMEM) {
        r = ki__monitor_say(x, 500, ki_error_text(r));
    }
    if (r < 0) {
        ki__monitor_exchange_free(x);
        return r;
    }
    if (strcmp(method, "HEAD") == 0) {
        x->events = false;
    }
    *ret_exchange = x;
    return 0;
}

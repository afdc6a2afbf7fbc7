/* SPDX-License-Identifier: Apache-2.0 */
/* Protects against web pages. A browser on the same machine can reach a server on loopback, and
 * lets any page send simple requests, whose responses the page cannot read, and with DNS rebinding
 * all other requests as well. Such requests differ from those of kubectl, client-go and curl: by
 * Host in the case of DNS rebinding, otherwise by Origin and Sec-Fetch-Site or, in old browsers,
 * only by a body without Content-Type.
 *
 * None of this is checked if the server requires a token: pages do not have it, and browsers do not
 * add one on their own. */
#include <arpa/inet.h>
#include <errno.h>

#include "apiserver/http/http_server.h"
#include "apiserver/negotiate.h"
#include "base/ascii.h"
#include "base/error.h"

enum { ALLOWED_MAX = 64, NAME_MAX_LEN = 253, ALLOWED_BYTES = ALLOWED_MAX * (NAME_MAX_LEN + 1) };

const char *const ki__http_own_names[] = {"localhost", "127.0.0.1", "::1", "kubernetes", NULL};

/* ---- hosts ---- */

static bool ends_with(ki_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len > len && ki__str_eq_nocase(ki_str_make(text.ptr + text.len - len, len), //
                                               ki_str_from(end));
}

/* The host of "host:port", "[host]:port" or either without a port; a trailing dot is ignored. */
static ki_str name_of(ki_str host)
{
    const char *end = host.len != 0 ? memchr(host.ptr, ']', host.len) : NULL;
    if (end != NULL && host.ptr[0] == '[') {
        return ki_str_make(host.ptr + 1, (size_t)(end - host.ptr) - 1);
    }
    const char *colon = host.len != 0 ? memchr(host.ptr, ':', host.len) : NULL;
    host.len = colon != NULL ? (size_t)(colon - host.ptr) : host.len;
    host.len -= host.len != 0 && host.ptr[host.len - 1] == '.' ? 1 : 0;
    return host;
}

typedef enum address_kind { NO_ADDRESS, LOOPBACK, ADDRESS } address_kind;

static address_kind kind_of(ki_str name)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;
    if (name.len == 0 || name.len >= sizeof(text)) {
        return NO_ADDRESS;
    }
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    if (inet_pton(AF_INET, text, &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127 ? LOOPBACK : ADDRESS;
    }
    if (inet_pton(AF_INET6, text, &v6) == 1) {
        return IN6_IS_ADDR_LOOPBACK(&v6) ? LOOPBACK : ADDRESS;
    }
    return NO_ADDRESS;
}

/* An IP address cannot be rebound by DNS, but only a server that listens on all addresses has to
 * accept any of them. */
static bool is_ours(const ki_apiserver *server, ki_str name)
{
    address_kind kind = kind_of(name);
    char own[KI__HTTP_URL_MAX];
    ki__http_host_of(server->url, own);
    if (kind == LOOPBACK || (kind == ADDRESS && server->everywhere) ||
        ki__str_eq_nocase(name, ki_str_from(own)) || ends_with(name, ".localhost")) {
        return true;
    }
    for (size_t i = 0; ki__http_own_names[i] != NULL; i++) {
        if (ki__str_eq_nocase(name, ki_str_from(ki__http_own_names[i]))) {
            return true;
        }
    }
    const char *end = server->allowed_hosts.data + server->allowed_hosts.len;
    for (const char *at = server->allowed_hosts.data; at != end; at += strlen(at) + 1) {
        if (ki__str_eq_nocase(name, ki_str_from(at))) {
            return true;
        }
    }
    return false;
}

static bool is_host_name(ki_str name)
{
    bool ok = name.len != 0 && name.len <= NAME_MAX_LEN;
    for (size_t i = 0; i < name.len && ok; i++) {
        char c = ki__to_lower(name.ptr[i]);
        ok = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    }
    return ok;
}

int ki__http_allow_hosts(ki_apiserver *server, const char *const *hosts, ki_error *error)
{
    ki_buf_init(&server->allowed_hosts, server->alloc, ALLOWED_BYTES);
    for (size_t i = 0; hosts != NULL && hosts[i] != NULL; i++) {
        ki_str host = ki_str_from(hosts[i]);
        if (!is_host_name(host) && kind_of(host) == NO_ADDRESS) {
            return ki__error_set(error, KI_ERR_INVALID,
                                 "allowed_hosts: \"%.80s\" is not a host name or an IP address",
                                 hosts[i]);
        }
        int r = ki_buf_add(&server->allowed_hosts, host.ptr, host.len + 1); /* with its NUL */
        if (r < 0) {
            return r == KI_ERR_LIMIT
                       ? ki__error_set(error, r, "allowed_hosts: more than %d bytes of names",
                                       (int)ALLOWED_BYTES)
                       : ki__error_code(error, r);
        }
    }
    return 0;
}

/* ---- requests ---- */

/* Whether `origin` equals scheme and host of this request. */
static bool is_same_origin(const ki_apiserver *server, ki_str origin, ki_str host)
{
    size_t scheme = (size_t)(strstr(server->url, "://") - server->url) + 3;
    return origin.len == scheme + host.len &&
           ki__str_eq_nocase(ki_str_make(origin.ptr, scheme), ki_str_make(server->url, scheme)) &&
           ki__str_eq_nocase(ki_str_make(origin.ptr + scheme, host.len), host);
}

static bool has_header(const ki__api_request *request, const char *name)
{
    return ki__api_request_header(request, name).ptr != NULL;
}

int ki__http_guard(const ki_apiserver *server, const ki__api_request *request,
                   ki__api_exchange **ret_exchange)
{
    if (server->token.len != 0) {
        return 0;
    }
    ki_str host = ki__api_request_header(request, "host");
    if (has_header(request, "host") && !is_ours(server, name_of(host))) {
        return ki__api_exchange_failure(server->server, 403, KI_REASON_FORBIDDEN,
                                        "Host header does not name this server; add the name with "
                                        "allowed_hosts (--allow-host), or require a token",
                                        ret_exchange);
    }
    ki_str site = ki__api_request_header(request, "sec-fetch-site");
    bool foreign = has_header(request, "sec-fetch-site") &&
                   !ki__api_is_media_type(site, "same-origin") &&
                   !ki__api_is_media_type(site, "none");
    if (foreign || (has_header(request, "origin") &&
                    !is_same_origin(server, ki__api_request_header(request, "origin"), host))) {
        return ki__api_exchange_failure(server->server, 403, KI_REASON_FORBIDDEN,
                                        "cross-origin requests require a token", ret_exchange);
    }
    if (request->body.len != 0 && !has_header(request, "content-type")) {
        return ki__api_exchange_failure(server->server, 415, KI_REASON_UNSUPPORTED_MEDIA_TYPE,
                                        "request body without Content-Type", ret_exchange);
    }
    return 0;
}

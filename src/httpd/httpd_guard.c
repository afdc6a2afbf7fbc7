/* SPDX-License-Identifier: Apache-2.0 */
/* Protects against web pages. A browser on the same machine can reach a server on loopback, and
 * lets any page send simple requests, whose responses the page cannot read, and with DNS rebinding
 * all other requests as well. Such requests differ from those of programs: by Host in the case of
 * DNS rebinding, otherwise by Origin and Sec-Fetch-Site. */
#include "httpd/httpd_guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"

enum { ALLOWED_MAX = 64, NAME_MAX_LEN = 253, ALLOWED_BYTES = ALLOWED_MAX * (NAME_MAX_LEN + 1) };

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
static bool is_ours(const ki__httpd_identity *server, ki_str name)
{
    address_kind kind = kind_of(name);
    char own[KI__HTTPD_URL_MAX];
    ki__httpd_host_of(server->address->url, own);
    if (kind == LOOPBACK || (kind == ADDRESS && server->address->everywhere) ||
        ki__str_eq_nocase(name, ki_str_from(own)) || ends_with(name, ".localhost")) {
        return true;
    }
    for (size_t i = 0; server->own_names[i] != NULL; i++) {
        if (ki__str_eq_nocase(name, ki_str_from(server->own_names[i]))) {
            return true;
        }
    }
    const char *end = server->allowed_hosts->data + server->allowed_hosts->len;
    for (const char *at = server->allowed_hosts->data; at != end; at += strlen(at) + 1) {
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

int ki__httpd_allow_hosts(ki_buf *allowed, const ki_alloc *alloc, const char *const *hosts,
                          ki_error *error)
{
    ki_buf_init(allowed, alloc, ALLOWED_BYTES);
    for (size_t i = 0; hosts != NULL && hosts[i] != NULL; i++) {
        ki_str host = ki_str_from(hosts[i]);
        if (!is_host_name(host) && kind_of(host) == NO_ADDRESS) {
            return ki__error_set(error, KI_ERR_INVALID,
                                 "allowed_hosts: \"%.80s\" is not a host name or an IP address",
                                 hosts[i]);
        }
        int r = ki_buf_add(allowed, host.ptr, host.len + 1); /* with its NUL */
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
static bool is_same_origin(const ki__httpd_identity *server, ki_str origin, ki_str host)
{
    const char *url = server->address->url;
    size_t scheme = (size_t)(strstr(url, "://") - url) + 3;
    return origin.len == scheme + host.len &&
           ki__str_eq_nocase(ki_str_make(origin.ptr, scheme), ki_str_make(url, scheme)) &&
           ki__str_eq_nocase(ki_str_make(origin.ptr + scheme, host.len), host);
}

static bool is_one_of(ki_str text, const char *a, const char *b)
{
    return ki__str_eq_nocase(text, ki_str_from(a)) || ki__str_eq_nocase(text, ki_str_from(b));
}

bool ki__httpd_is_own_host(const ki__httpd_identity *server, ki_str host)
{
    return host.ptr == NULL || is_ours(server, name_of(host));
}

bool ki__httpd_is_own_origin(const ki__httpd_identity *server, ki_str host, ki_str origin,
                             ki_str site)
{
    bool foreign = site.ptr != NULL && !is_one_of(site, "same-origin", "none");
    return !foreign && (origin.ptr == NULL || is_same_origin(server, origin, host));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The target of requests: the parsed URL of the server, and the proxy to use. Errors about a URL do
 * not show it: it may contain a password. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/curl/curl_state.h"

enum { PART_MAX = 4096, URL_MAX = 3 * PART_MAX };

void ki__curl_target_done(ki__curl_target *target)
{
    ki_buf_done(&target->scheme);
    ki_buf_done(&target->host);
    ki_buf_done(&target->port);
    ki_buf_done(&target->authority);
    ki_buf_done(&target->prefix);
    ki_buf_done(&target->url);
    ki__curl_wipe(&target->proxy);
}

static int url_failure(CURLUcode code, const char *what, ki_error *error)
{
    if (code == CURLUE_OUT_OF_MEMORY) {
        return ki__error_code(error, -ENOMEM);
    }
    return ki__error_set(error, KI_ERR_INVALID, "invalid URL of the %s: %s", what,
                         curl_url_strerror(code));
}

/* One part of a URL; empty if absent. */
static int get_part(CURLU *url, CURLUPart part, unsigned flags, const char *what, ki_buf *buf,
                    ki_error *error)
{
    char *text = NULL;
    CURLUcode code = curl_url_get(url, part, &text, flags);
    bool absent = code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD || code == CURLUE_NO_PORT ||
                  code == CURLUE_NO_QUERY || code == CURLUE_NO_FRAGMENT;
    if (code != CURLUE_OK) {
        return absent ? 0 : url_failure(code, what, error);
    }
    int r = ki_buf_add_text(buf, text);
    curl_free(text);
    return r < 0 ? ki__error_code(error, r) : 0;
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool found = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    if (found) {
        explicit_bzero(text, strlen(text));
    }
    curl_free(text);
    return found;
}

static int parse(const char *text, const char *what, CURLU **ret_url, ki_error *error)
{
    CURLU *url = curl_url();
    if (url == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK) {
        curl_url_cleanup(url);
        return url_failure(code, what, error);
    }
    *ret_url = url;
    return 0;
}

static int take_apart(ki__curl_target *target, CURLU *url, ki_error *error)
{
    static const char what[] = "server";
    int r = get_part(url, CURLUPART_SCHEME, 0, what, &target->scheme, error);
    if (r == 0) {
        r = get_part(url, CURLUPART_HOST, 0, what, &target->host, error);
    }
    if (r == 0) {
        r = get_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, what, &target->port, error);
    }
    if (r == 0) {
        r = get_part(url, CURLUPART_PATH, 0, what, &target->prefix, error);
    }
    if (r == 0) {
        r = ki_buf_add_str(&target->authority, ki_buf_str(&target->host));
    }
    if (r == 0 && has_part(url, CURLUPART_PORT)) {
        r = ki_buf_add_char(&target->authority, ':');
        if (r == 0) {
            r = ki_buf_add_str(&target->authority, ki_buf_str(&target->port));
        }
    }
    return r;
}

static int read_server(ki__curl_target *target, const char *text, ki_error *error)
{
    CURLU *url = NULL;
    int r = parse(text, "server", &url, error);
    if (r < 0) {
        return r;
    }
    bool more = has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT);
    bool user = has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD);
    r = take_apart(target, url, error);
    curl_url_cleanup(url);
    if (r < 0) {
        return r;
    }
    while (target->prefix.len != 0 && target->prefix.data[target->prefix.len - 1] == '/') {
        target->prefix.data[--target->prefix.len] = '\0';
    }
    target->https = ki_str_eq_text(ki_buf_str(&target->scheme), "https");
    if (!target->https && !ki_str_eq_text(ki_buf_str(&target->scheme), "http")) {
        return ki__error_set(error, KI_ERR_INVALID, "server URL: scheme must be http or https");
    }
    if (user) {
        return ki__error_set(
            error, KI_ERR_INVALID,
            "server URL: must not contain a user or password; use credentials instead");
    }
    if (more) {
        return ki__error_set(error, KI_ERR_INVALID,
                             "server URL: must not contain a query or fragment");
    }
    return 0;
}

/* "proxy:3128" is an HTTP proxy, as for other programs. */
static int read_proxy(ki__curl_target *target, const char *text, ki_error *error)
{
    static const char *const known[] = {"http", "https", "socks5", "socks5h"};
    CURLU *url = NULL;
    int r = 0;
    if (strstr(text, "://") == NULL) {
        r = ki_buf_add_text(&target->proxy, "http://");
    }
    if (r == 0) {
        r = ki_buf_add_text(&target->proxy, text);
    }
    if (r < 0) {
        return ki__error_set(error, r, "cannot store the proxy URL: %s", ki_error_text(r));
    }
    r = parse(ki_buf_text(&target->proxy), "proxy", &url, error);
    if (r < 0) {
        return r;
    }
    ki_buf scheme;
    ki_buf_init(&scheme, target->proxy.alloc, PART_MAX);
    r = get_part(url, CURLUPART_SCHEME, 0, "proxy", &scheme, error);
    curl_url_cleanup(url);
    bool found = false;
    for (size_t i = 0; r == 0 && i < sizeof(known) / sizeof(known[0]); i++) {
        found = found || ki_str_eq_text(ki_buf_str(&scheme), known[i]);
    }
    ki_buf_done(&scheme);
    if (r == 0 && !found) {
        r = ki__error_set(error, KI_ERR_INVALID,
                          "proxy URL: scheme must be http, https, socks5 or socks5h");
    }
    return r;
}

static const char *from_environment(const char *upper, const char *low)
{
    const char *value = getenv(upper);
    if (value == NULL || value[0] == '\0') {
        value = getenv(low);
    }
    return value != NULL ? value : "";
}

/* As in Go: loopback is never reached through a proxy of the environment, and HTTP_PROXY is ignored
 * in CGI programs, where it is a request header. */
static int find_proxy(ki__curl_target *target, const ki__curl_options *o, ki_error *error)
{
    if (o->proxy != NULL || !o->environment || o->unix_socket != NULL) {
        return o->proxy != NULL ? read_proxy(target, o->proxy, error) : 0;
    }
    const char *proxy = target->https ? from_environment("HTTPS_PROXY", "https_proxy")
                        : getenv("REQUEST_METHOD") == NULL
                            ? from_environment("HTTP_PROXY", "http_proxy")
                            : "";
    ki_str none = ki_str_from(from_environment("NO_PROXY", "no_proxy"));
    ki_str host = ki_buf_str(&target->host);
    if (proxy[0] == '\0' || ki__is_loopback(host) ||
        ki__no_proxy_matches(none, host, ki_buf_str(&target->port))) {
        return 0;
    }
    return read_proxy(target, proxy, error);
}

static int join_url(ki__curl_target *target, ki_error *error)
{
    ki_buf *url = &target->url;
    int r = ki_buf_add_str(url, ki_buf_str(&target->scheme));
    if (r == 0) {
        r = ki_buf_add_text(url, "://");
    }
    if (r == 0) {
        r = ki_buf_add_str(url, ki_buf_str(&target->authority));
    }
    if (r == 0) {
        r = ki_buf_add_str(url, ki_buf_str(&target->prefix));
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

int ki__curl_target_parse(ki__curl_target *target, const ki_alloc *alloc,
                          const ki__curl_options *options, ki_error *error)
{
    *target = (ki__curl_target){0};
    ki_buf *const parts[] = {&target->scheme,    &target->host,   &target->port,
                             &target->authority, &target->prefix, &target->proxy};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ki_buf_init(parts[i], alloc, PART_MAX);
    }
    ki_buf_init(&target->url, alloc, URL_MAX);
    int r = read_server(target, options->url, error);
    if (r == 0) {
        r = join_url(target, error);
    }
    if (r == 0 && options->proxy != NULL && options->unix_socket != NULL) {
        r = ki__error_set(error, -EINVAL, "unix socket and proxy are mutually exclusive");
    }
    if (r == 0) {
        r = find_proxy(target, options, error);
    }
    if (r < 0) {
        ki__curl_target_done(target);
        return r;
    }
    target->local = target->proxy.len == 0 &&
                    (options->unix_socket != NULL || ki__is_loopback(ki_buf_str(&target->host)));
    return 0;
}

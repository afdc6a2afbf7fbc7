/* SPDX-License-Identifier: Apache-2.0 */
/* Sets libcurl's options for a request. Everything that libcurl would otherwise take from the
 * environment, or do by default, is set here: proxies, redirects, protocols, roots. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { LINE_MAX_BYTES = 1 << 20, READ_BYTES = 64 << 10, KEEPALIVE_PROBES = 3, IDLE_CONN_S = 90 };

struct ki__curl_headers {
    ki__curl_call *call;
    bool secret; /* a header was added that only the server may see */
};

/* ---- headers ---- */

void ki__curl_headers_free(struct curl_slist *headers)
{
    for (struct curl_slist *one = headers; one != NULL; one = one->next) {
        explicit_bzero(one->data, strlen(one->data));
    }
    curl_slist_free_all(headers);
}

static bool is_token(ki_str name)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    bool good = name.len != 0;
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(marks, c) != NULL);
    }
    return good;
}

static bool is_value(ki_str value)
{
    bool good = true;
    for (size_t i = 0; good && i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        good = c == '\t' || (c >= ' ' && c != 0x7f);
    }
    return good;
}

static int add_line(ki__curl_call *call, ki_buf *line)
{
    struct curl_slist *longer = curl_slist_append(call->headers, ki_buf_text(line));
    if (longer == NULL) {
        return -ENOMEM;
    }
    call->headers = longer;
    return 0;
}

static int add_header(ki__curl_call *call, ki_str name, ki_str value)
{
    ki_buf line;
    if (!is_token(name) || !is_value(value)) {
        return -EINVAL;
    }
    ki_buf_init(&line, call->curl->alloc, LINE_MAX_BYTES);
    /* In one allocation, so that growing leaves no copy of a secret behind. */
    char *room;
    int r = ki_buf_reserve(&line, name.len + value.len + 2, &room);
    if (r == 0) {
        ki_buf_commit(&line, 0);
        r = ki_buf_add_str(&line, name);
    }
    if (r == 0) {
        r = ki_buf_add_text(&line,
                            value.len != 0 ? ": " : ";"); /* libcurl's syntax for an empty value */
    }
    if (r == 0) {
        r = ki_buf_add_str(&line, value);
    }
    if (r == 0) {
        r = add_line(call, &line);
    }
    ki__curl_wipe(&line);
    return r;
}

static bool is_secret(ki_str name)
{
    return ki__str_eq_nocase(name, ki_str_from("authorization")) ||
           ki__str_eq_nocase(name, ki_str_from("cookie"));
}

int ki__curl_header_add(ki__curl_headers *headers, const char *name, ki_str value)
{
    if ((headers->call->own_headers & KI__CURL_OWN_AUTHORIZATION) != 0 &&
        ki__str_eq_nocase(ki_str_from(name), ki_str_from("authorization"))) {
        return 0; /* the request takes precedence, as in client-go */
    }
    headers->secret = headers->secret || is_secret(ki_str_from(name));
    return add_header(headers->call, ki_str_from(name), value);
}

static int refuse_plain(ki_error *error)
{
    return ki__error_set(error, KI_ERR_INVALID,
                         "credentials are not sent over plain HTTP, except to this machine; use "
                         "https");
}

static bool may_show_secrets(const ki__curl *curl)
{
    return curl->target.https || curl->target.local;
}

static unsigned own_header(ki_str name)
{
    return ki__str_eq_nocase(name, ki_str_from("content-type"))      ? KI__CURL_OWN_CONTENT_TYPE
           : ki__str_eq_nocase(name, ki_str_from("authorization"))   ? KI__CURL_OWN_AUTHORIZATION
           : ki__str_eq_nocase(name, ki_str_from("accept-encoding")) ? KI__CURL_OWN_ACCEPT_ENCODING
                                                                     : 0;
}

int ki__curl_request_headers(ki__curl_call *call, const ki_http_request *request, ki_error *error)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const ki_http_header *header = &request->headers[i];
        call->own_headers |= own_header(header->name);
        if (is_secret(header->name) && !may_show_secrets(call->curl)) {
            return refuse_plain(error);
        }
        int r = add_header(call, header->name, header->value);
        if (r == -EINVAL) {
            return ki__error_set(error, r, "header: invalid bytes in name or value");
        }
        if (r < 0) {
            return ki__error_code(error, r);
        }
    }
    return 0;
}

static int get_credentials(ki__curl_call *call, ki_error *error)
{
    const ki__curl_auth *auth = &call->curl->options.auth;
    ki__curl_headers headers = {.call = call};
    if (auth->headers == NULL || call->kind == KI__CURL_PROBE) {
        return 0;
    }
    int r = auth->headers(&headers, &call->generation, auth->user, error);
    if (r == 0 && headers.secret && !may_show_secrets(call->curl)) {
        return refuse_plain(error);
    }
    if (r < 0 && r != -EAGAIN && (error->code == 0 || error->message[0] == '\0')) {
        (void)ki__error_set(error, r, "no credentials for the request: %s", ki_error_text(r));
    }
    return r;
}

/* Our own headers; empty ones suppress libcurl's defaults. */
static int add_own_headers(ki__curl_call *call)
{
    int r = 0;
    if (call->certs->server_name.len != 0 && call->curl->target.https) {
        r = add_header(call, ki_str_from("Host"), ki_buf_str(&call->curl->target.authority));
    }
    if (r == 0 && ki__curl_accepts_gzip(call) &&
        (call->own_headers & KI__CURL_OWN_ACCEPT_ENCODING) == 0) {
        r = add_header(call, ki_str_from("Accept-Encoding"), ki_str_from("gzip"));
    }
    struct curl_slist *longer = r == 0 ? curl_slist_append(call->headers, "Expect:") : NULL;
    if (longer == NULL) {
        return r < 0 ? r : -ENOMEM;
    }
    call->headers = longer;
    if ((call->own_headers & KI__CURL_OWN_CONTENT_TYPE) == 0) {
        longer = curl_slist_append(call->headers, "Content-Type:");
        call->headers = longer != NULL ? longer : call->headers;
        r = longer != NULL ? 0 : -ENOMEM;
    }
    return r;
}

/* ---- sockets ---- */

static bool is_tcp(int family)
{
    return family == AF_INET || family == AF_INET6;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    if (is_tcp(address->family)) {
        return ki__curl_dial_socket(user, address);
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_number(int fd, int level, int name, uint64_t number)
{
    int value = number < INT32_MAX ? (int)number : INT32_MAX;
    (void)setsockopt(fd, level, name, &value, sizeof(value)); /* no effect on Unix sockets */
}

/* A dead peer is detected within `dead_after_ns`, with or without data to send: keepalive probes
 * after half of it, and failure if nothing is acknowledged. */
void ki__curl_tune_socket(const ki__curl *curl, int fd)
{
    uint64_t ms = curl->options.dead_after_ns / KI__MS_NS;
    uint64_t idle_s = ms / 2000 != 0 ? ms / 2000 : 1;
    uint64_t probe_s = ms / 2000 / KEEPALIVE_PROBES != 0 ? ms / 2000 / KEEPALIVE_PROBES : 1;
    set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
    set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_s);
    set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms);
    set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

/* Only a Unix socket is not connected yet; see curl_dial.c. */
static int on_socket_option(void *user, curl_socket_t fd, curlsocktype purpose)
{
    int family = AF_UNSPEC;
    socklen_t len = sizeof(family);
    (void)user;
    (void)purpose;
    (void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
    return is_tcp(family) ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

/* ---- libcurl's options ---- */

/* Records the first failure of several settings. */
#define SET(call, ...)                                                    \
    do {                                                                  \
        if ((call)->result == CURLE_OK) {                                 \
            (call)->result = curl_easy_setopt((call)->easy, __VA_ARGS__); \
        }                                                                 \
    } while (0)

static int on_ready_to_send(void *user, char *server, char *client, int server_port,
                            int client_port)
{
    ki__curl_call *call = user;
    (void)server;
    (void)client;
    (void)server_port;
    (void)client_port;
    int r = call->may_send(call->may_send_user, &call->failure);
    return r < 0 ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

static void set_where(ki__curl_call *call)
{
    const ki__curl *curl = call->curl;
    SET(call, CURLOPT_URL, ki_buf_text(&call->url));
    SET(call, CURLOPT_PATH_AS_IS, 1L);
    SET(call, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(call, CURLOPT_FOLLOWLOCATION, 0L);
    /* An empty string keeps libcurl from using the environment. */
    SET(call, CURLOPT_PROXY, ki_buf_text(&curl->target.proxy));
    SET(call, CURLOPT_NOPROXY, "");
    SET(call, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(call, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    if (curl->unix_socket.len != 0) {
        SET(call, CURLOPT_UNIX_SOCKET_PATH, ki_buf_text(&curl->unix_socket));
    }
    long connect_ms = (long)(curl->options.connect_timeout_ns / KI__MS_NS);
    SET(call, CURLOPT_CONNECTTIMEOUT_MS, connect_ms != 0 ? connect_ms : 1L);
    SET(call, CURLOPT_NOSIGNAL, 1L);
    SET(call, CURLOPT_QUICK_EXIT, 1L); /* do not wait for an abandoned name lookup */
    SET(call, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(call, CURLOPT_OPENSOCKETDATA, (void *)call);
    SET(call, CURLOPT_SOCKOPTFUNCTION, on_socket_option);
    SET(call, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 1L); /* it only reports the addresses */
    if (curl->resolve != NULL) {
        SET(call, CURLOPT_RESOLVE, curl->resolve);
    }
    SET(call, CURLOPT_MAXAGE_CONN, (long)IDLE_CONN_S);
    if (call->may_send != NULL) {
        SET(call, CURLOPT_PREREQFUNCTION, on_ready_to_send);
        SET(call, CURLOPT_PREREQDATA, (void *)call);
    }
}

/* The rest of the body. */
static size_t read_body(char *room, size_t size, size_t count, void *user)
{
    ki__curl_call *call = user;
    size_t left = call->body.len - call->body_sent;
    size_t len = left < size * count ? left : size * count;
    if (len != 0) {
        memcpy(room, call->body.data + call->body_sent, len);
        call->body_sent += len;
    }
    return len;
}

/* libcurl calls this when a reused connection broke without a response, to send the request again
 * on another. But the server may have processed it, so the failure is reported instead. */
static int refuse_to_rewind(void *user, curl_off_t offset, int origin)
{
    (void)user;
    (void)offset;
    (void)origin;
    return CURL_SEEKFUNC_FAIL;
}

static void set_body(ki__curl_call *call)
{
    SET(call, CURLOPT_POST, 1L);
    SET(call, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    SET(call, CURLOPT_READFUNCTION, read_body);
    SET(call, CURLOPT_READDATA, (void *)call);
    SET(call, CURLOPT_SEEKFUNCTION, refuse_to_rewind);
    if (call->body.len == 0) { /* no rewind without a body: use a connection of its own */
        SET(call, CURLOPT_FRESH_CONNECT, 1L);
        SET(call, CURLOPT_FORBID_REUSE, 1L);
    }
}

bool ki__curl_accepts_gzip(const ki__curl_call *call)
{
    return call->kind != KI__CURL_STREAM && !call->curl->options.no_compression;
}

bool ki__curl_may_use_http2(const ki__curl_call *call)
{
    ki__curl_http http = call->curl->options.http;
    return http == KI__CURL_HTTP_2 || (http == KI__CURL_HTTP_AUTO && call->kind != KI__CURL_PLAIN);
}

/* libcurl groups connections by host and, once one of them is HTTP/1.1, treats the whole group as
 * not shareable: each watch after a list would get its own connection. The scope of an address is
 * part of that key, and has a meaning only for link-local IPv6 addresses, so it separates the
 * two. */
static void set_pool(ki__curl_call *call, bool two)
{
    const char *authority = ki_buf_text(&call->curl->target.authority);
    if (!two && strncmp(authority, "[fe", 3) != 0) {
        SET(call, CURLOPT_ADDRESS_SCOPE, 1L);
    }
}

static void set_what(ki__curl_call *call)
{
    const char *method = ki_buf_text(&call->method);
    bool get = strcmp(method, "GET") == 0;
    bool safe = get || strcmp(method, "OPTIONS") == 0;
    if (strcmp(method, "HEAD") == 0) {
        SET(call, CURLOPT_NOBODY, 1L);
    } else if (!safe || call->body.len != 0) {
        set_body(call);
        SET(call, CURLOPT_CUSTOMREQUEST, method);
    } else if (!get) {
        SET(call, CURLOPT_CUSTOMREQUEST, method);
    }
    if (call->kind == KI__CURL_PROBE) {
        SET(call, CURLOPT_REQUEST_TARGET, "*");
    }
    bool two = ki__curl_may_use_http2(call);
    SET(call, CURLOPT_HTTP_VERSION,
        two ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    SET(call, CURLOPT_PIPEWAIT, two && call->curl->target.https ? 1L : 0L);
    set_pool(call, two);
    if (two && call->kind != KI__CURL_PLAIN) {
        /* Idle connections are not kept: they would be probed instead of those with streams. */
        SET(call, CURLOPT_FORBID_REUSE, 1L);
    }
    SET(call, CURLOPT_USERAGENT, ki_buf_text(&call->curl->user_agent));
    SET(call, CURLOPT_HTTPHEADER, call->headers);
    SET(call, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* see take_compressed() */
}

static void set_response(ki__curl_call *call)
{
    SET(call, CURLOPT_PRIVATE, (void *)call);
    SET(call, CURLOPT_ERRORBUFFER, call->text);
    SET(call, CURLOPT_HEADERFUNCTION, ki__curl_on_header);
    SET(call, CURLOPT_HEADERDATA, (void *)call);
    SET(call, CURLOPT_WRITEFUNCTION, ki__curl_on_body);
    SET(call, CURLOPT_WRITEDATA, (void *)call);
    SET(call, CURLOPT_XFERINFOFUNCTION, ki__curl_on_progress);
    SET(call, CURLOPT_XFERINFODATA, (void *)call);
    SET(call, CURLOPT_NOPROGRESS, 0L);
    SET(call, CURLOPT_DEBUGFUNCTION, ki__curl_on_debug);
    SET(call, CURLOPT_DEBUGDATA, (void *)call);
    SET(call, CURLOPT_VERBOSE, call->curl->target.https ? 1L : 0L);
    SET(call, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
    SET(call, CURLOPT_HTTP09_ALLOWED, 0L);
}

/* The connection keeps copies, so new certificates never apply to old connections. */
static void set_blob(ki__curl_call *call, CURLoption option, ki_buf *bytes)
{
    struct curl_blob blob = {.data = bytes->data, .len = bytes->len, .flags = CURL_BLOB_NOCOPY};
    if (bytes->len != 0) {
        SET(call, option, &blob);
    }
}

static void set_tls(ki__curl_call *call)
{
    ki__curl_certs *certs = call->certs;
    /* libcurl would put a watch that could use HTTP/2 on an idle HTTP/1.1 connection of a list. It
     * does not if TLS settings differ, so they differ here: the highest TLS version is named
     * explicitly. */
    long newest =
        ki__curl_may_use_http2(call) ? CURL_SSLVERSION_MAX_TLSv1_3 : CURL_SSLVERSION_MAX_DEFAULT;
    SET(call, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | newest);
    SET(call, CURLOPT_SSL_VERIFYPEER, certs->insecure ? 0L : 1L);
    SET(call, CURLOPT_SSL_VERIFYHOST, certs->insecure ? 0L : 2L);
    SET(call, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    if (certs->ca.len != 0 || certs->ca_file.len != 0) {
        /* Otherwise libcurl would trust its CA directory in addition to the given CA. */
        SET(call, CURLOPT_CAPATH, (char *)NULL);
        SET(call, CURLOPT_CAINFO, certs->ca_file.len != 0 ? certs->ca_file.data : NULL);
        set_blob(call, CURLOPT_CAINFO_BLOB, &certs->ca);
    }
    if (certs->certificate.len != 0) {
        SET(call, CURLOPT_SSLCERTTYPE, "PEM");
        SET(call, CURLOPT_SSLKEYTYPE, "PEM");
        set_blob(call, CURLOPT_SSLCERT_BLOB, &certs->certificate);
        set_blob(call, CURLOPT_SSLKEY_BLOB, &certs->key);
    }
}

/* libcurl verifies the host of the URL. If another name is to be verified, that is the URL's host
 * (ki__curl_call_start), and this is the real destination. */
static int set_connect_to(ki__curl_call *call)
{
    const ki__curl_target *target = &call->curl->target;
    if (call->certs->server_name.len == 0 || !call->curl->target.https) {
        return 0;
    }
    ki_buf line;
    ki_buf_init(&line, call->curl->alloc, LINE_MAX_BYTES);
    int r = ki_buf_add_text(&line, "::");
    if (r == 0) {
        r = ki_buf_add_str(&line, ki_buf_str(&target->host));
    }
    if (r == 0) {
        r = ki_buf_add_char(&line, ':');
    }
    if (r == 0) {
        r = ki_buf_add_str(&line, ki_buf_str(&target->port));
    }
    if (r == 0) {
        call->connect_to = curl_slist_append(NULL, ki_buf_text(&line));
        r = call->connect_to != NULL ? 0 : -ENOMEM;
    }
    ki_buf_done(&line);
    SET(call, CURLOPT_CONNECT_TO, call->connect_to);
    return r;
}

/* The current certificates: they may be newer than the request, which may have waited for them. */
static void take_certs(ki__curl_call *call)
{
    if (call->certs != call->curl->certs) {
        ki__curl_certs_unref(call->certs);
        call->certs = ki__curl_certs_ref(call->curl->certs);
    }
}

int ki__curl_request_setup(ki__curl_call *call, ki_error *error)
{
    int r = get_credentials(call, error);
    if (r < 0) {
        return r;
    }
    take_certs(call);
    r = add_own_headers(call);
    call->easy = curl_easy_init();
    if (r < 0 || call->easy == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    set_where(call);
    set_what(call);
    set_response(call);
    if (call->curl->target.https) {
        set_tls(call);
    }
    r = set_connect_to(call);
    if (r == 0 && call->result != CURLE_OK) {
        r = call->result == CURLE_OUT_OF_MEMORY ? -ENOMEM : KI_ERR_UNSUPPORTED;
    }
    if (r < 0) {
        return ki__error_set(error, r, "libcurl rejected the request: %s",
                             curl_easy_strerror(call->result));
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Maps libcurl's errors to ours: a code that determines the reaction, and a message that names the
 * server. libcurl's own message is added where it has more information; it never contains
 * headers. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "client/curl/curl_state.h"

static int system_code(const ki__curl_call *call, int otherwise)
{
    long number = 0;
    if (call->easy != NULL &&
        curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK && number > 0 &&
        number < 4096) {
        return -(int)number;
    }
    return otherwise;
}

/* Case-insensitive substring; other equivalences do not matter here. */
static bool says(const ki__curl_call *call, const char *words)
{
    size_t len = strlen(words);
    for (const char *at = call->text; *at != '\0'; at++) {
        size_t i = 0;
        while (i < len && (at[i] | 0x20) == (words[i] | 0x20)) {
            i++;
        }
        if (i == len) {
            return true;
        }
    }
    return false;
}

/* An established connection broke. With TLS only the message has the reason. */
static int broken_code(const ki__curl_call *call)
{
    if (says(call, "reset")) {
        return -ECONNRESET;
    }
    if (says(call, "alert") || says(call, "nghttp2")) {
        return -EPROTO; /* TLS: rejected by the server; HTTP/2: protocol error */
    }
    int r = system_code(call, -EPIPE);
    switch (r) {
    case -ETIMEDOUT: /* nothing was acknowledged for `dead_after_ns` */
    case -ECONNRESET:
    case -ECONNABORTED:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENETRESET:
    case -ENETDOWN:
        return r;
    default:
        return -EPIPE;
    }
}

static int http2_code(const ki__curl_call *call)
{
    return says(call, "protocol") && !says(call, "closed") ? -EPROTO : -ECONNRESET;
}

static int handshake_code(const ki__curl_call *call)
{
    if (says(call, "reset") || says(call, "SSL_ERROR_SYSCALL")) {
        return -ECONNRESET;
    }
    return says(call, "unexpected eof") ? -EPIPE : -EPROTO;
}

static int connect_code(const ki__curl_call *call)
{
    return system_code(call, -ECONNREFUSED);
}

/* Mapping of libcurl's results. */
typedef struct meaning {
    CURLcode result;
    const char *what; /* format for the server's name */
    int code;
    int (*code_of)(const ki__curl_call *call); /* replaces `code` if not NULL */
} meaning;

static const meaning meanings[] = {
    {CURLE_COULDNT_RESOLVE_HOST, "cannot resolve %s", -EHOSTUNREACH, NULL},
    {CURLE_COULDNT_RESOLVE_PROXY, "cannot resolve the proxy for %s", -EHOSTUNREACH, NULL},
    {CURLE_COULDNT_CONNECT, "cannot connect to %s", 0, connect_code},
    {CURLE_PROXY, "cannot connect to %s", 0, connect_code},
    {CURLE_OPERATION_TIMEDOUT, "cannot connect to %s in time", -ETIMEDOUT, NULL},
    {CURLE_PEER_FAILED_VERIFICATION, "server certificate of %s is not trusted", KI_ERR_TLS, NULL},
    {CURLE_SSL_ISSUER_ERROR, "server certificate of %s is not trusted", KI_ERR_TLS, NULL},
    {CURLE_SSL_CACERT_BADFILE, "cannot read the CA for %s", KI_ERR_INVALID, NULL},
    {CURLE_SSL_CERTPROBLEM, "cannot use the client certificate or key for %s", KI_ERR_INVALID,
     NULL},
    {CURLE_SSL_CONNECT_ERROR, "TLS handshake with %s failed", 0, handshake_code},
    {CURLE_SEND_ERROR, "connection to %s lost", 0, broken_code},
    {CURLE_RECV_ERROR, "connection to %s lost", 0, broken_code},
    /* See refuse_to_rewind(). */
    {CURLE_SEND_FAIL_REWIND,
     "%s closed the connection without a response; not retried, as the request may have been "
     "processed",
     -EPIPE, NULL},
    {CURLE_GOT_NOTHING, "%s closed the connection without a response", -EPIPE, NULL},
    {CURLE_PARTIAL_FILE, "response of %s is truncated", -EPIPE, NULL},
    {CURLE_HTTP2, "connection to %s lost", 0, http2_code},
    {CURLE_HTTP2_STREAM, "connection to %s lost", 0, http2_code},
    /* Not from our callbacks: those set a failure. */
    {CURLE_WRITE_ERROR, "cannot receive the response of %s", -EPROTO, NULL},
    {CURLE_OUT_OF_MEMORY, "out of memory for the connection to %s", -ENOMEM, NULL},
};

static int code_of(const ki__curl_call *call, const char **ret_what)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        const meaning *m = &meanings[i];
        if (m->result == call->result) {
            *ret_what = m->what;
            return m->code_of != NULL ? m->code_of(call) : m->code;
        }
    }
    *ret_what = "HTTP protocol error in the response of %s";
    return -EPROTO;
}

/* Whether libcurl's message adds information. Some only repeat ours, and some are about its
 * callbacks, which are ours. */
static bool has_words(const ki__curl_call *call)
{
    switch (call->result) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_WRITE_ERROR:
        return false;
    default:
        return true;
    }
}

void ki__curl_failure(const ki__curl_call *call, ki_error *error)
{
    if (call->failure.code != 0) {
        ki__error_copy(error, &call->failure);
        return;
    }
    const char *what = NULL;
    int r = code_of(call, &what);
    const char *place = strstr(what, "%s");
    (void)ki__error_set(error, r, "%.*s", (int)(place - what), what);
    const ki_buf *unix_socket = &call->curl->unix_socket;
    ki__error_add(error, unix_socket->len != 0 ? ki_buf_str(unix_socket)
                                               : ki_buf_str(&call->curl->target.authority));
    ki__error_add(error, ki_str_from(place + 2));
    if (has_words(call)) {
        ki__error_add(error, ki_str_from(": "));
        ki__error_add(error, ki_str_from(call->text[0] != '\0' ? call->text
                                                               : curl_easy_strerror(call->result)));
    }
    error->http_code = call->responded ? call->status : 0;
}

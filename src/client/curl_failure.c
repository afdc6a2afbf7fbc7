/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's errors as ours: a code that says what to do about it, and a sentence that names the
 * server. libcurl's own words are added where they say more; they never hold headers. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "client/curl_state.h"

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

/* Without regard to the case of letters; what else it takes for the same does not matter here. */
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

/* A connection that was there and broke. With TLS the reason is in the words only. */
static int broken_code(const ki__curl_call *call)
{
    if (says(call, "reset")) {
        return -ECONNRESET;
    }
    if (says(call, "alert") || says(call, "nghttp2")) {
        return -EPROTO; /* TLS: the server does not want us; HTTP/2: it is none */
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

static int code_of(const ki__curl_call *call, const char **ret_what)
{
    const char *what = "the connection to %s broke";
    int r = -EPROTO;
    switch (call->result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        what = "the address of %s cannot be found";
        r = -EHOSTUNREACH;
        break;
    case CURLE_COULDNT_RESOLVE_PROXY:
        what = "the address of the proxy for %s cannot be found";
        r = -EHOSTUNREACH;
        break;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
        what = "cannot connect to %s";
        r = system_code(call, -ECONNREFUSED);
        break;
    case CURLE_OPERATION_TIMEDOUT:
        what = "cannot connect to %s in time";
        r = -ETIMEDOUT;
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
        what = "the certificate of %s is not accepted";
        r = KI_ERR_TLS;
        break;
    case CURLE_SSL_CACERT_BADFILE:
        what = "the CA for %s cannot be read";
        r = KI_ERR_INVALID;
        break;
    case CURLE_SSL_CERTPROBLEM:
        what = "the client certificate or key for %s cannot be used";
        r = KI_ERR_INVALID;
        break;
    case CURLE_SSL_CONNECT_ERROR:
        what = "no TLS connection to %s";
        r = handshake_code(call);
        break;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        r = broken_code(call);
        break;
    case CURLE_SEND_FAIL_REWIND: /* see refuse_to_rewind() */
    case CURLE_GOT_NOTHING:
        what = "%s closed the connection without an answer";
        r = -EPIPE;
        break;
    case CURLE_PARTIAL_FILE:
        what = "the answer of %s ended in the middle";
        r = -EPIPE;
        break;
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        r = http2_code(call);
        break;
    case CURLE_BAD_CONTENT_ENCODING:
        what = "the answer of %s cannot be unpacked";
        r = -EBADMSG;
        break;
    case CURLE_OUT_OF_MEMORY:
        what = "no memory for the connection to %s";
        r = -ENOMEM;
        break;
    default:
        what = "the answer of %s is not HTTP as it should be";
    }
    *ret_what = what;
    return r;
}

void ki__curl_failure(const ki__curl_call *call, ki_error *error)
{
    if (call->failure.code != 0) {
        *error = call->failure;
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
    const char *words = call->text[0] != '\0' ? call->text : curl_easy_strerror(call->result);
    ki__error_add(error, ki_str_from(": "));
    ki__error_add(error, ki_str_from(words));
    error->http_code = call->responded ? call->status : 0;
}

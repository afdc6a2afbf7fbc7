/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness probes of HTTP/2 connections. TCP detects that a machine or a route is gone, but not
 * that the peer has stopped: a server that hangs, or a proxy that lost its upstream, still
 * acknowledges. HTTP/2 has PING for this; libcurl sends none for connections in use, and has no
 * timeout for the response. So a connection whose streams received nothing for half of
 * `dead_after_ns` is probed with `OPTIONS *`, a request about the server itself: Go's servers
 * respond to it before any code of Kubernetes runs. Any data is a sign of life. If none arrives in
 * the other half, the timeout of that request ends the connection, as for every request (on_idle()
 * in curl_call.c).
 *
 * If there are several connections, libcurl chooses the one that is probed. So there is one probe
 * at a time, and if it fails, all connections that received nothing meanwhile are closed.
 *
 * A server that breaks connections because of probes is not probed for a while. */
#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum {
    HARM_MAX = 3,
    REST = 30, /* multiple of `dead_after_ns` */
};

static uint64_t half(const ki__curl *curl)
{
    uint64_t ns = curl->options.dead_after_ns / 2;
    return ns != 0 ? ns : 1;
}

/* Whether the call is relevant for its connection: data is expected, and the connection may be
 * shared. The HTTP version is unknown before the response. */
static bool counts(const ki__curl_call *call)
{
    if (call->kind != KI__CURL_STREAM || call->state != KI__CURL_RUNNING || call->paused) {
        return false;
    }
    if (!call->responded) {
        return call->curl->target.https && ki__curl_may_use_http2(call);
    }
    long version = 0;
    return curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
           version == CURL_HTTP_VERSION_2_0;
}

/* ---- one probe ---- */

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    ki__curl *curl = user;
    (void)status;
    (void)headers;
    (void)header_count;
    curl->harmful_probes = 0;
}

static void on_body(ki_str bytes, void *user)
{
    (void)bytes;
    (void)user;
}

/* Whether the probe broke the connection: it ended soon after it. Connections that we closed as
 * silent, that TCP found dead, or that broke otherwise while nothing got through are not attributed
 * to the probe. */
static bool broke_connection(const ki__curl *curl, const ki_error *error)
{
    return error != NULL && error->code != -ETIMEDOUT && error->code != -ENOMEM &&
           ki__engine_now(curl->engine) - curl->probe_sent_ns < half(curl) / 2;
}

static void leave_silent(ki__curl *curl)
{
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *call = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (counts(call)) {
            (void)ki__curl_shut_silent(call, curl->probe_sent_ns);
        }
    }
}

static void on_end(const ki_error *error, void *user)
{
    ki__curl *curl = user;
    curl->probing = false;
    if (error != NULL && error->code == -ETIMEDOUT) {
        leave_silent(curl);
    }
    if (!broke_connection(curl, error) || ++curl->harmful_probes < HARM_MAX) {
        return;
    }
    curl->harmful_probes = 0;
    ki__timer_set_after(&curl->silence, REST * curl->options.dead_after_ns);
    KI__LOG(curl->log, KI_LOG_WARNING, "client", "liveness probes of idle connections are paused",
            {"server", ki_buf_str(&curl->target.authority)},
            {"error", ki_str_from(error->message)});
}

static void probe(ki__curl *curl)
{
    static const ki_http_request request = {
        .size = sizeof(request), .method = "OPTIONS", .path = "/", .query = ""};
    const ki_http_sink sink = {.size = sizeof(sink),
                               .on_response = on_response,
                               .on_body = on_body,
                               .on_end = on_end,
                               .user = curl};
    ki_http_request with_limit = request;
    with_limit.idle_timeout_ms = ki__ns_to_ms(half(curl));
    void *call = NULL;
    curl->probe_sent_ns = ki__engine_now(curl->engine);
    if (ki__curl_call_start(&with_limit, &sink, curl, &call, NULL) == 0) {
        ((ki__curl_call *)call)->kind = KI__CURL_PROBE;
        curl->probing = true;
    }
}

/* ---- schedule ---- */

/* Sends the probes that are due, and returns the time of the next check. */
static uint64_t look(ki__curl *curl, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    bool silent = false;
    KI__LIST_FOR_EACH (link, &curl->calls) {
        const ki__curl_call *call = KI__CONTAINER_OF(link, const ki__curl_call, link);
        if (!counts(call)) {
            continue;
        }
        ki__curl_socket *s = ki__curl_socket_of(call);
        uint64_t since = s == NULL ? now : s->probed > s->last_input ? s->probed : s->last_input;
        uint64_t due = since + half(curl);
        if (due <= now && !curl->probing) {
            s->probed = now; /* s is not NULL here: its `since` is not `now` */
            silent = true;
        }
        if (due <= now) {
            due = now + half(curl);
        }
        next = due < next ? due : next;
    }
    if (silent) {
        probe(curl);
    }
    return next;
}

void ki__curl_probe_on_timer(ki__timer *timer)
{
    ki__curl *curl = KI__CONTAINER_OF(timer, ki__curl, silence);
    if (!curl->options.no_probes) {
        ki__timer_set(timer, look(curl, ki__engine_now(curl->engine)));
    }
}

void ki__curl_probe_later(ki__curl *curl)
{
    if (!curl->options.no_probes && !ki__timer_is_set(&curl->silence)) {
        ki__timer_set_after(&curl->silence, half(curl));
    }
}

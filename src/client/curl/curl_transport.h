/* SPDX-License-Identifier: Apache-2.0 */
/* The transport on libcurl: requests to one API server, over HTTP/1.1 and HTTP/2, TLS, proxies and
 * Unix sockets, driven by a ki_loop. It has no thread of its own; libcurl uses a short-lived one
 * for each name lookup.
 *
 * Memory of libcurl and the TLS library does not come from the loop's allocator. curl_global_init()
 * is called once per process, by the first transport, and its reference is kept: this does not
 * affect programs that use libcurl too.
 *
 * Unless stated otherwise, functions are for the thread that runs the loop, or while none does. */
#ifndef KI_CLIENT_CURL_CURL_TRANSPORT_H
#define KI_CLIENT_CURL_CURL_TRANSPORT_H

#include <kinformer/loop.h>
#include <kinformer/parts/transport.h>

#include "rest/request_stats.h"
#include "rest/throttle.h"

typedef struct ki__curl ki__curl;
typedef struct ki__curl_headers ki__curl_headers;

/** Server verification and client certificate. Everything is copied, and wiped when it is
 *  released. */
typedef struct ki__curl_tls {
    ki_str ca;               /* PEM; only these are trusted. Empty: `ca_file` */
    const char *ca_file;     /* the same, read for each connection. NULL: the system's roots */
    ki_str certificate;      /* PEM, with its chain; requires `key` */
    ki_str key;              /* PEM, not encrypted */
    const char *server_name; /* for SNI and verification; NULL: the URL's host */
    bool insecure;           /* no verification; never together with a CA */
} ki__curl_tls;

/** Adds a header to a request; for `headers` below. -EINVAL for an invalid name or value. */
int ki__curl_header_add(ki__curl_headers *headers, const char *name, ki_str value);

/** Authentication is provided by the caller. */
typedef struct ki__curl_auth {
    /** Provides the authentication headers of one request with ki__curl_header_add(). Returns 0, or
     *  -EAGAIN: not available yet, the request waits for ki__curl_auth_ready(); any other code ends
     *  the request with it. *ret_generation, if set, is passed to `refused`. */
    int (*headers)(ki__curl_headers *headers, uint64_t *ret_generation, void *user,
                   ki_error *error);
    /** The server responded with 401 to a request with headers of that generation. May be NULL. */
    void (*refused)(uint64_t generation, void *user);
    void *user;
} ki__curl_auth;

typedef enum ki__curl_http {
    KI__CURL_HTTP_AUTO, /* measured best: lists by 1.1, watches by 2 if supported */
    KI__CURL_HTTP_1_1,
    KI__CURL_HTTP_2 /* everything by 2 if supported */
} ki__curl_http;

typedef struct ki__curl_options {
    ki_loop *loop;          /* required; must outlive the transport */
    const char *url;        /* required: http or https, host, port, and a path prefix */
    ki__curl_tls tls;       /* for https */
    ki__curl_auth auth;     /* `headers` NULL: none */
    const char *user_agent; /* such as "agent/1.2"; ours is appended. NULL: only ours */
    const char *proxy;      /* URL; NULL: none, but see the next */
    bool environment; /* if `proxy` is NULL: use HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read now */
    const char *unix_socket; /* connect to this path; the URL's host is only a name then */
    const char *resolve;     /* for tests: "host:port:address,address", no lookup */
    ki__curl_http http;
    ki__request_stats *stats; /* where requests are counted; outlives the transport; or NULL */
    bool no_probes;           /* do not probe silent HTTP/2 connections */
    bool no_compression;      /* do not request gzip, which otherwise all but streams do */

    /* Limits. 0: the stated default. */
    uint64_t connect_timeout_ns; /* 30 s: connection, TLS and proxy; the same for a name lookup */
    uint64_t idle_timeout_ns;    /* 120 s: of requests without a timeout, except streams */
    uint64_t dead_after_ns; /* 20 s: a peer that acknowledges nothing for so long is dead, and so is
                               an HTTP/2 server that does not respond to probes */
    size_t max_header_bytes; /* 64 KiB: headers of a response */
    size_t max_headers;      /* 200 */
    uint64_t max_body_bytes; /* 4 GiB: of a response that is not a stream, decompressed */
} ki__curl_options;

/** A transport to one server. It holds the loop's engine, not the loop.
 *  Errors: -EINVAL, KI_ERR_INVALID (the URL, the proxy, the credentials), -ENOMEM,
 *  KI_ERR_UNSUPPORTED (not supported by this libcurl). Messages never contain secrets. */
int ki__curl_new(const ki__curl_options *options, ki__curl **ret_curl, ki_error *error);

/** Ends all requests without notifying their sinks, and closes all connections. Allowed inside a
 *  sink; it takes effect when that returns. NULL is allowed. In a child of fork() it releases
 *  nothing. */
void ki__curl_free(ki__curl *curl);

/** The table for sources, valid as long as the transport. No rate limit. */
ki_transport ki__curl_table(ki__curl *curl);

/** As `start` of the table, but the request starts when the rate limiter permits. Its timeouts
 *  count from then on; pausing and cancelling are allowed before. */
int ki__curl_start_throttled(ki__curl *curl, ki__throttle *throttle, const ki_http_request *request,
                             const ki_http_sink *sink, void **ret_call, ki_error *error);

/** Replaces the certificates; `server_name` stays. New requests, and those that wait for headers,
 *  get new connections; streams end with -ECONNRESET, so that they are restarted. Allowed inside
 *  `headers`. No effect on failure. */
int ki__curl_set_tls(ki__curl *curl, const ki__curl_tls *tls, ki_error *error);

/** Host, and port if the URL has one. Any thread. */
ki_str ki__curl_host(const ki__curl *curl);

/** Requests that wait for headers may ask for them again. Any thread. */
void ki__curl_auth_ready(ki__curl *curl);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The transport on libcurl: requests to one API server, over HTTP/1.1 and HTTP/2, TLS, proxies and
 * Unix sockets, driven by a ki_loop. It opens no thread of its own; libcurl has a short-lived one
 * for each look-up of a name that is not an address.
 *
 * Memory that libcurl and the TLS library take does not come from the loop's allocator.
 * curl_global_init() is called once in the life of the process, by the first transport, and its
 * reference is kept: a program that uses libcurl too is not disturbed.
 *
 * All functions are for the thread that runs the loop, or while nobody does, if nothing else is
 * said. */
#ifndef KI_CLIENT_CURL_CURL_TRANSPORT_H
#define KI_CLIENT_CURL_CURL_TRANSPORT_H

#include <kinformer/loop.h>
#include <kinformer/parts/transport.h>

#include "rest/throttle.h"

typedef struct ki__curl ki__curl;
typedef struct ki__curl_headers ki__curl_headers;

/** How the server is recognised, and what is shown to it. Everything is copied, and wiped when it
 *  is released. */
typedef struct ki__curl_tls {
    ki_str ca;               /* PEM; these and no others are trusted. Empty: `ca_file` */
    const char *ca_file;     /* the same, read for each connection. NULL: the system's roots */
    ki_str certificate;      /* PEM, with its chain; goes together with `key` */
    ki_str key;              /* PEM, not encrypted */
    const char *server_name; /* used for SNI and verified in place of the URL's host; NULL: that */
    bool insecure;           /* accepts any server; never together with a CA */
} ki__curl_tls;

/** Adds a header to those of a request; for `headers` below. -EINVAL for a name or value that
 *  cannot be in a header. */
int ki__curl_header_add(ki__curl_headers *headers, const char *name, ki_str value);

/** Credentials are somebody else's job. */
typedef struct ki__curl_auth {
    /** Gives the headers that prove who asks, for one request, by ki__curl_header_add(). Returns 0,
     *  or -EAGAIN: they are not known yet, the request waits for ki__curl_auth_ready(); any other
     *  code ends the request with it. *ret_generation, if set, is handed to `refused`. */
    int (*headers)(ki__curl_headers *headers, uint64_t *ret_generation, void *user,
                   ki_error *error);
    /** The server answered 401 to a request that had the headers of that generation. May be NULL.
     */
    void (*refused)(uint64_t generation, void *user);
    void *user;
} ki__curl_auth;

typedef enum ki__curl_http {
    KI__CURL_HTTP_AUTO, /* what was measured best: lists by 1.1, watches by 2 if the server can */
    KI__CURL_HTTP_1_1,
    KI__CURL_HTTP_2 /* everything by 2 if the server can */
} ki__curl_http;

typedef struct ki__curl_options {
    ki_loop *loop;          /* required; must outlive the transport */
    const char *url;        /* required: http or https, host, port, and a path put before all */
    ki__curl_tls tls;       /* for https */
    ki__curl_auth auth;     /* none if `headers` is NULL */
    const char *user_agent; /* the program's, such as "agent/1.2"; ours is added. NULL: ours */
    const char *proxy;      /* its URL; NULL: none, but see the next */
    bool environment;       /* if `proxy` is NULL: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, read now */
    const char *unix_socket; /* connect to this path; the URL's host is only a name then */
    const char *resolve;     /* for tests: "host:port:address,address" in place of a look-up */
    ki__curl_http http;
    bool no_probes;      /* do not ask silent HTTP/2 connections for a sign of life */
    bool no_compression; /* do not ask for gzip, which otherwise all but streams request */

    /* Limits. 0: the stated default. */
    uint64_t connect_timeout_ns; /* 30 s: connection, TLS and proxy together; as long for a name */
    uint64_t idle_timeout_ns;    /* 120 s: of requests that name none and are no streams */
    uint64_t dead_after_ns;      /* 20 s: a peer that acknowledges nothing for so long is gone, and
                                  * so is an HTTP/2 server that says nothing when asked */
    size_t max_header_bytes;     /* 64 KiB: of an answer's headers together */
    size_t max_headers;          /* 200 */
    uint64_t max_body_bytes;     /* 4 GiB: of an answer that is no stream, decompressed */
} ki__curl_options;

/** A transport to one server. It holds the loop's engine, not the loop.
 *  Errors: -EINVAL, KI_ERR_INVALID (the URL, the proxy, the credentials), -ENOMEM,
 *  KI_ERR_UNSUPPORTED (this libcurl cannot do it). The text never has secrets in it. */
int ki__curl_new(const ki__curl_options *options, ki__curl **ret_curl, ki_error *error);

/** Ends all requests without a word to their sinks, and closes all connections. Also fine inside a
 *  sink, then it is done when that returns. NULL is allowed. In a child of fork() it only forgets.
 */
void ki__curl_free(ki__curl *curl);

/** The table for sources, valid as long as the transport. No rate limit. */
ki_transport ki__curl_table(ki__curl *curl);

/** As `start` of the table, but the request begins when the throttle lets it. Its time limits count
 *  from then on; pausing and cancelling are allowed before. */
int ki__curl_start_throttled(ki__curl *curl, ki__throttle *throttle, const ki_http_request *request,
                             const ki_http_sink *sink, void **ret_call, ki_error *error);

/** Puts other certificates in the place of those that were given; `server_name` stays. New
 *  requests, and those that wait for headers, get new connections; streams end with -ECONNRESET, so
 *  that they are recreated. Also allowed inside `headers`. On failure all stays. */
int ki__curl_set_tls(ki__curl *curl, const ki__curl_tls *tls, ki_error *error);

/** Headers may be requested again by the requests that wait for them. Any thread. */
void ki__curl_auth_ready(ki__curl *curl);

#endif

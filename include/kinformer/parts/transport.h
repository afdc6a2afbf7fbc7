/* SPDX-License-Identifier: Apache-2.0 */
/* Transports: how requests reach an API server, as a table of functions. The library provides one
 * on libcurl; a simulator, or a program with its own HTTP client, can provide another. The rest of
 * the library uses only the parts of HTTP declared here. */
#ifndef KINFORMER_PARTS_TRANSPORT_H
#define KINFORMER_PARTS_TRANSPORT_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_client ki_client; /* <kinformer/client.h> */

/** An HTTP header. Later versions add no members. */
typedef struct ki_http_header {
    ki_str name; /* compared case-insensitively */
    ki_str value;
} ki_http_header;

/** A request. All pointers are borrowed for the duration of the call that takes it. */
typedef struct ki_http_request {
    size_t size;        /* see KI_OPTIONS_INIT */
    const char *method; /* "GET" and so on */
    const char *path;   /* from the root of the server, percent-encoded: "/api/v1/pods" */
    const char *query;  /* encoded, without '?'; "" if none */
    const ki_http_header *headers;
    size_t header_count;
    ki_str body;
    uint64_t idle_timeout_ms; /* -ETIMEDOUT if no byte arrives for this long; 0: no limit */
    bool stream;              /* a watch: the response has no end of its own */
    bool later_page; /* a later page of a list: not subject to the client-side rate limit */
    /** The status code of the attempt that this one repeats, for statistics; -1 if it got no
     *  response; 0: this is the first attempt. */
    int retry_of;
    /** Called when the connection is ready and the request is about to be sent, which may be long
     *  after `start`. A negative result ends the request with `error`, without sending it. Not
     *  called after on_end or `cancel`. NULL: none. */
    int (*may_send)(void *user, ki_error *error);
    void *may_send_user;
} ki_http_request;

/** The callbacks that receive the response. Called inside ki_engine_run() of the engine that the
 *  request was started on, never from inside `start`, `cancel` or `pause`: first on_response
 *  (unless the request failed before it), then any number of on_body, then on_end. What they point
 *  to is valid during the call only. */
typedef struct ki_http_sink {
    size_t size; /* see KI_OPTIONS_INIT */
    void (*on_response)(int status, const ki_http_header *headers, size_t header_count, void *user);
    void (*on_body)(ki_str bytes, void *user);
    /** The last callback. `error` is NULL if the response is complete; otherwise it is the reason:
     *  -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EPIPE for a truncated response, and so on. */
    void (*on_end)(const ki_error *error, void *user);
    void *user;
} ki_http_sink;

/** A transport. All functions except `ref` and `unref` are called inside ki_engine_run(). */
typedef struct ki_transport {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Starts a request. *ret_call identifies the call for the other two functions until on_end or
     *  cancel. A failure that is known at once may be returned; then no callback of the sink is
     *  called. */
    int (*start)(const ki_http_request *request, const ki_http_sink *sink, void *user,
                 void **ret_call, ki_error *error);
    /** Cancels a call at any time, also from inside the sink: no callback is called any more. */
    void (*cancel)(void *call, void *user);
    /** Pauses or resumes reading the response; data that was already read may still arrive. May be
     *  NULL. */
    void (*pause)(void *call, bool paused, void *user);
    /** Take and release references, on any thread. Every copy of the table holds one reference.
     *  NULL: the transport outlives its users. */
    void (*ref)(void *user);
    void (*unref)(void *user);
    /** The server, for logs: "https://host:6443", without credentials. NULL: unknown. Must be valid
     *  as long as the transport. */
    const char *url;
    void *user;
} ki_transport;

/** Returns the value of a header; empty with a NULL `ptr` if there is no header with this name.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_str ki_http_header_find(const ki_http_header *headers, size_t count, const char *name);

/** Returns the transport of a client, for sources. A reference taken with its `ref` keeps the
 *  client.
 *  Owner: borrowed.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_transport *ki_client_transport(const ki_client *client);

KI_END_DECLS

#endif

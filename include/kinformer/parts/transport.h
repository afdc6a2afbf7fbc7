/* SPDX-License-Identifier: Apache-2.0 */
/* The transport: how requests reach an API server, as a table. The library's own, on libcurl, is
 * one; a simulator, or a program with an HTTP client of its own, gives another. Nothing above it
 * knows more of HTTP than stands here. */
#ifndef KINFORMER_PARTS_TRANSPORT_H
#define KINFORMER_PARTS_TRANSPORT_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_http_header {
    ki_str name; /* compared without regard to case */
    ki_str value;
} ki_http_header;

/** A request. Everything in it is borrowed for the time of the call that takes it. */
typedef struct ki_http_request {
    const char *method; /* "GET" and so on */
    const char *path;   /* from the root of the server, percent-encoded: "/api/v1/pods" */
    const char *query;  /* encoded, without '?'; "" if there is none */
    const ki_http_header *headers;
    size_t header_count;
    ki_str body;
    uint64_t idle_timeout_ns; /* ends with -ETIMEDOUT if no byte comes for so long; 0: no limit */
    bool stream;              /* a watch: the answer has no end of its own */
    bool later_page; /* of a list that was begun: not subject to rate limits of the client */
} ki_http_request;

/** Who hears of the answer. All of it is called inside ki_engine_run() of the engine that the
 *  request was made on, never from inside `start`, `cancel` or `pause`: first on_response (unless
 *  the request failed before), then any number of on_body, then on_end. What they point to is valid
 *  during the call only. */
typedef struct ki_http_sink {
    void (*on_response)(int status, const ki_http_header *headers, size_t header_count, void *user);
    void (*on_body)(ki_str bytes, void *user);
    /** The last call. `error` is NULL if the answer is complete; else what cut it:
     *  -ECONNREFUSED, -ECONNRESET, -ETIMEDOUT, -EPIPE for an end in the middle, and so on. */
    void (*on_end)(const ki_error *error, void *user);
    void *user;
} ki_http_sink;

/** The table. All functions but the last two are called inside ki_engine_run(). */
typedef struct ki_transport {
    /** Starts a request. *ret_call names it for the other two, until on_end or cancel. A failure
     *  that is known at once may be returned; then nothing of the sink is called. */
    int (*start)(const ki_http_request *request, const ki_http_sink *sink, void *user,
                 void **ret_call, ki_error *error);
    /** Ends a call at any moment, also from inside the sink: nothing of it is called any more. */
    void (*cancel)(void *call, void *user);
    /** Stops reading the answer, or goes on; what was read already may still come. May be NULL. */
    void (*pause)(void *call, bool paused, void *user);
    /** One more who uses it, and one less; on any thread. Whoever copies the table calls the one,
     *  and the other when done. NULL: it lives longer than they do. */
    void (*ref)(void *user);
    void (*unref)(void *user);
    /** The server, for logs: "https://host:6443", without credentials. NULL: unknown. Lives as long
     *  as the transport. */
    const char *url;
    void *user;
} ki_transport;

/** The value of a header; empty with a NULL `ptr` if there is none of that name.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_str ki_http_header_find(const ki_http_header *headers, size_t count, const char *name);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP front end of the embedded API server: libmicrohttpd, driven by a loop, carries the
 * requests to exchanges of the model and their responses back.
 *
 * One lock protects everything. The loop's thread holds it while libmicrohttpd runs; other threads
 * take it to access the model. Timers, descriptors and libmicrohttpd are for the loop's thread
 * alone (or for the thread that creates and frees the server while no thread runs the loop). */
#ifndef KI_APISERVER_HTTP_HTTP_SERVER_H
#define KI_APISERVER_HTTP_HTTP_SERVER_H

#include <microhttpd.h>

#include <kinformer/apiserver.h>

#include "apiserver/exchange.h"
#include "apiserver/fault_text.h"
#include "base/engine.h"
#include "base/refs.h"
#include "base/sync.h"
#include "loop/loop.h"

enum {
    KI__HTTP_URL_MAX = 80,
    KI__HTTP_CONNECTION_BYTES = 160 * 1024, /* holds a target of 64 KiB plus headers */
};

/** PEM, for the server and for its clients. Empty without TLS. */
typedef struct ki__http_identity {
    ki_buf ca;
    ki_buf certificate;
    ki_buf key;
} ki__http_identity;

struct ki_apiserver {
    ki__refs refs;
    const ki_alloc *alloc;
    const ki_log *log;
    ki_loop *loop;
    ki_engine *engine;
    bool own_loop;
    char url[KI__HTTP_URL_MAX];
    bool everywhere; /* listens on all addresses of the machine */
    ki_buf token;
    ki_buf allowed_hosts; /* additional accepted Host names; each NUL-terminated */
    ki__http_identity identity;
    uint64_t request_timeout_ns;
    uint64_t idle_timeout_ns;
    uint64_t seed;

    ki__mutex lock; /* protects all members below */
    ki__api_model *model;
    ki__api_server *server; /* serves clients */
    ki__api_server *direct; /* serves this process: without faults */
    ki__api_faults faults;
    ki__api_fault_set fault_set;
    uint64_t due_version; /* with a lag: the version that the server reaches when lag_timer fires */
    bool lag_set;         /* lag_timer is set */

    struct MHD_Daemon *daemon;
    int listen_fd;
    ki__watch watch;     /* the daemon's epoll descriptor */
    ki__timer timer;     /* the daemon's next timeout */
    ki__timer lag_timer; /* when a lagging server advances */
    ki__task task;       /* the only caller of libmicrohttpd */
    bool changed;        /* the model changed since waiting connections were last checked */
    bool active;         /* libmicrohttpd invoked a callback; see run() */
    ki__list busy;       /* connections being processed by libmicrohttpd */
    ki__list waiting;    /* suspended connections */
    ki__list due;        /* suspended connections that can continue */
    size_t open_connections;
    uint64_t connections;
    uint64_t requests;
};

typedef enum ki__http_state {
    KI__HTTP_IDLE,    /* no request yet */
    KI__HTTP_READING, /* receiving a request */
    KI__HTTP_WAITING, /* suspended: the response is not available yet */
    KI__HTTP_SENDING,
} ki__http_state;

typedef struct ki__http_connection {
    ki__list link; /* in one of the server's lists */
    ki_apiserver *server;
    struct MHD_Connection *mhd;
    int fd;
    ki__http_state state;
    ki__timer timer;  /* timeout of a slow client, or the deadline of the exchange */
    ki__watch hangup; /* watches the socket while suspended */
    bool gone;        /* the client disconnected, or the connection is to be broken */

    /* The request. */
    ki_buf target;
    ki_buf body;
    const char *target_end; /* end of the target in libmicrohttpd's buffer */
    bool malformed;         /* the target contains a NUL byte */
    bool failed;            /* out of memory */
    bool too_large;         /* the body is too large; the rest of it is discarded */
    uint64_t passed_over;

    /* The response. */
    ki__api_exchange *exchange;
    ki__api_result result; /* result of the last pull */
    ki_str ready;          /* pulled bytes that have not been sent */
    ki_buf head;           /* the start of the response, buffered to see whether it is complete */
    size_t head_sent;
} ki__http_connection;

/* ---- http_server.c ---- */

/** Schedules a run of the daemon. Any thread. */
static inline void ki__http_wake(ki_apiserver *server)
{
    (void)ki__engine_post(server->engine, &server->task);
}

/* ---- http_connection.c: libmicrohttpd callbacks ---- */

void ki__http_on_connection(void *user, struct MHD_Connection *mhd, void **socket_context,
                            enum MHD_ConnectionNotificationCode code);
void *ki__http_on_target(void *user, const char *target, struct MHD_Connection *mhd);
enum MHD_Result ki__http_on_request(void *user, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version,
                                    const char *upload_data, size_t *upload_data_size,
                                    void **request_context);
void ki__http_on_completed(void *user, struct MHD_Connection *mhd, void **request_context,
                           enum MHD_RequestTerminationCode code);

/** Checks all suspended connections; returns whether any can continue. */
bool ki__http_poll_waiting(ki_apiserver *server);

/** Resumes a suspended connection. */
void ki__http_resume(ki__http_connection *c);

/** Marks a connection that the server is about to close, so that libmicrohttpd cleans it up. */
void ki__http_mark_ended(ki__http_connection *c);

/** Breaks a connection in any state. Any thread, with the lock held. */
void ki__http_break(ki__http_connection *c);

/* ---- http_response.c ---- */

/** Pulls the exchange once, unless pulled bytes are still pending. */
void ki__http_pull(ki__http_connection *c);

/** Handles a complete request: queues a response now or later. MHD_NO: closes the connection. */
enum MHD_Result ki__http_respond(ki__http_connection *c, const char *method);

/** Frees the exchange and clears the request. */
void ki__http_reset(ki__http_connection *c);

/** Suspends the connection until the exchange can continue. */
void ki__http_wait(ki__http_connection *c);

/* ---- http_control.c: /kinformer/..., not part of the Kubernetes API ---- */

bool ki__http_is_control(ki_str target);

/** Executes a control request and creates its response. 0 or -ENOMEM. */
int ki__http_control(ki_apiserver *server, const ki__api_request *request,
                     ki__api_exchange **ret_exchange);

/** Sets the faults. The lock must be held. */
int ki__http_set_faults(ki_apiserver *server, ki_str text, ki_error *error);

/** Call after the model changed: makes the change visible to clients, now or after the lag. The
 *  lock must be held. */
void ki__http_follow(ki_apiserver *server);
void ki__http_on_lag(ki__timer *timer);

/* ---- http_direct.c ---- */

/** A request from this process. A NULL string means "". */
typedef struct ki__http_direct_request {
    const char *method;
    const ki_resource *resource;
    const char *name_space;
    const char *name;
    const char *label_selector;
    ki_str body;
    int expected; /* a status outside 2xx that is not a failure; 0: none */
} ki__http_direct_request;

/** Makes a request without faults; the lock must be held. Returns its HTTP status or an error;
 *  *ret_exchange is set on success. */
int ki__http_request(ki_apiserver *server, const ki__http_direct_request *request,
                     ki__api_exchange **ret_exchange, ki_error *error);

/** Appends the rest of a response.  Errors: KI_ERR_STATUS, KI_ERR_LIMIT, -ENOMEM. */
int ki__http_read_response(ki__api_exchange *x, ki_buf *out, ki_error *error);

/** ki_apiserver_apply() with the lock held. */
int ki__http_apply(ki_apiserver *server, const ki_object *object, ki_error *error);

/* ---- http_listen.c ---- */

/** Opens the socket for the address in `text`; sets the URL, the descriptor and `everywhere`.
 *  Errors: KI_ERR_INVALID  not an address and a port;  -errno. */
int ki__http_listen(ki_apiserver *server, const char *text, bool tls, ki_error *error);

/** The host of a URL set by ki__http_listen(), without brackets. */
void ki__http_host_of(const char *url, char host[KI__HTTP_URL_MAX]);

/* ---- http_guard.c ---- */

/** Names of the server on its own machine; NULL-terminated. */
extern const char *const ki__http_own_names[];

/** Sets the option allowed_hosts.  Errors: KI_ERR_INVALID, KI_ERR_LIMIT, -ENOMEM. */
int ki__http_allow_hosts(ki_apiserver *server, const char *const *hosts, ki_error *error);

/** Creates the response to a request that may come from a web page; otherwise *ret_exchange is
 *  unchanged. 0 or -ENOMEM. */
int ki__http_guard(const ki_apiserver *server, const ki__api_request *request,
                   ki__api_exchange **ret_exchange);

/* ---- http_certificate.c ---- */

/** Creates a CA and a certificate for this machine and the host of the URL. */
int ki__http_make_identity(const ki_apiserver *server, ki__http_identity *identity,
                           ki_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on a loop, for the embedded API server and for the monitor server: libmicrohttpd
 * carries the requests to a service, which creates an exchange for each, and their responses back.
 *
 * One lock, that of the service, protects everything. The loop's thread holds it while
 * libmicrohttpd runs. Timers, descriptors and libmicrohttpd are for the loop's thread alone (or for
 * the thread that starts and stops the server while no thread runs the loop). */
#ifndef KI_HTTPD_HTTPD_H
#define KI_HTTPD_HTTPD_H

#include <microhttpd.h>

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/error.h>

#include "base/engine.h"
#include "base/sync.h"
#include "loop/loop.h"

enum { KI__HTTPD_CONNECTION_BYTES = 160 * 1024 }; /* holds a target of 64 KiB plus headers */

typedef struct ki__httpd ki__httpd;
typedef struct ki__httpd_connection ki__httpd_connection;

typedef enum ki__httpd_result {
    KI__HTTPD_WAIT,    /* no data yet: pull again at the deadline, or after a change */
    KI__HTTPD_DATA,    /* bytes */
    KI__HTTPD_END,     /* the response is complete */
    KI__HTTPD_CUT,     /* the connection breaks here */
    KI__HTTPD_REFUSED, /* the connection was refused */
} ki__httpd_result;

/** What is served. The lock is held during all calls. */
typedef struct ki__httpd_service {
    /** Creates the exchange of a complete request. A failure closes the connection. */
    int (*begin)(ki__httpd_connection *c, const char *method, void **ret_exchange);
    /** The next bytes of the body, at most `max`, valid until the next call. Returns a
     *  ki__httpd_result, or an error: the connection breaks. */
    int (*next)(void *exchange, size_t max, ki_str *ret_bytes);
    /** When to pull again after KI__HTTPD_WAIT. */
    uint64_t (*deadline)(const void *exchange);
    /** 0 until the response has begun. */
    int (*status)(const void *exchange);
    /** Whether all headers could be added. */
    bool (*add_headers)(const ki__httpd_connection *c, struct MHD_Response *response);
    void (*end)(void *exchange);
    /** Called after libmicrohttpd ran: whether waiting connections may be able to continue. NULL:
     *  they wait for their deadlines only. */
    bool (*after_run)(ki__httpd *httpd);
} ki__httpd_service;

typedef struct ki__httpd_options {
    const ki__httpd_service *service;
    void *user; /* of the service */
    const ki_alloc *alloc;
    ki_loop *loop;
    ki__mutex *lock;
    size_t target_max;
    size_t body_max;
    uint32_t max_connections;
    uint32_t request_timeout_ms; /* 0: 30 s */
    uint32_t idle_timeout_ms;    /* 0: 120 s */
    char *key;                   /* PEM; NULL: without TLS */
    char *certificate;
    char *client_ca; /* whose certificates are requested of clients; NULL: none */
} ki__httpd_options;

struct ki__httpd {
    ki__httpd_options options; /* without the texts of TLS */
    ki_engine *engine;
    uint64_t request_timeout_ns;
    uint64_t idle_timeout_ns;

    struct MHD_Daemon *daemon;
    ki__watch watch; /* the daemon's epoll descriptor */
    ki__timer timer; /* the daemon's next timeout */
    ki__task task;   /* the only caller of libmicrohttpd */

    /* With the lock held. */
    bool active;      /* libmicrohttpd invoked a callback; see run() */
    ki__list busy;    /* connections being processed by libmicrohttpd */
    ki__list waiting; /* suspended connections */
    ki__list due;     /* suspended connections that can continue */
    size_t open_connections;
    uint64_t connections;
    uint64_t requests;
};

typedef enum ki__httpd_state {
    KI__HTTPD_IDLE,      /* no request yet */
    KI__HTTPD_READING,   /* receiving a request */
    KI__HTTPD_SUSPENDED, /* the response is not available yet */
    KI__HTTPD_SENDING,
} ki__httpd_state;

struct ki__httpd_connection {
    ki__list link; /* in one of the server's lists */
    ki__httpd *httpd;
    struct MHD_Connection *mhd;
    int fd;
    ki__httpd_state state;
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
    void *exchange;          /* of the service */
    ki__httpd_result result; /* result of the last pull */
    ki_str ready;            /* pulled bytes that have not been sent */
    ki_buf head;             /* the start of the response, buffered to see whether it is complete */
    size_t head_sent;
};

/* ---- httpd.c ---- */

/** For ki__httpd_stop() without a start. */
void ki__httpd_init(ki__httpd *httpd);

/** Serves the socket, which it owns from then on, also if it fails. Inside the loop.
 *  Errors: -errno of libmicrohttpd and of the loop. */
int ki__httpd_start(ki__httpd *httpd, const ki__httpd_options *options, int listen_fd,
                    ki_error *error);

/** Ends all connections. Inside the loop, with the lock not held. Allowed after a failed start. */
void ki__httpd_stop(ki__httpd *httpd);

/** Schedules a run of the daemon. Any thread. No effect before the start, which schedules one. */
static inline void ki__httpd_wake(ki__httpd *httpd)
{
    if (httpd->engine != NULL) {
        (void)ki__engine_post(httpd->engine, &httpd->task);
    }
}

/* ---- httpd_connection.c: libmicrohttpd callbacks ---- */

void ki__httpd_on_connection(void *user, struct MHD_Connection *mhd, void **socket_context,
                             enum MHD_ConnectionNotificationCode code);
void *ki__httpd_on_target(void *user, const char *target, struct MHD_Connection *mhd);
enum MHD_Result ki__httpd_on_request(void *user, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version,
                                     const char *upload_data, size_t *upload_data_size,
                                     void **request_context);
void ki__httpd_on_completed(void *user, struct MHD_Connection *mhd, void **request_context,
                            enum MHD_RequestTerminationCode code);

/** Checks all suspended connections; returns whether any can continue. */
bool ki__httpd_poll_waiting(ki__httpd *httpd);

/** Resumes a suspended connection. */
void ki__httpd_resume(ki__httpd_connection *c);

/** Marks a connection that the server is about to close, so that libmicrohttpd cleans it up. */
void ki__httpd_mark_ended(ki__httpd_connection *c);

/** Breaks a connection in any state. Any thread, with the lock held. */
void ki__httpd_break(ki__httpd_connection *c);

/* ---- httpd_respond.c ---- */

/** Pulls the exchange once, unless pulled bytes are still pending. */
void ki__httpd_pull(ki__httpd_connection *c);

/** Handles a complete request: queues a response now or later. MHD_NO: closes the connection. */
enum MHD_Result ki__httpd_respond(ki__httpd_connection *c, const char *method);

/** Frees the exchange and clears the request. */
void ki__httpd_reset(ki__httpd_connection *c);

/** Suspends the connection until the exchange can continue. */
void ki__httpd_wait(ki__httpd_connection *c);

/** Whether `value`, of an Authorization header, is a bearer token equal to `token`. Takes the same
 *  time for all tokens of one length. */
bool ki__httpd_has_token(ki_str value, ki_str token);
bool ki__httpd_same_secret(ki_str a, ki_str b);

/** Copies the option `token`.  Errors: KI_ERR_INVALID, -ENOMEM. */
int ki__httpd_take_token(ki_buf *buf, const char *token, ki_error *error);

#endif

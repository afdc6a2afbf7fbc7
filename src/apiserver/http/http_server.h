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
    KI__HTTP_CONNECTION_BYTES = 160 * 1024, /* a target of 64 KiB fits, as do headers beside it */
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
    bool everywhere; /* it listens on all addresses of the machine */
    ki_buf token;
    ki_buf
        allowed_hosts; /* names that clients may call it by besides its own; each ends with NUL */
    ki__http_identity identity;
    uint64_t request_timeout_ns;
    uint64_t idle_timeout_ns;
    uint64_t seed;

    ki__mutex lock; /* of all that follows */
    ki__api_model *model;
    ki__api_server *server; /* what clients talk to */
    ki__api_server *direct; /* for this process: without faults */
    ki__api_faults faults;
    ki__api_fault_set fault_set;
    uint64_t due_version; /* with a lag: what the server has got to when lag_timer fires */
    bool lag_set;         /* it is on its way */

    struct MHD_Daemon *daemon;
    int listen_fd;
    ki__watch watch;     /* of the daemon's own epoll descriptor */
    ki__timer timer;     /* of the daemon's time limits */
    ki__timer lag_timer; /* when a server that lags continues */
    ki__task task;       /* all that enters libmicrohttpd */
    bool changed;        /* the model, since the waiting ones were looked at */
    bool active;         /* libmicrohttpd called something of ours; see run() */
    ki__list busy;       /* connections that libmicrohttpd has */
    ki__list waiting;    /* those that are suspended until something happens */
    ki__list due;        /* those of them that something happened to */
    size_t open_connections;
    uint64_t connections;
    uint64_t requests;
};

typedef enum ki__http_state {
    KI__HTTP_IDLE,    /* no request yet */
    KI__HTTP_READING, /* a request is on its way */
    KI__HTTP_WAITING, /* suspended: the answer waits for something */
    KI__HTTP_SENDING,
} ki__http_state;

typedef struct ki__http_connection {
    ki__list link; /* in one of the server's lists */
    ki_apiserver *server;
    struct MHD_Connection *mhd;
    int fd;
    ki__http_state state;
    ki__timer timer;  /* for a client that is too slow, or the deadline of the exchange */
    ki__watch hangup; /* while it is suspended, for nobody else looks at the socket then */
    bool gone;        /* the client is, or this is to be broken */

    /* The request. */
    ki_buf target;
    ki_buf body;
    const char *target_end; /* where the text of the target ends in libmicrohttpd's buffer */
    bool malformed;         /* a NUL byte is in the target */
    bool failed;            /* there was no memory for it */
    bool too_large;         /* the body; the rest of it is passed over */
    uint64_t passed_over;

    /* The answer. */
    ki__api_exchange *exchange;
    ki__api_result result; /* what the last pull said */
    ki_str ready;          /* bytes of it that were not sent yet */
    ki_buf head;           /* the beginning of the answer, gathered to see whether it is all */
    size_t head_sent;
} ki__http_connection;

/* ---- http_server.c ---- */

/** Has the daemon run soon. Any thread. */
static inline void ki__http_wake(ki_apiserver *server)
{
    (void)ki__engine_post(server->engine, &server->task);
}

/* ---- http_connection.c: what libmicrohttpd calls ---- */

void ki__http_on_connection(void *user, struct MHD_Connection *mhd, void **socket_context,
                            enum MHD_ConnectionNotificationCode code);
void *ki__http_on_target(void *user, const char *target, struct MHD_Connection *mhd);
enum MHD_Result ki__http_on_request(void *user, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version,
                                    const char *upload_data, size_t *upload_data_size,
                                    void **request_context);
void ki__http_on_completed(void *user, struct MHD_Connection *mhd, void **request_context,
                           enum MHD_RequestTerminationCode code);

/** Looks at all that wait: which of them can continue? Whether any can. */
bool ki__http_poll_waiting(ki_apiserver *server);

/** Has a connection that waits continue. */
void ki__http_resume(ki__http_connection *c);

/** Tells libmicrohttpd that a connection is about to be closed from our side. */
void ki__http_mark_ended(ki__http_connection *c);

/** Breaks a connection, whatever it is doing. Any thread, with the lock. */
void ki__http_break(ki__http_connection *c);

/* ---- http_answer.c ---- */

/** Pulls the exchange once, if there is nothing that was pulled before. */
void ki__http_pull(ki__http_connection *c);

/** Answers the request that is complete: with a response, or later. MHD_NO: by closing. */
enum MHD_Result ki__http_answer(ki__http_connection *c, const char *method);

/** Frees the exchange and forgets the request. */
void ki__http_reset(ki__http_connection *c);

/** Suspends it until the exchange can continue. */
void ki__http_wait(ki__http_connection *c);

/* ---- http_control.c: /kinformer/..., what no real server has ---- */

bool ki__http_is_control(ki_str target);

/** Does what a request asks for and makes its answer. 0, -ENOMEM. */
int ki__http_control(ki_apiserver *server, const ki__api_request *request,
                     ki__api_exchange **ret_exchange);

/** Sets the faults. With the lock. */
int ki__http_set_faults(ki_apiserver *server, ki_str text, ki_error *error);

/** The model changed: lets the server that clients talk to see it, now or later. With the lock. */
void ki__http_follow(ki_apiserver *server);
void ki__http_on_lag(ki__timer *timer);

/* ---- http_load.c ---- */

/** Appends a YAML document as JSON; nothing if it is empty. `line` is how many came before it.
 *  Errors: those of ki__yaml_read();  KI_ERR_UNSUPPORTED  a number that JSON has not;  KI_ERR_LIMIT
 *          or -ENOMEM from `out`. */
int ki__http_yaml_to_json(const ki_alloc *alloc, ki_str document, uint32_t line, ki_buf *out,
                          ki_error *error);

/* ---- http_direct.c ---- */

/** A request of this process. Text may be NULL for "". */
typedef struct ki__http_question {
    const char *method;
    const ki_resource *resource;
    const char *name_space;
    const char *name;
    const char *label_selector;
    ki_str body;
    int expected; /* a status besides 2xx that is no failure; 0: none */
} ki__http_question;

/** Makes a request that no fault befalls, with the lock. Its status, or a failure; *ret_exchange is
 *  set if it is none. */
int ki__http_ask(ki_apiserver *server, const ki__http_question *question,
                 ki__api_exchange **ret_exchange, ki_error *error);

/** Appends the rest of an answer.  Errors: KI_ERR_STATUS, KI_ERR_LIMIT, -ENOMEM. */
int ki__http_read_answer(ki__api_exchange *x, ki_buf *out, ki_error *error);

/** ki_apiserver_apply() with the lock. */
int ki__http_apply(ki_apiserver *server, const ki_object *object, ki_error *error);

/* ---- http_listen.c ---- */

/** Opens the socket that `text` tells; sets its URL, its descriptor and `everywhere`.
 *  Errors: KI_ERR_INVALID  not an address and a port;  -errno. */
int ki__http_listen(ki_apiserver *server, const char *text, bool tls, ki_error *error);

/** The host of a URL that it has set, without brackets. */
void ki__http_host_of(const char *url, char host[KI__HTTP_URL_MAX]);

/* ---- http_guard.c ---- */

/** What the server is called on its own machine; ends with NULL. */
extern const char *const ki__http_own_names[];

/** Takes the option allowed_hosts.  Errors: KI_ERR_INVALID, KI_ERR_LIMIT, -ENOMEM. */
int ki__http_allow_hosts(ki_apiserver *server, const char *const *hosts, ki_error *error);

/** Makes the answer to a request that a web page may have sent; otherwise *ret_exchange stays as it
 *  is. 0, -ENOMEM. */
int ki__http_guard(const ki_apiserver *server, const ki__api_request *request,
                   ki__api_exchange **ret_exchange);

/* ---- http_certificate.c ---- */

/** Makes an authority and a certificate for this machine and the host of the URL. */
int ki__http_make_identity(const ki_apiserver *server, ki__http_identity *identity,
                           ki_error *error);

#endif

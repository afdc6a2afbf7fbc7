/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the libcurl transport.
 *
 * libcurl must not be entered from its own callbacks, and sinks may call any function inside
 * theirs. So there is one direction: other code marks a call or a socket, puts it on a list and
 * posts the task; the task, inside ki_engine_run(), is the only place that enters libcurl and the
 * only place that frees calls. */
#ifndef KI_CLIENT_CURL_CURL_STATE_H
#define KI_CLIENT_CURL_CURL_STATE_H

#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <kinformer/buf.h>

#include "base/engine.h"
#include "base/list.h"
#include "base/refs.h"
#include "client/curl/curl_transport.h"
#include "client/curl/gzip.h"
#include "loop/loop.h"

/* One reference-counted set of certificates, used by calls and the transport. */
typedef struct ki__curl_certs {
    ki__refs refs;
    const ki_alloc *alloc;
    ki_buf ca;
    ki_buf certificate;
    ki_buf key;
    ki_buf ca_file;
    ki_buf server_name;
    bool insecure;
} ki__curl_certs;

/* Destination of requests. */
typedef struct ki__curl_target {
    ki_buf scheme;    /* "http" or "https" */
    ki_buf host;      /* as in a URL: IPv6 addresses have brackets */
    ki_buf port;      /* always set */
    ki_buf authority; /* host, and the port if the URL has one: the Host header */
    ki_buf prefix;    /* path without a trailing slash; usually "" */
    ki_buf url;       /* scheme, authority and prefix */
    ki_buf proxy;     /* "" if none */
    bool https;
    bool local; /* plain HTTP does not leave this machine */
} ki__curl_target;

/* A watched socket of libcurl. */
typedef struct ki__curl_socket {
    ki__list link; /* in the list of all */
    ki__list ready_link;
    ki__curl *curl;
    ki__watch watch;
    int fd;
    uint32_t ready;      /* epoll events not passed to libcurl yet */
    uint64_t last_input; /* when data arrived, monotonic */
    uint64_t probed;     /* when it was probed; 0: never */
    long port;           /* local port; 0 if unknown */
} ki__curl_socket;

typedef struct ki__curl_dial ki__curl_dial;

/* An address that accepted a connection on which no response came. */
typedef struct ki__curl_failed_address {
    struct sockaddr_storage address;
    socklen_t len;     /* 0: none */
    uint64_t failures; /* value of the transport's `failures` when it last failed */
} ki__curl_failed_address;

enum { KI__CURL_FAILED_ADDRESSES = 16 };

typedef enum ki__curl_kind {
    KI__CURL_PLAIN,  /* one response */
    KI__CURL_STREAM, /* an unbounded response: a watch */
    KI__CURL_PROBE   /* checks that a connection is alive; see curl_probe.c */
} ki__curl_kind;

/* curl_call.c has the table of transitions. */
typedef enum ki__curl_call_state {
    KI__CURL_NEW,
    KI__CURL_WAITING,    /* for credentials */
    KI__CURL_CONNECTING, /* by us; see curl_dial.c */
    KI__CURL_RUNNING,    /* owned by libcurl */
    KI__CURL_DONE,       /* finished by libcurl */
    KI__CURL_CLOSED,     /* the sink is not called again; the task frees it */
    KI__CURL_CALL_STATES
} ki__curl_call_state;

/* Headers that the request sets itself. */
enum {
    KI__CURL_OWN_CONTENT_TYPE = 1,
    KI__CURL_OWN_AUTHORIZATION = 2,
    KI__CURL_OWN_ACCEPT_ENCODING = 4
};

typedef struct ki__curl_call {
    ki__list link; /* in the list of all */
    ki__list todo_link;
    ki__curl *curl;
    ki__throttle_waiter turn; /* waits for the rate limiter first */
    ki__curl_certs *certs;
    ki_http_sink sink;
    int (*may_send)(void *user, ki_error *error); /* or NULL */
    void *may_send_user;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    ki__curl_dial *dial; /* NULL until it needs a new connection */
    int socket;          /* connected, to be passed to libcurl; -1 */
    ki_buf url;
    ki_buf method;
    ki_buf body;
    size_t body_sent;

    ki__curl_kind kind;
    ki__curl_call_state state;
    unsigned own_headers; /* KI__CURL_OWN_... */
    bool added;           /* added to libcurl */
    bool paused;          /* by the sink */
    bool held;            /* libcurl was paused */
    bool limited;         /* it needs a token of the rate limit */
    bool counted;         /* its result was */
    uint64_t began;       /* when it was started, monotonic */
    uint64_t generation;  /* of the credentials */

    /* The response. */
    ki_buf head;            /* names and values, each NUL-terminated */
    ki_http_header *fields; /* built from it when it is complete */
    size_t field_count;     /* lines so far */
    size_t field_cap;
    size_t head_bytes; /* of all heads and trailers */
    int status;
    unsigned interim; /* number of 1xx responses */
    bool responded;   /* on_response was called */
    ki__gzip *gzip;   /* NULL if not compressed */
    size_t inflated;  /* bytes that libcurl will deliver again, and that were already processed */
    uint64_t body_bytes; /* uncompressed */

    ki__timer idle;
    uint64_t idle_ns;   /* UINT64_MAX: no limit */
    uint64_t last_byte; /* monotonic */

    CURLcode result;
    ki_error failure;           /* why we aborted it; code 0 if we did not */
    char text[CURL_ERROR_SIZE]; /* libcurl's error message */
} ki__curl_call;

enum { KI__CURL_WARNINGS = 64 };

/* Logged warnings. */
typedef struct ki__curl_warnings {
    ki__hash_key key;
    uint64_t hashes[KI__CURL_WARNINGS]; /* a ring buffer */
    size_t next;
    uint64_t since; /* start of the minute in which `count` were logged */
    unsigned count;
} ki__curl_warnings;

struct ki__curl {
    const ki_alloc *alloc;
    ki_loop *loop;
    ki_engine *engine;
    ki_engine_task *task;
    const ki_log *log;
    ki__curl_options options; /* numbers and functions; strings are not kept */
    ki__curl_target target;
    ki__curl_certs *certs;
    ki_buf user_agent;
    ki_buf unix_socket;
    pid_t pid;

    ki__curl_call *dialer;        /* the connecting call, among those that could share; or NULL */
    bool no_sharing;              /* no HTTP/2: each call connects for itself */
    struct sockaddr_storage good; /* address of the last connection */
    socklen_t good_len;           /* 0: none yet */
    ki__curl_failed_address failed_addresses[KI__CURL_FAILED_ADDRESSES];
    uint64_t failures;          /* counts entries made in `shunned` */
    struct curl_slist *resolve; /* name resolution overrides, for tests */

    CURLM *multi;
    ki__timer timer; /* libcurl's */
    ki__timer silence;
    unsigned harmful_probes; /* consecutive probes that broke a connection */
    uint64_t probe_sent_ns;  /* start of the last probe */
    bool probing;            /* a probe is in progress */
    bool timer_due;
    bool working;        /* the task is running */
    bool freed;          /* freed while it was running */
    int broken;          /* error that requires a restart of libcurl, or 0 */
    uint64_t turn_began; /* when libcurl was entered */
    uint64_t turn_bytes; /* of bodies since then */
    uint64_t turn_reads; /* number of reads by libcurl since then */
    char *room;          /* buffer to inflate into; NULL until the first compressed response */
    _Atomic bool auth_ready;
    ki__curl_warnings warnings;
    ki__list calls;
    ki__list todo; /* calls with pending work */
    ki__list sockets;
    ki__list ready; /* sockets that are readable or writable */
};

/* curl_target.c */
int ki__curl_target_parse(ki__curl_target *target, const ki_alloc *alloc,
                          const ki__curl_options *options, ki_error *error);
void ki__curl_target_done(ki__curl_target *target);

/* curl_proxy.c: whether a NO_PROXY list matches that host (with brackets, if IPv6) and port. */
bool ki__no_proxy_matches(ki_str list, ki_str host, ki_str port);
bool ki__is_loopback(ki_str host);

/* curl_certs.c */
int ki__curl_certs_new(const ki_alloc *alloc, const ki__curl_tls *tls, bool https,
                       ki__curl_certs **ret_certs, ki_error *error);
ki__curl_certs *ki__curl_certs_ref(ki__curl_certs *certs);
void ki__curl_certs_unref(ki__curl_certs *certs);
void ki__curl_wipe(ki_buf *buf); /* wipes and frees */

/* curl_request.c: libcurl's options for a request. */
int ki__curl_request_headers(ki__curl_call *call, const ki_http_request *request, ki_error *error);
int ki__curl_request_setup(ki__curl_call *call, ki_error *error);
void ki__curl_headers_free(struct curl_slist *headers); /* wipes them first */
bool ki__curl_may_use_http2(const ki__curl_call *call);
bool ki__curl_accepts_gzip(const ki__curl_call *call);
void ki__curl_tune_socket(const ki__curl *curl, int fd);

enum { KI__CURL_ROOM = 64 << 10 }; /* bytes inflated at a time */

/* curl_response.c: libcurl's callbacks. */
size_t ki__curl_on_header(char *bytes, size_t size, size_t count, void *user);
size_t ki__curl_on_body(char *bytes, size_t size, size_t count, void *user);
int ki__curl_on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up);
int ki__curl_on_debug(CURL *easy, curl_infotype type, char *bytes, size_t len, void *user);
void ki__curl_begin_turn(ki__curl *curl); /* call before libcurl is entered where it may read */

/* curl_warning.c: logs the Warning headers of a response. */
void ki__curl_warn(const ki__curl_call *call);

/* curl_failure.c */
void ki__curl_failure(const ki__curl_call *call, ki_error *error);

/* curl_call.c */
void ki__curl_call_set_state(ki__curl_call *call, ki__curl_call_state state);
void ki__curl_call_end(ki__curl_call *call); /* libcurl finished it; ignored if cancelled */
int ki__curl_call_start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                        void **ret_call, ki_error *error);
void ki__curl_call_cancel(void *opaque, void *user);
void ki__curl_call_pause(void *opaque, bool paused, void *user);
void ki__curl_call_count(ki__curl_call *call); /* its result, once */
void ki__curl_call_free(ki__curl_call *call);  /* outside of libcurl's callbacks */
void ki__curl_call_todo(ki__curl_call *call);  /* schedules the task for it */
void ki__curl_call_step(ki__curl_call *call);  /* performs the pending work; called by the task */
void ki__curl_call_fail(ki__curl_call *call, int code,
                        const char *text); /* ends it asynchronously */

/* curl_sockets.c: libcurl's sockets and timer on the loop. */
int ki__curl_open_multi(ki__curl *curl);
void ki__curl_close_multi(ki__curl *curl); /* all calls must have been removed */
void ki__curl_sockets_run(ki__curl *curl);
/** The socket of the call's connection; NULL if it has none, or it is unknown. */
ki__curl_socket *ki__curl_socket_of(const ki__curl_call *call);
/** Whether the connection of the call received nothing since `since`; then it is shut down, so that
 *  it is not reused and all its calls fail. */
bool ki__curl_shut_silent(ki__curl_call *call, uint64_t since);
void ki__curl_shut(ki__curl_call *call); /* unconditionally */

/* curl_dial.c: TCP connections. */
/** The connection made for the call; or none, and the address is recorded. Inside libcurl. */
curl_socket_t ki__curl_dial_socket(ki__curl_call *call, const struct curl_sockaddr *address);
void ki__curl_dial_next(ki__curl_call *call); /* makes libcurl report the next address */
/** Whether libcurl ended the call because it has no connection. */
bool ki__curl_dial_is_needed(const ki__curl_call *call);
/** Takes the call back from libcurl, and starts to connect. */
void ki__curl_dial_begin(ki__curl_call *call);
/** Continues. Whether libcurl may have the call again; if it failed, `failure` has the reason. */
bool ki__curl_dial_step(ki__curl_call *call);
void ki__curl_dial_added(ki__curl_call *call); /* libcurl has it again */
void ki__curl_dial_free(ki__curl_call *call);

/* curl_probe.c */
void ki__curl_probe_on_timer(ki__timer *timer);
void ki__curl_probe_later(ki__curl *curl); /* schedules probes: there is a stream */

#endif

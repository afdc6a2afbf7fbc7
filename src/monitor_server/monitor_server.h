/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the monitor server:
 *
 *   monitor_server.c    creation and destruction
 *   monitor_request.c   who may make a request, and what it is for
 *   monitor_exchange.c  a response, or the updates of a page
 *   monitor_routes.c    metrics, checks, files and pages
 *   monitor_state.c     the informers, handlers, queues and controllers as JSON
 *   monitor_objects.c   objects of the caches as JSON
 *   monitor_slots.c     what is recorded of each informer: samples, changes, memory by field
 *   html_template.c     JSON to HTML
 *
 * Everything runs inside the loop of the client, with the lock held only because httpd expects
 * one. */
#ifndef KI_MONITOR_SERVER_MONITOR_SERVER_H
#define KI_MONITOR_SERVER_MONITOR_SERVER_H

#include <kinformer/monitor_server.h>

#include "base/refs.h"
#include "httpd/httpd.h"
#include "httpd/httpd_guard.h"
#include "monitor_server/monitor_slots.h"

enum { KI__MONITOR_TARGET_MAX = 4096 };

struct ki_monitor_server {
    ki__refs refs;
    const ki_alloc *alloc;
    ki_client *client;
    ki_loop *loop;
    ki_engine *engine;
    ki__httpd_address address;
    ki_buf token;
    ki_buf allowed_hosts; /* see ki__httpd_allow_hosts() */
    bool client_ca;       /* certificates of clients are required */
    bool open_probes;
    bool objects;
    uint32_t streams_max; /* open pages; the other connections are for everything else */
    uint32_t streams;
    uint64_t response_bytes; /* memory of all responses that are being sent */
    ki_check_options checks; /* without zeros */
    uint64_t started_ns;
    ki__mutex lock;
    ki__httpd httpd;
    ki__monitor_slots slots;
};

/* ---- monitor_request.c ---- */

/** A request: its path and query, decoded on demand. */
typedef struct ki__monitor_request {
    ki_str path;
    ki_str query;
    bool anonymous; /* without the token: no details */
} ki__monitor_request;

/** Splits a target at '?'. */
ki__monitor_request ki__monitor_request_of(ki_str target);

/** Appends the decoded value of a parameter; nothing if it is absent. Returns whether it is there.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__monitor_parameter(const ki__monitor_request *request, const char *name, ki_buf *out);

/** Appends text with %XX decoded; '+' becomes a space if `form` is set. */
int ki__monitor_decode(ki_str text, bool form, ki_buf *out);

int ki__monitor_begin(ki__httpd_connection *c, const char *method, void **ret_exchange);

/* ---- monitor_exchange.c ---- */

typedef struct ki__monitor_exchange {
    ki_monitor_server *server;
    int status;
    const char *content_type;
    const char *allow; /* of a 405; NULL: none */
    bool asset;        /* a file that is a part of the library */
    ki_buf location;   /* of a redirect; "" if it is none */
    ki_buf body;
    size_t sent;
    bool events;     /* an endless stream of updates */
    bool counted;    /* in `streams` of the server */
    size_t charged;  /* of `response_bytes` of the server */
    ki_buf page;     /* the target of the page that is updated */
    uint64_t due_ns; /* the next update */
} ki__monitor_exchange;

int ki__monitor_exchange_new(ki_monitor_server *server, ki__monitor_exchange **ret_exchange);
void ki__monitor_exchange_free(ki__monitor_exchange *x);

/** Counts the memory of the body. KI_ERR_LIMIT: all responses have too much, with this one. */
int ki__monitor_charge(ki__monitor_exchange *x);

/** Replaces the response by a line of plain text. */
int ki__monitor_say(ki__monitor_exchange *x, int status, const char *text);

extern const ki__httpd_service ki__monitor_service;

/* ---- monitor_routes.c ---- */

/** Fills the response. `accept` is the header, or has a NULL pointer. An error other than -ENOMEM
 *  is a 500. */
int ki__monitor_route(ki__monitor_exchange *x, const ki__monitor_request *request, ki_str accept);

/** Appends the part of a page that changes, as HTML. Returns the status of the page. */
int ki__monitor_write_page(ki_monitor_server *server, ki_str target, ki_buf *out);

/* ---- monitor_state.c ---- */

/** Appends the state as a JSON map. With `page`, the changes as well, those that contain `filter`.
 *  Errors: -ENOMEM, KI_ERR_LIMIT. */
int ki__monitor_write_state(ki_monitor_server *server, bool page, ki_str filter, ki_buf *out);

/* ---- monitor_objects.c ---- */

/** Appends the objects of a cache: a list of `request`, or the object that its path names, as a
 *  JSON map for pages, or as Kubernetes would. Returns the status of the response; if it is not
 *  200, `out` has a message or, for 303, a location. */
int ki__monitor_write_objects(ki_monitor_server *server, const ki__monitor_request *request,
                              bool page, ki_buf *out);

#endif

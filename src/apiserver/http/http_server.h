/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP front end of the embedded API server: the requests of an HTTP server become exchanges of
 * the model.
 *
 * One lock protects everything. The loop's thread holds it while requests are processed; other
 * threads take it to access the model. */
#ifndef KI_APISERVER_HTTP_HTTP_SERVER_H
#define KI_APISERVER_HTTP_HTTP_SERVER_H

#include <kinformer/apiserver.h>

#include "apiserver/exchange.h"
#include "apiserver/fault_text.h"
#include "base/engine.h"
#include "base/refs.h"
#include "base/sync.h"
#include "httpd/httpd.h"
#include "httpd/httpd_guard.h"
#include "httpd/httpd_listen.h"
#include "loop/loop.h"

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
    ki__httpd_address address;
    ki_buf token;
    ki_buf allowed_hosts; /* additional accepted Host names; each NUL-terminated */
    ki__http_identity identity;
    uint64_t seed;

    ki__mutex lock; /* protects all members below */
    ki__api_model *model;
    ki__api_server *server; /* serves clients */
    ki__api_server *direct; /* serves this process: without faults */
    ki__api_faults faults;
    ki__api_fault_set fault_set;
    uint64_t due_version; /* with a lag: the version that the server reaches when lag_timer fires */
    bool lag_set;         /* lag_timer is set */

    ki__httpd httpd;
    ki__timer lag_timer; /* when a lagging server advances */
    bool changed;        /* the model changed since waiting connections were last checked */
};

/* ---- http_response.c: functions of a ki__httpd_service ---- */

int ki__http_begin(ki__httpd_connection *c, const char *method, void **ret_exchange);
bool ki__http_add_headers(const ki__httpd_connection *c, struct MHD_Response *response);

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

/* ---- http_guard.c ---- */

/** Names of the server on its own machine; NULL-terminated. */
extern const char *const ki__http_own_names[];

/** Creates the response to a request that may come from a web page; otherwise *ret_exchange is
 *  unchanged. 0 or -ENOMEM. */
int ki__http_guard(const ki_apiserver *server, const ki__api_request *request,
                   ki__api_exchange **ret_exchange);

/* ---- http_certificate.c ---- */

/** Creates a CA and a certificate for this machine and the host of the URL. */
int ki__http_make_identity(const ki_apiserver *server, ki__http_identity *identity,
                           ki_error *error);

#endif

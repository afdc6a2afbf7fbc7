/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: they collect requests here, and are suspended and resumed here.
 *
 * libmicrohttpd ignores a suspended connection entirely, so the loop watches its socket for a
 * disconnect. Every state except waiting has a timeout: slow clients are disconnected by shutting
 * down the socket, which libmicrohttpd then detects. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/digits.h"
#include "httpd/httpd.h"

/* If a body is too large, up to this much more of it is read, so that the client receives the
 * response. */
#define PASS_OVER_MAX ((uint64_t)8 << 20)

static ki__httpd_connection *connection_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* libmicrohttpd loses a connection that ends right after it was resumed, since its socket has no
 * further events. Connections with a timeout of their own are checked on every run. */
void ki__httpd_mark_ended(ki__httpd_connection *c)
{
    (void)MHD_set_connection_option(c->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 60u);
}

static void set_limit(ki__httpd_connection *c, uint64_t ns)
{
    ki__timer_set_after(&c->timer, ns);
}

/* ---- waiting ---- */

void ki__httpd_break(ki__httpd_connection *c)
{
    c->gone = true;
    (void)shutdown(c->fd, SHUT_RDWR);
    if (c->state == KI__HTTPD_SUSPENDED) {
        ki__list_remove(&c->link);
        ki__list_push_back(&c->httpd->due, &c->link);
        ki__httpd_wake(c->httpd);
    }
}

/* The client disconnected. Runs outside ki_engine_run(). */
static void on_hangup(ki__watch *watch, uint32_t events)
{
    (void)events;
    ki__httpd_connection *c = KI__CONTAINER_OF(watch, ki__httpd_connection, hangup);
    ki__httpd *httpd = c->httpd;
    ki__watch_remove(watch);
    ki__mutex_lock(httpd->options.lock);
    ki__httpd_break(c);
    ki__mutex_unlock(httpd->options.lock);
}

static uint64_t deadline(const ki__httpd_connection *c)
{
    return c->httpd->options.service->deadline(c->exchange);
}

void ki__httpd_wait(ki__httpd_connection *c)
{
    c->state = KI__HTTPD_SUSPENDED;
    ki__list_remove(&c->link);
    ki__list_push_back(&c->httpd->waiting, &c->link);
    MHD_suspend_connection(c->mhd);
    /* If the socket cannot be watched, a disconnect is detected on the next send. */
    (void)ki__watch_add(&c->hangup, c->httpd->options.loop, c->fd, EPOLLRDHUP, on_hangup);
    ki__timer_set(&c->timer, deadline(c));
}

void ki__httpd_resume(ki__httpd_connection *c)
{
    ki_assert(c->state == KI__HTTPD_SUSPENDED);
    ki__watch_remove(&c->hangup);
    ki__list_remove(&c->link);
    ki__list_push_back(&c->httpd->busy, &c->link);
    c->state = KI__HTTPD_SENDING;
    set_limit(c, c->httpd->idle_timeout_ns);
    MHD_resume_connection(c->mhd);
}

/* Resumes the connection if it can continue; returns whether it did. */
static bool poll_one(ki__httpd_connection *c)
{
    ki__httpd_pull(c);
    if (c->result == KI__HTTPD_WAIT && !c->gone) {
        ki__timer_set(&c->timer, deadline(c));
        return false;
    }
    ki__httpd_resume(c);
    return true;
}

bool ki__httpd_poll_waiting(ki__httpd *httpd)
{
    bool any = false;
    KI__LIST_FOR_EACH (link, &httpd->waiting) {
        any = poll_one(KI__CONTAINER_OF(link, ki__httpd_connection, link)) || any;
    }
    return any;
}

static void on_timer(ki__timer *timer)
{
    ki__httpd_connection *c = KI__CONTAINER_OF(timer, ki__httpd_connection, timer);
    ki__httpd *httpd = c->httpd;
    ki__mutex_lock(httpd->options.lock);
    if (c->state != KI__HTTPD_SUSPENDED) {
        ki__httpd_break(c);
    } else if (!c->gone) { /* otherwise it is already due */
        (void)poll_one(c);
    }
    ki__httpd_wake(httpd);
    ki__mutex_unlock(httpd->options.lock);
}

/* ---- opening and closing ---- */

static ki__httpd_connection *open_connection(ki__httpd *httpd, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    ki__httpd_connection *c = ki__alloc_zero(httpd->options.alloc, sizeof(*c));
    if (c == NULL || info == NULL || ki__timer_init(&c->timer, httpd->engine, on_timer) < 0) {
        ki__free(httpd->options.alloc, c);
        return NULL;
    }
    c->httpd = httpd;
    c->mhd = mhd;
    c->fd = info->connect_fd;
    ki_buf_init(&c->target, httpd->options.alloc, httpd->options.target_max + 1);
    ki_buf_init(&c->body, httpd->options.alloc, httpd->options.body_max);
    ki_buf_init(&c->head, httpd->options.alloc, SIZE_MAX);
    ki__list_push_back(&httpd->busy, &c->link);
    httpd->open_connections++;
    httpd->connections++;
    set_limit(c, httpd->request_timeout_ns);
    return c;
}

static void close_connection(ki__httpd_connection *c)
{
    ki__httpd *httpd = c->httpd;
    ki__httpd_reset(c);
    ki__watch_remove(&c->hangup);
    ki__timer_done(&c->timer);
    ki__list_remove(&c->link);
    ki_buf_done(&c->target);
    ki_buf_done(&c->body);
    ki_buf_done(&c->head);
    httpd->open_connections--;
    ki__free(httpd->options.alloc, c);
}

void ki__httpd_on_connection(void *user, struct MHD_Connection *mhd, void **socket_context,
                             enum MHD_ConnectionNotificationCode code)
{
    ((ki__httpd *)user)->active = true;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = open_connection(user, mhd); /* NULL: its first request closes it */
    } else if (*socket_context != NULL) {
        close_connection(*socket_context);
        *socket_context = NULL;
    }
}

/* ---- requests ---- */

/* The request line was received: the raw target, before decoding. */
void *ki__httpd_on_target(void *user, const char *target, struct MHD_Connection *mhd)
{
    ((ki__httpd *)user)->active = true;
    ki__httpd_connection *c = connection_of(mhd);
    if (c == NULL) {
        return NULL;
    }
    ki__httpd_reset(c);
    c->state = KI__HTTPD_READING;
    set_limit(c, c->httpd->request_timeout_ns);
    size_t len = strlen(target);
    c->target_end = target + len;
    size_t max = c->httpd->options.target_max;
    len = len <= max ? len : max + 1; /* rejected later as too long */
    c->failed = ki_buf_add(&c->target, target, len) < 0;
    return c;
}

static void take_body(ki__httpd_connection *c, const char *bytes, size_t len)
{
    if (c->failed || c->too_large) {
        c->passed_over += len;
        return;
    }
    int r = ki_buf_add(&c->body, bytes, len);
    c->too_large = r == KI_ERR_LIMIT;
    c->failed = r == -ENOMEM;
    if (r < 0) {
        ki_buf_done(&c->body);
    }
}

/* libmicrohttpd passes the target as a NUL-terminated string; the HTTP version follows it in the
 * same buffer, where the space between them was overwritten with another NUL. A version pointer
 * from elsewhere, as for a request without one, proves nothing. */
static bool has_nul(const char *target_end, const char *version)
{
    uintptr_t from = (uintptr_t)target_end;
    uintptr_t to = (uintptr_t)version;
    return to > from + 1 && to - from <= KI__HTTPD_CONNECTION_BYTES;
}

/* The request head is complete. Returns whether it already determines the response: a body larger
 * than PASS_OVER_MAX is not read at all. */
static bool take_head(ki__httpd_connection *c, const char *version)
{
    const char *length = MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, "Content-Length");
    uint64_t bytes = 0;
    c->httpd->requests++;
    c->malformed = has_nul(c->target_end, version);
    if (length != NULL && ki__digits_read(ki_str_from(length), &bytes)) {
        c->too_large = bytes > c->body.max + PASS_OVER_MAX;
    }
    return c->malformed || c->too_large;
}

enum MHD_Result ki__httpd_on_request(void *user, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version,
                                     const char *upload_data, size_t *upload_data_size,
                                     void **request_context)
{
    (void)url;
    ((ki__httpd *)user)->active = true;
    ki__httpd_connection *c = connection_of(mhd);
    if (c == NULL) {
        return MHD_NO;
    }
    if (c->gone) {
        ki__httpd_mark_ended(c);
        return MHD_NO;
    }
    if (c->state == KI__HTTPD_READING && *request_context == c) {
        *request_context = &c->httpd->requests; /* the body follows */
        return take_head(c, version) ? ki__httpd_respond(c, method) : MHD_YES;
    }
    if (*upload_data_size != 0) {
        take_body(c, upload_data, *upload_data_size);
        *upload_data_size = 0;
        return c->passed_over <= PASS_OVER_MAX ? MHD_YES : MHD_NO;
    }
    return c->failed ? MHD_NO : ki__httpd_respond(c, method);
}

void ki__httpd_on_completed(void *user, struct MHD_Connection *mhd, void **request_context,
                            enum MHD_RequestTerminationCode code)
{
    (void)code;
    ((ki__httpd *)user)->active = true;
    *request_context = NULL;
    ki__httpd_connection *c = connection_of(mhd);
    if (c != NULL) {
        ki__httpd_reset(c);
        set_limit(c, c->httpd->idle_timeout_ns);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's sockets and its one timer, on the loop. The loop reports sockets outside of
 * ki_engine_run(); they are recorded, and the task passes them to libcurl. If a socket cannot be
 * polled because memory ran out, libcurl would hang; so everything is restarted then. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { IDLE_CONNECTIONS = 16 };

/* Known once it is connected or connecting. */
static long port_of(const ki__curl_socket *s)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address);
    if (s->port != 0) {
        return s->port;
    }
    if (getsockname(s->fd, (struct sockaddr *)&address, &len) < 0) {
        return 0;
    }
    if (address.ss_family == AF_INET) {
        return ntohs(((const struct sockaddr_in *)&address)->sin_port);
    }
    if (address.ss_family == AF_INET6) {
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    }
    return 0;
}

/* Outside of ki_engine_run(). */
static void on_ready(ki__watch *watch, uint32_t events)
{
    ki__curl_socket *s = KI__CONTAINER_OF(watch, ki__curl_socket, watch);
    s->ready |= events;
    if ((events & EPOLLIN) != 0) {
        s->last_input = ki__engine_now(s->curl->engine);
    }
    ki__list_remove(&s->ready_link);
    ki__list_push_back(&s->curl->ready, &s->ready_link);
    ki_engine_task_post(s->curl->task);
}

static void drop_socket(ki__curl_socket *s)
{
    ki__watch_remove(&s->watch);
    ki__list_remove(&s->link);
    ki__list_remove(&s->ready_link);
    ki__free(s->curl->alloc, s);
}

static uint32_t events_of(int what)
{
    uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) {
        events |= EPOLLIN;
    }
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) {
        events |= EPOLLOUT;
    }
    return events;
}

static int add_socket(ki__curl *curl, int fd, uint32_t events)
{
    ki__curl_socket *s = ki__alloc_zero(curl->alloc, sizeof(*s));
    if (s == NULL) {
        return -ENOMEM;
    }
    s->curl = curl;
    s->fd = fd;
    s->last_input = ki__engine_now(curl->engine);
    ki__list_init(&s->ready_link);
    ki__list_push_back(&curl->sockets, &s->link);
    /* libcurl may close it before CURL_POLL_REMOVE. */
    int r = ki__watch_add_dup(&s->watch, curl->loop, fd, events, on_ready);
    if (r == 0 && curl_multi_assign(curl->multi, fd, s) != CURLM_OK) {
        r = -ENOMEM;
    }
    if (r < 0) {
        drop_socket(s);
    }
    return r;
}

/* libcurl's socket callback: start, change or stop watching. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *socket_user)
{
    (void)easy;
    ki__curl *curl = user;
    ki__curl_socket *s = socket_user;
    int r = 0;
    if (what == CURL_POLL_REMOVE) {
        if (s != NULL) {
            drop_socket(s);
        }
    } else if (s == NULL) {
        r = add_socket(curl, fd, events_of(what));
    } else {
        r = ki__watch_change(&s->watch, events_of(what));
    }
    if (r < 0) {
        curl->broken = r;
        ki_engine_task_post(curl->task);
    }
    return 0;
}

static int on_timeout(CURLM *multi, long timeout_ms, void *user)
{
    (void)multi;
    ki__curl *curl = user;
    if (timeout_ms < 0) {
        ki__timer_cancel(&curl->timer);
    } else {
        ki__timer_set_after(&curl->timer, (uint64_t)timeout_ms * KI__MS_NS);
    }
    return 0;
}

int ki__curl_open_multi(ki__curl *curl)
{
    CURLM *multi = curl_multi_init();
    if (multi == NULL) {
        return -ENOMEM;
    }
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (code == CURLM_OK) {
        code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, curl);
    }
    if (code == CURLM_OK) {
        code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    }
    if (code == CURLM_OK) {
        code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, curl);
    }
    if (code == CURLM_OK) {
        code = curl_multi_setopt(multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    }
    if (code == CURLM_OK) {
        code = curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    }
    if (code != CURLM_OK) {
        (void)curl_multi_cleanup(multi);
        return code == CURLM_OUT_OF_MEMORY ? -ENOMEM : KI_ERR_UNSUPPORTED;
    }
    curl->multi = multi;
    return 0;
}

/* Callbacks are removed first: timers may not be allowed here. */
void ki__curl_close_multi(ki__curl *curl)
{
    if (curl->multi == NULL) {
        return;
    }
    (void)curl_multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, (curl_socket_callback)NULL);
    (void)curl_multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, (curl_multi_timer_callback)NULL);
    KI__LIST_FOR_EACH (link, &curl->sockets) {
        drop_socket(KI__CONTAINER_OF(link, ki__curl_socket, link));
    }
    (void)curl_multi_cleanup(curl->multi);
    curl->multi = NULL;
}

static int select_of(uint32_t events)
{
    int mask = 0;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        mask |= CURL_CSELECT_IN;
    }
    if ((events & EPOLLOUT) != 0) {
        mask |= CURL_CSELECT_OUT;
    }
    if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
        mask |= CURL_CSELECT_ERR;
    }
    return mask;
}

void ki__curl_sockets_run(ki__curl *curl)
{
    int running = 0;
    ki__list *link;
    while ((link = ki__list_pop_front(&curl->ready)) != NULL) {
        ki__curl_socket *s = KI__CONTAINER_OF(link, ki__curl_socket, ready_link);
        int mask = select_of(s->ready);
        s->ready = 0;
        ki__curl_begin_turn(curl);
        if (curl_multi_socket_action(curl->multi, s->fd, mask, &running) != CURLM_OK) {
            curl->broken = -ENOMEM;
        }
    }
    if (curl->timer_due) {
        curl->timer_due = false;
        ki__curl_begin_turn(curl);
        if (curl_multi_socket_action(curl->multi, CURL_SOCKET_TIMEOUT, 0, &running) != CURLM_OK) {
            curl->broken = -ENOMEM;
        }
    }
}

ki__curl_socket *ki__curl_socket_of(const ki__curl_call *call)
{
    long port = 0;
    if (call->easy == NULL ||
        curl_easy_getinfo(call->easy, CURLINFO_LOCAL_PORT, &port) != CURLE_OK || port == 0) {
        return NULL;
    }
    KI__LIST_FOR_EACH (link, &call->curl->sockets) {
        ki__curl_socket *s = KI__CONTAINER_OF(link, ki__curl_socket, link);
        if (port_of(s) == port) {
            s->port = port;
            return s;
        }
    }
    return NULL;
}

/* After the program did not run the loop for a while, all deadlines have passed, even if data is
 * available. */
static bool has_input(int fd)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    return poll(&in, 1, 0) > 0;
}

bool ki__curl_shut_silent(ki__curl_call *call, uint64_t since)
{
    ki__curl_socket *s = ki__curl_socket_of(call);
    if (s == NULL || s->last_input > since || has_input(s->fd)) {
        return false;
    }
    (void)shutdown(s->fd, SHUT_RDWR);
    return true;
}

void ki__curl_shut(ki__curl_call *call)
{
    const ki__curl_socket *s = ki__curl_socket_of(call);
    if (s != NULL) {
        (void)shutdown(s->fd, SHUT_RDWR);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes TCP connections for libcurl. A name may have several addresses, and one that drops packets
 * must not prevent the others from being tried; libcurl 7.88 on an external loop tries the second
 * only after the connect timeout. So libcurl is refused a socket for each address, which ends the
 * transfer before it starts; the addresses are tried here, each 250 ms after the previous one (RFC
 * 8305) or as soon as that has failed; and the call is passed to libcurl again, with the first
 * established connection. This is a documented use of CURLOPT_OPENSOCKETFUNCTION and
 * CURL_SOCKOPT_ALREADY_CONNECTED. A proxy's name is handled alike. Connection reuse is decided by
 * libcurl.
 *
 * An address may accept connections and never respond, as a proxy does whose servers are gone. Such
 * an address is tried after all others from then on.
 *
 * Invariant: libcurl never has a TCP socket that is not connected yet.
 *
 * Calls that may share an HTTP/2 connection do not connect all at once: the first does, and the
 * others are passed to libcurl again when it has. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { ADDRESSES_MAX = 16 };
#define STAGGER_NS (250 * KI__MS_NS)
#define PATIENCE_NS (5000 * KI__MS_NS) /* for a response on a new connection */

typedef enum dial_state {
    DIAL_COLLECTING, /* libcurl reports the addresses */
    DIAL_WAITING,    /* another call is connecting */
    DIAL_CONNECTING,
    DIAL_READY /* libcurl may have the call again */
} dial_state;

typedef enum attempt_state { ATTEMPT_NOT_YET, ATTEMPT_PENDING, ATTEMPT_FAILED } attempt_state;

/* One address. */
typedef struct attempt {
    attempt_state state;
    int error; /* result of a failed attempt */
    int fd;    /* while it is pending */
    bool ready;
    ki__watch watch;
    ki__curl_call *call;
    int type;
    int protocol;
    socklen_t len;
    struct sockaddr_storage address;
} attempt;

struct ki__curl_dial {
    dial_state state;
    bool refused; /* libcurl was refused a socket, and may have to be woken for the next address */
    ki__curl_call *call;
    ki__timer timer;
    uint64_t deadline;            /* of all attempts together */
    uint64_t next_at;             /* when the next address is tried */
    int family;                   /* of the last attempt: families alternate */
    struct sockaddr_storage peer; /* address of the call's last connection, */
    socklen_t peer_len;           /* 0: none yet, */
    uint64_t connected_at;        /* and its time */
    size_t count;
    attempt attempts[ADDRESSES_MAX];
};

/* ---- addresses, inside libcurl ---- */

static void on_timer(ki__timer *timer)
{
    ki__curl_call_todo(KI__CONTAINER_OF(timer, ki__curl_dial, timer)->call);
}

static ki__curl_dial *dial_of(ki__curl_call *call)
{
    ki__curl *curl = call->curl;
    if (call->dial != NULL) {
        return call->dial;
    }
    ki__curl_dial *dial = ki__alloc_zero(curl->alloc, sizeof(*dial));
    if (dial == NULL) {
        return NULL;
    }
    if (ki__timer_init(&dial->timer, curl->engine, on_timer) < 0) {
        ki__free(curl->alloc, dial);
        return NULL;
    }
    dial->call = call;
    call->dial = dial;
    return dial;
}

static bool has_address(const ki__curl_dial *dial, const struct curl_sockaddr *address)
{
    for (size_t i = 0; i < dial->count; i++) {
        const attempt *a = &dial->attempts[i];
        if (a->len == address->addrlen && memcmp(&a->address, &address->addr, a->len) == 0) {
            return true;
        }
    }
    return false;
}

/* Addresses beyond the limit are not tried. */
static void note_address(ki__curl_call *call, const struct curl_sockaddr *address)
{
    ki__curl_dial *dial = dial_of(call);
    if (dial == NULL) {
        (void)ki__error_code(&call->failure, -ENOMEM);
        return;
    }
    dial->refused = true;
    ki__curl_call_todo(call);
    if (dial->count == ADDRESSES_MAX || address->addrlen > sizeof(struct sockaddr_storage) ||
        has_address(dial, address)) {
        return;
    }
    attempt *a = &dial->attempts[dial->count++];
    *a = (attempt){.call = call,
                   .fd = -1,
                   .type = address->socktype,
                   .protocol = address->protocol,
                   .len = address->addrlen};
    memcpy(&a->address, &address->addr, address->addrlen);
}

curl_socket_t ki__curl_dial_socket(ki__curl_call *call, const struct curl_sockaddr *address)
{
    int fd = call->socket;
    if (fd >= 0) {
        call->socket = -1;
        return fd;
    }
    note_address(call, address);
    return CURL_SOCKET_BAD;
}

/* libcurl 7.88 moves to the next address when it runs the call again, without setting a timer.
 * Unpausing runs the call immediately. */
void ki__curl_dial_next(ki__curl_call *call)
{
    if (call->dial != NULL && call->dial->refused) {
        call->dial->refused = false;
        (void)curl_easy_pause(call->easy, CURLPAUSE_ALL); /* no data can arrive yet */
        (void)curl_easy_pause(call->easy, CURLPAUSE_CONT);
    }
}

bool ki__curl_dial_is_needed(const ki__curl_call *call)
{
    return call->dial != NULL && call->dial->state == DIAL_COLLECTING && call->dial->count != 0 &&
           call->result != CURLE_OK;
}

/* ---- attempts ---- */

static void drop_attempt(attempt *a)
{
    if (a->state == ATTEMPT_PENDING) {
        ki__watch_remove(&a->watch);
        (void)close(a->fd);
        a->fd = -1;
    }
}

static void fail_attempt(attempt *a, int error)
{
    drop_attempt(a);
    a->state = ATTEMPT_FAILED;
    a->error = error;
}

/* Outside of ki_engine_run(). */
static void on_ready(ki__watch *watch, uint32_t events)
{
    (void)events;
    attempt *a = KI__CONTAINER_OF(watch, attempt, watch);
    a->ready = true;
    ki__curl_call_todo(a->call);
}

static int watch_attempt(attempt *a)
{
    int r = ki__watch_add(&a->watch, a->call->curl->loop, a->fd, EPOLLOUT, on_ready);
    if (r == 0) {
        a->state = ATTEMPT_PENDING;
    }
    return r;
}

static void begin_attempt(attempt *a)
{
    ki__curl *curl = a->call->curl;
    int type = a->type | SOCK_CLOEXEC | SOCK_NONBLOCK;
    a->fd = socket(a->address.ss_family, type, a->protocol);
    if (a->fd < 0) {
        fail_attempt(a, -errno);
        return;
    }
    ki__curl_tune_socket(curl, a->fd);
    int r = connect(a->fd, (const struct sockaddr *)&a->address, a->len) == 0 ? 0 : -errno;
    a->ready = r == 0;
    if (r == 0 || r == -EINPROGRESS) {
        r = watch_attempt(a);
    }
    if (r < 0) {
        (void)close(a->fd);
        fail_attempt(a, r);
    }
}

/* The established attempt; NULL if there is none yet. */
static attempt *look(ki__curl_dial *dial)
{
    for (size_t i = 0; i < dial->count; i++) {
        attempt *a = &dial->attempts[i];
        int error = 0;
        socklen_t len = sizeof(error);
        if (a->state != ATTEMPT_PENDING || !a->ready) {
            continue;
        }
        if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0) {
            error = errno;
        }
        if (error == 0) {
            return a;
        }
        fail_attempt(a, -error);
    }
    return NULL;
}

static size_t count_pending(const ki__curl_dial *dial)
{
    size_t count = 0;
    for (size_t i = 0; i < dial->count; i++) {
        count += dial->attempts[i].state == ATTEMPT_PENDING ? 1 : 0;
    }
    return count;
}

/* The entry of an address; NULL if there is none. */
static ki__curl_failed_address *
find_failed_address(ki__curl *curl, const struct sockaddr_storage *address, socklen_t len)
{
    for (size_t i = 0; i < KI__CURL_FAILED_ADDRESSES; i++) {
        ki__curl_failed_address *s = &curl->failed_addresses[i];
        if (s->len == len && memcmp(&s->address, address, len) == 0) {
            return s;
        }
    }
    return NULL;
}

/* No response arrived on the call's own connection: its address is tried last from now on. */
static void note_failed_address(ki__curl_call *call)
{
    ki__curl *curl = call->curl;
    const ki__curl_dial *dial = call->dial;
    ki__curl_failed_address *entry = find_failed_address(curl, &dial->peer, dial->peer_len);
    for (size_t i = 0; i < KI__CURL_FAILED_ADDRESSES && entry == NULL; i++) {
        entry = curl->failed_addresses[i].len == 0 ? &curl->failed_addresses[i] : NULL;
    }
    if (entry == NULL) {
        entry = &curl->failed_addresses[curl->failures % KI__CURL_FAILED_ADDRESSES];
    }
    memcpy(&entry->address, &dial->peer, dial->peer_len);
    entry->len = dial->peer_len;
    entry->failures = ++curl->failures;
}

/* Whether `a` is tried before `b`: addresses that never failed come first, then those that failed
 * longest ago; among equals the address of the last connection, then families alternate. */
static bool comes_before(const ki__curl_dial *dial, const attempt *a, const attempt *b)
{
    ki__curl *curl = dial->call->curl;
    const ki__curl_failed_address *of_a = find_failed_address(curl, &a->address, a->len);
    const ki__curl_failed_address *of_b = find_failed_address(curl, &b->address, b->len);
    uint64_t failed_a = of_a != NULL ? of_a->failures : 0;
    uint64_t failed_b = of_b != NULL ? of_b->failures : 0;
    if (failed_a != failed_b) {
        return failed_a < failed_b;
    }
    bool good_a = a->len == curl->good_len && memcmp(&a->address, &curl->good, a->len) == 0;
    bool good_b = b->len == curl->good_len && memcmp(&b->address, &curl->good, b->len) == 0;
    if (good_a || good_b) {
        return good_a;
    }
    return a->address.ss_family != dial->family && b->address.ss_family == dial->family;
}

static attempt *choose(ki__curl_dial *dial)
{
    attempt *best = NULL;
    for (size_t i = 0; i < dial->count; i++) {
        attempt *a = &dial->attempts[i];
        if (a->state == ATTEMPT_NOT_YET && (best == NULL || comes_before(dial, a, best))) {
            best = a;
        }
    }
    return best;
}

/* Local errors, which would affect other addresses too. */
static bool is_ours(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOBUFS;
}

/* Tries the next addresses, as long as they fail immediately. */
static void try_next_addresses(ki__curl_dial *dial, uint64_t now)
{
    attempt *a;
    while ((count_pending(dial) == 0 || now >= dial->next_at) && (a = choose(dial)) != NULL) {
        dial->family = a->address.ss_family;
        dial->next_at = now + STAGGER_NS;
        begin_attempt(a);
        if (a->state == ATTEMPT_FAILED && is_ours(a->error)) {
            return;
        }
        if (a->state == ATTEMPT_PENDING && a->ready) {
            return;
        }
    }
}

/* ---- results ---- */

static void add_address(const attempt *a, ki_error *error)
{
    char text[INET6_ADDRSTRLEN] = "";
    const void *bytes = a->address.ss_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)&a->address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)&a->address)->sin_addr;
    (void)inet_ntop(a->address.ss_family, bytes, text, sizeof(text));
    ki__error_add(error, ki_str_from(text));
    ki__error_add(error, ki_str_from(": "));
}

/* The error code that determines the reaction: a shortage of descriptors or memory, otherwise the
 * error of the first address. */
static int code_of(const ki__curl_dial *dial)
{
    for (size_t i = 0; i < dial->count; i++) {
        if (dial->attempts[i].state == ATTEMPT_FAILED && is_ours(dial->attempts[i].error)) {
            return dial->attempts[i].error;
        }
    }
    return dial->attempts[0].state == ATTEMPT_FAILED ? dial->attempts[0].error : -ETIMEDOUT;
}

static void report_failure(ki__curl_call *call, bool late)
{
    const ki__curl_dial *dial = call->dial;
    ki_error *error = &call->failure;
    (void)ki__error_set(error, late ? -ETIMEDOUT : code_of(dial), "cannot connect to %s",
                        call->curl->target.proxy.len != 0 ? "the proxy for " : "");
    ki__error_add(error, ki_buf_str(&call->curl->target.authority));
    ki__error_add(error, ki_str_from(late ? " in time" : ""));
    for (size_t i = 0; i < dial->count; i++) {
        const attempt *a = &dial->attempts[i];
        ki__error_add(error, ki_str_from(i == 0 ? ": " : "; "));
        if (dial->count > 1) {
            add_address(a, error);
        }
        ki__error_add(error, ki_str_from(a->state == ATTEMPT_FAILED    ? ki_error_text(a->error)
                                         : a->state == ATTEMPT_PENDING ? "no response"
                                                                       : "not tried"));
    }
}

static void drop_attempts(ki__curl_dial *dial)
{
    for (size_t i = 0; i < dial->count; i++) {
        drop_attempt(&dial->attempts[i]);
    }
    dial->count = 0;
    ki__timer_cancel(&dial->timer);
}

/* The call no longer connects: its waiters fail with it, or are scheduled again. */
static void release_waiters(ki__curl_call *call, const ki_error *error)
{
    ki__curl *curl = call->curl;
    if (curl->dialer != call) {
        return;
    }
    curl->dialer = NULL;
    KI__LIST_FOR_EACH (link, &curl->calls) {
        ki__curl_call *other = KI__CONTAINER_OF(link, ki__curl_call, link);
        if (other->dial == NULL || other->dial->state != DIAL_WAITING) {
            continue;
        }
        if (error != NULL) {
            ki__error_copy(&other->failure, error);
        } else {
            other->dial->state = DIAL_READY;
        }
        ki__curl_call_todo(other);
    }
}

static void take_winner(ki__curl_call *call, attempt *a, uint64_t now)
{
    ki__curl *curl = call->curl;
    ki__curl_dial *dial = call->dial;
    ki__watch_remove(&a->watch);
    a->state = ATTEMPT_NOT_YET; /* keeps its descriptor open */
    call->socket = a->fd;
    memcpy(&curl->good, &a->address, a->len);
    curl->good_len = a->len;
    memcpy(&dial->peer, &a->address, a->len);
    dial->peer_len = a->len;
    dial->connected_at = now;
    drop_attempts(dial);
    dial->state = DIAL_READY;
    /* The rest of the time is for the proxy and TLS. */
    long left = (long)((dial->deadline > now ? dial->deadline - now : 0) / KI__MS_NS);
    (void)curl_easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, left != 0 ? left : 1L);
}

/* ---- steps, by the task ---- */

/* Whether it can share a connection made by another call. */
static bool may_share(const ki__curl_call *call)
{
    return call->curl->target.https && ki__curl_may_use_http2(call) && !call->curl->no_sharing;
}

void ki__curl_dial_begin(ki__curl_call *call)
{
    ki__curl *curl = call->curl;
    ki__curl_dial *dial = call->dial;
    CURLMcode code = curl_multi_remove_handle(curl->multi, call->easy);
    ki_assert(code == CURLM_OK);
    call->added = false;
    ki__curl_call_set_state(call, KI__CURL_CONNECTING);
    call->result = CURLE_OK;
    call->text[0] = '\0';
    dial->refused = false;
    if (may_share(call)) {
        if (curl->dialer != NULL) {
            dial->count = 0;
            dial->state = DIAL_WAITING;
            return;
        }
        curl->dialer = call;
    }
    uint64_t now = ki__engine_now(curl->engine);
    dial->state = DIAL_CONNECTING;
    dial->deadline = now + curl->options.connect_timeout_ns;
    dial->next_at = now;
    dial->family = AF_UNSPEC;
    ki__curl_call_todo(call);
}

bool ki__curl_dial_step(ki__curl_call *call)
{
    ki__curl_dial *dial = call->dial;
    uint64_t now = ki__engine_now(call->curl->engine);
    if (dial->state == DIAL_CONNECTING) {
        attempt *winner = look(dial);
        if (winner == NULL && now < dial->deadline) {
            try_next_addresses(dial, now);
            winner = look(dial);
        }
        bool more = count_pending(dial) != 0;
        if (winner != NULL) {
            take_winner(call, winner, now);
        } else if (!more || now >= dial->deadline) {
            report_failure(call, more);
            release_waiters(call, &call->failure);
        } else {
            bool next = choose(dial) != NULL && dial->next_at < dial->deadline;
            ki__timer_set(&dial->timer, next ? dial->next_at : dial->deadline);
        }
    }
    if (dial->state != DIAL_READY) {
        return false;
    }
    dial->state = DIAL_COLLECTING;
    return true;
}

void ki__curl_dial_added(ki__curl_call *call)
{
    release_waiters(call, NULL);
}

/* Whether the call had its own connection, and timed out or was cancelled while waiting on it. */
static bool has_no_response(const ki__curl_call *call)
{
    const ki__curl_dial *dial = call->dial;
    bool failed = call->result != CURLE_OK || call->failure.code != 0;
    return dial->peer_len != 0 && !call->responded &&
           (failed || ki__engine_now(call->curl->engine) - dial->connected_at >= PATIENCE_NS);
}

void ki__curl_dial_free(ki__curl_call *call)
{
    if (call->socket >= 0) {
        (void)close(call->socket);
    }
    if (call->dial == NULL) {
        return;
    }
    if (has_no_response(call)) {
        note_failed_address(call);
    }
    drop_attempts(call->dial);
    ki__timer_done(&call->dial->timer);
    ki__free(call->curl->alloc, call->dial);
    call->dial = NULL;
    release_waiters(call, NULL);
}

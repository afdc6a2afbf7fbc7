/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket is a time: when it would be full, if nobody took anything from now on. A token costs
 * one interval; it is there as long as the bucket is full no later than `burst` intervals from now.
 *
 * Invariant: a call is freed before the last word to its sink, so nothing here is touched after it.
 */
#include "rest/throttle.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digits.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/secret.h"

enum { WAITING_MAX = 1 << 16, BURST_DEFAULT = 10, QPS_DEFAULT = 5 };
#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define LOG_AFTER_NS SECOND_NS          /* a wait that people ask about */
#define LOG_EVERY_NS (10 * SECOND_NS)   /* at most */
#define FILL_MAX_NS (UINT64_C(1) << 61) /* a bucket that takes some seventy years */

struct ki__throttle {
    const ki_alloc *alloc;
    ki_engine *engine;
    ki_transport inner;
    uint64_t interval; /* between two tokens, in ns; 0: no limit */
    uint64_t most;     /* of a full bucket */
    uint64_t full_at;
    ki__timer timer; /* when the first in line may go */
    ki__list calls;
    ki__list line;
    size_t line_count;
    uint64_t quiet_until; /* of the log */
    bool busy;            /* inside the timer */
    bool freed;           /* meanwhile */
};

/* A request, kept. */
typedef struct kept {
    ki_request request;
    size_t size;
    ki_http_header headers[];
} kept;

typedef struct call {
    ki__list link;
    ki__list line_link;
    ki__throttle *throttle;
    ki_response_sink sink;
    void *inner; /* NULL while it waits */
    kept *kept;  /* while it waits */
    uint64_t since;
    bool paused;
} call;

/* ---- keeping a request ---- */

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 1;
}

static char *keep_bytes(char **at, const char *bytes, size_t len)
{
    char *kept_bytes = *at;
    if (len != 0) {
        memcpy(kept_bytes, bytes, len);
    }
    *at += len;
    return kept_bytes;
}

static const char *keep_text(char **at, const char *text)
{
    return keep_bytes(at, text != NULL ? text : "", text_size(text));
}

static ki_str keep_str(char **at, ki_str text)
{
    return ki_str_make(keep_bytes(at, text.ptr, text.len), text.len);
}

/* All in one block. Sizes are those of things that are in memory already, so their sum fits. */
static kept *keep(const ki_alloc *alloc, const ki_request *request)
{
    size_t size = sizeof(kept) + request->header_count * sizeof(ki_http_header);
    size_t fixed = size;
    for (size_t i = 0; i < request->header_count; i++) {
        size += request->headers[i].name.len + request->headers[i].value.len;
    }
    size += text_size(request->method) + text_size(request->path) + text_size(request->query) +
            request->body.len;
    kept *k = ki__alloc(alloc, size);
    if (k == NULL) {
        return NULL;
    }
    char *at = (char *)k + fixed;
    for (size_t i = 0; i < request->header_count; i++) {
        k->headers[i].name = keep_str(&at, request->headers[i].name);
        k->headers[i].value = keep_str(&at, request->headers[i].value);
    }
    k->size = size;
    k->request = *request;
    k->request.method = keep_text(&at, request->method);
    k->request.path = keep_text(&at, request->path);
    k->request.query = keep_text(&at, request->query);
    k->request.body = keep_str(&at, request->body);
    k->request.headers = k->headers;
    return k;
}

static void drop_kept(call *c)
{
    if (c->kept != NULL) {
        ki__wipe(c->kept, c->kept->size); /* the body may be a Secret */
        ki__free(c->throttle->alloc, c->kept);
        c->kept = NULL;
    }
}

/* ---- the bucket ---- */

/* When the next token is there; a time that is past, if there is one. */
static uint64_t next_token(const ki__throttle *throttle)
{
    uint64_t room = throttle->most - throttle->interval;
    return throttle->full_at > room ? throttle->full_at - room : 0;
}

static bool take_token(ki__throttle *throttle)
{
    uint64_t now = ki__engine_now(throttle->engine);
    if (throttle->interval == 0) {
        return true;
    }
    if (next_token(throttle) > now) {
        return false;
    }
    throttle->full_at = (throttle->full_at > now ? throttle->full_at : now) + throttle->interval;
    return true;
}

/* ---- calls ---- */

static void free_call(call *c)
{
    ki__throttle *throttle = c->throttle;
    if (!ki__list_is_empty(&c->line_link)) {
        ki__list_remove(&c->line_link);
        throttle->line_count--;
    }
    ki__list_remove(&c->link);
    drop_kept(c);
    ki__free(throttle->alloc, c);
}

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    const call *c = user;
    c->sink.on_response(status, headers, header_count, c->sink.user);
}

static void on_body(ki_str bytes, void *user)
{
    const call *c = user;
    c->sink.on_body(bytes, c->sink.user);
}

static void on_end(const ki_error *error, void *user)
{
    call *c = user;
    ki_response_sink sink = c->sink;
    free_call(c);
    sink.on_end(error, sink.user);
}

static int send(call *c, const ki_request *request, ki_error *error)
{
    const ki_transport *inner = &c->throttle->inner;
    const ki_response_sink sink = {
        .on_response = on_response, .on_body = on_body, .on_end = on_end, .user = c};
    int r = inner->start(request, &sink, inner->user, &c->inner, error);
    if (r == 0 && c->paused && inner->pause != NULL) {
        inner->pause(c->inner, true, inner->user);
    }
    return r;
}

static void wait_for_first(ki__throttle *throttle)
{
    ki__timer_set(&throttle->timer,
                  ki__list_is_empty(&throttle->line) ? UINT64_MAX : next_token(throttle));
}

static int get_in_line(call *c, const ki_request *request, ki_error *error)
{
    ki__throttle *throttle = c->throttle;
    if (throttle->line_count >= WAITING_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "%d requests wait for the limit of requests in a second already",
                             WAITING_MAX);
    }
    c->kept = keep(throttle->alloc, request);
    if (c->kept == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    c->since = ki__engine_now(throttle->engine);
    ki__list_push_back(&throttle->line, &c->line_link);
    throttle->line_count++;
    wait_for_first(throttle);
    return 0;
}

static int start(const ki_request *request, const ki_response_sink *sink, void *user,
                 void **ret_call, ki_error *error)
{
    ki__throttle *throttle = user;
    call *c = ki__alloc_zero(throttle->alloc, sizeof(*c));
    if (c == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    c->throttle = throttle;
    c->sink = *sink;
    ki__list_init(&c->line_link);
    ki__list_push_back(&throttle->calls, &c->link);
    bool exempt = request->stream || request->later_page;
    bool now = exempt || (ki__list_is_empty(&throttle->line) && take_token(throttle));
    int r = now ? send(c, request, error) : get_in_line(c, request, error);
    if (r < 0) {
        free_call(c);
        return r;
    }
    *ret_call = c;
    return 0;
}

static void cancel(void *opaque, void *user)
{
    (void)user;
    call *c = opaque;
    ki__throttle *throttle = c->throttle;
    void *inner = c->inner;
    free_call(c);
    if (inner != NULL) {
        throttle->inner.cancel(inner, throttle->inner.user);
    } else {
        wait_for_first(throttle);
    }
}

static void hold(void *opaque, bool paused, void *user)
{
    (void)user;
    call *c = opaque;
    const ki_transport *inner = &c->throttle->inner;
    c->paused = paused;
    if (c->inner != NULL && inner->pause != NULL) {
        inner->pause(c->inner, paused, inner->user);
    }
}

/* ---- the line ---- */

static void log_wait(ki__throttle *throttle, const call *c)
{
    uint64_t now = ki__engine_now(throttle->engine);
    uint64_t waited = now - c->since;
    if (waited < LOG_AFTER_NS || now < throttle->quiet_until) {
        return;
    }
    throttle->quiet_until = now + LOG_EVERY_NS;
    char room[KI__DIGITS_SIZE];
    const ki_request *request = &c->kept->request;
    KI__LOG(ki__engine_log(throttle->engine), KI_LOG_INFO, "client",
            "a request waited for the client's own limit of requests in a second",
            {"waited_ms", ki__digits(waited / MS_NS, room)},
            {"method", ki_str_from(request->method)}, {"path", ki_str_from(request->path)});
}

static void send_first(ki__throttle *throttle)
{
    ki__list *link = ki__list_pop_front(&throttle->line);
    call *c = KI__CONTAINER_OF(link, call, line_link);
    ki_error error = KI_ERROR_INIT;
    throttle->line_count--;
    log_wait(throttle, c);
    int r = send(c, &c->kept->request, &error);
    drop_kept(c);
    if (r < 0) {
        if (error.code == 0) {
            (void)ki__error_code(&error, r);
        }
        on_end(&error, c);
    }
}

static void destroy(ki__throttle *throttle)
{
    ki_engine *engine = throttle->engine;
    KI__LIST_FOR_EACH (link, &throttle->calls) {
        free_call(KI__CONTAINER_OF(link, call, link));
    }
    ki__timer_done(&throttle->timer);
    ki__free(throttle->alloc, throttle);
    (void)ki_engine_unref(engine);
}

static void on_timer(ki__timer *timer)
{
    ki__throttle *throttle = KI__CONTAINER_OF(timer, ki__throttle, timer);
    throttle->busy = true;
    while (!throttle->freed && !ki__list_is_empty(&throttle->line) && take_token(throttle)) {
        send_first(throttle);
    }
    throttle->busy = false;
    if (throttle->freed) {
        destroy(throttle);
    } else {
        wait_for_first(throttle);
    }
}

/* ---- making ---- */

static int set_rate(ki__throttle *throttle, double qps, uint32_t burst, ki_error *error)
{
    burst = burst != 0 ? burst : BURST_DEFAULT;
    if (qps == 0) {
        qps = QPS_DEFAULT;
    }
    if (qps < 0) {
        return 0;
    }
    double interval = (double)SECOND_NS / qps;
    if (!(interval * burst < (double)FILL_MAX_NS)) { /* NaN included */
        return ki__error_set(error, -EINVAL, "there cannot be so few requests in a second");
    }
    throttle->interval = (uint64_t)interval;
    throttle->most = throttle->interval * burst;
    return 0;
}

int ki__throttle_new(ki_engine *engine, const ki_transport *inner, double qps, uint32_t burst,
                     ki__throttle **ret_throttle, ki_error *error)
{
    const ki_alloc *alloc = ki__engine_alloc(engine);
    ki__throttle *throttle = ki__alloc_zero(alloc, sizeof(*throttle));
    if (throttle == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    throttle->alloc = alloc;
    throttle->engine = ki_engine_ref(engine);
    throttle->inner = *inner;
    ki__list_init(&throttle->calls);
    ki__list_init(&throttle->line);
    int r = set_rate(throttle, qps, burst, error);
    if (r == 0) {
        r = ki__timer_init(&throttle->timer, engine, on_timer);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    if (r < 0) {
        destroy(throttle);
        return r;
    }
    *ret_throttle = throttle;
    return 0;
}

void ki__throttle_free(ki__throttle *throttle)
{
    if (throttle == NULL) {
        return;
    }
    throttle->freed = true;
    if (!throttle->busy) {
        destroy(throttle);
    }
}

ki_transport ki__throttle_table(ki__throttle *throttle)
{
    return (ki_transport){.start = start,
                          .cancel = cancel,
                          .pause = hold,
                          .url = throttle->inner.url,
                          .user = throttle};
}

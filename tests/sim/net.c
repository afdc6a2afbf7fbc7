/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and answers as streams of bytes. A server is pulled whenever it has something; what it
 * gives travels for a while, in order, and is handed to the client in pieces, inside its engine.
 *
 * A stream can break in three ways: the connection is refused, it is reset (what was on its way is
 * lost), or it goes silent without an error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sim/sim.h"

enum { IN_FLIGHT_MAX = 1 << 16, NOT_OVER = 1 };
#define SILENCE_MAX_NS (SIM_SECOND * 200) /* a stream without a byte is given up by then */

struct sim_call {
    sim_call *next;
    sim *s;
    uint32_t refs;
    sim_informer *owner;
    sim_server *server;
    ki_http_sink sink;
    char *target;
    char accept[256];
    ki__api_exchange *exchange;
    ki__task task;
    uint64_t idle_ns;   /* as the request specified; 0: no limit */
    uint64_t latency;   /* of each piece */
    uint64_t last_at;   /* when the last piece arrives */
    uint64_t pull_at;   /* when the server is looked at again, if nothing happens before */
    uint64_t last_byte; /* that the client got */
    uint64_t silent_since;
    char *bytes; /* of the body, as the server gave them */
    size_t len;
    size_t cap;
    size_t arrived; /* as far as they have come */
    size_t given;   /* to the client */
    int status;
    uint32_t retry_after;
    char content_type[96];
    int end_code; /* how it ends, once the server has said so; NOT_OVER before */
    bool watch;
    bool head_arrived;
    bool head_given;
    bool end_arrived;
    bool end_given;
    bool silent;
    bool paused;
    bool says_expired; /* a watch: its version is too old */
    bool dead;         /* cancelled, or the client received the end */
};

static void call_unref(sim_call *call)
{
    if (--call->refs != 0) {
        return;
    }
    (void)ki__api_exchange_free(call->exchange);
    free(call->target);
    free(call->bytes);
    free(call);
}

static void call_at(sim_call *call, uint64_t at, sim_fire fire, uint64_t tag)
{
    call->refs++;
    sim_at(call->s, at, fire, call, tag);
}

static void bury(sim_call *call)
{
    bool known = call->status == 200 || call->end_given; /* an answer counts when it is complete */
    call->owner->expired =
        call->says_expired && known && call->end_code == 0 && call->given == call->len;
    sim_call **link = &call->s->calls;
    while (*link != call) {
        link = &(*link)->next;
    }
    *link = call->next;
    call->dead = true;
    call->exchange = ki__api_exchange_free(call->exchange);
    call_unref(call);
}

/* ---- to the client ---- */

static void post(sim_call *call)
{
    call->refs++;
    if (!ki__engine_post(call->s->engine, &call->task)) {
        call_unref(call);
    }
}

static bool has_something(const sim_call *call)
{
    bool head = call->head_arrived && !call->head_given;
    return !call->dead && !call->paused &&
           (head || call->given < call->arrived || call->end_arrived);
}

static void give_head(sim_call *call)
{
    char seconds[16];
    (void)snprintf(seconds, sizeof(seconds), "%u", call->retry_after);
    const ki_http_header headers[] = {
        {ki_str_from("Content-Type"), ki_str_from(call->content_type)},
        {ki_str_from("Retry-After"), ki_str_from(seconds)},
    };
    call->head_given = true;
    call->sink.on_response(call->status, headers, call->retry_after != 0 ? 2 : 1, call->sink.user);
}

/* A copy on the heap that is as long as it is and no longer: who reads on is found out. */
static void give_bytes(sim_call *call)
{
    size_t len = call->arrived - call->given;
    if (sim_is_on(call->s, SIM_SPLIT) && sim_draw(call->s, SIM_NET, 4) != 0) {
        uint32_t most = len < 2000 ? (uint32_t)len : 2000;
        len = 1 + sim_draw(call->s, SIM_NET, most);
    }
    char *copy = malloc(len);
    memcpy(copy, call->bytes + call->given, len);
    call->given += len;
    call->sink.on_body(ki_str_make(copy, len), call->sink.user);
    free(copy);
}

static void give_end(sim_call *call)
{
    ki_error error = KI_ERROR_INIT;
    int code = call->end_code;
    ki_http_sink sink = call->sink;
    if (code < 0) {
        (void)ki__error_set(&error, code, "the connection is gone");
    }
    sim_trace(call->s, "informer %d: answer ends: %s", call->owner->id,
              code < 0 ? ki_error_name(code) : "in order");
    call->end_given = true;
    bury(call);
    sink.on_end(code < 0 ? &error : NULL, sink.user);
}

static void run_task(ki__task *task)
{
    sim_call *call = KI__CONTAINER_OF(task, sim_call, task);
    if (has_something(call)) {
        call->last_byte = call->s->now;
        if (call->head_arrived && !call->head_given) {
            give_head(call);
        } else if (call->given < call->arrived) {
            give_bytes(call);
        } else {
            give_end(call);
        }
        if (has_something(call)) {
            post(call);
        }
    }
    call_unref(call);
}

/* ---- on the way ---- */

static void on_head(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)s;
    (void)tag;
    if (!call->dead && !call->silent) {
        call->head_arrived = true;
        post(call);
    }
    call_unref(call);
}

static void on_piece(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)s;
    if (!call->dead && !call->silent) {
        size_t end = tag < call->len ? (size_t)tag : call->len; /* a reset makes it shorter */
        call->arrived = end > call->arrived ? end : call->arrived;
        call->head_arrived = true; /* of what arrives at one time, the order does not count */
        post(call);
    }
    call_unref(call);
}

static void on_over(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)s;
    (void)tag;
    if (!call->dead && !call->silent) {
        call->head_arrived = call->status != 0;
        call->arrived = call->len;
        call->end_arrived = true;
        post(call);
    }
    call_unref(call);
}

/* When what is sent now arrives: never before what was sent earlier. */
static uint64_t arrival(sim_call *call)
{
    sim *s = call->s;
    uint64_t delay = call->latency;
    if (sim_is_on(s, SIM_DELAY) && sim_once_in(s, SIM_NET, 6)) {
        delay += sim_draw_skewed(s, SIM_NET, SIM_MS, 8 * SIM_SECOND);
    }
    uint64_t at = s->now + delay;
    call->last_at = at > call->last_at ? at : call->last_at;
    return call->last_at;
}

static void send_end(sim_call *call, int code)
{
    call->end_code = code;
    call_at(call, arrival(call), on_over, 0);
}

/* What nobody can read: in JSON a control character in a string, in protobuf a length that is
 * longer than what it stands in. */
static void poison(sim_call *call, size_t from)
{
    static const char mark[] = "POISON";
    size_t len = sizeof(mark) - 1;
    size_t start = from >= len ? from - len : 0; /* it may stand across two pieces */
    for (size_t i = start; i + len <= call->len; i++) {
        char *at = call->bytes + i;
        if (memcmp(at, mark, len) != 0) {
            continue;
        }
        if (i > 0 && at[-1] == (char)len) {
            at[-1] = 0x7f;
        } else {
            at[0] = 1;
        }
    }
}

/* Failures, wherever they stand: in an answer, or in an event of a watch. */
static void count_failures(sim_call *call, ki_str bytes)
{
    sim *s = call->s;
    static const struct {
        const char *text;
        sim_count count;
    } marks[] = {
        {"Expired", SIM_COUNT_EXPIRED},
        {"ResourceVersionTooLarge", SIM_COUNT_TOO_LARGE},
        {"TooManyRequests", SIM_COUNT_BUSY},
        {"InternalError", SIM_COUNT_INTERNAL},
    };
    if (memmem(bytes.ptr, bytes.len, "Failure", 7) == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        s->counts[marks[i].count] +=
            memmem(bytes.ptr, bytes.len, marks[i].text, strlen(marks[i].text)) != NULL;
    }
}

static bool says(const sim_call *call, const char *text)
{
    return memmem(call->bytes, call->len, text, strlen(text)) != NULL;
}

static void send_bytes(sim_call *call, ki_str bytes)
{
    if (call->len + bytes.len > call->cap) {
        call->cap = 2 * (call->len + bytes.len);
        call->bytes = realloc(call->bytes, call->cap);
    }
    memcpy(call->bytes + call->len, bytes.ptr, bytes.len);
    size_t from = call->len;
    call->len += bytes.len;
    call->owner->refused = call->owner->refused || says(call, "Failure");
    count_failures(call, bytes);
    if (call->s->faults[SIM_POISON]) {
        poison(call, from);
    }
    if (call->watch) {
        call->says_expired = says(call, "Failure") && says(call, "Expired");
    }
    call_at(call, arrival(call), on_piece, call->len);
}

static void on_pull(sim *s, void *arg, uint64_t tag);

static void pull_later(sim_call *call)
{
    uint64_t at = ki__api_exchange_deadline(call->exchange);
    if (at != UINT64_MAX && at != call->pull_at) {
        call->pull_at = at;
        call_at(call, at, on_pull, at);
    }
}

static void count_answer(sim_call *call)
{
    sim *s = call->s;
    s->counts[SIM_COUNT_PROTOBUF] += strstr(call->content_type, "protobuf") != NULL;
    sim_trace(s, "server %d: answers %d %s", call->server->id, call->status, call->content_type);
}

static void send_head(sim_call *call)
{
    int status = ki__api_exchange_status(call->exchange);
    if (call->status != 0 || status == 0) {
        return;
    }
    call->status = status;
    call->owner->refused = call->owner->refused || status >= 400;
    call->retry_after = ki__api_exchange_retry_after(call->exchange);
    (void)snprintf(call->content_type, sizeof(call->content_type), "%s",
                   ki__api_exchange_content_type(call->exchange));
    count_answer(call);
    call_at(call, arrival(call), on_head, 0);
}

/* Takes from the server what it has. */
static void pump(sim_call *call)
{
    ki_str bytes;
    int r = KI__API_DATA;
    while (call->exchange != NULL && call->end_code == NOT_OVER && r == KI__API_DATA &&
           call->len - call->given < IN_FLIGHT_MAX) {
        uint32_t max = sim_is_on(call->s, SIM_SPLIT) ? 1 + sim_draw(call->s, SIM_NET, 4000) : 16384;
        r = ki__api_exchange_next(call->exchange, max, &bytes);
        if (r < 0) {
            sim_violation(call->s, "setup", "the server has no memory");
        }
        if (r != KI__API_WAIT && r != KI__API_REFUSED) {
            send_head(call);
        }
        if (r == KI__API_DATA) {
            send_bytes(call, bytes);
        } else if (r == KI__API_END) {
            send_end(call, 0);
        } else if (r == KI__API_CUT) {
            sim_count_up(call->s, SIM_COUNT_CUTS);
            send_end(call, sim_draw(call->s, SIM_NET, 2) == 0 ? -ECONNRESET : -EPIPE);
        } else if (r == KI__API_REFUSED) {
            sim_count_up(call->s, SIM_COUNT_REFUSED);
            send_end(call, -ECONNREFUSED);
        }
    }
    if (call->exchange != NULL && r == KI__API_WAIT) {
        pull_later(call);
    }
}

static void on_pull(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)s;
    if (!call->dead && call->exchange != NULL && call->pull_at == tag) {
        call->pull_at = 0;
        pump(call);
    }
    call_unref(call);
}

void sim_net_pump(sim *s)
{
    for (sim_call *call = s->calls; call != NULL; call = call->next) {
        if (call->exchange != NULL) {
            pump(call);
        }
    }
}

/* ---- to the server ---- */

static void on_request(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)tag;
    if (call->dead) {
        call_unref(call);
        return;
    }
    bool down = s->now < call->server->down_until;
    if (down || (sim_is_on(s, SIM_REFUSE) && sim_once_in(s, SIM_NET, 4))) {
        sim_count_up(s, SIM_COUNT_REFUSED);
        send_end(call, -ECONNREFUSED);
    } else {
        const ki__api_header accept = {ki_str_from("Accept"), ki_str_from(call->accept)};
        const ki__api_request request = {
            .method = ki_str_from("GET"),
            .target = ki_str_from(call->target),
            .headers = &accept,
            .header_count = 1,
        };
        if (ki__api_exchange_new(call->server->server, &request, &call->exchange) < 0) {
            sim_violation(s, "setup", "the server has no memory");
        }
        pump(call);
    }
    call_unref(call);
}

static void on_idle(sim *s, void *arg, uint64_t tag)
{
    sim_call *call = arg;
    (void)tag;
    if (!call->dead && s->now >= call->last_byte + call->idle_ns) {
        call->silent = false;
        call->end_code = -ETIMEDOUT;
        call->arrived = call->given;
        call->end_arrived = true;
        post(call);
    } else if (!call->dead) {
        call_at(call, call->last_byte + call->idle_ns, on_idle, 0);
    }
    call_unref(call);
}

/* ---- the balancer ---- */

static int stalest(const sim *s)
{
    int found = 0;
    for (int i = 1; i < s->server_count; i++) {
        if (ki__api_server_version(s->servers[i].server) <
            ki__api_server_version(s->servers[found].server)) {
            found = i;
        }
    }
    return found;
}

static sim_server *choose_server(sim_informer *owner)
{
    sim *s = owner->s;
    uint32_t choice = sim_is_on(s, SIM_MOVE) ? sim_draw(s, SIM_NET, 4) : 3;
    if (choice < 2) {
        owner->server = stalest(s);
    } else if (choice == 2) {
        owner->server = (int)sim_draw(s, SIM_NET, (uint32_t)s->server_count);
    } else if (s->now < s->servers[owner->server].down_until && sim_draw(s, SIM_NET, 2) == 0) {
        owner->server = (owner->server + 1) % s->server_count;
    }
    return &s->servers[owner->server];
}

/* ---- the table ---- */

/* No more requests than the backoff allows. Pages after the first come at once, and so does what
 * makes up for a version that is too old. */
static void check_i16_rate(sim_informer *owner, const char *query)
{
    sim *s = owner->s;
    if (strstr(query, "continue=") != NULL) {
        sim_count_up(s, SIM_COUNT_PAGES);
        return;
    }
    uint64_t *oldest = &owner->requests[owner->request_count++ % SIM_REQUESTS_KEPT];
    if (owner->request_count > SIM_REQUESTS_KEPT && s->now - *oldest < SIM_MINUTE) {
        sim_violation(s, "I16", "informer %d made %d requests within a minute", owner->id,
                      SIM_REQUESTS_KEPT);
    }
    *oldest = s->now;
}

/* Asking for the latest, which costs the servers most, must have a reason: a version that was
 * refused. */
static void check_i16_latest(const sim_informer *owner, const char *query)
{
    bool watch = strstr(query, "watch=true") != NULL;
    bool streams = strstr(query, "sendInitialEvents=true") != NULL;
    if ((watch && !streams) || strstr(query, "continue=") != NULL ||
        strstr(query, "resourceVersion=") != NULL) {
        return;
    }
    if (owner->syncs != 0 && !owner->refused && !owner->s->byzantine) {
        sim_violation(owner->s, "I16", "informer %d asks for the latest list without need",
                      owner->id);
    }
}

/* Once a watch has expired, watching on from there makes no sense. */
static void check_l1_expired(sim_informer *owner, const char *query)
{
    bool watches = strstr(query, "watch=true") != NULL;
    bool streams = strstr(query, "sendInitialEvents=true") != NULL;
    if (owner->expired && watches && !streams && !owner->s->faults[SIM_MEMORY]) {
        sim_violation(owner->s, "L1", "informer %d watches on after its version has expired",
                      owner->id);
    }
    owner->expired = false;
}

static int net_start(const ki_http_request *request, const ki_http_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    sim_informer *owner = user;
    sim *s = owner->s;
    if (s->memory_rate != 0 && !s->healed && sim_once_in(s, SIM_MEMORY_CHOICE, 50)) {
        return ki__error_code(error, -ENOMEM);
    }
    check_i16_rate(owner, request->query);
    check_i16_latest(owner, request->query);
    check_l1_expired(owner, request->query);
    sim_call *call = calloc(1, sizeof(*call));
    size_t len = strlen(request->path) + strlen(request->query) + 2;
    ki_str accept = ki_http_header_find(request->headers, request->header_count, "Accept");
    call->target = malloc(len);
    (void)snprintf(call->target, len, "%s?%s", request->path, request->query);
    (void)snprintf(call->accept, sizeof(call->accept), "%.*s", (int)accept.len,
                   accept.ptr != NULL ? accept.ptr : "");
    call->s = s;
    call->refs = 1; /* the list's */
    call->owner = owner;
    call->server = choose_server(owner);
    call->sink = *sink;
    call->end_code = NOT_OVER;
    call->watch = request->stream;
    call->idle_ns = request->idle_timeout_ms * 1000000;
    call->last_byte = s->now;
    call->latency = sim_draw(s, SIM_NET, 4) == 0 ? 0 : sim_draw_skewed(s, SIM_NET, 1, 60 * SIM_MS);
    ki__task_init(&call->task, run_task);
    call->next = s->calls;
    s->calls = call;
    sim_trace(s, "informer %d: asks server %d for %s", owner->id, call->server->id, call->target);
    call_at(call, s->now + call->latency, on_request, 0);
    if (call->idle_ns != 0) {
        call_at(call, s->now + call->idle_ns, on_idle, 0);
    }
    *ret_call = call;
    return 0;
}

static void net_cancel(void *name, void *user)
{
    sim_call *call = name;
    (void)user;
    sim_trace(call->s, "informer %d: cancels %.40s", call->owner->id, call->target);
    if (call->dead) {
        sim_violation(call->s, "transport", "a call that is over is cancelled");
    }
    bury(call);
}

static void net_pause(void *name, bool paused, void *user)
{
    sim_call *call = name;
    (void)user;
    call->paused = paused;
    call->last_byte = call->s->now;
    if (has_something(call)) {
        post(call);
    }
}

ki_transport sim_transport(sim_informer *informer)
{
    return (ki_transport){
        .start = net_start, .cancel = net_cancel, .pause = net_pause, .user = informer};
}

/* ---- breaking ---- */

static void reset(sim_call *call)
{
    if (call->dead || call->silent || call->end_arrived) {
        return;
    }
    sim_count_up(call->s, SIM_COUNT_RESETS);
    call->exchange = ki__api_exchange_free(call->exchange);
    call->end_code = -ECONNRESET;
    call->end_arrived = true;
    call->len = call->arrived; /* of what is on its way, nothing arrives */
    post(call);
}

void sim_net_reset(sim *s, sim_server *server)
{
    for (sim_call *call = s->calls; call != NULL; call = call->next) {
        if (server == NULL || call->server == server) {
            reset(call);
        }
    }
}

void sim_net_break_one(sim *s, bool silent)
{
    uint32_t count = 0;
    for (sim_call *call = s->calls; call != NULL; call = call->next) {
        count++;
    }
    if (count == 0) {
        return;
    }
    sim_call *call = s->calls;
    for (uint32_t i = sim_draw(s, SIM_NET, count); i > 0; i--) {
        call = call->next;
    }
    sim_trace(s, "informer %d: %.40s %s", call->owner->id, call->target,
              silent ? "goes silent" : "is reset");
    if (!silent) {
        reset(call);
    } else if (!call->silent) {
        call->silent = true;
        call->silent_since = s->now;
        sim_count_up(s, SIM_COUNT_STALLS);
    }
}

const char *sim_net_overdue(sim *s)
{
    for (const sim_call *call = s->calls; call != NULL; call = call->next) {
        if (call->silent && !call->paused && s->now > call->silent_since + SILENCE_MAX_NS &&
            s->now > call->last_byte + SILENCE_MAX_NS) {
            return call->target;
        }
    }
    return NULL;
}

void sim_net_forget(const sim_event *event)
{
    sim_fire mine[] = {on_head, on_piece, on_over, on_pull, on_request, on_idle};
    for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
        if (event->fire == mine[i]) {
            call_unref(event->arg);
        }
    }
}

void sim_net_done(sim *s)
{
    if (s->calls != NULL) {
        sim_violation(s, "L3", "a request is left: %s", s->calls->target);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Response data from libcurl: headers, line by line, and the body. Both callbacks run inside
 * libcurl, inside the task. Returning less than the given length ends the transfer; `failure` has
 * the reason. Invariant: no function of the sink is called after the call was closed. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"

enum { INTERIM_MAX = 3, RATIO_MAX = 100 };
/* Legitimate responses can compress to a thousandth of their size: one tenant's ConfigMap of spaces
 * must not fail every list. So only large responses are held to the ratio. */
#define RATIO_FROM (UINT64_C(256) << 20)

/* Aborts the transfer from inside libcurl. */
#define REFUSE(call, ...) ((void)ki__error_set(&(call)->failure, __VA_ARGS__), (size_t)0)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- the head ---- */

static void begin_head(ki__curl_call *call, ki_str line)
{
    ki_buf_clear(&call->head);
    call->field_count = 0;
    call->status = 0;
    const char *blank = memchr(line.ptr, ' ', line.len);
    size_t at = blank != NULL ? (size_t)(blank - line.ptr) + 1 : line.len;
    for (size_t i = 0; i < 3 && at + i < line.len; i++) {
        char c = line.ptr[at + i];
        call->status = c >= '0' && c <= '9' ? call->status * 10 + (c - '0') : 0;
    }
}

static int add_field(ki__curl_call *call, ki_str name, ki_str value)
{
    int r = ki_buf_add_str(&call->head, name);
    if (r == 0) {
        r = ki_buf_add_char(&call->head, '\0');
    }
    if (r == 0) {
        r = ki_buf_add_str(&call->head, value);
    }
    if (r == 0) {
        r = ki_buf_add_char(&call->head, '\0');
    }
    return r;
}

static size_t take_field(ki__curl_call *call, ki_str line, size_t len)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (colon == NULL || colon == line.ptr || is_blank(line.ptr[0]) || is_blank(colon[-1])) {
        return REFUSE(call, -EPROTO, "malformed header in the server's response");
    }
    if (memchr(line.ptr, '\0', line.len) != NULL) {
        return REFUSE(call, -EPROTO, "NUL byte in a header of the server's response");
    }
    if (++call->field_count > call->curl->options.max_headers) {
        return REFUSE(call, KI_ERR_LIMIT, "too many headers in the server's response");
    }
    ki_str value = ki_str_make(colon + 1, line.len - (size_t)(colon - line.ptr) - 1);
    while (value.len != 0 && is_blank(value.ptr[0])) {
        value = ki_str_make(value.ptr + 1, value.len - 1);
    }
    while (value.len != 0 && is_blank(value.ptr[value.len - 1])) {
        value.len--;
    }
    int r = add_field(call, ki_str_make(line.ptr, (size_t)(colon - line.ptr)), value);
    return r < 0 ? REFUSE(call, r, "cannot store the response headers: %s", ki_error_text(r)) : len;
}

/* The C string at *at; advances *at. */
static ki_str next_text(const char **at)
{
    ki_str text = ki_str_make(*at, strlen(*at));
    *at += text.len + 1;
    return text;
}

static int make_fields(ki__curl_call *call)
{
    int r = ki__array_reserve(call->curl->alloc, (void **)&call->fields, &call->field_cap,
                              call->field_count, sizeof(call->fields[0]));
    if (r < 0) {
        return r;
    }
    const char *at = call->head.data; /* NULL without fields */
    for (size_t i = 0; i < call->field_count; i++) {
        call->fields[i].name = next_text(&at);
        call->fields[i].value = next_text(&at);
    }
    return 0;
}

/* The value of a header that may have one of two values, and only once; NULL if it is absent or
 * valid. */
static const ki_str *other_than(const ki__curl_call *call, const char *name, const char *value,
                                const char *or_value)
{
    size_t found = 0;
    for (size_t i = 0; i < call->field_count; i++) {
        if (ki_http_header_find(&call->fields[i], 1, name).ptr == NULL) {
            continue;
        }
        const ki_str *is = &call->fields[i].value;
        if (++found > 1 || (!ki__str_eq_nocase(*is, ki_str_from(value)) &&
                            !ki__str_eq_nocase(*is, ki_str_from(or_value)))) {
            return is;
        }
    }
    return NULL;
}

/* A value for a message: truncated, printable ASCII only. */
static void printable(ki_str value, char *room, size_t size)
{
    size_t len = value.len < size - 1 ? value.len : size - 1;
    for (size_t i = 0; i < len; i++) {
        char c = value.ptr[i];
        room[i] = c >= ' ' && c < 0x7f && c != '"' ? c : '?';
    }
    room[len] = '\0';
}

static size_t refuse_coding(ki__curl_call *call, const char *header, ki_str value)
{
    char shown[64];
    printable(value, shown, sizeof(shown));
    return REFUSE(
        call, KI_ERR_UNSUPPORTED, "the server's response has %s \"%s\", %s", header, shown,
        ki__curl_accepts_gzip(call) ? "only gzip was requested" : "which was not requested");
}

/* Determines the content encoding of the body. */
static size_t take_coding(ki__curl_call *call, size_t len)
{
    const ki_str *other = other_than(call, "transfer-encoding", "chunked", "identity");
    if (other != NULL) {
        return refuse_coding(call, "Transfer-Encoding", *other);
    }
    other = other_than(call, "content-encoding", ki__curl_accepts_gzip(call) ? "gzip" : "identity",
                       "identity");
    if (other != NULL) {
        return refuse_coding(call, "Content-Encoding", *other);
    }
    ki_str coding = ki_http_header_find(call->fields, call->field_count, "content-encoding");
    if (!ki__str_eq_nocase(coding, ki_str_from("gzip"))) {
        return len;
    }
    ki__curl *curl = call->curl;
    if (curl->room == NULL) {
        curl->room = ki__alloc(curl->alloc, KI__CURL_ROOM);
    }
    if (curl->room == NULL || ki__gzip_new(curl->alloc, &call->gzip) < 0) {
        return REFUSE(call, -ENOMEM, "no memory to decompress the server's response");
    }
    return len;
}

static size_t end_head(ki__curl_call *call, size_t len)
{
    if (call->status < 100 || call->status > 599) {
        return REFUSE(call, -EPROTO, "invalid HTTP status in the server's response");
    }
    if (call->status < 200) {
        return ++call->interim > INTERIM_MAX
                   ? REFUSE(call, -EPROTO, "too many interim (1xx) responses")
                   : len;
    }
    int r = make_fields(call);
    if (r < 0) {
        return REFUSE(call, r, "cannot store the response headers: %s", ki_error_text(r));
    }
    if (take_coding(call, len) != len) {
        return 0;
    }
    const ki__curl_auth *auth = &call->curl->options.auth;
    if (call->status == 401 && auth->refused != NULL && call->kind != KI__CURL_PROBE &&
        (call->own_headers & KI__CURL_OWN_AUTHORIZATION) == 0) {
        auth->refused(call->generation, auth->user);
    }
    ki__curl_warn(call);
    long version = 0;
    if (call->curl->target.https && ki__curl_may_use_http2(call) &&
        curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK) {
        call->curl->no_sharing = version == CURL_HTTP_VERSION_1_1;
    }
    call->responded = true;
    if (call->kind == KI__CURL_STREAM) {
        ki__curl_call_count(call); /* its end says nothing about it */
    }
    call->sink.on_response(call->status, call->fields, call->field_count, call->sink.user);
    return call->state == KI__CURL_CLOSED ? 0 : len;
}

size_t ki__curl_on_header(char *bytes, size_t size, size_t count, void *user)
{
    ki__curl_call *call = user;
    size_t len = size * count;
    if (call->state == KI__CURL_CLOSED) {
        return 0;
    }
    call->last_byte = ki__engine_now(call->curl->engine);
    call->head_bytes += len;
    if (call->head_bytes > call->curl->options.max_header_bytes) {
        return REFUSE(call, KI_ERR_LIMIT, "headers of the server's response are too large");
    }
    if (call->responded) {
        return len; /* trailers are ignored */
    }
    ki_str line = ki_str_make(bytes, len);
    while (line.len != 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) {
        line.len--;
    }
    if (line.len == 0) {
        return end_head(call, len);
    }
    if (line.len >= 5 && memcmp(line.ptr, "HTTP/", 5) == 0) {
        begin_head(call, line);
        return len;
    }
    return take_field(call, line, len);
}

/* ---- turns ----
 *
 * libcurl reads for as long as there is data. A server that sends faster than the sinks process it
 * would monopolize the loop, and all timers would be late. So a call that has used up its turn is
 * paused, and continues in the next run of the task. Data that libcurl consumes without a callback
 * cannot be paused like that, but only a malicious server sends that much of it. */

#define TURN_BYTES (UINT64_C(1) << 20)
#define TURN_NS (5 * KI__MS_NS)
#define FLOOD_NS KI__SECOND_NS
#define FLOOD_READS 200 /* a handshake on a busy machine takes long, but needs few reads */

void ki__curl_begin_turn(ki__curl *curl)
{
    curl->turn_began = ki__engine_now(curl->engine);
    curl->turn_bytes = 0;
    curl->turn_reads = 0;
}

static bool turn_is_over(const ki__curl *curl)
{
    return curl->turn_bytes >= TURN_BYTES ||
           (curl->turn_bytes != 0 && ki__engine_now(curl->engine) - curl->turn_began >= TURN_NS);
}

int ki__curl_on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up)
{
    ki__curl_call *call = user;
    ki__curl *curl = call->curl;
    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    curl->turn_reads++;
    if (curl->turn_bytes != 0 || curl->turn_reads < FLOOD_READS ||
        ki__engine_now(curl->engine) - curl->turn_began < FLOOD_NS) {
        return 0;
    }
    ki__curl_shut(call);
    (void)REFUSE(call, -EPROTO, "server sent protocol frames for 1 s without response data");
    return 1;
}

/* While libcurl answers PINGs, this is the only callback it makes. Its debug messages are ignored,
 * only the fact that it reads is used; headers with credentials pass through here, too. */
int ki__curl_on_debug(CURL *easy, curl_infotype type, char *bytes, size_t len, void *user)
{
    (void)easy;
    (void)bytes;
    (void)len;
    if (type == CURLINFO_SSL_DATA_IN) {
        (void)ki__curl_on_progress(user, 0, 0, 0, 0);
    }
    return 0;
}

/* ---- the body ---- */

static bool is_bomb(const ki__curl_call *call)
{
    return call->gzip != NULL && call->body_bytes > RATIO_FROM &&
           call->body_bytes / RATIO_MAX > ki__gzip_taken(call->gzip);
}

/* Counts bytes and delivers them. Whether more may follow. */
static bool give_body(ki__curl_call *call, ki_str bytes)
{
    uint64_t max = call->kind == KI__CURL_STREAM ? UINT64_MAX : call->curl->options.max_body_bytes;
    call->body_bytes += bytes.len;
    if (call->body_bytes > max ||
        (call->gzip != NULL && ki__gzip_taken(call->gzip) > max)) { /* empty members count too */
        (void)REFUSE(call, KI_ERR_LIMIT, "the server's response is too large");
        return false;
    }
    if (is_bomb(call)) {
        (void)REFUSE(call, KI_ERR_LIMIT,
                     "compressed response expands to more than %d times its size", RATIO_MAX);
        return false;
    }
    if (bytes.len != 0) {
        call->sink.on_body(bytes, call->sink.user);
    }
    return call->state != KI__CURL_CLOSED;
}

/* Whether libcurl must keep the data: the sink has paused, or the turn is used up. */
static bool must_hold(ki__curl_call *call)
{
    if (!call->paused && !turn_is_over(call->curl)) {
        return false;
    }
    call->held = true;
    if (!call->paused) {
        ki__curl_call_todo(call);
    }
    return true;
}

/* A write callback accepts all of a chunk or nothing, and a chunk may inflate to a thousand times
 * its size. So when a call is paused in the middle of one, libcurl keeps the chunk and delivers it
 * again later, and the part already inflated is skipped. The boundaries of chunks may differ then,
 * the data does not. */
static size_t take_compressed(ki__curl_call *call, const char *bytes, size_t len)
{
    ki__curl *curl = call->curl;
    size_t before = call->inflated < len ? call->inflated : len;
    ki_str in = ki_str_make(bytes + before, len - before);
    size_t made = KI__CURL_ROOM;
    while (in.len != 0 || made == KI__CURL_ROOM) {
        size_t left = in.len;
        if (must_hold(call)) {
            call->inflated = call->inflated > len ? call->inflated : len - in.len;
            return CURL_WRITEFUNC_PAUSE;
        }
        if (ki__gzip_feed(call->gzip, &in, curl->room, KI__CURL_ROOM, &made, &call->failure) < 0) {
            return 0;
        }
        curl->turn_bytes += made + left - in.len;
        if (!give_body(call, ki_str_make(curl->room, made))) {
            return 0;
        }
    }
    call->inflated -= before;
    return len;
}

size_t ki__curl_on_body(char *bytes, size_t size, size_t count, void *user)
{
    ki__curl_call *call = user;
    size_t len = size * count;
    if (call->state == KI__CURL_CLOSED) {
        return 0;
    }
    if (must_hold(call)) {
        return CURL_WRITEFUNC_PAUSE;
    }
    call->last_byte = ki__engine_now(call->curl->engine);
    if (call->gzip != NULL) {
        return take_compressed(call, bytes, len);
    }
    call->curl->turn_bytes += len;
    return give_body(call, ki_str_make(bytes, len)) ? len : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a complete request into a response: creates an exchange and pulls its first bytes. A
 * response that is complete by then is sent with Content-Length, any other one chunked, as it is
 * generated. */
#include <errno.h>
#include <sys/socket.h>

#include "apiserver/http/http_server.h"
#include "apiserver/negotiate.h"
#include "base/digits.h"
#include "client/config/kubeconfig.h"
#include "object/edit/json_out.h"

enum {
    HEADERS_MAX = 100,
    HEAD_BYTES = 16 * 1024,  /* buffered before the response begins */
    BLOCK_BYTES = 32 * 1024, /* passed to libmicrohttpd per call */
};

/* ---- the request ---- */

typedef struct header_list {
    ki__api_header headers[HEADERS_MAX];
    size_t count;
    bool too_many;
} header_list;

static enum MHD_Result add_header(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    header_list *list = user;
    if (list->count == HEADERS_MAX) {
        list->too_many = true;
        return MHD_NO;
    }
    list->headers[list->count++] =
        (ki__api_header){ki_str_from(name), ki_str_from(value != NULL ? value : "")};
    return MHD_YES;
}

/* Constant-time comparison for tokens of equal length. */
static bool same_secret(ki_str a, ki_str b)
{
    unsigned char differs = a.len == b.len ? 0 : 1;
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        differs |= (unsigned char)(a.ptr[i] ^ b.ptr[i]);
    }
    return differs == 0;
}

static bool is_allowed(const ki_apiserver *server, const ki__api_request *request)
{
    if (server->token.len == 0) {
        return true;
    }
    ki_str value = ki__api_request_header(request, "authorization");
    if (value.len < 7 || !ki__api_is_media_type(ki_str_make(value.ptr, 7), "bearer ")) {
        return false;
    }
    return same_secret(ki_str_make(value.ptr + 7, value.len - 7), ki_buf_str(&server->token));
}

/* The model accepts only JSON. A body with a YAML content type that does not look like JSON is
 * converted. */
static int read_yaml(ki__http_connection *c, header_list *list, ki__api_request *request)
{
    static const char json[] = "application/json";
    ki_str type = ki__api_media_type(ki__api_request_header(request, "content-type"));
    bool yaml = ki__api_is_media_type(type, "application/yaml");
    size_t i = 0;
    while (i < c->body.len && strchr(" \t\r\n", c->body.data[i]) != NULL &&
           c->body.data[i] != '\0') {
        i++;
    }
    bool looks_json = i < c->body.len && c->body.data[i] == '{';
    if (!yaml && (looks_json || !ki__api_is_media_type(type, "application/apply-patch+yaml"))) {
        return 0;
    }
    for (size_t h = 0; yaml && h < list->count; h++) {
        if (ki__api_is_media_type(list->headers[h].name, "content-type")) {
            list->headers[h].value = ki_str_from(json);
        }
    }
    ki_buf text;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&text, c->server->alloc, c->body.max);
    int r = ki__yaml_document_to_json(c->server->alloc, ki_buf_str(&c->body), 0, &text, &error);
    if (r == -ENOMEM) {
        ki_buf_done(&text);
        return r;
    }
    if (r < 0) {
        ki_buf_done(&text);
        return ki__api_exchange_failure(c->server->server, 400, KI_REASON_BAD_REQUEST,
                                        error.message[0] != '\0' ? error.message : "not YAML",
                                        &c->exchange);
    }
    ki_buf_done(&c->body);
    c->body = text;
    request->body = ki_buf_str(&c->body);
    return 0;
}

static int make_exchange(ki__http_connection *c, const char *method)
{
    ki_apiserver *server = c->server;
    header_list list = {.count = 0};
    (void)MHD_get_connection_values(c->mhd, MHD_HEADER_KIND, add_header, &list);
    ki__api_request request = {
        .method = ki_str_from(method),
        .target = ki_buf_str(&c->target),
        .headers = list.headers,
        .header_count = list.count,
        .body = ki_buf_str(&c->body),
    };
    if (list.too_many) {
        return ki__api_exchange_failure(server->server, 431, KI_REASON_UNKNOWN,
                                        "the request has too many headers", &c->exchange);
    }
    if (!is_allowed(server, &request)) {
        return ki__api_exchange_failure(server->server, 401, KI_REASON_UNAUTHORIZED, "Unauthorized",
                                        &c->exchange);
    }
    if (c->malformed) {
        return ki__api_exchange_failure(server->server, 400, KI_REASON_BAD_REQUEST,
                                        "NUL byte in the request target", &c->exchange);
    }
    int r = ki__http_guard(server, &request, &c->exchange);
    if (r < 0 || c->exchange != NULL) {
        return r;
    }
    if (c->too_large) {
        return ki__api_exchange_failure(server->server, 413, KI_REASON_REQUEST_ENTITY_TOO_LARGE,
                                        "the body of the request is too large", &c->exchange);
    }
    if (ki__http_is_control(request.target)) {
        return ki__http_control(server, &request, &c->exchange);
    }
    r = read_yaml(c, &list, &request);
    return r < 0 || c->exchange != NULL
               ? r
               : ki__api_exchange_new(server->server, &request, &c->exchange);
}

void ki__http_reset(ki__http_connection *c)
{
    c->exchange = ki__api_exchange_free(c->exchange);
    c->result = KI__API_WAIT;
    c->ready = ki_str_make(NULL, 0);
    c->state = KI__HTTP_IDLE;
    c->target_end = NULL;
    c->malformed = false;
    c->failed = false;
    c->too_large = false;
    c->passed_over = 0;
    c->head_sent = 0;
    ki_buf_clear(&c->target);
    ki_buf_done(&c->body);
    ki_buf_done(&c->head);
}

/* ---- pulling ---- */

void ki__http_pull(ki__http_connection *c)
{
    if (c->ready.len != 0) {
        return;
    }
    int r = ki__api_exchange_next(c->exchange, BLOCK_BYTES, &c->ready);
    c->result = r >= 0 ? (ki__api_result)r : KI__API_CUT; /* out of memory: the client retries */
    if (c->result != KI__API_DATA) {
        c->ready = ki_str_make(NULL, 0);
    }
}

/* Buffers the start of the response. */
static void gather(ki__http_connection *c)
{
    for (;;) {
        ki__http_pull(c);
        if (c->result != KI__API_DATA || c->head.len >= HEAD_BYTES) {
            return;
        }
        if (ki_buf_add_str(&c->head, c->ready) < 0) {
            return; /* sent without a copy */
        }
        c->ready = ki_str_make(NULL, 0);
    }
}

static size_t copy_out(char *out, size_t max, const char *bytes, size_t len)
{
    if (bytes == NULL) {
        return 0;
    }
    len = len < max ? len : max;
    memcpy(out, bytes, len);
    return len;
}

static ssize_t end_broken(ki__http_connection *c)
{
    ki__http_mark_ended(c);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* libmicrohttpd's callback for more body bytes. */
static ssize_t on_more(void *user, uint64_t position, char *out, size_t max)
{
    (void)position;
    ki__http_connection *c = user;
    c->server->active = true;
    if (c->gone) {
        return end_broken(c);
    }
    ki__timer_set_after(&c->timer, c->server->idle_timeout_ns);
    if (c->head_sent < c->head.len) {
        size_t len = copy_out(out, max, c->head.data + c->head_sent, c->head.len - c->head_sent);
        c->head_sent += len;
        return (ssize_t)len;
    }
    if (c->head.cap != 0) {
        ki_buf_done(&c->head);
        c->head_sent = 0;
    }
    ki__http_pull(c);
    switch (c->result) {
    case KI__API_DATA: {
        size_t len = copy_out(out, max, c->ready.ptr, c->ready.len);
        c->ready = ki_str_make(c->ready.ptr + len, c->ready.len - len);
        return (ssize_t)len;
    }
    case KI__API_END:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case KI__API_WAIT:
        ki__http_wait(c);
        return 0;
    case KI__API_CUT:
    case KI__API_REFUSED:
        break;
    }
    return end_broken(c);
}

/* ---- the response ---- */

/* 299 - "text", with quotes and backslashes escaped and bytes that headers must not contain
 * replaced. */
static bool add_warning(const ki__http_connection *c, struct MHD_Response *response,
                        const char *warning)
{
    ki_buf text;
    ki_buf_init(&text, c->server->alloc, 8192);
    ki__out out = ki__out_to(&text);
    ki__out_text(&out, "299 - \"");
    for (const char *p = warning; *p != '\0'; p++) {
        bool control = (unsigned char)*p < 0x20 || *p == 0x7f;
        ki__out_text(&out, *p == '"' || *p == '\\' ? "\\" : "");
        ki__out_char(&out, control ? '?' : *p);
    }
    ki__out_char(&out, '"');
    bool ok =
        out.error == KI_ERR_LIMIT ||
        (out.error == 0 && MHD_add_response_header(response, "Warning", text.data) == MHD_YES);
    ki_buf_done(&text);
    return ok;
}

static bool add_headers(const ki__http_connection *c, struct MHD_Response *response)
{
    uint32_t retry_after = ki__api_exchange_retry_after(c->exchange);
    const char *type = ki__api_exchange_content_type(c->exchange);
    bool ok = MHD_add_response_header(response, "Content-Type", type) == MHD_YES &&
              MHD_add_response_header(response, "Cache-Control", "no-cache, private") == MHD_YES;
    if (ok && retry_after != 0) {
        char room[KI__DIGITS_SIZE];
        const char *text = ki__digits(retry_after, room).ptr;
        ok = MHD_add_response_header(response, "Retry-After", text) == MHD_YES;
    }
    if (ok && ki__api_exchange_status(c->exchange) == 401) {
        ok = MHD_add_response_header(response, "WWW-Authenticate", "Bearer") == MHD_YES;
    }
    const char *warning;
    for (size_t i = 0; ok && (warning = ki__api_exchange_warning(c->exchange, i)) != NULL; i++) {
        ok = add_warning(c, response, warning);
    }
    return ok;
}

static enum MHD_Result respond(ki__http_connection *c)
{
    /* The content stays valid until the request is completed. */
    static char nothing[1];
    struct MHD_Response *response =
        c->result == KI__API_END
            ? MHD_create_response_from_buffer(c->head.len,
                                              c->head.data != NULL ? c->head.data : nothing,
                                              MHD_RESPMEM_PERSISTENT)
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_more, c, NULL);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result result = MHD_NO;
    if (add_headers(c, response)) {
        result =
            MHD_queue_response(c->mhd, (unsigned)ki__api_exchange_status(c->exchange), response);
    }
    MHD_destroy_response(response);
    return result;
}

/* Closing sends a reset, as if no server were listening. */
static void refuse(const ki__http_connection *c)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

enum MHD_Result ki__http_respond(ki__http_connection *c, const char *method)
{
    c->state = KI__HTTP_SENDING;
    ki__timer_set_after(&c->timer, c->server->idle_timeout_ns);
    if (c->exchange == NULL && make_exchange(c, method) < 0) {
        return MHD_NO;
    }
    ki_buf_done(&c->body);
    gather(c);
    if (c->result == KI__API_REFUSED) {
        refuse(c);
        ki__http_mark_ended(c);
        return MHD_NO;
    }
    if (ki__api_exchange_status(c->exchange) != 0) {
        return respond(c);
    }
    if (c->result != KI__API_WAIT) {
        ki__http_mark_ended(c);
        return MHD_NO;
    }
    ki__http_wait(c);
    return MHD_YES;
}

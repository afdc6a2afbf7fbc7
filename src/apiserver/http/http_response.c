/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of clients to exchanges of the model, and the headers of their responses. */
#include <errno.h>

#include "apiserver/http/http_server.h"
#include "apiserver/negotiate.h"
#include "base/digits.h"
#include "client/config/kubeconfig.h"
#include "object/edit/json_out.h"

enum { HEADERS_MAX = 100 };

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

static bool is_allowed(const ki_apiserver *server, const ki__api_request *request)
{
    if (server->token.len == 0) {
        return true;
    }
    return ki__httpd_has_token(ki__api_request_header(request, "authorization"),
                               ki_buf_str(&server->token));
}

static ki_apiserver *server_of(const ki__httpd_connection *c)
{
    return c->httpd->options.user;
}

/* The model accepts only JSON. A body with a YAML content type that does not look like JSON is
 * converted. */
static int read_yaml(ki__httpd_connection *c, header_list *list, ki__api_request *request,
                     ki__api_exchange **ret_exchange)
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
    ki_buf_init(&text, c->httpd->options.alloc, c->body.max);
    int r =
        ki__yaml_document_to_json(c->httpd->options.alloc, ki_buf_str(&c->body), 0, &text, &error);
    if (r == -ENOMEM) {
        ki_buf_done(&text);
        return r;
    }
    if (r < 0) {
        ki_buf_done(&text);
        return ki__api_exchange_failure(server_of(c)->server, 400, KI_REASON_BAD_REQUEST,
                                        error.message[0] != '\0' ? error.message : "not YAML",
                                        ret_exchange);
    }
    ki_buf_done(&c->body);
    c->body = text;
    request->body = ki_buf_str(&c->body);
    return 0;
}

static int make_exchange(ki__httpd_connection *c, const char *method,
                         ki__api_exchange **ret_exchange)
{
    ki_apiserver *server = server_of(c);
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
                                        "the request has too many headers", ret_exchange);
    }
    if (!is_allowed(server, &request)) {
        return ki__api_exchange_failure(server->server, 401, KI_REASON_UNAUTHORIZED, "Unauthorized",
                                        ret_exchange);
    }
    if (c->malformed) {
        return ki__api_exchange_failure(server->server, 400, KI_REASON_BAD_REQUEST,
                                        "NUL byte in the request target", ret_exchange);
    }
    int r = ki__http_guard(server, &request, ret_exchange);
    if (r < 0 || *ret_exchange != NULL) {
        return r;
    }
    if (c->too_large) {
        return ki__api_exchange_failure(server->server, 413, KI_REASON_REQUEST_ENTITY_TOO_LARGE,
                                        "the body of the request is too large", ret_exchange);
    }
    if (ki__http_is_control(request.target)) {
        return ki__http_control(server, &request, ret_exchange);
    }
    r = read_yaml(c, &list, &request, ret_exchange);
    return r < 0 || *ret_exchange != NULL
               ? r
               : ki__api_exchange_new(server->server, &request, ret_exchange);
}

int ki__http_begin(ki__httpd_connection *c, const char *method, void **ret_exchange)
{
    ki__api_exchange *exchange = NULL;
    int r = make_exchange(c, method, &exchange);
    *ret_exchange = exchange;
    return r;
}

/* ---- the response ---- */

/* 299 - "text", with quotes and backslashes escaped and bytes that headers must not contain
 * replaced. */
static bool add_warning(const ki__httpd_connection *c, struct MHD_Response *response,
                        const char *warning)
{
    ki_buf text;
    ki_buf_init(&text, c->httpd->options.alloc, 8192);
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

bool ki__http_add_headers(const ki__httpd_connection *c, struct MHD_Response *response)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Changes faults while the server runs: from the program, or by requests to /kinformer/..., which
 * no real server has. Also implements the lag of a server that is deliberately behind. */
#include <errno.h>

#include "apiserver/http/http_server.h"
#include "apiserver/negotiate.h"
#include "base/error.h"
#include "object/edit/json_out.h"
#include "wire/media_type.h"

/* ---- faults ---- */

int ki__http_set_faults(ki_apiserver *server, ki_str text, ki_error *error)
{
    ki__api_fault_set set;
    int r = ki__api_fault_set_read(text, server->seed, server->alloc, &set, error);
    if (r < 0) {
        return r;
    }
    ki__api_fault_set_done(&server->fault_set);
    server->fault_set = set;
    server->server->reader.follows = set.lag_ns == 0;
    if (set.lag_ns == 0) {
        ki__api_server_advance(server->server, server->model->head);
    }
    server->changed = true;
    ki__httpd_wake(&server->httpd);
    return 0;
}

int ki_apiserver_set_faults(ki_apiserver *server, const char *faults, ki_error *error)
{
    KI__REQUIRE(server, error);
    KI__REQUIRE_OWN_ENGINE(server->engine, error);
    ki__mutex_lock(&server->lock);
    int r = ki__http_set_faults(server, ki_str_from(faults), error);
    ki__mutex_unlock(&server->lock);
    return r;
}

/* ---- lag ---- */

void ki__http_follow(ki_apiserver *server)
{
    uint64_t lag = server->fault_set.lag_ns;
    if (lag == 0 || server->lag_set || server->server->reader.applied >= server->model->head) {
        return;
    }
    server->due_version = server->model->head;
    server->lag_set = true;
    ki__timer_set_after(&server->lag_timer, lag);
}

void ki__http_on_lag(ki__timer *timer)
{
    ki_apiserver *server = KI__CONTAINER_OF(timer, ki_apiserver, lag_timer);
    ki__mutex_lock(&server->lock);
    server->lag_set = false;
    ki__api_server_advance(server->server, server->due_version);
    ki__mutex_unlock(&server->lock);
}

/* ---- immediate faults ---- */

static void expire(ki_apiserver *server)
{
    ki__api_model_compact(server->model, server->model->head);
    ki__api_server_expire(server->server);
}

static void drop(ki_apiserver *server)
{
    ki__api_server_drop_watches(server->server, false);
}

/* Cuts all connections except the one that requested it, which has no exchange yet. */
static void cut(ki_apiserver *server)
{
    ki__list *const lists[] = {&server->httpd.busy, &server->httpd.waiting};
    for (size_t i = 0; i < 2; i++) {
        KI__LIST_FOR_EACH (link, lists[i]) {
            ki__httpd_connection *c = KI__CONTAINER_OF(link, ki__httpd_connection, link);
            if (c->state != KI__HTTPD_SENDING || c->exchange != NULL) {
                ki__httpd_break(c);
            }
        }
    }
}

static void locked(ki_apiserver *server, void (*action)(ki_apiserver *server))
{
    ki__mutex_lock(&server->lock);
    action(server);
    ki__mutex_unlock(&server->lock);
}

void ki_apiserver_expire_history(ki_apiserver *server)
{
    if (server == NULL || ki__engine_is_inherited(server->engine)) {
        return;
    }
    locked(server, expire);
}

void ki_apiserver_drop_watches(ki_apiserver *server)
{
    if (server == NULL || ki__engine_is_inherited(server->engine)) {
        return;
    }
    locked(server, drop);
}

void ki_apiserver_break_connections(ki_apiserver *server)
{
    if (server == NULL || ki__engine_is_inherited(server->engine)) {
        return;
    }
    locked(server, cut);
}

/* ---- by request ---- */

#define PREFIX "/kinformer/"

bool ki__http_is_control(ki_str target)
{
    const size_t len = sizeof(PREFIX) - 1;
    return target.len >= len && memcmp(target.ptr, PREFIX, len) == 0;
}

static int fail(ki_apiserver *server, int code, ki_reason reason, const char *text,
                ki__api_exchange **ret_exchange)
{
    return ki__api_exchange_failure(server->server, code, reason, text, ret_exchange);
}

/* {"faults": "text"}, or a list of texts. */
static int read_json(ki_str body, const ki_alloc *alloc, ki_buf *buf, ki_error *error)
{
    ki_object_options options = {.size = sizeof(options), .alloc = alloc};
    ki_object *object;
    int r = ki_object_from_json(body.ptr, body.len, &options, &object, error);
    if (r < 0) {
        return r;
    }
    ki_value root = ki_object_root(object);
    ki_value faults;
    ki_value_iter iter;
    ki_value value;
    ki__out out = ki__out_to(buf);
    ki__out_fail(&out, ki_value_member(&root, ki_str_from("faults"), &faults));
    if (out.error == 0 && ki_value_iter_begin(&faults, &iter) == 0) {
        while (out.error == 0 && ki_value_iter_next(&iter, NULL, &value) > 0) {
            ki__out_content(&out, &value);
            ki__out_char(&out, '\n');
        }
    } else {
        ki__out_content(&out, &faults);
    }
    r = out.error;
    ki_object_unref(object);
    if (r < 0 && r != -ENOMEM) {
        return ki__error_set(error, r, "\"faults\" must be a string or a list of strings");
    }
    return r;
}

static int change_faults(ki_apiserver *server, const ki__api_request *request, ki_error *error)
{
    if (ki_str_eq_text(request->method, "DELETE")) {
        return ki__http_set_faults(server, ki_str_from(""), error);
    }
    ki_str type = ki__api_media_type(ki__api_request_header(request, "content-type"));
    if (!ki__api_is_media_type(type, KI__MEDIA_TYPE_JSON)) {
        return ki__http_set_faults(server, request->body, error);
    }
    ki_buf text;
    ki_buf_init(&text, server->alloc, KI__API_FAULT_TEXT_MAX);
    int r = request->body.len != 0
                ? read_json(request->body, server->alloc, &text, error)
                : ki__error_set(error, KI_ERR_INVALID, "request body is missing");
    r = r < 0 ? r : ki__http_set_faults(server, ki_buf_str(&text), error);
    ki_buf_done(&text);
    return r;
}

static int respond_faults(ki_apiserver *server, ki__api_exchange **ret_exchange)
{
    ki_buf json;
    ki_buf_init(&json, server->alloc, 8 * (size_t)KI__API_FAULT_TEXT_MAX);
    ki__out out = ki__out_to(&json);
    ki__put_map(&out);
    ki__put_member(&out, "faults", server->fault_set.text);
    ki__put_end(&out);
    ki__out_char(&out, '\n');
    int r = out.error;
    r = r < 0 ? r : ki__api_exchange_json(server->server, ki_buf_str(&json), ret_exchange);
    ki_buf_done(&json);
    return r;
}

static int faults(ki_apiserver *server, const ki__api_request *request,
                  ki__api_exchange **ret_exchange)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};
    size_t i = 0;
    while (i < 4 && !ki_str_eq_text(request->method, methods[i])) {
        i++;
    }
    if (i == 4) {
        return fail(server, 405, KI_REASON_METHOD_NOT_ALLOWED, "this method is not allowed here",
                    ret_exchange);
    }
    ki_error error = KI_ERROR_INIT;
    int r = i != 0 ? change_faults(server, request, &error) : 0;
    if (r < 0 && r != -ENOMEM) {
        return fail(server, 400, KI_REASON_BAD_REQUEST, error.message, ret_exchange);
    }
    return r < 0 ? r : respond_faults(server, ret_exchange);
}

int ki__http_control(ki_apiserver *server, const ki__api_request *request,
                     ki__api_exchange **ret_exchange)
{
    static const struct {
        const char *path;
        void (*action)(ki_apiserver *server);
    } actions[] = {{PREFIX "expire", expire}, {PREFIX "drop-watches", drop}, {PREFIX "cut", cut}};
    if (ki_str_eq_text(request->target, PREFIX "faults")) {
        return faults(server, request, ret_exchange);
    }
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (!ki_str_eq_text(request->target, actions[i].path)) {
            continue;
        }
        if (!ki_str_eq_text(request->method, "POST")) {
            return fail(server, 405, KI_REASON_METHOD_NOT_ALLOWED,
                        "this method is not allowed here", ret_exchange);
        }
        actions[i].action(server);
        return ki__api_exchange_json(server->server, ki_str_from("{}\n"), ret_exchange);
    }
    return fail(server, 404, KI_REASON_NOT_FOUND, "nothing at this path", ret_exchange);
}

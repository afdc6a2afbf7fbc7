/* SPDX-License-Identifier: Apache-2.0 */
/* Life cycle of an exchange: parse the request, plan its faults, run the verb, hand out the
 * response in pieces. */
#include "apiserver/exchange.h"

#include <errno.h>

#include <kinformer/field_selector.h>
#include <kinformer/resource_table.h>
#include <kinformer/status.h>

#include "apiserver/discovery/api_discovery.h"
#include "apiserver/encode.h"
#include "apiserver/negotiate.h"
#include "apiserver/verbs/garbage.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/time_units.h"
#include "object/edit/json_out.h"
#include "wire/media_type.h"

#define CHUNK_BYTES ((size_t)16 << 10)

/* Limits of garbage collection per request and per pull. The rest is done by later calls, which
 * clients do not notice. */
enum { GARBAGE_AT_ONCE = 1000, GARBAGE_PER_PULL = 100 };

/* ---- parsing the request ---- */

static int fail_method(ki__api_exchange *x)
{
    return ki__api_fail(&x->failure, 405, KI_REASON_METHOD_NOT_ALLOWED,
                        "this method is not allowed here", NULL);
}

static bool find_verb(const ki__api_exchange *x, ki_str method, ki__api_verb *ret_verb)
{
    const ki__api_route *route = &x->route;
    static const struct {
        const char *method;
        bool named;
        ki__api_verb verb;
    } verbs[] = {
        {"GET", true, KI__API_GET},
        {"GET", false, KI__API_LIST},
        {"POST", false, KI__API_CREATE},
        {"PUT", true, KI__API_UPDATE},
        {"PATCH", true, KI__API_PATCH},
        {"DELETE", true, KI__API_DELETE},
        {"DELETE", false, KI__API_DELETE_COLLECTION},
    };
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (ki_str_eq_text(method, verbs[i].method) && verbs[i].named == (route->name[0] != '\0')) {
            bool watch = verbs[i].verb == KI__API_LIST && route->watch;
            *ret_verb = watch ? KI__API_WATCH : verbs[i].verb;
            return true;
        }
    }
    return false;
}

/* Only lists span namespaces; a status supports only GET, PUT and PATCH. */
static bool is_allowed(const ki__api_exchange *x)
{
    const ki__api_route *route = &x->route;
    bool spans = ki_resource_is_namespaced(x->type->resource) && route->name_space[0] == '\0';
    bool lists = x->verb == KI__API_LIST || x->verb == KI__API_WATCH;
    bool deletes = x->verb == KI__API_DELETE || x->verb == KI__API_DELETE_COLLECTION;
    if (ki__api_is_review(x->type)) {
        return x->verb == KI__API_CREATE;
    }
    return (!spans || lists) && (route->subresource[0] == '\0' || !deletes);
}

static int find_type(ki__api_exchange *x)
{
    const ki__api_route *route = &x->route;
    int r = ki__api_model_type(x->model, route->group, route->version, route->resource, &x->shown);
    if (r == -ENOMEM) {
        return r;
    }
    bool found = r == 0;
    x->type = found ? x->shown->store : NULL;
    if (found && route->name_space[0] != '\0') {
        found = ki_resource_is_namespaced(x->type->resource);
    }
    if (found && route->subresource[0] != '\0') {
        const ki__api_type_options *options = &x->shown->options;
        found = (strcmp(route->subresource, "status") == 0 && options->has_status) ||
                (strcmp(route->subresource, "scale") == 0 && options->has_scale);
    }
    return found ? 0
                 : ki__api_fail(&x->failure, 404, KI_REASON_NOT_FOUND, "no resource at this path",
                                NULL);
}

static int negotiate(ki__api_exchange *x)
{
    ki_str accept = ki__api_request_header(x->request, "accept");
    bool protobuf = ki_resource_has_protobuf(x->type->resource);
    bool reads = x->verb == KI__API_GET || x->verb == KI__API_LIST || x->verb == KI__API_WATCH;
    bool forms = reads && x->route.subresource[0] == '\0';
    if (ki__api_negotiate(accept, protobuf, forms, &x->encoding, &x->form)) {
        return 0;
    }
    return ki__api_fail(&x->failure, 406, KI_REASON_NOT_ACCEPTABLE,
                        "none of the accepted media types can be served", NULL);
}

/* ---- faults ---- */

int ki__api_fail_as_planned(ki__api_exchange *x)
{
    int code = x->plan.http_code;
    ki_error usual = KI_ERROR_INIT;
    (void)ki_status_from_http(code, x->verb == KI__API_CREATE ? "POST" : "", NULL, NULL,
                              (ki_str){0}, 0, &usual);
    x->failure.retry_after_s = x->plan.retry_after_s;
    return ki__api_fail(&x->failure, code, code == 410 ? KI_REASON_EXPIRED : usual.reason,
                        "injected fault", NULL);
}

static int apply_plan(ki__api_exchange *x)
{
    const ki__api_faults *faults = x->server->options.faults;
    if (faults != NULL) {
        const ki__api_point point = {
            .verb = x->verb,
            .group = x->route.group,
            .resource = x->route.resource,
            .name_space = x->route.name_space,
            .streams = x->verb == KI__API_WATCH && x->route.send_initial == KI__API_TRUE,
        };
        faults->decide(&point, &x->plan, faults->user);
    }
    x->not_before = ki__api_model_now(x->model) + x->plan.latency_ms * KI__MS_NS;
    bool inside = x->plan.in_stream && x->verb == KI__API_WATCH;
    if (x->plan.refuse || x->plan.http_code == 0 || inside) {
        return 0;
    }
    return ki__api_fail_as_planned(x);
}

/* ---- the verb ---- */

static int run_verb(ki__api_exchange *x)
{
    if (strcmp(x->route.subresource, "scale") == 0) {
        return ki__api_do_scale(x);
    }
    switch (x->verb) {
    case KI__API_GET:
        return ki__api_do_get(x);
    case KI__API_LIST:
        return ki__api_do_list(x);
    case KI__API_WATCH:
        return ki__api_do_watch(x);
    case KI__API_CREATE:
        return ki__api_is_review(x->type) ? ki__api_do_review(x) : ki__api_do_create(x);
    case KI__API_UPDATE:
    case KI__API_PATCH:
        return ki__api_do_update(x);
    case KI__API_DELETE:
        return ki__api_do_delete(x);
    case KI__API_DELETE_COLLECTION:
        return ki__api_do_delete_collection(x);
    case KI__API_VERB_MAX:
        break;
    }
    return fail_method(x);
}

/* A failure replaces whatever has been written so far. */
static int respond_failure(ki__api_exchange *x)
{
    ki_buf status;
    ki_buf_init(&status, x->alloc, x->out.max);
    ki__buf_truncate(&x->out, 0);
    int r = ki__api_failure_write(&x->failure, &status);
    r = r < 0 ? r : ki__api_encode_json(x, ki_buf_str(&status));
    ki_buf_done(&status);
    if (r < 0) {
        return r;
    }
    ki__api_watch_close(x);
    x->stage = KI__API_STAGE_TEXT;
    x->status = x->failure.code;
    return 0;
}

static int prepare(ki__api_exchange *x)
{
    int r = ki__api_route_init(&x->route, x->request->target, x->alloc, &x->failure);
    if (r == 0 && x->failure.code == 0 && x->route.is_resource) {
        r = find_type(x);
    }
    if (r < 0 || x->failure.code != 0 || !x->route.is_resource) {
        return r;
    }
    if (!find_verb(x, x->request->method, &x->verb) || !is_allowed(x)) {
        return fail_method(x);
    }
    r = apply_plan(x);
    if (r == 0 && x->failure.code == 0 && !x->plan.refuse) {
        r = negotiate(x);
    }
    return r;
}

static int start(ki__api_exchange *x)
{
    int r = ki__garbage_run(x->model, GARBAGE_AT_ONCE); /* left over from earlier requests */
    r = r < 0 ? r : prepare(x);
    if (r == 0 && x->failure.code == 0 && !x->plan.refuse) {
        r = x->route.is_resource ? run_verb(x) : ki__api_do_path(x);
    }
    r = r < 0 ? r : ki__garbage_run(x->model, GARBAGE_AT_ONCE);
    if (r == 0 && x->failure.code != 0) {
        r = respond_failure(x);
    }
    x->request = NULL;
    return r;
}

static ki__api_exchange *make(ki__api_server *server)
{
    const ki_alloc *alloc = server->model->alloc;
    ki__api_exchange *x = ki__alloc_zero(alloc, sizeof(*x));
    if (x == NULL) {
        return NULL;
    }
    size_t out_max = 4 * server->model->options.object_bytes_max + 2 * CHUNK_BYTES + 65536;
    x->server = server;
    x->model = server->model;
    x->alloc = alloc;
    ki_buf_init(&x->out, alloc, out_max);
    ki__invalid_init(&x->invalid, alloc);
    ki_buf_init(&x->warnings, alloc, 64 << 10);
    ki_buf_init(&x->name, alloc, KI__API_TARGET_MAX);
    ki_buf_init(&x->managed, alloc, server->model->options.object_bytes_max + 4096);
    ki_buf_init(&x->token, alloc, 8192);
    ki__api_failure_init(&x->failure, alloc);
    ki__list_init(&x->watch.link);
    ki__list_init(&x->watch.hold.link);
    return x;
}

/* Returns the exchange, or frees it on failure. */
static int made(ki__api_exchange *x, int r, ki__api_exchange **ret_exchange)
{
    if (r < 0) {
        ki__api_exchange_free(x);
        return r;
    }
    *ret_exchange = x;
    return 0;
}

int ki__api_exchange_new(ki__api_server *server, const ki__api_request *request,
                         ki__api_exchange **ret_exchange)
{
    ki__api_exchange *x = make(server);
    if (x == NULL) {
        return -ENOMEM;
    }
    x->request = request;
    return made(x, start(x), ret_exchange);
}

int ki__api_exchange_failure(ki__api_server *server, int code, ki_reason reason, const char *text,
                             ki__api_exchange **ret_exchange)
{
    ki__api_exchange *x = make(server);
    if (x == NULL) {
        return -ENOMEM;
    }
    int r = ki__api_fail(&x->failure, code, reason, text, NULL);
    return made(x, r < 0 ? r : respond_failure(x), ret_exchange);
}

int ki__api_exchange_json(ki__api_server *server, ki_str json, ki__api_exchange **ret_exchange)
{
    ki__api_exchange *x = make(server);
    if (x == NULL) {
        return -ENOMEM;
    }
    x->status = 200;
    x->content_type = KI__MEDIA_TYPE_JSON;
    return made(x, ki_buf_add_str(&x->out, json), ret_exchange);
}

ki__api_exchange *ki__api_exchange_free(ki__api_exchange *x)
{
    if (x == NULL) {
        return NULL;
    }
    ki__api_watch_close(x);
    for (size_t i = 0; i < x->item_count; i++) {
        ki_object_unref(x->items[i]);
    }
    ki__free(x->alloc, x->items);
    ki_selector_unref(x->labels);
    ki_field_selector_unref(x->fields);
    ki__api_failure_done(&x->failure);
    ki__api_route_done(&x->route);
    ki__invalid_done(&x->invalid);
    ki_buf_done(&x->warnings);
    ki_buf_done(&x->name);
    ki_buf_done(&x->managed);
    ki_buf_done(&x->token);
    ki_buf_done(&x->out);
    ki__free(x->alloc, x);
    return NULL;
}

const char *ki__api_exchange_warning(const ki__api_exchange *x, size_t index)
{
    const char *text = x->warnings.data;
    if (index >= x->warning_count) {
        return NULL;
    }
    for (; index != 0; index--) {
        text += strlen(text) + 1;
    }
    return text;
}

/* ---- pulling ---- */

/* Retries a read that waits for a resourceVersion. 1 if it no longer waits. */
static int wake(ki__api_exchange *x)
{
    int r = x->failure.code == 0 ? run_verb(x) : 0;
    if (r == 0 && x->failure.code != 0) {
        r = respond_failure(x);
    }
    return r < 0 ? r : x->stage != KI__API_STAGE_FRESH;
}

/* Appends to `out`: 1 if more may be available immediately, 0 if not. */
static int fill(ki__api_exchange *x)
{
    switch (x->stage) {
    case KI__API_STAGE_TEXT:
        x->stage = KI__API_STAGE_END;
        return 0;
    case KI__API_STAGE_FRESH:
        return wake(x);
    case KI__API_STAGE_LIST:
        return ki__api_list_fill(x);
    case KI__API_STAGE_WATCH:
        return ki__api_watch_fill(x);
    case KI__API_STAGE_END:
        break;
    }
    return 0;
}

static int fill_chunk(ki__api_exchange *x)
{
    int r = 1;
    if (x->sent == x->out.len) {
        ki__buf_truncate(&x->out, 0);
        x->sent = 0;
    }
    while (r > 0 && x->out.len - x->sent < CHUNK_BYTES) {
        r = fill(x);
    }
    return r;
}

static ki__api_result hand_out(ki__api_exchange *x, size_t max, ki_str *ret_bytes)
{
    size_t len = x->out.len - x->sent;
    len = len < max ? len : max;
    if (x->plan.cut && x->plan.cut_after - x->taken < len) {
        len = (size_t)(x->plan.cut_after - x->taken);
    }
    bool over = x->stage == KI__API_STAGE_END && len == 0;
    if (x->plan.cut && (over || x->taken == x->plan.cut_after)) {
        return KI__API_CUT;
    }
    if (len != 0) {
        *ret_bytes = ki_str_make(x->out.data + x->sent, len);
        x->sent += len;
        x->taken += len;
        return KI__API_DATA;
    }
    if (x->stage == KI__API_STAGE_END) {
        return x->broken ? KI__API_CUT : KI__API_END;
    }
    return KI__API_WAIT;
}

int ki__api_exchange_next(ki__api_exchange *x, size_t max, ki_str *ret_bytes)
{
    ki_assert(max != 0);
    if (ki__api_model_now(x->model) < x->not_before) {
        return KI__API_WAIT;
    }
    if (x->plan.refuse) {
        return KI__API_REFUSED;
    }
    if (x->out.len - x->sent == 0) {
        int r = x->stage == KI__API_STAGE_WATCH ? ki__garbage_run(x->model, GARBAGE_PER_PULL) : 0;
        r = r < 0 ? r : fill_chunk(x);
        if (r < 0 && x->out.len == x->sent) {
            return r; /* bytes produced before the failure are handed out first */
        }
    }
    return (int)hand_out(x, max, ret_bytes);
}

int ki__api_exchange_status(const ki__api_exchange *x)
{
    bool begun = ki__api_model_now(x->model) >= x->not_before && !x->plan.refuse;
    return begun && x->stage != KI__API_STAGE_FRESH ? x->status : 0;
}

const char *ki__api_exchange_content_type(const ki__api_exchange *x)
{
    if (x->content_type != NULL && x->failure.code == 0) {
        return x->content_type;
    }
    if (x->encoding == KI_ENCODING_JSON) {
        return KI__MEDIA_TYPE_JSON;
    }
    bool streams = x->verb == KI__API_WATCH && x->failure.code == 0;
    return streams ? KI__MEDIA_TYPE_PROTOBUF ";stream=watch" : KI__MEDIA_TYPE_PROTOBUF;
}

uint32_t ki__api_exchange_retry_after(const ki__api_exchange *x)
{
    return x->failure.code != 0 && x->status == x->failure.code ? x->failure.retry_after_s : 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t ki__api_exchange_deadline(const ki__api_exchange *x)
{
    uint64_t deadline = UINT64_MAX;
    if (x->stage == KI__API_STAGE_FRESH) {
        deadline = x->fresh_by;
    } else if (x->stage == KI__API_STAGE_WATCH) {
        deadline = earlier(earlier(x->watch.bookmark_at, x->watch.last_bookmark_at),
                           earlier(x->watch.end_at, x->watch.drop_at));
    }
    bool held_back = ki__api_model_now(x->model) < x->not_before;
    return held_back ? x->not_before : deadline;
}

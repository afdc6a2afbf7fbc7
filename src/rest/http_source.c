/* SPDX-License-Identifier: Apache-2.0 */
/* The source that lists and watches a resource of an API server through a transport. Invariant: a
 * call is freed exactly once, when it is closed or, inside a callback of the transport, when that
 * callback returns. */
#include "rest/http_source.h"

#include <errno.h>
#include <string.h>

#include <kinformer/projection.h>
#include <kinformer/resource_table.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"

enum {
    PATH_MAX_BYTES = 4096,
    URL_MAX_BYTES = 16384,
    QUERY_MAX_BYTES = 2 << 20,
    RETRY_AFTER_MAX_S = 10
};

/* ---- calls ---- */

void ki__http_drop_body(ki__http_call *call)
{
    switch (call->body) {
    case KI__HTTP_LIST:
        ki__list_decoder_done(&call->list);
        break;
    case KI__HTTP_EVENTS:
        ki__watch_decoder_done(&call->events);
        break;
    case KI__HTTP_FAILURE:
    case KI__HTTP_GROUP:
        ki_buf_done(&call->failure);
        break;
    case KI__HTTP_NOTHING:
        break;
    }
    call->body = KI__HTTP_NOTHING;
    call->head = (ki__http_head){0};
}

static void free_call(ki__http_call *call)
{
    ki__http_source *source = call->source;
    ki__http_drop_body(call);
    ki__timer_done(&call->again);
    ki_buf_done(&call->query);
    (void)ki_object_unref(call->not_found_status);
    (void)ki_projection_unref(call->projection);
    ki__free(source->alloc, call);
    source->calls--;
}

/* The sink is not called afterwards. */
static void close_call(ki__http_call *call)
{
    void *exchange = call->exchange;
    call->closed = true;
    call->exchange = NULL;
    ki__timer_cancel(&call->again);
    if (exchange != NULL) {
        call->source->transport.cancel(exchange, call->source->transport.user);
    }
}

void ki__http_leave(ki__http_call *call)
{
    call->busy = false;
    if (call->closed) {
        free_call(call);
    }
}

void ki__http_end(ki__http_call *call, const ki_list_meta *meta, const ki_error *error,
                  const ki_object *status)
{
    ki_assert(call->busy); /* so that all of these outlive it */
    if (!call->closed) {
        close_call(call);
        call->sink.on_end(meta, error, status, call->sink.user);
    }
}

int ki__http_send(ki__http_call *call, ki_error *error)
{
    const ki__http_source *source = call->source;
    const char *accept =
        ki__http_accept(!source->options.json_only, source->options.metadata_only, call->watch);
    const ki_http_header header = {.name = ki_str_from("Accept"), .value = ki_str_from(accept)};
    const ki_http_request request = {
        .size = sizeof(request),
        .method = "GET",
        .path = ki_buf_text(&source->path),
        .query = ki_buf_text(&call->query),
        .headers = &header,
        .header_count = 1,
        .idle_timeout_ms = call->watch ? source->options.watch_idle_timeout_ms : 0,
        .stream = call->watch,
        .later_page = call->later_page,
        .retry_of = ki__retry_of(&call->retry),
    };
    ki_http_sink sink = ki__http_response_sink;
    sink.user = call;
    const ki_transport *transport = &source->transport;
    int r = transport->start(&request, &sink, transport->user, &call->exchange, error);
    if (r < 0) {
        call->exchange = NULL;
        if (error->code == 0) {
            (void)ki__error_code(error, r);
        }
        return r;
    }
    if (call->paused && transport->pause != NULL) {
        transport->pause(call->exchange, true, transport->user);
    }
    return 0;
}

static int begin(ki__http_source *source, bool watch, const ki_list_options *options,
                 const ki_source_sink *sink, void **ret_call, ki_error *error)
{
    ki_source_sink taken;
    ki_list_options list;
    int r = KI__TAKE(ki_source_sink, &taken, sink, error);
    r = r < 0 ? r : KI__TAKE(ki_list_options, &list, options, error);
    if (r < 0) {
        return r;
    }
    ki__http_call *call = ki__alloc_zero(source->alloc, sizeof(*call));
    if (call == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    source->calls++;
    call->source = source;
    call->sink = taken;
    call->watch = watch;
    call->projection = ki_projection_ref(list.projection);
    /* Longer waits requested by the server are reported instead, so that the caller decides. */
    call->retry = (ki__retry){
        .kind = watch ? KI__RETRY_WATCH : KI__RETRY_READ,
        .longest_s = RETRY_AFTER_MAX_S,
        .deadline = UINT64_MAX,
    };
    call->later_page = !watch && ki__http_is_later_page(options);
    ki_buf_init(&call->query, source->alloc, QUERY_MAX_BYTES);
    r = ki__timer_init(&call->again, source->engine, ki__http_on_again);
    if (r < 0) {
        (void)ki__error_code(error, r);
    } else {
        r = ki__http_query(options, watch, &call->query, error);
    }
    if (r == 0) {
        r = ki__http_send(call, error);
    }
    if (r < 0) {
        free_call(call);
        return r;
    }
    *ret_call = call;
    return 0;
}

static int begin_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    return begin(user, false, options, sink, ret_call, error);
}

static int begin_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    return begin(user, true, options, sink, ret_call, error);
}

static void cancel(void *opaque, void *user)
{
    (void)user;
    ki__http_call *call = opaque;
    if (call->closed) {
        return;
    }
    close_call(call);
    if (!call->busy) {
        free_call(call);
    }
}

static void hold(void *opaque, bool paused, void *user)
{
    (void)user;
    ki__http_call *call = opaque;
    const ki_transport *transport = &call->source->transport;
    call->paused = paused;
    if (call->exchange != NULL && transport->pause != NULL) {
        transport->pause(call->exchange, paused, transport->user);
    }
}

/* ---- the source ---- */

static void destroy(void *user)
{
    ki__http_source *source = user;
    ki_engine *engine = source->engine;
    ki_transport transport = source->transport;
    ki_assert(source->calls == 0);
    (void)ki_resource_unref(source->resource);
    ki_buf_done(&source->path);
    ki_buf_done(&source->url);
    ki__free(source->alloc, source);
    if (transport.unref != NULL) {
        transport.unref(transport.user);
    }
    (void)ki_engine_unref(engine);
}

static int make_texts(ki__http_source *source, const ki_source_http_options *o, ki_error *error)
{
    ki_buf_init(&source->path, source->alloc, PATH_MAX_BYTES);
    ki_buf_init(&source->url, source->alloc, URL_MAX_BYTES);
    int r = ki__http_path(o->resource, o->name_space != NULL ? o->name_space : "", "", "",
                          &source->path, error);
    if (r < 0) {
        return r;
    }
    r = ki_buf_add_text(&source->url, source->transport.url);
    if (r == 0) {
        r = ki_buf_add_str(&source->url, ki_buf_str(&source->path));
    }
    return r < 0 ? ki__error_code(error, r) : 0;
}

static int check_options(const ki_source_http_options *o, ki_transport *ret_transport,
                         ki_error *error)
{
    if (o->engine == NULL || o->resource == NULL) {
        return ki__error_set(error, -EINVAL, "source: engine and resource must be set");
    }
    if (o->transport == NULL || o->transport->start == NULL || o->transport->cancel == NULL) {
        return ki__error_set(error, -EINVAL, "source: transport needs start and cancel");
    }
    return KI__TAKE(ki_transport, ret_transport, o->transport, error);
}

int ki_source_http_new(const ki_source_http_options *options, ki_source *ret_source,
                       ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE_SIZED(ki_source, ret_source, error);
    ki_source_http_options o = {0};
    int r = KI__TAKE(ki_source_http_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    ki_transport transport;
    r = check_options(&o, &transport, error);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__engine_alloc(o.engine);
    ki__http_source *source = ki__alloc_zero(alloc, sizeof(*source));
    if (source == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    source->engine = ki_engine_ref(o.engine);
    source->alloc = alloc;
    source->transport = transport;
    if (source->transport.ref != NULL) {
        source->transport.ref(source->transport.user);
    }
    source->resource = ki_resource_ref(o.resource);
    source->options = o;
    /* Metadata can be decoded from protobuf for every kind. */
    source->options.json_only =
        o.json_only || (!o.metadata_only && !ki_resource_has_protobuf(o.resource));
    r = make_texts(source, &o, error);
    if (r < 0) {
        destroy(source);
        return r;
    }
    const ki_source table = {
        .size = sizeof(table),
        .list = begin_list,
        .watch = begin_watch,
        .cancel = cancel,
        .pause = hold,
        .metadata_only = o.metadata_only,
        .url = ki_buf_text(&source->url),
        .user = source,
        .destroy = destroy,
    };
    return KI__GIVE(ki_source, ret_source, &table);
}

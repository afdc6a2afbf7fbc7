/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of the source: objects, events, or an error. Bodies are decoded incrementally; at most
 * one object is buffered. Some failures are retried before they are reported: see rest/retry.h. */
#include <errno.h>

#include <kinformer/status.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/time_units.h"
#include "rest/http_source.h"

/* ---- retries ---- */

/* Sends the request again after a delay, instead of reporting the failure. */
static void send_later(ki__http_call *call, uint64_t delay_ns, const ki_error *error,
                       const ki_object *status)
{
    call->exchange = NULL;
    ki__http_drop_body(call);
    ki__timer_set_after(&call->again, delay_ns);
    if (call->sink.on_retry != NULL) {
        call->sink.on_retry(error, status, ki__ns_to_ms(delay_ns), call->sink.user);
    }
}

void ki__http_on_again(ki__timer *timer)
{
    ki__http_call *call = KI__CONTAINER_OF(timer, ki__http_call, again);
    ki_error error = KI_ERROR_INIT;
    call->busy = true;
    if (ki__http_send(call, &error) < 0) {
        ki__http_end(call, NULL, &error, NULL);
    }
    ki__http_leave(call);
}

/* ---- the head of a response ---- */

static void begin_body(ki__http_call *call)
{
    const ki__http_source *source = call->source;
    bool metadata = source->options.metadata_only;
    const ki__wire_options options = {
        .encoding = call->head.encoding,
        .alloc = source->alloc,
        .max_bytes = source->options.max_object_bytes,
        .default_kind = metadata ? "PartialObjectMetadata" : ki_resource_kind(source->resource),
        .default_api_version =
            metadata ? "meta.k8s.io/v1" : ki_resource_api_version(source->resource),
        .projection = call->projection,
    };
    if (call->watch) {
        call->body = KI__HTTP_EVENTS;
        ki__watch_decoder_init(&call->events, &options);
    } else {
        call->body = KI__HTTP_LIST;
        ki__list_decoder_init(&call->list, &options);
    }
}

static void on_response(int status, const ki_http_header *headers, size_t header_count, void *user)
{
    ki__http_call *call = user;
    ki_error error = KI_ERROR_INIT;
    call->busy = true;
    int r = ki__http_read_head(status, headers, header_count, &call->head, &error);
    if (call->body == KI__HTTP_GROUP) {
        /* The body is buffered like that of a failure. */
    } else if (!ki__http_is_success(&call->head)) {
        call->body = KI__HTTP_FAILURE;
        ki_buf_init(&call->failure, call->source->alloc, KI__HTTP_FAILURE_MAX);
    } else if (r < 0) {
        ki__http_end(call, NULL, &error, NULL);
    } else {
        call->source->served = true;
        ki__error_clear(&call->source->missing);
        call->source->missing_until = 0;
        begin_body(call);
        call->sink.on_alive(0, call->sink.user);
    }
    ki__http_leave(call);
}

/* ---- the body ---- */

/* Whether the call ended because an object has fields without a schema: requests use JSON from now
 * on, and the caller repeats this one. */
static bool ends_incomplete(ki__http_call *call, ki_watch_event_type type,
                            const ki__wire_item *item)
{
    ki__http_source *source = call->source;
    bool is_object = item->object != NULL && type <= KI_WATCH_EVENT_DELETED;
    if (!source->options.json_if_incomplete || source->options.json_only || !is_object ||
        ki_object_is_complete(item->object)) {
        return false;
    }
    ki_error error;
    ki__error_init(&error);
    (void)ki__error_set(&error, KI_ERR_NO_SCHEMA,
                        "object has fields without a schema; switching from protobuf to JSON");
    source->options.json_only = true;
    ki__engine_report(source->engine, "source", ki_resource_name(source->resource),
                      ki_str_from(ki_object_key(item->object)), &error);
    ki__http_end(call, NULL, &error, NULL); /* no effect if the report led to a cancel */
    return true;
}

static void give_object(ki__http_call *call, ki__wire_item *item)
{
    const ki_source_sink *sink = &call->sink;
    if (ends_incomplete(call, KI_WATCH_EVENT_ADDED, item)) {
        item->object = ki_object_unref(item->object);
    } else if (item->object != NULL) {
        sink->on_event(KI_WATCH_EVENT_ADDED, item->object, NULL, sink->user);
        item->object = ki_object_unref(item->object);
    } else {
        sink->on_skipped(KI_WATCH_EVENT_ADDED, item->key, item->resource_version, &item->error,
                         sink->user);
    }
}

static void give_event(ki__http_call *call, ki__watch_event *event)
{
    const ki_source_sink *sink = &call->sink;
    ki__wire_item *item = &event->item;
    if (ends_incomplete(call, event->type, item)) {
        item->object = ki_object_unref(item->object);
        return;
    }
    if (event->type == KI_WATCH_EVENT_ERROR) {
        sink->on_event(event->type, item->object, &item->error, sink->user);
    } else if (item->object != NULL) {
        sink->on_event(event->type, item->object, NULL, sink->user);
    } else {
        sink->on_skipped(event->type, item->key, item->resource_version, &item->error, sink->user);
    }
    item->object = ki_object_unref(item->object);
}

/* Decodes one object or event. 1 if the rest of `bytes` may have more. */
static int feed(ki__http_call *call, ki_str *bytes, ki_error *error)
{
    size_t taken = 0;
    int r;
    if (call->body == KI__HTTP_LIST) {
        ki__wire_item item;
        r = ki__list_decoder_feed(&call->list, bytes->ptr, bytes->len, &taken, &item, error);
        if (r > 0) {
            give_object(call, &item);
        }
    } else {
        ki__watch_event event;
        r = ki__watch_decoder_feed(&call->events, bytes->ptr, bytes->len, &taken, &event, error);
        if (r > 0) {
            give_event(call, &event);
        }
    }
    *bytes = ki_str_make(bytes->ptr + taken, bytes->len - taken);
    return r;
}

/* The Status is kept until the call is freed, so it may be passed on. */
static void end_undecodable(ki__http_call *call, const ki_error *error)
{
    const ki_object *status = NULL;
    if (call->body == KI__HTTP_LIST) {
        status = ki__list_decoder_status(&call->list);
    }
    ki__http_end(call, NULL, error, status);
}

static void decode(ki__http_call *call, ki_str bytes)
{
    ki_error error = KI_ERROR_INIT;
    ki__http_look(&call->head, bytes);
    int r = 1;
    while (r > 0 && !call->closed) {
        r = feed(call, &bytes, &error);
    }
    if (r < 0 && !call->closed) {
        ki__http_explain(&call->head, &error);
        end_undecodable(call, &error);
    }
}

static void end_failure(ki__http_call *call);

/* Buffers the body. Does not wait for more than the limit or the memory allows: the status code is
 * sufficient, and the body may be endless. */
static void keep_failure(ki__http_call *call, ki_str bytes)
{
    ki_buf *failure = &call->failure;
    size_t room = failure->max - failure->len;
    size_t len = bytes.len < room ? bytes.len : room;
    int r = ki_buf_add(failure, bytes.ptr, len);
    if (r == 0 && failure->len != failure->max) {
        return;
    }
    void *exchange = call->exchange;
    const ki_transport *transport = &call->source->transport;
    call->exchange = NULL;
    transport->cancel(exchange, transport->user);
    if (call->body == KI__HTTP_GROUP) {
        ki_error too_long;
        ki__error_init(&too_long);
        (void)ki__error_code(&too_long, r < 0 ? r : KI_ERR_LIMIT);
        ki__http_group_ended(call, &too_long);
    } else {
        end_failure(call);
    }
}

static void on_body(ki_str bytes, void *user)
{
    ki__http_call *call = user;
    call->busy = true;
    if (call->body == KI__HTTP_FAILURE || call->body == KI__HTTP_GROUP) {
        keep_failure(call, bytes);
    } else {
        call->sink.on_alive(bytes.len, call->sink.user);
        decode(call, bytes);
    }
    ki__http_leave(call);
}

/* ---- the end ---- */

static void end_failure(ki__http_call *call)
{
    ki_error error = KI_ERROR_INIT;
    const ki__http_source *source = call->source;
    uint64_t delay_ns;
    ki_object *status =
        ki__http_failure(&call->head, ki_buf_str(&call->failure), "GET",
                         ki_resource_name(source->resource), "", source->alloc, &error);
    if (ki_error_is_not_found(&error)) {
        ki__http_end_not_found(call, &error, status);
    } else if (ki__retry_response(&call->retry, source->engine, &call->head, &delay_ns)) {
        send_later(call, delay_ns, &error, status);
    } else {
        ki__http_end(call, NULL, &error, status);
    }
    (void)ki_object_unref(status);
}

static void end_list(ki__http_call *call)
{
    ki_error error = KI_ERROR_INIT;
    if (ki__list_decoder_finish(&call->list, &error) < 0) {
        end_undecodable(call, &error);
        return;
    }
    ki__list_info info = ki__list_decoder_info(&call->list);
    const ki_list_meta meta = {
        .size = sizeof(meta),
        .resource_version = info.resource_version,
        .continue_token = info.continue_token,
        .remaining = info.remaining_item_count,
    };
    ki__http_end(call, &meta, NULL, NULL);
}

static void end_complete(ki__http_call *call)
{
    ki_error error = KI_ERROR_INIT;
    switch (call->body) {
    case KI__HTTP_LIST:
        end_list(call);
        break;
    case KI__HTTP_EVENTS:
        if (ki__watch_decoder_finish(&call->events, &error) < 0) {
            ki__http_end(call, NULL, &error, NULL);
        } else {
            ki__http_end(call, NULL, NULL, NULL);
        }
        break;
    case KI__HTTP_FAILURE:
        end_failure(call);
        break;
    case KI__HTTP_GROUP:
        ki__http_group_ended(call, NULL);
        break;
    case KI__HTTP_NOTHING:
        (void)ki__error_set(&error, -EPIPE, "connection closed without a response");
        ki__http_end(call, NULL, &error, NULL);
        break;
    }
}

static void on_end(const ki_error *error, void *user)
{
    ki__http_call *call = user;
    uint64_t delay_ns;
    call->busy = true;
    call->exchange = NULL;
    if (error == NULL) {
        end_complete(call);
    } else if (call->body == KI__HTTP_GROUP) {
        ki__http_group_ended(call, error);
    } else if (call->head.status == 0 &&
               ki__retry_failure(&call->retry, call->source->engine, error->code, &delay_ns)) {
        send_later(call, delay_ns, error, NULL);
    } else {
        ki__http_end(call, NULL, error, NULL);
    }
    ki__http_leave(call);
}

const ki_http_sink ki__http_response_sink = {
    .size = sizeof(ki_http_sink),
    .on_response = on_response,
    .on_body = on_body,
    .on_end = on_end,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* JSON encoding, and dispatch between JSON and protobuf. */
#include "apiserver/encode.h"

#include "apiserver/discovery/table_response.h"
#include "apiserver/verbs/compose.h"
#include "base/digits.h"
#include "object/edit/json_out.h"

static bool is_proto(const ki__api_exchange *x)
{
    return x->encoding == KI_ENCODING_PROTOBUF;
}

/* A Table with one row. */
static void add_table(ki__api_exchange *x, const ki_object *object, ki__out *out)
{
    ki__out_texts(out,
                  "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
                  "\"resourceVersion\":\"",
                  ki_object_resource_version(object), "\"},\"columnDefinitions\":", NULL);
    if (x->columns_sent && x->verb == KI__API_WATCH) {
        ki__out_text(out, "null");
    } else {
        ki__api_table_columns(x, out);
    }
    ki__out_text(out, ",\"rows\":[");
    ki__api_table_row(x, object, out);
    ki__out_text(out, "]}");
    x->columns_sent = x->columns_sent || out->error == 0;
}

/* JSON of an object without its first members, which were already written. */
static void add_rest(const ki__api_exchange *x, ki_str rest, ki__out *out)
{
    if (!x->plan.unknown_field) {
        ki__out_str(out, rest);
        return;
    }
    ki__out_str(out, ki_str_make(rest.ptr, rest.len - 1)); /* the last byte is its '}' */
    ki__out_text(out, ",\"" KI__API_UNKNOWN_NAME "\":\"" KI__API_UNKNOWN_VALUE "\"}");
}

/* A stored object as JSON, converted to the requested version if it is stored in another one. */
static void add_object(ki__api_exchange *x, const ki_object *object, ki__out *out)
{
    if (x->form == KI__API_FORM_TABLE) {
        add_table(x, object, out);
        return;
    }
    if (x->form == KI__API_FORM_METADATA) {
        ki__api_table_metadata(object, out);
        return;
    }
    ki_str bytes = ki_object_bytes(object);
    if (x->shown == x->type ||
        strcmp(ki_object_api_version(object), ki_resource_api_version(x->type->resource)) != 0) {
        add_rest(x, bytes, out);
        return;
    }
    size_t prefix = ki__api_compose_prefix(x->type);
    ki__api_compose_begin(x->shown, out);
    add_rest(x, ki_str_make(bytes.ptr + prefix, bytes.len - prefix), out);
}

/* ---- lists ---- */

static void add_list_kind(const ki__api_exchange *x, ki__out *out)
{
    const ki_resource *resource = x->shown->resource;
    switch (x->form) {
    case KI__API_FORM_TABLE:
        ki__out_text(out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"");
        return;
    case KI__API_FORM_METADATA:
        ki__out_text(out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":"
                          "\"meta.k8s.io/v1\"");
        return;
    case KI__API_FORM_OBJECT:
        break;
    }
    ki__out_texts(out, "{\"kind\":\"", ki_resource_kind(resource), "List\",\"apiVersion\":\"",
                  ki_resource_api_version(resource), "\"", NULL);
}

int ki__api_encode_list_begin(ki__api_exchange *x)
{
    if (is_proto(x)) {
        return ki__api_proto_list_begin(x);
    }
    char room[KI__DIGITS_SIZE];
    ki__out out = ki__out_to(&x->out);
    add_list_kind(x, &out);
    ki__out_text(&out, ",\"metadata\":{");
    ki__put_member_str(&out, "resourceVersion", ki__digits(x->rv, room));
    if (x->token.len != 0) {
        ki__put_member_str(&out, "continue", ki_buf_str(&x->token));
    }
    if (x->send_remaining) {
        ki__put_name(&out, "remainingItemCount");
        ki__put_u64(&out, x->remaining);
    }
    if (x->shard.count != 0) {
        ki__put_name(&out, "shardInfo");
        ki__put_map(&out);
        ki__put_member(&out, "selector", x->route.shard);
        ki__put_end(&out);
    }
    if (x->form == KI__API_FORM_TABLE) {
        ki__out_text(&out, "},\"columnDefinitions\":");
        ki__api_table_columns(x, &out);
        ki__out_text(&out, ",\"rows\":[");
    } else {
        ki__out_text(&out, "},\"items\":[");
    }
    return ki__out_commit(&out);
}

int ki__api_encode_list_item(ki__api_exchange *x)
{
    if (is_proto(x)) {
        return ki__api_proto_list_item(x);
    }
    const ki_object *item = x->items[x->item_next];
    ki__out out = ki__out_to(&x->out);
    ki__out_text(&out, x->item_next != 0 ? "," : "");
    if (x->form == KI__API_FORM_TABLE) {
        ki__api_table_row(x, item, &out);
    } else if (x->form == KI__API_FORM_OBJECT && x->type->builtin) {
        ki_str bytes = ki_object_bytes(item);
        size_t prefix = ki__api_compose_prefix(x->type);
        ki__out_char(&out, '{');
        add_rest(x, ki_str_make(bytes.ptr + prefix, bytes.len - prefix), &out);
    } else {
        add_object(x, item, &out);
    }
    return ki__out_commit(&out);
}

int ki__api_encode_list_end(ki__api_exchange *x)
{
    return is_proto(x) ? ki__api_proto_list_end(x) : ki_buf_add_text(&x->out, "]}\n");
}

/* ---- objects ---- */

int ki__api_encode_object(ki__api_exchange *x, const ki_object *object)
{
    if (is_proto(x)) {
        return ki__api_proto_object(x, object);
    }
    ki__out out = ki__out_to(&x->out);
    add_object(x, object, &out);
    ki__out_char(&out, '\n');
    return ki__out_commit(&out);
}

static int parse(const ki__api_exchange *x, ki_str json, ki_object **ret_object)
{
    ki_object_options options = {.size = sizeof(options), .alloc = x->alloc};
    return ki_object_from_json(json.ptr, json.len, &options, ret_object, NULL);
}

int ki__api_encode_json(ki__api_exchange *x, ki_str json)
{
    ki_object *object;
    int r = parse(x, json, &object);
    if (r == 0) {
        ki__api_form form = x->form;
        bool unknown_field = x->plan.unknown_field;
        x->form = KI__API_FORM_OBJECT; /* a Status is never a Table */
        x->plan.unknown_field = false;
        r = ki__api_encode_object(x, object);
        x->plan.unknown_field = unknown_field;
        x->form = form;
        ki_object_unref(object);
    }
    return r;
}

/* ---- events ---- */

static void begin_event(ki_watch_event_type type, ki__out *out)
{
    ki__out_texts(out, "{\"type\":\"", ki_watch_event_type_name(type), "\",\"object\":", NULL);
}

int ki__api_encode_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object)
{
    if (is_proto(x)) {
        return ki__api_proto_event(x, type, object);
    }
    ki__out out = ki__out_to(&x->out);
    begin_event(type, &out);
    add_object(x, object, &out);
    ki__out_text(&out, "}\n");
    return ki__out_commit(&out);
}

int ki__api_encode_event_json(ki__api_exchange *x, ki_watch_event_type type, ki_str json)
{
    bool formed = x->form != KI__API_FORM_OBJECT && type != KI_WATCH_EVENT_ERROR;
    if (!is_proto(x) && !formed) {
        ki__out out = ki__out_to(&x->out);
        begin_event(type, &out);
        ki__out_str(&out, json);
        ki__out_text(&out, "}\n");
        return ki__out_commit(&out);
    }
    ki_object *object;
    int r = parse(x, json, &object);
    if (r == 0) {
        bool unknown_field = x->plan.unknown_field;
        x->plan.unknown_field = false;
        r = ki__api_encode_event(x, type, object);
        x->plan.unknown_field = unknown_field;
        ki_object_unref(object);
    }
    return r;
}

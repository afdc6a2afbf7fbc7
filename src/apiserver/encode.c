/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, and the choice between it and protobuf. */
#include "apiserver/encode.h"

#include "apiserver/discovery/table_response.h"
#include "apiserver/verbs/compose.h"
#include "object/edit/json_emit.h"

static bool is_proto(const ki__api_exchange *x)
{
    return x->encoding == KI_ENCODING_PROTOBUF;
}

static int kept(ki__api_exchange *x, size_t mark, int r)
{
    if (r < 0) {
        ki__emit_undo(&x->out, mark);
    }
    return r;
}

/* A table of one row. */
static int add_table(ki__api_exchange *x, const ki_object *object)
{
    int r = ki__emit_text(&x->out,
                          "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"
                          "\"resourceVersion\":\"",
                          ki_object_resource_version(object), "\"},\"columnDefinitions\":", NULL);
    bool again = x->columns_told && x->verb == KI__API_WATCH;
    r = r < 0 ? r : (again ? ki_buf_add_text(&x->out, "null") : ki__api_table_columns(x, &x->out));
    r = r < 0 ? r : ki_buf_add_text(&x->out, ",\"rows\":[");
    r = r < 0 ? r : ki__api_table_row(x, object, &x->out);
    r = r < 0 ? r : ki_buf_add_text(&x->out, "]}");
    x->columns_told = x->columns_told || r == 0;
    return r;
}

/* JSON of an object without its beginning, which was written already. */
static int add_rest(ki__api_exchange *x, ki_str rest)
{
    if (!x->plan.unknown_field) {
        return ki_buf_add_str(&x->out, rest);
    }
    int r = ki_buf_add(&x->out, rest.ptr, rest.len - 1); /* the last byte is its '}' */
    return r < 0 ? r
                 : ki_buf_add_text(&x->out,
                                   ",\"" KI__API_UNKNOWN_NAME "\":\"" KI__API_UNKNOWN_VALUE "\"}");
}

/* A stored object as JSON; in the version that was asked for, if that is not the one it is kept in.
 */
static int add_object(ki__api_exchange *x, const ki_object *object)
{
    if (x->form == KI__API_FORM_TABLE) {
        return add_table(x, object);
    }
    if (x->form == KI__API_FORM_METADATA) {
        return ki__api_table_metadata(object, &x->out);
    }
    ki_str bytes = ki_object_bytes(object);
    if (x->shown == x->type ||
        strcmp(ki_object_api_version(object), ki_resource_api_version(x->type->resource)) != 0) {
        return add_rest(x, bytes);
    }
    size_t prefix = ki__api_compose_prefix(x->type);
    int r = ki__api_compose_begin(x->shown, &x->out);
    return r < 0 ? r : add_rest(x, ki_str_make(bytes.ptr + prefix, bytes.len - prefix));
}

/* ---- lists ---- */

static int begin_kind(ki__api_exchange *x)
{
    const ki_resource *resource = x->shown->resource;
    switch (x->form) {
    case KI__API_FORM_TABLE:
        return ki_buf_add_text(&x->out, "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1");
    case KI__API_FORM_METADATA:
        return ki_buf_add_text(&x->out, "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":"
                                        "\"meta.k8s.io/v1");
    case KI__API_FORM_OBJECT:
        break;
    }
    return ki__emit_text(&x->out, "{\"kind\":\"", ki_resource_kind(resource),
                         "List\",\"apiVersion\":\"", ki_resource_api_version(resource), NULL);
}

int ki__api_encode_list_begin(ki__api_exchange *x)
{
    if (is_proto(x)) {
        return ki__api_proto_list_begin(x);
    }
    ki_buf *out = &x->out;
    size_t mark = out->len;
    int r = begin_kind(x);
    r = r < 0 ? r : ki_buf_add_text(out, "\",\"metadata\":{\"resourceVersion\":\"");
    r = r < 0 ? r : ki__emit_u64(out, x->rv);
    r = r < 0 ? r : ki_buf_add_char(out, '"');
    if (x->token.len != 0) {
        r = r < 0 ? r : ki__emit_member(out, "continue", ki_buf_str(&x->token), false);
    }
    if (x->tell_remaining) {
        r = r < 0 ? r : ki_buf_add_text(out, ",\"remainingItemCount\":");
        r = r < 0 ? r : ki__emit_u64(out, x->remaining);
    }
    if (x->form == KI__API_FORM_TABLE) {
        r = r < 0 ? r : ki_buf_add_text(out, "},\"columnDefinitions\":");
        r = r < 0 ? r : ki__api_table_columns(x, out);
        r = r < 0 ? r : ki_buf_add_text(out, ",\"rows\":[");
    } else {
        r = r < 0 ? r : ki_buf_add_text(out, "},\"items\":[");
    }
    return kept(x, mark, r);
}

int ki__api_encode_list_item(ki__api_exchange *x)
{
    if (is_proto(x)) {
        return ki__api_proto_list_item(x);
    }
    size_t mark = x->out.len;
    const ki_object *item = x->items[x->item_next];
    int r = x->item_next != 0 ? ki_buf_add_char(&x->out, ',') : 0;
    if (x->form != KI__API_FORM_OBJECT) {
        r = r < 0                           ? r
            : x->form == KI__API_FORM_TABLE ? ki__api_table_row(x, item, &x->out)
                                            : ki__api_table_metadata(item, &x->out);
    } else if (x->type->builtin) {
        ki_str bytes = ki_object_bytes(item);
        size_t prefix = ki__api_compose_prefix(x->type);
        r = r < 0 ? r : ki_buf_add_char(&x->out, '{');
        r = r < 0 ? r : add_rest(x, ki_str_make(bytes.ptr + prefix, bytes.len - prefix));
    } else {
        r = r < 0 ? r : add_object(x, item);
    }
    return kept(x, mark, r);
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
    size_t mark = x->out.len;
    int r = add_object(x, object);
    r = r < 0 ? r : ki_buf_add_char(&x->out, '\n');
    return kept(x, mark, r);
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
        x->form = KI__API_FORM_OBJECT; /* a Status is always one */
        x->plan.unknown_field = false;
        r = ki__api_encode_object(x, object);
        x->plan.unknown_field = unknown_field;
        x->form = form;
        ki_object_unref(object);
    }
    return r;
}

/* ---- events ---- */

static int json_event(ki__api_exchange *x, ki_event_type type, ki_str json)
{
    size_t mark = x->out.len;
    int r =
        ki__emit_text(&x->out, "{\"type\":\"", ki_event_type_name(type), "\",\"object\":", NULL);
    r = r < 0 ? r : ki_buf_add_str(&x->out, json);
    r = r < 0 ? r : ki_buf_add_text(&x->out, "}\n");
    return kept(x, mark, r);
}

int ki__api_encode_event(ki__api_exchange *x, ki_event_type type, const ki_object *object)
{
    if (is_proto(x)) {
        return ki__api_proto_event(x, type, object);
    }
    size_t mark = x->out.len;
    int r =
        ki__emit_text(&x->out, "{\"type\":\"", ki_event_type_name(type), "\",\"object\":", NULL);
    r = r < 0 ? r : add_object(x, object);
    r = r < 0 ? r : ki_buf_add_text(&x->out, "}\n");
    return kept(x, mark, r);
}

int ki__api_encode_event_json(ki__api_exchange *x, ki_event_type type, ki_str json)
{
    bool formed = x->form != KI__API_FORM_OBJECT && type != KI_EVENT_ERROR;
    if (!is_proto(x) && !formed) {
        return json_event(x, type, json);
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

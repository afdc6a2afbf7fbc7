/* SPDX-License-Identifier: Apache-2.0 */
/* JSON, and the choice between it and protobuf. */
#include "apiserver/encode.h"

#include "apiserver/compose.h"
#include "apiserver/emit.h"

static bool is_proto(const ki__api_exchange *x)
{
    return x->encoding == KI_ENCODING_PROTOBUF;
}

static int kept(ki__api_exchange *x, size_t mark, int r)
{
    if (r < 0) {
        ki__api_unwrite(&x->out, mark);
    }
    return r;
}

/* A stored object as JSON; in the version that was asked for, if that is not the one it is kept in.
 */
static int add_object(ki__api_exchange *x, const ki_object *object)
{
    ki_str bytes = ki_object_bytes(object);
    if (x->shown == x->type ||
        strcmp(ki_object_api_version(object), ki_resource_api_version(x->type->resource)) != 0) {
        return ki_buf_add_str(&x->out, bytes);
    }
    size_t prefix = ki__api_compose_prefix(x->type);
    int r = ki__api_compose_begin(x->shown, &x->out);
    return r < 0 ? r : ki_buf_add(&x->out, bytes.ptr + prefix, bytes.len - prefix);
}

/* ---- lists ---- */

int ki__api_encode_list_begin(ki__api_exchange *x)
{
    if (is_proto(x)) {
        return ki__api_proto_list_begin(x);
    }
    ki_buf *out = &x->out;
    size_t mark = out->len;
    const ki_resource *resource = x->shown->resource;
    int r = ki__emit_text(out, "{\"kind\":\"", ki_resource_kind(resource),
                          "List\",\"apiVersion\":\"", ki_resource_api_version(resource),
                          "\",\"metadata\":{\"resourceVersion\":\"", NULL);
    r = r < 0 ? r : ki__emit_u64(out, x->rv);
    r = r < 0 ? r : ki_buf_add_char(out, '"');
    if (x->token.len != 0) {
        r = r < 0 ? r : ki__emit_member(out, "continue", ki_buf_str(&x->token), false);
    }
    if (x->tell_remaining) {
        r = r < 0 ? r : ki_buf_add_text(out, ",\"remainingItemCount\":");
        r = r < 0 ? r : ki__emit_u64(out, x->remaining);
    }
    r = r < 0 ? r : ki_buf_add_text(out, "},\"items\":[");
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
    if (x->type->builtin) {
        ki_str bytes = ki_object_bytes(item);
        size_t prefix = ki__api_compose_prefix(x->type);
        r = r < 0 ? r : ki_buf_add_char(&x->out, '{');
        r = r < 0 ? r : ki_buf_add(&x->out, bytes.ptr + prefix, bytes.len - prefix);
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
        return ki_object_write_protobuf(object, &x->out, NULL);
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
        r = ki__api_encode_object(x, object);
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
    if (!is_proto(x)) {
        return json_event(x, type, json);
    }
    ki_object *object;
    int r = parse(x, json, &object);
    if (r == 0) {
        r = ki__api_proto_event(x, type, object);
        ki_object_unref(object);
    }
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/encode.h"

#include "apiserver/compose.h"
#include "apiserver/emit.h"

static int kept(ki__api_exchange *x, size_t mark, int r)
{
    if (r < 0) {
        ki__api_unwrite(&x->out, mark);
    }
    return r;
}

int ki__api_encode_list_begin(ki__api_exchange *x)
{
    ki_buf *out = &x->out;
    size_t mark = out->len;
    const ki_resource *resource = x->type->resource;
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
    size_t mark = x->out.len;
    ki_str bytes = ki_object_bytes(x->items[x->item_next]);
    int r = x->item_next != 0 ? ki_buf_add_char(&x->out, ',') : 0;
    if (x->type->builtin) {
        size_t prefix = ki__api_compose_prefix(x->type);
        r = r < 0 ? r : ki_buf_add_char(&x->out, '{');
        bytes = ki_str_make(bytes.ptr + prefix, bytes.len - prefix);
    }
    r = r < 0 ? r : ki_buf_add_str(&x->out, bytes);
    return kept(x, mark, r);
}

int ki__api_encode_list_end(ki__api_exchange *x)
{
    return ki_buf_add_text(&x->out, "]}\n");
}

int ki__api_encode_event_json(ki__api_exchange *x, ki__api_event event, ki_str json)
{
    static const char *const names[] = {
        [KI__API_EVENT_ADDED] = "ADDED",     [KI__API_EVENT_MODIFIED] = "MODIFIED",
        [KI__API_EVENT_DELETED] = "DELETED", [KI__API_EVENT_BOOKMARK] = "BOOKMARK",
        [KI__API_EVENT_ERROR] = "ERROR",
    };
    size_t mark = x->out.len;
    int r = ki__emit_text(&x->out, "{\"type\":\"", names[event], "\",\"object\":", NULL);
    r = r < 0 ? r : ki_buf_add_str(&x->out, json);
    r = r < 0 ? r : ki_buf_add_text(&x->out, "}\n");
    return kept(x, mark, r);
}

int ki__api_encode_event(ki__api_exchange *x, ki__api_event event, const ki_object *object)
{
    return ki__api_encode_event_json(x, event, ki_object_bytes(object));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf encoding. A list is the magic, then an envelope {1: {1: apiVersion, 2: kind}, 2: list,
 * 3: "", 4: ""}; the list is {1: metadata, 2: item, 2: item, ...}. Since lengths precede the data,
 * all items are encoded once to measure them and again to send them, so a list is never held in
 * memory as a whole. An event is a four-byte length followed by {1: type, 2: {1: object}}. */
#include <kinformer/error.h>

#include "apiserver/encode.h"
#include "base/assert.h"
#include "base/digits.h"
#include "object/edit/json_out.h"
#include "object/proto/proto_wire.h"

enum { TAG_1 = 0x0a, TAG_2 = 0x12, TAG_3 = 0x1a, TAG_4 = 0x22, TAG_4_NUMBER = 0x20, TAG_5 = 0x2a };

static void add_varint(ki__out *out, uint64_t number)
{
    while (number >= 0x80) {
        ki__out_char(out, (char)(number | 0x80));
        number >>= 7;
    }
    ki__out_char(out, (char)number);
}

static uint64_t varint_len(uint64_t number)
{
    uint64_t len = 1;
    while (number >= 0x80) {
        number >>= 7;
        len++;
    }
    return len;
}

/* A tag and the length of the field. */
static void add_head(ki__out *out, int tag, uint64_t len)
{
    ki__out_char(out, (char)tag);
    add_varint(out, len);
}

static void add_field(ki__out *out, int tag, ki_str bytes)
{
    add_head(out, tag, bytes.len);
    ki__out_str(out, bytes);
}

/* Finds the message inside an object's envelope: returns its tag, and the rest in *ret_item. */
static const char *find_message(ki_str envelope, ki__proto_item *ret_item)
{
    ki_str fields = ki_str_make(envelope.ptr + 4, envelope.len - 4);
    const char *found = ki__proto_find(fields, 2, ret_item);
    ki_assert(found != NULL);
    return found;
}

static ki_str message_of(ki_str envelope)
{
    ki__proto_item item = {0};
    (void)find_message(envelope, &item);
    return item.payload;
}

/* ---- objects ---- */

/* Copies the envelope with the unknown field appended to the message. */
static void add_with_unknown(ki__out *out, ki_str envelope)
{
    const uint64_t tag = (uint64_t)KI__API_UNKNOWN_NUMBER << 3 | 2;
    const ki_str value = ki_str_from(KI__API_UNKNOWN_VALUE);
    ki__proto_item item = {0};
    const char *at = find_message(envelope, &item);
    uint64_t more = varint_len(tag) + varint_len(value.len) + value.len;
    ki__out_str(out, ki_str_make(envelope.ptr, (size_t)(at - envelope.ptr)));
    add_head(out, TAG_2, item.payload.len + more);
    ki__out_str(out, item.payload);
    add_varint(out, tag);
    add_varint(out, value.len);
    ki__out_str(out, value);
    size_t rest = (size_t)(envelope.ptr + envelope.len - item.after);
    ki__out_str(out, ki_str_make(item.after, rest));
}

/* Appends an object in its envelope; leaves the buffer unchanged on failure. */
static int write_object(const ki__api_exchange *x, const ki_object *object, ki_buf *buf)
{
    ki__out out = ki__out_to(buf);
    if (!x->plan.unknown_field) {
        ki__out_fail(&out, ki_object_write_protobuf(object, buf, NULL));
        return ki__out_commit(&out);
    }
    ki_buf envelope;
    ki_buf_init(&envelope, x->alloc, x->out.max);
    ki__out_fail(&out, ki_object_write_protobuf(object, &envelope, NULL));
    if (out.error == 0) {
        add_with_unknown(&out, ki_buf_str(&envelope));
    }
    ki_buf_done(&envelope);
    return ki__out_commit(&out);
}

int ki__api_proto_object(ki__api_exchange *x, const ki_object *object)
{
    return write_object(x, object, &x->out);
}

/* ---- lists ---- */

static int write_metadata(const ki__api_exchange *x, ki_buf *buf)
{
    char room[KI__DIGITS_SIZE];
    ki__out out = ki__out_to(buf);
    add_field(&out, TAG_1, ki_str_make(NULL, 0)); /* selfLink */
    add_field(&out, TAG_2, ki__digits(x->rv, room));
    add_field(&out, TAG_3, ki_buf_str(&x->token));
    if (x->send_remaining) {
        add_head(&out, TAG_4_NUMBER, x->remaining);
    }
    if (x->shard.count != 0) {
        ki_str selector = ki_str_from(x->route.shard);
        size_t head = selector.len < 1 << 7 ? 2 : selector.len < 1 << 14 ? 3 : 4;
        add_head(&out, TAG_5, head + selector.len);
        add_field(&out, TAG_1, selector);
    }
    return out.error;
}

static int write_type(const ki__api_exchange *x, ki_buf *buf)
{
    const ki_resource *resource = x->type->resource;
    ki_str kind = ki_str_from(ki_resource_kind(resource));
    ki__out out = ki__out_to(buf);
    add_field(&out, TAG_1, ki_str_from(ki_resource_api_version(resource)));
    add_head(&out, TAG_2, kind.len + 4);
    ki__out_str(&out, kind);
    ki__out_text(&out, "List");
    return out.error;
}

/* Total encoded size of all items. */
static int measure(const ki__api_exchange *x, uint64_t *ret_len)
{
    ki_buf scratch;
    uint64_t len = 0;
    int r = 0;
    ki_buf_init(&scratch, x->alloc, x->out.max);
    for (size_t i = 0; i < x->item_count && r == 0; i++) {
        ki_buf_clear(&scratch);
        r = write_object(x, x->items[i], &scratch);
        if (r == 0) {
            size_t item = message_of(ki_buf_str(&scratch)).len;
            len += 1 + varint_len(item) + item;
        }
    }
    ki_buf_done(&scratch);
    *ret_len = len;
    return r;
}

static int write_begin(ki__api_exchange *x, ki_buf *metadata, ki_buf *type)
{
    uint64_t items = 0;
    int r = write_metadata(x, metadata);
    r = r < 0 ? r : write_type(x, type);
    r = r < 0 ? r : measure(x, &items);
    ki__out out = ki__out_to(&x->out);
    ki__out_fail(&out, r);
    ki__out_str(&out, ki_str_make("k8s\0", 4));
    add_field(&out, TAG_1, ki_buf_str(type));
    add_head(&out, TAG_2, 1 + varint_len(metadata->len) + metadata->len + items);
    add_field(&out, TAG_1, ki_buf_str(metadata));
    return ki__out_commit(&out);
}

int ki__api_proto_list_begin(ki__api_exchange *x)
{
    ki_buf metadata;
    ki_buf type;
    ki_buf_init(&metadata, x->alloc, x->out.max);
    ki_buf_init(&type, x->alloc, x->out.max);
    int r = write_begin(x, &metadata, &type);
    ki_buf_done(&metadata);
    ki_buf_done(&type);
    return r;
}

int ki__api_proto_list_item(ki__api_exchange *x)
{
    ki_buf scratch;
    ki_buf_init(&scratch, x->alloc, x->out.max);
    ki__out out = ki__out_to(&x->out);
    ki__out_fail(&out, write_object(x, x->items[x->item_next], &scratch));
    if (out.error == 0) {
        add_field(&out, TAG_2, message_of(ki_buf_str(&scratch)));
    }
    ki_buf_done(&scratch);
    return ki__out_commit(&out);
}

int ki__api_proto_list_end(ki__api_exchange *x)
{
    const char end[] = {TAG_3, 0, TAG_4, 0}; /* contentEncoding and contentType, both empty */
    return ki_buf_add(&x->out, end, sizeof(end));
}

/* ---- events ---- */

int ki__api_proto_event(ki__api_exchange *x, ki_watch_event_type type, const ki_object *object)
{
    ki_buf envelope;
    ki_str name = ki_str_from(ki_watch_event_type_name(type));
    ki_buf_init(&envelope, x->alloc, x->out.max);
    ki__out out = ki__out_to(&x->out);
    ki__out_fail(&out, write_object(x, object, &envelope));
    uint64_t inner = 1 + varint_len(envelope.len) + envelope.len;
    uint64_t len = 2 + name.len + 1 + varint_len(inner) + inner;
    const char frame[] = {(char)(len >> 24), (char)(len >> 16), (char)(len >> 8), (char)len};
    ki__out_str(&out, ki_str_make(frame, sizeof(frame)));
    add_field(&out, TAG_1, name);
    add_head(&out, TAG_2, inner);
    add_field(&out, TAG_1, ki_buf_str(&envelope));
    ki_buf_done(&envelope);
    return ki__out_commit(&out);
}

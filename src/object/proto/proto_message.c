/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as maps. Members are in wire order, those of inlined messages in place, followed by
 * absent fields that JSON includes nevertheless. Each has a slot, and an iterator keeps a bit mask
 * of slots; messages are inlined at most two levels deep. */
#include <kinformer/error.h>

#include "object/object.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"

enum { LEVELS = KI__SCHEMA_INLINE_DEPTH_MAX };
enum { PHASE_KIND, PHASE_API_VERSION, PHASE_WIRE, PHASE_ABSENT };

const ki__schema_message *ki__proto_message_of(const ki_value *map)
{
    static const ki__schema_message nothing = {0};
    if (ki__proto_shape_of(map) == KI__PROTO_MESSAGE) {
        return map->schema;
    }
    const ki_object *object = map->schema;
    return object->body.message != KI__PROTO_UNKNOWN ? &ki__schema_messages[object->body.message]
                                                     : &nothing;
}

static ki_value text_of(ki_str text)
{
    return ki__proto_make(KI__PROTO_TEXT, text, NULL);
}

/* ---- members by name ---- */

static const ki__schema_field *own_field(const ki__schema_message *message, ki_str name)
{
    const ki__schema_field *fields = ki__proto_fields(message);
    for (size_t i = 0; i < message->field_count; i++) {
        const char *text = ki__schema_names + fields[i].name;
        if ((unsigned char)text[0] == name.len && memcmp(text + 1, name.ptr, name.len) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

/* The next inlined field of a message at or after index *i. */
static const ki__schema_field *next_inline(const ki__schema_message *message, size_t *i)
{
    const ki__schema_field *fields = ki__proto_fields(message);
    while (*i < message->field_count) {
        const ki__schema_field *field = &fields[(*i)++];
        if ((field->flags & KI__SCHEMA_INLINE) != 0) {
            return field;
        }
    }
    return NULL;
}

/* Finds the fields that lead to a member: inlined ones, then its own. Returns their number; 0 if
 * the member is unknown. */
static size_t find_way(const ki__schema_message *message, ki_str name,
                       const ki__schema_field *way[static LEVELS + 1])
{
    way[0] = own_field(message, name);
    if (way[0] != NULL) {
        return 1;
    }
    /* Most messages inline nothing: they have as many slots as fields. */
    for (size_t i = 0; message->slot_count != message->field_count &&
                       (way[0] = next_inline(message, &i)) != NULL;) {
        const ki__schema_message *inner = ki__proto_message(way[0]);
        way[1] = own_field(inner, name);
        if (way[1] != NULL) {
            return 2;
        }
        for (size_t j = 0; (way[1] = next_inline(inner, &j)) != NULL;) {
            way[2] = own_field(ki__proto_message(way[1]), name);
            if (way[2] != NULL) {
                return 3;
            }
        }
    }
    return 0;
}

/* Whether a message, or one inlined in it, has a field unknown to the tables. */
static bool has_unknown(const ki__schema_message *message, ki_str bytes)
{
    struct {
        const ki__schema_message *message;
        const char *end;
    } open[LEVELS + 1] = {{message, bytes.ptr + bytes.len}};
    size_t level = 0;
    for (const char *p = bytes.ptr;;) {
        while (p == open[level].end) {
            if (level-- == 0) {
                return false;
            }
        }
        ki__proto_item item = ki__proto_item_at(p);
        const ki__schema_field *field =
            ki__schema_field_by_number(open[level].message, item.number);
        if (field == NULL) {
            return true;
        }
        p = item.after;
        if ((field->flags & KI__SCHEMA_INLINE) != 0) {
            level++;
            open[level].message = ki__proto_message(field);
            open[level].end = item.after;
            p = item.payload.ptr;
        }
    }
}

static int find_type_member(const ki_value *root, ki_str name, ki_value *ret_member)
{
    const char *text = "";
    if (ki_str_eq(name, ki__schema_name(KI__SCHEMA_NAME_KIND))) {
        text = ki_object_kind(root->schema);
    } else if (ki_str_eq(name, ki__schema_name(KI__SCHEMA_NAME_API_VERSION))) {
        text = ki_object_api_version(root->schema);
    }
    if (*text == '\0') {
        return KI_ERR_NOT_FOUND;
    }
    *ret_member = text_of(ki_str_from(text));
    return 0;
}

int ki__proto_message_read(ki_str bytes, const ki__schema_field *const *way, size_t count,
                           ki_value *ret_member)
{
    ki__proto_item item;
    for (size_t i = 0; i + 1 < count; i++) {
        if (ki__proto_find(bytes, way[i]->number, &item) != NULL) {
            bytes = item.payload;
        } else if ((way[i]->flags & KI__SCHEMA_POINTER) != 0) {
            return KI_ERR_NOT_FOUND;
        } else {
            bytes = ki_str_make(bytes.ptr + bytes.len, 0);
        }
    }
    const ki__schema_field *field = way[count - 1];
    const char *end = bytes.ptr + bytes.len;
    const char *tag = ki__proto_find(bytes, field->number, &item);
    if (tag == NULL) {
        return ki__proto_absent(field, end, ret_member) ? 0 : KI_ERR_NOT_FOUND;
    }
    if ((field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0) {
        *ret_member = ki__proto_run(field, tag, end);
        return 0;
    }
    if (!ki__proto_is_shown(field, item.payload)) {
        return KI_ERR_NOT_FOUND;
    }
    *ret_member = ki__proto_value_of(field, item.payload);
    return 0;
}

int ki__proto_message_member(const ki_value *map, ki_str name, ki_value *ret_member)
{
    ki_str bytes = ki__proto_bytes_of(map);
    const ki__schema_message *message = ki__proto_message_of(map);
    const ki__schema_field *way[LEVELS + 1];
    size_t count = name.len != 0 ? find_way(message, name, way) : 0;
    if (count == 0) {
        if (ki__proto_shape_of(map) == KI__PROTO_ROOT &&
            find_type_member(map, name, ret_member) == 0) {
            return 0;
        }
        return has_unknown(message, bytes) ? KI_ERR_NO_SCHEMA : KI_ERR_NOT_FOUND;
    }
    return ki__proto_message_read(bytes, way, count, ret_member);
}

/* ---- iterators ---- */

/* In an iterator, detail[0] is the mask of slots seen, and detail[1] holds the ends of the open
 * inlined messages, as offsets in the container. */

typedef struct place {
    const ki__schema_message *message;
    const char *end;
    unsigned slot; /* slot of its first field */
} place;

static uint32_t end_offset(const ki_value_iter *iter, unsigned level)
{
    return (uint32_t)(iter->detail[1] >> (32 * level));
}

static place place_of(const ki_value_iter *iter, const ki__proto_detail *detail)
{
    const char *start = iter->container.bytes;
    place at = {ki__proto_message_of(&iter->container), start + iter->container.len, 0};
    for (unsigned i = 0; i < detail->level; i++) {
        const ki__schema_field *field = ki__proto_fields(at.message) + detail->inline_at[i];
        at.message = ki__proto_message(field);
        at.end = start + end_offset(iter, i);
        at.slot += field->slot;
    }
    return at;
}

static void enter(ki_value_iter *iter, ki__proto_detail *detail, size_t index, const char *end)
{
    uint64_t offset = (uint64_t)(end - (const char *)iter->container.bytes);
    unsigned shift = 32 * detail->level;
    iter->detail[1] &= ~(UINT64_C(0xffffffff) << shift);
    iter->detail[1] |= offset << shift;
    detail->inline_at[detail->level++] = (uint8_t)index;
}

/* Position after a list or map; `p` is after its first element. */
static const char *run_end(uint32_t number, const char *p, const char *end)
{
    while (p != end) {
        ki__proto_item item = ki__proto_item_at(p);
        if (item.number != number) {
            break;
        }
        p = item.after;
    }
    return p;
}

/* The next field on the wire that JSON includes; NULL after the last. */
static const ki__schema_field *next_on_wire(ki_value_iter *iter, ki__proto_detail *detail,
                                            ki_value *ret_value)
{
    const char *p = iter->next;
    place at = place_of(iter, detail);
    for (;;) {
        while (p == at.end) {
            if (detail->level == 0) {
                iter->next = p;
                return NULL;
            }
            detail->level--;
            at = place_of(iter, detail);
        }
        const char *tag = p;
        ki__proto_item item = ki__proto_item_at(p);
        const ki__schema_field *field = ki__schema_field_by_number(at.message, item.number);
        p = item.after;
        if (field == NULL) {
            continue;
        }
        size_t index = (size_t)(field - ki__proto_fields(at.message));
        iter->detail[0] |= UINT64_C(1) << (at.slot + index);
        if ((field->flags & KI__SCHEMA_INLINE) != 0) {
            enter(iter, detail, index, item.after);
            at = place_of(iter, detail);
            p = item.payload.ptr;
        } else if ((field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0) {
            *ret_value = ki__proto_run(field, tag, at.end);
            iter->next = run_end(item.number, p, at.end);
            return field;
        } else if (ki__proto_is_shown(field, item.payload)) {
            *ret_value = ki__proto_value_of(field, item.payload);
            iter->next = p;
            return field;
        }
    }
}

/* The field of a slot; NULL if it belongs to an inlined message that is nil in Go. */
static const ki__schema_field *field_of_slot(const ki__schema_message *message, unsigned slot,
                                             uint64_t seen)
{
    unsigned base = 0;
    for (;;) {
        const ki__schema_field *fields = ki__proto_fields(message);
        if (slot - base < message->field_count) {
            return &fields[slot - base];
        }
        const ki__schema_field *holder = NULL;
        for (size_t i = 0; (holder = next_inline(message, &i)) != NULL;) {
            unsigned first = base + holder->slot;
            if (slot >= first && slot - first < ki__proto_message(holder)->slot_count) {
                break;
            }
        }
        if (holder == NULL || ((holder->flags & KI__SCHEMA_POINTER) != 0 &&
                               (seen >> (base + (size_t)(holder - fields)) & 1) == 0)) {
            return NULL;
        }
        base += holder->slot;
        message = ki__proto_message(holder);
    }
}

/* The next absent field that JSON includes; NULL after the last. */
static const ki__schema_field *next_absent(const ki_value_iter *iter, ki__proto_detail *detail,
                                           ki_value *ret_value)
{
    const ki__schema_message *message = ki__proto_message_of(&iter->container);
    uint64_t seen = iter->detail[0];
    while (detail->slot < message->slot_count) {
        unsigned slot = detail->slot++;
        const ki__schema_field *field =
            (seen >> slot & 1) == 0 ? field_of_slot(message, slot, seen) : NULL;
        if (field != NULL && (field->flags & KI__SCHEMA_INLINE) == 0 &&
            ki__proto_absent(field, iter->next, ret_value)) {
            return field;
        }
    }
    return NULL;
}

void ki__proto_message_iter_init(ki_value_iter *iter)
{
    ki__proto_detail detail = ki__proto_detail_of(&iter->container);
    detail.phase = detail.shape == KI__PROTO_ROOT ? PHASE_KIND : PHASE_WIRE;
    memcpy(&iter->container.detail, &detail, sizeof(detail));
}

/* The name of the next member, as an offset in ki__schema_names; 0 after the last. */
static uint16_t next_member(ki_value_iter *iter, ki__proto_detail *detail, ki_value *ret_value)
{
    const ki__schema_field *field = NULL;
    switch (detail->phase) {
    case PHASE_KIND:
        detail->phase = PHASE_API_VERSION;
        *ret_value = text_of(ki_str_from(ki_object_kind(iter->container.schema)));
        if (ret_value->len != 0) {
            return KI__SCHEMA_NAME_KIND;
        }
        /* fall through */
    case PHASE_API_VERSION:
        detail->phase = PHASE_WIRE;
        *ret_value = text_of(ki_str_from(ki_object_api_version(iter->container.schema)));
        if (ret_value->len != 0) {
            return KI__SCHEMA_NAME_API_VERSION;
        }
        /* fall through */
    case PHASE_WIRE:
        field = next_on_wire(iter, detail, ret_value);
        if (field != NULL) {
            return field->name;
        }
        detail->phase = PHASE_ABSENT;
        /* fall through */
    default:
        field = next_absent(iter, detail, ret_value);
        return field != NULL ? field->name : 0;
    }
}

int ki__proto_message_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value)
{
    ki__proto_detail detail = ki__proto_detail_of(&iter->container);
    ki_value value;
    uint16_t name = next_member(iter, &detail, &value);
    memcpy(&iter->container.detail, &detail, sizeof(detail));
    if (name == 0) {
        return 0;
    }
    if (ret_key != NULL) {
        *ret_key = text_of(ki__schema_name(name));
    }
    *ret_value = value;
    return 1;
}

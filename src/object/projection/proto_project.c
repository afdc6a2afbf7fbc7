/* SPDX-License-Identifier: Apache-2.0 */
/* Projects a protobuf message: fields that are not kept are skipped by their length, fields that
 * are kept are copied, and messages of which a part is kept are entered. A frame is an entered
 * message; the depth of the projection bounds them. The length of an entered message is written
 * when it ends: at first it has the space of the original length, and the message is moved if it
 * needs less. So the output is never longer than the input.
 *
 * A map from which all entries were dropped is not the same as an absent map, and likewise for
 * lists: one entry without content remains, which readers do not show, as its name is not kept. */
#include "object/projection/proto_project.h"

#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"

enum {
    /* A step of a path enters at most a list element or a map entry, a message of the kind "or
     * bool" in it, and two messages that are inlined. If there were more, they would be kept. */
    FRAMES_MAX = 4 * (KI__KEEP_DEPTH_MAX + 1),
    EMBEDDED_DEPTH = 128,
};

typedef enum mode {
    MODE_MESSAGE,
    MODE_ENTRY,   /* of a map: {key 1, value 2}; `field` is the map */
    MODE_OR_BOOL, /* see ki__schema_type */
    MODE_OR_LIST,
    MODE_RAW, /* {raw 1}: JSON text */
} mode;

typedef struct frame {
    const char *end; /* in the input */
    const ki__keep_node *node;
    const ki__schema_message *message; /* MODE_MESSAGE, MODE_OR_BOOL, MODE_OR_LIST */
    const ki__schema_field *field;     /* MODE_ENTRY */
    char *len_at;                      /* where its length is written */
    const char *dropped; /* first entry of the current list or map, while none is kept */
    const char *dropped_end;
    uint32_t run;  /* its number; 0: none */
    uint32_t kept; /* number of the last field of which something was kept */
    uint8_t len_size;
    uint8_t mode;
} frame;

typedef struct item {
    const char *start;  /* of the tag */
    const char *len_at; /* after the tag */
    const char *payload;
    const char *after;
    uint32_t number;
    uint32_t wire;
} item;

typedef struct project {
    char *out;
    frame *top;
    frame frames[FRAMES_MAX];
} project;

/* ---- reading ---- */

static bool read_item(const char *p, const char *end, item *ret_item)
{
    uint64_t tag;
    uint64_t len = 0;
    ret_item->start = p;
    p = ki__proto_varint_in(p, end, KI__TAG_MAX, &tag);
    if (p == NULL || tag > UINT32_MAX || tag >> KI__WIRE_BITS == 0) {
        return false;
    }
    ret_item->number = (uint32_t)tag >> KI__WIRE_BITS;
    ret_item->wire = (uint32_t)tag & KI__WIRE_MASK;
    ret_item->len_at = p;
    switch (ret_item->wire) {
    case KI__WIRE_BYTES:
        p = ki__proto_varint_in(p, end, KI__VARINT_MAX, &len);
        break;
    case KI__WIRE_VARINT:
        ret_item->payload = p;
        p = ki__proto_varint_in(p, end, KI__VARINT_MAX, &tag);
        ret_item->after = p;
        return p != NULL;
    case KI__WIRE_FIXED64:
        len = 8;
        break;
    case KI__WIRE_FIXED32:
        len = 4;
        break;
    default:
        return false;
    }
    if (p == NULL || len > (uint64_t)(end - p)) {
        return false;
    }
    ret_item->payload = p;
    ret_item->after = p + len;
    return true;
}

/* ---- writing ---- */

static void put(project *w, const char *from, const char *to)
{
    memcpy(w->out, from, (size_t)(to - from));
    w->out += to - from;
}

/* Something is kept of a field, so that its list or map is not empty. */
static void note_kept(frame *f, const item *it)
{
    f->run = 0;
    f->kept = it->number;
}

static const char *copy(project *w, const item *it)
{
    note_kept(w->top, it);
    put(w, it->start, it->after);
    return it->after;
}

static size_t put_varint(char *to, uint64_t number)
{
    size_t len = 0;
    for (; number >= 0x80; number >>= 7) {
        to[len++] = (char)(unsigned char)(number | 0x80);
    }
    to[len++] = (char)(unsigned char)number;
    return len;
}

/* Writes the length of what is between the space for it and the end of the output. */
static void put_len(project *w, char *len_at, size_t len_size)
{
    char len[KI__VARINT_MAX];
    const char *content = len_at + len_size;
    size_t count = (size_t)(w->out - content);
    size_t size = put_varint(len, count);
    if (size != len_size) {
        memmove(len_at + size, content, count);
        w->out -= len_size - size;
    }
    memcpy(len_at, len, size);
}

static const char *enter(project *w, const item *it, mode how, const ki__keep_node *node,
                         const ki__schema_message *message, const ki__schema_field *field)
{
    if (w->top == w->frames + FRAMES_MAX - 1 || it->wire != KI__WIRE_BYTES) {
        return copy(w, it); /* a wire type that validation will reject */
    }
    note_kept(w->top, it);
    put(w, it->start, it->payload);
    frame *f = ++w->top;
    f->end = it->after;
    f->node = node;
    f->message = message;
    f->field = field;
    f->len_size = (uint8_t)(it->payload - it->len_at);
    f->len_at = w->out - f->len_size;
    f->run = 0;
    f->kept = 0;
    f->mode = (uint8_t)how;
    return it->payload;
}

/* ---- lists and maps from which everything is dropped ---- */

/* The key of a map entry; empty if it has none. */
static bool read_key(const item *entry, ki_str *ret_key)
{
    *ret_key = ki_str_make(entry->payload, 0);
    for (const char *p = entry->payload; p != entry->after;) {
        item it;
        if (!read_item(p, entry->after, &it)) {
            return false;
        }
        if (it.number == 1 && it.wire == KI__WIRE_BYTES) {
            *ret_key = ki_str_make(it.payload, (size_t)(it.after - it.payload));
        }
        p = it.after;
    }
    return true;
}

/* A dropped element of a list, or entry of a map. */
static const char *drop_element(frame *f, const item *it)
{
    if (f->run != it->number && f->kept != it->number) {
        f->run = it->number;
        f->dropped = it->start;
        f->dropped_end = it->after;
    }
    return it->after;
}

/* Writes the first dropped entry again: an empty one if nothing else is kept of the map, otherwise
 * its key, which readers know as one that is not kept. */
static void put_placeholder(project *w, const frame *f)
{
    item it;
    if (!read_item(f->dropped, f->dropped_end, &it)) {
        return;
    }
    const ki__schema_field *field = ki__schema_field_by_number(f->message, it.number);
    const ki__keep_node *node =
        f->mode == MODE_MESSAGE ? ki__keep_field(f->node, field->name) : f->node;
    put(w, it.start, it.payload);
    if (it.wire != KI__WIRE_BYTES) {
        put(w, it.payload, it.after);
        return;
    }
    char *len_at = w->out - (it.payload - it.len_at);
    if (node->rest != &ki__keep_none) {
        for (const char *p = it.payload; p != it.after;) {
            item part;
            if (!read_item(p, it.after, &part)) {
                return;
            }
            if (part.number == 1) {
                put(w, part.start, part.after);
            }
            p = part.after;
        }
    }
    put_len(w, len_at, (size_t)(it.payload - it.len_at));
}

static void end_run(project *w, frame *f)
{
    if (f->run != 0) {
        put_placeholder(w, f);
        f->run = 0;
    }
}

/* ---- fields ---- */

/* A field, element or value of which a part is kept. */
static const char *project_part(project *w, const item *it, const ki__schema_field *field,
                                const ki__keep_node *node)
{
    const ki__schema_message *message = ki__proto_message(field);
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_MESSAGE:
        return enter(w, it, MODE_MESSAGE, node, message, NULL);
    case KI__SCHEMA_OR_BOOL:
        return enter(w, it, MODE_OR_BOOL, node, message, NULL);
    case KI__SCHEMA_OR_LIST:
        return enter(w, it, MODE_OR_LIST, node, message, NULL);
    case KI__SCHEMA_RAW:
        return enter(w, it, MODE_RAW, node, NULL, NULL);
    default: /* no list or map in JSON, or a list of strings */
        return copy(w, it);
    }
}

static const ki__keep_node *member_of(const ki__keep_node *node, ki_str key)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (ki__proto_text_is(key, node->children[i].name)) {
            return node->children[i].node;
        }
    }
    return node->rest;
}

static const char *project_entry(project *w, const item *it, const ki__schema_field *field,
                                 const ki__keep_node *node)
{
    ki_str key;
    if (it->wire != KI__WIRE_BYTES) {
        return copy(w, it);
    }
    if (!read_key(it, &key)) {
        return NULL;
    }
    const ki__keep_node *value = member_of(node, key);
    if (value == &ki__keep_none) {
        return drop_element(w->top, it);
    }
    bool deep = field->type == KI__SCHEMA_MESSAGE || field->type == KI__SCHEMA_OR_BOOL ||
                field->type == KI__SCHEMA_OR_LIST || field->type == KI__SCHEMA_RAW;
    return value != NULL && deep ? enter(w, it, MODE_ENTRY, value, NULL, field) : copy(w, it);
}

/* A field; of a list or map, one element. `node` is that of the field. */
static const char *project_field(project *w, const item *it, const ki__schema_field *field,
                                 const ki__keep_node *node)
{
    if (node == NULL) {
        return copy(w, it);
    }
    if (node == &ki__keep_none) {
        return it->after;
    }
    if ((field->flags & KI__SCHEMA_MAP) != 0) {
        return project_entry(w, it, field, node);
    }
    if ((field->flags & KI__SCHEMA_REPEATED) == 0) {
        return project_part(w, it, field, node);
    }
    if (node->rest == &ki__keep_none) {
        return drop_element(w->top, it);
    }
    return node->rest == NULL ? copy(w, it) : project_part(w, it, field, node->rest);
}

/* Whether fields that are in no table are kept: their names are unknown, so they are if the rest
 * is, or if a name in the projection may be one of theirs. At the top, kind and apiVersion are no
 * fields. */
static bool keeps_unknown(const ki__keep_node *node, const ki__schema_message *message, bool top)
{
    bool keeps = node->rest != &ki__keep_none;
    for (uint32_t i = 0; !keeps && i < node->count; i++) {
        const ki__keep_child *child = &node->children[i];
        bool type = top && (child->schema_name == KI__SCHEMA_NAME_KIND ||
                            child->schema_name == KI__SCHEMA_NAME_API_VERSION);
        keeps = !type && child->node != &ki__keep_none &&
                ki__schema_field_by_name(message, child->name) == NULL;
    }
    return keeps;
}

static const char *project_raw(project *w, const item *it, const ki__keep_node *node)
{
    size_t len;
    size_t size = (size_t)(it->payload - it->len_at);
    ki_str text = ki_str_make(it->payload, (size_t)(it->after - it->payload));
    char *to = w->out + (it->payload - it->start);
    if (it->number != 1 || it->wire != KI__WIRE_BYTES || text.len == 0 ||
        ki__json_project(text, EMBEDDED_DEPTH, node, to, &len) < 0) {
        return copy(w, it);
    }
    put(w, it->start, it->payload);
    w->out += len;
    put_len(w, to - size, size);
    return it->after;
}

static const char *project_item(project *w, const item *it)
{
    const frame *f = w->top;
    const ki__schema_field *field;
    switch ((mode)f->mode) {
    case MODE_ENTRY:
        return it->number == 2 ? project_part(w, it, f->field, f->node) : copy(w, it);
    case MODE_RAW:
        return project_raw(w, it, f->node);
    case MODE_OR_BOOL:
    case MODE_OR_LIST:
        field = ki__schema_field_by_number(f->message, it->number);
        return field != NULL ? project_field(w, it, field, f->node) : copy(w, it);
    case MODE_MESSAGE:
        break;
    }
    field = ki__schema_field_by_number(f->message, it->number);
    if (field == NULL) {
        bool keeps = keeps_unknown(f->node, f->message, f == w->frames);
        return keeps ? copy(w, it) : it->after;
    }
    if ((field->flags & KI__SCHEMA_INLINE) != 0) {
        return enter(w, it, MODE_MESSAGE, f->node, ki__proto_message(field), NULL);
    }
    return project_field(w, it, field, ki__keep_field(f->node, field->name));
}

bool ki__proto_project(ki_str body, const ki__schema_message *message, const ki__keep_node *node,
                       char *out, size_t *ret_len)
{
    project w;
    w.out = out;
    w.top = w.frames;
    *w.top =
        (frame){.end = body.ptr + body.len, .node = node, .message = message, .mode = MODE_MESSAGE};
    for (const char *p = body.ptr;;) {
        frame *f = w.top;
        if (p == f->end) {
            end_run(&w, f);
            if (f == w.frames) {
                *ret_len = (size_t)(w.out - out);
                return true;
            }
            put_len(&w, f->len_at, f->len_size);
            w.top--;
            continue;
        }
        item it;
        if (!read_item(p, f->end, &it)) {
            return false;
        }
        if (f->run != it.number) {
            end_run(&w, f);
        }
        p = project_item(&w, &it);
        if (p == NULL) {
            return false;
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes JSON objects as protobuf, by the schema tables, byte for byte as Go encodes what it
 * decodes from the same JSON: fields sorted by number; those other than pointers, lists and maps
 * even if zero; maps sorted by key. A stack of frames replaces recursion. Invariant: the frames are
 * the path of the current value, and types are validated before a frame is pushed. */
#include <errno.h>

#include <kinformer/encoding.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/sort.h"
#include "object/json/json_skip.h"
#include "object/json/json_string.h"
#include "object/object.h"
#include "object/proto/proto_leaf.h"
#include "object/proto/proto_out.h"
#include "object/proto/schema.h"
#include "object/text/text_format.h"

enum { FRAMES_MAX = 1024, INLINE_MAX = 8 };

/* Offsets of values in the text. Only the object itself is at 0. */
static const uint32_t ABSENT = 0;
static const uint32_t TRUE = UINT32_MAX; /* not in the text: an implicit true */

static const uint32_t NO_MESSAGE = UINT32_MAX;

typedef enum frame_kind { FRAME_MESSAGE, FRAME_LIST, FRAME_MAP } frame_kind;

typedef struct frame {
    frame_kind kind;
    bool wrapper;                      /* a message whose fields have no names in JSON */
    bool entry_open;                   /* maps */
    uint32_t message_id;               /* message to close at the end; NO_MESSAGE: none */
    uint32_t entry_id;                 /* maps: the open entry */
    uint32_t next;                     /* field, element or entry */
    uint32_t first;                    /* slot or entry */
    uint32_t taken;                    /* slots or entries to release */
    const ki__schema_message *message; /* messages */
    const ki__schema_field *field;     /* lists and maps */
    ki_value_iter iter;                /* lists */
} frame;

typedef struct entry {
    ki_str key; /* raw */
    uint32_t at;
} entry;

typedef struct writer {
    ki__proto_out out;
    const ki_alloc *alloc;
    ki_str text;
    ki_error *error;
    frame *frames;
    size_t frame_count;
    size_t frame_cap;
    uint32_t *slots; /* of all open messages: offset of each known member */
    size_t slot_count;
    size_t slot_cap;
    entry *entries; /* of all open maps */
    size_t entry_count;
    size_t entry_cap;
} writer;

/* ---- errors ---- */

static void add_step(ki_error *error, const writer *w, const frame *f)
{
    if (f->next == 0) {
        return;
    }
    if (f->kind == FRAME_MESSAGE) {
        const ki__schema_field *field = &ki__schema_fields[f->message->first_field + f->next - 1];
        if (!f->wrapper && (field->flags & KI__SCHEMA_INLINE) == 0) {
            ki__error_add(error, ki_str_from("."));
            ki__error_add(error, ki__schema_name(field->name));
        }
        return;
    }
    char number[KI__INT64_TEXT_MAX];
    ki_str step = f->kind == FRAME_LIST
                      ? ki_str_make(number, ki__format_int64((int64_t)f->next - 1, number))
                      : w->entries[f->first + f->next - 1].key;
    ki__error_add(error, ki_str_from("["));
    ki__error_add(error, step);
    ki__error_add(error, ki_str_from("]"));
}

/* Fails with what is expected at the path of the frames. */
static int fail_needed(const writer *w, uint32_t at, const char *needed)
{
    int r = ki__error_at(w->error, KI_ERR_INVALID, w->text, at, "%s is needed at ", needed);
    for (size_t i = 0; i < w->frame_count; i++) {
        add_step(w->error, w, &w->frames[i]);
    }
    return r;
}

static int check(const writer *w, int r)
{
    return r < 0 ? ki__error_code(w->error, r) : 0;
}

/* ---- values ---- */

static ki_value value_at(const writer *w, uint32_t at)
{
    return ki__json_value_at(w->text.ptr + at, w->text.ptr + w->text.len);
}

static uint32_t place_of(const writer *w, const ki_value *value)
{
    return (uint32_t)((const char *)value->bytes - w->text.ptr);
}

static ki_type type_at(const writer *w, uint32_t at)
{
    return ki__json_type_at(w->text.ptr + at);
}

/* null means absent, as in Go. */
static bool is_none(const writer *w, uint32_t at)
{
    return at == ABSENT || (at != TRUE && type_at(w, at) == KI_TYPE_NULL);
}

/* The raw member name between its quotes. */
static ki_str raw_key(const ki_value *key)
{
    const char *raw = (const char *)key->bytes + 1;
    return ki_str_make(raw, (size_t)(ki__json_string_end(raw) - raw));
}

/* ---- frames ---- */

static frame *top(const writer *w)
{
    return &w->frames[w->frame_count - 1];
}

static int push(writer *w, frame f)
{
    if (w->frame_count == FRAMES_MAX) {
        return ki__error_set(w->error, KI_ERR_DEPTH, "messages are nested too deeply");
    }
    void *frames = w->frames;
    int r = ki__array_reserve(w->alloc, &frames, &w->frame_cap, w->frame_count + 1,
                              sizeof(w->frames[0]));
    w->frames = frames;
    if (r < 0) {
        return check(w, r);
    }
    w->frames[w->frame_count++] = f;
    return 0;
}

static int pop(writer *w)
{
    const frame *f = top(w);
    if (f->message_id != NO_MESSAGE) {
        ki__proto_out_close(&w->out, f->message_id);
    }
    if (f->kind == FRAME_MESSAGE) {
        w->slot_count -= f->taken;
    } else {
        w->entry_count -= f->taken;
    }
    w->frame_count--;
    return 0;
}

/* ---- messages ---- */

/* Reserves slots for a message and those inlined in it, all absent. */
static int take_slots(writer *w, uint32_t count)
{
    void *slots = w->slots;
    int r = ki__array_reserve(w->alloc, &slots, &w->slot_cap, w->slot_count + count,
                              sizeof(w->slots[0]));
    w->slots = slots;
    if (r < 0) {
        return check(w, r);
    }
    memset(w->slots + w->slot_count, 0, count * sizeof(w->slots[0]));
    w->slot_count += count;
    return 0;
}

/* The names of all members by slot; 0 if none. */
static void collect_names(const ki__schema_message *message, uint16_t names[KI__SCHEMA_SLOTS_MAX])
{
    struct {
        const ki__schema_message *message;
        uint32_t first;
    } todo[INLINE_MAX] = {{message, 0}};
    for (size_t i = 0, count = 1; i < count; i++) {
        const ki__schema_field *fields = &ki__schema_fields[todo[i].message->first_field];
        for (uint32_t n = 0; n < todo[i].message->field_count; n++) {
            names[todo[i].first + n] = fields[n].name;
            if ((fields[n].flags & KI__SCHEMA_INLINE) != 0) {
                ki_assert(count < INLINE_MAX);
                todo[count].message = &ki__schema_messages[fields[n].message];
                todo[count++].first = todo[i].first + fields[n].slot;
            }
        }
    }
}

/* The slot of a member, or `count`. Members mostly come in table order, so the search starts after
 * the previous match. */
static uint32_t find_slot(const uint16_t *names, uint32_t count, uint32_t from, ki_str key)
{
    bool encoded = ki__json_raw_is_encoded(key);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = from + i < count ? from + i : from + i - count;
        ki_str name = ki__schema_name(names[slot]);
        if (names[slot] != 0 && (encoded ? ki__json_raw_equals(key, name) : ki_str_eq(key, name))) {
            return slot;
        }
    }
    return count;
}

/* Locates all members of a map at once. Unknown members are dropped, as in a Go server; of
 * duplicates the first counts. */
static void fill_slots(const writer *w, const ki__schema_message *message, uint32_t *slots,
                       const ki_value *map)
{
    uint16_t names[KI__SCHEMA_SLOTS_MAX];
    collect_names(message, names);
    ki_value key;
    ki_value value;
    ki_value_iter iter;
    uint32_t from = 0;
    int r = ki_value_iter_begin(map, &iter);
    ki_assert(r == 0);
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        uint32_t slot = find_slot(names, message->slot_count, from, raw_key(&key));
        if (slot != message->slot_count && slots[slot] == ABSENT) {
            slots[slot] = place_of(w, &value);
            from = slot + 1;
        }
    }
}

/* Opens a message as field `number`, with the members of `map`, or none if NULL. */
static int open_members(writer *w, uint32_t number, const ki__schema_message *message,
                        const ki_value *map)
{
    frame f = {.kind = FRAME_MESSAGE, .message = message, .taken = message->slot_count};
    f.first = (uint32_t)w->slot_count;
    int r = take_slots(w, message->slot_count);
    if (r < 0) {
        return r;
    }
    if (map != NULL) {
        fill_slots(w, message, w->slots + f.first, map);
    }
    r = check(w, ki__proto_out_open(&w->out, number, &f.message_id));
    return r < 0 ? r : push(w, f);
}

static int open_message(writer *w, uint32_t number, const ki__schema_message *message, uint32_t at)
{
    if (is_none(w, at)) {
        return open_members(w, number, message, NULL);
    }
    if (type_at(w, at) != KI_TYPE_MAP) {
        return fail_needed(w, at, "a map");
    }
    ki_value map = value_at(w, at);
    return open_members(w, number, message, &map);
}

/* The members are among the slots of the enclosing message. */
static int open_inline(writer *w, const ki__schema_field *field, uint32_t first)
{
    frame f = {.kind = FRAME_MESSAGE, .first = first + field->slot};
    f.message = &ki__schema_messages[field->message];
    int r = check(w, ki__proto_out_open(&w->out, field->number, &f.message_id));
    return r < 0 ? r : push(w, f);
}

/* A message with two fields of which JSON has only one, determined by the type of its value. */
static int open_wrapper(writer *w, const ki__schema_field *field, uint32_t number, uint32_t at)
{
    frame f = {.kind = FRAME_MESSAGE, .wrapper = true};
    f.message = &ki__schema_messages[field->message];
    f.taken = f.message->slot_count;
    f.first = (uint32_t)w->slot_count;
    uint32_t values[2] = {ABSENT, ABSENT};
    ki_type type = is_none(w, at) ? KI_TYPE_NULL : type_at(w, at);
    if (field->type == KI__SCHEMA_OR_BOOL) {
        if (type != KI_TYPE_MAP && type != KI_TYPE_BOOL && type != KI_TYPE_NULL) {
            return fail_needed(w, at, "a map, true or false");
        }
        values[0] = type == KI_TYPE_MAP ? TRUE : at;
        values[1] = type == KI_TYPE_MAP ? at : ABSENT;
    } else {
        if (type != KI_TYPE_MAP && type != KI_TYPE_LIST && type != KI_TYPE_NULL) {
            return fail_needed(w, at, "a map or a list");
        }
        values[type == KI_TYPE_LIST ? 1 : 0] = at;
    }
    ki_assert(f.taken == 2);
    int r = take_slots(w, f.taken);
    if (r < 0) {
        return r;
    }
    memcpy(w->slots + f.first, values, sizeof(values));
    r = check(w, ki__proto_out_open(&w->out, number, &f.message_id));
    return r < 0 ? r : push(w, f);
}

/* ---- lists and maps ---- */

static int open_list(writer *w, const ki__schema_field *field, uint32_t message_id, uint32_t at)
{
    frame f = {.kind = FRAME_LIST, .field = field, .message_id = message_id};
    ki_value list = value_at(w, at);
    if (ki_value_type(&list) != KI_TYPE_LIST) {
        return fail_needed(w, at, "a list");
    }
    int r = ki_value_iter_begin(&list, &f.iter);
    ki_assert(r == 0);
    return push(w, f);
}

/* A message that wraps a list of strings. */
static int open_items(writer *w, uint32_t number, uint32_t at)
{
    static const ki__schema_field strings = {
        .number = 1,
        .type = KI__SCHEMA_STRING,
        .flags = KI__SCHEMA_REPEATED,
    };
    uint32_t message;
    int r = check(w, ki__proto_out_open(&w->out, number, &message));
    if (r < 0) {
        return r;
    }
    if (is_none(w, at)) {
        ki__proto_out_close(&w->out, message);
        return 0;
    }
    return open_list(w, &strings, message, at);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a;
    const entry *y = b;
    int order = ki__json_raw_compare(x->key, y->key);
    return order != 0 ? order : (x->at < y->at ? -1 : 1);
}

static int add_entry(writer *w, const ki_value *key, const ki_value *value)
{
    void *entries = w->entries;
    int r = ki__array_reserve(w->alloc, &entries, &w->entry_cap, w->entry_count + 1,
                              sizeof(w->entries[0]));
    w->entries = entries;
    if (r < 0) {
        return check(w, r);
    }
    w->entries[w->entry_count++] = (entry){.key = raw_key(key), .at = place_of(w, value)};
    return 0;
}

static int open_map(writer *w, const ki__schema_field *field, uint32_t at)
{
    frame f = {.kind = FRAME_MAP, .field = field, .message_id = NO_MESSAGE};
    ki_value map = value_at(w, at);
    ki_value key;
    ki_value value;
    ki_value_iter iter;
    if (ki_value_iter_begin(&map, &iter) < 0 || ki_value_type(&map) != KI_TYPE_MAP) {
        return fail_needed(w, at, "a map");
    }
    f.first = (uint32_t)w->entry_count;
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        int r = add_entry(w, &key, &value);
        if (r < 0) {
            return r;
        }
    }
    f.taken = (uint32_t)w->entry_count - f.first;
    ki__sort(w->entries + f.first, f.taken, sizeof(w->entries[0]), compare_entries);
    return push(w, f);
}

/* ---- steps ---- */

/* Writes one value: of a field, a list element or a map entry. */
static int write_value(writer *w, const ki__schema_field *field, uint32_t number, uint32_t at)
{
    ki__schema_type type = (ki__schema_type)field->type;
    if (type == KI__SCHEMA_MESSAGE) {
        return open_message(w, number, &ki__schema_messages[field->message], at);
    }
    if (type == KI__SCHEMA_ITEMS) {
        return open_items(w, number, at);
    }
    if (!ki__proto_is_leaf(type)) {
        return open_wrapper(w, field, number, at);
    }
    if (at == TRUE) {
        return check(w, ki__proto_out_varint(&w->out, number, 1));
    }
    const char *needed = "";
    ki_value value = {0};
    bool none = is_none(w, at);
    if (!none) {
        value = value_at(w, at);
    }
    int r = ki__proto_put_leaf(&w->out, number, type, none ? NULL : &value, &needed);
    return r == KI_ERR_INVALID ? fail_needed(w, at, needed) : check(w, r);
}

static int step_message(writer *w)
{
    frame *f = top(w);
    if (f->next == f->message->field_count) {
        return pop(w);
    }
    const ki__schema_field *field = &ki__schema_fields[f->message->first_field + f->next];
    uint32_t at = w->slots[f->first + f->next];
    f->next++;
    if ((field->flags & KI__SCHEMA_INLINE) != 0) {
        return open_inline(w, field, f->first);
    }
    bool none = is_none(w, at);
    if ((field->flags & KI__SCHEMA_REPEATED) != 0) {
        return none ? 0 : open_list(w, field, NO_MESSAGE, at);
    }
    if ((field->flags & KI__SCHEMA_MAP) != 0) {
        return none ? 0 : open_map(w, field, at);
    }
    /* May be nil in Go. */
    if (none && ((field->flags & KI__SCHEMA_POINTER) != 0 || field->type == KI__SCHEMA_BYTES ||
                 field->type == KI__SCHEMA_ITEMS)) {
        return 0;
    }
    return write_value(w, field, field->number, at);
}

static int step_list(writer *w)
{
    frame *f = top(w);
    ki_value value;
    if (ki_value_iter_next(&f->iter, NULL, &value) <= 0) {
        return pop(w);
    }
    f->next++;
    return write_value(w, f->field, f->field->number, place_of(w, &value));
}

static int put_key(writer *w, ki_str raw)
{
    char *room;
    size_t len = ki__json_decode(raw, NULL, 0);
    int r = ki__proto_out_head(&w->out, 1, len);
    if (r == 0) {
        r = ki_buf_reserve(w->out.buf, len, &room);
    }
    if (r == 0) {
        (void)ki__json_decode(raw, room, len);
        ki_buf_commit(w->out.buf, len);
    }
    return check(w, r);
}

static int step_map(writer *w)
{
    frame *f = top(w);
    if (f->entry_open) {
        ki__proto_out_close(&w->out, f->entry_id);
        f->entry_open = false;
    }
    if (f->next == f->taken) {
        return pop(w);
    }
    const entry *e = &w->entries[f->first + f->next];
    f->next++;
    if (f->next > 1 && ki__json_raw_same(e[-1].key, e->key)) {
        return 0; /* of duplicate keys the first counts */
    }
    int r = check(w, ki__proto_out_open(&w->out, f->field->number, &f->entry_id));
    if (r < 0) {
        return r;
    }
    f->entry_open = true;
    r = put_key(w, e->key);
    if (r < 0 || (f->field->type == KI__SCHEMA_BYTES && is_none(w, e->at))) {
        return r;
    }
    return write_value(w, f->field, 2, e->at);
}

static int step(writer *w)
{
    switch (top(w)->kind) {
    case FRAME_MESSAGE:
        return step_message(w);
    case FRAME_LIST:
        return step_list(w);
    case FRAME_MAP:
        break;
    }
    return step_map(w);
}

/* ---- object ---- */

static const char magic[] = {'k', '8', 's', '\0'};

/* {apiVersion 1, kind 2} as field 1 of the envelope. */
static int open_envelope(writer *w, const ki_object *object)
{
    uint32_t message;
    int r = ki_buf_add(w->out.buf, magic, sizeof(magic));
    if (r == 0) {
        r = ki__proto_out_open(&w->out, 1, &message);
    }
    if (r == 0) {
        r = ki__proto_out_bytes(&w->out, 1, ki_str_from(ki_object_api_version(object)));
    }
    if (r == 0) {
        r = ki__proto_out_bytes(&w->out, 2, ki_str_from(ki_object_kind(object)));
    }
    if (r == 0) {
        ki__proto_out_close(&w->out, message);
    }
    return check(w, r);
}

/* contentEncoding and contentType: both empty. */
static int close_envelope(writer *w)
{
    int r = ki__proto_out_bytes(&w->out, 3, ki_str_from(""));
    if (r == 0) {
        r = ki__proto_out_bytes(&w->out, 4, ki_str_from(""));
    }
    if (r == 0) {
        r = ki__proto_out_finish(&w->out);
    }
    return check(w, r);
}

static int write_json_object(writer *w, const ki_object *object)
{
    ki_str api_version = ki_str_from(ki_object_api_version(object));
    ki_str kind = ki_str_from(ki_object_kind(object));
    const ki__schema_message *message = ki__schema_of_kind(api_version, kind);
    if (message == NULL) {
        int r = ki__error_set(w->error, KI_ERR_NO_SCHEMA, "no schema for this kind: ");
        ki__error_add(w->error, api_version);
        ki__error_add(w->error, ki_str_from(" "));
        ki__error_add(w->error, kind);
        return r;
    }
    ki_value root = ki_object_root(object);
    int r = open_envelope(w, object);
    if (r == 0) {
        r = open_members(w, 2, message, &root);
    }
    while (r == 0 && w->frame_count != 0) {
        r = step(w);
    }
    return r < 0 ? r : close_envelope(w);
}

static int write_protobuf_object(writer *w, const ki_object *object)
{
    if (w->text.len >= sizeof(magic) && memcmp(w->text.ptr, magic, sizeof(magic)) == 0) {
        return check(w, ki_buf_add_str(w->out.buf, w->text));
    }
    int r = open_envelope(w, object);
    if (r == 0) {
        r = check(w, ki__proto_out_bytes(&w->out, 2, w->text));
    }
    return r < 0 ? r : close_envelope(w);
}

int ki_object_write_protobuf(const ki_object *object, ki_buf *out, ki_error *error)
{
    KI__REQUIRE(object, error);
    KI__REQUIRE(out, error);
    int r = ki__object_open(object, &object);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    writer w = {.alloc = out->alloc, .text = ki_object_bytes(object), .error = error};
    ki__proto_out_init(&w.out, out);
    r = ki_object_encoding(object) == KI_ENCODING_JSON ? write_json_object(&w, object)
                                                       : write_protobuf_object(&w, object);
    if (r < 0) {
        ki__proto_out_undo(&w.out);
    }
    ki__proto_out_done(&w.out);
    ki__free(w.alloc, w.frames);
    ki__free(w.alloc, w.slots);
    ki__free(w.alloc, w.entries);
    return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Validation in one pass over all fields, with a stack frame per open message. The small messages
 * for times, quantities and map entries nearly always have the same form, which is recognized
 * without a frame.
 *
 * There are two parsers. check_field() implements every rule and error. check_plain() is a fast
 * path for what servers nearly always send, and falls back to check_field() for everything else. */
#include "object/proto/proto_check.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/proto/proto_wire.h"

enum {
    FRAMES_INLINE = 24, /* deeper than typical objects */
    NO_FIELD = 0xff,
    UNORDERED = 0xff, /* as `least`: larger than any index */
};

typedef struct frame {
    const char *end;
    const ki__schema_field *fields; /* sorted by number */
    uint64_t seen;                  /* a bit per field index that occurred */
    uint16_t count;                 /* number of fields */
    uint16_t depth;                 /* nesting depth of the equivalent JSON */
    uint8_t least;                  /* while fields are in order: no smaller index follows */
    uint8_t last;                   /* once they are not: index of the previous field */
    const ki__schema_field *field;  /* field of this message; NULL for the root */
} frame;

typedef struct check {
    ki__proto_checked *checked;
    ki_error *error;
    int code; /* of the failure */
    frame *top;
    frame *frames;
    frame *last_frame; /* last one without reallocation */
    frame inline_frames[FRAMES_INLINE];
} check;

static const uint8_t wire_of_type[KI__SCHEMA_TYPE_MAX] = {
    [KI__SCHEMA_STRING] = KI__WIRE_BYTES,     [KI__SCHEMA_BYTES] = KI__WIRE_BYTES,
    [KI__SCHEMA_BOOL] = KI__WIRE_VARINT,      [KI__SCHEMA_INT32] = KI__WIRE_VARINT,
    [KI__SCHEMA_INT64] = KI__WIRE_VARINT,     [KI__SCHEMA_DOUBLE] = KI__WIRE_FIXED64,
    [KI__SCHEMA_MESSAGE] = KI__WIRE_BYTES,    [KI__SCHEMA_TIME] = KI__WIRE_BYTES,
    [KI__SCHEMA_MICRO_TIME] = KI__WIRE_BYTES, [KI__SCHEMA_DURATION] = KI__WIRE_BYTES,
    [KI__SCHEMA_QUANTITY] = KI__WIRE_BYTES,   [KI__SCHEMA_INT_OR_STRING] = KI__WIRE_BYTES,
    [KI__SCHEMA_RAW] = KI__WIRE_BYTES,        [KI__SCHEMA_ITEMS] = KI__WIRE_BYTES,
    [KI__SCHEMA_OR_BOOL] = KI__WIRE_BYTES,    [KI__SCHEMA_OR_LIST] = KI__WIRE_BYTES,
};

/* Fields of the messages that are not in the tables. */
static const ki__schema_field time_fields[] = {
    {.number = 1, .type = KI__SCHEMA_INT64},
    {.number = 2, .type = KI__SCHEMA_INT32},
};
static const ki__schema_field duration_fields[] = {{.number = 1, .type = KI__SCHEMA_INT64}};
static const ki__schema_field text_fields[] = {{.number = 1, .type = KI__SCHEMA_STRING}};
static const ki__schema_field items_fields[] = {
    {.number = 1, .type = KI__SCHEMA_STRING, .flags = KI__SCHEMA_REPEATED},
};
static const ki__schema_field int_or_string_fields[] = {
    {.number = 1, .type = KI__SCHEMA_INT64},
    {.number = 2, .type = KI__SCHEMA_INT32},
    {.number = 3, .type = KI__SCHEMA_STRING},
};

/* Map entries, by value type. */
#define ENTRY(t) [t] = {{.number = 1, .type = KI__SCHEMA_STRING}, {.number = 2, .type = (t)}}
static const ki__schema_field entry_fields[KI__SCHEMA_TYPE_MAX][2] = {
    ENTRY(KI__SCHEMA_STRING),   ENTRY(KI__SCHEMA_BYTES),    ENTRY(KI__SCHEMA_BOOL),
    ENTRY(KI__SCHEMA_INT32),    ENTRY(KI__SCHEMA_INT64),    ENTRY(KI__SCHEMA_DOUBLE),
    ENTRY(KI__SCHEMA_MESSAGE),  ENTRY(KI__SCHEMA_TIME),     ENTRY(KI__SCHEMA_MICRO_TIME),
    ENTRY(KI__SCHEMA_DURATION), ENTRY(KI__SCHEMA_QUANTITY), ENTRY(KI__SCHEMA_INT_OR_STRING),
    ENTRY(KI__SCHEMA_RAW),      ENTRY(KI__SCHEMA_ITEMS),    ENTRY(KI__SCHEMA_OR_BOOL),
    ENTRY(KI__SCHEMA_OR_LIST),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- errors ---- */

static void refuse(check *c, const char *p, int code, const ki__schema_field *field,
                   const char *what)
{
    uint16_t nearest = field != NULL ? field->name : 0;
    for (const frame *f = c->top; nearest == 0 && f->field != NULL; f--) {
        nearest = f->field->name;
    }
    ki_str name = ki__schema_name(nearest);
    c->code = code;
    (void)ki__error_set(c->error, code, "%.*s%s%s", KI_STR_ARG(name), name.len != 0 ? ": " : "",
                        what);
    if (c->error != NULL) {
        c->error->offset = (size_t)(p - c->checked->start);
    }
}

/* Rejects the bytes at `p`. Always returns NULL. */
static inline const char *fail(check *c, const char *p, int code, const ki__schema_field *field,
                               const char *what)
{
    refuse(c, p, code, field, what);
    return NULL;
}

static const char *fail_wire(check *c, const char *p, const ki__schema_field *field, uint32_t wire)
{
    if (wire == KI__WIRE_GROUP || wire == KI__WIRE_GROUP_END) {
        return fail(c, p, KI_ERR_SYNTAX, field, "groups are not supported");
    }
    if (wire > KI__WIRE_FIXED32) {
        return fail(c, p, KI_ERR_SYNTAX, field, "unknown wire type");
    }
    if (wire == KI__WIRE_BYTES && (field->flags & KI__SCHEMA_REPEATED) != 0) {
        return fail(c, p, KI_ERR_INVALID, field, "packed lists are not supported");
    }
    return fail(c, p, KI_ERR_INVALID, field, "wrong wire type for the field");
}

/* ---- numbers and lengths ---- */

static const char *fail_number(check *c, const char *p, const ki__schema_field *field)
{
    return fail(c, p, KI_ERR_SYNTAX, field,
                c->top->end - p < KI__VARINT_MAX ? "message truncated in a number"
                                                 : "varint longer than 10 bytes");
}

static const char *read_number(check *c, const char *p, const ki__schema_field *field)
{
    uint64_t number;
    const char *end = c->top->end;
    if (p != end && (unsigned char)*p < 0x80) {
        return p + 1;
    }
    const char *after = ki__proto_varint_in(p, end, KI__VARINT_MAX, &number);
    return after != NULL ? after : fail_number(c, p, field);
}

/* Reads a length, which must lie within the message; returns the position after it. */
static inline const char *read_len(check *c, const char *p, const ki__schema_field *field,
                                   size_t *ret_len)
{
    const char *end = c->top->end;
    uint64_t len;
    const char *after;
    if (p != end && (unsigned char)*p < 0x80) {
        len = (unsigned char)*p;
        after = p + 1;
    } else {
        after = ki__proto_varint_in(p, end, KI__VARINT_MAX, &len);
        if (after == NULL) {
            return fail_number(c, p, field);
        }
    }
    if (len > (uint64_t)(end - after)) {
        return fail(c, p, KI_ERR_SYNTAX, field, "length exceeds the message");
    }
    *ret_len = (size_t)len;
    return after;
}

static const char *read_fixed(check *c, const char *p, const ki__schema_field *field, size_t size)
{
    if ((size_t)(c->top->end - p) < size) {
        return fail(c, p, KI_ERR_SYNTAX, field, "message truncated in a number");
    }
    return p + size;
}

static const char *read_long_tag(check *c, const char *p, uint32_t *ret_tag)
{
    uint64_t tag;
    const char *end = c->top->end;
    const char *after = ki__proto_varint_in(p, end, KI__TAG_MAX, &tag);
    if (after == NULL) {
        return fail(c, p, KI_ERR_SYNTAX, NULL,
                    end - p < KI__TAG_MAX ? "message truncated in a tag"
                                          : "tag longer than 5 bytes");
    }
    if (tag > UINT32_MAX) {
        return fail(c, p, KI_ERR_SYNTAX, NULL, "a field number must be below 2^29");
    }
    *ret_tag = (uint32_t)tag;
    return after;
}

/* ---- fields ---- */

/* Index of field `number`, or NO_FIELD. Numbers ascend from 1, so a field is at index number - 1 if
 * there are no gaps, which is the usual case, or before. */
static inline size_t find_field(const ki__schema_field *fields, size_t count, size_t number)
{
    if (number - 1 < count && fields[number - 1].number == number) {
        return number - 1;
    }
    size_t i = number < count ? number : count;
    while (i != 0 && fields[i - 1].number > number) {
        i--;
    }
    return i != 0 && fields[i - 1].number == number ? i - 1 : NO_FIELD;
}

static inline bool is_run(const ki__schema_field *field)
{
    return (field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0;
}

/* Records a field that is in order. In a list or map the same field may follow again. */
static inline void mark(frame *f, size_t index, bool run)
{
    f->seen |= UINT64_C(1) << index;
    f->least = (uint8_t)(index + (run ? 0 : 1));
}

/* Records that the current list or map, if any, has ended. */
static void end_run(frame *f)
{
    if (f->least == UNORDERED) {
        f->last = NO_FIELD;
    } else if (f->least < f->count && (f->seen >> f->least & 1) != 0) {
        f->least++;
    }
}

/* Records a field, which must be new or continue a list or map. */
static const char *check_order(check *c, const char *p, const ki__schema_field *field)
{
    frame *f = c->top;
    size_t index = (size_t)(field - f->fields);
    if (index >= f->least && f->least != UNORDERED) {
        mark(f, index, is_run(field));
        return p;
    }
    bool next = f->least == UNORDERED && f->last == index;
    if ((f->seen >> index & 1) != 0 && !(next && is_run(field))) {
        return fail(c, p, KI_ERR_INVALID, field,
                    is_run(field) ? "elements of a list are not contiguous" : "duplicate field");
    }
    f->seen |= UINT64_C(1) << index;
    f->least = UNORDERED;
    f->last = (uint8_t)index;
    return p;
}

static const char *skip_unknown(check *c, const char *p, const char *after, uint32_t tag)
{
    size_t len;
    if (tag >> KI__WIRE_BITS == 0) {
        return fail(c, p, KI_ERR_SYNTAX, NULL, "a field number must not be 0");
    }
    c->checked->complete = false;
    end_run(c->top);
    switch (tag & KI__WIRE_MASK) {
    case KI__WIRE_VARINT:
        return read_number(c, after, NULL);
    case KI__WIRE_FIXED64:
        return read_fixed(c, after, NULL, 8);
    case KI__WIRE_FIXED32:
        return read_fixed(c, after, NULL, 4);
    case KI__WIRE_BYTES:
        after = read_len(c, after, NULL, &len);
        return after != NULL ? after + len : NULL;
    default:
        return fail_wire(c, p, NULL, tag & KI__WIRE_MASK);
    }
}

/* ---- messages ---- */

/* Pushes a frame; sets everything but its fields. */
static frame *push(check *c, const ki__schema_field *field, const char *end, uint32_t depth)
{
    size_t used = (size_t)(c->top - c->frames) + 1;
    if (c->top == c->last_frame) {
        bool moved = c->frames != c->inline_frames;
        frame *frames = ki__realloc_array(c->checked->alloc, moved ? c->frames : NULL, used * 2,
                                          sizeof(*frames));
        if (frames == NULL) {
            c->code = ki__error_code(c->error, -ENOMEM);
            return NULL;
        }
        if (!moved) {
            memcpy(frames, c->inline_frames, sizeof(c->inline_frames));
        }
        c->frames = frames;
        c->last_frame = frames + used * 2 - 1;
    }
    frame *f = c->frames + used;
    f->end = end;
    f->field = field;
    f->seen = 0;
    f->depth = (uint16_t)depth;
    f->least = 0;
    c->top = f;
    return f;
}

static const char *open_fields(check *c, const char *p, size_t len, const ki__schema_field *field,
                               const ki__schema_field *fields, size_t count, uint32_t depth)
{
    frame *f = push(c, field, p + len, depth);
    if (f == NULL) {
        return NULL;
    }
    f->fields = fields;
    f->count = (uint16_t)count;
    return p;
}

/* For a map entry, use the field of the map, which has the message type. */
static const char *open_message(check *c, const char *p, size_t len, const ki__schema_field *field,
                                uint32_t depth)
{
    if (c->top->fields == entry_fields[field->type]) {
        field = c->top->field;
    }
    const ki__schema_message *message = ki__proto_message(field);
    return open_fields(c, p, len, field, ki__proto_fields(message), message->field_count, depth);
}

/* JSON depth of the members of a message: one deeper than its field, two in a list, or the same if
 * inlined. Lists and maps of scalars do not count. */
static inline uint32_t depth_in(const frame *f, const ki__schema_field *field)
{
    unsigned flags = field->flags;
    return f->depth + 1U + (flags & KI__SCHEMA_REPEATED) - (flags & KI__SCHEMA_INLINE) / 4U;
}
_Static_assert(KI__SCHEMA_REPEATED == 1 && KI__SCHEMA_INLINE == 4, "they are counted as bits");

/* A message that is a map in JSON. */
static const char *open_map(check *c, const char *p, size_t len, const ki__schema_field *field)
{
    uint32_t depth = depth_in(c->top, field);
    if (depth > c->checked->max_depth) {
        return fail(c, p, KI_ERR_DEPTH, field, "nested too deeply");
    }
    return open_message(c, p, len, field, depth);
}

/* Whether a message consists only of field 1 with a string or bytes. */
static inline bool is_plain_text(const char *p, size_t len)
{
    if (len < 2 || *p != (1 << KI__WIRE_BITS | KI__WIRE_BYTES)) {
        return false;
    }
    if (len < 0x82) {
        return (unsigned char)p[1] == len - 2;
    }
    uint64_t inner;
    const char *after = ki__proto_varint_in(p + 1, p + len, KI__VARINT_MAX, &inner);
    return after != NULL && inner == (uint64_t)(p + len - after);
}

/* Whether a message is a present-day time in seconds with 0 nanoseconds. */
static inline bool is_plain_time(const char *p, size_t len)
{
    return len == 8 &&
           (ki__load_le64(p) & UINT64_C(0xffff8080808080ff)) == UINT64_C(0x0010008080808008);
}

/* Whether an entry is a key and a value, with a one-byte length for the key and up to two bytes for
 * the value. The value is a string, or a message with only a string. */
static inline bool is_plain_entry(const char *p, size_t len, ki__schema_type type)
{
    if (len < 4 || *p != (1 << KI__WIRE_BITS | KI__WIRE_BYTES)) {
        return false;
    }
    size_t at = 2 + (size_t)(unsigned char)p[1];
    if (at > 0x81 || at + 2 > len || p[at] != (2 << KI__WIRE_BITS | KI__WIRE_BYTES)) {
        return false;
    }
    size_t value = (unsigned char)p[++at];
    at++;
    if (value >= 0x80) {
        if (at == len || (unsigned char)p[at] >= 0x80) {
            return false;
        }
        value = (value & 0x7f) | (size_t)(unsigned char)p[at++] << 7;
    }
    if (value != len - at) {
        return false;
    }
    return type <= KI__SCHEMA_BYTES ||
           (type == KI__SCHEMA_QUANTITY && is_plain_text(p + at, value));
}

/* The payload of a message field: returns where to continue, inside or after it. */
static const char *check_special(check *c, const char *p, size_t len, const ki__schema_field *field)
{
    uint32_t depth = c->top->depth;
    switch ((ki__schema_type)field->type) {
    case KI__SCHEMA_TIME:
    case KI__SCHEMA_MICRO_TIME:
        return is_plain_time(p, len)
                   ? p + len
                   : open_fields(c, p, len, field, time_fields, COUNT(time_fields), depth);
    case KI__SCHEMA_DURATION:
        return open_fields(c, p, len, field, duration_fields, COUNT(duration_fields), depth);
    case KI__SCHEMA_QUANTITY:
    case KI__SCHEMA_RAW:
        return is_plain_text(p, len)
                   ? p + len
                   : open_fields(c, p, len, field, text_fields, COUNT(text_fields), depth);
    case KI__SCHEMA_INT_OR_STRING:
        return open_fields(c, p, len, field, int_or_string_fields, COUNT(int_or_string_fields),
                           depth);
    case KI__SCHEMA_ITEMS:
        return open_fields(c, p, len, field, items_fields, COUNT(items_fields), depth);
    default: /* types whose table has exactly their fields */
        return open_message(c, p, len, field, depth);
    }
}

static const char *check_content(check *c, const char *p, size_t len, const ki__schema_field *field)
{
    uint32_t depth = c->top->depth;
    if ((field->flags & KI__SCHEMA_MAP) != 0) {
        ki__schema_type type = (ki__schema_type)field->type;
        return is_plain_entry(p, len, type)
                   ? p + len
                   : open_fields(c, p, len, field, entry_fields[type], 2, depth + 1);
    }
    if (len == 0) {
        return p;
    }
    return field->type == KI__SCHEMA_MESSAGE ? open_map(c, p, len, field)
                                             : check_special(c, p, len, field);
}

/* Validates the field at `p`, which is before the end: returns the position after it, or that of
 * its payload, which then has a frame. */
static const char *check_field(check *c, const char *p)
{
    const char *at = p;
    frame *f = c->top;
    uint32_t tag = (unsigned char)*p++;
    if (tag >= 0x80) {
        p = read_long_tag(c, at, &tag);
        if (p == NULL) {
            return NULL;
        }
    }
    uint32_t wire = tag & KI__WIRE_MASK;
    size_t index = find_field(f->fields, f->count, tag >> KI__WIRE_BITS);
    if (index == NO_FIELD) {
        return skip_unknown(c, at, p, tag);
    }
    const ki__schema_field *field = &f->fields[index];
    bool map = (field->flags & KI__SCHEMA_MAP) != 0;
    if (wire != (map ? KI__WIRE_BYTES : wire_of_type[field->type])) {
        return fail_wire(c, at, field, wire);
    }
    if (check_order(c, at, field) == NULL) {
        return NULL;
    }
    size_t len;
    switch (wire) {
    case KI__WIRE_VARINT:
        return read_number(c, p, field);
    case KI__WIRE_FIXED64:
        return read_fixed(c, p, field, 8);
    default:
        p = read_len(c, p, field, &len);
        if (p == NULL) {
            return NULL;
        }
        return field->type <= KI__SCHEMA_BYTES && !map ? p + len : check_content(c, p, len, field);
    }
}

/* ---- fast path ---- */

/* Index of the field whose one- or two-byte tag is at *p, which is advanced; NO_FIELD otherwise. */
static inline size_t plain_field(const ki__schema_field *fields, size_t count, const char **p,
                                 const char *end)
{
    const char *at = *p;
    size_t number = (unsigned char)*at++;
    if (number >= 0x80) {
        if (at == end || (unsigned char)*at >= 0x80) {
            return NO_FIELD;
        }
        number = (number & 0x7f) | (size_t)(unsigned char)*at++ << 7;
    }
    *p = at;
    return find_field(fields, count, number >> KI__WIRE_BITS);
}

/* Reads a one- or two-byte length of bytes before `end`; returns the position after it, or NULL if
 * longer. */
static inline const char *plain_len(const char *p, const char *end, size_t *ret_len)
{
    if (p == end) {
        return NULL;
    }
    size_t len = (unsigned char)*p++;
    if (len >= 0x80) {
        if (p == end || (unsigned char)*p >= 0x80) {
            return NULL;
        }
        len = (len & 0x7f) | (size_t)(unsigned char)*p++ << 7;
    }
    *ret_len = len;
    return len <= (size_t)(end - p) ? p : NULL;
}

/* Position after the payload of a field that needs no frame, or NULL. */
static inline const char *skip_plain(const ki__schema_field *field, unsigned wire, const char *p,
                                     const char *end)
{
    ki__schema_type type = (ki__schema_type)field->type;
    bool map = (field->flags & KI__SCHEMA_MAP) != 0;
    uint64_t number;
    size_t len;
    if (wire != wire_of_type[type]) {
        return NULL;
    }
    if (wire == KI__WIRE_VARINT) {
        return map ? NULL : ki__proto_varint_in(p, end, KI__VARINT_MAX, &number);
    }
    p = wire == KI__WIRE_BYTES ? plain_len(p, end, &len) : NULL;
    if (p == NULL) {
        return NULL;
    }
    bool plain = len == 0;
    if (map) {
        plain = is_plain_entry(p, len, type);
    } else if (type <= KI__SCHEMA_BYTES) {
        plain = true;
    } else if (type == KI__SCHEMA_TIME) {
        plain = plain || is_plain_time(p, len);
    } else if (type == KI__SCHEMA_QUANTITY || type == KI__SCHEMA_RAW) {
        plain = is_plain_text(p, len);
    }
    return plain ? p + len : NULL;
}

/* Pushes a frame for the payload of a message field; NULL if the slow path is needed. */
static inline frame *open_plain(const check *c, frame *f, const ki__schema_field *field,
                                const char *end)
{
    uint32_t depth = depth_in(f, field);
    if (depth > c->checked->max_depth || (field->flags & KI__SCHEMA_MAP) != 0 ||
        f->fields == entry_fields[KI__SCHEMA_MESSAGE] || f == c->last_frame) {
        return NULL;
    }
    const ki__schema_message *message = ki__proto_message(field);
    f++;
    f->end = end;
    f->fields = ki__proto_fields(message);
    f->seen = 0;
    f->count = message->field_count;
    f->depth = (uint16_t)depth;
    f->least = 0;
    f->field = field;
    return f;
}

/* Validates fields from `p` on until one needs the slow path, or the message ends. */
static const char *check_plain(check *c, const char *p)
{
    frame *f = c->top;
    for (;;) {
        if (p == f->end) {
            if (f == c->frames) {
                break;
            }
            f--;
            continue;
        }
        const char *after = p;
        size_t index = plain_field(f->fields, f->count, &after, f->end);
        if (index == NO_FIELD || index < f->least) {
            break;
        }
        const ki__schema_field *field = &f->fields[index];
        unsigned wire = (unsigned char)*p & KI__WIRE_MASK;
        if (field->type == KI__SCHEMA_MESSAGE && wire == KI__WIRE_BYTES) {
            size_t len;
            const char *content = plain_len(after, f->end, &len);
            frame *inner = content != NULL ? open_plain(c, f, field, content + len) : NULL;
            if (inner == NULL) {
                break;
            }
            mark(f, index, is_run(field));
            f = inner;
            p = content;
            continue;
        }
        after = skip_plain(field, wire, after, f->end);
        if (after == NULL) {
            break;
        }
        mark(f, index, is_run(field));
        p = after;
    }
    c->top = f;
    return p;
}

static int check_all(check *c, const char *p)
{
    for (;;) {
        p = check_plain(c, p);
        if (p == c->top->end) {
            return 0;
        }
        p = check_field(c, p);
        if (p == NULL) {
            return c->code;
        }
    }
}

int ki__proto_check(ki__proto_checked *checked, ki_str bytes, const ki__schema_field *fields,
                    size_t count, ki_error *error)
{
    check c; /* not zeroed: frames are initialized when pushed */
    c.checked = checked;
    c.error = error;
    c.code = 0;
    c.frames = c.inline_frames;
    c.top = c.frames;
    c.last_frame = c.frames + FRAMES_INLINE - 1;
    c.frames[0] = (frame){
        .end = bytes.ptr + bytes.len,
        .fields = fields,
        .count = (uint16_t)count,
        .depth = 1,
    };
    int r = check_all(&c, bytes.ptr);
    if (c.frames != c.inline_frames) {
        ki__free(checked->alloc, c.frames);
    }
    return r;
}

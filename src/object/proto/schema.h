/* SPDX-License-Identifier: Apache-2.0 */
/* The schema tables: which JSON member each protobuf field of a built-in kind is. Constant data
 * that tools/gen-schema writes (schema_tables.c) from the json and protobuf tags of the published
 * Go types; nothing here is written by hand, and nothing is made at run time.
 *
 * A message is a run of fields in one array, by number. A name is an offset into one text: a byte
 * with the length, then the name. Each name is there once, so that two names are the same if their
 * offsets are. */
#ifndef KI_OBJECT_PROTO_SCHEMA_H
#define KI_OBJECT_PROTO_SCHEMA_H

#include <kinformer/str.h>

#include "base/shared.h"
#include "object/proto/schema_tables.h"

/* What a field holds; of a list, what each element is, and of a map, each value. Those from
 * KI__SCHEMA_MESSAGE on are messages on the wire. */
typedef enum ki__schema_type {
    KI__SCHEMA_STRING,
    KI__SCHEMA_BYTES, /* JSON: base64 */
    KI__SCHEMA_BOOL,
    KI__SCHEMA_INT32, /* a varint; int32 and int64 differ only in what fits */
    KI__SCHEMA_INT64,
    KI__SCHEMA_DOUBLE,  /* fixed64 */
    KI__SCHEMA_MESSAGE, /* JSON: a map; `message` tells which */

    /* Messages that JSON shows as something else. `message` is set for those that need it. */
    KI__SCHEMA_TIME,          /* {seconds 1, nanos 2}: a string; null if empty */
    KI__SCHEMA_MICRO_TIME,    /* the same with microseconds */
    KI__SCHEMA_DURATION,      /* {duration 1}: a string such as "1h0m0s" */
    KI__SCHEMA_QUANTITY,      /* {string 1}: a string; "0" if empty */
    KI__SCHEMA_INT_OR_STRING, /* {type 1, intVal 2, strVal 3}: a number if type is 0 */
    KI__SCHEMA_RAW,           /* {raw 1}: the JSON text that it holds; null if empty */
    KI__SCHEMA_ITEMS,         /* {items 1, repeated string}: a list of strings */
    KI__SCHEMA_OR_BOOL,       /* {allows 1, schema 2}: the schema if there is one, else a bool.
                                 `message` is a table with just these two fields */
    KI__SCHEMA_OR_LIST,       /* {schema 1, list 2}: the list if not empty, else the schema, or
                                 null. `message` is again a table with just the two, so that
                                 field 2 tells whether it is of messages or of strings */
    KI__SCHEMA_TYPE_MAX
} ki__schema_type;

typedef enum ki__schema_flag {
    KI__SCHEMA_REPEATED = 1,    /* a list */
    KI__SCHEMA_MAP = 2,         /* a map with string keys: entries {key 1, value 2} */
    KI__SCHEMA_INLINE = 4,      /* JSON shows the members of this message in its parent; no name */
    KI__SCHEMA_POINTER = 8,     /* absent and zero are different: if it is there, it is shown */
    KI__SCHEMA_OMIT_EMPTY = 16, /* JSON leaves out an empty string, list or map, 0, false, nil;
                                   never set where it would do nothing: for plain messages */
    KI__SCHEMA_OMIT_ZERO = 32,  /* JSON leaves out a message (or time) that has nothing set */
} ki__schema_flag;

typedef struct ki__schema_field {
    uint16_t name;    /* offset in ki__schema_names; 0 (the empty name) if inline */
    uint16_t message; /* index in ki__schema_messages, where the type needs one */
    uint8_t number;   /* on the wire */
    uint8_t type;     /* ki__schema_type */
    uint8_t flags;    /* ki__schema_flag */
    uint8_t slot;     /* of an inline field: the slot of the first field of its message */
} ki__schema_field;

/* The fields of a message, by number. Slots count what JSON shows as members of one map: the
 * message's own fields have their index as slot, those of its inline messages follow, from the slot
 * that the inline field names (of an inline message in an inline message: counted from the slot of
 * the outer one's first field). There are never more than 64, and inline messages are in each other
 * at most twice. */
typedef struct ki__schema_message {
    uint16_t first_field; /* index in ki__schema_fields */
    uint8_t field_count;
    uint8_t slot_count;
} ki__schema_message;

typedef struct ki__schema_kind {
    uint16_t api_version; /* offsets in ki__schema_names */
    uint16_t kind;
    uint16_t message;
} ki__schema_kind;

enum { KI__SCHEMA_SLOTS_MAX = 64, KI__SCHEMA_INLINE_DEPTH_MAX = 2 };

KI__SHARED_TABLE extern const char ki__schema_names[];
KI__SHARED_TABLE extern const ki__schema_field ki__schema_fields[];
KI__SHARED_TABLE extern const ki__schema_message ki__schema_messages[];
KI__SHARED_TABLE extern const size_t ki__schema_message_count;
extern const ki__schema_kind ki__schema_kinds[]; /* by apiVersion, then kind, in byte order */
extern const size_t ki__schema_kind_count;

/** The text of a name. */
static inline ki_str ki__schema_name(uint16_t name)
{
    const char *text = ki__schema_names + name;
    return ki_str_make(text + 1, (unsigned char)text[0]);
}

/** Field `number` of a message, or NULL, however many gaps there are. */
const ki__schema_field *ki__schema_field_search(const ki__schema_message *message, uint32_t number);

/** The same. Numbers are mostly without gaps, so it is mostly at its own index. */
static inline const ki__schema_field *ki__schema_field_by_number(const ki__schema_message *message,
                                                                 uint32_t number)
{
    uint32_t index = number - 1; /* 0 wraps around, and is found nowhere */
    if (index < message->field_count) {
        const ki__schema_field *field = &ki__schema_fields[message->first_field + index];
        if (field->number == number) {
            return field;
        }
    }
    return ki__schema_field_search(message, number);
}

/** The field that JSON shows as member `name` of a message: its own, or one of those inline in it.
 */
KI__SHARED const ki__schema_field *ki__schema_field_by_name(const ki__schema_message *message,
                                                            ki_str name);

/** The message of a kind, or NULL if the tables do not know it. */
KI__SHARED const ki__schema_message *ki__schema_of_kind(ki_str api_version, ki_str kind);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two states of a partial object without their resourceVersion. The bytes are compared as
 * they are: a server encodes the same fields in the same way, and a difference that means nothing
 * only makes an update visible. */
#include "object/json/json_skip.h"
#include "object/object.h"
#include "object/proto/proto_wire.h"

/* ---- JSON ---- */

/* A validated map, walked member by member. */
typedef struct members {
    const char *next; /* a name, or the closing bracket */
    ki_str name;      /* raw */
    ki_str value;
} members;

static members members_of(const char *map)
{
    return (members){.next = ki__json_skip_space(map + 1)};
}

static bool next_member(members *m)
{
    const char *p = m->next;
    if (*p != '"') {
        return false;
    }
    const char *quote = ki__json_string_end(p + 1);
    m->name = ki_str_make(p + 1, (size_t)(quote - p) - 1);
    p = ki__json_skip_space(ki__json_skip_space(quote + 1) + 1);
    const char *after = ki__json_skip_value(p);
    m->value = ki_str_make(p, (size_t)(after - p));
    p = ki__json_skip_space(after);
    m->next = *p == ',' ? ki__json_skip_space(p + 1) : p;
    return true;
}

/* The next member other than these. */
static bool next_other(members *m, const char *name, const char *other)
{
    bool found;
    do {
        found = next_member(m);
    } while (found && (ki_str_eq_text(m->name, name) || ki_str_eq_text(m->name, other)));
    return found;
}

static bool is_same_metadata(const char *a, const char *b)
{
    members left = members_of(a);
    members right = members_of(b);
    bool same = *a == '{' && *b == '{';
    bool more = true;
    while (same && more) {
        more = next_other(&left, "resourceVersion", "resourceVersion");
        same = more == next_other(&right, "resourceVersion", "resourceVersion") &&
               (!more || (ki_str_eq(left.name, right.name) && ki_str_eq(left.value, right.value)));
    }
    return same;
}

/* Lists omit kind and apiVersion, and they are inserted: their place differs. */
static bool is_same_json(const ki_object *a, const ki_object *b)
{
    members left = members_of(ki__json_skip_space(ki__object_bytes(a)));
    members right = members_of(ki__json_skip_space(ki__object_bytes(b)));
    bool same = true;
    bool more = true;
    while (same && more) {
        more = next_other(&left, "kind", "apiVersion");
        same = more == next_other(&right, "kind", "apiVersion");
        if (same && more) {
            same = ki_str_eq(left.name, right.name) &&
                   (ki_str_eq_text(left.name, "metadata")
                        ? is_same_metadata(left.value.ptr, right.value.ptr)
                        : ki_str_eq(left.value, right.value));
        }
    }
    return same;
}

/* ---- protobuf ---- */

/* A message around one of its fields. */
typedef struct split {
    ki_str before;
    ki_str after;
    ki_str payload; /* empty if the field is absent */
} split;

static split split_at(ki_str message, uint32_t number)
{
    ki__proto_item item;
    const char *end = message.ptr + message.len;
    const char *tag = ki__proto_find(message, number, &item);
    if (tag == NULL) {
        return (split){
            .before = message, .after = ki_str_make(end, 0), .payload = ki_str_make(end, 0)};
    }
    return (split){
        .before = ki_str_make(message.ptr, (size_t)(tag - message.ptr)),
        .after = ki_str_make(item.after, (size_t)(end - item.after)),
        .payload = item.payload,
    };
}

static ki_str body_of(const ki_object *object)
{
    return ki_str_make(ki__object_bytes(object) + object->body.at, object->body.len);
}

static bool is_same_around(const split *a, const split *b)
{
    return ki_str_eq(a->before, b->before) && ki_str_eq(a->after, b->after);
}

static bool is_same_proto(const ki_object *a, const ki_object *b)
{
    if (a->body.message != b->body.message || a->body.message == KI__PROTO_UNKNOWN) {
        return false;
    }
    const ki__schema_field *field = ki__proto_metadata_field(&ki__schema_messages[a->body.message]);
    const ki__schema_field *version =
        field != NULL
            ? ki__schema_field_by_name(ki__proto_message(field), ki_str_from("resourceVersion"))
            : NULL;
    if (version == NULL) {
        return false;
    }
    split left = split_at(body_of(a), field->number);
    split right = split_at(body_of(b), field->number);
    if (!is_same_around(&left, &right)) {
        return false;
    }
    left = split_at(left.payload, version->number);
    right = split_at(right.payload, version->number);
    return is_same_around(&left, &right);
}

int ki__object_is_same_kept(const ki_object *old, const ki_object *object)
{
    if (!object->partial || old->encoding != object->encoding ||
        ki__object_projection(old) != ki__object_projection(object) ||
        strcmp(ki_object_resource_version(old), ki_object_resource_version(object)) == 0 ||
        strcmp(ki_object_uid(old), ki_object_uid(object)) != 0 ||
        strcmp(ki_object_kind(old), ki_object_kind(object)) != 0) {
        return 0;
    }
    ki__plain_pair pair;
    int r = ki__plain_pair_init(&pair, old, object);
    if (r >= 0) {
        r = object->encoding == KI_ENCODING_JSON ? is_same_json(pair.a, pair.b)
                                                 : is_same_proto(pair.a, pair.b);
        ki__plain_pair_done(&pair);
    }
    return r;
}

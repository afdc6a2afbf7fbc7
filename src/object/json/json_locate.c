/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the two levels whose names matter, the root and metadata, member by member, and validates
 * all values below with json_scan.h. Guarantees that no name is duplicated on these levels. */
#include "object/json/json_locate.h"

#include <kinformer/value.h>

#include "object/json/json_scan.h"
#include "object/json/json_string.h"
#include "object/json/json_value.h"

/* Real names do not collide even once; more are an attack. */
enum { COLLISIONS_MAX = 16 };

typedef enum field_kind { FIELD_IDENTITY, FIELD_PLACE, FIELD_METADATA } field_kind;

typedef struct known_field {
    const char *name;
    size_t name_len;
    field_kind kind;
    unsigned index; /* a ki__identity or a ki__place */
    ki_type type;   /* required type (null is allowed); KI_TYPE_NONE: any */
} known_field;

#define NAME(text) (text), sizeof(text) - 1

static const known_field top_fields[] = {
    {NAME("kind"), FIELD_IDENTITY, KI__IDENTITY_KIND, KI_TYPE_STRING},
    {NAME("apiVersion"), FIELD_IDENTITY, KI__IDENTITY_API_VERSION, KI_TYPE_STRING},
    {NAME("metadata"), FIELD_METADATA, KI__PLACE_METADATA, KI_TYPE_MAP},
    {NAME("spec"), FIELD_PLACE, KI__PLACE_SPEC, KI_TYPE_NONE},
    {NAME("status"), FIELD_PLACE, KI__PLACE_STATUS, KI_TYPE_NONE},
};

static const known_field metadata_fields[] = {
    {NAME("name"), FIELD_IDENTITY, KI__IDENTITY_NAME, KI_TYPE_STRING},
    {NAME("namespace"), FIELD_IDENTITY, KI__IDENTITY_NAMESPACE, KI_TYPE_STRING},
    {NAME("uid"), FIELD_IDENTITY, KI__IDENTITY_UID, KI_TYPE_STRING},
    {NAME("resourceVersion"), FIELD_IDENTITY, KI__IDENTITY_RESOURCE_VERSION, KI_TYPE_STRING},
    {NAME("labels"), FIELD_PLACE, KI__PLACE_LABELS, KI_TYPE_MAP},
    {NAME("annotations"), FIELD_PLACE, KI__PLACE_ANNOTATIONS, KI_TYPE_MAP},
    {NAME("ownerReferences"), FIELD_PLACE, KI__PLACE_OWNER_REFERENCES, KI_TYPE_LIST},
    {NAME("finalizers"), FIELD_PLACE, KI__PLACE_FINALIZERS, KI_TYPE_LIST},
    {NAME("creationTimestamp"), FIELD_PLACE, KI__PLACE_CREATION, KI_TYPE_STRING},
    {NAME("deletionTimestamp"), FIELD_PLACE, KI__PLACE_DELETION, KI_TYPE_STRING},
    {NAME("generation"), FIELD_PLACE, KI__PLACE_GENERATION, KI_TYPE_NUMBER},
};

/* One of the two levels. */
typedef struct name_level {
    const known_field *fields;
    size_t field_count;
    bool top;
    const char *path;     /* prefix of the names in messages */
    const char *too_many; /* message for too many members */
} name_level;

static const name_level top_level = {
    .fields = top_fields,
    .field_count = sizeof(top_fields) / sizeof(top_fields[0]),
    .top = true,
    .path = "",
    .too_many = "the object has too many members",
};

static const name_level metadata_level = {
    .fields = metadata_fields,
    .field_count = sizeof(metadata_fields) / sizeof(metadata_fields[0]),
    .top = false,
    .path = "metadata.",
    .too_many = "metadata has too many members",
};

typedef struct locate {
    ki__json_scan scan;
    ki__located *located;
    size_t collisions; /* different names with the same hash */
    size_t member_count;
    struct {
        uint32_t hash;               /* of the decoded name and its level */
        uint32_t offset;             /* of the name, after its quote */
    } members[KI__JSON_MEMBERS_MAX]; /* both levels; written before read */
} locate;

/* ---- names ---- */

/* Each round is a bijection, so the same name never has the same hash on both levels. */
static uint32_t hash_name(const name_level *level, ki_str name)
{
    ki__json_pieces pieces;
    ki__json_pieces_init(&pieces, name);
    uint32_t hash = 2166136261U + level->top;
    for (ki_str piece; (piece = ki__json_pieces_next(&pieces)).len != 0;) {
        for (size_t i = 0; i < piece.len; i++) {
            hash = (hash ^ (unsigned char)piece.ptr[i]) * 16777619U;
        }
    }
    return hash;
}

/* The validated name at `p`, which is after the opening quote. */
static ki_str name_at(const char *p)
{
    const char *end = p;
    while (*end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    return ki_str_make(p, (size_t)(end - p));
}

/* A prefix of a name for a message, in whole characters. */
static ki_str short_name(ki_str name)
{
    size_t len = name.len < 64 ? name.len : 64;
    while (len != 0 && len < name.len && ((unsigned char)name.ptr[len] & 0xc0) == 0x80) {
        len--;
    }
    return ki_str_make(name.ptr, len);
}

/* Records a name, which must be new on its level. The number of names and the number of bytewise
 * comparisons are bounded, so untrusted names cannot make this slow. */
static const char *add_name(locate *l, const name_level *level, ki_str name)
{
    const char *start = l->scan.start;
    const char *quote = name.ptr - 1;
    uint32_t hash = hash_name(level, name);
    for (size_t i = 0; i < l->member_count; i++) {
        if (l->members[i].hash != hash) {
            continue;
        }
        if (ki__json_raw_same(name, name_at(start + l->members[i].offset))) {
            return ki__json_scan_fail(&l->scan, quote, KI_ERR_INVALID, "duplicate field %s%.*s",
                                      level->path, KI_STR_ARG(short_name(name)));
        }
        if (++l->collisions > COLLISIONS_MAX) {
            return ki__json_scan_fail(&l->scan, quote, KI_ERR_LIMIT,
                                      "too many field names with the same hash");
        }
    }
    if (l->member_count == KI__JSON_MEMBERS_MAX) {
        return ki__json_scan_fail(&l->scan, quote, KI_ERR_LIMIT, "%s", level->too_many);
    }
    l->members[l->member_count].hash = hash;
    l->members[l->member_count].offset = (uint32_t)(name.ptr - start);
    l->member_count++;
    return name.ptr;
}

static const known_field *find_field(const name_level *level, ki_str name)
{
    bool encoded = ki__json_raw_is_encoded(name);
    for (size_t i = 0; i < level->field_count; i++) {
        ki_str known = ki_str_make(level->fields[i].name, level->fields[i].name_len);
        if (encoded ? ki__json_raw_equals(name, known) : ki_str_eq(name, known)) {
            return &level->fields[i];
        }
    }
    return NULL;
}

/* ---- values ---- */

/* Identities become C strings: they must be short and without NUL. */
static const char *check_identity(locate *l, const name_level *level, const known_field *field,
                                  ki_str raw)
{
    ki__json_pieces pieces;
    ki__json_pieces_init(&pieces, raw);
    size_t len = 0;
    for (ki_str piece; (piece = ki__json_pieces_next(&pieces)).len != 0;) {
        if (piece.len == 1 && piece.ptr[0] == '\0') {
            return ki__json_scan_fail(&l->scan, raw.ptr - 1, KI_ERR_INVALID,
                                      "%s%s must not contain NUL", level->path, field->name);
        }
        len += piece.len;
    }
    if (len > KI__IDENTITY_BYTES_MAX) {
        return ki__json_scan_fail(&l->scan, raw.ptr - 1, KI_ERR_LIMIT,
                                  "%s%s must not have more than %d bytes", level->path, field->name,
                                  KI__IDENTITY_BYTES_MAX);
    }
    l->located->identity_len[field->index] = (uint16_t)len;
    return raw.ptr;
}

/* Stores what is needed of a field whose validated value is [p, after). */
static const char *keep_field(locate *l, const name_level *level, const known_field *field,
                              const char *p, const char *after)
{
    ki_type type = ki__json_type_at(p);
    if (type != KI_TYPE_NULL && field->type != KI_TYPE_NONE && type != field->type) {
        return ki__json_scan_fail(&l->scan, p, KI_ERR_INVALID, "%s%s must be a %s, not a %s",
                                  level->path, field->name, ki_type_name(field->type),
                                  ki_type_name(type));
    }
    if (field->kind == FIELD_IDENTITY) {
        if (type == KI_TYPE_NULL) {
            l->located->identity[field->index] = ki_str_make(p, 0);
            return after;
        }
        ki_str raw = ki_str_make(p + 1, (size_t)(after - p) - 2);
        l->located->identity[field->index] = raw;
        return check_identity(l, level, field, raw) != NULL ? after : NULL;
    }
    if (type != KI_TYPE_NULL || level->top) {
        l->located->place[field->index] = (uint32_t)(p - l->scan.start);
    }
    return after;
}

static const char *locate_map(locate *l, const name_level *level, const char *p);

/* The value at `p`, of a known field or of an unknown one (NULL). Only the root has metadata, so
 * the recursion with locate_map() is one level deep. */
static const char *locate_value(locate *l, const name_level *level, const known_field *field,
                                const char *p)
{
    bool metadata = field != NULL && field->kind == FIELD_METADATA;
    const char *after = metadata && p != l->scan.end && *p == '{'
                            ? locate_map(l, &metadata_level, p)
                            : ki__json_scan_value(&l->scan, p);
    if (after == NULL || field == NULL) {
        return after;
    }
    return keep_field(l, level, field, p, after);
}

/* The map at `p`; returns the position after its closing bracket. */
static const char *locate_map(locate *l, const name_level *level, const char *p)
{
    p = ki__json_scan_open(&l->scan, p);
    if (p == NULL) {
        return NULL;
    }
    bool more = p == l->scan.end || *p != '}';
    while (more) {
        ki_str name;
        p = ki__json_scan_name(&l->scan, p, &name);
        if (p == NULL || add_name(l, level, name) == NULL) {
            return NULL;
        }
        p = locate_value(l, level, find_field(level, name), p);
        if (p == NULL) {
            return NULL;
        }
        p = ki__json_scan_next(&l->scan, p, &more);
        if (p == NULL) {
            return NULL;
        }
    }
    return ki__json_scan_close(&l->scan, p);
}

int ki__json_locate(ki_str text, uint32_t max_depth, ki__located *ret_located, ki_error *error)
{
    locate l;
    ki__located located = {0};
    l.located = &located;
    l.collisions = 0;
    l.member_count = 0;
    ki__json_scan_init(&l.scan, text, max_depth, error);
    const char *start = ki__json_scan_space(&l.scan, l.scan.start);
    bool map = start != l.scan.end && *start == '{';
    const char *p = map ? locate_map(&l, &top_level, start) : ki__json_scan_value(&l.scan, start);
    if (p == NULL || ki__json_scan_end(&l.scan, p) == NULL) {
        return l.scan.code;
    }
    if (!map) {
        (void)ki__json_scan_fail(&l.scan, start, KI_ERR_INVALID,
                                 "an object must be a map, not a %s",
                                 ki_type_name(ki__json_type_at(start)));
        return l.scan.code;
    }
    *ret_located = located;
    return 0;
}

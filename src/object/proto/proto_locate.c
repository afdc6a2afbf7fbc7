/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope of a protobuf object (runtime.Unknown), its kind, and the position of the metadata
 * in its message. Everything is validated before it is read. */
#include "object/proto/proto_locate.h"

#include <errno.h>

#include "base/error.h"
#include "base/utf8.h"
#include "object/proto/proto_check.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"

static const char magic[] = {'k', '8', 's', '\0'};
static const char content_type[] = "application/vnd.kubernetes.protobuf";

enum { ENVELOPE_TYPE = 1, ENVELOPE_RAW, ENVELOPE_ENCODING, ENVELOPE_CONTENT_TYPE };
static const ki__schema_field envelope_fields[] = {
    {.number = ENVELOPE_TYPE, .type = KI__SCHEMA_BYTES},
    {.number = ENVELOPE_RAW, .type = KI__SCHEMA_BYTES},
    {.number = ENVELOPE_ENCODING, .type = KI__SCHEMA_STRING},
    {.number = ENVELOPE_CONTENT_TYPE, .type = KI__SCHEMA_STRING},
};

enum { TYPE_API_VERSION = 1, TYPE_KIND };
static const ki__schema_field type_fields[] = {
    {.name = KI__SCHEMA_NAME_API_VERSION, .number = TYPE_API_VERSION, .type = KI__SCHEMA_STRING},
    {.name = KI__SCHEMA_NAME_KIND, .number = TYPE_KIND, .type = KI__SCHEMA_STRING},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct locate {
    ki__proto_checked checked;
    ki__proto_located *located;
    ki_error *error;
    ki_str body;
} locate;

static int fail(locate *l, const char *p, int code, const char *what)
{
    (void)ki__error_set(l->error, code, "%s", what);
    if (l->error != NULL) {
        l->error->offset = (size_t)(p - l->checked.start);
    }
    return code;
}

/* ---- identity ---- */

/* Identities become C strings: they must be short and without NUL. */
static int keep_identity(locate *l, ki__identity which, uint16_t name, ki_str raw)
{
    static const char prefix[] = "metadata.";
    bool type = which == KI__IDENTITY_KIND || which == KI__IDENTITY_API_VERSION;
    size_t len = ki__utf8_valid(raw) ? raw.len : ki__utf8_repair(raw, NULL, 0);
    int code = 0;
    if (len > KI__IDENTITY_BYTES_MAX) {
        code = ki__error_set(l->error, KI_ERR_LIMIT, "%s%.*s must not have more than %d bytes",
                             type ? "" : prefix, KI_STR_ARG(ki__schema_name(name)),
                             KI__IDENTITY_BYTES_MAX);
    } else if (raw.len != 0 && memchr(raw.ptr, '\0', raw.len) != NULL) {
        code = ki__error_set(l->error, KI_ERR_INVALID, "%s%.*s must not contain NUL",
                             type ? "" : prefix, KI_STR_ARG(ki__schema_name(name)));
    }
    if (code < 0) {
        if (l->error != NULL) {
            l->error->offset = (size_t)(raw.ptr - l->checked.start);
        }
        return code;
    }
    l->located->common.identity[which] = raw;
    l->located->common.identity_len[which] = (uint16_t)len;
    return 0;
}

/* ---- the envelope ---- */

static int read_type(locate *l, ki_str type)
{
    int r = ki__proto_check(&l->checked, type, type_fields, COUNT(type_fields), l->error);
    const char *end = type.ptr + type.len;
    for (const char *p = type.ptr; r >= 0 && p != end;) {
        ki__proto_item item = ki__proto_item_at(p);
        if (item.number == TYPE_API_VERSION) {
            r = keep_identity(l, KI__IDENTITY_API_VERSION, KI__SCHEMA_NAME_API_VERSION,
                              item.payload);
        } else if (item.number == TYPE_KIND) {
            r = keep_identity(l, KI__IDENTITY_KIND, KI__SCHEMA_NAME_KIND, item.payload);
        }
        p = item.after;
    }
    return r;
}

static int read_envelope(locate *l, ki_str envelope)
{
    int r =
        ki__proto_check(&l->checked, envelope, envelope_fields, COUNT(envelope_fields), l->error);
    const char *end = envelope.ptr + envelope.len;
    l->body = ki_str_make(end, 0);
    for (const char *p = envelope.ptr; r >= 0 && p != end;) {
        ki__proto_item item = ki__proto_item_at(p);
        ki_str text = item.payload;
        if (item.number == ENVELOPE_TYPE) {
            r = read_type(l, text);
        } else if (item.number == ENVELOPE_RAW) {
            l->body = text;
        } else if (item.number == ENVELOPE_ENCODING && text.len != 0) {
            r = fail(l, p, KI_ERR_UNSUPPORTED, "envelope: contentEncoding is not supported");
        } else if (item.number == ENVELOPE_CONTENT_TYPE && text.len != 0 &&
                   !ki_str_eq_text(text, content_type)) {
            r = fail(l, p, KI_ERR_UNSUPPORTED, "envelope: content is not protobuf");
        }
        p = item.after;
    }
    return r;
}

/* ---- metadata ---- */

/* Records the position of a field; of a list or map, its first element. */
static void keep_place(locate *l, ki__place which, const char *p)
{
    uint32_t *place = &l->located->common.place[which];
    if (*place == 0) {
        *place = (uint32_t)(p - l->checked.start);
    }
}

static void keep_time(locate *l, ki__place which, const char *p, ki_str payload)
{
    int64_t seconds;
    if (ki__proto_time(payload, &seconds)) {
        keep_place(l, which, p);
    }
}

static int keep_field(locate *l, uint16_t name, const char *p, ki_str payload)
{
    switch (name) {
    case KI__SCHEMA_NAME_NAME:
        return keep_identity(l, KI__IDENTITY_NAME, name, payload);
    case KI__SCHEMA_NAME_NAMESPACE:
        return keep_identity(l, KI__IDENTITY_NAMESPACE, name, payload);
    case KI__SCHEMA_NAME_UID:
        return keep_identity(l, KI__IDENTITY_UID, name, payload);
    case KI__SCHEMA_NAME_RESOURCE_VERSION:
        return keep_identity(l, KI__IDENTITY_RESOURCE_VERSION, name, payload);
    case KI__SCHEMA_NAME_GENERATION:
        keep_place(l, KI__PLACE_GENERATION, p);
        break;
    case KI__SCHEMA_NAME_CREATION_TIMESTAMP:
        keep_time(l, KI__PLACE_CREATION, p, payload);
        break;
    case KI__SCHEMA_NAME_DELETION_TIMESTAMP:
        keep_time(l, KI__PLACE_DELETION, p, payload);
        break;
    case KI__SCHEMA_NAME_LABELS:
        keep_place(l, KI__PLACE_LABELS, p);
        break;
    case KI__SCHEMA_NAME_ANNOTATIONS:
        keep_place(l, KI__PLACE_ANNOTATIONS, p);
        break;
    case KI__SCHEMA_NAME_OWNER_REFERENCES:
        keep_place(l, KI__PLACE_OWNER_REFERENCES, p);
        break;
    case KI__SCHEMA_NAME_FINALIZERS:
        keep_place(l, KI__PLACE_FINALIZERS, p);
        break;
    default:
        break;
    }
    return 0;
}

const ki__schema_field *ki__proto_metadata_field(const ki__schema_message *message)
{
    const ki__schema_field *fields = ki__proto_fields(message);
    for (size_t i = 0; i < message->field_count; i++) {
        if (fields[i].name == KI__SCHEMA_NAME_METADATA) {
            bool usual = fields[i].type == KI__SCHEMA_MESSAGE &&
                         (fields[i].message == KI__SCHEMA_OBJECT_META ||
                          fields[i].message == KI__SCHEMA_LIST_META);
            return usual ? &fields[i] : NULL;
        }
    }
    return NULL;
}

static int read_metadata(locate *l, const ki__schema_message *message)
{
    const ki__schema_field *field = ki__proto_metadata_field(message);
    ki__proto_item item;
    if (field == NULL || ki__proto_find(l->body, field->number, &item) == NULL) {
        return 0;
    }
    const ki__schema_message *metadata = ki__proto_message(field);
    const char *end = item.after;
    int r = 0;
    for (const char *p = item.payload.ptr; r >= 0 && p != end;) {
        ki__proto_item inner = ki__proto_item_at(p);
        const ki__schema_field *known = ki__schema_field_by_number(metadata, inner.number);
        r = known != NULL ? keep_field(l, known->name, p, inner.payload) : 0;
        p = inner.after;
    }
    l->located->metadata_end = (uint32_t)(end - l->checked.start);
    return r;
}

/* ---- the message ---- */

static uint16_t index_of(const ki__schema_message *message)
{
    return (uint16_t)(message - ki__schema_messages);
}

static int read_known(locate *l, const ki__schema_message *message)
{
    int r = ki__proto_check(&l->checked, l->body, ki__proto_fields(message), message->field_count,
                            l->error);
    if (r >= 0) {
        r = read_metadata(l, message);
    }
    l->located->body.message = index_of(message);
    l->located->body.complete = l->checked.complete;
    return r;
}

/* In most kinds metadata is field 1, as in PartialObjectMetadata, which has no other fields. If the
 * bytes are valid as such, they are decoded that way; an unknown kind is never rejected for its
 * fields. */
static int read_unknown(locate *l)
{
    int r = ki__proto_check(&l->checked, l->body, NULL, 0, l->error);
    const ki__schema_message *partial =
        ki__schema_of_kind(ki_str_from("meta.k8s.io/v1"), ki_str_from("PartialObjectMetadata"));
    if (r < 0 || partial == NULL) {
        l->located->body.message = KI__PROTO_UNKNOWN;
        return r;
    }
    ki__proto_located before = *l->located;
    ki_error *error = l->error;
    l->error = NULL;
    r = read_known(l, partial);
    l->error = error;
    l->located->body.complete = false;
    if (r == -ENOMEM) {
        return ki__error_code(error, r);
    }
    if (r < 0) {
        *l->located = before;
        l->located->body.message = KI__PROTO_UNKNOWN;
    }
    return 0;
}

static const ki__schema_message *message_of_kind(const ki__proto_located *located)
{
    return ki__schema_of_kind(located->common.identity[KI__IDENTITY_API_VERSION],
                              located->common.identity[KI__IDENTITY_KIND]);
}

int ki__proto_open(ki_str bytes, const ki_object_options *options, ki__proto_located *ret_located,
                   ki_str *ret_body, ki_error *error)
{
    ki__proto_located located = {0};
    locate l = {
        .checked = {.start = bytes.ptr, .alloc = options->alloc, .max_depth = options->max_depth},
        .located = &located,
        .error = error,
        .body = bytes,
    };
    int r = 0;
    if (bytes.len >= sizeof(magic) && memcmp(bytes.ptr, magic, sizeof(magic)) == 0) {
        r = read_envelope(&l, ki_str_make(bytes.ptr + sizeof(magic), bytes.len - sizeof(magic)));
    }
    if (r < 0) {
        return r;
    }
    ki__located_default(&located.common, KI__IDENTITY_KIND, options->default_kind);
    ki__located_default(&located.common, KI__IDENTITY_API_VERSION, options->default_api_version);
    *ret_located = located;
    *ret_body = l.body;
    return 0;
}

int ki__proto_locate(ki_str bytes, ki_str body, const ki_object_options *options,
                     ki__proto_located *located, ki_error *error)
{
    locate l = {
        .checked = {.start = bytes.ptr,
                    .alloc = options->alloc,
                    .max_depth = options->max_depth,
                    .complete = true},
        .located = located,
        .error = error,
        .body = body,
    };
    located->body.at = (uint32_t)(body.len != 0 ? body.ptr - bytes.ptr : 0);
    located->body.len = (uint32_t)body.len;
    const ki__schema_message *message = message_of_kind(located);
    int r = message != NULL ? read_known(&l, message) : read_unknown(&l);
    return r < 0 ? r : 0;
}

const ki__schema_message *ki__proto_guess(ki_str body, const ki_object_options *options,
                                          const ki__proto_located *located)
{
    const ki__schema_message *message = message_of_kind(located);
    if (message == NULL) {
        ki__proto_located copy = *located;
        int r = ki__proto_locate(body, body, options, &copy, NULL);
        return r >= 0 && copy.body.message != KI__PROTO_UNKNOWN
                   ? &ki__schema_messages[copy.body.message]
                   : NULL;
    }
    return message;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: made once, then only read. Identity strings are copied out, decoded and terminated;
 * everything else stays where it is in the bytes. */
#include "object/object.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "object/json_flat.h"
#include "object/json_locate.h"
#include "object/json_skip.h"
#include "object/json_string.h"
#include "object/rfc3339.h"

_Static_assert(sizeof(struct ki_object) <= 80, "an object is its bytes and little more");

enum { BYTES_DEFAULT = 16 << 20, BYTES_MAX = 1 << 30, DEPTH_DEFAULT = 128, DEPTH_MAX = 1024 };

static const char *bytes_of(const ki_object *object)
{
    return object->near_strings + object->near_len;
}

static const char *far_strings_of(const ki_object *object)
{
    return bytes_of(object) + object->len;
}

static size_t block_size(size_t near_len, size_t len, size_t far_len)
{
    return offsetof(ki_object, near_strings) + near_len + len + far_len;
}

/* ---- making ---- */

static int read_options(const ki_object_options *options, ki_object_options *ret_options,
                        ki_error *error)
{
    ki_object_options o;
    int r = ki__options_read(&o, sizeof(o), sizeof(o), options);
    if (r < 0) {
        return ki__error_set(error, r, "the options struct has a size or members unknown here");
    }
    if (o.max_bytes > BYTES_MAX) {
        return ki__error_set(error, -EINVAL, "max_bytes must not be more than 1 GiB");
    }
    if (o.max_depth > DEPTH_MAX) {
        return ki__error_set(error, -EINVAL, "max_depth must not be more than %d", DEPTH_MAX);
    }
    if (ki_str_from(o.default_kind).len > KI__IDENTITY_BYTES_MAX ||
        ki_str_from(o.default_api_version).len > KI__IDENTITY_BYTES_MAX) {
        return ki__error_set(error, KI_ERR_LIMIT,
                             "default_kind and default_api_version are limited to %d bytes",
                             KI__IDENTITY_BYTES_MAX);
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    o.max_bytes = o.max_bytes != 0 ? o.max_bytes : BYTES_DEFAULT;
    o.max_depth = o.max_depth != 0 ? o.max_depth : DEPTH_DEFAULT;
    *ret_options = o;
    return 0;
}

/* What the bytes do not say is taken from the options, where nothing is encoded. */
static void use_default(ki__located *located, ki__identity which, const char *text)
{
    ki_str fallback = ki_str_from(text);
    if (located->identity[which].len == 0) {
        located->identity[which] = fallback;
        located->identity_len[which] = (uint16_t)fallback.len;
    }
}

/* Where the identity strings go in the block. Each is limited, so no sum here overflows. */
typedef struct layout {
    uint16_t at[KI__IDENTITY_MAX];
    uint16_t near_len;
    uint16_t far_len;
} layout;
_Static_assert((KI__IDENTITY_MAX + 1) * (KI__IDENTITY_BYTES_MAX + 1) + KI__JSON_PADDING <=
                   UINT16_MAX,
               "offsets of strings have 16 bits");

static const ki__identity far_identity[] = {
    KI__IDENTITY_NAMESPACE,
    KI__IDENTITY_UID,
    KI__IDENTITY_KIND,
    KI__IDENTITY_API_VERSION,
};
enum { FAR_COUNT = sizeof(far_identity) / sizeof(far_identity[0]) };

/* Takes room for a string and what ends it. */
static uint16_t take_room(uint16_t *end, uint16_t len)
{
    uint16_t at = *end;
    *end = (uint16_t)(at + len + 1);
    return at;
}

static layout plan_strings(const ki__located *located)
{
    const uint16_t *len = located->identity_len;
    layout plan = {0};
    if (len[KI__IDENTITY_NAME] != 0 && len[KI__IDENTITY_NAMESPACE] != 0) {
        (void)take_room(&plan.near_len, len[KI__IDENTITY_NAMESPACE]);
    }
    plan.at[KI__IDENTITY_NAME] = take_room(&plan.near_len, len[KI__IDENTITY_NAME]);
    plan.at[KI__IDENTITY_RESOURCE_VERSION] =
        take_room(&plan.near_len, len[KI__IDENTITY_RESOURCE_VERSION]);
    (void)take_room(&plan.far_len, 0); /* the empty string, which all that are empty share */
    for (size_t i = 0; i < FAR_COUNT; i++) {
        ki__identity which = far_identity[i];
        plan.at[which] = len[which] != 0 ? take_room(&plan.far_len, len[which]) : 0;
    }
    if (plan.far_len < KI__JSON_PADDING) {
        plan.far_len = KI__JSON_PADDING;
    }
    return plan;
}

static void put_text(char *place, const ki__located *located, ki__identity which, char end)
{
    ki_str raw = located->identity[which];
    size_t len = located->identity_len[which];
    if (len != raw.len) {
        (void)ki__json_decode(raw, place, len); /* as long as it was found to be before */
    } else if (len != 0) {
        memcpy(place, raw.ptr, len);
    }
    place[len] = end;
}

static void put_strings(ki_object *object, const ki__located *located, const layout *plan)
{
    char *near = object->near_strings;
    char *far = near + object->near_len + object->len;
    if (object->name != 0) {
        put_text(near, located, KI__IDENTITY_NAMESPACE, '/');
    }
    put_text(near + object->name, located, KI__IDENTITY_NAME, '\0');
    put_text(near + object->resource_version, located, KI__IDENTITY_RESOURCE_VERSION, '\0');
    memset(far, 0, plan->far_len);
    for (size_t i = 0; i < FAR_COUNT; i++) {
        put_text(far + plan->at[far_identity[i]], located, far_identity[i], '\0');
    }
}

static void fill_header(ki_object *object, const ki__located *located, const layout *plan)
{
    object->shortcuts = (ki__json_shortcuts){
        .metadata = located->place[KI__PLACE_METADATA],
        .spec = located->place[KI__PLACE_SPEC],
        .status = located->place[KI__PLACE_STATUS],
    };
    object->labels = located->place[KI__PLACE_LABELS];
    object->annotations = located->place[KI__PLACE_ANNOTATIONS];
    object->owner_references = located->place[KI__PLACE_OWNER_REFERENCES];
    object->finalizers = located->place[KI__PLACE_FINALIZERS];
    object->creation = located->place[KI__PLACE_CREATION];
    object->deletion = located->place[KI__PLACE_DELETION];
    object->generation = located->place[KI__PLACE_GENERATION];
    object->name = plan->at[KI__IDENTITY_NAME];
    object->near_len = plan->near_len;
    object->name_space = plan->at[KI__IDENTITY_NAMESPACE];
    object->uid = plan->at[KI__IDENTITY_UID];
    object->resource_version = plan->at[KI__IDENTITY_RESOURCE_VERSION];
    object->kind = plan->at[KI__IDENTITY_KIND];
    object->api_version = plan->at[KI__IDENTITY_API_VERSION];
    object->encoding = KI_ENCODING_JSON;
}

int ki_object_from_json(const char *bytes, size_t len, const ki_object_options *options,
                        ki_object **ret_object, ki_error *error)
{
    ki_object_options o = {0};
    int r = read_options(options, &o, error);
    if (r < 0) {
        return r;
    }
    if (bytes == NULL && len != 0) {
        return ki__error_set(error, -EINVAL, "there are no bytes");
    }
    if (len > o.max_bytes) {
        return ki__error_set(error, KI_ERR_LIMIT, "the object has %zu bytes and the limit is %zu",
                             len, o.max_bytes);
    }
    ki__located located;
    r = ki__json_locate(ki_str_make(bytes, len), o.max_depth, &located, error);
    if (r < 0) {
        return r;
    }
    use_default(&located, KI__IDENTITY_KIND, o.default_kind);
    use_default(&located, KI__IDENTITY_API_VERSION, o.default_api_version);
    layout plan = plan_strings(&located);
    ki_object *object = ki__alloc(o.alloc, block_size(plan.near_len, len, plan.far_len));
    if (object == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    object->alloc = o.alloc;
    ki__refs_init(&object->refs);
    object->len = (uint32_t)len;
    fill_header(object, &located, &plan);
    put_strings(object, &located, &plan);
    memcpy(object->near_strings + object->near_len, bytes, len);
    object->labels_flat =
        object->labels != 0 ? ki__json_flat_len(bytes_of(object) + object->labels) : 0;
    *ret_object = object;
    return 0;
}

ki_object *ki_object_ref(const ki_object *object)
{
    if (object == NULL) {
        return NULL;
    }
    /* An object is constant but for its count; so callers hold it const and ref it all the same. */
    ki_object *mutable = (ki_object *)(uintptr_t)object;
    ki__refs_take(&mutable->refs);
    return mutable;
}

ki_object *ki_object_unref(const ki_object *object)
{
    if (object == NULL) {
        return NULL;
    }
    ki_object *mutable = (ki_object *)(uintptr_t)object;
    if (ki__refs_drop(&mutable->refs)) {
        ki__free(mutable->alloc, mutable);
    }
    return NULL;
}

/* ---- reading ---- */

const char *ki_object_key(const ki_object *object)
{
    return object->near_strings;
}

const char *ki_object_name(const ki_object *object)
{
    return object->near_strings + object->name;
}

const char *ki_object_namespace(const ki_object *object)
{
    return far_strings_of(object) + object->name_space;
}

const char *ki_object_uid(const ki_object *object)
{
    return far_strings_of(object) + object->uid;
}

const char *ki_object_resource_version(const ki_object *object)
{
    return object->near_strings + object->resource_version;
}

const char *ki_object_kind(const ki_object *object)
{
    return far_strings_of(object) + object->kind;
}

const char *ki_object_api_version(const ki_object *object)
{
    return far_strings_of(object) + object->api_version;
}

static ki_value value_at(const ki_object *object, uint32_t offset)
{
    if (offset == 0) {
        return (ki_value){0};
    }
    const char *bytes = bytes_of(object);
    return ki__json_value_at(bytes + offset, bytes + object->len);
}

int64_t ki_object_generation(const ki_object *object)
{
    ki_value value = value_at(object, object->generation);
    int64_t generation;
    return ki_value_int64(&value, &generation) == 0 ? generation : 0;
}

static int64_t time_at(const ki_object *object, uint32_t offset)
{
    ki_value value = value_at(object, offset);
    char text[64]; /* a time that does not fit is none */
    int64_t seconds;
    int len = ki_value_get_string(&value, text, sizeof(text));
    if (len < 0 || ki__rfc3339_read(ki_str_make(text, (size_t)len), &seconds) < 0) {
        return 0;
    }
    return seconds;
}

int64_t ki_object_creation_time(const ki_object *object)
{
    return time_at(object, object->creation);
}

int64_t ki_object_deletion_time(const ki_object *object)
{
    return time_at(object, object->deletion);
}

bool ki_object_is_deleting(const ki_object *object)
{
    return object->deletion != 0;
}

ki_value ki_object_labels(const ki_object *object)
{
    ki_value labels = value_at(object, object->labels);
    labels.detail = object->labels_flat;
    return labels;
}

int ki__object_label_text(const ki_object *object, ki_str name, ki_str *ret_text)
{
    if (object->labels_flat == 0) {
        return object->labels == 0 ? 0 : KI_ERR_NOT_PLAIN;
    }
    const char *labels = bytes_of(object) + object->labels;
    return ki__json_flat_text(labels, object->labels_flat, name, ret_text) ? 1 : 0;
}

int ki__object_label_is(const ki_object *object, ki_str name, ki_str text)
{
    if (object->labels_flat == 0) {
        return object->labels == 0 ? 0 : KI_ERR_NOT_PLAIN;
    }
    const char *labels = bytes_of(object) + object->labels;
    return ki__json_flat_is(labels, object->labels_flat, name, text) ? 1 : 0;
}

ki_value ki_object_annotations(const ki_object *object)
{
    return value_at(object, object->annotations);
}

ki_value ki_object_owner_references(const ki_object *object)
{
    return value_at(object, object->owner_references);
}

ki_value ki_object_finalizers(const ki_object *object)
{
    return value_at(object, object->finalizers);
}

static int string_member(const ki_value *map, ki_str name, ki_value *ret_value)
{
    ki_value value;
    if (map->ops == NULL) {
        return KI_ERR_NOT_FOUND;
    }
    int r = ki_value_member(map, name, &value);
    if (r < 0) {
        return r;
    }
    if (ki_value_type(&value) != KI_TYPE_STRING) {
        return KI_ERR_TYPE;
    }
    *ret_value = value;
    return 0;
}

int ki_object_label(const ki_object *object, ki_str name, ki_value *ret_value)
{
    ki_value labels = ki_object_labels(object);
    return string_member(&labels, name, ret_value);
}

int ki_object_annotation(const ki_object *object, ki_str name, ki_value *ret_value)
{
    ki_value annotations = ki_object_annotations(object);
    return string_member(&annotations, name, ret_value);
}

static ki_str text_member(const ki_value *map, const char *name)
{
    ki_value value;
    ki_str text;
    if (string_member(map, ki_str_from(name), &value) < 0 || ki_value_string(&value, &text) < 0) {
        return ki_str_make(NULL, 0);
    }
    return text;
}

static bool is_controller(const ki_value *owner)
{
    ki_value flag;
    bool is;
    return ki_value_member(owner, ki_str_from("controller"), &flag) == 0 &&
           ki_value_bool(&flag, &is) == 0 && is;
}

int ki_object_controller(const ki_object *object, ki_owner *ret_owner)
{
    ki_value owners = ki_object_owner_references(object);
    ki_iter iter;
    if (ki_value_iter(&owners, &iter) < 0) {
        return KI_ERR_NOT_FOUND;
    }
    ki_value owner;
    while (ki_iter_next(&iter, NULL, &owner) > 0) {
        if (is_controller(&owner)) {
            *ret_owner = (ki_owner){
                .api_version = text_member(&owner, "apiVersion"),
                .kind = text_member(&owner, "kind"),
                .name = text_member(&owner, "name"),
                .uid = text_member(&owner, "uid"),
                .controller = true,
            };
            return 0;
        }
    }
    return KI_ERR_NOT_FOUND;
}

ki_value ki_object_root(const ki_object *object)
{
    return ki__json_root(ki_object_bytes(object), &object->shortcuts);
}

ki_str ki_object_bytes(const ki_object *object)
{
    return ki_str_make(bytes_of(object), object->len);
}

ki_encoding ki_object_encoding(const ki_object *object)
{
    return (ki_encoding)object->encoding;
}

size_t ki_object_memory(const ki_object *object)
{
    const uint16_t at[] = {object->name_space, object->uid, object->kind, object->api_version};
    size_t far_len = KI__JSON_PADDING;
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        size_t end = at[i] + strlen(far_strings_of(object) + at[i]) + 1;
        far_len = end > far_len ? end : far_len;
    }
    return block_size(object->near_len, object->len, far_len);
}

int ki_object_write_json(const ki_object *object, ki_buf *out)
{
    ki_value root = ki_object_root(object);
    return ki_value_write_json(&root, out);
}

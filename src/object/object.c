/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: made once, then only read. Identity strings are copied out, decoded and terminated;
 * everything else stays where it is in the bytes. */
#include "object/object.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
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

/* The identity strings, gathered before the block is allocated. */
typedef struct strings {
    uint16_t at[KI__IDENTITY_MAX]; /* of each; those of the far strings from `near_len` on */
    uint16_t near_len;
    uint16_t len;
    /* key and resource version; an empty string and the others; padding */
    char text[(KI__IDENTITY_MAX + 2) * (KI__IDENTITY_BYTES_MAX + 1) + KI__JSON_PADDING];
} strings;

/* Adds a text that was checked to be short, with `end` after it. */
static uint16_t add_text(strings *s, ki_str raw, bool plain, char end)
{
    uint16_t at = s->len;
    size_t len = raw.len;
    if (plain || !ki__json_raw_is_encoded(raw)) {
        memcpy(s->text + at, len != 0 ? raw.ptr : "", len);
    } else {
        len = ki__json_decode(raw, s->text + at, KI__IDENTITY_BYTES_MAX);
    }
    ki_assert(len <= KI__IDENTITY_BYTES_MAX);
    s->text[at + len] = end;
    s->len = (uint16_t)(at + len + 1);
    return at;
}

static void gather_near(strings *s, const ki_str *identity)
{
    ki_str name = identity[KI__IDENTITY_NAME];
    ki_str name_space = identity[KI__IDENTITY_NAMESPACE];
    s->len = 0;
    if (name.len != 0 && name_space.len != 0) {
        (void)add_text(s, name_space, false, '/');
    }
    s->at[KI__IDENTITY_NAME] = add_text(s, name, false, '\0');
    s->at[KI__IDENTITY_RESOURCE_VERSION] =
        add_text(s, identity[KI__IDENTITY_RESOURCE_VERSION], false, '\0');
    s->near_len = s->len;
}

static void add_far(strings *s, unsigned which, ki_str raw, const char *fallback)
{
    ki_str text = raw.len != 0 ? raw : ki_str_from(fallback);
    s->at[which] = 0;
    if (text.len != 0) {
        s->at[which] = (uint16_t)(add_text(s, text, raw.len == 0, '\0') - s->near_len);
    }
}

static void gather_strings(strings *s, const ki__json_located *located,
                           const ki_object_options *options)
{
    const ki_str *identity = located->identity;
    gather_near(s, identity);
    s->text[s->len++] = '\0';
    add_far(s, KI__IDENTITY_NAMESPACE, identity[KI__IDENTITY_NAMESPACE], NULL);
    add_far(s, KI__IDENTITY_UID, identity[KI__IDENTITY_UID], NULL);
    add_far(s, KI__IDENTITY_KIND, identity[KI__IDENTITY_KIND], options->default_kind);
    add_far(s, KI__IDENTITY_API_VERSION, identity[KI__IDENTITY_API_VERSION],
            options->default_api_version);
    while (s->len < s->near_len + KI__JSON_PADDING) {
        s->text[s->len++] = '\0';
    }
}

static void fill_header(ki_object *object, const ki__json_located *located, const strings *s)
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
    object->name = s->at[KI__IDENTITY_NAME];
    object->near_len = s->near_len;
    object->name_space = s->at[KI__IDENTITY_NAMESPACE];
    object->uid = s->at[KI__IDENTITY_UID];
    object->resource_version = s->at[KI__IDENTITY_RESOURCE_VERSION];
    object->kind = s->at[KI__IDENTITY_KIND];
    object->api_version = s->at[KI__IDENTITY_API_VERSION];
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
    ki__json_located located;
    r = ki__json_locate(ki_str_make(bytes, len), o.max_depth, &located, error);
    if (r < 0) {
        return r;
    }
    strings s;
    gather_strings(&s, &located, &o);
    ki_object *object = ki__alloc(o.alloc, block_size(s.near_len, len, s.len - s.near_len));
    if (object == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    object->alloc = o.alloc;
    atomic_init(&object->refs, 1);
    object->len = (uint32_t)len;
    fill_header(object, &located, &s);
    memcpy(object->near_strings, s.text, s.near_len);
    memcpy(object->near_strings + s.near_len, bytes, len);
    memcpy(object->near_strings + s.near_len + len, s.text + s.near_len, s.len - s.near_len);
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
    uint32_t refs = atomic_fetch_add_explicit(&mutable->refs, 1, memory_order_relaxed);
    ki_assert(refs != 0 && refs != UINT32_MAX);
    return mutable;
}

ki_object *ki_object_unref(const ki_object *object)
{
    if (object == NULL) {
        return NULL;
    }
    ki_object *mutable = (ki_object *)(uintptr_t)object;
    uint32_t refs = atomic_fetch_sub_explicit(&mutable->refs, 1, memory_order_acq_rel);
    ki_assert(refs != 0);
    if (refs == 1) {
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

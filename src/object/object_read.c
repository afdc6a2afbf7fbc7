/* SPDX-License-Identifier: Apache-2.0 */
/* Accessors of an object. Objects are immutable, so all of them are thread-safe. */
#include <kinformer/encoding.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "object/json/json_flat.h"
#include "object/json/json_skip.h"
#include "object/object.h"
#include "object/pack/packed.h"
#include "object/projection/keep_tree.h"
#include "object/proto/proto_value.h"
#include "object/proto/proto_wire.h"
#include "object/text/rfc3339.h"

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
    return ki__object_far_strings(object) + object->name_space;
}

const char *ki_object_uid(const ki_object *object)
{
    return ki__object_far_strings(object) + object->uid;
}

const char *ki_object_resource_version(const ki_object *object)
{
    return object->near_strings + object->resource_version;
}

const char *ki_object_kind(const ki_object *object)
{
    return ki__object_far_strings(object) + object->kind;
}

const char *ki_object_api_version(const ki_object *object)
{
    return ki__object_far_strings(object) + object->api_version;
}

static bool is_json(const ki_object *object)
{
    return object->encoding == KI_ENCODING_JSON;
}

/* The metadata bytes from `offset` on. */
static ki_str metadata_at(const ki_object *object, uint32_t offset)
{
    return ki_str_make(ki__object_bytes(object) + offset, object->metadata_end - offset);
}

/* The protobuf field at `offset` in the metadata, as a value. */
static ki_value proto_value_at(const ki_object *object, uint32_t offset)
{
    const ki__schema_message *message = &ki__schema_messages[object->body.message];
    const ki__schema_message *metadata = ki__proto_message(ki__proto_metadata_field(message));
    ki_str rest = metadata_at(object, offset);
    ki__proto_item item = ki__proto_item_at(rest.ptr);
    const ki__schema_field *field = ki__schema_field_by_number(metadata, item.number);
    if ((field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP)) != 0) {
        return ki__proto_run(field, rest.ptr, rest.ptr + rest.len);
    }
    return ki__proto_value_of(field, item.payload);
}

static ki_value value_at(const ki_object *object, uint32_t offset)
{
    if (offset == 0) {
        return (ki_value){0};
    }
    if (!is_json(object)) {
        return proto_value_at(object, offset);
    }
    const char *bytes = ki__object_bytes(object);
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
    int64_t seconds = 0;
    if (offset != 0 && !is_json(object)) {
        ki__proto_item item = ki__proto_item_at(metadata_at(object, offset).ptr);
        (void)ki__proto_time(item.payload, &seconds); /* was validated */
        return seconds;
    }
    ki_value value = value_at(object, offset);
    char text[64]; /* a longer string is not a valid time */
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

/* The same for a map or list of metadata. */
static ki_value part_at(const ki_object *object, uint32_t offset, const char *name)
{
    ki_value value = value_at(object, offset);
    if (object->partial) {
        const ki__keep_node *metadata = ki__object_projection(object)->metadata;
        const ki__keep_node *node = ki__keep_step(metadata, name);
        if (node == &ki__keep_none) {
            return ki__value_not_kept();
        }
        value.kept = offset != 0 ? node : NULL;
    }
    return value;
}

ki_value ki_object_labels(const ki_object *object)
{
    ki_value labels = part_at(object, object->labels, "labels");
    if (is_json(object) && labels.ops != NULL) {
        labels.detail = object->labels_flat;
    }
    return labels;
}

static int find_proto_label(const ki_object *object, ki_str name, ki_str *ret_text)
{
    ki_str rest = metadata_at(object, object->labels);
    return ki__proto_map_find(rest.ptr, rest.ptr + rest.len, name, ret_text) ? 1 : 0;
}

/* Whether a label was not kept; it may still have a placeholder. */
static bool drops_label(const ki_object *object, ki_str name)
{
    const ki__keep_node *labels = object->partial ? ki__object_projection(object)->labels : NULL;
    return labels != NULL && ki__keep_member(labels, name) == &ki__keep_none;
}

/* Of an object that has labels and keeps this one. */
static inline int label_text(const ki_object *object, ki_str name, ki_str *ret_text)
{
    if (!is_json(object)) {
        return find_proto_label(object, name, ret_text);
    }
    if (object->labels_flat == 0) {
        return KI_ERR_NOT_PLAIN;
    }
    const char *labels = ki__object_bytes(object) + object->labels;
    return ki__json_flat_text(labels, object->labels_flat, name, ret_text) ? 1 : 0;
}

/* Of an object that has labels and keeps this one. */
static inline int label_is(const ki_object *object, ki_str name, ki_str text)
{
    if (!is_json(object)) {
        ki_str found;
        return find_proto_label(object, name, &found) && ki_str_eq(found, text) ? 1 : 0;
    }
    if (object->labels_flat == 0) {
        return KI_ERR_NOT_PLAIN;
    }
    const char *labels = ki__object_bytes(object) + object->labels;
    return ki__json_flat_is(labels, object->labels_flat, name, text) ? 1 : 0;
}

/* Partial objects have functions of their own, which are not inlined: a selector that matches whole
 * objects takes a quarter more time if it has to save registers for the calls in these. */

static __attribute__((noinline)) int partial_label_text(const ki_object *object, ki_str name,
                                                        ki_str *ret_text)
{
    return drops_label(object, name) ? 0 : label_text(object, name, ret_text);
}

static __attribute__((noinline)) int partial_label_is(const ki_object *object, ki_str name,
                                                      ki_str text)
{
    return drops_label(object, name) ? 0 : label_is(object, name, text);
}

int ki__object_label_text(const ki_object *object, ki_str name, ki_str *ret_text)
{
    if (object->labels == 0) {
        return 0;
    }
    return object->partial ? partial_label_text(object, name, ret_text)
                           : label_text(object, name, ret_text);
}

int ki__object_label_is(const ki_object *object, ki_str name, ki_str text)
{
    if (object->labels == 0) {
        return 0;
    }
    return object->partial ? partial_label_is(object, name, text) : label_is(object, name, text);
}

/* A map or list of metadata that packed objects have in packed form. */
static ki_value packed_part(const ki_object *object, uint32_t offset, const char *name)
{
    const ki_object *plain = object;
    int r = offset != 0 ? ki__object_open(object, &plain) : 0;
    if (r < 0) {
        return ki__value_none(r);
    }
    return part_at(plain, offset, name);
}

ki_value ki_object_annotations(const ki_object *object)
{
    return packed_part(object, object->annotations, "annotations");
}

ki_value ki_object_owner_references(const ki_object *object)
{
    return part_at(object, object->owner_references, "ownerReferences");
}

ki_value ki_object_finalizers(const ki_object *object)
{
    return packed_part(object, object->finalizers, "finalizers");
}

/* The string member of labels or annotations; KI_TYPE_NONE if absent or not a string. */
static ki_value string_member(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    ki_type type = ki_value_type(&value);
    return type == KI_TYPE_STRING || type == KI_TYPE_NONE ? value : (ki_value){0};
}

static ki_value label_value(const ki_object *object, const char *name)
{
    ki_value labels = ki_object_labels(object);
    return string_member(&labels, name);
}

/* Finds a label without a value on the way. Returns 1, 0 if it does not exist, or KI_ERR_NOT_PLAIN
 * if its value must be read: it is escaped, not a string, or not UTF-8. */
static int find_label(const ki_object *object, ki_str name, ki_str *ret_text)
{
    if (is_json(object) && !ki__json_flat_can_find(name)) {
        return KI_ERR_NOT_PLAIN;
    }
    int r = ki__object_label_text(object, name, ret_text);
    return r == 1 && !is_json(object) && !ki__utf8_valid(*ret_text) ? KI_ERR_NOT_PLAIN : r;
}

ki_str ki_object_label(const ki_object *object, const char *name)
{
    ki_str text = ki_str_from("");
    if (find_label(object, ki_str_from(name), &text) < 0) {
        ki_value value = label_value(object, name);
        (void)!ki_value_string(&value, &text);
    }
    return text.len != 0 ? text : ki_str_from("");
}

bool ki_object_has_label(const ki_object *object, const char *name)
{
    ki_value value = label_value(object, name);
    return ki_value_type(&value) == KI_TYPE_STRING;
}

bool ki_object_label_is(const ki_object *object, const char *name, const char *value)
{
    ki_value found = label_value(object, name);
    return ki_value_equals_text(&found, value);
}

ki_value ki_object_annotation(const ki_object *object, const char *name)
{
    ki_value annotations = ki_object_annotations(object);
    return string_member(&annotations, name);
}

bool ki_object_has_annotation(const ki_object *object, const char *name)
{
    ki_value value = ki_object_annotation(object, name);
    return ki_value_type(&value) == KI_TYPE_STRING;
}

bool ki_object_has_finalizer(const ki_object *object, const char *name)
{
    ki_value finalizers = ki_object_finalizers(object);
    ki_value_iter iter;
    ki_value one;
    bool found = false;
    if (name != NULL && ki_value_iter_begin(&finalizers, &iter) == 0) {
        while (!found && ki_value_iter_next(&iter, NULL, &one) > 0) {
            found = ki_value_equals_text(&one, name);
        }
    }
    return found;
}

int ki_object_controller(const ki_object *object, ki_owner *ret_owner)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE_SIZED(ki_owner, ret_owner, NULL);
    ki_value owners = ki_object_owner_references(object);
    ki_value_iter iter;
    if (owners.kept != NULL) { /* not all of them, which makes some members look absent */
        return KI_ERR_NOT_KEPT;
    }
    if (ki_value_iter_begin(&owners, &iter) < 0) {
        return KI_ERR_NOT_FOUND;
    }
    ki_value owner;
    while (ki_value_iter_next(&iter, NULL, &owner) > 0) {
        if (ki__value_child_flag(&owner, "controller")) {
            const ki_owner found = {
                .size = sizeof(found),
                .api_version = ki__value_child_text(&owner, "apiVersion"),
                .kind = ki__value_child_text(&owner, "kind"),
                .name = ki__value_child_text(&owner, "name"),
                .uid = ki__value_child_text(&owner, "uid"),
                .controller = true,
            };
            return KI__GIVE(ki_owner, ret_owner, &found);
        }
    }
    return KI_ERR_NOT_FOUND;
}

bool ki_object_is_controlled_by(const ki_object *object, const ki_object *owner)
{
    ki_owner controller = {.size = sizeof(controller)};
    const char *uid = ki_object_uid(owner);
    return uid[0] != '\0' && ki_object_controller(object, &controller) == 0 &&
           ki_str_eq_text(controller.uid, uid);
}

static ki_value whole(const ki_object *object)
{
    if (is_json(object)) {
        return ki__json_root(ki_object_bytes(object), &object->shortcuts);
    }
    const char *body = ki__object_bytes(object) + object->body.at;
    return ki__proto_make(KI__PROTO_ROOT, ki_str_make(body, object->body.len), object);
}

ki_value ki_object_root(const ki_object *object)
{
    int r = ki__object_open(object, &object);
    if (r < 0) {
        return ki__value_none(r);
    }
    ki_value root = whole(object);
    if (object->partial) {
        root.kept = ki__object_projection(object)->root;
    }
    return root;
}

bool ki_object_is_partial(const ki_object *object)
{
    return object->partial;
}

bool ki__object_keeps(const ki_object *object, const char *part, const char *name)
{
    const ki__keep_node *root = object->partial ? ki__object_projection(object)->root : NULL;
    return ki__keep_step(ki__keep_step(root, part), name) == NULL;
}

int ki__object_require_whole(const ki_object *object, ki_error *error)
{
    if (!object->partial) {
        const ki_object *plain;
        int r = ki__object_open(object, &plain); /* so that nothing fails from here on */
        return r < 0 ? ki__error_code(error, r) : 0;
    }
    return ki__error_set(error, KI_ERR_NOT_KEPT,
                         "%s %s: is partial (keep or drop): get the whole object to change it",
                         ki_object_kind(object), ki_object_key(object));
}

bool ki_object_is_complete(const ki_object *object)
{
    return is_json(object) || object->body.complete;
}

ki_str ki_object_bytes(const ki_object *object)
{
    if (ki__object_open(object, &object) < 0) {
        return ki_str_from("");
    }
    return ki_str_make(ki__object_bytes(object), object->len);
}

/* The bytes that determine the state of an object, in one encoding: everything but its kind, which
 * lists omit and watches include. */
static ki_str content_of(const ki_object *object)
{
    const char *bytes = ki__object_bytes(object);
    if (is_json(object)) { /* apiVersion and kind come before metadata, if present */
        size_t from = object->shortcuts.metadata;
        return ki_str_make(bytes + from, object->len - from);
    }
    return ki_str_make(bytes + object->body.at, object->body.len);
}

int ki__object_is_same_state(const ki_object *a, const ki_object *b)
{
    const char *version = ki_object_resource_version(a);
    if (a == b) {
        return 1;
    }
    if (version[0] == '\0' || strcmp(version, ki_object_resource_version(b)) != 0 ||
        strcmp(ki_object_uid(a), ki_object_uid(b)) != 0 || a->encoding != b->encoding ||
        ki__object_projection(a) != ki__object_projection(b)) {
        return 0;
    }
    ki__plain_pair pair;
    int r = ki__plain_pair_init(&pair, a, b);
    if (r >= 0) {
        r = ki_str_eq(content_of(pair.a), content_of(pair.b));
        ki__plain_pair_done(&pair);
    }
    return r;
}

ki_encoding ki_object_encoding(const ki_object *object)
{
    return (ki_encoding)object->encoding;
}

size_t ki__object_far_len(const ki_object *object)
{
    const uint16_t at[] = {object->name_space, object->uid, object->kind, object->api_version};
    size_t far_len = KI__JSON_PADDING;
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        size_t end = at[i] + strlen(ki__object_far_strings(object) + at[i]) + 1;
        far_len = end > far_len ? end : far_len;
    }
    return far_len;
}

size_t ki_object_memory(const ki_object *object)
{
    if (object->packed) {
        size_t more = ki__packed_footprint(object) - offsetof(ki_object, near_strings);
        return ki__object_size(more, 0, 0);
    }
    return ki__object_size(object->near_len, object->len, ki__object_far_len(object));
}

int ki_object_write_json(const ki_object *object, ki_buf *out)
{
    KI__REQUIRE(object, NULL);
    KI__REQUIRE(out, NULL);
    ki_value root = ki_object_root(object);
    return ki_value_write_json(&root, out);
}

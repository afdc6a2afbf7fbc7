/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/compose.h"

#include <errno.h>

#include <kinformer/error.h>

#include "base/digits.h"
#include "object/edit/json_edit.h"
#include "object/json/json_skip.h"
#include "object/value.h"

/* Metadata written only by the server, besides the name. */
static const char *const own_metadata[] = {
    "managedFields", /* must be first: skipped if managedFields are not tracked */
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    NULL,
};
static const char *const own_members[] = {"kind", "apiVersion", "metadata", "status", NULL};

void ki__api_parts_of(const ki__api_type *type, const ki_object *object, ki__api_parts *ret_parts)
{
    uint64_t rv = 0;
    (void)ki__digits_read(ki_str_from(ki_object_resource_version(object)), &rv);
    *ret_parts = (ki__api_parts){
        .type = type,
        .name = ki_object_name(object),
        .name_space = ki_object_namespace(object),
        .uid = ki_object_uid(object),
        .rv = rv,
        .generation = ki_object_generation(object),
        .creation = ki_object_creation_time(object),
        .deletion = ki_object_deletion_time(object),
        .metadata = object,
        .content = object,
        .status = object,
    };
}

void ki__api_compose_begin(const ki__api_type *type, ki__out *out)
{
    ki__out_texts(out, "{\"kind\":\"", ki_resource_kind(type->resource), "\",\"apiVersion\":\"",
                  ki_resource_api_version(type->resource), "\",", NULL);
}

size_t ki__api_compose_prefix(const ki__api_type *type)
{
    const size_t fixed = sizeof("{\"kind\":\"\",\"apiVersion\":\"\",") - 1;
    return fixed + strlen(ki_resource_kind(type->resource)) +
           strlen(ki_resource_api_version(type->resource));
}

static void write_time(const char *name, int64_t seconds, ki__out *out)
{
    ki__put_name(out, name);
    ki__put_time(out, seconds);
}

static void write_metadata(const ki__api_parts *parts, ki__out *out)
{
    ki__put_name(out, "metadata");
    ki__put_map(out);
    ki__put_member(out, "name", parts->name);
    if (parts->name_space[0] != '\0') {
        ki__put_member(out, "namespace", parts->name_space);
    }
    ki__put_member(out, "uid", parts->uid);
    if (parts->rv != 0) {
        char room[KI__DIGITS_SIZE];
        ki__put_member_str(out, "resourceVersion", ki__digits(parts->rv, room));
    }
    if (parts->generation != 0) {
        ki__put_name(out, "generation");
        ki__put_i64(out, parts->generation);
    }
    write_time("creationTimestamp", parts->creation, out);
    if (parts->deletion != 0) {
        write_time("deletionTimestamp", parts->deletion, out);
        ki__put_name(out, "deletionGracePeriodSeconds");
        ki__put_u64(out, 0);
    }
    ki_value root = ki_object_root(parts->metadata);
    ki_value metadata = ki__value_child(&root, "metadata");
    ki__json_copy_members(&metadata, own_metadata + (parts->managed == NULL ? 1 : 0), out);
    if (parts->managed != NULL && parts->managed->len != 0) {
        ki__put_name(out, "managedFields");
        ki__put_json(out, ki_buf_str(parts->managed));
    }
    ki__put_end(out);
}

static void write_status(const ki__api_parts *parts, ki__out *out)
{
    if (parts->status_json != NULL) {
        ki__put_name(out, "status");
        ki__put_json(out, ki_str_from(parts->status_json));
        return;
    }
    if (parts->status == NULL) {
        return;
    }
    ki_value root = ki_object_root(parts->status);
    ki_value status = ki__value_child(&root, "status");
    if (ki_value_type(&status) != KI_TYPE_NONE) {
        ki__put_name(out, "status");
        ki__put_value(out, &status);
    }
}

/* Size of the object's managedFields. */
static size_t managed_len(const ki__api_parts *parts)
{
    if (parts->managed != NULL) {
        return parts->managed->len;
    }
    ki_value root = ki_object_root(parts->metadata);
    ki_value metadata = ki__value_child(&root, "metadata");
    ki_value managed = ki__value_child(&metadata, "managedFields");
    if (ki_value_type(&managed) == KI_TYPE_NONE) {
        return 0;
    }
    return (size_t)(ki__json_skip_value(managed.bytes) - (const char *)managed.bytes);
}

int ki__api_compose(const ki__api_model *model, const ki__api_parts *parts, ki_object **ret_object)
{
    /* The server's additions must not make a valid object too large. */
    size_t max = model->options.object_bytes_max + 4096 + managed_len(parts);
    ki_object_options options = {.size = sizeof(options), .alloc = model->alloc, .max_bytes = max};
    ki_buf json;
    ki_buf_init(&json, model->alloc, max);
    ki__out out = ki__out_to(&json);
    ki_value content = ki_object_root(parts->content);
    ki__api_compose_begin(parts->type, &out);
    write_metadata(parts, &out);
    ki__json_copy_members(&content, own_members, &out);
    write_status(parts, &out);
    ki__out_char(&out, '}');
    int r = out.error;
    if (r == 0) {
        r = ki_object_from_json(json.data, json.len, &options, ret_object, NULL);
    }
    ki_buf_done(&json);
    return r;
}

int ki__api_restamp(const ki__api_model *model, const ki__api_type *type, const ki_object *object,
                    uint64_t rv, ki_object **ret_object)
{
    ki__api_parts parts;
    ki__api_parts_of(type, object, &parts);
    parts.rv = rv;
    return ki__api_compose(model, &parts, ret_object);
}

int ki__api_make_uid(const ki__api_model *model, char uid[KI__API_UID_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char bytes[16];
    if (model->random->fill(bytes, sizeof(bytes), model->random->user) < 0) {
        return -EIO;
    }
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* RFC 9562 */
    char *p = uid;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *p++ = '-';
        }
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    *p = '\0';
    return 0;
}

int ki__api_make_suffix(const ki__api_model *model, char suffix[KI__API_SUFFIX_LEN])
{
    /* No vowels, so no words; no characters that are easily confused. */
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    unsigned char bytes[KI__API_SUFFIX_LEN];
    if (model->random->fill(bytes, sizeof(bytes), model->random->user) < 0) {
        return -EIO;
    }
    for (size_t i = 0; i < KI__API_SUFFIX_LEN; i++) {
        suffix[i] = letters[bytes[i] % (sizeof(letters) - 1)];
    }
    return 0;
}

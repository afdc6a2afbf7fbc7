/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/verbs/compose.h"

#include <errno.h>

#include <kinformer/error.h>

#include "object/edit/json_edit.h"
#include "object/edit/json_emit.h"
#include "object/json/json_skip.h"

/* Metadata that only the server writes, besides the name. */
static const char *const own_metadata[] = {
    "managedFields", /* the first one, which is not always its own */
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
    (void)ki__read_u64(ki_str_from(ki_object_resource_version(object)), &rv);
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

int ki__api_compose_begin(const ki__api_type *type, ki_buf *out)
{
    return ki__emit_text(out, "{\"kind\":\"", ki_resource_kind(type->resource),
                         "\",\"apiVersion\":\"", ki_resource_api_version(type->resource), "\",",
                         NULL);
}

size_t ki__api_compose_prefix(const ki__api_type *type)
{
    const size_t fixed = sizeof("{\"kind\":\"\",\"apiVersion\":\"\",") - 1;
    return fixed + strlen(ki_resource_kind(type->resource)) +
           strlen(ki_resource_api_version(type->resource));
}

static int write_time(const char *name, int64_t seconds, ki_buf *out)
{
    int r = ki__emit_text(out, ",\"", name, "\":\"", NULL);
    r = r < 0 ? r : ki__emit_time(out, seconds);
    return r < 0 ? r : ki_buf_add_char(out, '"');
}

static int write_metadata(const ki__api_parts *parts, ki_buf *out)
{
    int r = ki_buf_add_text(out, "\"metadata\":{");
    r = r < 0 ? r : ki__emit_member(out, "name", ki_str_from(parts->name), true);
    if (parts->name_space[0] != '\0') {
        r = r < 0 ? r : ki__emit_member(out, "namespace", ki_str_from(parts->name_space), false);
    }
    r = r < 0 ? r : ki__emit_member(out, "uid", ki_str_from(parts->uid), false);
    if (parts->rv != 0) {
        r = r < 0 ? r : ki_buf_add_text(out, ",\"resourceVersion\":\"");
        r = r < 0 ? r : ki__emit_u64(out, parts->rv);
        r = r < 0 ? r : ki_buf_add_char(out, '"');
    }
    if (parts->generation != 0) {
        r = r < 0 ? r : ki_buf_add_text(out, ",\"generation\":");
        r = r < 0 ? r : ki__emit_i64(out, parts->generation);
    }
    r = r < 0 ? r : write_time("creationTimestamp", parts->creation, out);
    if (parts->deletion != 0) {
        r = r < 0 ? r : write_time("deletionTimestamp", parts->deletion, out);
        r = r < 0 ? r : ki_buf_add_text(out, ",\"deletionGracePeriodSeconds\":0");
    }
    ki_value root = ki_object_root(parts->metadata);
    ki_value metadata;
    bool first = false;
    if (r == 0 && ki_value_member(&root, ki_str_from("metadata"), &metadata) == 0) {
        r = ki__json_copy_members(&metadata, own_metadata + (parts->managed == NULL ? 1 : 0),
                                  &first, out);
    }
    if (parts->managed != NULL && parts->managed->len != 0) {
        r = r < 0 ? r : ki_buf_add_text(out, ",\"managedFields\":");
        r = r < 0 ? r : ki_buf_add_str(out, ki_buf_str(parts->managed));
    }
    return r < 0 ? r : ki_buf_add_char(out, '}');
}

static int write_status(const ki__api_parts *parts, ki_buf *out)
{
    if (parts->status_json != NULL) {
        return ki__emit_text(out, ",\"status\":", parts->status_json, NULL);
    }
    if (parts->status == NULL) {
        return 0;
    }
    ki_value root = ki_object_root(parts->status);
    ki_value status;
    if (ki_value_member(&root, ki_str_from("status"), &status) < 0) {
        return 0;
    }
    int r = ki_buf_add_text(out, ",\"status\":");
    return r < 0 ? r : ki_value_write_json(&status, out);
}

/* How much of the object will be its managedFields. */
static size_t managed_len(const ki__api_parts *parts)
{
    ki_value root = ki_object_root(parts->metadata);
    ki_value metadata;
    ki_value managed;
    if (parts->managed != NULL) {
        return parts->managed->len;
    }
    if (ki_value_member(&root, ki_str_from("metadata"), &metadata) < 0 ||
        ki_value_type(&metadata) != KI_TYPE_MAP ||
        ki_value_member(&metadata, ki_str_from("managedFields"), &managed) < 0) {
        return 0;
    }
    return (size_t)(ki__json_skip_value(managed.bytes) - (const char *)managed.bytes);
}

int ki__api_compose(const ki__api_model *model, const ki__api_parts *parts, ki_object **ret_object)
{
    /* What the server adds must not make an object too large that was not. */
    size_t max = model->options.object_bytes_max + 4096 + managed_len(parts);
    ki_object_options options = {.size = sizeof(options), .alloc = model->alloc, .max_bytes = max};
    ki_buf out;
    ki_buf_init(&out, model->alloc, max);
    ki_value content = ki_object_root(parts->content);
    bool first = false;
    int r = ki__api_compose_begin(parts->type, &out);
    r = r < 0 ? r : write_metadata(parts, &out);
    r = r < 0 ? r : ki__json_copy_members(&content, own_members, &first, &out);
    r = r < 0 ? r : write_status(parts, &out);
    r = r < 0 ? r : ki_buf_add_char(&out, '}');
    if (r == 0) {
        r = ki_object_from_json(out.data, out.len, &options, ret_object, NULL);
    }
    ki_buf_done(&out);
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
    /* No vowels, so no words; nothing that looks like another. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The public JSON writer. json_out.h writes and checks; this adds names with each value, error
 * positions and messages, copies of values, and results. Invariant: without an error, the text is a
 * prefix of a valid document; a failed call appends nothing. */
#include "object/edit/json_writer.h"

#include <errno.h>

#include <kinformer/time.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "object/json/json_scan.h"

enum { BYTES_DEFAULT = 16 << 20, BYTES_MAX = 1 << 30 };

/* ---- creation ---- */

int ki_json_new(const ki_json_options *options, ki_json **ret_json, ki_error *error)
{
    KI__REQUIRE(ret_json, error);
    ki_json_options o = {0};
    int r = KI__TAKE(ki_json_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.max_bytes > BYTES_MAX) {
        return ki__error_set(error, -EINVAL, "max_bytes: must not be more than 1 GiB");
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_json *json = ki__alloc_zero(alloc, sizeof(*json));
    if (json == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    json->alloc = alloc;
    json->replace_invalid_utf8 = o.replace_invalid_utf8;
    ki_buf_init(&json->buf, alloc, o.max_bytes != 0 ? o.max_bytes : BYTES_DEFAULT);
    json->out = ki__out_document(&json->buf);
    *ret_json = json;
    return 0;
}

ki_json *ki_json_unref(ki_json *json)
{
    if (json != NULL) {
        ki_buf_done(&json->buf);
        ki__free(json->alloc, json);
    }
    return NULL;
}

void ki_json_reset(ki_json *json)
{
    if (json != NULL) {
        ki_buf_clear(&json->buf);
        json->out = ki__out_document(&json->buf);
        json->levels[0] = (ki__json_level){0};
        ki__error_clear(&json->failure);
    }
}

/* ---- errors ---- */

void ki__json_fail(ki_json *json, int code, const char *why)
{
    ki__out_fail(&json->out, code);
    if (json->failure.code == 0) {
        ki__buf_truncate(&json->buf, json->value_mark);
        (void)ki__json_describe(json, KI__JSON_VALUE, code, why, &json->failure);
    }
}

/* Converts an error of json_out.h; `misuse` is the message for KI_ERR_INVALID. */
static void fail_as_out(ki_json *json, const char *misuse)
{
    switch (json->out.error) {
    case KI_ERR_INVALID:
        ki__json_fail(json, KI_ERR_INVALID, misuse);
        break;
    case KI_ERR_LIMIT:
        ki__json_fail(json, KI_ERR_LIMIT, "the text is larger than max_bytes");
        break;
    case KI_ERR_DEPTH:
        ki__json_fail(json, KI_ERR_DEPTH, "maps and lists are nested deeper than 128");
        break;
    case KI_ERR_RANGE:
        ki__json_fail(json, KI_ERR_RANGE, "the number is not finite");
        break;
    default:
        ki__json_fail(json, json->out.error, ki_error_text(json->out.error));
    }
}

/* ---- names ---- */

void ki__json_begin_name(ki_json *json)
{
    json->value_mark = json->buf.len;
    ki__put_begin_name(&json->out);
}

/* Records the position of the name just written. */
static void note_name(ki_json *json)
{
    if (json->out.error < 0) {
        fail_as_out(json, ki__out_is_named(&json->out) ? "two names without a value between them"
                          : json->out.depth != 0       ? "an element of a list has no name"
                                                       : "the top-level value has no name");
        return;
    }
    json->name_mark = json->value_mark;
    json->name_at = (uint32_t)json->name_mark + (json->buf.data[json->name_mark] == ',') + 1;
    json->name_len = (uint32_t)json->buf.len - 2 - json->name_at; /* minus quote and colon */
}

void ki__json_end_name(ki_json *json)
{
    ki__put_end_name(&json->out);
    note_name(json);
}

void ki__json_add_text(ki_json *json, ki_str text)
{
    if (json->out.error == 0 && !json->replace_invalid_utf8 && !ki__utf8_valid(text)) {
        ki__json_fail(json, KI_ERR_ENCODING, "not valid UTF-8");
    }
    ki__out_escaped(&json->out, text);
}

void ki_json_name(ki_json *json, ki_str name)
{
    if (json != NULL && json->out.error == 0) {
        ki__json_begin_name(json);
        ki__json_add_text(json, name);
        ki__json_end_name(json);
    }
}

/* ---- values ---- */

bool ki__json_begin(ki_json *json, const char *name)
{
    if (json == NULL) {
        return false;
    }
    if (name != NULL) {
        ki_json_name(json, ki_str_from(name));
    }
    json->value_mark = json->buf.len;
    return json->out.error == 0;
}

void ki__json_done(ki_json *json)
{
    if (json->out.error < 0) {
        fail_as_out(json, json->out.depth != 0 ? "a member of a map needs a name"
                                               : "a second top-level value");
    } else {
        json->levels[json->out.depth].count++;
    }
}

static void begin_container(ki_json *json, const char *name, void (*put)(ki__out *out))
{
    if (!ki__json_begin(json, name)) {
        return;
    }
    ki__json_level *parent = &json->levels[json->out.depth];
    put(&json->out);
    if (json->out.error < 0) {
        ki__json_done(json);
        return;
    }
    parent->count++;
    json->levels[json->out.depth] =
        (ki__json_level){.name_at = json->name_at, .name_len = json->name_len};
}

void ki_json_begin_map(ki_json *json, const char *name)
{
    begin_container(json, name, ki__put_map);
}

void ki_json_begin_list(ki_json *json, const char *name)
{
    begin_container(json, name, ki__put_list);
}

void ki_json_end(ki_json *json)
{
    if (ki__json_begin(json, NULL)) {
        ki__put_end(&json->out);
        if (json->out.error < 0) {
            fail_as_out(json, json->out.depth != 0 ? "a name without a value"
                                                   : "an end without a beginning");
        }
    }
}

void ki__json_begin_string(ki_json *json)
{
    ki__put_begin_string(&json->out);
}

void ki__json_end_string(ki_json *json)
{
    ki__put_end_string(&json->out);
    ki__json_done(json);
}

static void put_text(ki_json *json, ki_str text)
{
    ki__json_begin_string(json);
    ki__json_add_text(json, text);
    ki__json_end_string(json);
}

void ki_json_str(ki_json *json, const char *name, ki_str text)
{
    if (ki__json_begin(json, name)) {
        put_text(json, text);
    }
}

void ki_json_string(ki_json *json, const char *name, const char *text)
{
    if (!ki__json_begin(json, name)) {
        return;
    }
    if (text == NULL) {
        ki__json_fail(json, KI_ERR_INVALID, "a string must not be NULL");
    } else {
        put_text(json, ki_str_from(text));
    }
}

void ki_json_base64(ki_json *json, const char *name, ki_str bytes)
{
    if (ki__json_begin(json, name)) {
        ki__json_begin_string(json);
        ki__out_base64(&json->out, bytes);
        ki__json_end_string(json);
    }
}

void ki_json_int64(ki_json *json, const char *name, int64_t number)
{
    if (ki__json_begin(json, name)) {
        ki__put_i64(&json->out, number);
        ki__json_done(json);
    }
}

void ki_json_uint64(ki_json *json, const char *name, uint64_t number)
{
    if (ki__json_begin(json, name)) {
        ki__put_u64(&json->out, number);
        ki__json_done(json);
    }
}

void ki_json_double(ki_json *json, const char *name, double number)
{
    if (ki__json_begin(json, name)) {
        ki__put_double(&json->out, number);
        ki__json_done(json);
    }
}

void ki_json_bool(ki_json *json, const char *name, bool flag)
{
    if (ki__json_begin(json, name)) {
        ki__put_bool(&json->out, flag);
        ki__json_done(json);
    }
}

void ki_json_null(ki_json *json, const char *name)
{
    if (ki__json_begin(json, name)) {
        ki__put_null(&json->out);
        ki__json_done(json);
    }
}

void ki_json_time(ki_json *json, const char *name, int64_t realtime_ns)
{
    char text[KI_TIME_TEXT_SIZE];
    ki_json_string(json, name, ki_time_text(realtime_ns, text));
}

void ki_json_micro_time(ki_json *json, const char *name, int64_t realtime_ns)
{
    char text[KI_TIME_TEXT_SIZE];
    ki_json_string(json, name, ki_time_micro_text(realtime_ns, text));
}

/* ---- existing values ---- */

static uint32_t depth_left(const ki_json *json)
{
    return KI__OUT_DEPTH_MAX - json->out.depth;
}

/* An object may be deeper than this writer's limit. */
static void check_depth(ki_json *json, const ki_value *value)
{
    ki_type type = ki_value_type(value);
    if (json->out.error == 0 && (type == KI_TYPE_MAP || type == KI_TYPE_LIST)) {
        size_t at = json->value_mark;
        at += json->buf.data[at] == ',';
        ki_str text = ki_str_make(json->buf.data + at, json->buf.len - at);
        ki__out_fail(&json->out, ki__json_check(text, depth_left(json), NULL));
    }
}

/* Removes the name of an absent member. */
static void omit(ki_json *json)
{
    if (ki__out_is_named(&json->out)) {
        ki__buf_truncate(&json->buf, json->name_mark);
    } else {
        ki__json_fail(json, KI_ERR_TYPE, "no value");
    }
}

void ki_json_value(ki_json *json, const char *name, const ki_value *value)
{
    if (!ki__json_begin(json, name)) {
        return;
    }
    if (value == NULL) {
        ki__json_fail(json, KI_ERR_INVALID, "a value must not be NULL");
    } else if (ki_value_type(value) == KI_TYPE_NONE) {
        omit(json);
    } else {
        ki__put_value(&json->out, value);
        check_depth(json, value);
        ki__json_done(json);
    }
}

void ki_json_member(ki_json *json, const ki_value *name, const ki_value *value)
{
    if (!ki__json_begin(json, NULL)) {
        return;
    }
    if (name == NULL || ki_value_type(name) != KI_TYPE_STRING) {
        ki__json_fail(json, KI_ERR_TYPE, "the name of a member must be a string");
        return;
    }
    ki__put_name_value(&json->out, name);
    note_name(json);
    ki_json_value(json, NULL, value);
}

void ki_json_raw(ki_json *json, const char *name, const char *text)
{
    ki_error error;
    ki__error_init(&error);
    if (!ki__json_begin(json, name)) {
        return;
    }
    if (text == NULL) {
        ki__json_fail(json, KI_ERR_INVALID, "raw JSON must not be NULL");
        return;
    }
    ki_str value = ki__trim(ki_str_from(text), " \t\r\n");
    int r = ki__json_check(value, depth_left(json), &error);
    if (r < 0) {
        ki__json_fail(json, r, error.message);
        json->failure.offset = error.offset;
        json->failure.line = error.line;
        json->failure.column = error.column;
        return;
    }
    ki__put_json(&json->out, value);
    ki__json_done(json);
}

static void put_identity(ki_json *json, const char *name, const char *text)
{
    if (text[0] != '\0') {
        ki_json_string(json, name, text);
    } else if (ki__json_begin(json, name)) {
        ki__json_fail(json, KI_ERR_INVALID, "the owner has none");
    }
}

void ki_json_owner_reference(ki_json *json, const ki_object *owner, bool controller)
{
    if (!ki__json_begin(json, NULL)) {
        return;
    }
    if (owner == NULL) {
        ki__json_fail(json, KI_ERR_INVALID, "an owner must not be NULL");
        return;
    }
    ki_json_begin_map(json, NULL);
    put_identity(json, "apiVersion", ki_object_api_version(owner));
    put_identity(json, "kind", ki_object_kind(owner));
    put_identity(json, "name", ki_object_name(owner));
    put_identity(json, "uid", ki_object_uid(owner));
    if (controller) {
        ki_json_bool(json, "controller", true);
        ki_json_bool(json, "blockOwnerDeletion", true);
    }
    ki_json_end(json);
}

/* ---- results ---- */

static int check_complete(const ki_json *json, ki_error *error)
{
    if (json->out.error < 0) {
        if (error != NULL) {
            ki__error_copy(error, &json->failure);
        }
        return json->out.error;
    }
    if (ki__out_is_complete(&json->out)) {
        return 0;
    }
    if (json->out.depth == 0) {
        return ki__error_set(error, KI_ERR_INVALID, "no JSON was written");
    }
    if (ki__out_is_named(&json->out)) {
        return ki__json_describe(json, KI__JSON_VALUE, KI_ERR_INVALID, "a name without a value",
                                 error);
    }
    bool is_map = ki__out_is_map(&json->out, json->out.depth);
    return ki__json_describe(json, KI__JSON_CONTAINER, KI_ERR_INVALID,
                             is_map ? "the map was not ended" : "the list was not ended", error);
}

int ki_json_text(ki_json *json, ki_str *ret_text, ki_error *error)
{
    KI__REQUIRE(json, error);
    KI__REQUIRE(ret_text, error);
    int r = check_complete(json, error);
    if (r == 0) {
        *ret_text = ki_buf_str(&json->buf);
    }
    return r;
}

int ki_json_object(ki_json *json, ki_object **ret_object, ki_error *error)
{
    KI__REQUIRE(json, error);
    KI__REQUIRE(ret_object, error);
    int r = check_complete(json, error);
    if (r < 0) {
        return r;
    }
    ki_object_options options = {
        .size = sizeof(options), .alloc = json->alloc, .max_bytes = json->buf.max};
    return ki_object_from_json(json->buf.data, json->buf.len, &options, ret_object, error);
}

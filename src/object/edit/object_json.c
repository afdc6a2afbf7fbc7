/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/object_json.h"

#include <errno.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "object/json/json_scan.h"
#include "object/json/json_skip.h"
#include "object/json/json_value.h"
#include "object/object.h"

enum { BYTES_DEFAULT = 16 << 20, BYTES_MAX = 1 << 30, DEPTH_DEFAULT = 128 };

int ki__object_json_options(const ki_object_options *options, ki_object_options *ret_options,
                            ki_error *error)
{
    ki_object_options o;
    int r = KI__TAKE(ki_object_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    o.alloc = ki__alloc_or_default(o.alloc);
    o.max_bytes = o.max_bytes != 0 ? o.max_bytes : BYTES_DEFAULT;
    o.max_depth = o.max_depth != 0 ? o.max_depth : DEPTH_DEFAULT;
    if (o.max_bytes > BYTES_MAX) {
        return ki__error_set(error, -EINVAL, "max_bytes: must not be more than 1 GiB");
    }
    if (o.max_depth > KI__JSON_MAX_DEPTH) {
        return ki__error_set(error, -EINVAL, "max_depth: must not be more than %d",
                             KI__JSON_MAX_DEPTH);
    }
    *ret_options = o;
    return 0;
}

/* Prefixes the message of an error and keeps its position. */
static int explain(ki_error *error, int code, const char *what)
{
    if (error != NULL) {
        size_t offset = error->offset;
        uint32_t line = error->line;
        uint32_t column = error->column;
        (void)ki__error_set(error, code, "%s: %s", what, error->message);
        error->offset = offset;
        error->line = line;
        error->column = column;
    }
    return code;
}

int ki__object_to_json(const ki_object *object, const ki_object_options *options,
                       ki_object **ret_object, ki_error *error)
{
    int r = ki__object_require_whole(object, error);
    if (r < 0) {
        return r;
    }
    if (ki_object_encoding(object) == KI_ENCODING_JSON) {
        *ret_object = ki_object_ref(object);
        return 0;
    }
    if (!ki_object_is_complete(object)) {
        return ki__error_set(error, KI_ERR_NO_SCHEMA,
                             "%s %s: has fields that the library has no schema for",
                             ki_object_kind(object), ki_object_key(object));
    }
    ki_buf text;
    ki_object_options o = *options;
    /* JSON may be one level deeper: lists of scalars do not count in protobuf. */
    o.max_depth = KI__JSON_MAX_DEPTH;
    o.projection = NULL;
    ki_buf_init(&text, o.alloc, o.max_bytes);
    r = ki_object_write_json(object, &text);
    r = r < 0 ? ki__error_code(error, r)
              : ki_object_from_json(text.data, text.len, &o, ret_object, error);
    ki_buf_done(&text);
    return r;
}

int ki__json_text_value(ki_str text, const char *what, uint32_t max_depth, ki_buf *buf,
                        ki_value *ret_value, ki_error *error)
{
    text.ptr = text.ptr != NULL ? text.ptr : "";
    int r = ki__json_check(text, max_depth, error);
    if (r < 0) {
        return explain(error, r, what);
    }
    char *room;
    r = ki_buf_reserve(buf, text.len + KI__JSON_PADDING, &room);
    if (r < 0) {
        (void)ki__error_code(error, r);
        return explain(error, r, what);
    }
    memcpy(room, text.ptr, text.len);
    memset(room + text.len, 0, KI__JSON_PADDING);
    ki_buf_commit(buf, text.len + KI__JSON_PADDING);
    *ret_value = ki__json_value_at(ki__json_skip_space(buf->data), buf->data + text.len);
    return 0;
}

int ki__object_from_written(ki_str json, const char *what, const ki_object_options *options,
                            ki_object **ret_object, ki_error *error)
{
    int r = ki_object_from_json(json.ptr, json.len, options, ret_object, error);
    return r < 0 ? explain(error, r, what) : r;
}

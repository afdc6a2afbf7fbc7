/* SPDX-License-Identifier: Apache-2.0 */
/* The value API: checks types and dispatches to the table of the value's encoding. Values of
 * partial objects have a node of the projection (`kept`), which decides what of them can be read; a
 * value of KI_TYPE_NONE with the node ki__keep_none means a field that was not kept. */
#include "object/value.h"

#include <errno.h>

#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/error.h>

#include "base/assert.h"
#include "base/error.h"
#include "object/projection/keep_tree.h"

static const ki__value_ops *ops_of(const ki_value *value)
{
    return value->ops;
}

static const ki__keep_node *node_of(const ki_value *value)
{
    return value->kept;
}

ki_value ki__value_not_kept(void)
{
    return (ki_value){.kept = &ki__keep_none};
}

bool ki__value_is_not_kept(const ki_value *value)
{
    return value->kept == &ki__keep_none;
}

/* The nodes of packed objects that could not be decompressed. */
static const ki__keep_node no_memory = {.rest = &no_memory};
static const ki__keep_node damaged = {.rest = &damaged};

int ki__value_failure(const ki_value *value)
{
    return ki__value_is_not_kept(value) ? KI_ERR_NOT_KEPT
           : value->kept == &no_memory  ? -ENOMEM
           : value->kept == &damaged    ? KI_ERR_DAMAGED
                                        : 0;
}

/* The error of a function that needs another type. */
static int mismatch(const ki_value *value)
{
    int failure = ki__value_failure(value);
    return failure < 0 ? failure : KI_ERR_TYPE;
}

ki_value ki__value_none(int code)
{
    return (ki_value){.kept = code == KI_ERR_NOT_KEPT  ? &ki__keep_none
                              : code == -ENOMEM        ? &no_memory
                              : code == KI_ERR_DAMAGED ? &damaged
                                                       : NULL};
}

ki_type ki_value_type(const ki_value *value)
{
    return value->ops != NULL ? ops_of(value)->type(value) : KI_TYPE_NONE;
}

const char *ki_type_name(ki_type type)
{
    static const char *const names[] = {
        [KI_TYPE_NONE] = "none",     [KI_TYPE_NULL] = "null",     [KI_TYPE_BOOL] = "bool",
        [KI_TYPE_NUMBER] = "number", [KI_TYPE_STRING] = "string", [KI_TYPE_LIST] = "list",
        [KI_TYPE_MAP] = "map",
    };
    _Static_assert(sizeof(names) / sizeof(names[0]) == KI_TYPE_MAX, "a name for each type");
    return (size_t)type < KI_TYPE_MAX ? names[type] : "unknown";
}

int ki_value_string(const ki_value *value, ki_str *ret_text)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_text, NULL);
    if (ki_value_type(value) != KI_TYPE_STRING) {
        return mismatch(value);
    }
    return ops_of(value)->string(value, ret_text);
}

int ki_value_copy_string(const ki_value *value, ki_buf *out)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(out, NULL);
    ki_str text;
    int r = ki_value_string(value, &text);
    if (r == 0) {
        return ki_buf_add_str(out, text);
    }
    if (r != KI_ERR_NOT_PLAIN) {
        return r;
    }
    char *room;
    size_t len = ops_of(value)->decode(value, NULL, 0);
    r = ki_buf_reserve(out, len, &room);
    if (r < 0) {
        return r;
    }
    size_t written = ops_of(value)->decode(value, room, len);
    ki_assert(written == len);
    ki_buf_commit(out, len);
    return 0;
}

int ki_value_get_string(const ki_value *value, char *text, size_t size)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(text, NULL);
    ki_assert(size != 0);
    ki_str plain;
    int r = ki_value_string(value, &plain);
    if (r < 0 && r != KI_ERR_NOT_PLAIN) {
        return r;
    }
    size_t room = size - 1 < INT32_MAX ? size - 1 : INT32_MAX;
    size_t len = r == 0 ? plain.len : ops_of(value)->decode(value, NULL, 0);
    if (len > room) {
        return KI_ERR_LIMIT;
    }
    if (r < 0) {
        (void)ops_of(value)->decode(value, text, len); /* the length is the same again */
    } else if (len != 0) {
        memcpy(text, plain.ptr, len);
    }
    text[len] = '\0';
    return (int)len;
}

/* Length of valid UTF-8 without a truncated last character. */
static size_t whole_characters(const char *text, size_t len)
{
    size_t start = len;
    do {
        if (start == 0) {
            return 0;
        }
        start--;
    } while (((unsigned char)text[start] & 0xc0) == 0x80);
    unsigned char first = (unsigned char)text[start];
    size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return len - start < need ? start : len;
}

size_t ki__value_prefix(const ki_value *value, char *out, size_t size)
{
    ki_str plain;
    int r = ki_value_string(value, &plain);
    if (r < 0 && r != KI_ERR_NOT_PLAIN) {
        return 0;
    }
    size_t len = r == 0 ? plain.len : ops_of(value)->decode(value, out, size);
    size_t written = len < size ? len : size;
    if (r == 0 && written != 0) {
        memcpy(out, plain.ptr, written);
    }
    return len > size ? whole_characters(out, written) : written;
}

ki_value ki__value_child(const ki_value *map, const char *name)
{
    ki_value value;
    int r = ki_value_member(map, ki_str_from(name), &value);
    return r == 0 ? value : ki__value_none(r);
}

ki_str ki__value_child_text(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    ki_str text;
    return ki_value_string(&value, &text) == 0 ? text : ki_str_make(NULL, 0);
}

int32_t ki__value_child_count(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    int64_t number;
    if (ki_value_int64(&value, &number) < 0 || number < 0) {
        return 0;
    }
    return number < INT32_MAX ? (int32_t)number : INT32_MAX;
}

bool ki__value_child_flag(const ki_value *map, const char *name)
{
    ki_value value = ki__value_child(map, name);
    bool flag;
    return ki_value_bool(&value, &flag) == 0 && flag;
}

bool ki__value_child_is(const ki_value *map, const char *name, const char *text)
{
    ki_value value = ki__value_child(map, name);
    return ki_value_equals(&value, ki_str_from(text));
}

bool ki_value_equals(const ki_value *value, ki_str text)
{
    return ki_value_type(value) == KI_TYPE_STRING && ops_of(value)->equals(value, text);
}

bool ki_value_equals_text(const ki_value *value, const char *text)
{
    return ki_value_equals(value, ki_str_from(text));
}

int ki_value_int64(const ki_value *value, int64_t *ret_number)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_number, NULL);
    if (ki_value_type(value) != KI_TYPE_NUMBER) {
        return mismatch(value);
    }
    return ops_of(value)->int64(value, ret_number);
}

int ki_value_double(const ki_value *value, double *ret_number)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_number, NULL);
    if (ki_value_type(value) != KI_TYPE_NUMBER) {
        return mismatch(value);
    }
    return ops_of(value)->real(value, ret_number);
}

int ki_value_number_text(const ki_value *value, ki_str *ret_text)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_text, NULL);
    if (ki_value_type(value) != KI_TYPE_NUMBER) {
        return mismatch(value);
    }
    return ops_of(value)->number_text(value, ret_text);
}

int ki_value_bool(const ki_value *value, bool *ret_flag)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(ret_flag, NULL);
    if (ki_value_type(value) != KI_TYPE_BOOL) {
        return mismatch(value);
    }
    *ret_flag = ops_of(value)->boolean(value);
    return 0;
}

int64_t ki_value_int64_or(const ki_value *value, int64_t otherwise)
{
    int64_t number = otherwise;
    return ki_value_int64(value, &number) == 0 ? number : otherwise;
}

double ki_value_double_or(const ki_value *value, double otherwise)
{
    double number = otherwise;
    return ki_value_double(value, &number) == 0 ? number : otherwise;
}

bool ki_value_bool_or(const ki_value *value, bool otherwise)
{
    bool flag = otherwise;
    return ki_value_bool(value, &flag) == 0 ? flag : otherwise;
}

const char *ki_value_string_or(const ki_value *value, const char *otherwise, char *text,
                               size_t size)
{
    return size != 0 && ki_value_get_string(value, text, size) >= 0 ? text : otherwise;
}

int ki_value_member(const ki_value *map, ki_str name, ki_value *ret_member)
{
    KI__REQUIRE(map, NULL);
    KI__REQUIRE(ret_member, NULL);
    if (ki_value_type(map) != KI_TYPE_MAP) {
        return mismatch(map);
    }
    if (map->kept == NULL) {
        return ops_of(map)->member(map, name, ret_member);
    }
    const ki__keep_node *node = ki__keep_member(map->kept, name);
    if (node == &ki__keep_none) {
        return KI_ERR_NOT_KEPT;
    }
    int r = ops_of(map)->member(map, name, ret_member);
    if (r == 0) {
        ret_member->kept = node;
    }
    return r;
}

int ki_value_element(const ki_value *list, int64_t index, ki_value *ret_element)
{
    KI__REQUIRE(list, NULL);
    KI__REQUIRE(ret_element, NULL);
    if (ki_value_type(list) != KI_TYPE_LIST) {
        return mismatch(list);
    }
    if (list->kept != NULL && node_of(list)->rest == &ki__keep_none) {
        return KI_ERR_NOT_KEPT;
    }
    if (index < 0) {
        index += (int64_t)ki_value_count(list);
        if (index < 0) {
            return KI_ERR_NOT_FOUND;
        }
    }
    ki_value_iter iter;
    int r = ki_value_iter_begin(list, &iter);
    if (r < 0) {
        return r;
    }
    ki_value element;
    while (ki_value_iter_next(&iter, NULL, &element) > 0) {
        if (index-- == 0) {
            *ret_element = element;
            return 0;
        }
    }
    return KI_ERR_NOT_FOUND;
}

size_t ki_value_count(const ki_value *container)
{
    ki_value_iter iter;
    ki_value value;
    size_t count = 0;
    if (ki_value_iter_begin(container, &iter) < 0) {
        return 0;
    }
    while (ki_value_iter_next(&iter, NULL, &value) > 0) {
        count++;
    }
    return count;
}

int ki_value_iter_begin(const ki_value *container, ki_value_iter *ret_iter)
{
    KI__REQUIRE(container, NULL);
    KI__REQUIRE(ret_iter, NULL);
    ki_type type = ki_value_type(container);
    if (type != KI_TYPE_LIST && type != KI_TYPE_MAP) {
        return mismatch(container);
    }
    *ret_iter = (ki_value_iter){.container = *container};
    ops_of(container)->iter_init(ret_iter);
    return 0;
}

/* The node of the member `key`. */
static const ki__keep_node *member_node(const ki__keep_node *node, const ki_value *key)
{
    ki_str name;
    if (ki_value_string(key, &name) == 0) {
        return ki__keep_member(node, name);
    }
    for (uint32_t i = 0; i < node->count; i++) {
        if (ki_value_equals(key, node->children[i].name)) {
            return node->children[i].node;
        }
    }
    return node->rest;
}

/* Members that are not kept may still be in the bytes: of protobuf, fields that are absent but have
 * a value in JSON, or a placeholder (projection/proto_project.c). */
static int next_kept(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value)
{
    const ki__keep_node *node = node_of(&iter->container);
    bool map = ki_value_type(&iter->container) == KI_TYPE_MAP;
    ki_value key;
    ki_value value;
    int r;
    while ((r = ops_of(&iter->container)->iter_next(iter, &key, &value)) > 0) {
        const ki__keep_node *child = map ? member_node(node, &key) : node->rest;
        if (child != &ki__keep_none) {
            value.kept = child;
            *ret_value = value;
            if (ret_key != NULL) {
                *ret_key = key;
            }
            return 1;
        }
    }
    return (map ? node->misses : node->rest == &ki__keep_none) ? KI_ERR_NOT_KEPT : r;
}

int ki_value_iter_next(ki_value_iter *iter, ki_value *ret_key, ki_value *ret_value)
{
    KI__REQUIRE(iter, NULL);
    KI__REQUIRE(ret_value, NULL);
    if (iter->container.ops == NULL) {
        return 0; /* a zeroed iterator is at the end */
    }
    if (iter->container.kept != NULL) {
        return next_kept(iter, ret_key, ret_value);
    }
    return ops_of(&iter->container)->iter_next(iter, ret_key, ret_value);
}

int ki_value_write_json(const ki_value *value, ki_buf *out)
{
    KI__REQUIRE(value, NULL);
    KI__REQUIRE(out, NULL);
    if (value->ops == NULL) {
        return mismatch(value);
    }
    return ops_of(value)->write_json(value, out);
}

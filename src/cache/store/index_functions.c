/* SPDX-License-Identifier: Apache-2.0 */
/* Predefined index functions: by namespace, by label, by path. */
#include <errno.h>
#include <string.h>

#include <kinformer/index.h>
#include <kinformer/path.h>
#include <kinformer/store.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "cache/store/index.h"
#include "object/object.h"

/* Encoded text is decoded into a buffer of at most this size: longer values could not be indexed
 * anyway. */
enum { TEXT_MAX = 64 * 1024 };

static int namespace_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    return ki_index_values_add(values, ki__object_namespace(object));
}

int ki_index_by_namespace(ki_index *ret_index)
{
    KI__REQUIRE_SIZED(ki_index, ret_index, NULL);
    const ki_index index = {
        .size = sizeof(index), .name = KI_INDEX_NAMESPACE, .values = namespace_values};
    return KI__GIVE(ki_index, ret_index, &index);
}

bool ki__index_is_of_key(const ki_index *index)
{
    return index->values == namespace_values;
}

static int add_string(ki_index_values *values, const ki_value *value, const ki_alloc *alloc)
{
    ki_str text;
    int r = ki_value_string(value, &text);
    if (r >= 0) {
        return ki_index_values_add(values, text);
    }
    ki_buf decoded;
    ki_buf_init(&decoded, alloc, TEXT_MAX);
    r = ki_value_copy_string(value, &decoded);
    if (r >= 0) {
        r = ki_index_values_add(values, ki_buf_str(&decoded));
    }
    ki_buf_done(&decoded);
    return r;
}

/* Numbers and booleans, in JSON syntax. */
static int add_scalar(ki_index_values *values, const ki_value *value, const ki_alloc *alloc)
{
    ki_buf text;
    ki_buf_init(&text, alloc, TEXT_MAX);
    int r = ki_value_write_json(value, &text);
    if (r >= 0) {
        r = ki_index_values_add(values, ki_buf_str(&text));
    }
    ki_buf_done(&text);
    return r;
}

struct by_label {
    const ki_alloc *alloc;
    char label[];
};

static int label_values(const ki_object *object, ki_index_values *values, void *user)
{
    const struct by_label *by = user;
    ki_value labels = ki_object_labels(object);
    ki_value value = ki__value_child(&labels, by->label);
    return ki_value_type(&value) != KI_TYPE_STRING ? 0 : add_string(values, &value, by->alloc);
}

bool ki__index_is_of_metadata(const ki_index *index)
{
    return ki__index_is_of_key(index) || index->values == label_values;
}

static void label_destroy(void *user)
{
    struct by_label *by = user;
    ki__free(by->alloc, by);
}

int ki_index_by_label(const char *name, const char *label, const ki_alloc *alloc,
                      ki_index *ret_index)
{
    KI__REQUIRE(name, NULL);
    KI__REQUIRE(label, NULL);
    KI__REQUIRE_SIZED(ki_index, ret_index, NULL);
    alloc = ki__alloc_or_default(alloc);
    size_t size = strlen(label) + 1;
    struct by_label *by = ki__alloc(alloc, sizeof(*by) + size);
    if (by == NULL) {
        return -ENOMEM;
    }
    by->alloc = alloc;
    memcpy(by->label, label, size);
    const ki_index index = {sizeof(index), name, label_values, by, label_destroy};
    return KI__GIVE(ki_index, ret_index, &index);
}

struct by_path {
    const ki_alloc *alloc;
    ki_path *path;
};

static int path_values(const ki_object *object, ki_index_values *values, void *user)
{
    const struct by_path *by = user;
    ki_value root = ki_object_root(object);
    ki_path_iter *iter;
    int r = ki_path_iter_begin(by->path, &root, &iter);
    if (r < 0) {
        return r;
    }
    ki_value value;
    while ((r = ki_path_iter_next(iter, &value)) > 0) {
        switch (ki_value_type(&value)) {
        case KI_TYPE_STRING:
            r = add_string(values, &value, by->alloc);
            break;
        case KI_TYPE_NUMBER:
        case KI_TYPE_BOOL:
            r = add_scalar(values, &value, by->alloc);
            break;
        case KI_TYPE_NONE:
        case KI_TYPE_NULL:
        case KI_TYPE_LIST:
        case KI_TYPE_MAP:
        case KI_TYPE_MAX:
            break;
        }
        if (r < 0) {
            break;
        }
    }
    (void)ki_path_iter_end(iter);
    return r;
}

static void path_destroy(void *user)
{
    struct by_path *by = user;
    (void)ki_path_unref(by->path);
    ki__free(by->alloc, by);
}

int ki_index_by_path(const char *name, const ki_path *path, const ki_alloc *alloc,
                     ki_index *ret_index)
{
    KI__REQUIRE(name, NULL);
    KI__REQUIRE(path, NULL);
    KI__REQUIRE_SIZED(ki_index, ret_index, NULL);
    alloc = ki__alloc_or_default(alloc);
    struct by_path *by = ki__alloc(alloc, sizeof(*by));
    if (by == NULL) {
        return -ENOMEM;
    }
    *by = (struct by_path){alloc, ki_path_ref(path)};
    const ki_index index = {sizeof(index), name, path_values, by, path_destroy};
    return KI__GIVE(ki_index, ret_index, &index);
}

void ki_index_done(ki_index *index)
{
    if (index == NULL) {
        return;
    }
    if (index->destroy != NULL) {
        index->destroy(index->user);
    }
    (void)KI__GIVE(ki_index, index, &(ki_index){0});
}

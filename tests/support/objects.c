/* SPDX-License-Identifier: Apache-2.0 */
#include "support/objects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/index.h>

#include "support/test.h"

static ki_object *make(const ki_alloc *alloc, const char *json, size_t len)
{
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    const ki_object_options options = {.size = sizeof(options), .alloc = alloc};
    int r = ki_object_from_json(json, len, &options, &object, &error);
    if (r < 0 && r != -ENOMEM) {
        fail_msg("offset %zu: %s: %s", error.offset, error.message, json);
    }
    return object;
}

ki_object *test_json(const char *json)
{
    return make(NULL, json, strlen(json));
}

ki_object *test_object(const ki_alloc *alloc, const char *json)
{
    char text[1024];
    size_t len = strlen(json);
    assert_true(len < sizeof(text));
    for (size_t i = 0; i <= len; i++) {
        text[i] = json[i] == '\'' ? '"' : json[i];
    }
    return make(alloc, text, len);
}

ki_object *test_pod(const ki_alloc *alloc, const char *name_space, const char *name,
                    unsigned resource_version, const char *group)
{
    char json[512];
    int len = snprintf(json, sizeof(json),
                       "{'metadata':{'name':'%s','namespace':'%s','resourceVersion':'%u',"
                       "'labels':{'group':'%s'}}}",
                       name, name_space, resource_version, group);
    assert_true(len > 0 && (size_t)len < sizeof(json));
    return test_object(alloc, json);
}

int test_group_values(const ki_object *object, ki_index_values *values, void *user)
{
    (void)user;
    if (!ki_object_has_label(object, "group")) {
        return 0;
    }
    return ki_index_values_add(values, ki_object_label(object, "group"));
}

static bool has_group(const ki_object *object, ki_str group)
{
    return ki_object_has_label(object, "group") &&
           ki_str_eq(ki_object_label(object, "group"), group);
}

static size_t check_value(const ki_snapshot *snapshot, const char *index, ki_str value,
                          size_t expected)
{
    ki_snapshot_iter iter;
    assert_int_equal(ki_snapshot_iter_by_index(snapshot, index, value, &iter), 0);
    const ki_object *object;
    size_t count = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        assert_true(has_group(object, value));
        assert_ptr_equal(ki_snapshot_get(snapshot, ki_object_key(object)), object);
        count++;
    }
    assert_int_equal(count, expected);
    return count;
}

void test_check_snapshot(const ki_snapshot *snapshot, const char *group_index)
{
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    size_t count = 0;
    size_t grouped = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        assert_ptr_equal(ki_snapshot_get(snapshot, ki_object_key(object)), object);
        grouped += ki_object_has_label(object, "group");
        count++;
    }
    assert_int_equal(ki_snapshot_iter_next(&iter, &object), 0);
    assert_int_equal(count, ki_snapshot_count(snapshot));
    if (group_index == NULL) {
        return;
    }
    ki_index_iter values;
    ki_str value;
    size_t in_value;
    size_t in_index = 0;
    assert_int_equal(ki_index_iter_begin(snapshot, group_index, &values), 0);
    while (ki_index_iter_next(&values, &value, &in_value) > 0) {
        assert_true(in_value > 0);
        in_index += check_value(snapshot, group_index, value, in_value);
    }
    assert_int_equal(in_index, grouped);
}

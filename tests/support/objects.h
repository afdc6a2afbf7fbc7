/* SPDX-License-Identifier: Apache-2.0 */
/* Objects for tests, made of as little as possible. */
#ifndef TESTS_SUPPORT_OBJECTS_H
#define TESTS_SUPPORT_OBJECTS_H

#include <kinformer/index.h>
#include <kinformer/object.h>
#include <kinformer/store.h>

/** An object from JSON that must be good. */
ki_object *test_json(const char *json);

/** The same with ' instead of " in the text; NULL only if there is no memory. */
ki_object *test_object(const ki_alloc *alloc, const char *json);

/** An object with this namespace, name, resource version and the label "group". */
ki_object *test_pod(const ki_alloc *alloc, const char *name_space, const char *name,
                    unsigned resource_version, const char *group);

/** An index function: the value of the label "group", for objects that have it. */
int test_group_values(const ki_object *object, ki_index_values *values, void *user);

/** Compares each index of a snapshot with what its objects say, walks included; fails the test if
 * one is off. `group_index` is the name of an index by the label "group", or NULL. */
void test_check_snapshot(const ki_snapshot *snapshot, const char *group_index);

#endif

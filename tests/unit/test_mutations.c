/* SPDX-License-Identifier: Apache-2.0 */
/* Objects whose memory someone has written to are found. */
#include <errno.h>
#include <string.h>

#include <kinformer/encoding.h>

#include "cache/store/mutations.h"
#include "support/objects.h"
#include "support/test.h"

static const ki__hash_key hash_key = {3, 4};

/* What no program should do. */
static void scribble(const ki_object *object)
{
    ki_str bytes = ki_object_bytes(object);
    char *text = (char *)(uintptr_t)strstr(bytes.ptr, "group");
    assert_non_null(text);
    text[0] = text[0] == 'g' ? 'G' : 'g';
}

static void what_was_changed_in_memory_is_found(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__mutations m;
    ki__mutations_init(&m, &alloc.table, hash_key);
    ki_object *a = test_pod(NULL, "ns", "a", 1, "g");
    ki_object *b = test_pod(NULL, "ns", "b", 1, "g");
    ki_object *b2 = test_pod(NULL, "ns", "b", 2, "g");
    assert_true(ki__mutations_put(&m, a));
    assert_true(ki__mutations_put(&m, b));
    size_t position = 0;
    assert_null(ki__mutations_next(&m, &position));
    scribble(b);
    position = 0;
    assert_ptr_equal(ki__mutations_next(&m, &position), b);
    assert_null(ki__mutations_next(&m, &position));
    assert_false(ki__mutations_put(&m, b2)); /* found at the latest when it goes */
    assert_true(ki__mutations_put(&m, b2));
    scribble(a);
    assert_false(ki__mutations_remove(&m, ki_str_from("ns/a")));
    assert_true(ki__mutations_remove(&m, ki_str_from("ns/a")));
    ki__mutations_done(&m);
    (void)ki_object_unref(a);
    (void)ki_object_unref(b);
    (void)ki_object_unref(b2);
    test_alloc_done(&alloc);
}

static int scenario(const ki_alloc *alloc, void *user)
{
    test_alloc *counts = (test_alloc *)(uintptr_t)alloc; /* its first member is the table */
    (void)user;
    ki__mutations m;
    ki__mutations_init(&m, alloc, hash_key);
    for (unsigned i = 0; i < 20; i++) {
        char name[2] = {(char)('a' + i % 7), '\0'};
        ki_object *object = test_pod(NULL, "ns", name, i, "g");
        assert_true(ki__mutations_put(&m, object));
        (void)ki_object_unref(object);
    }
    size_t position = 0;
    assert_null(ki__mutations_next(&m, &position));
    ki__mutations_done(&m);
    return counts->failures != 0 ? -ENOMEM : 0;
}

static void without_memory_less_is_watched_and_nothing_is_wrong(void **state)
{
    (void)state;
    test_alloc_sweep(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_changed_in_memory_is_found),
        cmocka_unit_test(without_memory_less_is_watched_and_nothing_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

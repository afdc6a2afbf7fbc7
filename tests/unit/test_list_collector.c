/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of a list that is still coming. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kinformer/error.h>

#include "support/fake_source.h"
#include "support/test.h"
#include "wire/list_collector.h"

static const ki__hash_key key = {1, 2};

static int put(ki__collect *collect, ki_object *object)
{
    int r = ki__collect_put(collect, object);
    (void)ki_object_unref(object);
    return r;
}

static int add(ki__collect *collect, ki_object *object)
{
    int r = ki__collect_add(collect, object);
    (void)ki_object_unref(object);
    return r;
}

static void remove_key(ki__collect *collect, const char *name)
{
    assert_int_equal(ki__collect_remove(collect, name), 0);
}

static int append(ki__collect *collect, ki_object *object)
{
    int r = ki__collect_append(collect, object);
    (void)ki_object_unref(object);
    return r;
}

static void expect(ki__collect *collect, const char *names)
{
    char text[256] = "";
    ki__collect_pack(collect);
    for (size_t i = 0; i < collect->count; i++) {
        size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%s@%s ",
                       ki_object_name(collect->objects[i]),
                       ki_object_resource_version(collect->objects[i]));
    }
    assert_string_equal(text, names);
}

static void appended_objects_stay_in_order_even_with_one_key(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    assert_int_equal(append(&collect, fake_pod("b", 1)), 0);
    assert_int_equal(append(&collect, fake_pod("a", 2)), 0);
    assert_int_equal(append(&collect, fake_pod("b", 3)), 0);
    expect(&collect, "b@1 a@2 b@3 ");
    ki__collect_clear(&collect);
    expect(&collect, "");
}

static void an_object_put_again_takes_the_place_of_the_first(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(put(&collect, fake_pod("b", 1 + i)), 0);
        assert_int_equal(put(&collect, fake_pod("a", 2 + i)), 0);
    }
    remove_key(&collect, "default/b");
    remove_key(&collect, "default/b");
    remove_key(&collect, "default/unknown");
    assert_int_equal(put(&collect, fake_pod("c", 8)), 0);
    assert_int_equal(put(&collect, fake_pod("b", 9)), 0);
    expect(&collect, "a@4 c@8 b@9 ");
    ki__collect_clear(&collect);
    ki__collect_clear(&collect);
}

static void added_objects_need_no_map_until_one_is_replaced(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    assert_int_equal(add(&collect, fake_pod("a", 1)), 0);
    assert_int_equal(add(&collect, fake_pod("b", 2)), 0);
    assert_int_equal(add(&collect, fake_pod("c", 3)), 0);
    assert_int_equal(collect.places.cap, 0);
    assert_int_equal(put(&collect, fake_pod("b", 4)), 0);
    assert_int_equal(add(&collect, fake_pod("d", 5)), 0);
    remove_key(&collect, "default/a");
    assert_int_equal(add(&collect, fake_pod("a", 6)), 0);
    expect(&collect, "b@4 c@3 d@5 a@6 ");
    ki__collect_clear(&collect);
    assert_int_equal(add(&collect, fake_pod("b", 7)), 0);
    assert_int_equal(collect.places.cap, 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/b"), 0); /* duplicate */
    assert_int_equal(collect.unread_count, 0);
    remove_key(&collect, "default/b");
    expect(&collect, "");
    ki__collect_clear(&collect);
}

/* No server does that. */
static void of_a_key_added_twice_the_last_object_counts(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    assert_int_equal(add(&collect, fake_pod("a", 1)), 0);
    assert_int_equal(add(&collect, fake_pod("b", 2)), 0);
    assert_int_equal(add(&collect, fake_pod("a", 3)), 0);
    assert_int_equal(put(&collect, fake_pod("c", 4)), 0);
    expect(&collect, "b@2 a@3 c@4 ");
    remove_key(&collect, "default/a");
    expect(&collect, "b@2 c@4 ");
    ki__collect_clear(&collect);
}

static void an_object_added_after_it_could_not_be_read_was_read(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/b"), 0);
    assert_int_equal(add(&collect, fake_pod("a", 1)), 0);
    assert_int_equal(add(&collect, fake_pod("b", 2)), 0);
    assert_int_equal(collect.unread_count, 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/a"), 0);
    assert_int_equal(collect.unread_count, 0);
    expect(&collect, "a@1 b@2 ");
    ki__collect_clear(&collect);
}

static void keys_that_were_not_read_are_kept_until_read_or_removed(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    assert_int_equal(put(&collect, fake_pod("a", 1)), 0);
    assert_int_equal(ki__collect_add_unread(&collect, ""), 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/a"), 0); /* duplicate */
    assert_int_equal(ki__collect_add_unread(&collect, "default/b"), 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/c"), 0);
    assert_int_equal(collect.unread_count, 2);
    remove_key(&collect, "default/b");
    assert_int_equal(collect.unread_count, 1);
    assert_str(collect.unread[0], "default/c");
    assert_int_equal(put(&collect, fake_pod("c", 7)), 0); /* now it was read */
    assert_int_equal(collect.unread_count, 0);
    assert_int_equal(ki__collect_add_unread(&collect, "default/d"), 0);
    ki__collect_clear(&collect);
    assert_int_equal(collect.unread_count, 0);
}

static void one_key_is_unread_once(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__collect collect;
    ki__collect_init(&collect, &alloc.table, key, 0);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(ki__collect_add_unread(&collect, i % 2 == 0 ? "x/a" : "x/b"), 0);
    }
    assert_int_equal(collect.unread_count, 2);
    remove_key(&collect, "x/a");
    assert_int_equal(collect.unread_count, 1);
    assert_str(collect.unread[0], "x/b");
    ki__collect_clear(&collect);
    test_alloc_done(&alloc);
}

static void objects_that_come_and_go_take_no_room(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__collect collect;
    ki__collect_init(&collect, &alloc.table, key, 3);
    assert_int_equal(put(&collect, fake_pod("stays", 1)), 0);
    for (unsigned i = 0; i < 10000; i++) {
        assert_int_equal(put(&collect, fake_pod("a", i)), 0);
        assert_int_equal(put(&collect, fake_pod("b", i)), 0);
        remove_key(&collect, "default/a");
        remove_key(&collect, "default/b");
    }
    assert_int_equal(put(&collect, fake_pod("a", 2)), 0);
    assert_int_equal(put(&collect, fake_pod("stays", 3)), 0);
    expect(&collect, "stays@3 a@2 ");
    remove_key(&collect, "default/stays");
    assert_int_equal(put(&collect, fake_pod("c", 4)), 0);
    expect(&collect, "a@2 c@4 ");
    ki__collect_clear(&collect);
    assert_true(alloc.peak_bytes < 10000);
    test_alloc_done(&alloc);
}

/* With a search through all of them this takes minutes. */
static void many_keys_that_were_not_read_are_removed_in_no_time(void **state)
{
    (void)state;
    enum { MANY = 200000 };
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 0);
    clock_t start = clock();
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            char name[32];
            (void)snprintf(name, sizeof(name), "default/%06u", i);
            if (round == 0) {
                assert_int_equal(ki__collect_add_unread(&collect, name), 0);
            } else {
                remove_key(&collect, name);
            }
        }
    }
    assert_int_equal(collect.unread_count, 0);
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    ki__collect_clear(&collect);
}

static void there_is_a_limit(void **state)
{
    (void)state;
    ki__collect collect;
    ki__collect_init(&collect, ki_alloc_default(), key, 2);
    assert_int_equal(put(&collect, fake_pod("a", 1)), 0);
    assert_int_equal(put(&collect, fake_pod("b", 1)), 0);
    assert_int_equal(put(&collect, fake_pod("b", 2)), 0);
    assert_int_equal(put(&collect, fake_pod("c", 1)), KI_ERR_LIMIT);
    assert_int_equal(ki__collect_add_unread(&collect, "x"), 0);
    assert_int_equal(ki__collect_add_unread(&collect, "y"), 0);
    assert_int_equal(ki__collect_add_unread(&collect, "z"), KI_ERR_LIMIT);
    expect(&collect, "a@1 b@2 ");
    ki__collect_clear(&collect);
}

static int fill(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__collect collect;
    ki__collect_init(&collect, alloc, key, 0);
    int r = 0;
    for (unsigned i = 0; i < 40 && r == 0; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "pod-%u", i);
        r = i < 20 ? add(&collect, fake_pod(name, 1)) : put(&collect, fake_pod(name, 1));
        if (r < 0) {
            assert_int_equal(collect.count, i); /* nothing half done */
        }
        if (r == 0 && i % 30 == 29) {
            (void)snprintf(name, sizeof(name), "x/%u", i);
            r = ki__collect_add_unread(&collect, name);
        }
    }
    r = r == 0 ? ki__collect_remove(&collect, "default/pod-3") : r;
    ki__collect_clear(&collect);
    return r;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_objects_stay_in_order_even_with_one_key),
        cmocka_unit_test(an_object_put_again_takes_the_place_of_the_first),
        cmocka_unit_test(added_objects_need_no_map_until_one_is_replaced),
        cmocka_unit_test(of_a_key_added_twice_the_last_object_counts),
        cmocka_unit_test(an_object_added_after_it_could_not_be_read_was_read),
        cmocka_unit_test(keys_that_were_not_read_are_kept_until_read_or_removed),
        cmocka_unit_test(one_key_is_unread_once),
        cmocka_unit_test(objects_that_come_and_go_take_no_room),
        cmocka_unit_test(many_keys_that_were_not_read_are_removed_in_no_time),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

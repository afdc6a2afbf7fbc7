/* SPDX-License-Identifier: Apache-2.0 */
/* The targets that come with the library: a store, and a queue. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <kinformer/parts/queue.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/store.h>

#include "support/fake_source.h"
#include "support/test.h"

static int with(int (*tell)(const ki_object *object, void *user, ki_error *error), void *user,
                ki_object *object)
{
    int r = tell(object, user, NULL);
    (void)ki_object_unref(object);
    return r;
}

static void expect_store(ki_store *store, const char *version, size_t count)
{
    ki_snapshot *snapshot = ki_store_snapshot(store);
    assert_string_equal(ki_snapshot_resource_version(snapshot), version);
    assert_int_equal(ki_snapshot_count(snapshot), count);
    (void)ki_snapshot_unref(snapshot);
}

static int fill_store(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki_store *store = NULL;
    int r = ki_store_new(KI_OPTIONS(ki_store_options, .alloc = alloc), &store, NULL);
    if (r < 0) {
        return r;
    }
    ki_reflector_target t = {0};
    assert_int_equal(ki_reflector_target_store(store, &t), 0);
    (void)ki_store_unref(store); /* the target has its own */
    ki_object *a = fake_pod("a", 1);
    ki_object *b = fake_pod("b", 2);
    const ki_object *const objects[] = {a, b};
    const ki_str unread[] = {ki_str_from("default/c"), ki_str_from("default/never-there")};
    ki_replacement list = {0, objects, 2, NULL, 0, "5"};
    r = t.replace(&list, t.user, NULL);
    if (r == 0) {
        r = with(t.add, t.user, fake_pod("c", 6));
    }
    if (r == 0) {
        r = with(t.update, t.user, fake_pod("c", 7));
    }
    if (r == 0) {
        expect_store(store, "7", 3);
        ki_object *known = t.find("default/b", t.user);
        assert_ptr_equal(known, b);
        (void)ki_object_unref(known);
        assert_null(t.find("default/never-there", t.user));
        r = with(t.remove, t.user, fake_pod("a", 8));
        r = r > 0 ? 0 : r;
    }
    if (r == 0) {
        expect_store(store, "8", 2);
        r = t.remove_key("default/b", t.user, NULL);
        r = r > 0 ? 0 : r;
    }
    if (r == 0) {
        expect_store(store, "8", 1);
        r = t.bookmark("9", t.user, NULL);
    }
    if (r == 0) {
        expect_store(store, "9", 1);
        list = (ki_replacement){0, objects, 1, unread, 2, "10"};
        r = t.replace(&list, t.user, NULL);
    }
    if (r == 0) {
        expect_store(store, "10", 2);
        ki_object *c = ki_store_get(store, "default/c"); /* as it was */
        assert_non_null(c);
        assert_string_equal(ki_object_resource_version(c), "7");
        (void)ki_object_unref(c);
        list = (ki_replacement){0, NULL, 0, unread, 2, "11"};
        r = t.replace(&list, t.user, NULL);
    }
    if (r == 0) {
        expect_store(store, "11", 1);
        assert_null(t.resync);
    }
    (void)ki_object_unref(a);
    (void)ki_object_unref(b);
    t.destroy(t.user);
    return r;
}

static void a_store_follows_its_events(void **state)
{
    (void)state;
    test_alloc_sweep(fill_store, NULL);
}

typedef struct heard {
    char text[256];
} heard;

static int hear(const ki_deltas *deltas, void *user)
{
    heard *h = user;
    for (size_t i = 0; i < deltas->count; i++) {
        const ki_delta *delta = ki_deltas_at(deltas, i);
        size_t len = strlen(h->text);
        ki_str key = ki_delta_key(delta);
        (void)snprintf(h->text + len, sizeof(h->text) - len, "%s(%.*s) ",
                       ki_delta_type_name(delta->type), KI_STR_ARG(key));
        if (delta->type == KI_DELTA_REPLACED_ALL) {
            assert_int_equal(delta->replaced->unread_count, 1);
        }
    }
    return KI_POP_DONE;
}

static void a_queue_gets_all_of_it(void **state)
{
    (void)state;
    ki_queue *queue;
    assert_int_equal(ki_fifo_new(NULL, &queue, NULL), 0);
    ki_reflector_target t = {0};
    assert_int_equal(ki_reflector_target_queue(queue, &t), 0);
    const ki_str unread[] = {ki_str_from("default/z")};
    ki_replacement list = {0, NULL, 0, unread, 1, "5"};
    assert_int_equal(t.replace(&list, t.user, NULL), 0);
    assert_int_equal(with(t.add, t.user, fake_pod("a", 6)), 0);
    assert_int_equal(with(t.update, t.user, fake_pod("a", 7)), 0);
    assert_int_equal(with(t.remove, t.user, fake_pod("a", 8)), 0);
    assert_int_equal(t.remove_key("default/b", t.user, NULL), 0);
    assert_int_equal(t.resync(t.user, NULL), 0);
    assert_int_equal(t.bookmark("9", t.user, NULL), 0);
    heard h = {0};
    while (ki_queue_poll(queue, 0, hear, &h) > 0) {
    }
    assert_string_equal(h.text, "ReplacedAll() Added(default/a) Updated(default/a) "
                                "Deleted(default/a) Deleted(default/b) SyncAll() Bookmark() ");
    t.destroy(t.user);
    (void)ki_queue_unref(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_follows_its_events),
        cmocka_unit_test(a_queue_gets_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "support/test.h"

struct item {
    char name;
    ki__list link;
};

static struct item *item_of(ki__list *link)
{
    return link != NULL ? KI__CONTAINER_OF(link, struct item, link) : NULL;
}

/* The list holds the items with these names, read forwards and backwards. */
static void check(const ki__list *head, const char *names)
{
    size_t len = strlen(names);
    size_t i = 0;
    KI__LIST_FOR_EACH (link, head) {
        assert_true(i < len);
        assert_int_equal(item_of(link)->name, names[i++]);
    }
    assert_int_equal(i, len);
    for (const ki__list *link = head->prev; link != head; link = link->prev) {
        assert_true(i > 0);
        assert_int_equal(KI__CONTAINER_OF(link, const struct item, link)->name, names[--i]);
    }
    assert_int_equal(i, 0);
    assert_int_equal(ki__list_is_empty(head), len == 0);
}

static void name_items(struct item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i].name = (char)('a' + (char)i);
        ki__list_init(&items[i].link);
    }
}

static void pushes_go_to_both_ends(void **state)
{
    (void)state;
    struct item items[4];
    name_items(items, 4);
    ki__list head;
    ki__list_init(&head);
    check(&head, "");
    ki__list_push_back(&head, &items[1].link);
    ki__list_push_back(&head, &items[2].link);
    ki__list_push_front(&head, &items[0].link);
    ki__list_push_back(&head, &items[3].link);
    check(&head, "abcd");
}

static void pop_takes_from_the_front(void **state)
{
    (void)state;
    struct item items[2];
    name_items(items, 2);
    ki__list head;
    ki__list_init(&head);
    ki__list_push_back(&head, &items[0].link);
    ki__list_push_back(&head, &items[1].link);
    assert_ptr_equal(item_of(ki__list_pop_front(&head)), &items[0]);
    check(&head, "b");
    assert_ptr_equal(item_of(ki__list_pop_front(&head)), &items[1]);
    check(&head, "");
    assert_null(ki__list_pop_front(&head));
}

static void remove_works_anywhere_and_twice(void **state)
{
    (void)state;
    static const struct {
        size_t which;
        const char *left;
    } cases[] = {{0, "bc"}, {1, "ac"}, {2, "ab"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct item items[3];
        name_items(items, 3);
        ki__list head;
        ki__list_init(&head);
        for (size_t j = 0; j < 3; j++) {
            ki__list_push_back(&head, &items[j].link);
        }
        ki__list *link = &items[cases[i].which].link;
        ki__list_remove(link);
        check(&head, cases[i].left);
        assert_true(ki__list_is_empty(link));
        ki__list_remove(link);
        check(&head, cases[i].left);
    }
}

static void link_may_move_to_another_list(void **state)
{
    (void)state;
    struct item items[3];
    name_items(items, 3);
    ki__list from;
    ki__list to;
    ki__list_init(&from);
    ki__list_init(&to);
    for (size_t i = 0; i < 3; i++) {
        ki__list_push_back(&from, &items[i].link);
    }
    ki__list_remove(&items[1].link);
    ki__list_push_front(&to, &items[1].link);
    check(&from, "ac");
    check(&to, "b");
}

static void walk_allows_to_free_the_current_one(void **state)
{
    (void)state;
    ki__list head;
    ki__list_init(&head);
    for (char name = 'a'; name <= 'f'; name++) {
        struct item *item = test_malloc(sizeof(*item));
        item->name = name;
        ki__list_push_back(&head, &item->link);
    }
    KI__LIST_FOR_EACH (link, &head) {
        struct item *item = item_of(link);
        if (item->name % 2 == 0) {
            ki__list_remove(link);
            test_free(item);
        }
    }
    check(&head, "ace");
    KI__LIST_FOR_EACH (link, &head) {
        ki__list_remove(link);
        test_free(item_of(link));
    }
    check(&head, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_go_to_both_ends),
        cmocka_unit_test(pop_takes_from_the_front),
        cmocka_unit_test(remove_works_anywhere_and_twice),
        cmocka_unit_test(link_may_move_to_another_list),
        cmocka_unit_test(walk_allows_to_free_the_current_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

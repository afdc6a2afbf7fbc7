/* SPDX-License-Identifier: Apache-2.0 */
/* Lists whose members and owner end in any order.  threads: yes */
#include <pthread.h>

#include "base/members.h"
#include "base/refs.h"
#include "support/test.h"

static void count(ki__member *member, void *user)
{
    assert_true(member->joined);
    (*(size_t *)user)++;
}

static size_t count_of(ki__list *members)
{
    size_t n = 0;
    ki__members_visit(members, count, &n);
    return n;
}

static void a_member_is_in_one_list_until_it_leaves(void **state)
{
    (void)state;
    ki__list one;
    ki__list two;
    ki__member member = {0};
    ki__list_init(&one);
    ki__list_init(&two);
    ki__members_leave(&member); /* of none */
    assert_true(ki__members_join(&one, &member, KI__MEMBER_QUEUE, NULL));
    assert_false(ki__members_join(&one, &member, KI__MEMBER_QUEUE, NULL));
    assert_false(ki__members_join(&two, &member, KI__MEMBER_QUEUE, NULL));
    assert_int_equal(count_of(&one), 1);
    assert_int_equal(count_of(&two), 0);
    ki__members_leave(&member);
    ki__members_leave(&member);
    assert_int_equal(count_of(&one), 0);
    assert_true(ki__members_join(&two, &member, KI__MEMBER_QUEUE, NULL));
    ki__members_remove_all(&two);
    assert_false(member.joined);
    ki__members_leave(&member); /* the list is gone */
}

static void an_owner_takes_its_members_along(void **state)
{
    (void)state;
    ki__list list;
    ki__member members[3] = {{.joined = false}};
    int owners[2];
    ki__list_init(&list);
    for (size_t i = 0; i < 3; i++) {
        assert_true(ki__members_join(&list, &members[i], KI__MEMBER_INFORMER, &owners[i % 2]));
    }
    ki__members_remove(&list, &owners[0]);
    assert_int_equal(count_of(&list), 1);
    assert_false(members[0].joined);
    assert_true(members[1].joined);
    ki__members_set_owner(&members[1], &owners[0]);
    ki__members_remove(&list, &owners[1]);
    assert_int_equal(count_of(&list), 1);
    ki__members_remove_all(&list);
}

static void a_reference_is_taken_only_of_what_has_some(void **state)
{
    (void)state;
    ki__refs refs;
    ki__refs_init(&refs);
    assert_true(ki__refs_try_take(&refs));
    assert_false(ki__refs_drop(&refs));
    assert_true(ki__refs_drop(&refs));
    assert_false(ki__refs_try_take(&refs));
}

/* Things that are added and removed during a walk. */
typedef struct thing {
    ki__member member;
    ki__refs refs;
} thing;

static ki__list shared;
static _Atomic uint64_t taken;

static void try_take(ki__member *member, void *user)
{
    (void)user;
    thing *t = KI__CONTAINER_OF(member, thing, member);
    if (ki__refs_try_take(&t->refs)) {
        atomic_fetch_add(&taken, 1);
        assert_false(ki__refs_drop(&t->refs)); /* the maker waits for the lock to leave */
    }
}

static void *come_and_go(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < 2000; i++) {
        thing t = {.member = {.joined = false}};
        ki__refs_init(&t.refs);
        (void)ki__members_join(&shared, &t.member, KI__MEMBER_QUEUE, NULL);
        ki__members_leave(&t.member);
        assert_true(ki__refs_drop(&t.refs));
    }
    return NULL;
}

static void members_come_and_go_while_others_look(void **state)
{
    (void)state;
    pthread_t threads[3];
    ki__list_init(&shared);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, NULL), 0);
    }
    for (size_t i = 0; i < 2000; i++) {
        ki__members_visit(&shared, try_take, NULL);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(count_of(&shared), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_in_one_list_until_it_leaves),
        cmocka_unit_test(an_owner_takes_its_members_along),
        cmocka_unit_test(a_reference_is_taken_only_of_what_has_some),
        cmocka_unit_test(members_come_and_go_while_others_look),
    };
    return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}

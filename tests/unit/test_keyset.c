/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache/store/keyset.h"
#include "support/test.h"

static void has_what_was_added_and_nothing_else(void **state)
{
    (void)state;
    enum { KEYS = 2000 };
    static char keys[KEYS][16];
    ki__keyset set;
    ki__keyset_init(&set, ki_alloc_default(), (ki__hash_key){1, 2});
    assert_int_equal(ki__keyset_reset(&set, KEYS), 0);
    for (unsigned i = 0; i < KEYS; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), "k%u", i);
        assert_true(ki__keyset_add(&set, ki_str_from(keys[i])));
        assert_false(ki__keyset_add(&set, ki_str_from(keys[i])));
    }
    for (unsigned i = 0; i < 2 * KEYS; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "k%u", i);
        assert_int_equal(ki__keyset_has(&set, ki_str_from(key)), i < KEYS);
    }
    assert_int_equal(ki__keyset_reset(&set, 1), 0); /* a small part of the room */
    assert_false(ki__keyset_has(&set, ki_str_from("k1")));
    assert_true(ki__keyset_add(&set, ki_str_from("k1")));
    assert_int_equal(ki__keyset_reset(&set, KEYS), 0);
    assert_false(ki__keyset_has(&set, ki_str_from("k1")));
    ki__keyset_done(&set);
}

static void without_memory_it_stays_as_it_was(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__keyset set;
    ki__keyset_init(&set, &alloc.table, (ki__hash_key){1, 2});
    assert_int_equal(ki__keyset_reset(&set, 4), 0);
    assert_true(ki__keyset_add(&set, ki_str_from("a")));
    alloc.fail_at = alloc.calls + 1;
    assert_int_equal(ki__keyset_reset(&set, 100), -ENOMEM);
    assert_int_equal(ki__keyset_reset(&set, SIZE_MAX), -ENOMEM);
    assert_true(ki__keyset_has(&set, ki_str_from("a")));
    ki__keyset_done(&set);
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_what_was_added_and_nothing_else),
        cmocka_unit_test(without_memory_it_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

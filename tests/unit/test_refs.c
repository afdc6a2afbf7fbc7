/* SPDX-License-Identifier: Apache-2.0 */
/* threads: yes */
#include <pthread.h>

#include "base/refs.h"
#include "support/test.h"

enum { THREADS = 4, ROUNDS = 20000 };

static void only_the_last_drop_is_the_last(void **state)
{
    (void)state;
    ki__refs refs;
    ki__refs_init(&refs);
    ki__refs_take(&refs);
    ki__refs_take(&refs);
    assert_false(ki__refs_drop(&refs));
    assert_false(ki__refs_drop(&refs));
    assert_true(ki__refs_drop(&refs));
}

struct shared {
    ki__refs refs;
    unsigned written; /* by the first thread, read by the last */
    _Atomic unsigned last;
};

static void *take_and_drop(void *user)
{
    struct shared *s = user;
    for (unsigned i = 0; i < ROUNDS; i++) {
        ki__refs_take(&s->refs);
        if (ki__refs_drop(&s->refs)) {
            atomic_fetch_add(&s->last, 1);
        }
    }
    if (ki__refs_drop(&s->refs)) { /* sees what the main thread wrote before it dropped */
        atomic_fetch_add(&s->last, s->written);
    }
    return NULL;
}

static void one_thread_is_the_last_and_sees_all(void **state)
{
    (void)state;
    struct shared s = {0};
    pthread_t threads[THREADS];
    ki__refs_init(&s.refs);
    for (unsigned i = 0; i < THREADS; i++) {
        ki__refs_take(&s.refs);
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_drop, &s), 0);
    }
    s.written = 1;
    if (ki__refs_drop(&s.refs)) {
        atomic_fetch_add(&s.last, 1);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&s.last), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_last_drop_is_the_last),
        cmocka_unit_test(one_thread_is_the_last_and_sees_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

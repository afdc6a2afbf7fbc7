/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of an informer on a loop: on threads that they share, and without any.  threads: yes */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>
#include <kinformer/registration.h>

#include "base/engine.h"
#include "loop/loop.h"
#include "support/objects.h"
#include "support/test.h"

enum { PODS = 3 };

static size_t thread_count(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        count += isdigit(entry->d_name[0]) != 0;
    }
    closedir(dir);
    return count;
}

/* How many threads have a name that begins so. */
static size_t threads_named(const char *prefix)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char path[300];
        char name[32] = "";
        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL) { /* else the thread has ended */
            count += fgets(name, sizeof(name), file) != NULL &&
                     strncmp(name, prefix, strlen(prefix)) == 0;
            (void)fclose(file);
        }
    }
    closedir(dir);
    return count;
}

/* A source that lists some pods at once, and then watches in silence. */
typedef struct quiet {
    ki__timer timer;
    ki_source_sink sink;
} quiet;

static void answer(ki__timer *timer)
{
    quiet *q = KI__CONTAINER_OF(timer, quiet, timer);
    ki_list_meta meta = {.resource_version = "9", .continue_token = "", .remaining = -1};
    for (unsigned i = 0; i < PODS; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        ki_object *pod = test_pod(NULL, "ns", name, i + 1, "g");
        q->sink.on_event(KI_WATCH_EVENT_ADDED, pod, NULL, q->sink.user);
        (void)ki_object_unref(pod);
    }
    q->sink.on_end(&meta, NULL, NULL, q->sink.user);
}

static int quiet_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    quiet *q = user;
    q->sink = *sink;
    ki__timer_set_after(&q->timer, 0);
    *ret_call = q;
    return 0;
}

static int quiet_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                       void **ret_call, ki_error *error)
{
    (void)options;
    (void)sink;
    (void)error;
    *ret_call = user;
    return 0;
}

static void quiet_cancel(void *call, void *user)
{
    (void)user;
    ki__timer_cancel(&((quiet *)call)->timer);
}

static void quiet_destroy(void *user)
{
    ki__timer_done(&((quiet *)user)->timer);
}

/* A handler that counts, and may be made to wait. */
typedef struct ear {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int heard;
    int destroyed;
    bool hold; /* callbacks wait while this is set */
    pthread_t thread;
} ear;

static void ear_add(const ki_object *object, bool is_initial, void *user)
{
    (void)object;
    (void)is_initial;
    ear *e = user;
    pthread_mutex_lock(&e->lock);
    e->thread = pthread_self();
    e->heard++;
    pthread_cond_broadcast(&e->changed);
    while (e->hold) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
}

static void ear_destroy(void *user)
{
    ear *e = user;
    pthread_mutex_lock(&e->lock);
    e->destroyed++;
    pthread_mutex_unlock(&e->lock);
}

static void ear_init(ear *e)
{
    *e = (ear){0};
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
}

static void wait_heard(ear *e, int count)
{
    pthread_mutex_lock(&e->lock);
    while (e->heard < count) {
        pthread_cond_wait(&e->changed, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
}

static void let_go(ear *e)
{
    pthread_mutex_lock(&e->lock);
    e->hold = false;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

typedef struct fixture {
    test_alloc alloc;
    size_t threads;
    ki_loop *loop;
    quiet source;
    ki_informer *informer;
} fixture;

static void begin_with(fixture *f, bool no_threads, uint32_t handler_threads)
{
    *f = (fixture){.threads = thread_count()};
    test_alloc_init(&f->alloc);
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f->alloc.table;
    options.no_threads = no_threads;
    options.handler_threads = handler_threads;
    assert_int_equal(ki_loop_new(&options, &f->loop, NULL), 0);
    ki_engine *engine = ki_loop_engine(f->loop);
    assert_int_equal(ki__timer_init(&f->source.timer, engine, answer), 0);
    ki_source source = {
        .list = quiet_list,
        .watch = quiet_watch,
        .cancel = quiet_cancel,
        .no_streaming_list = true,
        .user = &f->source,
        .destroy = quiet_destroy,
    };
    ki_informer_options informer_options = KI_OPTIONS_INIT(ki_informer_options);
    informer_options.engine = engine;
    informer_options.source = &source;
    assert_int_equal(ki_informer_new(&informer_options, &f->informer, NULL), 0);
}

static void begin(fixture *f, bool no_threads)
{
    begin_with(f, no_threads, 0);
}

/* Everything is released, in the order that a program would use; nothing is left. */
static void end(fixture *f)
{
    ki_informer_stop(f->informer);
    while (!ki_informer_is_stopped(f->informer)) {
    }
    f->informer = ki_informer_unref(f->informer);
    ki_loop_stop(f->loop);
    assert_int_equal(ki_loop_join(f->loop), 0);
    for (int i = 0; i < 100000 && thread_count() != f->threads;
         i++) { /* the kernel takes a while */
    }
    f->loop = ki_loop_unref(f->loop);
    test_alloc_done(&f->alloc);
}

static void add(fixture *f, ear *e, ki_delivery delivery, ki_registration **ret_registration)
{
    ki_handler handler = {.on_add = ear_add, .user = e, .destroy = ear_destroy};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = delivery;
    assert_int_equal(
        ki_informer_add_handler(f->informer, &handler, &options, ret_registration, NULL), 0);
}

static void a_blocked_handler_delays_no_other(void **state)
{
    (void)state;
    fixture f;
    ear slow;
    ear fast;
    begin(&f, false);
    ear_init(&slow);
    ear_init(&fast);
    slow.hold = true;
    add(&f, &slow, KI_DELIVERY_DEFAULT, NULL);
    add(&f, &fast, KI_DELIVERY_DEFAULT, NULL);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    wait_heard(&slow, 1);
    wait_heard(&fast, PODS);
    pthread_mutex_lock(&slow.lock);
    assert_int_equal(slow.heard, 1);
    assert_false(pthread_equal(slow.thread, fast.thread));
    pthread_mutex_unlock(&slow.lock);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, 1, NULL), -ETIMEDOUT); /* one has not */
    let_go(&slow);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, UINT32_MAX, NULL), 0);
    end(&f);
    assert_int_equal(slow.heard, PODS);
    assert_int_equal(slow.destroyed + fast.destroyed, 2);
}

static void stopping_ends_the_threads_of_handlers(void **state)
{
    (void)state;
    fixture f;
    ear many[20];
    begin(&f, false);
    for (size_t i = 0; i < 20; i++) {
        ear_init(&many[i]);
        add(&f, &many[i], KI_DELIVERY_THREAD, NULL);
    }
    assert_true(thread_count() <= f.threads + 1); /* idle handlers share one */
    end(&f);                                      /* never started: there was nothing to tell */
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(many[i].destroyed, 1);
        assert_int_equal(many[i].heard, 0);
    }
}

static void removing_a_handler_ends_its_thread(void **state)
{
    (void)state;
    fixture f;
    begin(&f, false);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    for (size_t i = 0; i < 100; i++) {
        ear e;
        ear_init(&e);
        ki_registration *reg = NULL;
        add(&f, &e, KI_DELIVERY_DEFAULT, &reg);
        assert_int_equal(ki_registration_dispatch(reg, 0), KI_ERR_UNSUPPORTED);
        assert_int_equal(ki_registration_remove_wait(reg), 0);
        assert_int_equal(e.destroyed, 1);
        (void)ki_registration_unref(reg);
    }
    end(&f);
}

static void without_threads_handlers_run_on_the_loop(void **state)
{
    (void)state;
    fixture f;
    ear e;
    begin(&f, true);
    ear_init(&e);
    add(&f, &e, KI_DELIVERY_DEFAULT, NULL);
    ki_handler handler = {.on_add = ear_add, .user = &e};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_THREAD;
    assert_int_equal(ki_informer_add_handler(f.informer, &handler, &options, NULL, NULL),
                     KI_ERR_UNSUPPORTED);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    while (ki_loop_dispatch(f.loop) > 0 || e.heard < PODS) {
    }
    assert_true(pthread_equal(e.thread, pthread_self()));
    assert_int_equal(thread_count(), f.threads);
    ki_informer_stop(f.informer);
    while (!ki_informer_is_stopped(f.informer)) {
        assert_true(ki_loop_dispatch(f.loop) >= 0);
    }
    end(&f);
    assert_int_equal(e.destroyed, 1);
}

static void many_starts_and_stops_leave_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 200; i++) {
        fixture f;
        ear e;
        begin(&f, false);
        ear_init(&e);
        add(&f, &e, KI_DELIVERY_DEFAULT, NULL);
        assert_int_equal(ki_informer_start(f.informer, NULL), 0);
        assert_int_equal(ki_loop_start(f.loop, NULL), 0);
        if (i % 2 == 0) {
            wait_heard(&e, 1);
        }
        end(&f);
        assert_int_equal(e.destroyed, 1);
    }
}

/* ---- removing ---- */

typedef struct leaver {
    atomic_int heard;
    atomic_int late; /* callbacks that began after the removal had returned */
    atomic_bool removed;
    atomic_bool over; /* no callback may begin any more */
    atomic_int wrong;
} leaver;

static void leaver_add(const ki_object *object, bool is_initial, void *user)
{
    leaver *l = user;
    (void)object;
    (void)is_initial;
    l->late += atomic_load(&l->removed);
    l->wrong += atomic_load(&l->over);
    l->heard++;
}

/* What registration.h promises: no lock could give more without waiting. */
static void at_most_one_callback_begins_after_a_removal(void **state)
{
    (void)state;
    enum { ROUNDS = 2000 };
    fixture f;
    leaver *leavers = calloc(ROUNDS, sizeof(*leavers));
    begin(&f, false);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, UINT32_MAX, NULL), 0);
    for (size_t i = 0; i < ROUNDS; i++) {
        leaver *l = &leavers[i];
        ki_registration *reg = NULL;
        ki_handler handler = {.on_add = leaver_add, .user = l};
        assert_int_equal(ki_informer_add_handler(f.informer, &handler, NULL, &reg, NULL), 0);
        while (atomic_load(&l->heard) < (int)(i % PODS)) {
        }
        ki_registration_remove(reg);
        atomic_store(&l->removed, true);
        assert_int_equal(ki_registration_remove_wait(reg), 0);
        atomic_store(&l->over, true);
        (void)ki_registration_unref(reg);
    }
    end(&f);
    for (size_t i = 0; i < ROUNDS; i++) {
        assert_in_range(leavers[i].late, 0, 1);
        assert_int_equal(leavers[i].wrong, 0);
    }
    free(leavers);
}

/* ---- very many ---- */

enum { MANY = 3000, SLOW = 8 };

/* One of many handlers: counts what comes, and that it comes in order and one at a time. */
typedef struct one {
    atomic_int heard;
    atomic_int inside;
    atomic_int wrong;
    atomic_int destroyed;
    atomic_bool hold; /* callbacks wait while this is set */
} one;

static atomic_int all_heard;

static void one_add(const ki_object *object, bool is_initial, void *user)
{
    one *o = user;
    (void)is_initial;
    int turn = atomic_load(&o->heard);
    o->wrong += atomic_fetch_add(&o->inside, 1) != 0;
    o->wrong += ki_object_name(object)[0] != 'a' + turn;
    while (atomic_load(&o->hold)) {
        (void)sched_yield();
    }
    atomic_fetch_add(&o->heard, 1);
    atomic_fetch_sub(&o->inside, 1);
    atomic_fetch_add(&all_heard, 1);
}

static void one_destroy(void *user)
{
    one *o = user;
    o->wrong += atomic_load(&o->inside) != 0;
    o->destroyed++;
}

static void add_many(fixture *f, one *many, ki_registration **registrations)
{
    for (size_t i = 0; i < MANY; i++) {
        ki_handler handler = {.on_add = one_add, .user = &many[i], .destroy = one_destroy};
        assert_int_equal(
            ki_informer_add_handler(f->informer, &handler, NULL, &registrations[i], NULL), 0);
    }
}

static void let_all_go(one *many)
{
    for (size_t i = 0; i < MANY; i++) {
        atomic_store(&many[i].hold, false);
    }
}

static void check_many(const one *many)
{
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(many[i].wrong, 0);
        assert_int_equal(many[i].destroyed, 1);
    }
}

static void unref_many(ki_registration **registrations)
{
    for (size_t i = 0; i < MANY; i++) {
        (void)ki_registration_unref(registrations[i]);
    }
    free(registrations);
}

static void thousands_of_handlers_share_a_few_threads(void **state)
{
    (void)state;
    fixture f;
    one *many = calloc(MANY, sizeof(*many));
    ki_registration **registrations = calloc(MANY, sizeof(ki_registration *));
    begin(&f, false);
    all_heard = 0;
    for (size_t i = 0; i < SLOW; i++) {
        many[i * (MANY / SLOW)].hold = true;
    }
    add_many(&f, many, registrations);
    assert_true(thread_count() <= f.threads + 1);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    size_t most = 0;
    while (all_heard < (MANY - SLOW) * PODS) { /* all but the slow ones receive everything */
        size_t now = thread_count();
        most = now > most ? now : most;
    }
    ki_health health = KI_OPTIONS_INIT(ki_health);
    assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), 0);
    assert_true(health.handler_threads >= SLOW);
    assert_int_equal(health.handler_threads_full, 0);
    assert_int_equal(threads_named("ki-loop"), 1);
    assert_in_range(threads_named("ki-handler-"), SLOW, 200);
    let_all_go(many);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, UINT32_MAX, NULL), 0);
    assert_int_equal(all_heard, MANY * PODS);
    assert_in_range(most, 1, 200);
    unref_many(registrations);
    end(&f);
    check_many(many);
    free(many);
}

static void thousands_of_handlers_may_be_removed_at_any_moment(void **state)
{
    (void)state;
    fixture f;
    one *many = calloc(MANY, sizeof(*many));
    ki_registration **registrations = calloc(MANY, sizeof(ki_registration *));
    begin(&f, false);
    all_heard = 0;
    add_many(&f, many, registrations);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    while (all_heard == 0) {
    }
    for (size_t i = 0; i < MANY / 2; i++) {
        if (i % 2 == 0) {
            ki_registration_remove(registrations[i]);
        } else {
            assert_int_equal(ki_registration_remove_wait(registrations[i]), 0);
            assert_int_equal(many[i].destroyed, 1);
        }
    }
    unref_many(registrations);
    end(&f); /* which stops the rest */
    check_many(many);
    free(many);
}

static void beyond_the_limit_of_threads_handlers_take_turns(void **state)
{
    (void)state;
    fixture f;
    one *many = calloc(MANY, sizeof(*many));
    ki_registration **registrations = calloc(MANY, sizeof(ki_registration *));
    begin_with(&f, false, SLOW);
    all_heard = 0;
    for (size_t i = 0; i < SLOW; i++) {
        many[i].hold = true;
    }
    add_many(&f, many, registrations);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_loop_start(f.loop, NULL), 0);
    ki_health health = KI_OPTIONS_INIT(ki_health);
    while (health.handler_threads_full == 0) {
        assert_int_equal(ki_informer_get_health(f.informer, &health, NULL), 0);
    }
    assert_int_equal(health.handler_threads, SLOW + 1); /* one watches */
    atomic_store(&many[0].hold, false);                 /* one is enough for all others */
    while (all_heard < (MANY - SLOW + 1) * PODS) {
    }
    let_all_go(many);
    unref_many(registrations);
    end(&f);
    check_many(many);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocked_handler_delays_no_other),
        cmocka_unit_test(stopping_ends_the_threads_of_handlers),
        cmocka_unit_test(removing_a_handler_ends_its_thread),
        cmocka_unit_test(without_threads_handlers_run_on_the_loop),
        cmocka_unit_test(many_starts_and_stops_leave_nothing),
        cmocka_unit_test(at_most_one_callback_begins_after_a_removal),
        cmocka_unit_test(thousands_of_handlers_share_a_few_threads),
        cmocka_unit_test(thousands_of_handlers_may_be_removed_at_any_moment),
        cmocka_unit_test(beyond_the_limit_of_threads_handlers_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

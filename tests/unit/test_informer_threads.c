/* SPDX-License-Identifier: Apache-2.0 */
/* The shared informer between threads: the engine on one, handlers on their own, and others that
 * come, go, wait and look at any moment.  threads: yes */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/factory.h>
#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/watch_event.h>
#include <kinformer/registration.h>

#include "support/objects.h"
#include "support/test.h"

/* ---- the world as it is ---- */

static uint64_t monotonic(void *user)
{
    (void)user;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static int64_t realtime(void *user)
{
    return (int64_t)monotonic(user);
}

static int fill(void *bytes, size_t len, void *user)
{
    (void)user;
    memset(bytes, 7, len);
    return 0;
}

static const ki_clock the_clock = {.monotonic_ns = monotonic, .realtime_ns = realtime};
static const ki_random the_random = {.fill = fill};

/* An engine on a thread, which sleeps until it is woken or a time is there. */
typedef struct looper {
    ki_engine *engine;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool woken;
    bool end;
    ki_threads threads;
    size_t running; /* threads of handlers */
} looper;

typedef struct job {
    looper *l;
    void (*run)(void *arg);
    void *arg;
} job;

static void *run_job(void *user)
{
    job j = *(job *)user;
    free(user);
    j.run(j.arg);
    pthread_mutex_lock(&j.l->lock);
    j.l->running--;
    pthread_cond_broadcast(&j.l->changed);
    pthread_mutex_unlock(&j.l->lock);
    return NULL;
}

static int start_thread(void (*run)(void *arg), void *arg, void *user)
{
    looper *l = user;
    job *j = calloc(1, sizeof(*j));
    *j = (job){.l = l, .run = run, .arg = arg};
    pthread_mutex_lock(&l->lock);
    l->running++;
    pthread_mutex_unlock(&l->lock);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_job, j), 0);
    pthread_detach(thread);
    return 0;
}

static void wake_looper(void *user)
{
    looper *l = user;
    pthread_mutex_lock(&l->lock);
    l->woken = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void *loop(void *user)
{
    looper *l = user;
    bool end = false;
    while (!end) {
        while (ki_engine_run(l->engine, 7) != 0) {
        }
        pthread_mutex_lock(&l->lock);
        while (!l->woken && !l->end) { /* no timer here is worth waking for */
            pthread_cond_wait(&l->changed, &l->lock);
        }
        l->woken = false;
        end = l->end;
        pthread_mutex_unlock(&l->lock);
    }
    while (ki_engine_run(l->engine, 0) != 0) {
    }
    return NULL;
}

static void begin_loop(looper *l, const ki_alloc *alloc)
{
    *l = (looper){0};
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.alloc = alloc;
    options.clock = &the_clock;
    options.random = &the_random;
    options.wake = wake_looper;
    options.wake_user = l;
    l->threads = (ki_threads){.start = start_thread, .user = l};
    options.threads = &l->threads;
    assert_int_equal(ki_engine_new(&options, &l->engine, NULL), 0);
    assert_int_equal(pthread_create(&l->thread, NULL, loop, l), 0);
}

static void end_loop(looper *l)
{
    pthread_mutex_lock(&l->lock);
    l->end = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL); /* first: until its end it may start threads */
    pthread_mutex_lock(&l->lock);
    while (l->running != 0) {
        pthread_cond_wait(&l->changed, &l->lock);
    }
    pthread_mutex_unlock(&l->lock);
    while (ki_engine_run(l->engine, 0) != 0) { /* what those threads posted */
    }
    (void)ki_engine_unref(l->engine);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
}

/* ---- a source that never rests ---- */

enum { KEYS = 8, MOST_EVENTS = 100000 };

typedef struct busy {
    ki_source_sink sink;
    ki_engine_task *task;
    bool open;
    bool watch;
    unsigned version;
    uint64_t seed;
    bool there[KEYS];
} busy;

static void say(busy *b, ki_watch_event_type type, unsigned key)
{
    char name[2] = {(char)('a' + key), '\0'};
    ki_object *object = test_pod(NULL, "ns", name, ++b->version, "g");
    b->there[key] = type != KI_WATCH_EVENT_DELETED;
    b->sink.on_event(type, object, NULL, b->sink.user);
    (void)ki_object_unref(object);
}

static void resume(void *user)
{
    busy *b = user;
    if (!b->open) {
        return;
    }
    if (!b->watch) {
        for (unsigned i = 0; i < KEYS / 2; i++) {
            say(b, KI_WATCH_EVENT_ADDED, i);
        }
        b->open = false;
        char version[16];
        (void)snprintf(version, sizeof(version), "%u", b->version);
        ki_list_meta meta = {.resource_version = version, .continue_token = "", .remaining = -1};
        b->sink.on_end(&meta, NULL, NULL, b->sink.user);
        return;
    }
    unsigned key = (unsigned)(test_random(&b->seed) % KEYS);
    bool remove = b->there[key] && test_random(&b->seed) % 4 == 0;
    say(b,
        remove          ? KI_WATCH_EVENT_DELETED
        : b->there[key] ? KI_WATCH_EVENT_MODIFIED
                        : KI_WATCH_EVENT_ADDED,
        key);
    if (b->version < MOST_EVENTS) {
        ki_engine_task_post(b->task);
    }
}

static int begin_call(busy *b, bool watch, const ki_source_sink *sink, void **ret_call)
{
    b->sink = *sink;
    b->open = true;
    b->watch = watch;
    *ret_call = b;
    ki_engine_task_post(b->task);
    return 0;
}

static int busy_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                     void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    return begin_call(user, false, sink, ret_call);
}

static int busy_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                      void **ret_call, ki_error *error)
{
    (void)options;
    (void)error;
    return begin_call(user, true, sink, ret_call);
}

static void busy_cancel(void *call, void *user)
{
    (void)user;
    ((busy *)call)->open = false;
}

static void busy_destroy(void *user)
{
    busy *b = user;
    (void)ki_engine_task_unref(b->task);
    free(b);
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    (void)resource;
    (void)name_space;
    looper *l = user;
    busy *b = calloc(1, sizeof(*b));
    b->seed = 3;
    assert_int_equal(ki_engine_task_new(l->engine, resume, b, &b->task, error), 0);
    *ret_source = (ki_source){
        .list = busy_list,
        .watch = busy_watch,
        .cancel = busy_cancel,
        .no_streaming_list = true,
        .user = b,
        .destroy = busy_destroy,
    };
    return 0;
}

static ki_informer *new_informer(looper *l)
{
    ki_source source = {0};
    ki_informer *informer = NULL;
    assert_int_equal(make_source(NULL, "", l, &source, NULL), 0);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = l->engine;
    options.source = &source;
    options.name = "pods";
    assert_int_equal(ki_informer_new(&options, &informer, NULL), 0);
    return informer;
}

/* ---- a handler that keeps books, on memory of its own ---- */

typedef struct book {
    ki_informer *informer; /* to do something with inside */
    unsigned seen[KEYS];   /* version of what is there; 0: nothing */
    unsigned calls;
    bool synced;
    atomic_bool inside; /* two at once would be one too many */
    atomic_int *alive;  /* how many of these there are */
    atomic_uint *woken;
} book;

static unsigned version_of(const ki_object *object)
{
    unsigned version = 0;
    for (const char *text = ki_object_resource_version(object); *text != '\0'; text++) {
        version = version * 10 + (unsigned)(*text - '0');
    }
    return version;
}

static unsigned *place_of(book *b, const ki_object *object)
{
    return &b->seen[ki_object_name(object)[0] - 'a'];
}

static void enter(book *b)
{
    assert_false(atomic_exchange(&b->inside, true));
    b->calls++;
    if (b->calls % 16 == 0) {
        ki_health health = KI_OPTIONS_INIT(ki_health);
        assert_int_equal(ki_informer_get_health(b->informer, &health, NULL), 0);
    }
}

static void leave(book *b)
{
    assert_true(atomic_exchange(&b->inside, false));
}

static void book_add(const ki_object *object, bool is_initial, void *user)
{
    book *b = user;
    enter(b);
    assert_int_equal(*place_of(b, object), 0);
    assert_false(b->synced && is_initial);
    *place_of(b, object) = version_of(object);
    leave(b);
}

static void book_update(const ki_object *old_object, const ki_object *object, void *user)
{
    book *b = user;
    enter(b);
    assert_int_equal(*place_of(b, object), version_of(old_object));
    *place_of(b, object) = version_of(object);
    leave(b);
}

static void book_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    book *b = user;
    (void)final_state_unknown;
    enter(b);
    assert_int_not_equal(*place_of(b, object), 0);
    *place_of(b, object) = 0;
    leave(b);
}

static void book_synced(void *user)
{
    book *b = user;
    enter(b);
    b->synced = true;
    leave(b);
}

static void book_wake(void *user)
{
    atomic_fetch_add(((book *)user)->woken, 1);
}

static void book_destroy(void *user)
{
    book *b = user;
    assert_false(atomic_load(&b->inside));
    atomic_fetch_sub(b->alive, 1);
    free(b);
}

typedef struct stage {
    looper l;
    ki_informer *informer;
    atomic_int alive;
    atomic_uint woken;
    atomic_bool end;
} stage;

static int listen(stage *s, ki_delivery delivery, size_t limit, ki_registration **ret_reg)
{
    book *b = calloc(1, sizeof(*b));
    b->informer = s->informer;
    b->alive = &s->alive;
    b->woken = &s->woken;
    ki_handler handler = {
        .on_add = book_add,
        .on_update = book_update,
        .on_delete = book_delete,
        .user = b,
        .destroy = book_destroy,
    };
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = delivery;
    options.queue_limit = limit;
    options.on_synced = book_synced;
    options.wake = book_wake;
    options.user = b;
    atomic_fetch_add(&s->alive, 1);
    int r = ki_informer_add_handler(s->informer, &handler, &options, ret_reg, NULL);
    if (r < 0) {
        assert_int_equal(r, KI_ERR_STOPPED);
        book_destroy(b);
    }
    return r;
}

/* ---- what threads do ---- */

static void *run_handler(void *user)
{
    ki_registration *reg = user;
    assert_int_equal(ki_registration_run(reg), KI_ERR_STOPPED);
    (void)ki_registration_unref(reg);
    return NULL;
}

/* Handlers with threads of their own, which end in one of the ways. */
static void *come_and_go(void *user)
{
    stage *s = user;
    for (unsigned i = 0; !atomic_load(&s->end); i++) {
        ki_registration *reg = NULL;
        pthread_t thread;
        if (listen(s, KI_DELIVERY_CALLER, i % 3 == 0 ? 2 : 0, &reg) < 0) {
            break;
        }
        assert_int_equal(pthread_create(&thread, NULL, run_handler, ki_registration_ref(reg)), 0);
        int r = i % 4 == 0 ? ki_informer_wait_for_sync(s->informer, UINT32_MAX, NULL) : 0;
        assert_true(r == 0 || r == KI_ERR_STOPPED);
        if (i % 2 == 0) {
            assert_int_equal(ki_registration_remove_wait(reg), 0);
        } else {
            ki_registration_remove(reg);
        }
        (void)ki_registration_unref(reg);
        pthread_join(thread, NULL);
    }
    return NULL;
}

/* Handlers inside the engine, or on threads that it starts, and others that are dispatched by hand,
 * or never. */
static void *come_and_go_elsewhere(void *user)
{
    stage *s = user;
    for (unsigned i = 0; !atomic_load(&s->end); i++) {
        ki_registration *regs[2] = {0};
        int r = listen(s, i % 2 == 0 ? KI_DELIVERY_LOOP : KI_DELIVERY_THREAD, 1, &regs[0]);
        r = r < 0 ? r : listen(s, KI_DELIVERY_CALLER, 1, &regs[1]);
        if (r == 0) {
            for (unsigned n = 0; n < i % 5; n++) {
                r = ki_registration_dispatch(regs[1], n);
                assert_true(r >= 0 || r == KI_ERR_STOPPED);
            }
            assert_int_equal(ki_registration_remove_wait(regs[1]), 0);
        }
        if (regs[0] != NULL) {
            ki_registration_remove(regs[0]);
        }
        (void)ki_registration_unref(regs[0]);
        (void)ki_registration_unref(regs[1]);
        if (r == KI_ERR_STOPPED) {
            break;
        }
    }
    return NULL;
}

static void *look(void *user)
{
    stage *s = user;
    while (!atomic_load(&s->end)) {
        ki_health health = KI_OPTIONS_INIT(ki_health);
        assert_int_equal(ki_informer_get_health(s->informer, &health, NULL), 0);
        assert_true(health.objects <= KEYS);
        char version[32];
        assert_true(ki_informer_last_sync_resource_version(s->informer, version, sizeof(version)) >=
                    0);
        int r = ki_informer_wait_for_sync(s->informer, 1, NULL);
        assert_true(r == 0 || r == -ETIMEDOUT || r == KI_ERR_STOPPED);
        (void)ki_informer_has_synced(s->informer);
        (void)ki_informer_unref(ki_informer_ref(s->informer));
    }
    return NULL;
}

static void wait_a_little(long ms)
{
    struct timespec time = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&time, NULL);
}

static void wait_until_stopped(ki_informer *informer)
{
    while (!ki_informer_is_stopped(informer)) {
        wait_a_little(1);
    }
}

enum { THREADS = 6 };

static void everybody_at_once(long ms)
{
    static void *(*const jobs[THREADS])(void *) = {come_and_go,           come_and_go, look,
                                                   come_and_go_elsewhere, look,        come_and_go};
    test_alloc alloc;
    stage s = {0};
    pthread_t threads[THREADS];
    test_alloc_init(&alloc);
    begin_loop(&s.l, &alloc.table);
    s.informer = new_informer(&s.l);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, jobs[i], &s), 0);
    }
    assert_int_equal(ki_informer_start(s.informer, NULL), 0);
    wait_a_little(ms);
    ki_informer_stop(s.informer);
    wait_until_stopped(s.informer);
    atomic_store(&s.end, true);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&s.alive), 0);
    s.informer = ki_informer_unref(s.informer);
    end_loop(&s.l);
    test_alloc_done(&alloc);
}

static void handlers_come_go_and_wait_on_many_threads(void **state)
{
    (void)state;
    everybody_at_once(300);
}

/* The stop may find it anywhere between its first list and its end. */
static void it_may_be_stopped_at_any_moment(void **state)
{
    (void)state;
    for (long ms = 0; ms < 30; ms++) {
        everybody_at_once(ms % 6);
    }
}

static void *stop_it(void *user)
{
    stage *s = user;
    ki_informer_stop(s->informer);
    (void)ki_informer_unref(s->informer);
    return NULL;
}

/* Starting and stopping at the same time; the last reference is dropped anywhere. */
static void starting_stopping_and_letting_go_may_meet(void **state)
{
    (void)state;
    test_alloc alloc;
    stage s = {0};
    test_alloc_init(&alloc);
    begin_loop(&s.l, &alloc.table);
    for (unsigned i = 0; i < 200; i++) {
        s.informer = new_informer(&s.l);
        ki_informer *mine = ki_informer_ref(s.informer);
        ki_registration *reg = NULL;
        ki_delivery delivery = i % 3 == 0 ? KI_DELIVERY_THREAD : KI_DELIVERY_LOOP;
        assert_int_equal(listen(&s, delivery, 0, &reg), 0);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, stop_it, &s), 0);
        int r = ki_informer_start(mine, NULL);
        assert_true(r == 0 || r == KI_ERR_STOPPED);
        (void)ki_registration_has_synced(reg);
        (void)ki_informer_unref(mine);
        pthread_join(thread, NULL);
        if (i % 2 == 0) {
            assert_int_equal(ki_registration_remove_wait(reg), 0);
        }
        (void)ki_registration_unref(reg); /* it may outlive its informer */
    }
    end_loop(&s.l);
    assert_int_equal(atomic_load(&s.alive), 0);
    test_alloc_done(&alloc);
}

/* ---- waiters are woken ---- */

typedef struct waiter {
    ki_informer *informer;
    pthread_t thread;
    int result;
} waiter;

static void *wait_for_sync(void *user)
{
    waiter *w = user;
    w->result = ki_informer_wait_for_sync(w->informer, UINT32_MAX, NULL);
    return NULL;
}

static void begin_waiting(waiter *w, ki_informer *informer)
{
    w->informer = informer;
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_sync, w), 0);
    wait_a_little(20); /* most likely it waits by now */
}

static int end_waiting(waiter *w)
{
    pthread_join(w->thread, NULL);
    return w->result;
}

static void waiters_are_woken_by_whatever_ends_the_wait(void **state)
{
    (void)state;
    waiter w;
    stage s = {0};
    ki_registration *never = NULL;
    begin_loop(&s.l, NULL);
    s.informer = new_informer(&s.l);
    begin_waiting(&w, s.informer);
    assert_int_equal(ki_informer_start(s.informer, NULL), 0);
    assert_int_equal(end_waiting(&w), 0); /* by the list */
    assert_int_equal(listen(&s, KI_DELIVERY_CALLER, 0, &never), 0);
    begin_waiting(&w, s.informer);
    ki_registration_remove(never);
    assert_int_equal(end_waiting(&w), 0); /* by the handler that is gone */
    (void)ki_registration_unref(never);
    assert_int_equal(listen(&s, KI_DELIVERY_CALLER, 0, &never), 0);
    begin_waiting(&w, s.informer);
    ki_informer_stop(s.informer);
    int r = end_waiting(&w);
    assert_true(r == 0 || r == KI_ERR_STOPPED); /* by the stop, which takes the handlers along */
    (void)ki_registration_unref(never);
    (void)ki_informer_unref(s.informer);
    s.informer = new_informer(&s.l);
    begin_waiting(&w, s.informer);
    ki_informer_stop(s.informer);
    assert_int_equal(end_waiting(&w), KI_ERR_STOPPED); /* and no engine has to run for it */
    (void)ki_informer_unref(s.informer);
    end_loop(&s.l);
}

/* ---- the factory ---- */

static atomic_bool factory_may_stop;

static void *use_factory(void *user)
{
    ki_factory *factory = user;
    for (unsigned i = 0; i < 50; i++) {
        const ki_resource *resource = i % 2 == 0 ? KI_CORE_V1_PODS : KI_CORE_V1_NODES;
        ki_informer *informer = NULL;
        int r = ki_factory_informer(factory, resource, NULL, &informer, NULL);
        if (r == KI_ERR_STOPPED) {
            break;
        }
        assert_int_equal(r, 0);
        r = ki_factory_start(factory, NULL);
        assert_true(r == 0 || (r == KI_ERR_STOPPED && atomic_load(&factory_may_stop)));
        r = ki_factory_wait_for_sync(factory, i % 7 == 0 ? 20 : 0, NULL);
        assert_true(r == 0 || r == KI_ERR_STOPPED || r == -ETIMEDOUT);
        (void)ki_factory_is_stopped(factory);
        ki_factory_release(factory, informer);
    }
    (void)ki_factory_unref(factory);
    return NULL;
}

static void a_factory_serves_many_threads(void **state)
{
    (void)state;
    test_alloc alloc;
    looper l;
    test_alloc_init(&alloc);
    for (unsigned round = 0; round < 4; round++) {
        atomic_store(&factory_may_stop, round % 2 == 1);
        begin_loop(&l, &alloc.table);
        ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
        options.engine = l.engine;
        options.make_source = make_source;
        options.user = &l;
        ki_factory *factory = NULL;
        assert_int_equal(ki_factory_new(&options, &factory, NULL), 0);
        pthread_t threads[4];
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(
                pthread_create(&threads[i], NULL, use_factory, ki_factory_ref(factory)), 0);
        }
        if (round % 2 == 1) {
            wait_a_little(5);
            ki_factory_stop(factory);
        }
        factory = ki_factory_unref(factory);
        for (unsigned i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        end_loop(&l);
    }
    test_alloc_done(&alloc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_come_go_and_wait_on_many_threads),
        cmocka_unit_test(it_may_be_stopped_at_any_moment),
        cmocka_unit_test(starting_stopping_and_letting_go_may_meet),
        cmocka_unit_test(waiters_are_woken_by_whatever_ends_the_wait),
        cmocka_unit_test(a_factory_serves_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

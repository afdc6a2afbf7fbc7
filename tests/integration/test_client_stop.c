/* SPDX-License-Identifier: Apache-2.0 */
/* Requests under way when their loop is stopped: each ends, once, and leaves nothing behind,
 * on every kind of loop.  threads: yes */
#include <string.h>
#include <time.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/call.h>
#include <kinformer/discovery.h>

#include "support/clienting.h"

enum { CALLS = 4 };

typedef enum mode {
    MODE_NOBODY,
    MODE_DISPATCHED, /* on a thread, piece by piece */
    MODE_RUN,
    MODE_STARTED,
    MODE_OF_CLIENT,
    MODES
} mode;

typedef struct fixture {
    clienting c;
    mode mode;
    ki_loop *loop; /* of either */
    pthread_t runner;
    atomic_bool end;
    atomic_int dones;
    atomic_int stops; /* those with KI_ERR_STOPPED */
    int restart;      /* what starting another inside `done` gave, */
    int wait;         /* and waiting */
    bool stop_inside;
    ki_call *cancel; /* inside `done` */
    ki_engine_task *task;
} fixture;

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- who runs the loop ---- */

static void *run_loop(void *arg)
{
    fixture *f = arg;
    ki_loop *loop = f->loop; /* a callback may release that one */
    if (f->mode == MODE_RUN) {
        return (void *)(intptr_t)ki_loop_run(loop);
    }
    while (!atomic_load(&f->end)) {
        int r = ki_loop_dispatch(loop);
        assert_true(r >= 0 || r == KI_ERR_STOPPED);
        nap();
    }
    return NULL;
}

static void make_loop(fixture *f, size_t steps)
{
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.alloc = &f->c.alloc.table;
    options.log = &f->c.log;
    options.steps = steps;
    assert_int_equal(ki_loop_new(&options, &f->c.loop, NULL), 0);
}

static void open_client(fixture *f, mode m)
{
    f->mode = m;
    atomic_store(&f->end, false);
    if (m != MODE_OF_CLIENT) {
        make_loop(f, 0);
    }
    clienting_open(&f->c, NULL);
    f->loop = ki_loop_ref(ki_client_loop(f->c.client));
    if (m == MODE_STARTED) {
        assert_int_equal(ki_loop_start(f->loop, NULL), 0);
    } else if (m == MODE_RUN || m == MODE_DISPATCHED) {
        assert_int_equal(pthread_create(&f->runner, NULL, run_loop, f), 0);
    }
}

/* Until the thread that runs the loop, if there is one, has ended. */
static void join(fixture *f, ki_loop *loop)
{
    atomic_store(&f->end, true);
    if (f->mode == MODE_RUN || f->mode == MODE_DISPATCHED) {
        pthread_join(f->runner, NULL);
    }
    assert_int_equal(ki_loop_join(loop), 0);
}

static void close_client(fixture *f)
{
    f->c.client = ki_client_unref(f->c.client);
    f->c.loop = ki_loop_unref(f->c.loop);
    f->loop = ki_loop_unref(f->loop);
}

static void begin(fixture *f, mode m)
{
    *f = (fixture){0};
    clienting_begin(&f->c);
    open_client(f, m);
}

static void end(fixture *f)
{
    close_client(f);
    clienting_end(&f->c);
}

/* ---- requests ---- */

static int start(fixture *f, ki_call_done done, void *user, ki_call **ret_call)
{
    ki_request request = KI_OPTIONS_INIT(ki_request);
    request.verb = KI_VERB_GET;
    request.resource = KI_CORE_V1_PODS;
    request.name = "none";
    return ki_client_call(f->c.client, &request, done, user, ret_call, NULL);
}

static void on_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    fixture *f = user;
    assert_non_null(call);
    assert_non_null(answer);
    assert_non_null(error);
    ki_call_cancel(f->cancel);
    if (error->code == KI_ERR_STOPPED) {
        assert_int_equal(error->http_code, answer->http_code);
        f->restart = start(f, on_done, f, NULL);
        f->wait = ki_client_delete(f->c.client, KI_CORE_V1_PODS, "", "none", NULL, NULL);
        f->stops++;
    } else if (f->stop_inside) {
        ki_loop_stop(f->loop);
    }
    f->dones++;
}

/* Until the server has got as many requests. */
static void await_requests(fixture *f, int least)
{
    int count = 0;
    for (int i = 0; i < 20000 && count < least; i++) {
        const char *text = clienting_asked(&f->c);
        for (; (text = strstr(text, "GET")) != NULL; text++) {
            count++;
        }
        if (f->mode == MODE_NOBODY) {
            int r = ki_loop_dispatch(f->loop);
            assert_true(r >= 0);
        }
        nap();
    }
    assert_true(count >= least);
}

/* One waits for its answer, one to be sent again, two are on their way. */
static void start_all(fixture *f, ki_call **ret_call)
{
    clienting_answer(&f->c, "{'do': 'hang'}");
    clienting_answer(&f->c, "{'status': 429, 'headers': {'Retry-After': '9'}}");
    clienting_answer(&f->c, "{'do': 'hang'}");
    clienting_answer(&f->c, "{'do': 'hang'}");
    assert_int_equal(start(f, on_done, f, NULL), 0);
    assert_int_equal(start(f, on_done, f, NULL), 0);
    await_requests(f, 2);
    assert_int_equal(start(f, on_done, f, NULL), 0);
    assert_int_equal(start(f, on_done, f, ret_call), 0);
}

/* ---- tests ---- */

static void a_stop_ends_requests(void **state)
{
    (void)state;
    for (mode m = 0; m < MODES; m++) {
        fixture f;
        begin(&f, m);
        start_all(&f, NULL);
        ki_loop_stop(f.loop);
        ki_loop_stop(f.loop);
        if (m == MODE_NOBODY) { /* already inside it */
            assert_int_equal(f.dones, CALLS);
        }
        join(&f, f.loop);
        assert_int_equal(f.dones, CALLS);
        assert_int_equal(f.stops, CALLS);
        assert_int_equal(f.restart, KI_ERR_STOPPED);
        assert_int_equal(f.wait, KI_ERR_BUSY);
        assert_int_equal(start(&f, on_done, &f, NULL), KI_ERR_STOPPED);
        end(&f);
    }
}

static void requests_do_not_keep_a_stopped_client(void **state)
{
    (void)state;
    for (mode m = 0; m < MODES; m++) {
        fixture f;
        begin(&f, m);
        start_all(&f, NULL);
        f.c.client = ki_client_unref(f.c.client); /* they hold it */
        ki_loop_stop(f.loop);
        join(&f, f.loop);
        assert_int_equal(f.stops, CALLS);
        end(&f);
    }
}

static void a_stop_may_come_inside_done(void **state)
{
    (void)state;
    for (mode m = 0; m < MODES; m++) {
        fixture f;
        begin(&f, m);
        f.stop_inside = true;
        start_all(&f, NULL);
        assert_int_equal(start(&f, on_done, &f, NULL), 0); /* 404, and stops the loop */
        for (int i = 0; i < 20000 && f.dones < CALLS + 1; i++) {
            if (m == MODE_NOBODY && f.dones == 0) {
                assert_true(ki_loop_dispatch(f.loop) >= 0);
            }
            nap();
        }
        join(&f, f.loop);
        assert_int_equal(f.dones, CALLS + 1);
        assert_int_equal(f.stops, CALLS);
        end(&f);
    }
}

static void what_is_cancelled_inside_done_is_dropped(void **state)
{
    (void)state;
    for (mode m = 0; m < MODES; m++) {
        fixture f;
        begin(&f, m);
        ki_call *last = NULL;
        start_all(&f, &last);
        f.cancel = last; /* the first that ends cancels it */
        ki_loop_stop(f.loop);
        join(&f, f.loop);
        assert_int_equal(f.stops, CALLS - 1);
        assert_int_equal(f.dones, CALLS - 1);
        (void)ki_call_unref(last);
        end(&f);
    }
}

/* ---- cancelled, and stopped before that was carried out ---- */

static void cancel_and_stop(void *user)
{
    fixture *f = user;
    ki_call_cancel(f->cancel);
    ki_loop_stop(f->loop);
}

static void what_is_cancelled_before_a_stop_leaves_nothing(void **state)
{
    (void)state;
    for (int begun = 0; begun < 2; begun++) {
        fixture f = {0};
        clienting_begin(&f.c);
        make_loop(&f, 1); /* one thing at a time: the dispatch that cancels does no more */
        clienting_open(&f.c, NULL);
        f.loop = ki_loop_ref(f.c.loop);
        if (begun != 0) {
            clienting_answer(&f.c, "{'do': 'hang'}");
        }
        ki_engine *engine = ki_loop_engine(f.loop);
        assert_int_equal(ki_engine_task_new(engine, cancel_and_stop, &f, &f.task, NULL), 0);
        if (begun == 0) {
            ki_engine_task_post(f.task);
        }
        assert_int_equal(start(&f, on_done, &f, &f.cancel), 0);
        if (begun != 0) {
            await_requests(&f, 1);
            ki_engine_task_post(f.task);
        }
        while (ki_loop_dispatch(f.loop) != KI_ERR_STOPPED) {
        }
        f.cancel = ki_call_unref(f.cancel);
        f.task = ki_engine_task_unref(f.task);
        assert_int_equal(f.dones, 0);
        end(&f);
    }
}

/* ---- the last references ---- */

static void release_all(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    fixture *f = user;
    (void)call;
    (void)answer;
    assert_int_equal(error->code, KI_ERR_STOPPED);
    if (f->dones++ == 0) {
        close_client(f);
    }
}

static void the_last_references_may_go_while_it_stops(void **state)
{
    (void)state;
    for (mode m = 0; m < MODES; m++) {
        fixture f;
        begin(&f, m);
        clienting_answer(&f.c, "{'do': 'hang'}");
        clienting_answer(&f.c, "{'do': 'hang'}");
        assert_int_equal(start(&f, release_all, &f, NULL), 0);
        assert_int_equal(start(&f, release_all, &f, NULL), 0);
        await_requests(&f, 2);
        /* To wait for the thread takes a reference; without a thread all of them go inside. */
        ki_loop *held = m == MODE_NOBODY ? NULL : ki_loop_ref(f.loop);
        ki_loop_stop(f.loop);
        if (held != NULL) {
            join(&f, held);
        }
        (void)ki_loop_unref(held);
        assert_int_equal(f.dones, 2);
        clienting_end(&f.c);
    }
}

/* ---- an engine that runs without its loop ---- */

static void stop_loop(void *user)
{
    fixture *f = user;
    ki_loop_stop(f->loop);
    assert_int_equal(f->dones, 0); /* not inside another callback */
}

static void the_engine_alone_ends_requests_too(void **state)
{
    (void)state;
    fixture f;
    begin(&f, MODE_NOBODY);
    ki_engine *engine = ki_loop_engine(f.loop);
    assert_int_equal(ki_engine_task_new(engine, stop_loop, &f, &f.task, NULL), 0);
    assert_int_equal(start(&f, on_done, &f, NULL), 0);
    ki_engine_task_post(f.task);
    while (ki_engine_run(engine, 0) != 0) {
    }
    assert_int_equal(f.dones, 1);
    assert_int_equal(f.stops, 1);
    f.task = ki_engine_task_unref(f.task);
    end(&f);
}

/* ---- at the same moment ---- */

typedef struct starter {
    fixture *f;
    pthread_t thread;
    bool cancels; /* every second one */
    int started;
    int cancelled;
    atomic_int dones;
} starter;

static void count_done(ki_call *call, const ki_response *answer, const ki_error *error, void *user)
{
    starter *s = user;
    (void)call;
    (void)answer;
    (void)error;
    s->dones++;
}

static void *start_many(void *arg)
{
    starter *s = arg;
    ki_call *call = NULL;
    while (start(s->f, count_done, s, &call) == 0) {
        s->started++;
        if (s->cancels && s->started % 2 == 0) {
            ki_call_cancel(call);
            s->cancelled++;
        }
        call = ki_call_unref(call);
        if (s->started % 8 == 0) {
            nap();
        }
    }
    return NULL;
}

static void starts_cancels_and_stops_meet(void **state)
{
    (void)state;
    enum { ROUNDS = 20, STARTERS = 2 };
    fixture f = {0};
    clienting_begin(&f.c);
    for (int round = 0; round < ROUNDS * MODES; round++) {
        starter starters[STARTERS] = {{.f = &f}, {.f = &f, .cancels = true}};
        open_client(&f, (mode)(round % MODES));
        for (int i = 0; i < STARTERS; i++) {
            starter *s = &starters[i];
            assert_int_equal(pthread_create(&s->thread, NULL, start_many, s), 0);
        }
        for (int i = 0; i < round / MODES; i++) {
            nap();
        }
        ki_loop_stop(f.loop);
        for (int i = 0; i < STARTERS; i++) {
            pthread_join(starters[i].thread, NULL);
        }
        join(&f, f.loop);
        for (int i = 0; i < STARTERS; i++) {
            const starter *s = &starters[i];
            int dones = atomic_load(&s->dones);
            assert_true(dones >= s->started - s->cancelled && dones <= s->started);
        }
        size_t left = f.c.alloc.live_blocks;
        close_client(&f);
        assert_true(f.c.alloc.live_blocks < left);
    }
    clienting_end(&f.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_ends_requests),
        cmocka_unit_test(requests_do_not_keep_a_stopped_client),
        cmocka_unit_test(a_stop_may_come_inside_done),
        cmocka_unit_test(what_is_cancelled_inside_done_is_dropped),
        cmocka_unit_test(what_is_cancelled_before_a_stop_leaves_nothing),
        cmocka_unit_test(the_last_references_may_go_while_it_stops),
        cmocka_unit_test(the_engine_alone_ends_requests_too),
        cmocka_unit_test(starts_cancels_and_stops_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

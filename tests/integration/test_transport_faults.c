/* SPDX-License-Identifier: Apache-2.0 */
/* Informers behind a proxy that delays, splits, cuts, resets, half closes and swallows: they are
 * always back, and miss nothing. docs/transport.md says which hazard is which test. What takes half
 * a minute, with all times as they are by default, is done by a second process meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache/informer/informer.h"
#include "support/following.h"

#define MS UINT64_C(1000000)

enum { PATIENCE_MS = 40000, LINKS_MAX = 120 };

static test_server server;
static ki_buf ca;
static const char *folder = TEST_SCRATCH_DIR "/transport_faults";

static int start_server(void **state)
{
    (void)state;
    test_server_start(&server, "fault_server.py", folder);
    test_server_file(&server, "ca.crt", &ca);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    ki_buf_done(&ca);
    test_server_stop(&server);
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- one informer behind one proxy ---- */

typedef struct fixture {
    transporting *t;
    following f;
    ki__curl *curl;
    char name[24]; /* of the proxy and of the namespace */
    long port;     /* of the proxy */
} fixture;

/* Opens all but the loop; the informer will have pod "a" at version 11. */
static void begin(fixture *x, transporting *t, const char *name, bool two, uint64_t dead_after_ms)
{
    *x = (fixture){.t = t};
    snprintf(x->name, sizeof(x->name), "%s", name);
    x->port = test_server_do(&server, "proxy %s %s", name, two ? "h2" : "plain");
    (void)test_server_do(&server, "add %s a", name);
    ki__curl_options options = {.dead_after_ns = dead_after_ms * MS};
    options.tls.ca = two ? ki_buf_str(&ca) : ki_str_make(NULL, 0);
    transporting_open(t, &options, two ? "https" : "http", (int)x->port);
    x->curl = t->curl;
    t->curl = NULL;
}

static void start(fixture *x, uint64_t idle_ms)
{
    const following_options how = {.name_space = x->name, .watch_idle_ms = idle_ms};
    following_open(&x->f, x->t, x->curl, &how);
}

static void end(fixture *x)
{
    following_stop(&x->f);
    ki__curl_free(x->curl);
}

/* How often the server was asked. */
static size_t requests(const fixture *x, char *log)
{
    size_t count = 0;
    test_server_ask(&server, log, FOLLOWING_LOG, "log %s", x->name);
    for (const char *c = log; *c != '\0'; c++) {
        count += *c == '|' ? 1 : 0;
    }
    return log[0] != '\0' ? count + 1 : 0;
}

static void wait_for_requests(fixture *x, size_t wanted, const char *last)
{
    char log[FOLLOWING_LOG] = "";
    for (int64_t until = now_ms() + PATIENCE_MS; now_ms() < until;) {
        if (requests(x, log) >= wanted) {
            size_t len = strlen(log);
            assert_true(len > strlen(last));
            assert_string_equal(log + len - strlen(last), last);
            return;
        }
        transporting_for(x->t, 50);
    }
    fail_msg("%s: requested %s only", x->name, log);
}

/* ---- bytes in any shape ---- */

static void follow(fixture *x)
{
    following_expect(&x->f, "a=11 ");
    (void)test_server_do(&server, "add %s b", x->name);
    (void)test_server_do(&server, "update %s a", x->name);
    following_expect(&x->f, "a=13 b=12 ");
    (void)test_server_do(&server, "delete %s b", x->name);
    following_expect(&x->f, "a=13 ");
    char log[FOLLOWING_LOG];
    assert_int_equal(requests(x, log), 1); /* all of it in the one stream */
}

static void a_stream_may_come_in_single_bytes(void **state)
{
    (void)state;
    static const char *const names[] = {"split1", "split2", "split3", "split4"};
    transporting t;
    fixture x;
    transporting_begin(&t);
    for (size_t i = 0; i < 4; i++) {
        begin(&x, &t, names[i], i % 2 == 1, 0);
        if (i < 2) {
            (void)test_server_do(&server, "script %s stream chop 1", names[i]); /* of HTTP */
        } else {
            (void)test_server_do(&server, "fault %s split", names[i]); /* of TCP */
        }
        start(&x, 0);
        follow(&x);
        end(&x);
    }
    transporting_end(&t);
}

static void a_slow_way_is_no_failure(void **state)
{
    (void)state;
    transporting t;
    fixture x;
    transporting_begin(&t);
    begin(&x, &t, "delay", true, 0);
    (void)test_server_do(&server, "fault delay delay 80");
    start(&x, 0);
    follow(&x);
    end(&x);
    transporting_end(&t);
}

typedef struct many {
    transporting t;
    following f[LINKS_MAX];
    ki__curl *curls[LINKS_MAX];
    size_t count;
} many;

/* An informer whose first connection is harmed after so many bytes. Later ones are not. */
static void begin_harmed(many *m, const char *what, int bytes, long port)
{
    char name[32];
    snprintf(name, sizeof(name), "%s-%d", what, bytes);
    (void)test_server_do(&server, "add %s a", name);
    (void)test_server_do(&server, "fault %s %s %d", what, what, bytes);
    long accepted = test_server_do(&server, "accepted %s", what);
    ki__curl_options options = {0};
    transporting_open(&m->t, &options, "http", (int)port);
    m->curls[m->count] = m->t.curl;
    m->t.curl = NULL;
    const following_options how = {.name_space = name};
    following_open(&m->f[m->count], &m->t, m->curls[m->count], &how);
    m->count++;
    for (int i = 0; i < 2000 && test_server_do(&server, "accepted %s", what) == accepted; i++) {
        transporting_for(&m->t, 1);
    }
    (void)test_server_do(&server, "fault %s none", what);
}

static void harm_at(many *m, const char *what, int step)
{
    long port = test_server_do(&server, "proxy %s plain", what);
    for (int bytes = 1; bytes < 800; bytes += step) {
        assert_true(m->count < LINKS_MAX);
        begin_harmed(m, what, bytes, port);
    }
}

static void a_stream_may_be_cut_reset_and_half_closed_anywhere(void **state)
{
    (void)state;
    static many m;
    transporting_begin(&m.t);
    harm_at(&m, "cut", 11);
    harm_at(&m, "reset", 53);
    harm_at(&m, "half", 53);
    for (size_t i = 0; i < m.count; i++) {
        following_expect(&m.f[i], "a=11 ");
        (void)test_server_do(&server, "add %s b", m.f[i].name_space);
    }
    for (size_t i = 0; i < m.count; i++) {
        following_expect(&m.f[i], "a=11 b=12 ");
    }
    for (size_t i = 0; i < m.count; i++) {
        following_stop(&m.f[i]);
        ki__curl_free(m.curls[i]);
    }
    transporting_end(&m.t);
}

/* ---- nobody listens ---- */

/* A list that nobody listens to, and watches of both kinds whose server goes for a while. */
static void a_refused_connection_is_waited_for(void **state)
{
    (void)state;
    transporting t;
    fixture x[3];
    transporting_begin(&t);
    begin(&x[0], &t, "refused0", false, 0);
    begin(&x[1], &t, "refused1", false, 0);
    begin(&x[2], &t, "refused2", true, 0);
    (void)test_server_do(&server, "refuse refused0");
    for (size_t i = 0; i < 3; i++) {
        start(&x[i], 0);
    }
    following_expect(&x[1].f, "a=11 ");
    following_expect(&x[2].f, "a=11 ");
    transporting_for(&t, 1100);
    assert_false(ki_informer_has_synced(x[0].f.informer));
    (void)test_server_do(&server, "refuse refused1");
    (void)test_server_do(&server, "refuse refused2");
    transporting_for(&t, 400);
    for (size_t i = 0; i < 3; i++) {
        (void)test_server_do(&server, "add %s b", x[i].name);
        (void)test_server_do(&server, "accept %s", x[i].name);
    }
    for (size_t i = 0; i < 3; i++) {
        following_expect(&x[i].f, "a=11 b=12 ");
    }
    wait_for_requests(&x[0], 1, " stream");      /* not a list in its place: nobody said no */
    wait_for_requests(&x[1], 2, " watch rv=11"); /* nor here: nothing was lost */
    wait_for_requests(&x[2], 2, " watch rv=11");
    for (size_t i = 0; i < 3; i++) {
        end(&x[i]);
    }
    transporting_end(&t);
}

/* ---- silence ---- */

typedef struct silence {
    const char *name;
    bool two;
    const char *fault;
    uint64_t idle_ms;
} silence;

static const silence silences[] = {
    /* Nothing is acknowledged: TCP finds it out. */
    {"dead1", false, "dead", 0},
    {"dead2", true, "dead", 0},
    /* TCP is alive, and nothing comes. By HTTP/1.1 only the age of the last byte tells. */
    {"hole1", false, "hole both", 1500},
    {"down1", false, "hole down", 1500},
    /* By HTTP/2 the server is asked; nobody set a limit for the stream. */
    {"hole2", true, "hole both", 0},
    {"down2", true, "hole down", 0},
};

enum { SILENCES = sizeof(silences) / sizeof(silences[0]) };

/* Makes the connections silent, sees that all come back on new ones with what they missed, and says
 * how long the last took. */
static int64_t survive_all(fixture *x, const silence *all, size_t count)
{
    long accepted[SILENCES];
    for (size_t i = 0; i < count; i++) {
        start(&x[i], all[i].idle_ms);
    }
    for (size_t i = 0; i < count; i++) {
        following_expect(&x[i].f, "a=11 ");
        accepted[i] = test_server_do(&server, "accepted %s", x[i].name);
    }
    int64_t begun = now_ms();
    for (size_t i = 0; i < count; i++) {
        (void)test_server_do(&server, "fault %s %s", x[i].name, all[i].fault);
        (void)test_server_do(&server, "add %s b", x[i].name);
    }
    for (size_t i = 0; i < count; i++) {
        following_expect(&x[i].f, "a=11 b=12 ");
    }
    int64_t took = now_ms() - begun;
    for (size_t i = 0; i < count; i++) {
        wait_for_requests(&x[i], 2, " watch rv=11");
        assert_true(test_server_do(&server, "accepted %s", x[i].name) > accepted[i]);
        end(&x[i]);
    }
    return took;
}

static void a_dead_or_silent_connection_is_left(void **state)
{
    (void)state;
    transporting t;
    fixture x[SILENCES];
    transporting_begin(&t);
    for (size_t i = 0; i < SILENCES; i++) {
        begin(&x[i], &t, silences[i].name, silences[i].two, 1500);
    }
    /* Far from what it should take, for the sake of busy machines. */
    assert_in_range(survive_all(x, silences, SILENCES), 300, 15000);
    transporting_end(&t);
}

/* The way up alone is gone: the stream brings what there is, but the server cannot answer what it
 * does not hear. */
static void a_way_that_leads_only_down_is_left(void **state)
{
    (void)state;
    transporting t;
    fixture x;
    transporting_begin(&t);
    begin(&x, &t, "up2", true, 1500);
    start(&x, 0);
    following_expect(&x.f, "a=11 ");
    (void)test_server_do(&server, "fault up2 hole up");
    (void)test_server_do(&server, "add up2 b");
    following_expect(&x.f, "a=11 b=12 ");
    wait_for_requests(&x, 2, " watch rv=12");
    (void)test_server_do(&server, "add up2 c");
    following_expect(&x.f, "a=11 b=12 c=13 ");
    end(&x);
    transporting_end(&t);
}

/* One stream is quiet, and asked; one is not quiet; one server takes asking ill. */
static void only_quiet_streams_are_asked_and_not_for_ever(void **state)
{
    (void)state;
    transporting t;
    fixture quiet;
    fixture lively;
    fixture ill;
    char log[FOLLOWING_LOG];
    transporting_begin(&t);
    begin(&quiet, &t, "quiet", true, 1500);
    begin(&lively, &t, "lively", true, 4000);
    begin(&ill, &t, "ill", true, 2400); /* each watch lives longer than a second */
    (void)test_server_do(&server, "bookmarks lively 200");
    (void)test_server_do(&server, "harm %ld 100", ill.port);
    start(&quiet, 0);
    start(&lively, 0);
    start(&ill, 0);
    wait_for_requests(&ill, 4, " watch rv=11");
    transporting_for(&t, 2000);
    assert_int_equal(test_server_do(&server, "asked %ld", ill.port), 3);
    assert_int_equal(requests(&ill, log), 4);
    assert_non_null(
        strstr(ki_buf_text(&t.logged), "liveness probes of idle connections are paused"));
    assert_true(test_server_do(&server, "asked %ld", quiet.port) >= 3);
    assert_int_equal(requests(&quiet, log), 1);
    assert_int_equal(test_server_do(&server, "asked %ld", lively.port), 0);
    assert_int_equal(requests(&lively, log), 1);
    (void)test_server_do(&server, "add quiet b");
    (void)test_server_do(&server, "add ill b");
    following_expect(&quiet.f, "a=11 b=12 ");
    following_expect(&ill.f, "a=11 b=12 ");
    end(&quiet);
    end(&lively);
    end(&ill);
    transporting_end(&t);
}

/* A connection that breaks long after it was asked, or while it is silent, did not break for being
 * asked: one that hangs later is asked, too. */
static void silence_is_found_however_often_connections_broke(void **state)
{
    (void)state;
    enum { BROKEN = 3, DEAD_MS = 2400 };
    transporting t;
    fixture x;
    char wanted[80] = "a=11 ";
    transporting_begin(&t);
    begin(&x, &t, "often", true, DEAD_MS);
    start(&x, 0);
    for (unsigned i = 0; i <= BROKEN; i++) {
        following_expect(&x.f, wanted);
        (void)test_server_do(&server, "fault often hole both");
        (void)test_server_do(&server, "add often %c", (char)('b' + i));
        if (i < BROKEN) {
            transporting_for(&t, DEAD_MS * 9 / 10);
            (void)test_server_do(&server, "refuse often");
            (void)test_server_do(&server, "accept often");
        }
        size_t len = strlen(wanted);
        snprintf(wanted + len, sizeof(wanted) - len, "%c=%u ", (char)('b' + i), 12 + i);
    }
    following_expect(&x.f, wanted);
    assert_null(strstr(ki_buf_text(&t.logged), "liveness probes"));
    end(&x);
    transporting_end(&t);
}

/* ---- back-pressure ---- */

enum { GROWTH = 100000, UPDATES = 800 };

static long sent_until_it_stays(transporting *t, const char *name)
{
    long last = -1;
    for (int i = 0; i < 100; i++) {
        long sent = test_server_do(&server, "sent %s", name);
        if (sent == last) {
            return sent;
        }
        last = sent;
        transporting_for(t, 300);
    }
    fail_msg("%s: the server sends on and on", name);
    return 0;
}

/* One informer is paused while a flood comes for it; its server is held up, and the other informer,
 * on the same connection if that can be, continues. */
static void hold_back(bool two, const char *name)
{
    transporting t;
    fixture x;
    following other;
    transporting_begin(&t);
    begin(&x, &t, name, two, 0);
    start(&x, 0);
    following_expect(&x.f, "a=11 ");
    const following_options how = {.name_space = two ? "other2" : "other1"};
    (void)test_server_do(&server, "add %s a", how.name_space);
    following_open(&other, &t, x.curl, &how);
    following_expect(&other, "a=11 ");
    assert_int_equal(test_server_do(&server, "accepted %s", name), two ? 1 : 2);
    ki_reflector_pause(x.f.informer->reflector, true);
    transporting_for(&t, 100);
    (void)test_server_do(&server, "grow %s a %d %d", name, GROWTH, UPDATES);
    long sent = sent_until_it_stays(&t, name);
    assert_true(sent < (long)GROWTH * UPDATES * 3 / 4);
    (void)test_server_do(&server, "add %s b", how.name_space);
    following_expect(&other, "a=11 b=12 ");
    assert_true(following_has(&x.f, "a=11 "));
    ki_reflector_pause(x.f.informer->reflector, false);
    following_expect(&x.f, "a=811 ");
    assert_true(test_server_do(&server, "sent %s", name) > (long)GROWTH * UPDATES);
    char log[FOLLOWING_LOG];
    assert_int_equal(requests(&x, log), 1);
    following_stop(&other);
    end(&x);
    transporting_end(&t);
}

static void a_paused_informer_holds_its_server_up_by_http1(void **state)
{
    (void)state;
    hold_back(false, "paused1");
}

static void a_paused_informer_holds_its_stream_up_by_http2(void **state)
{
    (void)state;
    hold_back(true, "paused2");
}

/* Nor does a pause count as silence, however long. */
static void a_pause_is_not_silence(void **state)
{
    (void)state;
    transporting t;
    fixture x;
    char log[FOLLOWING_LOG];
    transporting_begin(&t);
    begin(&x, &t, "pause", true, 1000);
    (void)test_server_do(&server, "bookmarks pause 100");
    start(&x, 1000);
    following_expect(&x.f, "a=11 ");
    ki_reflector_pause(x.f.informer->reflector, true);
    transporting_for(&t, 2100);
    ki_reflector_pause(x.f.informer->reflector, false);
    transporting_for(&t, 200);
    assert_int_equal(requests(&x, log), 1);
    end(&x);
    transporting_end(&t);
}

/* ---- slow handlers ---- */

typedef struct slow {
    _Atomic bool hold;
    _Atomic unsigned delivered;
    _Atomic bool over; /* the last version was delivered */
} slow;

static void on_update(const ki_object *before, const ki_object *after, void *user)
{
    slow *s = user;
    (void)before;
    while (s->hold) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    s->delivered++;
    s->over = strcmp(ki_object_resource_version(after), "3011") == 0;
}

/* A program that does not get on with its work does not keep its server waiting. */
static void a_slow_handler_does_not_stop_the_stream(void **state)
{
    (void)state;
    transporting t;
    fixture x;
    slow s = {.hold = true};
    transporting_begin(&t);
    begin(&x, &t, "slow", true, 0);
    start(&x, 0);
    following_expect(&x.f, "a=11 ");
    const ki_handler handler = {.on_update = on_update, .user = &s};
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    options.delivery = KI_DELIVERY_THREAD;
    assert_int_equal(ki_informer_add_handler(x.f.informer, &handler, &options, NULL, NULL), 0);
    (void)test_server_do(&server, "grow slow a 1000 3000");
    following_expect(&x.f, "a=3011 ");
    assert_int_equal(s.delivered, 0);
    s.hold = false;
    for (int i = 0; i < 4000 && !s.over; i++) {
        transporting_for(&t, 5);
    }
    assert_true(s.over); /* what lies between may be put together */
    end(&x);
    transporting_end(&t);
}

/* ---- with all times as they are by default, in a process of its own ---- */

static const silence by_default[] = {
    {"dead1", false, "dead", 0},
    {"dead2", true, "dead", 0},
    {"hole2", true, "hole both", 0},
};

static void silence_is_found_in_thirty_seconds(void **state)
{
    (void)state;
    transporting t;
    fixture x[3];
    transporting_begin(&t);
    for (size_t i = 0; i < 3; i++) {
        begin(&x[i], &t, by_default[i].name, by_default[i].two, 0);
    }
    int64_t took = survive_all(x, by_default, 3);
    print_message("by default, silence is found in %d ms\n", (int)took);
    assert_in_range(took, 10000, 30000);
    transporting_end(&t);
}

static pid_t second;

static void start_second(const char *program)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    char *const words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "--defaults", NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    assert_int_equal(posix_spawn(&second, program, &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
}

static void by_default_silence_is_found_in_thirty_seconds(void **state)
{
    (void)state;
    int status = -1;
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, 0);
}

int main(int count, char **words)
{
    const struct CMUnitTest defaults[] = {
        cmocka_unit_test(silence_is_found_in_thirty_seconds),
    };
    if (count > 1) {
        folder = TEST_SCRATCH_DIR "/transport_defaults";
        return cmocka_run_group_tests(defaults, start_server, stop_server);
    }
    start_second(words[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_may_come_in_single_bytes),
        cmocka_unit_test(a_slow_way_is_no_failure),
        cmocka_unit_test(a_stream_may_be_cut_reset_and_half_closed_anywhere),
        cmocka_unit_test(a_refused_connection_is_waited_for),
        cmocka_unit_test(a_dead_or_silent_connection_is_left),
        cmocka_unit_test(a_way_that_leads_only_down_is_left),
        cmocka_unit_test(only_quiet_streams_are_asked_and_not_for_ever),
        cmocka_unit_test(silence_is_found_however_often_connections_broke),
        cmocka_unit_test(a_paused_informer_holds_its_server_up_by_http1),
        cmocka_unit_test(a_paused_informer_holds_its_stream_up_by_http2),
        cmocka_unit_test(a_pause_is_not_silence),
        cmocka_unit_test(a_slow_handler_does_not_stop_the_stream),
        cmocka_unit_test(by_default_silence_is_found_in_thirty_seconds),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A shared informer over the libcurl transport, against a server of pods: lists, watches, cut
 * connections, and a server that is killed and comes back.  threads: yes */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kinformer/builtin_resources.h>
#include <kinformer/informer.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/parts/source.h>

#include "support/transporting.h"

enum { PATIENCE_MS = 30000 };

typedef struct fixture {
    transporting t;
    test_server server;
    ki_buf ca;
    ki_informer *informer;
    size_t fds; /* before the server was there */
} fixture;

static void open_informer(fixture *f, bool no_streaming)
{
    ki_error error = KI_ERROR_INIT;
    ki_transport transport = ki__curl_table(f->t.curl);
    ki_source source = {0};
    ki_source_http_options source_options = KI_OPTIONS_INIT(ki_source_http_options);
    source_options.engine = ki_loop_engine(f->t.loop);
    source_options.transport = &transport;
    source_options.resource = KI_CORE_V1_PODS;
    source_options.json_only = true;
    source_options.watch_idle_timeout_ms = 5000;
    assert_int_equal(ki_source_http_new(&source_options, &source, &error), 0);
    ki_informer_options options = KI_OPTIONS_INIT(ki_informer_options);
    options.engine = ki_loop_engine(f->t.loop);
    options.source = &source;
    options.resource = KI_CORE_V1_PODS;
    options.no_streaming = no_streaming;
    assert_int_equal(ki_informer_new(&options, &f->informer, &error), 0);
}

static void begin(fixture *f, const char *folder, bool no_streaming)
{
    char path[SERVER_FOLDER];
    *f = (fixture){.fds = test_descriptors()};
    snprintf(path, sizeof(path), "%s/%s/state.json", TEST_SCRATCH_DIR, folder);
    (void)unlink(path);
    snprintf(path, sizeof(path), "%s/%s", TEST_SCRATCH_DIR, folder);
    test_server_start(&f->server, "pods_server.py", path);
    test_server_file(&f->server, "ca.crt", &f->ca);
    ki__curl_options options = {.tls = {.ca = ki_buf_str(&f->ca)}};
    transporting_begin(&f->t);
    transporting_open(&f->t, &options, "https", test_server_port(&f->server, "pods"));
    open_informer(f, no_streaming);
}

static void restart_server(fixture *f)
{
    char path[SERVER_FOLDER];
    snprintf(path, sizeof(path), "%s", f->server.folder);
    test_server_stop(&f->server);
    transporting_for(&f->t, 300); /* it is missed */
    test_server_start(&f->server, "pods_server.py", path);
}

static void end(fixture *f)
{
    if (f->informer != NULL) {
        ki_informer_stop(f->informer);
        for (int i = 0; i < 100 && !ki_informer_is_stopped(f->informer); i++) {
            transporting_for(&f->t, 10);
        }
        f->informer = ki_informer_unref(f->informer);
    }
    ki_buf_done(&f->ca);
    transporting_end(&f->t);
    test_server_stop(&f->server);
    assert_int_equal(test_descriptors(), f->fds);
}

static void do_there(fixture *f, const char *what)
{
    exchange e;
    exchange_init(&e, &f->t, "/do", what);
    e.request.method = "POST";
    exchange_run(&e);
    assert_true(e.complete);
    exchange_done(&e);
}

/* The names in the cache and their images: "a=v11 b=v12 ", in order of names. */
static void describe(fixture *f, char *text, size_t size)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(f->informer));
    char names[16][32];
    size_t count = 0;
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *pod;
    while (ki_snapshot_iter_next(&iter, &pod) > 0 && count < 16) {
        snprintf(names[count++], 32, "%.12s=v%.12s ", ki_object_name(pod),
                 ki_object_resource_version(pod));
    }
    ki_snapshot_unref(snapshot);
    qsort(names, count, sizeof(names[0]), (int (*)(const void *, const void *))strcmp);
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++) {
        at += (size_t)snprintf(text + at, size - at, "%s", names[i]);
    }
}

static void expect(fixture *f, const char *wanted)
{
    char text[512] = "";
    for (int ms = 0; ms < PATIENCE_MS; ms += 20) {
        describe(f, text, sizeof(text));
        if (strcmp(text, wanted) == 0 && ki_informer_has_synced(f->informer)) {
            return;
        }
        transporting_for(&f->t, 20);
    }
    fail_msg("the cache has \"%s\" instead of \"%s\"", text, wanted);
}

static void follow(const char *folder, bool no_streaming)
{
    fixture f;
    begin(&f, folder, no_streaming);
    do_there(&f, "add=a");
    do_there(&f, "add=b");
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    expect(&f, "a=v11 b=v12 ");
    do_there(&f, "add=c");
    do_there(&f, "update=a");
    do_there(&f, "delete=b");
    expect(&f, "a=v14 c=v13 ");
    do_there(&f, "cut=1");
    do_there(&f, "add=d");
    expect(&f, "a=v14 c=v13 d=v16 ");
    restart_server(&f);
    expect(&f, "a=v14 c=v13 d=v16 ");
    do_there(&f, "update=c");
    expect(&f, "a=v14 c=v17 d=v16 ");
    do_there(&f, "delete=a");
    do_there(&f, "forget=1");
    do_there(&f, "cut=1");
    restart_server(&f);
    do_there(&f, "add=e");
    expect(&f, "c=v17 d=v16 e=v19 ");
    end(&f);
}

static void an_informer_follows_by_streams(void **state)
{
    (void)state;
    follow("informer_streams", false);
}

static void an_informer_follows_by_lists(void **state)
{
    (void)state;
    follow("informer_lists", true);
}

static void cuts_leave_nothing_behind(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "informer_cuts", true);
    do_there(&f, "add=a");
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    expect(&f, "a=v11 ");
    size_t descriptors = test_descriptors();
    char wanted[64];
    for (int i = 0; i < 4; i++) {
        do_there(&f, "update=a");
        snprintf(wanted, sizeof(wanted), "a=v%d ", 12 + i);
        expect(&f, wanted);
        do_there(&f, "cut=1");
    }
    do_there(&f, "update=a");
    snprintf(wanted, sizeof(wanted), "a=v%d ", 16);
    expect(&f, wanted);
    assert_true(test_descriptors() <= descriptors + 2);
    end(&f);
}

static void a_private_thread_does_it_all(void **state)
{
    (void)state;
    fixture f;
    begin(&f, "informer_thread", false);
    do_there(&f, "add=a");
    assert_int_equal(ki_loop_start(f.t.loop, NULL), 0);
    assert_int_equal(ki_informer_start(f.informer, NULL), 0);
    assert_int_equal(ki_informer_wait_for_sync(f.informer, PATIENCE_MS, NULL), 0);
    char text[64];
    describe(&f, text, sizeof(text));
    assert_string_equal(text, "a=v11 ");
    ki_informer_stop(f.informer);
    while (!ki_informer_is_stopped(f.informer)) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    f.informer = ki_informer_unref(f.informer);
    ki_loop_stop(f.t.loop);
    assert_int_equal(ki_loop_join(f.t.loop), 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_informer_follows_by_streams),
        cmocka_unit_test(an_informer_follows_by_lists),
        cmocka_unit_test(cuts_leave_nothing_behind),
        cmocka_unit_test(a_private_thread_does_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer demo`: informers, an index and a work queue on an in-memory API server with changing
 * objects and many faults; at the end all caches are compared with the server. The exit code is 0
 * only if everything is equal. */
#include "cli/demo/demo.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kinformer/index.h>
#include <kinformer/metrics.h>
#include <kinformer/monitor_server.h>
#include <kinformer/worker.h>

#include "cli/command.h"
#include "cli/command_loop.h"
#include "cli/follow.h"
#include "cli/report_failure.h"
#include "cli/text.h"

enum {
    SECONDS = 20,
    SECONDS_MAX = 3600,
    OBJECTS = 5000,
    OBJECTS_MAX = 200000,
    RATE = 400,
    RATE_MAX = 20000,
    WAIT_MS = 15000,
    TICK_MS = 100,
};
#define CHANGE_NS (20 * CLI_MS_NS)  /* between two rounds of changes */
#define SETTLE_NS (200 * CLI_MS_NS) /* between two comparisons */
#define NAMES "pods,deployments.apps,nodes,configmaps,namespaces," DEMO_COUNTS

#define AT(member) offsetof(demo_options, member)

static const cli_option options[] = {
    {"seconds", 0, CLI_ARG_NUMBER, AT(seconds), "N",
     "duration of the changes in seconds; default 20"},
    {"objects", 0, CLI_ARG_NUMBER, AT(objects), "N", "approximate number of objects; default 5000"},
    {"rate", 0, CLI_ARG_NUMBER, AT(rate), "N", "changes per second; default 400"},
    {"seed", 0, CLI_ARG_NUMBER, AT(seed), "N", "random seed; the same N gives the same changes"},
    {"wait", 0, CLI_ARG_DURATION, AT(wait_ms), "DURATION",
     "time for caches to match the server at the end; default 15s"},
    {"listen", 0, CLI_ARG_TEXT, AT(listen), "ADDRESS",
     "where metrics and a web page are served; default 127.0.0.1:0"},
};

/* ---- handlers ---- */

static demo_row *row_of(const cli_target *target)
{
    demo *d = target->user;
    return &d->rows[target - d->session.targets];
}

static void note(const cli_target *target, const ki_object *object)
{
    demo *d = target->user;
    if (target == &d->session.targets[DEMO_PODS]) {
        demo_controller_note(d, object);
    }
}

static void on_add(const ki_object *object, bool is_initial, void *user)
{
    row_of(user)->adds++;
    row_of(user)->initial += is_initial;
    note(user, object);
}

static void on_update(const ki_object *old_object, const ki_object *object, void *user)
{
    (void)old_object;
    row_of(user)->updates++;
    note(user, object);
}

static void on_delete(const ki_object *object, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    row_of(user)->deletes++;
    note(user, object);
}

static void on_synced(cli_target *target)
{
    demo *d = target->user;
    if (cli_session_is_synced(&d->session)) {
        ki_buf count;
        uint64_t objects = 0;
        for (size_t i = 0; i < d->session.target_count; i++) {
            objects += d->rows[i].initial;
        }
        cli_text_init(&count);
        cli_put_count(&count, objects);
        demo_report(d, CLI_COLOR_GREEN, "informers: all %zu synced in %.2f s: %s objects",
                    d->session.target_count,
                    (double)(d->session.synced_ns - d->session.started_ns) / (double)CLI_SECOND_NS,
                    ki_buf_text(&count));
        ki_buf_done(&count);
        d->changing = true;
        d->began_changing_ns = cli_now_ns();
        d->changing_ns = d->began_changing_ns;
        demo_report(d, CLI_COLOR_NONE, "cluster: starting changes, %u per second",
                    d->options->rate);
    }
}

/* ---- rounds ---- */

static void on_round(void *user)
{
    demo *d = user;
    demo_churn_run(d);
    demo_acts_run(d);
    demo_controller_run(d);
    demo_story_follow(d);
    int ms = ki_workqueue_timeout(d->controller.queue);
    uint64_t now = cli_now_ns();
    uint64_t soon = now + CHANGE_NS;
    uint64_t queue = ms > 0 ? now + (uint64_t)ms * CLI_MS_NS : soon;
    d->session.events.wake_ns = queue > soon ? soon : queue;
    if (d->changing && demo_changing_seconds(d) >= d->options->seconds) {
        cli_session_end(&d->session);
    }
}

static void on_tick(void *user)
{
    demo *d = user;
    demo_story_bars(d);
    demo_story_query(d);
    demo_view_show(d);
    if (d->settling_ns != 0 && cli_now_ns() - d->settling_ns >= SETTLE_NS) {
        cli_session_end(&d->session);
    }
}

/* The first signal only ends the changes, so that the final comparison still takes place. */
static void on_signal(void *user)
{
    demo *d = user;
    if (d->session.events.signal == SIGINT && !d->interrupted && d->changing) {
        d->session.events.signal = 0;
        d->interrupted = true;
        demo_report(d, CLI_COLOR_YELLOW,
                    "interrupted: ending the changes; again to exit immediately");
    }
    cli_session_end(&d->session);
}

/* ---- the end ---- */

/* Reads everything from the server and compares it with the caches. */
static int compare(demo *d, demo_check *ret_check, size_t *ret_wrong, ki_error *error)
{
    ki_response responses[DEMO_RESOURCES] = {{0}};
    int r = 0;
    memset(responses, 0, sizeof(responses));
    *ret_check = (demo_check){0};
    for (size_t i = 0; r == 0 && i < DEMO_RESOURCES; i++) {
        const cli_target *target = &d->session.targets[i];
        r = demo_check_read(d->session.client, target->resource, &responses[i], error);
        if (r == 0) {
            ki_snapshot *cache = ki_store_snapshot(ki_informer_store(target->informer));
            demo_check_compare(target->label, responses[i].list, cache, ret_check);
            (void)ki_snapshot_unref(cache);
        }
    }
    *ret_wrong =
        r == 0 ? demo_controller_wrong(responses[DEMO_PODS].list, responses[DEMO_PODCOUNTS].list)
               : 0;
    for (size_t i = 0; i < DEMO_RESOURCES; i++) {
        ki_response_done(&responses[i]);
    }
    return r;
}

/* Lets informers and controller catch up, and repeats the comparison until everything is equal or
 * the time limit passes. */
static int settle(demo *d, demo_result *ret_result, ki_error *error)
{
    uint64_t began = cli_now_ns();
    uint64_t until = began + d->options->wait_ms * CLI_MS_NS;
    demo_report(d, CLI_COLOR_NONE, "cluster: changes ended; comparing with the server");
    for (;;) {
        d->settling_ns = cli_now_ns();
        int r = cli_loop_run(&d->session.events, 0);
        if (r < 0) {
            return r;
        }
        ret_result->settled_ns = cli_now_ns() - began;
        r = compare(d, &ret_result->check, &ret_result->wrong, error);
        bool done = r == 0 && demo_check_is_equal(&ret_result->check) && ret_result->wrong == 0;
        if (done || cli_now_ns() >= until) {
            return r;
        }
    }
}

/* ---- startup ---- */

static int prepare(cli_target *target, ki_error *error)
{
    demo *d = target->user;
    ki_index index = {0};
    if (target != &d->session.targets[DEMO_PODS]) {
        return 0;
    }
    int made = ki_index_by_path(DEMO_NODE_INDEX, d->node_path, NULL, &index);
    return cli_session_add_index(target, made, &index, error);
}

static int open_server(demo *d, cli_call *call, ki_error *error)
{
    ki_apiserver_options wanted = KI_OPTIONS_INIT(ki_apiserver_options);
    d->log = cli_flags_log(&call->flags);
    wanted.log = &d->log;
    int r = ki_apiserver_new(&wanted, &d->server, error);
    if (r == 0) {
        r = ki_apiserver_write_kubeconfig(d->server, &d->kubeconfig);
    }
    if (r == 0) {
        r = ki_path_compile(".spec.nodeName", NULL, &d->node_path, error);
    }
    if (r == 0) {
        r = demo_controller_open(d, error);
    }
    return r == 0 ? demo_churn_load(d, error) : r;
}

static int start_informers(demo *d, ki_error *error)
{
    cli_session *session = &d->session;
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    for (size_t i = 0; i < session->target_count; i++) {
        session->targets[i].user = d;
    }
    d->serve = (cli_serve_options){
        .listen = d->options->listen != NULL ? d->options->listen : "127.0.0.1:0",
        .objects = true, /* they are invented */
        .quiet = true,
    };
    session->serve = &d->serve;
    session->stays = true;
    session->prepare = prepare;
    session->events.tick_ms = TICK_MS;
    session->events.on_round = on_round;
    session->events.on_tick = on_tick;
    session->events.on_signal = on_signal;
    session->events.user = d;
    int r = cli_session_start(session, &handler, on_synced, error);
    r = r < 0 ? r : ki_client_monitor_queue(session->client, d->controller.queue, error);
    if (r == 0) {
        demo_report(d, CLI_COLOR_NONE, "page: %s/debug/", ki_monitor_server_url(session->monitor));
    }
    return r;
}

static void report_start(demo *d)
{
    ki_buf count;
    cli_text_init(&count);
    cli_put_count(&count, d->loaded);
    demo_report(d, CLI_COLOR_NONE, "server: listening on %s with %s objects",
                ki_apiserver_url(d->server), ki_buf_text(&count));
    ki_buf_done(&count);
}

/* Runs the demo; failures are in `error`. */
static int play(demo *d, cli_call *call, demo_result *ret_result, ki_error *error)
{
    const char *const names[] = {NAMES};
    int r = open_server(d, call, error);
    if (r < 0) {
        return r;
    }
    call->flags.own_kubeconfig = ki_buf_text(&d->kubeconfig);
    call->flags.all_namespaces = true;
    d->began_ns = cli_now_ns();
    report_start(d);
    if (cli_session_open(&d->session, &call->flags, names, 1) != CLI_OK) {
        return cli_fail(error, KI_ERR_STOPPED, "the informers could not start");
    }
    if (d->session.events.signal != 0) {
        return cli_fail(error, -EINTR, "it was interrupted");
    }
    r = start_informers(d, error);
    if (r == 0) {
        r = cli_loop_run(&d->session.events, 0);
    }
    if (r == 0 && d->session.failure.code == 0) {
        d->changing = false;
        d->changed_s = demo_changing_seconds(d);
        demo_acts_end(d);
        r = settle(d, ret_result, error);
    }
    if (d->session.failure.code != 0) {
        *error = d->session.failure;
        return error->code;
    }
    if (r == -EINTR) {
        return cli_fail(error, r, "it was interrupted");
    }
    return r < 0 && error->code == 0 ? cli_fail(error, r, "cannot write: %s", strerror(-r)) : r;
}

static int run_demo(demo *d, cli_call *call)
{
    ki_error error = KI_ERROR_INIT;
    demo_result result = {0};
    int r = play(d, call, &result, &error);
    if (d->session.started_ns == 0) { /* nothing was displayed */
        if (r != KI_ERR_STOPPED) {
            cli_report_error(&error);
        }
        return CLI_FAILED;
    }
    demo_view_end(d);
    result.why = r < 0 ? cli_error_text(&error) : NULL;
    demo_summary_print(d, &result);
    int written = cli_term_flush();
    if (written < 0 && written != -EPIPE) { /* EPIPE: the viewer closed the output */
        cli_say("cannot write: %s", strerror(-written));
    }
    bool fine = r == 0 && demo_check_is_equal(&result.check) && result.wrong == 0 && d->query.right;
    return fine ? CLI_OK : CLI_FAILED;
}

/* ---- the command ---- */

static int check(demo_options *given, ki_error *error)
{
    given->seconds = given->seconds != 0 ? given->seconds : SECONDS;
    given->objects = given->objects != 0 ? given->objects : OBJECTS;
    given->rate = given->rate != 0 ? given->rate : RATE;
    given->wait_ms = given->wait_ms != 0 ? given->wait_ms : WAIT_MS;
    if (given->seconds > SECONDS_MAX) {
        return cli_fail(error, KI_ERR_INVALID, "--seconds: must be at most %d", SECONDS_MAX);
    }
    if (given->objects < DEMO_OBJECTS_MIN || given->objects > OBJECTS_MAX) {
        return cli_fail(error, KI_ERR_INVALID, "--objects: must be from %d to %d", DEMO_OBJECTS_MIN,
                        OBJECTS_MAX);
    }
    if (given->rate > RATE_MAX) {
        return cli_fail(error, KI_ERR_INVALID, "--rate: must be at most %d", RATE_MAX);
    }
    return 0;
}

static int run(cli_call *call)
{
    ki_error error = KI_ERROR_INIT;
    if (check(call->options, &error) < 0) {
        return cli_usage_error(call->command, &error);
    }
    demo *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        cli_fail_memory();
    }
    d->options = call->options;
    d->session.events.epoll_fd = -1;
    d->session.events.signal_fd = -1;
    d->query.right = true;
    cli_text_init(&d->scratch);
    cli_text_init(&d->kubeconfig);
    demo_world_init(&d->world, d->options->objects, d->options->seed, (int64_t)time(NULL));
    demo_world_name_node(DEMO_NODE, d->query.node);
    int code = run_demo(d, call);
    demo_controller_close(d);
    cli_session_close(&d->session);
    d->server = ki_apiserver_unref(d->server);
    d->node_path = ki_path_unref(d->node_path);
    demo_world_done(&d->world);
    ki_buf_done(&d->scratch);
    ki_buf_done(&d->kubeconfig);
    free(d);
    return code;
}

const cli_command cli_command_demo = {
    .name = "demo",
    .operands = "",
    .summary = "show informers at work on an in-memory server",
    .about = "Starts an in-memory API server with several thousand objects that are created, "
             "changed\nand deleted, closes connections, expires the server's history, and shows "
             "informers, an\nindex and a controller's work queue meanwhile. At the end, every "
             "cache is compared with\nthe server. Exit code 0: all caches matched, and the "
             "controller finished its work.\nNeeds no cluster and does not use one.\nSIGINT ends "
             "the changes early; a second one exits immediately with code 1.",
    .examples = "  kinformer demo\n"
                "  kinformer demo --seconds 60 --objects 20000 --rate 2000\n"
                "  kinformer demo | tee demo.log\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(demo_options),
    .run = run,
};

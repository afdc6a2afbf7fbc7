/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer run`: a controller whose reconcile function is a command. The work queue ensures that
 * no two runs have the same key; commands run alongside the loop, at most one per worker at a
 * time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <kinformer/encoding.h>
#include <kinformer/metrics.h>
#include <kinformer/path.h>
#include <kinformer/rate_limiter.h>
#include <kinformer/store.h>
#include <kinformer/worker.h>
#include <kinformer/workqueue.h>
#include <kinformer/workqueue_stats.h>

#include "cli/changes.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/command_loop.h"
#include "cli/follow.h"
#include "cli/output.h"
#include "cli/report_failure.h"
#include "cli/run_stats.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/text.h"

enum { WORKERS_MAX = 256, GRACE_MS = 10000, SHORTAGE_MS = 100, HOW_MAX = 320 };
#define RETRY_SECONDS_MAX (365.0 * 24 * 3600)

extern char **environ;

typedef struct run_options {
    cli_words exec;
    uint32_t workers;
    uint32_t timeout_ms;
    uint32_t max_retries;
    uint32_t resync_ms;
    bool once;
    bool quiet;
    const char *stats;
    cli_serve_options serve;
} run_options;

#define AT(member) offsetof(run_options, member)

static const cli_option options[] = {
    {"exec", 0, CLI_ARG_REST, AT(exec), "COMMAND...",
     "the command and its arguments, to the end of the line"},
    {"workers", 'w', CLI_ARG_NUMBER, AT(workers), "N", "number of concurrent commands; default 1"},
    {"timeout", 0, CLI_ARG_DURATION, AT(timeout_ms), "DURATION",
     "kill runs that take longer, and count them as failed"},
    {"max-retries", 0, CLI_ARG_NUMBER, AT(max_retries), "N",
     "give up on an object after N failed runs; 0: never"},
    {"resync", 0, CLI_ARG_DURATION, AT(resync_ms), "DURATION",
     "run for all objects at this interval"},
    {"once", 0, CLI_ARG_FLAG, AT(once), NULL, "exit when the initial objects are processed"},
    {"quiet", 'q', CLI_ARG_FLAG, AT(quiet), NULL, "do not report failed runs"},
    CLI_STATS_OPTION(run_options, stats),
    CLI_SERVE_OPTIONS(run_options, serve),
};

struct running;

/* Slot of one running command. */
typedef struct worker {
    struct running *owner;
    cli_child child;
    ki_work work;
    cli_change_type type;
    ki_object *object; /* that it was started for */
    uint64_t deadline_ns;
    bool timed_out;
} worker;

typedef struct running {
    cli_session session;
    const run_options *options;
    ki_workqueue *queue;
    cli_changes changes;
    worker *workers;
    size_t worker_count;
    const worker *mid_line; /* a running worker that has printed part of a line; NULL: none */
    bool ending;            /* shutting down: nothing new is started */
    uint64_t resume_ns;     /* nothing is started before, due to a resource shortage */
    uint64_t given_up;
} running;

/* ---- events ---- */

static void on_change(const ki_change *change, void *user)
{
    static const cli_change_type types[KI_CHANGE_TYPE_MAX] = {
        [KI_CHANGE_ADDED] = CLI_CHANGE_ADD,
        [KI_CHANGE_UPDATED] = CLI_CHANGE_UPDATE,
        [KI_CHANGE_DELETED] = CLI_CHANGE_DELETE,
        [KI_CHANGE_SYNC] = CLI_CHANGE_SYNC,
    };
    const cli_target *target = user;
    running *r = target->user;
    const char *key = ki_object_key(change->object);
    cli_changes_note(&r->changes, key, types[change->type], change->object);
    int added = ki_workqueue_add(r->queue, key);
    if (added == -ENOMEM) {
        cli_fail_memory(); /* as everywhere in this program */
    }
    if (added < 0 && added != KI_ERR_STOPPED) {
        cli_say("%s: cannot be queued: %s", key, ki_error_text(added));
    }
}

/* ---- starting a command ---- */

static void add_variable(cli_words *words, const char *name, const char *value)
{
    ki_buf text;
    cli_text_init(&text);
    cli_putf(&text, "KINFORMER_%s=", name);
    cli_put(&text, value);
    char *copy = strdup(ki_buf_text(&text));
    ki_buf_done(&text);
    if (copy == NULL) {
        cli_fail_memory();
    }
    cli_words_add(words, copy);
}

/* Our variables first, so that they take precedence, then the inherited ones; only the former are
 * to be freed. */
static size_t make_environment(const running *r, const worker *w, cli_words *ret_words)
{
    char attempt[32];
    (void)snprintf(attempt, sizeof(attempt), "%u", ki_workqueue_requeues(r->queue, w->work.key));
    add_variable(ret_words, "KEY", ki_object_key(w->object));
    add_variable(ret_words, "NAMESPACE", ki_object_namespace(w->object));
    add_variable(ret_words, "NAME", ki_object_name(w->object));
    add_variable(ret_words, "EVENT", cli_change_name(w->type));
    add_variable(ret_words, "RESOURCE", r->session.targets[0].label);
    add_variable(ret_words, "RETRIES", attempt);
    size_t ours = ret_words->count;
    for (char **variable = environ; *variable != NULL; variable++) {
        if (strncmp(*variable, "KINFORMER_", strlen("KINFORMER_")) != 0) {
            cli_words_add(ret_words, *variable);
        }
    }
    return ours;
}

static void free_environment(cli_words *words, size_t ours)
{
    for (size_t i = 0; i < ours; i++) {
        union {
            const char *from;
            char *to;
        } text = {words->items[i]};
        free(text.to);
    }
    cli_words_done(words);
}

static void release(running *r, worker *w)
{
    w->object = ki_object_unref(w->object);
    ki_workqueue_done(r->queue, &w->work);
}

/* The current object of a key, or its last state. False: there is nothing to process. */
static bool find_object(running *r, worker *w)
{
    ki_object *last = NULL;
    ki_store *store = ki_informer_store(r->session.targets[0].informer);
    w->type = cli_changes_take(&r->changes, w->work.key, &last);
    w->object = ki_store_get(store, w->work.key);
    if (w->object != NULL) {
        (void)ki_object_unref(last);
        if (w->type == CLI_CHANGE_NONE || w->type == CLI_CHANGE_DELETE) {
            w->type = CLI_CHANGE_UPDATE; /* requeued on request, or recreated */
        }
        return true;
    }
    w->object = last;
    w->type = CLI_CHANGE_DELETE;
    return last != NULL; /* otherwise the deletion is still to come, or was processed */
}

/* ---- results ---- */

/* {"retryAfterSeconds": N} and nothing else. */
static bool read_result(ki_str printed, double *ret_seconds)
{
    ki_object *printed_result = NULL;
    ki_value value;
    double seconds = 0;
    if (printed.len == 0 ||
        ki_object_from_json(printed.ptr, printed.len, NULL, &printed_result, NULL) < 0) {
        return false;
    }
    ki_value root = ki_object_root(printed_result);
    bool found = ki_value_member(&root, ki_str_from("retryAfterSeconds"), &value) == 0 &&
                 ki_value_double(&value, &seconds) == 0 && seconds >= 0;
    (void)ki_object_unref(printed_result);
    *ret_seconds = seconds < RETRY_SECONDS_MAX ? seconds : RETRY_SECONDS_MAX;
    return found;
}

/* Workers share standard output line by line. Only a line longer than the kept output may be
 * incomplete when another worker prints. */
static void print(running *r, const worker *w, ki_str text)
{
    if (text.len == 0) {
        return;
    }
    if (r->mid_line != NULL && r->mid_line != w) {
        cli_term_out(ki_str_from("\n"));
        cli_say("%s: a line of output longer than %d bytes was split",
                ki_object_key(r->mid_line->object), CLI_CHILD_KEPT_MAX);
    }
    cli_term_out(text); /* the command is the user's own program; its output is not escaped */
    r->mid_line = text.ptr[text.len - 1] != '\n' && cli_child_runs(&w->child) ? w : NULL;
}

static void print_rest(running *r, worker *w)
{
    print(r, w, ki_buf_str(&w->child.printed));
    if (r->mid_line == w) {
        r->mid_line = NULL;
    }
}

/* For a command that prints more than is kept: whole lines, and longer ones piece by piece. */
static void pass_output(void *user)
{
    worker *w = user;
    ki_str text = ki_buf_str(&w->child.printed);
    const char *end = memrchr(text.ptr, '\n', text.len);
    size_t len = end != NULL ? (size_t)(end - text.ptr) + 1 : text.len;
    if (end != NULL || len >= CLI_CHILD_KEPT_MAX) {
        print(w->owner, w, ki_str_make(text.ptr, len));
        cli_child_drop(&w->child, len);
    }
}

static void describe_end(const running *r, const worker *w, int status, char how[HOW_MAX])
{
    const char *command = r->options->exec.items[0];
    if (w->timed_out) {
        (void)snprintf(how, HOW_MAX, "%s timed out", command);
    } else if (status == CLI_CHILD_LOST) {
        (void)snprintf(how, HOW_MAX, "%s ended with an unknown status", command);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(how, HOW_MAX, "%s was killed by signal %d", command, WTERMSIG(status));
    } else {
        (void)snprintf(how, HOW_MAX, "%s exited with %d", command, WEXITSTATUS(status));
    }
}

static void succeeded(running *r, worker *w)
{
    double seconds;
    ki_workqueue_forget(r->queue, w->work.key);
    if (!w->child.passing && read_result(ki_buf_str(&w->child.printed), &seconds)) {
        (void)!ki_workqueue_add_after(r->queue, w->work.key, (uint64_t)(seconds * 1000));
        return;
    }
    print_rest(r, w);
}

static void failed(running *r, worker *w, const char *how)
{
    uint32_t failures = ki_workqueue_requeues(r->queue, w->work.key) + 1;
    bool given_up = r->options->max_retries != 0 && failures >= r->options->max_retries;
    r->given_up += given_up;
    if (!r->ending && !r->options->quiet) {
        cli_say("%s: %s; %s after %u failed %s", ki_object_key(w->object), how,
                given_up ? "giving up" : "retrying", failures, failures == 1 ? "run" : "runs");
    }
    if (given_up) {
        ki_workqueue_forget(r->queue, w->work.key);
        return;
    }
    cli_changes_put_back(&r->changes, w->work.key, w->type, w->object);
    (void)!ki_workqueue_add_rate_limited(r->queue, w->work.key); /* fails only during shutdown */
}

static void ended(running *r, worker *w, int status)
{
    char how[HOW_MAX];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !w->timed_out) {
        succeeded(r, w);
        return;
    }
    print_rest(r, w);
    describe_end(r, w, status, how);
    failed(r, w, how);
}

static void on_child(void *user)
{
    running *r = user;
    int status;
    for (size_t i = 0; i < r->worker_count; i++) {
        worker *w = &r->workers[i];
        if (cli_child_has_ended(&w->child, &status)) {
            ended(r, w, status);
            release(r, w);
        }
    }
}

/* ---- scheduling ---- */

/* Out of processes, descriptors or memory: this run fails, and nothing is started for a moment.
 * Other errors, such as a missing command, are permanent. */
static void not_started(running *r, worker *w, const ki_error *error)
{
    if (cli_child_is_shortage(error->code)) {
        failed(r, w, cli_error_text(error));
        r->resume_ns = cli_now_ns() + SHORTAGE_MS * CLI_MS_NS;
    } else {
        r->session.failure = *error;
        cli_session_end(&r->session);
    }
    release(r, w);
}

/* Its JSON would lack fields, which a command that writes it back would delete. */
static void refuse_incomplete(running *r, worker *w)
{
    cli_say("%s: not passed to %s: it has fields without a schema in this version of kinformer",
            ki_object_key(w->object), r->options->exec.items[0]);
    r->given_up++;
    ki_workqueue_forget(r->queue, w->work.key);
    release(r, w);
}

/* Starts the command for a key taken from the queue. */
static void start(running *run, worker *w)
{
    cli_words environment = {0};
    ki_error error = KI_ERROR_INIT;
    if (!find_object(run, w)) {
        ki_workqueue_forget(run->queue, w->work.key);
        release(run, w);
        return;
    }
    if (!ki_object_is_complete(w->object)) { /* only if the server does not support JSON */
        refuse_incomplete(run, w);
        return;
    }
    ki_buf_clear(&w->child.text);
    cli_put_object(&w->child.text, w->object, 0);
    cli_put_char(&w->child.text, '\n');
    size_t ours = make_environment(run, w, &environment);
    int r = cli_child_start(&w->child, run->options->exec.items, environment.items, &error);
    free_environment(&environment, ours);
    w->timed_out = false;
    w->deadline_ns = run->options->timeout_ms != 0
                         ? cli_now_ns() + run->options->timeout_ms * CLI_MS_NS
                         : UINT64_MAX;
    if (r < 0) {
        not_started(run, w, &error);
    }
}

/* ---- rounds ---- */

static size_t busy_count(const running *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->worker_count; i++) {
        count += cli_child_runs(&r->workers[i].child);
    }
    return count;
}

static bool may_start(const running *r)
{
    return !r->ending && r->session.failure.code == 0 && cli_now_ns() >= r->resume_ns;
}

static void start_some(running *r)
{
    for (size_t i = 0; i < r->worker_count; i++) {
        worker *w = &r->workers[i];
        while (may_start(r) && !cli_child_runs(&w->child) &&
               ki_workqueue_try_get(r->queue, &w->work) > 0) {
            start(r, w);
        }
    }
}

static void end_late(running *r, uint64_t now)
{
    for (size_t i = 0; i < r->worker_count; i++) {
        worker *w = &r->workers[i];
        if (cli_child_runs(&w->child) && now >= w->deadline_ns) {
            w->timed_out = true;
            w->deadline_ns = UINT64_MAX;
            cli_child_signal(&w->child, SIGKILL);
        }
    }
}

static uint64_t next_wake(running *r)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < r->worker_count; i++) {
        const worker *w = &r->workers[i];
        if (cli_child_runs(&w->child) && w->deadline_ns < next) {
            next = w->deadline_ns;
        }
    }
    if (!r->ending && busy_count(r) < r->worker_count) {
        int ms = ki_workqueue_timeout(r->queue);
        uint64_t queue = ms < 0 ? UINT64_MAX : cli_now_ns() + (uint64_t)ms * CLI_MS_NS;
        next = queue < next ? queue : next;
    }
    if (r->resume_ns < next && cli_now_ns() < r->resume_ns) {
        next = r->resume_ns;
    }
    return next;
}

static bool is_idle(running *r)
{
    ki_workqueue_stats stats = KI_OPTIONS_INIT(ki_workqueue_stats);
    ki_workqueue_get_stats(r->queue, &stats);
    return stats.depth == 0 && stats.processing == 0 && stats.delayed == 0;
}

static void on_round(void *user)
{
    running *r = user;
    end_late(r, cli_now_ns());
    start_some(r);
    cli_follow_check(&r->session);
    r->session.events.wake_ns = next_wake(r);
    bool done = r->options->once && cli_session_is_synced(&r->session) && is_idle(r);
    if (done || (r->ending && busy_count(r) == 0)) {
        cli_session_end(&r->session);
    }
}

/* Graceful shutdown: nothing new is started, and running commands get SIGTERM and some time. The
 * remaining ones are killed by cli_child_done(), at the latest on another signal. */
static void wind_down(running *r)
{
    cli_loop *loop = &r->session.events;
    uint64_t until = cli_now_ns() + GRACE_MS * CLI_MS_NS;
    uint32_t signals = loop->signals;
    r->ending = true;
    ki_workqueue_shut_down(r->queue);
    for (size_t i = 0; i < r->worker_count; i++) {
        cli_child_signal(&r->workers[i].child, SIGTERM);
    }
    while (busy_count(r) > 0 && loop->signals == signals) {
        uint64_t now = cli_now_ns();
        if (now >= until) {
            break;
        }
        /* Fails if standard output was closed, which does not matter here. */
        (void)!cli_loop_run(loop, (uint32_t)((until - now) / CLI_MS_NS) + 1);
    }
}

/* ---- the command ---- */

static int make_queue(running *r, ki_error *error)
{
    ki_workqueue_options wanted = KI_OPTIONS_INIT(ki_workqueue_options);
    wanted.name = "run";
    wanted.clock = ki_clock_system();
    wanted.random = ki_random_system();
    int made = ki_workqueue_new(&wanted, &r->queue, error);
    if (made == 0 && r->options->serve.listen != NULL) {
        made = ki_client_monitor_queue(r->session.client, r->queue, error);
    }
    return made;
}

static void make_workers(running *r)
{
    size_t count = r->options->workers != 0 ? r->options->workers : 1;
    r->workers = calloc(count, sizeof(*r->workers));
    if (r->workers == NULL) {
        cli_fail_memory();
    }
    r->worker_count = count;
    for (size_t i = 0; i < count; i++) {
        r->workers[i].owner = r;
        cli_child_init(&r->workers[i].child, &r->session.events, pass_output, &r->workers[i]);
    }
}

static int control(running *r, cli_call *call)
{
    cli_session *session = &r->session;
    ki_handler handler = {.on_change = on_change};
    ki_error error = KI_ERROR_INIT;
    int code = cli_session_open(session, &call->flags, call->operands.items, 1);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    session->targets[0].user = r;
    session->resync_ms = r->options->resync_ms;
    session->serve = &r->options->serve;
    session->events.on_round = on_round;
    session->events.on_child = on_child;
    session->events.user = r;
    make_workers(r);
    if (make_queue(r, &error) < 0 || cli_session_start(session, &handler, NULL, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    code = cli_session_run(session, 0);
    wind_down(r);
    cli_stats_print(session, r->options->stats);
    if (code != CLI_OK || !r->options->once) {
        return code;
    }
    return r->given_up != 0 ? CLI_FAILED : cli_session_result(session, CLI_OK);
}

static void done(running *r)
{
    for (size_t i = 0; i < r->worker_count; i++) {
        worker *w = &r->workers[i];
        cli_child_done(&w->child);
        (void)ki_object_unref(w->object);
    }
    cli_session_close(&r->session);
    free(r->workers);
    cli_changes_done(&r->changes);
    r->queue = ki_workqueue_unref(r->queue);
}

static int check(const run_options *given, const cli_call *call, ki_error *error)
{
    if (given->exec.count == 0 || given->exec.items[0][0] == '\0') {
        return cli_fail(error, KI_ERR_INVALID, "--exec: command missing");
    }
    if (given->workers > WORKERS_MAX) {
        return cli_fail(error, KI_ERR_INVALID, "--workers: must be at most %d", WORKERS_MAX);
    }
    if (given->resync_ms != 0 && given->resync_ms < 1000) {
        return cli_fail(error, KI_ERR_INVALID, "--resync: must be at least 1s");
    }
    if (strchr(call->operands.items[0], ',') != NULL) {
        return cli_fail(error, KI_ERR_INVALID, "run: exactly one resource is supported");
    }
    if (!cli_stats_is_format(given->stats)) {
        return cli_fail(error, KI_ERR_INVALID, "--stats: value must be json");
    }
    return 0;
}

static int run(cli_call *call)
{
    running r = {.options = call->options};
    ki_error error = KI_ERROR_INIT;
    if (check(r.options, call, &error) < 0) {
        return cli_usage_error(call->command, &error);
    }
    r.session.events.epoll_fd = -1;
    r.session.events.signal_fd = -1;
    int code = control(&r, call);
    done(&r);
    return code;
}

static void options_done(void *given)
{
    cli_words_done(&((run_options *)given)->exec);
}

const cli_command cli_command_run = {
    .name = "run",
    .operands = "RESOURCE --exec COMMAND...",
    .summary = "run a command for each changed object (a controller)",
    .about =
        "Runs a command for each existing object and for each change or deletion. The object "
        "is\non the command's standard input as JSON; after a deletion it is the last known "
        "state.\nThe environment has KINFORMER_KEY, _NAMESPACE, _NAME, _RESOURCE, _EVENT (add, "
        "update,\ndelete or sync) and _RETRIES. Runs for the same object never overlap; changes "
        "during a\nrun lead to one more run. A run that exits with another code than 0 is retried "
        "after\n5 ms, then with the delay doubled each time; --max-retries limits this. A run "
        "that\nprints only {\"retryAfterSeconds\": N} is repeated after that time; any other "
        "output is\nprinted when the run ends (beyond 1 MiB as it arrives, in whole lines).\n\nThe "
        "command is everything after --exec or \"--\"; --exec=COMMAND takes one word. On\nSIGINT "
        "or SIGTERM, running commands receive SIGTERM, and SIGKILL after 10 seconds or at\na "
        "second signal. The same happens when it exits for another reason.",
    .examples =
        "  kinformer run configmaps --exec ./reconcile.sh\n"
        "  kinformer run configmaps --exec=./reconcile.sh --once --max-retries 5\n"
        "  kinformer run deploy -A -l app=web --workers 4 --exec python3 scale.py --dry-run\n"
        "  kinformer run secrets --once --exec sh -c 'echo \"$KINFORMER_EVENT $KINFORMER_KEY\"'\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(run_options),
    .options_done = options_done,
    .connects = true,
    .names_resources = true,
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* `kinformer top`: periodic status of the caches: full screen on a terminal, lines elsewhere. */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "cli/advise.h"
#include "cli/command.h"
#include "cli/command_loop.h"
#include "cli/follow.h"
#include "cli/gauge.h"
#include "cli/report_failure.h"
#include "cli/run_stats.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/text_table.h"

#define DEFAULT_RESOURCES "pods,nodes,services,configmaps,deployments.apps"

typedef struct top_options {
    uint32_t interval_ms;
    uint32_t count;
    bool advise;
    const char *output;
    cli_serve_options serve;
} top_options;

#define AT(member) offsetof(top_options, member)

static const cli_option options[] = {
    {"interval", 'i', CLI_ARG_DURATION, AT(interval_ms), "DURATION",
     "refresh interval; default 1s"},
    {"count", 'c', CLI_ARG_NUMBER, AT(count), "N", "exit after N refreshes; 0: never"},
    {"advise", 0, CLI_ARG_FLAG, AT(advise), NULL,
     "memory by field, and what --keep, --drop and --packed would leave"},
    {"output", 'o', CLI_ARG_TEXT, AT(output), "json", "with --advise: print JSON"},
    CLI_SERVE_OPTIONS(top_options, serve),
};

typedef struct topping {
    cli_session session;
    const top_options *options;
    cli_gauge gauges[CLI_TARGETS_MAX];
    uint32_t shown;
    cli_fd keys;
} topping;

static const cli_gauge *measure(const cli_target *target, const ki_health *health)
{
    topping *t = target->user;
    cli_gauge *gauge = &t->gauges[target - t->session.targets];
    cli_gauge_measure(gauge, health);
    return gauge;
}

/* ---- full screen ---- */

static void put_since(ki_buf *out, uint64_t ms)
{
    if (ms == UINT64_MAX) {
        cli_put(out, "never");
    } else {
        cli_put_age(out, (int64_t)(ms / 1000));
    }
}

static const cli_heading headings[] = {
    {"RESOURCE", false, false, true}, {"STATE", false, false, true},
    {"OBJECTS", false, true, false},  {"MEMORY", false, true, false},
    {"RECEIVED", true, true, false},  {"EVENTS/S", false, true, false},
    {"LAG", false, true, false},      {"LISTED", false, true, false},
    {"RELISTS", true, true, false},   {"WHY", true, false, false},
};

static const char *state_of(const ki_health *health)
{
    return health->over_limit ? "over limit" : ki_reflector_state_name(health->state);
}

static void put_row(cli_table *table, const cli_target *target)
{
    ki_health health = cli_follow_health(target);
    const ki_health *r = &health;
    const cli_gauge *gauge = measure(target, &health);
    ki_error reason = cli_follow_reason(target);
    const char *why = reason.code != 0 ? cli_error_text(&reason) : "";
    bool wide = table->line_width >= CLI_TABLE_WIDE;
    cli_table_row(table, cli_gauge_color(&health));
    cli_put(cli_table_cell(table), target->label);
    cli_put(cli_table_cell(table), state_of(&health));
    cli_put_count(cli_table_cell(table), cli_gauge_objects(&health));
    cli_put_bytes(cli_table_cell(table), health.memory);
    if (wide) {
        cli_put_bytes(cli_table_cell(table), r->bytes);
    }
    cli_putf(cli_table_cell(table), "%.1f", gauge->rate);
    cli_put_count(cli_table_cell(table), health.queued + health.handlers_waiting);
    put_since(cli_table_cell(table), r->since_sync_ms);
    if (wide) {
        cli_put_count(cli_table_cell(table), r->relists);
        cli_put_escaped(cli_table_cell(table), ki_str_from(why));
    }
    cli_table_end_row(table);
    if (!wide && why[0] != '\0') {
        cli_put_escaped(cli_table_line(table), ki_str_from(why));
        cli_table_end_row(table);
    }
}

static const cli_heading memory_headings[] = {
    {"MEMORY", false, false, true},   {"OBJECTS", false, true, false},
    {"INDEXES", false, true, false},  {"READERS", false, true, false},
    {"QUEUES", false, true, false},   {"TOTAL", false, true, false},
    {"SNAPSHOT", false, true, false},
};

static void put_memory_row(cli_table *table, const char *label, const ki_health *h)
{
    cli_table_row(table, h->over_limit ? CLI_COLOR_RED : CLI_COLOR_NONE);
    cli_put(cli_table_cell(table), label);
    cli_put_bytes(cli_table_cell(table), h->object_bytes);
    cli_put_bytes(cli_table_cell(table), h->index_bytes);
    cli_put_bytes(cli_table_cell(table), h->version_bytes);
    cli_put_bytes(cli_table_cell(table), h->queue_bytes + h->decoding_bytes);
    cli_put_bytes(cli_table_cell(table), h->memory);
    if (h->oldest_snapshot_ms != 0) {
        cli_put_age(cli_table_cell(table), (int64_t)(h->oldest_snapshot_ms / 1000));
    } else {
        cli_put(cli_table_cell(table), "-");
    }
    cli_table_end_row(table);
}

/* What the memory of each cache consists of, and of all together, since they share the limit. */
static void put_memory(const topping *t, ki_buf *out)
{
    const cli_session *s = &t->session;
    ki_health all = KI_OPTIONS_INIT(ki_health);
    cli_table table;
    cli_table_init_headed(&table, memory_headings,
                          sizeof(memory_headings) / sizeof(memory_headings[0]), cli_term_width());
    for (size_t i = 0; i < s->target_count; i++) {
        const ki_health h = cli_follow_health(&s->targets[i]);
        put_memory_row(&table, s->targets[i].label, &h);
        all.object_bytes += h.object_bytes;
        all.index_bytes += h.index_bytes;
        all.version_bytes += h.version_bytes;
        all.queue_bytes += h.queue_bytes + h.decoding_bytes;
        all.memory += h.memory;
        all.over_limit = all.over_limit || h.over_limit;
        if (h.oldest_snapshot_ms > all.oldest_snapshot_ms) {
            all.oldest_snapshot_ms = h.oldest_snapshot_ms;
        }
    }
    if (s->target_count > 1) {
        put_memory_row(&table, "all", &all);
    }
    cli_put_char(out, '\n');
    cli_table_print(&table, out);
    cli_table_done(&table);
    if (s->flags->max_bytes != 0) {
        cli_put(out, "limit ");
        cli_put_bytes(out, s->flags->max_bytes);
        cli_put_char(out, '\n');
    }
}

static void put_picture(topping *t, ki_buf *out)
{
    cli_table table;
    uint64_t now = cli_now_ns();
    cli_putf(out, "kinformer top  ");
    cli_put_escaped(out, ki_str_from(ki_config_server(t->session.config)));
    cli_put(out, "  up ");
    cli_put_age(out, (int64_t)((now - t->session.started_ns) / CLI_SECOND_NS));
    cli_put(out, "  memory ");
    cli_put_bytes(out, cli_stats_memory());
    cli_putf(out, "  CPU %.2f s\n\n", cli_stats_cpu_seconds());
    cli_table_init_headed(&table, headings, sizeof(headings) / sizeof(headings[0]),
                          cli_term_width());
    for (size_t i = 0; i < t->session.target_count; i++) {
        put_row(&table, &t->session.targets[i]);
    }
    cli_table_print(&table, out);
    cli_table_done(&table);
    put_memory(t, out);
}

/* ---- lines ---- */

static void put_time(ki_buf *out)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) != 0) {
        cli_put(out, text);
    }
}

static void put_memory_words(ki_buf *out, const ki_health *h)
{
    cli_putf(out, " object_bytes=%llu index_bytes=%llu version_bytes=%llu queue_bytes=%llu",
             (unsigned long long)h->object_bytes, (unsigned long long)h->index_bytes,
             (unsigned long long)h->version_bytes,
             (unsigned long long)(h->queue_bytes + h->decoding_bytes));
    cli_putf(out, " oldest_snapshot_ms=%llu", (unsigned long long)h->oldest_snapshot_ms);
    cli_put(out, h->over_limit ? " over_limit=true" : "");
}

static void put_line(ki_buf *out, const cli_target *target)
{
    ki_health health = cli_follow_health(target);
    const ki_health *r = &health;
    const cli_gauge *gauge = measure(target, &health);
    put_time(out);
    cli_putf(out, " %s state=%s objects=%llu received=%llu memory=%llu", target->label,
             ki_reflector_state_name(r->state), (unsigned long long)cli_gauge_objects(&health),
             (unsigned long long)r->bytes, (unsigned long long)r->memory);
    put_memory_words(out, r);
    cli_putf(out, " events=%llu", (unsigned long long)r->events);
    cli_putf(out, " rate=%.1f lag=%zu relists=%llu listed=", gauge->rate,
             health.queued + health.handlers_waiting, (unsigned long long)r->relists);
    put_since(out, r->since_sync_ms);
    ki_error reason = cli_follow_reason(target);
    if (reason.code != 0) {
        cli_put(out, " reason=");
        cli_put_quoted(out, ki_str_from(cli_error_text(&reason)));
    }
    cli_put_char(out, '\n');
}

static void on_tick(void *user)
{
    topping *t = user;
    ki_buf out;
    cli_text_init(&out);
    if (cli_term_out_is_terminal()) {
        put_picture(t, &out);
        cli_term_show(ki_buf_str(&out));
    } else {
        for (size_t i = 0; i < t->session.target_count; i++) {
            put_line(&out, &t->session.targets[i]);
        }
        cli_term_out(ki_buf_str(&out));
    }
    ki_buf_done(&out);
    if (++t->shown == t->options->count) {
        cli_session_end(&t->session);
    }
}

/* ---- keys ---- */

static void on_key(void *user)
{
    topping *t = user;
    char keys[64];
    ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        cli_loop_unwatch(&t->session.events, &t->keys); /* end of input */
    }
    for (ssize_t i = 0; i < n; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q') {
            cli_session_end(&t->session);
        }
    }
}

static void take_keys(topping *t)
{
    t->keys = (cli_fd){.fd = STDIN_FILENO, .ready = on_key, .user = t};
    if (cli_term_take_keys()) {
        (void)!cli_loop_watch(&t->session.events, &t->keys, EPOLLIN); /* on failure: use Ctrl-C */
    }
}

/* ---- the command ---- */

static int top(topping *t, cli_call *call)
{
    cli_session *session = &t->session;
    ki_handler handler = {0}; /* no callbacks needed */
    ki_error error = KI_ERROR_INIT;
    const char *const usual[] = {DEFAULT_RESOURCES};
    bool named = call->operands.count != 0;
    int code = cli_session_open(session, &call->flags, named ? call->operands.items : usual,
                                named ? call->operands.count : 1);
    if (code != CLI_OK || session->events.signal != 0) {
        return code;
    }
    for (size_t i = 0; i < session->target_count; i++) {
        session->targets[i].user = t;
    }
    session->stays = true;
    session->track_readers = true;
    session->serve = &t->options->serve;
    session->events.tick_ms = t->options->interval_ms != 0 ? t->options->interval_ms : 1000;
    session->events.on_tick = on_tick;
    session->events.user = t;
    if (cli_session_start(session, &handler, NULL, &error) < 0) {
        cli_report_error(&error);
        return cli_exit_code(&error);
    }
    take_keys(t);
    code = cli_session_run(session, 0);
    cli_term_leave();
    return code;
}

static int run(cli_call *call)
{
    const top_options *o = call->options;
    ki_error error = KI_ERROR_INIT;
    if (o->output != NULL && (!o->advise || strcmp(o->output, "json") != 0)) {
        (void)cli_fail(&error, KI_ERR_INVALID, "--output: must be json, with --advise");
        return cli_usage_error(call->command, &error);
    }
    if (o->advise) {
        return cli_advise(call, o->output != NULL);
    }
    topping t = {.options = call->options};
    t.session.events.epoll_fd = -1;
    t.session.events.signal_fd = -1;
    int code = top(&t, call);
    cli_session_close(&t.session);
    return code;
}

const cli_command cli_command_top = {
    .name = "top",
    .operands = "[RESOURCE...]",
    .summary = "show the state of caches, live",
    .about = "Keeps a cache of each resource (" DEFAULT_RESOURCES
             "\nby default) and shows its state: objects, bytes received, memory, events "
             "per\nsecond, queued events (lag), age of the last list, state, relists and the last "
             "failure;\nand what the memory consists of: objects, keys and indexes, old versions "
             "held by\nreaders, queues. On a terminal the screen is updated until q or "
             "Ctrl-C; otherwise lines\nare printed.\n\n"
             "With --advise: reads the objects once, prints "
             "their bytes by field, largest first, and\nhow much of their memory --drop=usual, the "
             "given --drop and --keep, and --packed would\nleave, measured on up to 10,000 of "
             "them.",
    .examples = "  kinformer top -A\n"
                "  kinformer top pods,events -A\n"
                "  kinformer top pods -A --interval 10s | tee -a caches.log\n"
                "  kinformer top --advise pods -A --keep .spec.nodeName,.status.phase\n",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .options_size = sizeof(top_options),
    .connects = true,
    .names_resources = true,
    .operands_max = CLI_TARGETS_MAX,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* A session. Nothing here blocks outside the event loop, so that signals and the timeout always
 * take effect. */
#include "cli/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <kinformer/index.h>
#include <kinformer/parts/shared_informer.h>
#include <kinformer/projection.h>
#include <kinformer/registration.h>
#include <kinformer/status.h>

#include "cli/follow.h"
#include "cli/output.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

enum { TICK_MS = 100, CLOSE_MS = 2000, CUT_ROOM = 8 };

/* ---- opening ---- */

static void report(const ki_report *report, void *user)
{
    cli_session *s = user;
    const char *name = report->name[0] != '\0' ? report->name : report->component;
    s->reported = *report->error;
    if (report->key.len != 0) {
        cli_say("%s: %.*s: %s", name, KI_STR_ARG(report->key), cli_error_text(report->error));
    } else {
        cli_say("%s: %s", name, cli_error_text(report->error));
    }
}

/* Reports why the session ends, unless the library has just reported it. */
static int end_with(const cli_session *s, const ki_error *error)
{
    bool said = s->reported.code == error->code &&
                strcmp(cli_error_text(&s->reported), cli_error_text(error)) == 0;
    if (!said) {
        cli_say("%s%s%s", s->failed != NULL ? s->failed->label : "", s->failed != NULL ? ": " : "",
                s->failure_text != NULL ? s->failure_text : cli_error_text(error));
    }
    return cli_exit_code(error);
}

static int connect_client(cli_session *s, ki_error *error)
{
    ki_loop_options options = KI_OPTIONS_INIT(ki_loop_options);
    options.log = &s->log;
    options.no_threads = true;
    options.on_report = report;
    options.report_user = s;
    int r = cli_flags_config(s->flags, &s->log, &s->config, error);
    if (r == 0) {
        r = ki_loop_new(&options, &s->loop, error);
    }
    if (r == 0) {
        r = cli_loop_open(&s->events, s->loop, error);
    }
    if (r == 0) {
        r = cli_flags_client(s->flags, s->config, s->loop, &s->client, error);
    }
    return r;
}

static void discovered(const ki_discovery *discovery, const ki_error *error, void *user)
{
    cli_session *s = user;
    if (error != NULL) {
        s->failure = *error;
    } else {
        s->discovery = ki_discovery_ref(discovery);
    }
    cli_loop_stop(&s->events);
}

static int discover(cli_session *s, ki_error *error)
{
    int r = ki_client_discover_start(s->client, 0, discovered, s, error);
    if (r < 0) {
        return r;
    }
    r = cli_loop_run(&s->events, s->flags->request_timeout_ms);
    if (s->discovery != NULL) {
        return 0;
    }
    if (s->failure.code != 0) {
        *error = s->failure;
        return error->code;
    }
    ki_client_discover_cancel(s->client, s);
    if (r == -ETIMEDOUT) {
        return cli_fail(error, r, "timeout: no response from %s", ki_config_server(s->config));
    }
    return cli_fail(error, r < 0 ? r : -EINTR, "interrupted by a signal");
}

static bool is_watchable(const cli_session *s, const ki_resource *resource)
{
    uint32_t wanted = KI_CAN_LIST | KI_CAN_WATCH;
    return (ki_discovery_verbs(s->discovery, resource) & wanted) == wanted;
}

static int add_resource(cli_session *s, const ki_resource *resource, ki_error *error)
{
    ki_buf label;
    for (size_t i = 0; i < s->target_count; i++) {
        if (s->targets[i].resource == resource) {
            return 0; /* duplicate operand */
        }
    }
    if (s->target_count == CLI_TARGETS_MAX) {
        return cli_fail(error, KI_ERR_LIMIT, "more than %d resources", CLI_TARGETS_MAX);
    }
    cli_target *target = &s->targets[s->target_count++];
    cli_text_init(&label);
    cli_put_resource(&label, resource);
    *target = (cli_target){.session = s, .resource = ki_resource_ref(resource)};
    target->label = strdup(ki_buf_text(&label));
    ki_buf_done(&label);
    if (target->label == NULL) {
        cli_fail_memory();
    }
    return 0;
}

static bool is_in_category(const cli_session *s, const ki_resource *resource, const char *name)
{
    const char *category;
    for (size_t i = 0; (category = ki_discovery_category_at(s->discovery, resource, i)) != NULL;
         i++) {
        if (strcasecmp(category, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Adds all resources of a category, such as "all", each in its preferred version, which is the
 * first. Returns their number. */
static int add_category(cli_session *s, const char *name, ki_error *error)
{
    const ki_resource *resource;
    int count = 0;
    for (size_t i = 0; (resource = ki_discovery_at(s->discovery, i, NULL)) != NULL; i++) {
        const ki_resource *preferred = NULL;
        ki_error unknown = KI_ERROR_INIT;
        ki_buf full;
        if (!is_in_category(s, resource, name) || !is_watchable(s, resource)) {
            continue;
        }
        cli_text_init(&full);
        cli_put_resource(&full, resource);
        int r = ki_discovery_find(s->discovery, ki_buf_text(&full), &preferred, &unknown);
        ki_buf_done(&full);
        if (r == 0 && preferred == resource) {
            r = add_resource(s, resource, error);
            if (r < 0) {
                return r;
            }
            count++;
        }
    }
    return count;
}

static int add_target(cli_session *s, const char *name, ki_error *error)
{
    const ki_resource *resource;
    int r = ki_discovery_find(s->discovery, name, &resource, error);
    if (r == KI_ERR_NOT_FOUND) {
        int added = add_category(s, name, error);
        return added > 0 ? 0 : added < 0 ? added : r;
    }
    if (r < 0) {
        return r;
    }
    if (!is_watchable(s, resource)) {
        return cli_fail(error, KI_ERR_UNSUPPORTED, "%s cannot be listed and watched", name);
    }
    return add_resource(s, resource, error);
}

static int add_targets(cli_session *s, const char *names, ki_error *error)
{
    int r = 0;
    char *copy = strdup(names);
    if (copy == NULL) {
        cli_fail_memory();
    }
    for (char *name = copy; r == 0 && name != NULL;) {
        char *comma = strchr(name, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        r = add_target(s, name, error);
        name = comma != NULL ? comma + 1 : NULL;
    }
    free(copy);
    return r;
}

/* --shard=INDEX/COUNT */
static int read_shard(cli_session *s, ki_error *error)
{
    unsigned index = 0;
    unsigned count = 0;
    int len = -1;
    const char *text = s->flags->shard;
    if (text == NULL) {
        return 0;
    }
    bool digits = text[strspn(text, "0123456789/")] == '\0' && strlen(text) < 20;
    if (!digits || sscanf(text, "%9u/%9u%n", &index, &count, &len) != 2 || text[len] != '\0' ||
        index >= count) {
        return cli_fail(error, KI_ERR_INVALID,
                        "--shard: expected INDEX/COUNT, with an index from 0 and below the count");
    }
    (void)ki_shard(index, count, s->shard);
    return 0;
}

int cli_session_open(cli_session *s, const cli_flags *flags, const char *const *names,
                     size_t name_count)
{
    ki_error error = KI_ERROR_INIT;
    *s = (cli_session){.flags = flags, .log = cli_flags_log(flags)};
    s->events.epoll_fd = -1;
    s->events.signal_fd = -1;
    int r = read_shard(s, &error);
    r = r < 0 ? r : connect_client(s, &error);
    if (r == 0) {
        r = discover(s, &error);
    }
    for (size_t i = 0; r == 0 && i < name_count; i++) {
        r = add_targets(s, names[i], &error);
    }
    if (r < 0) {
        if (s->events.signal != 0) {
            return CLI_OK; /* nothing failed; cli_session_run() returns immediately */
        }
        return end_with(s, &error);
    }
    return CLI_OK;
}

/* ---- informers ---- */

/* Retrying does not help, so it is reported. Once synced, any failure may be transient. */
static bool is_final(const ki_error *error)
{
    if (error->code == KI_ERR_STATUS || error->code == KI_ERR_NOT_FOUND) {
        return ki_error_is_forbidden(error) || ki_error_is_unauthorized(error) ||
               ki_error_is_not_found(error) || ki_error_is_bad_request(error) ||
               ki_error_is_method_not_supported(error) || ki_error_is_invalid(error);
    }
    return error->code == KI_ERR_TLS || error->code == KI_ERR_INVALID;
}

/* The full message of a Status that was truncated in its error; NULL if it was not. */
static char *text_of(const ki_error *error, const ki_object *status)
{
    ki_value message = ki_status_message(status);
    char *copy = NULL;
    ki_buf text;
    bool cut = strlen(error->message) > sizeof(error->message) - CUT_ROOM;
    if (!cut || ki_value_type(&message) != KI_TYPE_STRING) {
        return NULL;
    }
    cli_text_init(&text);
    cli_put_value(&text, &message, true);
    copy = strdup(ki_buf_text(&text));
    ki_buf_done(&text);
    if (copy == NULL) {
        cli_fail_memory();
    }
    return copy;
}

static cli_target *target_of(cli_session *s, const ki_resource *resource)
{
    size_t i = 0;
    while (i + 1 < s->target_count && s->targets[i].resource != resource) {
        i++;
    }
    return &s->targets[i];
}

static void watch_failed(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    cli_session *s = user;
    const ki_error *error = failure->error;
    const ki_resource *resource = ki_informer_resource(informer);
    if (s->failure.code == 0 && !s->stays && !ki_informer_has_synced(informer) && is_final(error)) {
        bool named = strstr(cli_error_text(error), ki_resource_name(resource)) != NULL;
        s->failure = *error;
        s->failure_text = text_of(error, failure->status);
        s->failed = named ? NULL : target_of(s, resource);
        cli_loop_stop(&s->events);
    }
}

static void configure(const ki_resource *resource, ki_informer_options *options, void *user)
{
    cli_session *s = user;
    const cli_target *target = target_of(s, resource);
    options->label_selector = s->flags->selector;
    options->field_selector =
        target->field_selector != NULL ? target->field_selector : s->flags->field_selector;
    options->shard_selector = s->shard;
    options->keep = s->flags->keep;
    options->drop = s->flags->drop != NULL && strcmp(s->flags->drop, "usual") == 0 ? KI_DROP_USUAL
                                                                                   : s->flags->drop;
    options->storage = s->flags->packed ? KI_STORAGE_PACKED : KI_STORAGE_DEFAULT;
    options->track_readers = s->track_readers;
    options->no_streaming = s->page_size != 0;
    options->page_size = s->page_size;
    options->on_watch_error = watch_failed;
    options->watch_error_user = s;
}

static void handler_synced(void *user)
{
    cli_target *target = user;
    cli_session *s = target->session;
    target->synced = true;
    if (++s->synced_count == s->target_count) {
        s->synced_ns = cli_now_ns();
    }
    if (s->on_synced != NULL) {
        s->on_synced(target);
    }
}

static int start_target(cli_session *s, cli_target *target, const ki_handler *handler,
                        ki_error *error)
{
    ki_handler mine = *handler;
    ki_handler_options options = KI_OPTIONS_INIT(ki_handler_options);
    mine.user = target;
    options.name = "cli";
    options.delivery = KI_DELIVERY_LOOP;
    options.on_synced = handler_synced;
    options.user = target;
    int r = ki_factory_informer(s->factory, target->resource, NULL, &target->informer, error);
    if (r == 0 && s->prepare != NULL) {
        r = s->prepare(target, error);
    }
    if (r == 0) {
        r = ki_informer_add_handler(target->informer, &mine, &options, &target->registration,
                                    error);
    }
    return r;
}

static int make_source(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error)
{
    cli_session *s = user;
    return s->make_source(target_of(s, resource), name_space, ret_source, error);
}

int cli_session_start(cli_session *s, const ki_handler *handler,
                      void (*on_synced)(cli_target *target), ki_error *error)
{
    ki_factory_options options = KI_OPTIONS_INIT(ki_factory_options);
    options.name_space = cli_flags_namespace(s->flags, s->config);
    options.resync_ms = s->resync_ms;
    options.max_bytes = s->flags->max_bytes;
    options.json_if_incomplete = true; /* output must not lack fields */
    options.configure = configure;
    options.user = s;
    s->on_synced = on_synced;
    s->started_ns = cli_now_ns();
    int r;
    if (s->make_source != NULL) {
        options.engine = ki_client_engine(s->client);
        options.make_source = make_source;
        r = ki_factory_new(&options, &s->factory, error);
    } else {
        r = ki_client_factory(s->client, &options, &s->factory, error);
    }
    r = r < 0 ? r : cli_serve(s->serve, s->client, &s->monitor, error);
    for (size_t i = 0; r == 0 && i < s->target_count; i++) {
        r = start_target(s, &s->targets[i], handler, error);
    }
    return r == 0 ? ki_factory_start(s->factory, error) : r;
}

int cli_session_add_index(cli_target *target, int made, ki_index *index, ki_error *error)
{
    if (made < 0) {
        return cli_fail(error, made, "cannot create the index: %s", ki_error_text(made));
    }
    int r = ki_informer_add_indexes(target->informer, (const ki_index *[]){index}, 1, error);
    if (r < 0) {
        ki_index_done(index);
    }
    return r;
}

bool cli_session_is_synced(const cli_session *s)
{
    return s->synced_count == s->target_count;
}

int cli_session_result(const cli_session *s, int code)
{
    uint64_t skipped = 0;
    for (size_t i = 0; i < s->target_count; i++) {
        skipped += cli_follow_health(&s->targets[i]).skipped;
    }
    if (code != CLI_OK || skipped == 0) {
        return code;
    }
    cli_say("%llu %s could not be decoded and %s skipped", (unsigned long long)skipped,
            skipped == 1 ? "object" : "objects", skipped == 1 ? "was" : "were");
    return CLI_SKIPPED;
}

/* ---- running ---- */

void cli_session_end(cli_session *s)
{
    cli_loop_stop(&s->events);
}

static int run_once(cli_session *s, uint32_t timeout_ms)
{
    int r = cli_loop_run(&s->events, timeout_ms);
    cli_term_progress(ki_str_from(""));
    if (s->failure.code != 0) {
        return end_with(s, &s->failure);
    }
    if (r == -ETIMEDOUT) {
        ki_error error = cli_follow_explain(s);
        int code = error.code != 0 ? cli_exit_code(&error) : CLI_NO_CONNECTION;
        return code == CLI_FAILED ? CLI_NO_CONNECTION : code;
    }
    if (r < 0 && r != -EINTR && r != -EPIPE) {
        cli_say("cannot write: %s", strerror(-r));
        return CLI_FAILED;
    }
    return CLI_OK;
}

int cli_session_run(cli_session *s, uint32_t timeout_ms)
{
    if (s->events.signal != 0) {
        return CLI_OK;
    }
    if (s->events.tick_ms == 0) {
        s->events.tick_ms = TICK_MS;
    }
    return run_once(s, timeout_ms);
}

/* ---- closing ---- */

/* Stops informers gracefully, within a time limit. */
static void stop_informers(cli_session *s)
{
    struct timespec pause = {.tv_nsec = 1000000};
    ki_factory_stop(s->factory);
    for (int i = 0; i < CLOSE_MS && !ki_factory_is_stopped(s->factory); i++) {
        if (ki_loop_dispatch(s->loop) == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

void cli_session_close(cli_session *s)
{
    free(s->failure_text);
    s->failure_text = NULL;
    cli_follow_stop(s);
    cli_serve_end(s->monitor);
    s->monitor = NULL;
    if (s->factory != NULL) {
        stop_informers(s);
    }
    for (size_t i = 0; i < s->target_count; i++) {
        cli_target *target = &s->targets[i];
        (void)ki_registration_unref(target->registration);
        (void)ki_resource_unref(target->resource);
        free(target->label);
    }
    s->target_count = 0;
    s->factory = ki_factory_unref(s->factory);
    s->discovery = ki_discovery_unref(s->discovery);
    s->client = ki_client_unref(s->client);
    s->config = ki_config_unref(s->config);
    cli_loop_close(&s->events);
    s->loop = ki_loop_unref(s->loop);
}

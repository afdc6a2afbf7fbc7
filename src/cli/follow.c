/* SPDX-License-Identifier: Apache-2.0 */
/* Outages of informers, derived from two successive readings of the informer's health; failures
 * that pass in between are not reported.
 *
 * WELL -> FAILING -> RECONNECTED -> WELL: an accepted watch alone does not prove that the cache is
 * current, since a server with a hanging storage accepts watches too, and one that has compacted
 * its history reports that in the stream. */
#include "cli/follow.h"

#include <string.h>

#include "cli/command_loop.h"
#include "cli/report_failure.h"
#include "cli/term.h"
#include "cli/text.h"

#define ACCEPTED_NS (CLI_SECOND_NS / 2) /* a watch accepted for this long counts as connected */

ki_health cli_follow_health(const cli_target *target)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    if (target->informer == NULL || ki_informer_get_health(target->informer, &health, NULL) < 0) {
        return KI_OPTIONS_INIT(ki_health);
    }
    return health;
}

ki_error cli_follow_reason(const cli_target *target)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    ki_error reason = KI_ERROR_INIT;
    if (target->informer == NULL ||
        ki_informer_get_health(target->informer, &health, &reason) < 0) {
        return KI_ERROR_INIT;
    }
    return reason;
}

/* ---- news ---- */

/* Whether the current watch is accepted; records since when, and the events received before it. */
static bool is_accepted(cli_follow *follow, const ki_health *now)
{
    uint64_t arrived = now->events + now->bookmarks;
    bool accepted = now->state == KI_REFLECTOR_WATCHING && now->accepted;
    bool another = follow->accepted_ns != 0 && follow->watches != now->watches;
    if (!accepted || another) { /* another watch: the end of the previous one was not observed */
        follow->arrived = arrived;
    }
    if (!accepted) {
        follow->accepted_ns = 0;
    } else if (follow->accepted_ns == 0 || another) {
        follow->accepted_ns = cli_now_ns();
        follow->watches = now->watches;
    }
    return accepted;
}

static cli_sync_change begin_failing(cli_follow *follow, const ki_health *now)
{
    if (follow->state != CLI_FOLLOW_FAILING) {
        follow->failed_ns = cli_now_ns();
    }
    follow->state = CLI_FOLLOW_FAILING;
    follow->failure = now->reason_class;
    return CLI_SYNC_FAILING;
}

cli_sync_change cli_follow_look(cli_target *target, const ki_health *now)
{
    cli_follow *follow = &target->follow;
    bool accepted = is_accepted(follow, now);
    bool arrived = accepted && now->events + now->bookmarks != follow->arrived;
    bool listed = now->syncs != follow->syncs;
    bool relisted = now->relists != follow->relists;
    bool lived = accepted && cli_now_ns() - follow->accepted_ns >= ACCEPTED_NS;
    bool failing = now->reason_class != KI_FAILURE_NONE && now->state != KI_REFLECTOR_STOPPED;
    bool well = follow->state == CLI_FOLLOW_WELL;
    follow->syncs = now->syncs;
    follow->relists = now->relists;
    if (relisted || (!well && (listed || arrived))) {
        follow->state = CLI_FOLLOW_WELL;
        return relisted ? CLI_SYNC_RELISTED : CLI_SYNC_SYNCED;
    }
    switch (follow->state) {
    case CLI_FOLLOW_WELL:
        return failing ? begin_failing(follow, now) : CLI_SYNC_UNCHANGED;
    case CLI_FOLLOW_FAILING:
        if (lived) {
            follow->state = CLI_FOLLOW_RECONNECTED;
            return CLI_SYNC_RECONNECTED;
        }
        return failing && now->reason_class != follow->failure ? begin_failing(follow, now)
                                                               : CLI_SYNC_UNCHANGED;
    case CLI_FOLLOW_RECONNECTED: /* the failure may persist in the health for a while */
        return failing && !accepted ? begin_failing(follow, now) : CLI_SYNC_UNCHANGED;
    }
    return CLI_SYNC_UNCHANGED;
}

/* Seconds since the start of the outage. */
static double seconds_of_outage(const cli_follow *follow)
{
    return (double)(cli_now_ns() - follow->failed_ns) / (double)CLI_SECOND_NS;
}

double cli_follow_seconds_to_connect(const cli_follow *follow)
{
    /* A watch that was resumed immediately is accepted before the outage is noticed. */
    bool later = follow->accepted_ns > follow->failed_ns;
    return later ? (double)(follow->accepted_ns - follow->failed_ns) / (double)CLI_SECOND_NS : 0;
}

/* ---- removed API versions ---- */

static bool is_unknown(const ki_discovery *discovery, const char *api_version)
{
    const char *failed;
    for (size_t i = 0; (failed = ki_discovery_failure_at(discovery, i)) != NULL; i++) {
        if (strcmp(failed, api_version) == 0) {
            return true;
        }
    }
    return false;
}

/* Appends the versions of a resource that the server has; false if the current one is, or may be,
 * among them. */
static bool put_versions(ki_buf *out, const ki_discovery *discovery, const ki_resource *resource)
{
    const ki_resource *other;
    if (is_unknown(discovery, ki_resource_api_version(resource))) {
        return false;
    }
    for (size_t i = 0; (other = ki_discovery_at(discovery, i, NULL)) != NULL; i++) {
        if (strcmp(ki_resource_group(other), ki_resource_group(resource)) != 0 ||
            strcmp(ki_resource_name(other), ki_resource_name(resource)) != 0) {
            continue;
        }
        if (strcmp(ki_resource_version(other), ki_resource_version(resource)) == 0) {
            return false;
        }
        cli_put(out, out->len != 0 ? ", " : "");
        cli_put(out, ki_resource_version(other));
    }
    return true;
}

static void report_failing(const cli_target *target, const ki_health *now)
{
    ki_error reason = cli_follow_reason(target);
    const char *why = cli_error_text(&reason);
    if (!now->synced) {
        cli_say("%s: not synced yet: %s; retrying", target->label, why);
    } else if (now->reason_class == KI_FAILURE_CONNECTION) {
        cli_say("%s: connection lost: %s; retrying", target->label, why);
    } else if (now->reason_class == KI_FAILURE_EXPIRED) {
        cli_say("%s: history expired: %s; relisting", target->label, why);
    } else {
        cli_say("%s: %s failed: %s; retrying", target->label,
                ki_watch_operation_name(now->reason_operation), why);
    }
}

static void on_discovered(const ki_discovery *discovery, const ki_error *error, void *user)
{
    cli_target *target = user;
    ki_health health = cli_follow_health(target);
    ki_buf versions;
    target->follow.lookup_running = false;
    if (health.reason_class != KI_FAILURE_NOT_FOUND) {
        return; /* transient, or reported elsewhere */
    }
    cli_text_init(&versions);
    if (error != NULL || !put_versions(&versions, discovery, target->resource)) {
        report_failing(target, &health);
    } else {
        cli_say("%s: the server no longer serves %s; %s%s; retrying", target->label,
                ki_resource_api_version(target->resource),
                versions.len != 0 ? "available: " : "no other version is available",
                ki_buf_text(&versions));
    }
    ki_buf_done(&versions);
}

/* 404 for a resource that existed before: discovery shows whether its version was removed. */
static void explain_not_found(cli_target *target, const ki_health *now)
{
    cli_follow *follow = &target->follow;
    ki_error error = KI_ERROR_INIT;
    if (follow->lookup_running) {
        return;
    }
    follow->lookup_running =
        ki_client_discover_start(target->session->client, 0, on_discovered, target, &error) == 0;
    if (!follow->lookup_running) {
        report_failing(target, now);
    }
}

void cli_follow_stop(cli_session *session)
{
    for (size_t i = 0; i < session->target_count; i++) {
        cli_target *target = &session->targets[i];
        if (target->follow.lookup_running) {
            ki_client_discover_cancel(session->client, target);
            target->follow.lookup_running = false;
        }
    }
}

/* ---- reports ---- */

static void check(cli_target *target)
{
    ki_health health = cli_follow_health(target);
    const ki_health *now = &health;
    cli_follow *follow = &target->follow;
    bool outage = follow->state != CLI_FOLLOW_WELL;
    bool first = follow->syncs == 0;
    if (now->epoch_changes != follow->epoch_changes) {
        cli_say("%s: the server's state went back (restored from a backup?)", target->label);
        follow->epoch_changes = now->epoch_changes;
    }
    unsigned long long objects = now->listed;
    switch (cli_follow_look(target, now)) {
    case CLI_SYNC_UNCHANGED:
        break;
    case CLI_SYNC_FAILING:
        if (now->reason_class == KI_FAILURE_NOT_FOUND) {
            explain_not_found(target, now);
        } else {
            report_failing(target, now);
        }
        break;
    case CLI_SYNC_RECONNECTED:
        cli_say("%s: reconnected after %.1f s", target->label,
                cli_follow_seconds_to_connect(follow));
        break;
    case CLI_SYNC_SYNCED:
        if (first) {
            cli_say("%s: synced after %.1f s: %llu objects", target->label,
                    seconds_of_outage(follow), objects);
        } else {
            cli_say("%s: synced after %.1f s", target->label, seconds_of_outage(follow));
        }
        break;
    case CLI_SYNC_RELISTED:
        if (outage) {
            cli_say("%s: synced after %.1f s: relisted, %llu objects", target->label,
                    seconds_of_outage(follow), objects);
        } else {
            cli_say("%s: relisted, %llu objects", target->label, objects);
        }
        break;
    }
}

void cli_follow_check(cli_session *session)
{
    for (size_t i = 0; i < session->target_count && session->failure.code == 0; i++) {
        check(&session->targets[i]);
    }
}

ki_error cli_follow_explain(const cli_session *session)
{
    for (size_t i = 0; i < session->target_count; i++) {
        const cli_target *target = &session->targets[i];
        if (target->synced) {
            continue;
        }
        ki_health health = cli_follow_health(target);
        ki_error reason = cli_follow_reason(target);
        if (reason.code != 0) {
            cli_say("not synced in time: %s: %s", target->label, cli_error_text(&reason));
        } else if (health.arrived != 0) {
            cli_say("not synced in time: %s: %llu objects arrived, but not all", target->label,
                    (unsigned long long)health.arrived);
        } else {
            cli_say("not synced in time: %s: no objects arrived from %s", target->label,
                    ki_config_server(session->config));
        }
        return reason;
    }
    return KI_ERROR_INIT;
}

void cli_follow_progress(cli_session *session)
{
    ki_buf line;
    uint64_t objects = 0;
    uint64_t bytes = 0;
    if (!cli_term_error_is_terminal()) {
        return;
    }
    if (cli_session_is_synced(session)) {
        cli_term_progress(ki_str_from(""));
        return;
    }
    cli_text_init(&line);
    cli_put(&line, "syncing");
    for (size_t i = 0; i < session->target_count; i++) {
        ki_health health = cli_follow_health(&session->targets[i]);
        objects += health.arrived != 0 ? health.arrived : health.objects;
        bytes += health.bytes;
        if (!session->targets[i].synced) {
            cli_putf(&line, " %s", session->targets[i].label);
        }
    }
    uint64_t took = cli_now_ns() - session->started_ns;
    cli_put(&line, ": ");
    cli_put_count(&line, objects);
    cli_put(&line, " objects, ");
    cli_put_bytes(&line, bytes);
    cli_put(&line, ", ");
    cli_put_bytes(&line, (uint64_t)((double)bytes * (double)CLI_SECOND_NS / (double)(took + 1)));
    cli_put(&line, "/s");
    cli_text_cut(&line, 0, cli_term_width() - 1);
    cli_term_progress(ki_buf_str(&line));
    ki_buf_done(&line);
}

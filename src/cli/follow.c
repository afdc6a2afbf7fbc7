/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer goes through. All of it is read from the informer's health, a moment ago and
 * now: informers call nobody when they only wait and try again. */
#include "cli/follow.h"

#include "cli/failure.h"
#include "cli/term.h"
#include "cli/text.h"

#define SECOND_NS UINT64_C(1000000000)
#define PROOF_NS (SECOND_NS / 2) /* a watch that lives so long is one that the server can serve */

ki_informer_health cli_follow_health(const cli_target *target)
{
    ki_informer_health health = KI_OPTIONS_INIT(ki_informer_health);
    if (target->informer == NULL || ki_informer_read_health(target->informer, &health) < 0) {
        return KI_OPTIONS_INIT(ki_informer_health);
    }
    return health;
}

static void say_lost(cli_target *target, const ki_reflector_health *now)
{
    const char *why = now->reason.code != 0 ? cli_error_text(&now->reason) : "no reason is known";
    if (!now->synced) {
        cli_say("%s: no list yet: %s; trying again", target->label, why);
    } else if (now->next == KI_REFLECTOR_WATCHING) {
        cli_say("%s: connection lost: %s; trying again", target->label, why);
    } else {
        cli_say("%s: listing anew: %s", target->label, why);
    }
}

/* Whether the watch under way proves that nothing was missed. That the server has accepted it does
 * not: a server that has forgotten says so in the stream, as the first thing. */
static bool is_proven(cli_follow *follow, const ki_reflector_health *now)
{
    uint64_t told = now->events + now->bookmarks;
    if (now->state != KI_REFLECTOR_WATCHING || !now->answered) {
        follow->back_ns = 0;
        follow->told = told;
        return false;
    }
    if (follow->back_ns == 0 || follow->watches != now->watches) {
        if (follow->back_ns != 0) { /* the end of the one before was not seen */
            follow->told = told;
        }
        follow->back_ns = cli_now_ns();
        follow->watches = now->watches;
    }
    return told != follow->told || cli_now_ns() - follow->back_ns >= PROOF_NS;
}

cli_news cli_follow_look(cli_target *target, const ki_reflector_health *now)
{
    cli_follow *follow = &target->follow;
    bool troubled =
        (now->reason.code != 0 && !follow->had_reason) || now->backoffs != follow->backoffs;
    bool proven = is_proven(follow, now);
    if (!follow->lost) {
        follow->syncs = now->syncs;
    }
    follow->had_reason = now->reason.code != 0;
    follow->backoffs = now->backoffs;
    if (!follow->lost && troubled && now->state != KI_REFLECTOR_STOPPED) {
        follow->lost = true;
        follow->lost_ns = cli_now_ns();
        return CLI_NEWS_LOST;
    }
    if (now->relists != follow->relists && (!follow->lost || follow->back_ns != 0)) {
        follow->lost = false;
        follow->relists = now->relists;
        return CLI_NEWS_RELISTED;
    }
    bool listed = now->syncs != follow->syncs && follow->back_ns != 0; /* for the first time */
    if (follow->lost && now->synced && (proven || listed)) {
        follow->lost = false;
        return CLI_NEWS_RESUMED;
    }
    return CLI_NEWS_NONE;
}

double cli_follow_seconds(const cli_follow *follow)
{
    uint64_t took = follow->back_ns > follow->lost_ns ? follow->back_ns - follow->lost_ns : 0;
    return (double)took / (double)SECOND_NS;
}

static void check(cli_target *target)
{
    ki_informer_health health = cli_follow_health(target);
    const ki_reflector_health *now = &health.reflector;
    cli_follow *follow = &target->follow;
    bool was_lost = follow->lost;
    if (now->epoch_changes != follow->epoch_changes) {
        cli_say("%s: the server has gone back in time", target->label);
        follow->epoch_changes = now->epoch_changes;
    }
    cli_news news = cli_follow_look(target, now);
    double seconds = cli_follow_seconds(follow);
    switch (news) {
    case CLI_NEWS_NONE:
        break;
    case CLI_NEWS_LOST:
        say_lost(target, now);
        break;
    case CLI_NEWS_RESUMED:
        cli_say("%s: in step again after %.1f s, nothing was missed", target->label, seconds);
        break;
    case CLI_NEWS_RELISTED:
        if (was_lost) {
            cli_say("%s: in step again after %.1f s: listed anew, %llu objects", target->label,
                    seconds, (unsigned long long)now->objects);
        } else {
            cli_say("%s: listed anew, %llu objects", target->label,
                    (unsigned long long)now->objects);
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

void cli_follow_reason(cli_session *session, ki_error *ret_reason)
{
    for (size_t i = 0; i < session->target_count; i++) {
        ki_informer_health health = cli_follow_health(&session->targets[i]);
        if (!health.reflector.synced && health.reflector.reason.code != 0) {
            *ret_reason = health.reflector.reason;
            return;
        }
    }
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
        ki_informer_health health = cli_follow_health(&session->targets[i]);
        objects += health.reflector.arrived != 0 ? health.reflector.arrived : health.objects;
        bytes += health.reflector.bytes;
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
    cli_put_bytes(&line, (uint64_t)((double)bytes * (double)SECOND_NS / (double)(took + 1)));
    cli_put(&line, "/s");
    cli_text_cut(&line, 0, cli_term_width() - 1);
    cli_term_progress(ki_buf_str(&line));
    ki_buf_done(&line);
}

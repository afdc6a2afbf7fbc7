/* SPDX-License-Identifier: Apache-2.0 */
/* Outages of informers, reported in one line each: a failure, each change of its class, the
 * connection that is accepted again, and the first proof that the cache is current; and how far the
 * first sync is. */
#ifndef KI_CLI_FOLLOW_H
#define KI_CLI_FOLLOW_H

#include "cli/session.h"

/** What is new of an informer. */
typedef enum cli_news {
    CLI_NEWS_NONE,
    CLI_NEWS_FAILING,     /* a list or watch failed, or fails for a reason of another class */
    CLI_NEWS_RECONNECTED, /* the server has accepted the watch; it may still be stale */
    CLI_NEWS_SYNCED,      /* an event, a bookmark or the first list arrived after an outage */
    CLI_NEWS_RELISTED,    /* the same by a list after the first; also without an outage */
} cli_news;

/** Looks at one informer, whose health is this. */
cli_news cli_follow_look(cli_target *target, const ki_health *now);
/** Seconds from the beginning of the outage until the watch was accepted. */
double cli_follow_seconds_to_connect(const cli_follow *follow);

/** Looks at all informers and reports what is new. To be called after each round of the loop, and
 *  every now and then even if nothing happens. */
void cli_follow_check(cli_session *session);
/** Nothing is reported any more. */
void cli_follow_stop(cli_session *session);

/** Shows how far the first sync is, on a terminal; takes it away when it is done. */
void cli_follow_progress(cli_session *session);

/** Why the session has not synced: says what the first informer that has not waits for, and its
 * last failure. Gives that failure; its code is 0 if nothing has failed. */
ki_error cli_follow_explain(const cli_session *session);

/** An informer's health; all zero if it has none. */
ki_health cli_follow_health(const cli_target *target);

/** The last failure of its informer; its code is 0 if there is none. */
ki_error cli_follow_reason(const cli_target *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reports outages of informers, one line each: a failure, each change of its class, the
 * reconnection, and the first proof that the cache is current; also the progress of the first
 * sync. */
#ifndef KI_CLI_FOLLOW_H
#define KI_CLI_FOLLOW_H

#include <kinformer/health.h>

#include "cli/session.h"

/** News of an informer. */
typedef enum cli_sync_change {
    CLI_SYNC_UNCHANGED,
    CLI_SYNC_FAILING,     /* a list or watch failed, or now fails for a reason of another class */
    CLI_SYNC_RECONNECTED, /* the server has accepted the watch; the cache may still be stale */
    CLI_SYNC_SYNCED,      /* an event, a bookmark or the first list arrived after an outage */
    CLI_SYNC_RELISTED,    /* the same by a relist; also without an outage */
} cli_sync_change;

/** Checks one informer with this health. */
cli_sync_change cli_follow_look(cli_target *target, const ki_health *now);
/** Seconds from the start of the outage until the watch was accepted. */
double cli_follow_seconds_to_connect(const cli_follow *follow);

/** Checks all informers and reports news. Call after each round of the loop, and periodically. */
void cli_follow_check(cli_session *session);
/** Ends reporting. */
void cli_follow_stop(cli_session *session);

/** Shows the progress of the first sync on a terminal; clears it when done. */
void cli_follow_progress(cli_session *session);

/** Reports why the session has not synced: what the first unsynced informer waits for, and its last
 *  failure. Returns that failure; its code is 0 if nothing has failed. */
ki_error cli_follow_explain(const cli_session *session);

/** An informer's health; all zero if it has none. */
ki_health cli_follow_health(const cli_target *target);

/** The last failure of its informer; its code is 0 if there is none. */
ki_error cli_follow_reason(const cli_target *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer goes through, said in one line each: a connection that was lost and is there
 * again, a new list; and how far the first sync is. */
#ifndef KI_CLI_FOLLOW_H
#define KI_CLI_FOLLOW_H

#include "cli/session.h"

/** What is new of an informer. */
typedef enum cli_news {
    CLI_NEWS_NONE,
    CLI_NEWS_LOST,     /* it is not in step any more, and tries to be */
    CLI_NEWS_RESUMED,  /* it is in step again: it took up where it was, so nothing was missed */
    CLI_NEWS_RELISTED, /* it is in step again, or still: it got a new list */
} cli_news;

/** Looks at one informer, whose health is this. */
cli_news cli_follow_look(cli_target *target, const ki_reflector_health *now);
/** How long it was not in step, once it is again. */
double cli_follow_seconds(const cli_follow *follow);

/** Looks at all informers and says what is new. To be called after each round of the loop, and
 *  every now and then even if nothing happens. */
void cli_follow_check(cli_session *session);

/** Shows how far the first sync is, on a terminal; takes it away when it is done. */
void cli_follow_progress(cli_session *session);

/** Why an informer has not synced, if one of them knows. */
void cli_follow_reason(cli_session *session, ki_error *ret_reason);

/** An informer's health; all zero if it has none. */
ki_informer_health cli_follow_health(const cli_target *target);

#endif

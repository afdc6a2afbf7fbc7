/* SPDX-License-Identifier: Apache-2.0 */
/* What an informer goes through, said in one line each: a connection that was lost and is there
 * again, a new list; and how far the first sync is. */
#ifndef KI_CLI_FOLLOW_H
#define KI_CLI_FOLLOW_H

#include "cli/session.h"

/** Looks at all informers and says what is new. To be called after each round of the loop. */
void cli_follow_check(cli_session *session);

/** Shows how far the first sync is, on a terminal; takes it away when it is done. */
void cli_follow_progress(cli_session *session);

/** Why an informer has not synced, if one of them knows. */
void cli_follow_reason(cli_session *session, ki_error *ret_reason);

/** An informer's health; all zero if it has none. */
ki_informer_health cli_follow_health(const cli_target *target);

#endif

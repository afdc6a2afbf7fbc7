/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: resource usage. */
#ifndef KI_CLI_RUN_STATS_H
#define KI_CLI_RUN_STATS_H

#include "cli/session.h"

#define CLI_STATS_OPTION(type, member)                                      \
    {                                                                       \
        "stats", 0, CLI_ARG_OPTIONAL, offsetof(type, member), "json",       \
            "print statistics to standard error at the end; =json: as JSON" \
    }

/** Prints the resource usage of the session to standard error, as text or as one line of JSON.
 *  `format` is the value of --stats; NULL: prints nothing. */
void cli_stats_print(const cli_session *session, const char *format);

/** CPU time and resident memory of the process. */
double cli_stats_cpu_seconds(void);
uint64_t cli_stats_memory(void);

/** Whether `format` is a valid value of --stats. */
bool cli_stats_is_format(const char *format);

#endif

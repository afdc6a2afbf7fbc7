/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: what it took. */
#ifndef KI_CLI_RUN_STATS_H
#define KI_CLI_RUN_STATS_H

#include "cli/session.h"

#define CLI_STATS_OPTION(type, member)                                      \
    {                                                                       \
        "stats", 0, CLI_ARG_OPTIONAL, offsetof(type, member), "json",       \
            "print statistics to standard error at the end; =json: as JSON" \
    }

/** Says on standard error what the session took so far: lines, or one of JSON. `format` is what
 *  --stats says; NULL: nothing is said. */
void cli_stats_print(const cli_session *session, const char *format);

/** What the process has taken so far: CPU time, and memory that is resident. */
double cli_stats_cpu_seconds(void);
uint64_t cli_stats_memory(void);

/** Whether --stats can be that. */
bool cli_stats_is_format(const char *format);

#endif

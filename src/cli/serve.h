/* SPDX-License-Identifier: Apache-2.0 */
/* --listen: metrics, health checks and the page of a session's caches over HTTP. */
#ifndef KI_CLI_SERVE_H
#define KI_CLI_SERVE_H

#include <kinformer/client.h>

#include "cli/args.h"

typedef struct ki_monitor_server ki_monitor_server; /* <kinformer/monitor_server.h> */

typedef struct cli_serve_options {
    const char *listen; /* NULL: nothing is served */
    const char *token;
    bool objects;
    bool quiet; /* the caller reports the address */
} cli_serve_options;

/** Rows of an option table, for a member of this type. */
#define CLI_SERVE_OPTIONS(type, member)                                                \
    {"listen",     0,                                                                  \
     CLI_ARG_TEXT, offsetof(type, member.listen),                                      \
     "ADDRESS",    "serve metrics, health and a web page: 127.0.0.1:8080, unix:PATH"}, \
        {"listen-token", 0,                                                            \
         CLI_ARG_TEXT,   offsetof(type, member.token),                                 \
         "TOKEN",        "require this token or password for --listen"},               \
    {                                                                                  \
        "serve-objects", 0, CLI_ARG_FLAG, offsetof(type, member.objects), NULL,        \
            "show objects on the page of --listen; never Secrets"                      \
    }

/** Starts serving, if requested, and prints the address to standard error. *ret_server stays as it
 *  is if not. Release it with cli_serve_end(), before the client. */
KI_NODISCARD int cli_serve(const cli_serve_options *options, ki_client *client,
                           ki_monitor_server **ret_server, ki_error *error);
void cli_serve_end(ki_monitor_server *server);

#endif

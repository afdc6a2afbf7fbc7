/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor server of a command. */
#include "cli/serve.h"

#include <string.h>

#include "cli/report_failure.h"
#include "cli/text.h"

#ifdef CLI_WITH_APISERVER
#include <kinformer/monitor_server.h>

int cli_serve(const cli_serve_options *options, ki_client *client, ki_monitor_server **ret_server,
              ki_error *error)
{
    ki_monitor_server_options wanted = KI_OPTIONS_INIT(ki_monitor_server_options);
    if (options == NULL || options->listen == NULL) {
        return 0;
    }
    wanted.listen = options->listen;
    wanted.token = options->token;
    wanted.objects = options->objects;
    int r = ki_monitor_server_new(client, &wanted, ret_server, error);
    if (r == KI_ERR_DENIED) {
        return cli_fail(error, r, "--listen: other machines can reach %.80s: add --listen-token",
                        options->listen);
    }
    if (r == 0 && !options->quiet) {
        const char *url = ki_monitor_server_url(*ret_server);
        cli_say("serving %s%s", url, strncmp(url, "http", 4) == 0 ? "/debug/" : "");
    }
    return r;
}

void cli_serve_end(ki_monitor_server *server)
{
    (void)ki_monitor_server_unref(server);
}

#else

int cli_serve(const cli_serve_options *options, ki_client *client, ki_monitor_server **ret_server,
              ki_error *error)
{
    (void)client;
    (void)ret_server;
    if (options == NULL || options->listen == NULL) {
        return 0;
    }
    return cli_fail(error, KI_ERR_UNSUPPORTED, "--listen: this build has no HTTP server");
}

void cli_serve_end(ki_monitor_server *server)
{
    (void)server;
}

#endif

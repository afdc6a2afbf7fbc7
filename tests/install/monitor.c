/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed monitor server. Prints the version of the library. */
#include <stdio.h>
#include <string.h>

#include <kinformer/config.h>
#include <kinformer/kinformer.h>
#include <kinformer/monitor_server.h>

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_config *config = NULL;
    ki_client *client = NULL;
    ki_monitor_server *monitor = NULL;
    ki_config_options settings = KI_OPTIONS_INIT(ki_config_options);
    ki_client_options options = KI_OPTIONS_INIT(ki_client_options);
    settings.server = "http://127.0.0.1:1"; /* nothing is requested from it */
    int r = ki_config_load(&settings, &config, &error);
    options.config = config;
    r = r < 0 ? r : ki_client_new(&options, &client, &error);
    r = r < 0 ? r : ki_monitor_server_new(client, NULL, &monitor, &error);
    if (r < 0 || strncmp(ki_monitor_server_url(monitor), "http://127.0.0.1:", 17) != 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    ki_monitor_server_unref(monitor);
    (void)ki_client_close(client);
    ki_config_unref(config);
    puts(ki_version());
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.h, as a process or in a pod, until SIGINT or SIGTERM. Of
 * several replicas one works. $MONITOR_LISTEN is the address of probes and metrics, $MONITOR_TOKEN
 * what readers of the metrics have to know. */
#include <stdio.h>
#include <stdlib.h>

#include <kinformer/monitor_server.h>

#include "controller.h"

int main(void)
{
    ki_manager *manager = NULL;
    website_controller controller = {0};
    ki_error error = KI_ERROR_INIT;
    int r = ki_manager_new(
        KI_OPTIONS(ki_manager_options, .name = MANAGER, .signals = true,
                   .election = KI_OPTIONS(ki_leader_options, .name = MANAGER),
                   .on_lost = KI_ON_LOST_WAIT,
                   .client_options = KI_OPTIONS(ki_client_options, .qps = 50, .burst = 100,
                                                .request_timeout_ms = 10000)),
        &manager, &error);
    r = r < 0 ? r
              : ki_manager_serve(manager,
                                 KI_OPTIONS(ki_monitor_server_options, .open_probes = true,
                                            .listen = getenv("MONITOR_LISTEN"),
                                            .token = getenv("MONITOR_TOKEN")),
                                 NULL, &error);
    r = r < 0 ? r : website_controller_add(&controller, manager, &error);
    r = r < 0 ? r : ki_manager_run(manager, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_manager_close(manager);
    website_controller_done(&controller);
    return r < 0;
}

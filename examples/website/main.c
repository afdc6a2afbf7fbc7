/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.h, as a process or in a pod, until SIGINT or SIGTERM. */
#include <signal.h>
#include <stdio.h>

#include "controller.h"

int main(void)
{
    KI_AUTO(ki_client) client = NULL;
    website_controller controller = {0};
    ki_error error = KI_ERROR_INIT;
    sigset_t ends;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before the first thread: they inherit it */
    int r = ki_client_new(KI_OPTIONS(ki_client_options, .user_agent = MANAGER "/1.0", .qps = 50,
                                     .burst = 100, .request_timeout_ms = 10000),
                          &client, &error);
    r = r < 0 ? r : website_controller_start(&controller, client, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    } else {
        (void)sigwait(&ends, &signal_number);
    }
    website_controller_stop(&controller);
    return r < 0;
}

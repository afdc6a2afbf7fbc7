/* SPDX-License-Identifier: Apache-2.0 */
/* The controller of examples/website without a client-side rate limit, for bench/website/run. */
#include <stdio.h>

#include "controller.h"

int main(void)
{
    ki_manager *manager = NULL;
    website_controller controller = {0};
    ki_error error = KI_ERROR_INIT;
    int r = ki_manager_new(KI_OPTIONS(ki_manager_options, .name = MANAGER, .signals = true,
                                      .election = KI_OPTIONS(ki_leader_options, .name = MANAGER),
                                      .client_options = KI_OPTIONS(ki_client_options, .qps = -1)),
                           &manager, &error);
    r = r < 0 ? r : website_controller_add(&controller, manager, &error);
    r = r < 0 ? r : ki_manager_run(manager, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    }
    ki_manager_close(manager);
    website_controller_done(&controller);
    return r < 0;
}

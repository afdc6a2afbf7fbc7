/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.hpp, as a process or in a pod, until SIGINT or SIGTERM. See
 * main.c for its environment. */
#include <cstdlib>

#include <kinformer/monitor_server.h>

#include "controller.hpp"

int main()
try {
    auto client = ki::options<ki_client_options>();
    client.qps = 50;
    client.burst = 100;
    client.request_timeout_ms = 10000;
    auto election = ki::options<ki_leader_options>();
    auto options = ki::options<ki_manager_options>();
    options.name = "website-controller";
    options.signals = true;
    options.election = &election;
    options.on_lost = KI_ON_LOST_WAIT;
    options.client_options = &client;
    auto monitor = ki::options<ki_monitor_server_options>();
    monitor.open_probes = true;
    monitor.listen = getenv("MONITOR_LISTEN");
    monitor.token = getenv("MONITOR_TOKEN");
    ki::manager manager(options);
    ki_error failure = KI_ERROR_INIT;
    if (int r = ki_manager_serve(manager.get(), &monitor, nullptr, &failure); r < 0) {
        throw ki::error(r, failure);
    }
    const website_controller controller{manager};
    manager.run();
    return 0;
} catch (const ki::error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the controller of controller.hpp, as a process or in a pod, until SIGINT or SIGTERM. */
#include <csignal>

#include "controller.hpp"

int main()
try {
    sigset_t ends;
    int signal_number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, nullptr); /* before the first thread: they inherit it */
    auto options = ki::options<ki_client_options>();
    options.user_agent = "website-controller/1.0";
    options.qps = 50;
    options.burst = 100;
    options.request_timeout_ms = 10000;
    ki::client client(&options);
    const website_controller controller(client);
    (void)sigwait(&ends, &signal_number);
    return 0;
} catch (const ki::error &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics and checks in C++, on the embedded API server.  threads: yes */
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <kinformer/apiserver.hpp>
#include <kinformer/monitor.hpp>
#include <kinformer/monitor_server.hpp>

#include "support/check.hpp"

using namespace std::chrono_literals;

static bool has(const std::string &text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

static void metrics_in_both_formats()
{
    ki::apiserver server;
    auto client = server.client();
    ki::workqueue plain;
    ki::workqueue worked;
    ki::controller_options options;
    options.name = "robot";
    ki::controller robot(
        worked, [](std::string_view) {}, options);
    ki::monitor(client, plain);
    ki::monitor(client, robot);
    CHECK(ki::try_monitor(client, plain).error().code() == KI_ERR_EXISTS);
    CHECK(ki::try_monitor(client, robot).error().code() == KI_ERR_EXISTS);
    plain.add("one");
    const std::string text = ki::metrics(client);
    CHECK(has(text, "workqueue_depth{name=\"queue\",controller=\"queue\"} 1\n"));
    CHECK(has(text, "controller_runtime_active_workers{controller=\"robot\"} 0\n"));
    CHECK(!has(text, "# EOF"));
    CHECK(has(ki::metrics(client, KI_METRICS_OPENMETRICS), "# EOF\n"));
    CHECK(ki::try_metrics(client, KI_METRICS_FORMAT_MAX).error().code() == -EINVAL);
}

static void checks_with_reasons()
{
    ki::apiserver server;
    auto client = server.client();
    auto pods = client.informer(KI_CORE_V1_PODS);
    const auto before = ki::check_ready(client);
    CHECK(!before && before.report == "[-]informer pods: not started\n");
    client.start();
    client.wait_for_sync(30s);
    const auto ready = ki::check_ready(client);
    CHECK(ready && ready.report.empty());
    auto verbose = ki::options<ki_check_options>();
    verbose.verbose = true;
    CHECK(ki::check_live(client, &verbose).report == "[+]loop\n");
    verbose.size = 1;
    CHECK(!ki::try_check_live(client, &verbose) && !ki::try_check_ready(client, &verbose));
}

static void systemd_is_notified()
{
    ki::apiserver server;
    auto client = server.client();
    ::unsetenv("NOTIFY_SOCKET");
    CHECK(!ki::notify_systemd(client));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string name = "@kinformer-cpp-" + std::to_string(::getpid());
    name.copy(address.sun_path, name.size());
    address.sun_path[0] = '\0';
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto len = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    CHECK(fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr *>(&address), len) == 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    CHECK(ki::notify_systemd(client));
    char got[256] = "";
    CHECK(::recv(fd, got, sizeof(got) - 1, 0) > 0);
    CHECK(has(got, "READY=1\n"));
    ::close(fd);
    CHECK(ki::try_notify_systemd(client).error().code() == -ECONNREFUSED);
    ::unsetenv("NOTIFY_SOCKET");
}

static void a_server_is_owned()
{
    ki::apiserver server;
    auto client = server.client();
    auto options = ki::options<ki_monitor_server_options>();
    options.listen = "0.0.0.0:0"; /* others could connect */
    CHECK(ki::monitor_server::try_new(client, &options).error().code() == KI_ERR_DENIED);
    ki::monitor_server monitor(client);
    const std::string url(monitor.url());
    CHECK(url.rfind("http://127.0.0.1:", 0) == 0);
    options.listen = url.c_str() + sizeof("http://") - 1;
    CHECK(ki::monitor_server::try_new(client, &options).error().code() == -EADDRINUSE);
    monitor.reset();
    CHECK(ki::monitor_server::try_new(client, &options).ok());
}

int main()
{
    metrics_in_both_formats();
    checks_with_reasons();
    systemd_is_notified();
    a_server_is_owned();
    std::puts("4 passed, 0 failed");
    return 0;
}

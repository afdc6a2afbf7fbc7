/* SPDX-License-Identifier: Apache-2.0 */
/* The manager, leader election and events in C++, on the embedded API server.  threads: yes */
#include <atomic>
#include <cerrno>
#include <thread>

/* All headers for C++: their names must not clash. */
#include <kinformer/apiserver.hpp>
#include <kinformer/consistency.hpp>
#include <kinformer/leader.hpp>
#include <kinformer/manager.hpp>
#include <kinformer/monitor.hpp>
#include <kinformer/monitor_server.hpp>
#include <kinformer/recorder.hpp>

#include "support/check.hpp"

using namespace std::chrono_literals;

template <typename Condition> static bool becomes(Condition condition)
{
    for (int i = 0; i < 15000 && !condition(); i++) {
        std::this_thread::sleep_for(2ms);
    }
    return condition();
}

static ki_manager_options options_for(const ki::client &client, const ki_leader_options *election)
{
    auto options = ki::options<ki_manager_options>();
    options.name = "cpp";
    options.client = client.get();
    options.election = election;
    return options;
}

static void a_manager_works_and_stops()
{
    ki::apiserver server;
    server.load("{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default}}");
    auto client = server.client();
    auto election = ki::options<ki_leader_options>();
    election.identity = "a";
    std::atomic<int> calls{0};
    ki::manager manager(options_for(client, &election));
    ki::controller_options how;
    how.name = "pods";
    how.timeout = 5s;
    ki::managed_controller work(
        manager,
        [&](std::string_view key) {
            CHECK(key == "default/web");
            CHECK(ki_reconcile_left_ms() <= 5000);
            CHECK(manager.leader().holds(0));
            if (++calls == 1) {
                throw std::runtime_error("once");
            }
            manager.recorder().event(manager.client().get(KI_CORE_V1_PODS, "default", "web"),
                                     KI_EVENT_NORMAL, "Seen", "by a test", "Reconcile");
        },
        2, how);
    auto pods = work.watch(manager.client().informer(KI_CORE_V1_PODS));
    CHECK(!manager.leader().is_leading());
    manager.start();
    CHECK(manager.try_start().error().code() == KI_ERR_EXISTS);
    CHECK(becomes([&] { return calls == 2; }));
    CHECK(manager.leader().identity() == "a" && manager.leader().holder() == "a");
    CHECK(becomes([&] { return work.stats().succeeded == 1; }));
    CHECK(work.stats().failed == 1 && work.queue().size() == 0);
    manager.stop();
    manager.wait();
    CHECK(manager.reason() == KI_STOP_REQUESTED);
    CHECK(client.list(KI_EVENTS_V1_EVENTS).size() == 1); /* sent before the end */
    manager.close();
}

static void failures_are_errors()
{
    ki::apiserver server;
    auto client = server.client();
    auto options = options_for(client, nullptr);
    options.name = "";
    CHECK(ki::manager::try_new(options).error().code() == -EINVAL);
    ki::manager manager("cpp", client);
    CHECK(!manager.leader());
    CHECK(manager.try_wait().error().code() == KI_ERR_STOPPED);
    CHECK(ki::managed_controller::try_new(
              manager, [](std::string_view) {}, 10001)
              .error()
              .code() == -EINVAL);
    ki::manager moved(std::move(manager));
    moved.start();
    moved.close();
    ki::leader_options election;
    CHECK(ki::leader::try_new(client, election).error().code() == -EINVAL);
    election.name = "lease";
    ki::leader leader(client, election);
    leader.start();
    CHECK(becomes([&] { return leader.is_leading(); }));
    CHECK(leader.term() == 0 && leader.holds(0) && !leader.holds(1));
    leader.close();
    ki::recorder recorder(client, "cpp");
}

int main()
{
    a_manager_works_and_stops();
    failures_are_errors();
    return 0;
}

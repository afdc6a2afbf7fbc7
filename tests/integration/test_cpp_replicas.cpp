/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election, events and reading own writes in C++, on the embedded server.  threads: yes */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>

#include <kinformer/apiserver.hpp>
#include <kinformer/consistency.hpp>
#include <kinformer/leader.hpp>
#include <kinformer/recorder.hpp>

#include "support/check.hpp"

using namespace std::chrono_literals;

template <typename Condition> static bool eventually(Condition &&condition)
{
    for (int i = 0; i < 3000 && !condition(); i++) {
        std::this_thread::sleep_for(10ms);
    }
    return condition();
}

static ki::object config_map(const std::string &name)
{
    return ki::object::from_json(
        R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": ")" + name +
        R"(", "namespace": "default"}})");
}

static ki::leader_options election(std::string identity)
{
    ki::leader_options options;
    options.name = "robot";
    options.name_space = "default";
    options.identity = std::move(identity);
    options.retry_period = 100ms;
    return options;
}

static void workers_follow_their_leader()
{
    ki::apiserver server;
    auto client = server.client();
    std::promise<int64_t> started;
    std::atomic<int> stopped{0};
    std::promise<std::string> leads;
    auto options = election("a");
    options.on_started = [&](int64_t term) {
        started.set_value(term);
        throw std::runtime_error("ignored");
    };
    options.on_stopped = [&] { stopped++; };
    options.on_new_leader = [&](std::string_view who) { leads.set_value(std::string(who)); };
    ki::leader leader(client, options);
    CHECK(!leader.is_leading() && !leader.term() && leader.holder().empty());
    CHECK(leader.identity() == "a");

    ki::workqueue queue;
    std::atomic<int> done{0};
    ki::controller_options with;
    with.leader = leader.get();
    ki::controller robot(
        queue, [&](std::string_view) { done++; }, with);
    queue.add("x");
    robot.start();
    std::this_thread::sleep_for(100ms);
    CHECK(done == 0);

    leader.start();
    CHECK(leader.try_start().error().code() == KI_ERR_EXISTS);
    const int64_t term = started.get_future().get();
    CHECK(eventually([&] { return done == 1; }));
    CHECK(leader.is_leading() && leader.term() == term && leader.holds(term));
    CHECK(!leader.holds(term + 1) && leader.holder() == "a");
    CHECK(leads.get_future().get() == "a");

    ki::leader second(client, election("b"));
    second.start();
    robot.close();
    leader.close();
    CHECK(!leader && stopped == 1);
    CHECK(eventually([&] { return second.is_leading(); }));
    CHECK(second.term() > term);
    second.stop();
    CHECK(!second.is_leading());
}

static void invalid_elections_are_errors()
{
    ki::apiserver server;
    auto client = server.client();
    CHECK(ki::leader::try_new(client, ki::leader_options()).error().code() < 0);
    auto options = election("a");
    options.renew_deadline = 20s; /* longer than the lease */
    bool thrown = false;
    try {
        const ki::leader leader(client, options);
    } catch (const ki::error &e) {
        thrown = e.code() == -EINVAL;
    }
    CHECK(thrown);
}

static void events_are_sent_before_the_end()
{
    ki::apiserver server;
    auto client = server.client();
    const auto regarding = client.create(KI_CORE_V1_CONFIGMAPS, config_map("web"));
    ki::recorder recorder(client, "example.com/robot");
    recorder.event(regarding, KI_EVENT_NORMAL, "Created", "first");
    recorder.event(regarding, KI_EVENT_WARNING, std::string("Failed"), "second", "Reconcile");
    recorder.event(ki::object_ref(), KI_EVENT_NORMAL, "Created"); /* ignored */
    CHECK(recorder.try_event(regarding, KI_EVENT_NORMAL, nullptr).error().code() == -EINVAL);
    CHECK(recorder.stats().recorded == 2);
    recorder.close();
    CHECK(!recorder);
    const auto events = client.list(KI_EVENTS_V1_EVENTS, "default");
    CHECK(events.size() == 2);
    for (const auto event : events) {
        CHECK(event.at("regarding.name") == "web");
        CHECK(event.at("reason") == "Created" || event.at("action") == "Reconcile");
    }
    auto options = ki::options<ki_recorder_options>();
    CHECK(ki::recorder::try_new(client, options).error().code() == -EINVAL);
    options.controller = "example.com/robot";
    ki::recorder other(client, options);
    other.stop();
    CHECK(other.try_event(regarding, KI_EVENT_NORMAL, "Late").error().code() == KI_ERR_STOPPED);
}

static void a_key_waits_for_its_writes()
{
    ki::apiserver server;
    auto client = server.client();
    auto maps = client.informer(KI_CORE_V1_CONFIGMAPS);
    client.start();
    client.wait_for_sync(30s);
    ki::consistency consistency;
    consistency.add(maps);
    CHECK(consistency.try_add(maps).error().code() == KI_ERR_EXISTS);

    ki::workqueue queue;
    std::atomic<int> rounds{0};
    std::atomic<bool> missed{false};
    ki::controller_options with;
    with.consistency = consistency.get();
    ki::controller robot(
        queue,
        [&](std::string_view key) {
            const int round = rounds++;
            if (round > 0 && !maps.get("default", "child-" + std::to_string(round - 1))) {
                missed = true; /* the write of the round before is not in the cache */
            }
            if (round < 20) {
                const auto child = client.create(KI_CORE_V1_CONFIGMAPS,
                                                 config_map("child-" + std::to_string(round)));
                consistency.wrote(maps, key, "uid-1", child);
                queue.add(key);
            }
        },
        with);
    server.set_faults("lag=50ms");
    queue.add("default/parent");
    robot.start(client);
    CHECK(eventually([&] { return rounds == 21; }));
    CHECK(!missed);
    robot.close();

    const auto written = client.create(KI_CORE_V1_CONFIGMAPS, config_map("last"));
    consistency.wrote(maps, "other", nullptr, written);
    CHECK(!consistency.is_current("other") && consistency.size() > 0);
    ki::wait_version(maps, written.resource_version(), 30s);
    CHECK(consistency.is_current("other"));
    consistency.will_delete(maps, "other", nullptr, written);
    CHECK(!consistency.is_current("other"));
    consistency.clear("other");
    CHECK(consistency.is_current("other"));
    CHECK(ki::try_wait_version(maps, "x", 1ms).error().code() == KI_ERR_INVALID);
    CHECK(ki::try_wait_version(maps, "999999999", 1ms).error().is_timeout());
}

int main()
{
    workers_follow_their_leader();
    invalid_elections_are_errors();
    events_are_sent_before_the_end();
    a_key_waits_for_its_writes();
    std::puts("4 passed, 0 failed");
    return 0;
}

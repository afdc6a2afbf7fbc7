/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election (leader.h) in C++. Not part of <kinformer/kinformer.hpp>.
 *
 *   ki::leader_options options;
 *   options.name = "website-controller";
 *   ki::leader leader(client, options);
 *   controller_options.leader = leader.get();    its workers process keys only while this one leads
 *   leader.start(); */
#ifndef KINFORMER_LEADER_HPP
#define KINFORMER_LEADER_HPP

#include <kinformer/kinformer.hpp>
#include <kinformer/leader.h>

namespace ki
{

/** Options of an election. Durations of 0 are those of client-go: 15 s, 10 s and 2 s. */
struct leader_options {
    std::string name;            /* of the Lease; required */
    std::string name_space = {}; /* "": that of the client's configuration */
    std::string identity = {};   /* of this replica; "": host name and a random suffix */
    std::chrono::milliseconds lease_duration{0};
    std::chrono::milliseconds renew_deadline{0};
    std::chrono::milliseconds retry_period{0};
    bool keep_on_stop = false; /* do not release the Lease on stop */

    /* On the client's thread. Exceptions of these functions are ignored. */
    std::function<void(int64_t term)> on_started = {};
    std::function<void()> on_stopped = {};
    std::function<void(std::string_view identity)> on_new_leader = {};
};

/** Leader election between the replicas of a program. Has one owner: the destructor stops the
 *  election and waits until the Lease has been released (ki_leader_close()). Declare it after the
 *  client and before the controllers that use it. */
class leader : public unique<ki_leader, ki_leader_close>
{
  public:
    using unique::unique;

    leader(client &with, leader_options options) : leader(try_new(with, std::move(options)).value())
    {
    }
    static result<leader> try_new(client &with, leader_options options)
    {
        auto held = std::make_unique<leader_options>(std::move(options));
        auto o = ki::options<ki_leader_options>();
        o.name = held->name.c_str();
        o.name_space = held->name_space.empty() ? nullptr : held->name_space.c_str();
        o.identity = held->identity.empty() ? nullptr : held->identity.c_str();
        o.lease_duration_ms = detail::timeout_ms(held->lease_duration);
        o.renew_deadline_ms = detail::timeout_ms(held->renew_deadline);
        o.retry_period_ms = detail::timeout_ms(held->retry_period);
        o.keep_on_stop = held->keep_on_stop;
        o.on_started = held->on_started ? started : nullptr;
        o.on_stopped = held->on_stopped ? stopped : nullptr;
        o.on_new_leader = held->on_new_leader ? changed : nullptr;
        o.user = held.get();
        o.destroy = detail::destroy<leader_options>;
        auto made = detail::make<leader>(
            [&](ki_leader **ret, ki_error *e) { return ki_leader_new(with.get(), &o, ret, e); });
        if (made) {
            (void)held.release(); /* destroyed by the election */
        }
        return made;
    }

    void start()
    {
        try_start().value();
    }
    result<void> try_start()
    {
        return detail::run([&](ki_error *e) { return ki_leader_start(get(), e); });
    }
    /** Stops the election permanently, without waiting. */
    void stop() noexcept
    {
        ki_leader_stop(get());
    }
    /** Stops the election and waits until the Lease has been released. */
    void close() noexcept
    {
        reset();
    }

    bool is_leading() const noexcept
    {
        return ki_leader_is(get());
    }
    /** The term in which this replica leads, for holds(); none if it does not lead. */
    std::optional<int64_t> term() const noexcept
    {
        const int64_t now = ki_leader_term(get());
        return now >= 0 ? std::optional<int64_t>(now) : std::nullopt;
    }
    /** Whether this replica still leads in a term. */
    bool holds(int64_t term) const noexcept
    {
        return ki_leader_holds(get(), term);
    }
    /** The identity of this replica. */
    std::string_view identity() const noexcept
    {
        return view(ki_leader_identity(get()));
    }
    /** The identity of the replica that leads, as far as known; "" if there is none. */
    std::string holder() const
    {
        return try_holder().value();
    }
    result<std::string> try_holder() const
    {
        detail::buffer out;
        int r = ki_leader_holder(get(), out.get());
        if (r < 0) {
            return ki::error(r);
        }
        return std::string(out.view());
    }

  private:
    template <typename Call> static void guarded(Call &&function) noexcept
    {
        (void)detail::guard(
            [&] {
                function();
                return 0;
            },
            [](const ki::error &) {});
    }
    static void started(int64_t term, void *user) noexcept
    {
        guarded([&] { static_cast<leader_options *>(user)->on_started(term); });
    }
    static void stopped(void *user) noexcept
    {
        guarded([&] { static_cast<leader_options *>(user)->on_stopped(); });
    }
    static void changed(const char *identity, void *user) noexcept
    {
        guarded([&] { static_cast<leader_options *>(user)->on_new_leader(view(identity)); });
    }
};

} // namespace ki

#endif

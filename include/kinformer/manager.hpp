/* SPDX-License-Identifier: Apache-2.0 */
/* The manager (manager.h), leader election (leader.h) and the event recorder (recorder.h) in C++.
 * Not part of <kinformer/kinformer.hpp>.
 *
 *   auto options = ki::options<ki_manager_options>();
 *   options.name = "website-controller";
 *   options.signals = true;
 *   ki::manager manager(options);
 *   ki::managed_controller controller(manager, [&](std::string_view key) { reconcile(key); }, 4);
 *   auto websites = controller.watch(manager.client().informer(resource));
 *   manager.run();
 *
 * Every function that can fail exists twice, as in <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_MANAGER_HPP
#define KINFORMER_MANAGER_HPP

#include <kinformer/kinformer.hpp>
#include <kinformer/manager.h>

namespace ki
{

/** Leader election on a Lease; copied by reference counting. close() stops it and waits. */
class leader : public shared<ki_leader, ki_leader_ref, ki_leader_unref>
{
  public:
    using shared::shared;

    leader(const client &on, const ki_leader_options &options)
        : leader(try_new(on, options).value())
    {
    }
    static result<leader> try_new(const client &on, const ki_leader_options &options)
    {
        return detail::make<leader>([&](ki_leader **ret, ki_error *e) {
            return ki_leader_new(on.get(), &options, ret, e);
        });
    }
    void start()
    {
        try_start().value();
    }
    result<void> try_start()
    {
        return detail::run([&](ki_error *e) { return ki_leader_start(get(), e); });
    }
    void stop() noexcept
    {
        ki_leader_stop(get());
    }
    /** Stops it, and waits until the Lease has been released. */
    void close() noexcept
    {
        (void)ki_leader_close(release());
    }
    /** Whether this replica leads at this moment. */
    bool is_leading() const noexcept
    {
        return ki_leader_is(get());
    }
    /** The term in which it leads; -1: it does not. */
    int64_t term() const noexcept
    {
        return ki_leader_term(get());
    }
    bool holds(int64_t term) const noexcept
    {
        return ki_leader_holds(get(), term);
    }
    std::string_view identity() const noexcept
    {
        return ki_leader_identity(get());
    }
    /** The identity of the replica that leads, as far as known. */
    std::string holder() const
    {
        detail::buffer out;
        detail::check(ki_leader_holder(get(), out.get())).value();
        return std::string(out.view());
    }
};

/** Records events about objects; copied by reference counting. */
class recorder : public shared<ki_recorder, ki_recorder_ref, ki_recorder_unref>
{
  public:
    using shared::shared;

    recorder(const client &on, const text &controller) : recorder(try_new(on, controller).value())
    {
    }
    static result<recorder> try_new(const client &on, const text &controller)
    {
        auto options = ki::options<ki_recorder_options>();
        options.controller = controller.c_str();
        return detail::make<recorder>([&](ki_recorder **ret, ki_error *e) {
            return ki_recorder_new(on.get(), &options, ret, e);
        });
    }
    /** Never waits; what does not fit into the queue is dropped and counted. */
    void event(const object &regarding, ki_event_type type, const text &reason, const text &action,
               const text &note) noexcept
    {
        (void)ki_recorder_event(get(), regarding.get(), type, reason.c_str(), action.c_str(),
                                note.c_str());
    }
};

/** Has one owner; the destructor stops it and waits (ki_manager_close()). Declare it before its
 *  informers, and after all that its controllers use. */
class manager : public unique<ki_manager, ki_manager_close>
{
  public:
    explicit manager(ki_manager *owned) noexcept : unique(owned), client_(ki_manager_client(owned))
    {
    }
    manager(manager &&) = default;
    manager &operator=(manager &&) = delete;
    ~manager()
    {
        (void)client_.release(); /* the manager closes it */
    }

    explicit manager(const ki_manager_options &options) : manager(try_new(options).value())
    {
    }
    /** On an existing client, without election: for tests. */
    manager(const text &name, const ki::client &on) : manager(on_client(name, on))
    {
    }
    static result<manager> try_new(const ki_manager_options &options)
    {
        return detail::make<manager>(
            [&](ki_manager **ret, ki_error *e) { return ki_manager_new(&options, ret, e); });
    }
    /** Valid as long as the manager. */
    ki::client &client() noexcept
    {
        return client_;
    }
    ki::recorder recorder() const noexcept
    {
        return ki::recorder(borrowed, ki_manager_recorder(get()));
    }
    /** Null without election. */
    ki::leader leader() const noexcept
    {
        return ki::leader(borrowed, ki_manager_leader(get()));
    }

    void start()
    {
        try_start().value();
    }
    result<void> try_start()
    {
        return detail::run([&](ki_error *e) { return ki_manager_start(get(), e); });
    }
    void stop() noexcept
    {
        ki_manager_stop(get());
    }
    void wait()
    {
        try_wait().value();
    }
    result<void> try_wait()
    {
        return detail::run([&](ki_error *e) { return ki_manager_wait(get(), e); });
    }
    /** start() and wait(). */
    void run()
    {
        try_run().value();
    }
    result<void> try_run()
    {
        return detail::run([&](ki_error *e) { return ki_manager_run(get(), e); });
    }
    ki_stop_reason reason() const noexcept
    {
        return ki_manager_reason(get());
    }
    /** Stops it, and waits. */
    void close() noexcept
    {
        (void)client_.release();
        reset();
    }

  private:
    static ki_manager *on_client(const text &name, const ki::client &on)
    {
        auto options = ki::options<ki_manager_options>();
        options.name = name.c_str();
        options.client = on.get();
        auto made = try_new(options).value();
        (void)made.client_.release();
        return made.release();
    }

    ki::client client_;
};

/** A controller of a manager, which owns it: valid until that is destroyed. */
class managed_controller
{
  public:
    /** With a function as in ki::controller. */
    template <typename Reconcile>
    managed_controller(manager &of, Reconcile reconcile, uint32_t workers = 1,
                       controller_options options = {})
        : managed_controller(try_new(of, std::move(reconcile), workers, std::move(options)).value())
    {
    }
    template <typename Reconcile>
    static result<managed_controller> try_new(manager &of, Reconcile reconcile,
                                              uint32_t workers = 1, controller_options options = {})
    {
        ki_controller *made = nullptr;
        auto done =
            controller::try_make(std::move(reconcile), std::move(options),
                                 [&](const ki_controller_options *o, ki_error *e) {
                                     return ki_manager_controller(of.get(), o, workers, &made, e);
                                 });
        if (!done) {
            return done.error();
        }
        return managed_controller(made);
    }
    ki_controller *get() const noexcept
    {
        return controller_;
    }
    workqueue queue() const noexcept
    {
        return workqueue(borrowed, ki_controller_queue(controller_));
    }
    /** Changes add the keys of objects, or of their owners if these are of the resource. Returns
     *  the informer. */
    informer watch(informer of)
    {
        try_watch(of, ki::options<ki_enqueue_options>()).value();
        return of;
    }
    informer watch(informer of, const resource &owner)
    {
        auto options = ki::options<ki_enqueue_options>();
        options.owner = owner.get();
        try_watch(of, options).value();
        return of;
    }
    result<void> try_watch(const informer &of, const ki_enqueue_options &options)
    {
        return detail::run(
            [&](ki_error *e) { return ki_controller_watch(controller_, of.get(), &options, e); });
    }
    ki_controller_stats stats() const noexcept
    {
        auto stats = ki::options<ki_controller_stats>();
        (void)ki_controller_get_stats(controller_, &stats);
        return stats;
    }

  private:
    explicit managed_controller(ki_controller *controller) noexcept : controller_(controller)
    {
    }

    ki_controller *controller_;
};

} // namespace ki

#endif

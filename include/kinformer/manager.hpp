/* SPDX-License-Identifier: Apache-2.0 */
/* The manager (manager.h) in C++. Not part of <kinformer/kinformer.hpp>.
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
#include <kinformer/leader.hpp>
#include <kinformer/manager.h>
#include <kinformer/recorder.hpp>

namespace ki
{

/** Has one owner; the destructor stops it and waits (ki_manager_close()). Declare it before its
 *  informers, and after all that its controllers use. */
class manager : public unique<ki_manager, ki_manager_close>
{
  public:
    explicit manager(ki_manager *owned) noexcept
        : unique(owned), client_(ki_manager_client(owned)), recorder_(ki_manager_recorder(owned)),
          leader_(ki_manager_leader(owned))
    {
    }
    manager(manager &&) = default;
    manager &operator=(manager &&) = delete;
    ~manager()
    {
        close();
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
    /* Valid as long as the manager, which closes them. */
    ki::client &client() noexcept
    {
        return client_;
    }
    ki::recorder &recorder() noexcept
    {
        return recorder_;
    }
    /** Null without election. */
    ki::leader &leader() noexcept
    {
        return leader_;
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
        (void)ki_manager_close(get()); /* until it returns, workers use this object */
        (void)release();
        release_parts();
    }

  private:
    void release_parts() noexcept
    {
        (void)client_.release();
        (void)recorder_.release();
        (void)leader_.release();
    }
    static ki_manager *on_client(const text &name, const ki::client &on)
    {
        auto options = ki::options<ki_manager_options>();
        options.name = name.c_str();
        options.client = on.get();
        auto made = try_new(options).value();
        made.release_parts();
        return made.release();
    }

    ki::client client_;
    ki::recorder recorder_;
    ki::leader leader_;
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

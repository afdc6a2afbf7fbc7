/* SPDX-License-Identifier: Apache-2.0 */
/* Controllers in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_CONTROLLER_HPP
#define KINFORMER_CPP_CONTROLLER_HPP

#include <kinformer/cpp/client.hpp>
#include <kinformer/worker.h>

namespace ki
{

/** Options of a controller. */
struct controller_options {
    /** Called for every failure, on the worker's thread. */
    std::function<void(std::string_view key, const ki::error &failure, uint32_t failures,
                       bool given_up)>
        on_error;
    uint32_t max_retries = 0; /* then the key is dropped until it is added again; 0: no limit */
    std::string name = {};    /* in metrics and checks; "": the name of the queue */
    /** Process keys only while this replica leads: ki::leader of leader.hpp. */
    ki_leader *leader = nullptr;
    /** Reconcile a key only when the caches have its recorded writes: ki::consistency of
     *  consistency.hpp. */
    ki_consistency *consistency = nullptr;
    std::chrono::milliseconds timeout = {}; /* reconcile_timeout_ms; 0: no limit */
};

namespace detail
{

inline void call_on_error(const controller_options &options, const char *key, const ki_error *error,
                          uint32_t failures, bool given_up) noexcept
{
    (void)guard(
        [&] {
            const ki::error failure(error->code, *error);
            options.on_error(view(key), failure, failures, given_up);
            return 0;
        },
        [](const ki::error &) {});
}

} // namespace detail

/** Processes the keys of a queue with a function, reconcile(std::string_view key), which may return
 *
 *    nothing                     success;
 *    std::chrono::milliseconds   success; above zero, the key is processed again after that time
 *                                (any duration that converts, such as 5s);
 *    ki::result of one of them   the same, or a failure.
 *
 *  If it throws, the key is retried after the delay of the queue's rate limiter, as after any
 *  failure, and on_error receives the exception as a ki::error: with its code and message, -ENOMEM
 *  for std::bad_alloc, else KI_ERR_CALLBACK with the message of the exception.
 *
 *  Has one owner: the destructor shuts the queue down and waits for the workers
 *  (ki_controller_close()). Declare it after the client and after all that its function uses. */
class controller : public unique<ki_controller, ki_controller_close>
{
  public:
    using unique::unique;

    template <typename Reconcile,
              typename = std::enable_if_t<std::is_invocable_v<Reconcile &, std::string_view>>>
    controller(const workqueue &queue, Reconcile reconcile, controller_options options = {})
        : controller(try_new(queue, std::move(reconcile), std::move(options)).value())
    {
    }
    template <typename Reconcile>
    static result<controller> try_new(const workqueue &queue, Reconcile reconcile,
                                      controller_options options = {})
    {
        ki_controller *made = nullptr;
        auto done = try_make(std::move(reconcile), std::move(options),
                             [&](ki_controller_options *o, ki_error *e) {
                                 o->queue = queue.get();
                                 return ki_controller_new(o, &made, e);
                             });
        if (!done) {
            return done.error();
        }
        return controller(made);
    }
    /* Calls `make` with the options of a controller for the function. */
    template <typename Reconcile, typename Make>
    static result<void> try_make(Reconcile reconcile, controller_options options, Make make)
    {
        using state = controller_state<Reconcile>;
        auto held = std::unique_ptr<state>(new state{std::move(reconcile), std::move(options)});
        auto o = ki::options<ki_controller_options>();
        o.reconcile = state::call;
        o.on_error = held->options.on_error ? state::failed : nullptr;
        o.max_retries = held->options.max_retries;
        o.reconcile_timeout_ms = detail::timeout_ms(held->options.timeout);
        o.name = held->options.name.empty() ? nullptr : held->options.name.c_str();
        o.leader = held->options.leader;
        o.consistency = held->options.consistency;
        o.user = held.get();
        o.destroy = detail::destroy<state>;
        auto done = detail::run([&](ki_error *e) { return make(&o, e); });
        if (done) {
            (void)held.release(); /* destroyed by the controller */
        }
        return done;
    }

    /** Starts the client's informers, and workers that begin when these have synced. */
    void start(client &with, uint32_t workers = 1)
    {
        try_start(with, workers).value();
    }
    result<void> try_start(client &with, uint32_t workers = 1)
    {
        return detail::run(
            [&](ki_error *e) { return ki_controller_start(get(), with.get(), workers, e); });
    }
    /** Starts workers at once. */
    void start(uint32_t workers = 1)
    {
        try_start(workers).value();
    }
    result<void> try_start(uint32_t workers = 1)
    {
        return detail::run(
            [&](ki_error *e) { return ki_controller_start(get(), nullptr, workers, e); });
    }
    /** Processes keys on the caller's thread until the queue is shut down. */
    void run_worker()
    {
        detail::check(ki_controller_run_worker(get())).value();
    }
    /** Processes one key, if one is available now. */
    bool work_one()
    {
        return try_work_one().value();
    }
    result<bool> try_work_one()
    {
        int r = ki_controller_work_one(get());
        if (r < 0) {
            return ki::error(r);
        }
        return r > 0;
    }
    /** Shuts the queue down and waits for the workers. */
    void close() noexcept
    {
        reset();
    }

  private:
    template <typename Reconcile> struct controller_state {
        Reconcile reconcile;
        controller_options options;

        static int call(const char *key, uint64_t *retry_after_ms, ki_error *error,
                        void *user) noexcept
        {
            auto *self = static_cast<controller_state *>(user);
            return detail::guard(
                [&] {
                    using returned = std::invoke_result_t<Reconcile &, std::string_view>;
                    if constexpr (std::is_void_v<returned>) {
                        self->reconcile(view(key));
                        return 0;
                    } else {
                        return take(self->reconcile(view(key)), retry_after_ms, error);
                    }
                },
                [&](const ki::error &e) { (void)e.fill(error); });
        }
        static int take(std::chrono::milliseconds after, uint64_t *retry_after_ms, ki_error *)
        {
            if (after.count() > 0) {
                *retry_after_ms = static_cast<uint64_t>(after.count());
            }
            return 0;
        }
        static int take(const result<void> &done, uint64_t *, ki_error *error)
        {
            return done ? 0 : done.error().fill(error);
        }
        template <typename Duration>
        static int take(const result<Duration> &done, uint64_t *retry_after_ms, ki_error *error)
        {
            return done ? take(*done, retry_after_ms, error) : done.error().fill(error);
        }
        static void failed(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                           void *user) noexcept
        {
            detail::call_on_error(static_cast<controller_state *>(user)->options, key, error,
                                  failures, given_up);
        }
    };
};

} // namespace ki

#endif

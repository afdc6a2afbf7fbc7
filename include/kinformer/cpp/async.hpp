/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous reconciles in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_ASYNC_HPP
#define KINFORMER_CPP_ASYNC_HPP

#include <cerrno>

#include <kinformer/async.h>
#include <kinformer/cpp/controller.hpp>

namespace ki
{

/** A reconcile that was started; complete it once, from any thread. The destructor completes one
 *  that was not, as a failure (-ECANCELED), so that its key is retried. The functions return
 * whether the result has an effect: not if the deadline had passed or the controller was closed. */
class reconcile_call
{
  public:
    reconcile_call() noexcept = default;
    explicit reconcile_call(ki_reconcile *pending) noexcept : call_(pending)
    {
    }
    reconcile_call(reconcile_call &&other) noexcept : call_(std::exchange(other.call_, nullptr))
    {
    }
    reconcile_call &operator=(reconcile_call &&other) noexcept
    {
        reconcile_call moved(std::move(other));
        std::swap(call_, moved.call_);
        return *this;
    }
    ~reconcile_call()
    {
        if (call_ != nullptr) {
            (void)end(-ECANCELED, 0, nullptr);
        }
    }

    explicit operator bool() const noexcept
    {
        return call_ != nullptr;
    }
    /** Identifies the call, for on_cancel. */
    const ki_reconcile *id() const noexcept
    {
        return call_;
    }
    std::string_view key() const noexcept
    {
        return view(ki_reconcile_key(call_));
    }
    /** Success; above zero, the key is processed again after that time. */
    bool complete(std::chrono::milliseconds again = {}) noexcept
    {
        return end(0, again.count() > 0 ? static_cast<uint64_t>(again.count()) : 0, nullptr);
    }
    bool fail(const ki::error &failure) noexcept
    {
        ki_error details = KI_ERROR_INIT;
        const int r = failure.fill(&details);
        return end(r, 0, &details);
    }

  private:
    bool end(int r, uint64_t again_ms, const ki_error *details) noexcept
    {
        return ki_reconcile_complete(std::exchange(call_, nullptr), r, again_ms, details) == 0;
    }

    ki_reconcile *call_ = nullptr;
};

/** Options of an asynchronous controller, besides those of others. */
struct async_options {
    /** The call with this id, which is still to be completed, has no effect any more. */
    std::function<void(const ki_reconcile *id)> on_cancel = {};
    std::chrono::milliseconds timeout{0}; /* 0: 60 s */
    uint32_t max_pending = 0;             /* 0: 100 */
};

/** Processes the keys of a queue with a function, start(ki::reconcile_call call), which must not
 *  block; see <kinformer/async.h>. If it throws, the call is completed by its destructor. */
class async_controller : public controller
{
  public:
    using start_function = std::function<void(reconcile_call call)>;

    async_controller(const workqueue &queue, start_function start, async_options async = {},
                     controller_options options = {})
        : async_controller(
              try_new(queue, std::move(start), std::move(async), std::move(options)).value())
    {
    }
    static result<async_controller> try_new(const workqueue &queue, start_function start,
                                            async_options async = {},
                                            controller_options options = {})
    {
        auto held = std::unique_ptr<state>(
            new state{std::move(start), std::move(async), std::move(options)});
        auto a = ki::options<ki_async_options>();
        a.start = state::begin;
        a.cancel = held->async.on_cancel ? state::canceled : nullptr;
        a.timeout_ms = detail::timeout_ms(held->async.timeout);
        a.max_pending = held->async.max_pending;
        auto o = ki::options<ki_controller_options>();
        o.queue = queue.get();
        o.async = &a;
        o.on_error = held->options.on_error ? state::failed : nullptr;
        o.max_retries = held->options.max_retries;
        o.name = held->options.name.empty() ? nullptr : held->options.name.c_str();
        o.user = held.get();
        o.destroy = detail::destroy<state>;
        auto made = detail::make<async_controller>(
            [&](ki_controller **ret, ki_error *e) { return ki_controller_new(&o, ret, e); });
        if (made) {
            (void)held.release(); /* destroyed by the controller */
        }
        return made;
    }
    explicit async_controller(ki_controller *owned) noexcept : controller(owned)
    {
    }

    /** Milliseconds until work_one() should be called again; -1: when the queue wakes the loop. */
    int timeout() const noexcept
    {
        return ki_controller_timeout(get());
    }

  private:
    struct state {
        start_function start;
        async_options async;
        controller_options options;

        static void begin(ki_reconcile *pending, void *user) noexcept
        {
            auto *self = static_cast<state *>(user);
            reconcile_call owned(pending);
            (void)detail::guard(
                [&] {
                    self->start(std::move(owned));
                    return 0;
                },
                [](const ki::error &) {});
        }
        static void canceled(ki_reconcile *pending, void *user) noexcept
        {
            auto *self = static_cast<state *>(user);
            (void)detail::guard(
                [&] {
                    self->async.on_cancel(pending);
                    return 0;
                },
                [](const ki::error &) {});
        }
        static void failed(const char *key, const ki_error *error, uint32_t failures, bool given_up,
                           void *user) noexcept
        {
            detail::call_on_error(static_cast<state *>(user)->options, key, error, failures,
                                  given_up);
        }
    };
};

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Work queues in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_WORKQUEUE_HPP
#define KINFORMER_CPP_WORKQUEUE_HPP

#include <kinformer/cpp/base.hpp>

namespace ki
{

/** Keys to be processed, each by one worker at a time. */
class workqueue : public shared<ki_workqueue, ki_workqueue_ref, ki_workqueue_unref>
{
  public:
    using shared::shared;

    explicit workqueue(const ki_workqueue_options *options = nullptr)
        : workqueue(try_new(options).value())
    {
    }
    static result<workqueue> try_new(const ki_workqueue_options *options = nullptr)
    {
        return detail::make<workqueue>(
            [&](ki_workqueue **ret, ki_error *e) { return ki_workqueue_new(options, ret, e); });
    }

    void add(const text &key)
    {
        try_add(key).value();
    }
    result<void> try_add(const text &key)
    {
        return detail::check(ki_workqueue_add(get(), key.c_str()));
    }
    void add_after(const text &key, std::chrono::milliseconds delay)
    {
        try_add_after(key, delay).value();
    }
    result<void> try_add_after(const text &key, std::chrono::milliseconds delay)
    {
        const auto ms = delay.count() > 0 ? static_cast<uint64_t>(delay.count()) : 0;
        return detail::check(ki_workqueue_add_after(get(), key.c_str(), ms));
    }
    void add_rate_limited(const text &key)
    {
        try_add_rate_limited(key).value();
    }
    result<void> try_add_rate_limited(const text &key)
    {
        return detail::check(ki_workqueue_add_rate_limited(get(), key.c_str()));
    }
    /** Higher priorities are taken first; see ki_workqueue_add_with(). */
    void add(const text &key, int32_t priority)
    {
        try_add(key, priority).value();
    }
    result<void> try_add(const text &key, int32_t priority)
    {
        auto o = ki::options<ki_add_options>();
        o.priority = priority;
        return try_add_with(key, o);
    }
    void add_with(const text &key, const ki_add_options &options)
    {
        try_add_with(key, options).value();
    }
    result<void> try_add_with(const text &key, const ki_add_options &options)
    {
        return detail::check(ki_workqueue_add_with(get(), key.c_str(), &options));
    }
    void forget(const text &key) noexcept
    {
        ki_workqueue_forget(get(), key.c_str());
    }
    size_t size() const noexcept
    {
        return ki_workqueue_count(get());
    }
    void shut_down() noexcept
    {
        ki_workqueue_shut_down(get());
    }
};

} // namespace ki

#endif

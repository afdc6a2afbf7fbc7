/* SPDX-License-Identifier: Apache-2.0 */
/* Owning handles and callbacks in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_BASE_HPP
#define KINFORMER_CPP_BASE_HPP

#include <functional>
#include <new>
#include <vector>

#include <kinformer/buf.h>
#include <kinformer/cpp/error.hpp>

namespace ki
{

/* ---- handles ---- */

/** Says that a pointer is borrowed: ki::informer(ki::borrowed, pointer) adds a reference. Without
 *  it, ki::informer(pointer) takes the caller's reference over. */
struct borrowed_t {
};
inline constexpr borrowed_t borrowed{};

/** A handle that is copied by reference counting. Besides the classes below, it serves for the
 *  types of <kinformer/parts/...>:
 *    using engine = ki::shared<ki_engine, ki_engine_ref, ki_engine_unref>; */
template <typename T, auto Ref, auto Unref> class shared
{
  public:
    using pointer = T *;

    shared() noexcept = default;
    explicit shared(T *owned) noexcept : handle_(owned)
    {
    }
    shared(borrowed_t, T *handle) noexcept : handle_(handle)
    {
        (void)Ref(handle_);
    }
    shared(const shared &other) noexcept : handle_(other.handle_)
    {
        (void)Ref(handle_);
    }
    shared(shared &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    shared &operator=(shared other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~shared()
    {
        (void)Unref(handle_);
    }

    T *get() const noexcept
    {
        return handle_;
    }
    /** Gives the reference to the caller; the handle is null then. */
    T *release() noexcept
    {
        return std::exchange(handle_, nullptr);
    }
    void reset() noexcept
    {
        (void)Unref(release());
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  private:
    T *handle_ = nullptr;
};

/** A handle with one owner: it can be moved, not copied. */
template <typename T, auto Unref> class unique
{
  public:
    using pointer = T *;

    unique() noexcept = default;
    explicit unique(T *owned) noexcept : handle_(owned)
    {
    }
    unique(unique &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
    {
    }
    unique &operator=(unique &&other) noexcept
    {
        unique moved(std::move(other));
        std::swap(handle_, moved.handle_);
        return *this;
    }
    unique(const unique &) = delete;
    unique &operator=(const unique &) = delete;
    ~unique()
    {
        (void)Unref(handle_);
    }

    T *get() const noexcept
    {
        return handle_;
    }
    /** Gives the handle to the caller; it is null then. */
    T *release() noexcept
    {
        return std::exchange(handle_, nullptr);
    }
    void reset() noexcept
    {
        (void)Unref(release());
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  private:
    T *handle_ = nullptr;
};

/* ---- inside ---- */

namespace detail
{

/* Calls `call(&pointer, &error)` for a new handle. */
template <typename Handle, typename Call> result<Handle> make(Call call)
{
    typename Handle::pointer made = nullptr;
    ki_error failure = KI_ERROR_INIT;
    int r = call(&made, &failure);
    if (r < 0) {
        return ki::error(r, failure);
    }
    return Handle(made);
}

/* Calls `call(&error)`. */
template <typename Call> result<void> run(Call call)
{
    ki_error failure = KI_ERROR_INIT;
    int r = call(&failure);
    if (r < 0) {
        return ki::error(r, failure);
    }
    return {};
}

inline result<void> check(int r)
{
    if (r < 0) {
        return ki::error(r);
    }
    return {};
}

/* A ki_buf that is released, of any size. */
class buffer
{
  public:
    buffer() noexcept
    {
        ki_buf_init(&buf_, nullptr, size_t{1} << 30);
    }
    ~buffer()
    {
        ki_buf_done(&buf_);
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;

    ki_buf *get() noexcept
    {
        return &buf_;
    }
    std::string_view view() const noexcept
    {
        return {buf_.data != nullptr ? buf_.data : "", buf_.len};
    }

  private:
    ki_buf buf_;
};

inline uint32_t timeout_ms(std::chrono::milliseconds timeout) noexcept
{
    if (timeout.count() <= 0) {
        return 0;
    }
    return timeout.count() < UINT32_MAX ? static_cast<uint32_t>(timeout.count()) : UINT32_MAX;
}

/* The current exception as an error. Called inside a catch block. */
inline ki::error current_error() noexcept
{
#if KI_CPP_EXCEPTIONS
    try {
        throw;
    } catch (const ki::error &e) {
        return e.code() < 0 ? e : ki::error(KI_ERR_CALLBACK, e.what());
    } catch (const std::bad_alloc &) {
        return ki::error(-ENOMEM);
    } catch (const std::exception &e) {
        return ki::error(KI_ERR_CALLBACK, e.what());
    } catch (...) {
        return ki::error(KI_ERR_CALLBACK, "exception of an unknown type");
    }
#else
    return ki::error(KI_ERR_CALLBACK);
#endif
}

/* Runs the body of a callback, which returns 0 or an error code. No exception passes: `failed`
 * receives it as an error. */
template <typename Body, typename Failed> int guard(Body &&body, Failed &&failed) noexcept
{
#if KI_CPP_EXCEPTIONS
    try {
        return body();
    } catch (...) {
        const ki::error failure = current_error();
        try {
            failed(failure);
        } catch (...) { /* an error handler that fails as well */
        }
        return failure.code();
    }
#else
    (void)failed;
    return body();
#endif
}

template <typename State> void destroy(void *user) noexcept
{
    delete static_cast<State *>(user);
}

} // namespace detail

/** Waits for as long as it takes, where a timeout is expected. */
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Text, options, errors and results in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_ERROR_HPP
#define KINFORMER_CPP_ERROR_HPP

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <kinformer/kinformer.h>
#include <kinformer/status.h>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define KI_CPP_EXCEPTIONS 1
#else
#define KI_CPP_EXCEPTIONS 0
#endif

namespace ki
{

/* ---- text ---- */

inline std::string_view view(ki_str s) noexcept
{
    return s.len != 0 ? std::string_view(s.ptr, s.len) : std::string_view();
}

inline std::string_view view(const char *s) noexcept
{
    return s != nullptr ? std::string_view(s) : std::string_view();
}

inline ki_str str(std::string_view s) noexcept
{
    return ki_str_make(s.data(), s.size());
}

/** Text for a C function that takes a NUL-terminated string: a parameter type only. Takes any
 *  string; std::string_view is copied, as it may not be terminated. nullptr means no text. The
 *  text ends at its first NUL. */
class text
{
  public:
    text(std::nullptr_t) noexcept
    {
    }
    text(const char *s) noexcept : text_(s)
    {
    }
    text(const std::string &s) noexcept : text_(s.c_str())
    {
    }
    text(std::string_view s) : copy_(s), text_(copy_.c_str())
    {
    }
    text(const text &) = delete;
    text &operator=(const text &) = delete;

    const char *c_str() const noexcept
    {
        return text_;
    }

  private:
    std::string copy_;
    const char *text_ = nullptr;
};

/* ---- options ---- */

namespace detail
{
template <typename T, typename = void> struct has_size : std::false_type {
};
template <typename T> struct has_size<T, std::void_t<decltype(T::size)>> : std::true_type {
};
} // namespace detail

/** A struct of the C API, all zero, with its `size` set:
 *    auto options = ki::options<ki_client_options>();
 *    options.qps = 50; */
template <typename T> T options() noexcept
{
    T value{};
    if constexpr (detail::has_size<T>::value) {
        value.size = sizeof(T);
    }
    return value;
}

/* ---- errors ---- */

class object;

namespace detail
{
struct object_deleter {
    void operator()(const ki_object *o) const noexcept
    {
        (void)ki_object_unref(o);
    }
};
} // namespace detail

/** A failure. what() is its message. Thrown by members such as get(), and part of the result of
 *  members such as try_get(). */
class error : public std::runtime_error
{
  public:
    error(int code, const std::string &message) : std::runtime_error(message), code_(code)
    {
    }

    /** Of a function that returned `code`, with its details. `status` is a reference that the error
     *  takes over; it may be NULL. */
    error(int code, const ki_error &details, ki_object *status = nullptr)
        : std::runtime_error(details.code == code && details.message[0] != '\0'
                                 ? details.message
                                 : ki_error_text(code)),
          code_(code)
    {
        if (details.code == code) {
            http_code_ = details.http_code;
            reason_ = details.reason;
            retry_after_ms_ = details.retry_after_ms;
            line_ = details.line;
            column_ = details.column;
        }
        if (status != nullptr) {
            status_ = std::shared_ptr<const ki_object>(status, detail::object_deleter());
        }
    }

    explicit error(int code) : std::runtime_error(ki_error_text(code)), code_(code)
    {
    }

    /** The result of the C function: a KI_ERR_x or -errno. */
    int code() const noexcept
    {
        return code_;
    }
    /** Name of the code, such as "KI_ERR_STATUS" or "ETIMEDOUT". */
    std::string_view name() const noexcept
    {
        return ki_error_name(code_);
    }
    /** Of the server's response; 0 without one. */
    int http_code() const noexcept
    {
        return http_code_;
    }
    ki_reason reason() const noexcept
    {
        return reason_;
    }
    std::chrono::milliseconds retry_after() const noexcept
    {
        return std::chrono::milliseconds(retry_after_ms_);
    }
    /** Place in the text that was parsed, from 1; 0 without one. */
    uint32_t line() const noexcept
    {
        return line_;
    }
    uint32_t column() const noexcept
    {
        return column_;
    }
    /** The server's Status, with all causes and the complete message; null if it sent none. */
    inline object status() const noexcept;

    bool is_not_found() const noexcept
    {
        return ask(ki_error_is_not_found) || code_ == KI_ERR_NOT_FOUND;
    }
    bool is_already_exists() const noexcept
    {
        return ask(ki_error_is_already_exists);
    }
    bool is_conflict() const noexcept
    {
        return ask(ki_error_is_conflict);
    }
    bool is_invalid() const noexcept
    {
        return ask(ki_error_is_invalid);
    }
    bool is_forbidden() const noexcept
    {
        return ask(ki_error_is_forbidden);
    }
    bool is_unauthorized() const noexcept
    {
        return ask(ki_error_is_unauthorized);
    }
    bool is_timeout() const noexcept
    {
        return code_ == -ETIMEDOUT || ask(ki_error_is_timeout);
    }
    bool is_retriable() const noexcept
    {
        return ki_error_is_retriable(code_);
    }

    /** Fills the struct of the C API; a long message is truncated. Returns the code. */
    int fill(ki_error *ret) const noexcept
    {
        if (ret != nullptr) {
            ret->code = code_;
            ret->http_code = http_code_;
            ret->reason = reason_;
            ret->retry_after_ms = retry_after_ms_;
            ret->line = line_;
            ret->column = column_;
            copy_message(what(), ret);
        }
        return code_;
    }

  private:
    static void copy_message(const char *message, ki_error *ret) noexcept
    {
        size_t len = std::strlen(message);
        const size_t capacity = sizeof(ret->message) - 1;
        if (len <= capacity) {
            std::memcpy(ret->message, message, len + 1);
            return;
        }
        len = capacity - 3; /* for the dots; never inside a character */
        while (len > 0 && (static_cast<unsigned char>(message[len]) & 0xc0) == 0x80) {
            len--;
        }
        std::memcpy(ret->message, message, len);
        std::memcpy(ret->message + len, "...", 4);
    }

    bool ask(bool (*predicate)(const ki_error *)) const noexcept
    {
        ki_error details = KI_ERROR_INIT;
        details.code = code_;
        details.http_code = http_code_;
        details.reason = reason_;
        return predicate(&details);
    }

    int code_;
    int http_code_ = 0;
    ki_reason reason_ = KI_REASON_UNKNOWN;
    uint32_t retry_after_ms_ = 0;
    uint32_t line_ = 0;
    uint32_t column_ = 0;
    std::shared_ptr<const ki_object> status_;
};

namespace detail
{
/* Throws; without exceptions, prints the message and aborts. */
[[noreturn]] inline void throw_error(const ki::error &failure)
{
#if KI_CPP_EXCEPTIONS
    throw ki::error(failure);
#else
    std::fprintf(stderr, "kinformer: %s\n", failure.what());
    std::abort();
#endif
}
} // namespace detail

/* ---- results ---- */

/** A value or an error. Test it, then use *result or result->member; or call value(), which throws
 *  the error (and aborts with -fno-exceptions). */
template <typename T> class [[nodiscard]] result
{
  public:
    result(T value) : value_(std::move(value))
    {
    }
    result(ki::error failure) : error_(std::move(failure))
    {
    }

    explicit operator bool() const noexcept
    {
        return value_.has_value();
    }
    bool ok() const noexcept
    {
        return value_.has_value();
    }

    T &operator*() noexcept
    {
        return *value_;
    }
    const T &operator*() const noexcept
    {
        return *value_;
    }
    T *operator->() noexcept
    {
        return &*value_;
    }
    const T *operator->() const noexcept
    {
        return &*value_;
    }

    T &value() &
    {
        check();
        return **this;
    }
    const T &value() const &
    {
        check();
        return **this;
    }
    T value() &&
    {
        check();
        return std::move(**this);
    }
    T value_or(T otherwise) &&
    {
        return ok() ? std::move(**this) : std::move(otherwise);
    }

    /** Only if there is no value. */
    const ki::error &error() const noexcept
    {
        return *error_;
    }

  private:
    void check() const
    {
        if (!ok()) {
            detail::throw_error(error());
        }
    }

    std::optional<T> value_;
    std::optional<ki::error> error_;
};

/** Success or an error. */
template <> class [[nodiscard]] result<void>
{
  public:
    result() noexcept = default;
    result(ki::error failure) : error_(std::move(failure))
    {
    }

    explicit operator bool() const noexcept
    {
        return !error_.has_value();
    }
    bool ok() const noexcept
    {
        return !error_.has_value();
    }
    void value() const
    {
        if (!ok()) {
            detail::throw_error(*error_);
        }
    }
    /** Only if it failed. */
    const ki::error &error() const noexcept
    {
        return *error_;
    }

  private:
    std::optional<ki::error> error_;
};

} // namespace ki

#endif

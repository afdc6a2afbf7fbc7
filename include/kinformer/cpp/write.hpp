/* SPDX-License-Identifier: Apache-2.0 */
/* Building and changing objects in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_WRITE_HPP
#define KINFORMER_CPP_WRITE_HPP

#include <kinformer/clock.h>
#include <kinformer/cpp/object.hpp>
#include <kinformer/time.h>

namespace ki
{

/** Writes JSON:
 *
 *    auto map = ki::json().begin_map().add("kind", "ConfigMap").add("apiVersion", "v1")
 *                   .begin_map("metadata").add("name", "web").end()
 *                   .end().object();
 *
 *  add() takes strings, numbers, booleans, nullptr and ki::value; without a name inside lists. The
 *  first error is kept, and reported by text() or object(). */
class json : public unique<ki_json, ki_json_unref>
{
  public:
    using unique::unique;
    explicit json(const ki_json_options *options = nullptr) : json(try_new(options).value())
    {
    }
    static result<json> try_new(const ki_json_options *options = nullptr)
    {
        return detail::make<json>(
            [&](ki_json **ret, ki_error *e) { return ki_json_new(options, ret, e); });
    }

    json &begin_map()
    {
        ki_json_begin_map(get(), nullptr);
        return *this;
    }
    json &begin_map(std::string_view name)
    {
        ki_json_name(get(), str(name));
        return begin_map();
    }
    json &begin_list()
    {
        ki_json_begin_list(get(), nullptr);
        return *this;
    }
    json &begin_list(std::string_view name)
    {
        ki_json_name(get(), str(name));
        return begin_list();
    }
    json &end()
    {
        ki_json_end(get());
        return *this;
    }

    template <typename T> json &add(const T &v)
    {
        if constexpr (std::is_same_v<T, bool>) {
            ki_json_bool(get(), nullptr, v);
        } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
            ki_json_null(get(), nullptr);
        } else if constexpr (std::is_floating_point_v<T>) {
            ki_json_double(get(), nullptr, static_cast<double>(v));
        } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            ki_json_int64(get(), nullptr, static_cast<int64_t>(v));
        } else if constexpr (std::is_integral_v<T>) {
            ki_json_uint64(get(), nullptr, static_cast<uint64_t>(v));
        } else if constexpr (std::is_same_v<T, ki::value>) {
            ki_json_value(get(), nullptr, v.get());
        } else {
            const std::string_view s(v);
            ki_json_str(get(), nullptr, str(s));
        }
        return *this;
    }
    template <typename T> json &add(std::string_view name, const T &v)
    {
        if constexpr (std::is_same_v<T, ki::value>) {
            if (!v.exists()) {
                return *this; /* an absent field is omitted */
            }
        }
        ki_json_name(get(), str(name));
        return add(v);
    }
    /** JSON text: one value of any type. */
    json &raw(const ki::text &value_text)
    {
        ki_json_raw(get(), nullptr, value_text.c_str());
        return *this;
    }
    json &raw(std::string_view name, const ki::text &value_text)
    {
        ki_json_name(get(), str(name));
        return raw(value_text);
    }
    /** Bytes in base64. */
    json &base64(std::string_view name, std::string_view bytes)
    {
        ki_json_name(get(), str(name));
        ki_json_base64(get(), nullptr, str(bytes));
        return *this;
    }
    json &timestamp(std::string_view name, std::chrono::system_clock::time_point when)
    {
        const auto since =
            std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch());
        ki_json_name(get(), str(name));
        ki_json_time(get(), nullptr, static_cast<int64_t>(since.count()));
        return *this;
    }
    /** An element of ownerReferences. */
    json &owner_reference(object_ref owner, bool controller = true)
    {
        ki_json_owner_reference(get(), owner.get(), controller);
        return *this;
    }

    /** The text, as a copy. */
    std::string text() const
    {
        return try_text().value();
    }
    result<std::string> try_text() const
    {
        ki_str written;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_json_text(get(), &written, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        return std::string(view(written));
    }
    ki::object object() const
    {
        return try_object().value();
    }
    result<ki::object> try_object() const
    {
        return detail::make<ki::object>(
            [&](ki_object **ret, ki_error *e) { return ki_json_object(get(), ret, e); });
    }
    void clear() noexcept
    {
        ki_json_reset(get());
    }
};

/** Changes an object:
 *
 *    auto patch = ki::edit(pod).set("spec.replicas",
 * 3).add_finalizer("example.com/x").merge_patch();
 *
 *  The first change that fails is kept, and reported by every result. Conditions use the time of
 *  the system clock. */
class edit : public unique<ki_edit, ki_edit_unref>
{
  public:
    using unique::unique;

    /** Starts from an object, or from nothing. */
    explicit edit(object_ref from = {}, const ki_edit_options *options = nullptr)
        : edit(try_new(from, options).value())
    {
    }
    static result<edit> try_new(object_ref from, const ki_edit_options *options = nullptr)
    {
        return detail::make<edit>(
            [&](ki_edit **ret, ki_error *e) { return ki_edit_new(from.get(), options, ret, e); });
    }

    /** Sets a string, an integer, a boolean or a ki::value. */
    template <typename T> edit &set(const text &path, const T &v)
    {
        if constexpr (std::is_same_v<T, bool>) {
            ki_edit_set_bool(get(), path.c_str(), v);
        } else if constexpr (std::is_integral_v<T>) {
            static_assert(sizeof(T) < 8 || std::is_signed_v<T>, "beyond int64_t");
            ki_edit_set_int64(get(), path.c_str(), static_cast<int64_t>(v));
        } else if constexpr (std::is_same_v<T, ki::value>) {
            ki_edit_set_value(get(), path.c_str(), v.get());
        } else {
            with_string(
                v, [&](const char *s) { ki_edit_set_string(get(), path.c_str(), s); },
                [&](ki_str s) { ki_edit_set_json(get(), path.c_str(), s); });
        }
        return *this;
    }
    edit &set_json(const text &path, std::string_view json_text)
    {
        ki_edit_set_json(get(), path.c_str(), str(json_text));
        return *this;
    }
    edit &remove(const text &path)
    {
        ki_edit_remove(get(), path.c_str());
        return *this;
    }
    /** Appends a string or a ki::value to the list at a path. */
    template <typename T> edit &append(const text &path, const T &v)
    {
        if constexpr (std::is_same_v<T, ki::value>) {
            ki_edit_append_value(get(), path.c_str(), v.get());
        } else {
            with_string(
                v, [&](const char *s) { ki_edit_append_string(get(), path.c_str(), s); },
                [&](ki_str s) { ki_edit_append_json(get(), path.c_str(), s); });
        }
        return *this;
    }
    edit &append_json(const text &path, std::string_view json_text)
    {
        ki_edit_append_json(get(), path.c_str(), str(json_text));
        return *this;
    }
    edit &remove_string(const text &path, const text &element)
    {
        ki_edit_remove_string(get(), path.c_str(), element.c_str());
        return *this;
    }

    /** Merges a map into the object, as server-side apply does: other fields, and other elements of
     *  lists that have keys, are kept. See ki_edit_merge_json(). */
    edit &merge(std::string_view json_text)
    {
        ki_edit_merge_json(get(), str(json_text));
        return *this;
    }

    edit &label(const text &name, const text &v)
    {
        ki_edit_set_label(get(), name.c_str(), v.c_str());
        return *this;
    }
    edit &remove_label(const text &name)
    {
        ki_edit_remove_label(get(), name.c_str());
        return *this;
    }
    edit &annotation(const text &name, const text &v)
    {
        ki_edit_set_annotation(get(), name.c_str(), v.c_str());
        return *this;
    }
    edit &remove_annotation(const text &name)
    {
        ki_edit_remove_annotation(get(), name.c_str());
        return *this;
    }
    edit &add_finalizer(const text &name)
    {
        ki_edit_add_finalizer(get(), name.c_str());
        return *this;
    }
    edit &remove_finalizer(const text &name)
    {
        ki_edit_remove_finalizer(get(), name.c_str());
        return *this;
    }
    edit &add_owner(object_ref owner, bool controller = true)
    {
        ki_edit_add_owner(get(), owner.get(), controller);
        return *this;
    }
    edit &remove_owner(const text &uid)
    {
        ki_edit_remove_owner(get(), uid.c_str());
        return *this;
    }
    /** Sets a condition. `status` is "True", "False" or "Unknown". */
    edit &condition(const text &type, const text &status, const text &reason = nullptr,
                    const text &message = nullptr, int64_t observed_generation = 0)
    {
        auto c = options<ki_condition>();
        c.type = type.c_str();
        c.status = status.c_str();
        c.reason = reason.c_str();
        c.message = message.c_str();
        c.observed_generation = observed_generation;
        c.transition_time_ns = ki_clock_now_ns(nullptr);
        ki_edit_set_condition(get(), &c);
        return *this;
    }

    /** The changed object. */
    ki::object object() const
    {
        return try_object().value();
    }
    result<ki::object> try_object() const
    {
        return detail::make<ki::object>(
            [&](ki_object **ret, ki_error *e) { return ki_edit_object(get(), ret, e); });
    }
    /** The smallest merge patch; "{}" if nothing changed. */
    std::string merge_patch() const
    {
        return try_merge_patch().value();
    }
    result<std::string> try_merge_patch() const
    {
        return patch(ki_edit_merge_patch);
    }
    /** A JSON patch that applies only to the same resourceVersion; "[]" if nothing changed. */
    std::string json_patch() const
    {
        return try_json_patch().value();
    }
    result<std::string> try_json_patch() const
    {
        return patch(ki_edit_json_patch);
    }

  private:
    result<std::string> patch(int (*write)(const ki_edit *, ki_buf *, ki_error *)) const
    {
        detail::buffer out;
        ki_error failure = KI_ERROR_INIT;
        int r = write(get(), out.get(), &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        return std::string(out.view());
    }

    /* A string that contains NUL is passed as JSON. */
    template <typename Plain, typename Escaped>
    static void with_string(std::string_view s, Plain plain, Escaped escaped)
    {
        if (s.find('\0') == std::string_view::npos) {
            plain(std::string(s).c_str());
            return;
        }
        detail::buffer out;
        if (ki_buf_add_json_string(out.get(), str(s)) < 0) {
            detail::throw_error(ki::error(-ENOMEM));
        }
        escaped(str(out.view()));
    }
};

} // namespace ki

#endif

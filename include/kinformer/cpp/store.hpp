/* SPDX-License-Identifier: Apache-2.0 */
/* Stores, snapshots and indexes in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_STORE_HPP
#define KINFORMER_CPP_STORE_HPP

#include <kinformer/cpp/object.hpp>
#include <kinformer/index.h>

namespace ki
{

/* ---- snapshots ---- */

namespace detail
{
class snapshot_walk
{
  public:
    explicit snapshot_walk(const ki_snapshot_iter &iter) noexcept : iter_(iter)
    {
    }
    bool next(object_ref *ret) noexcept
    {
        const ki_object *object = nullptr;
        bool found = ki_snapshot_iter_next(&iter_, &object) > 0;
        *ret = object;
        return found;
    }

  private:
    ki_snapshot_iter iter_;
};

using snapshot_handle = shared<ki_snapshot, ki_snapshot_ref, ki_snapshot_unref>;
} // namespace detail

/** Objects of a snapshot, as a range that keeps the snapshot. */
class snapshot_range
{
  public:
    using iterator = detail::walk_iterator<detail::snapshot_walk, object_ref>;
    snapshot_range(detail::snapshot_handle held, const ki_snapshot_iter &from) noexcept
        : held_(std::move(held)), from_(from)
    {
    }
    iterator begin() const noexcept
    {
        return iterator(detail::snapshot_walk(from_));
    }
    detail::end_of_walk end() const noexcept
    {
        return {};
    }

  private:
    detail::snapshot_handle held_;
    ki_snapshot_iter from_;
};

/** One version of a store: a range of ki::object_ref, valid as long as the snapshot. */
class snapshot : public detail::snapshot_handle
{
  public:
    using detail::snapshot_handle::snapshot_handle;

    size_t size() const noexcept
    {
        return ki_snapshot_count(get());
    }
    uint64_t version() const noexcept
    {
        return ki_snapshot_version(get());
    }
    std::string_view resource_version() const noexcept
    {
        return ki_snapshot_resource_version(get());
    }
    /** The object with a key, "namespace/name" or "name"; null if there is none. */
    object_ref find(const text &key) const noexcept
    {
        return ki_snapshot_get(get(), key.c_str());
    }
    snapshot_range::iterator begin() const noexcept
    {
        return snapshot_range::iterator(detail::snapshot_walk(ki_snapshot_iter_begin(get())));
    }
    detail::end_of_walk end() const noexcept
    {
        return {};
    }
    /** for (auto pod : snapshot.by_index("node", "a")) */
    snapshot_range by_index(const text &index, std::string_view value) const
    {
        return try_by_index(index, value).value();
    }
    result<snapshot_range> try_by_index(const text &index, std::string_view value) const
    {
        ki_snapshot_iter iter;
        int r = ki_snapshot_iter_by_index(get(), index.c_str(), str(value), &iter);
        if (r < 0) {
            return ki::error(r);
        }
        return snapshot_range(*this, iter);
    }
};

/** The cache of an informer. */
class store : public shared<ki_store, ki_store_ref, ki_store_unref>
{
  public:
    using shared::shared;

    ki::snapshot snapshot() const noexcept
    {
        return ki::snapshot(ki_store_snapshot(get()));
    }
    /** The object with a key; null if there is none. */
    object find(const text &key) const noexcept
    {
        return object(ki_store_get(get(), key.c_str()));
    }
    list all() const
    {
        return try_all().value();
    }
    result<list> try_all() const
    {
        return detail::make<list>(
            [&](ki_list **ret, ki_error *) { return ki_store_list(get(), ret); });
    }
    list by_index(const text &index, const text &value) const
    {
        return try_by_index(index, value).value();
    }
    result<list> try_by_index(const text &index, const text &value) const
    {
        return detail::make<list>([&](ki_list **ret, ki_error *) {
            return ki_store_by_index(get(), index.c_str(), value.c_str(), ret);
        });
    }
};

/* ---- indexes ---- */

/** An index to be added to an informer. The function of index(name, fn) receives a ki::object_ref
 *  and returns the value (std::string or std::string_view; "" is a value), a std::optional of it,
 *  or a container of them. If it throws, the object is not stored and the failure is reported. */
class index
{
  public:
    template <typename Function> index(const text &name, Function function) : name_(name.c_str())
    {
        index_ = options<ki_index>();
        index_.name = name_.c_str();
        index_.user = new Function(std::move(function));
        index_.values = [](const ki_object *o, ki_index_values *values, void *user) noexcept {
            return detail::guard(
                [&] { return add(values, (*static_cast<Function *>(user))(object_ref(o))); },
                [](const ki::error &) {});
        };
        index_.destroy = detail::destroy<Function>;
    }
    static index by_label(const text &name, const text &label)
    {
        index made(name);
        detail::check(ki_index_by_label(made.name_.c_str(), label.c_str(), nullptr, &made.index_))
            .value();
        return made;
    }
    static index by_path(const text &name, const path &values)
    {
        index made(name);
        detail::check(ki_index_by_path(made.name_.c_str(), values.get(), nullptr, &made.index_))
            .value();
        return made;
    }

    index(index &&other) noexcept
        : name_(std::move(other.name_)), index_(std::exchange(other.index_, options<ki_index>()))
    {
        index_.name = name_.c_str();
    }
    index &operator=(index &&) = delete;
    ~index()
    {
        ki_index_done(&index_);
    }

    const ki_index *get() const noexcept
    {
        return &index_;
    }
    /** After a store has taken it. */
    void release() noexcept
    {
        index_ = options<ki_index>();
    }

  private:
    explicit index(const text &name) : name_(name.c_str()), index_(options<ki_index>())
    {
    }

    template <typename T> static int add(ki_index_values *values, const T &found)
    {
        if constexpr (std::is_convertible_v<const T &, std::string_view>) {
            return ki_index_values_add(values, str(std::string_view(found)));
        } else if constexpr (std::is_convertible_v<T, bool>) {
            static_assert(!std::is_same_v<T, T>, "a string, an optional or a container");
            return 0;
        } else if constexpr (is_optional<T>::value) {
            return found ? add(values, *found) : 0;
        } else {
            for (const auto &one : found) {
                int r = add(values, one);
                if (r < 0) {
                    return r;
                }
            }
            return 0;
        }
    }
    template <typename T> struct is_optional : std::false_type {
    };
    template <typename T> struct is_optional<std::optional<T>> : std::true_type {
    };

    std::string name_;
    ki_index index_;
};

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Values inside objects in C++. Include <kinformer/kinformer.hpp>. */
#ifndef KINFORMER_CPP_VALUE_HPP
#define KINFORMER_CPP_VALUE_HPP

#include <iterator>

#include <kinformer/cpp/base.hpp>

namespace ki
{

class value;

namespace detail
{
struct end_of_walk {
};

/* Input iterator over anything with `bool next(Item *)`, which it owns. */
template <typename Walk, typename Item> class walk_iterator
{
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = const Item *;
    using reference = const Item &;

    explicit walk_iterator(Walk walk) : walk_(std::move(walk))
    {
        ++*this;
    }
    const Item &operator*() const noexcept
    {
        return item_;
    }
    const Item *operator->() const noexcept
    {
        return &item_;
    }
    walk_iterator &operator++()
    {
        more_ = walk_.next(&item_);
        return *this;
    }
    friend bool operator!=(const walk_iterator &i, end_of_walk) noexcept
    {
        return i.more_;
    }
    friend bool operator==(const walk_iterator &i, end_of_walk) noexcept
    {
        return !i.more_;
    }

  private:
    Walk walk_;
    Item item_{};
    bool more_ = false;
};

class element_walk;
class member_walk;
} // namespace detail

struct member;
class members;

/** A value inside an object, which must outlive it. Copy it freely. A default-constructed one, and
 *  one that is absent, is of KI_TYPE_NONE. A range-for loop over a value visits the elements of a
 *  list or the values of a map; members() has the names as well. Other values are empty ranges. */
class value
{
  public:
    value() noexcept : value_()
    {
    }
    value(const ki_value &v) noexcept : value_(v)
    {
    }
    const ki_value *get() const noexcept
    {
        return &value_;
    }

    ki_type type() const noexcept
    {
        return ki_value_type(&value_);
    }
    /** Whether there is a value, which may be null. */
    bool exists() const noexcept
    {
        return type() != KI_TYPE_NONE;
    }
    explicit operator bool() const noexcept
    {
        return exists();
    }

    /** The value at a path below, such as "containers[0].image"; of KI_TYPE_NONE if there is none,
     *  or if the path is invalid. */
    value at(const text &path) const noexcept
    {
        return ki_value_at(&value_, path.c_str());
    }
    /** A member of a map or an element of a list; of KI_TYPE_NONE if there is none. */
    value operator[](std::string_view name) const noexcept
    {
        value found;
        return ki_value_member(&value_, str(name), &found.value_) < 0 ? value() : found;
    }
    value operator[](const char *name) const noexcept
    {
        return (*this)[std::string_view(name)];
    }
    template <typename Index, typename = std::enable_if_t<std::is_integral_v<Index>>>
    value operator[](Index index) const noexcept
    {
        value found;
        int r = ki_value_element(&value_, static_cast<int64_t>(index), &found.value_);
        return r < 0 ? value() : found;
    }
    /** The number of elements or members. */
    size_t size() const noexcept
    {
        return ki_value_count(&value_);
    }

    /* With a default, for values that are absent or of another type. */
    std::string string_or(std::string_view otherwise) const
    {
        auto found = try_string();
        return found ? std::move(*found) : std::string(otherwise);
    }
    int64_t int64_or(int64_t otherwise) const noexcept
    {
        return ki_value_int64_or(&value_, otherwise);
    }
    double double_or(double otherwise) const noexcept
    {
        return ki_value_double_or(&value_, otherwise);
    }
    bool bool_or(bool otherwise) const noexcept
    {
        return ki_value_bool_or(&value_, otherwise);
    }

    /* Without a default: an error if the value is absent or of another type. */
    std::string string() const
    {
        return try_string().value();
    }
    result<std::string> try_string() const
    {
        ki_str plain;
        int r = ki_value_string(&value_, &plain);
        if (r >= 0) {
            return std::string(view(plain));
        }
        detail::buffer copy;
        r = r == KI_ERR_NOT_PLAIN ? ki_value_copy_string(&value_, copy.get()) : r;
        if (r < 0) {
            return ki::error(r);
        }
        return std::string(copy.view());
    }
    int64_t int64() const
    {
        return try_int64().value();
    }
    result<int64_t> try_int64() const
    {
        return scalar<int64_t>(ki_value_int64);
    }
    double number() const
    {
        return try_number().value();
    }
    result<double> try_number() const
    {
        return scalar<double>(ki_value_double);
    }
    bool boolean() const
    {
        return try_boolean().value();
    }
    result<bool> try_boolean() const
    {
        return scalar<bool>(ki_value_bool);
    }

    /** The value as JSON; "" of KI_TYPE_NONE. */
    std::string json() const
    {
        detail::buffer out;
        int r = ki_value_write_json(&value_, out.get());
        if (r < 0 && r != KI_ERR_TYPE) {
            detail::throw_error(ki::error(r));
        }
        return std::string(out.view());
    }

    friend bool operator==(const value &v, std::string_view s) noexcept
    {
        return ki_value_equals(&v.value_, str(s));
    }
    friend bool operator!=(const value &v, std::string_view s) noexcept
    {
        return !(v == s);
    }

    using iterator = detail::walk_iterator<detail::element_walk, value>;
    inline iterator begin() const;
    detail::end_of_walk end() const noexcept
    {
        return {};
    }
    /** for (auto [name, value] : labels.members()) */
    inline ki::members members() const noexcept;

  private:
    template <typename T> result<T> scalar(int (*read)(const ki_value *, T *)) const
    {
        T found{};
        int r = read(&value_, &found);
        if (r < 0) {
            return ki::error(r);
        }
        return found;
    }

    ki_value value_;
};

/** A member of a map. */
struct member {
    std::string name;
    ki::value value;
};

namespace detail
{
class element_walk
{
  public:
    explicit element_walk(const ki_value *container) noexcept
        : open_(ki_value_iter_begin(container, &iter_) >= 0)
    {
    }
    bool next(value *ret) noexcept
    {
        ki_value found;
        if (!open_ || ki_value_iter_next(&iter_, nullptr, &found) != 1) {
            return false;
        }
        *ret = value(found);
        return true;
    }

  private:
    ki_value_iter iter_{};
    bool open_;
};

class member_walk
{
  public:
    explicit member_walk(const ki_value *container) noexcept
        : open_(ki_value_type(container) == KI_TYPE_MAP &&
                ki_value_iter_begin(container, &iter_) >= 0)
    {
    }
    bool next(member *ret)
    {
        ki_value name;
        ki_value found;
        if (!open_ || ki_value_iter_next(&iter_, &name, &found) != 1) {
            return false;
        }
        ret->name = value(name).string_or("");
        ret->value = value(found);
        return true;
    }

  private:
    ki_value_iter iter_{};
    bool open_;
};
} // namespace detail

/** The members of a map, as a range. */
class members
{
  public:
    explicit members(const ki_value &map) noexcept : map_(map)
    {
    }
    using iterator = detail::walk_iterator<detail::member_walk, member>;
    iterator begin() const
    {
        return iterator(detail::member_walk(&map_));
    }
    detail::end_of_walk end() const noexcept
    {
        return {};
    }

  private:
    ki_value map_;
};

inline value::iterator value::begin() const
{
    return iterator(detail::element_walk(&value_));
}

inline ki::members value::members() const noexcept
{
    return ki::members(value_);
}

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing through typed views in C++; see <kinformer/view_edit.h> for the rules. Part of
 * <kinformer/cpp/view.hpp>.
 *
 *   ki::edit edit(object);
 *   auto spec = ki::apps_v1::Deployment::edit_of(edit).spec();
 *   spec.set_replicas(3).remove_paused();
 *   spec.template_().spec().containers_by_name("web").set_image("web:7");
 *
 * For a field `f` there are set_f() and remove_f(), which return the same place; for messages,
 * lists and maps f(), which returns their place, created empty if it is missing, and f_by_KEY().
 * Places own nothing: the edit must outlive them, and keeps the first failure. */
#ifndef KINFORMER_CPP_VIEW_EDIT_HPP
#define KINFORMER_CPP_VIEW_EDIT_HPP

#include <type_traits>

#include <kinformer/cpp/view.hpp>

namespace ki
{

namespace detail
{
/* Integers that fit into To, and nothing that only converts to them. */
template <typename N, typename To>
using if_whole = std::enable_if_t<std::is_integral_v<N> && !std::is_same_v<N, bool> &&
                                      (sizeof(N) < sizeof(To) ||
                                       (sizeof(N) == sizeof(To) && std::is_signed_v<N>)),
                                  int>;
template <typename A, typename B> using if_same = std::enable_if_t<std::is_same_v<A, B>, int>;

inline ki_text plain_text(std::string_view s) noexcept
{
    return ki_text{s.data() != nullptr ? s.data() : "", s.size(), nullptr};
}

/* What all places have. */
class edit_base
{
  public:
    explicit edit_base(ki_place place) noexcept : place_(place)
    {
    }
    ki_place place() const noexcept
    {
        return place_;
    }

  private:
    ki_place place_;
};

/* What each type of C is when it is edited; specialized for lists and maps. */
template <typename C> struct edit_of {
    using type = ki::typed_edit<C>;
};
template <typename C> using edit_of_t = typename edit_of<C>::type;

/* The place of an element of a list or map. */
template <typename C> struct place_of {
    static ki_place get(ki_place at, const char *name) noexcept
    {
        return ki_place_map(at, name);
    }
};
struct place_of_list {
    static ki_place get(ki_place at, const char *name) noexcept
    {
        return ki_place_list(at, name);
    }
};
template <> struct place_of<ki_text_list> : place_of_list {
};

/* How a value that is not a message is put at a place. */
template <typename C> struct put;
#define KI_EDIT_PUT(C, parameter, call)                                    \
    template <> struct put<C> {                                            \
        static void set(ki_place at, const char *name, parameter) noexcept \
        {                                                                  \
            call;                                                          \
        }                                                                  \
    };
#define KI_EDIT_PUT_TEXT(C, V, call, copy)                                          \
    template <> struct put<C> {                                                     \
        static void set(ki_place at, const char *name, std::string_view v) noexcept \
        {                                                                           \
            call;                                                                   \
        }                                                                           \
        static void set(ki_place at, const char *name, const V &v) noexcept         \
        {                                                                           \
            copy(at, name, v.get());                                                \
        }                                                                           \
    };
KI_EDIT_PUT_TEXT(ki_text, ki::field_text, ki_place_copy_text(at, name, plain_text(v)),
                 ki_place_copy_text)
KI_EDIT_PUT_TEXT(ki_quantity, ki::quantity,
                 ki_place_copy_quantity(at, name, ki_quantity{plain_text(v)}),
                 ki_place_copy_quantity)
KI_EDIT_PUT(ki_bytes, std::string_view v, ki_place_set_bytes(at, name, str(v)))
KI_EDIT_PUT(ki_timestamp, const ki_timestamp &v, ki_place_set_time(at, name, v))
KI_EDIT_PUT(ki_int64, int64_t v, ki_place_set_int64(at, name, v))
KI_EDIT_PUT(ki_bool, bool v, ki_place_set_bool(at, name, v))
KI_EDIT_PUT(ki_double, double v, ki_place_set_double(at, name, v))
KI_EDIT_PUT(ki_int_or_string, const ki_int_or_string &v, ki_place_set_int_or_string(at, name, v))
KI_EDIT_PUT(ki_value, const ki::value &v, ki_place_set_value(at, name, *v.get()))
#undef KI_EDIT_PUT
#undef KI_EDIT_PUT_TEXT
} // namespace detail

/** A list of messages. */
template <typename C> class list_edit : public detail::edit_base
{
  public:
    using detail::edit_base::edit_base;

    /** Appends an empty element, to be filled. */
    detail::edit_of_t<C> append() const noexcept
    {
        return detail::edit_of_t<C>(detail::place_of<C>::get(place(), nullptr));
    }
    detail::edit_of_t<C> operator[](size_t index) const noexcept
    {
        return detail::edit_of_t<C>(ki_place_element(place(), index));
    }
    list_edit remove(size_t index) const noexcept
    {
        ki_place_remove_at(place(), index);
        return *this;
    }
};

/** A list of strings, numbers and the like. */
template <typename C> class value_list_edit : public detail::edit_base
{
  public:
    using detail::edit_base::edit_base;

    template <typename V> value_list_edit append(const V &value) const noexcept
    {
        detail::put<C>::set(place(), nullptr, value);
        return *this;
    }
    value_list_edit remove(size_t index) const noexcept
    {
        ki_place_remove_at(place(), index);
        return *this;
    }
};

/** A map of messages, or of lists of strings. */
template <typename C> class map_edit : public detail::edit_base
{
  public:
    using detail::edit_base::edit_base;

    detail::edit_of_t<C> operator[](const text &key) const noexcept
    {
        return detail::edit_of_t<C>(detail::place_of<C>::get(place(), key.c_str()));
    }
    map_edit remove(const text &key) const noexcept
    {
        ki_place_remove(place(), key.c_str());
        return *this;
    }
};

/** A map of strings, quantities and the like. */
template <typename C> class value_map_edit : public detail::edit_base
{
  public:
    using detail::edit_base::edit_base;

    template <typename V> value_map_edit set(const text &key, const V &value) const noexcept
    {
        detail::put<C>::set(place(), key.c_str(), value);
        return *this;
    }
    value_map_edit remove(const text &key) const noexcept
    {
        ki_place_remove(place(), key.c_str());
        return *this;
    }
};

namespace detail
{
#define KI_EDIT_CONTAINER(C, suffix, name)     \
    template <> struct edit_of<C##_##suffix> { \
        using type = ki::name##_edit<C>;       \
    };
KI_EDIT_CONTAINER(ki_text, list, value_list)
KI_EDIT_CONTAINER(ki_int64, list, value_list)
KI_EDIT_CONTAINER(ki_bool, list, value_list)
KI_EDIT_CONTAINER(ki_double, list, value_list)
KI_EDIT_CONTAINER(ki_bytes, list, value_list)
KI_EDIT_CONTAINER(ki_quantity, list, value_list)
KI_EDIT_CONTAINER(ki_timestamp, list, value_list)
KI_EDIT_CONTAINER(ki_int_or_string, list, value_list)
KI_EDIT_CONTAINER(ki_value, list, value_list)
KI_EDIT_CONTAINER(ki_text, map, value_map)
KI_EDIT_CONTAINER(ki_int64, map, value_map)
KI_EDIT_CONTAINER(ki_bool, map, value_map)
KI_EDIT_CONTAINER(ki_double, map, value_map)
KI_EDIT_CONTAINER(ki_bytes, map, value_map)
KI_EDIT_CONTAINER(ki_quantity, map, value_map)
KI_EDIT_CONTAINER(ki_timestamp, map, value_map)
KI_EDIT_CONTAINER(ki_int_or_string, map, value_map)
KI_EDIT_CONTAINER(ki_value, map, value_map)
KI_EDIT_CONTAINER(ki_text_list, list, list)
KI_EDIT_CONTAINER(ki_text_map, list, list)
KI_EDIT_CONTAINER(ki_text_list, map, map)
KI_EDIT_CONTAINER(ki_text_map, map, map)
#undef KI_EDIT_CONTAINER
} // namespace detail

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Typed views in C++: what <kinformer/api/....hpp> consist of; see <kinformer/view.h> for the
 * rules.
 *
 *   ki::core_v1::Pod pod = ki::core_v1::Pod::of(object);
 *   if (pod.status().phase() == KI_CORE_V1_PodPhase_Running)
 *       for (auto container : pod.spec().containers())
 *           std::cout << container.image().string() << "\n";
 *
 * Methods have the names of the fields in the API; those that C++ does not allow get a "_" at the
 * end: metadata().namespace_(). For a field `f` there are also has_f() and get_f(), and f_by_KEY()
 * for lists with a key. Views own nothing: the object must outlive them. */
#ifndef KINFORMER_CPP_VIEW_HPP
#define KINFORMER_CPP_VIEW_HPP

#include <chrono>

#include <kinformer/cpp/object.hpp>
#include <kinformer/cpp/value.hpp>
#include <kinformer/view.h>

namespace ki
{

/** A view of a type of the API: ki::core_v1::Pod is ki::typed<ki_core_v1_Pod>. */
template <typename T> class typed;

/** A place in an edit to write through: ki::core_v1::Pod::edit_of(edit). */
template <typename T> class typed_edit;

/** A string of a view. */
class field_text
{
  public:
    field_text() noexcept : text_{"", 0, nullptr}
    {
    }
    explicit field_text(const ki_text &text) noexcept : text_(text)
    {
    }
    const ki_text &get() const noexcept
    {
        return text_;
    }
    bool empty() const noexcept
    {
        return text_.len == 0;
    }
    /** Whether it is stored as it reads, so that view() is all of it. */
    bool is_plain() const noexcept
    {
        return text_.encoding == nullptr;
    }
    /** The bytes as stored; see is_plain(). */
    std::string_view view() const noexcept
    {
        return std::string_view(text_.ptr, text_.len);
    }
    /** The string, decoded. */
    std::string string() const
    {
        if (is_plain()) {
            return std::string(view());
        }
        detail::buffer out;
        int r = ki_text_append(text_, out.get());
        if (r < 0) {
            detail::throw_error(ki::error(r));
        }
        return std::string(out.view());
    }
    operator std::string() const
    {
        return string();
    }
    friend bool operator==(const field_text &a, std::string_view b) noexcept
    {
        return ki_text_equals(a.text_, str(b));
    }
    friend bool operator!=(const field_text &a, std::string_view b) noexcept
    {
        return !(a == b);
    }

  private:
    ki_text text_;
};

/** Bytes of a view. */
class field_bytes
{
  public:
    field_bytes() noexcept : bytes_{"", 0, nullptr}
    {
    }
    explicit field_bytes(const ki_bytes &bytes) noexcept : bytes_(bytes)
    {
    }
    const ki_bytes &get() const noexcept
    {
        return bytes_;
    }
    /** The bytes, decoded. An error if they are not base64 in JSON. */
    std::string string() const
    {
        detail::buffer out;
        int r = ki_bytes_append(bytes_, out.get());
        if (r < 0) {
            detail::throw_error(ki::error(r));
        }
        return std::string(out.view());
    }

  private:
    ki_bytes bytes_;
};

/** A quantity of a view: "250m", "1.5Gi". */
class quantity
{
  public:
    quantity() noexcept = default;
    explicit quantity(const ki_quantity &q) noexcept : quantity_(q)
    {
    }
    const ki_quantity &get() const noexcept
    {
        return quantity_;
    }
    field_text text() const noexcept
    {
        return field_text(quantity_.text);
    }
    int64_t int64_or(int64_t otherwise) const noexcept
    {
        return ki_quantity_int64_or(quantity_, otherwise);
    }
    int64_t milli_or(int64_t otherwise) const noexcept
    {
        return ki_quantity_milli_or(quantity_, otherwise);
    }
    double double_or(double otherwise) const noexcept
    {
        return ki_quantity_double_or(quantity_, otherwise);
    }

  private:
    ki_quantity quantity_{{"", 0, nullptr}};
};

template <typename T> class view_list;
template <typename T> class view_map;

namespace detail
{
/* What each type of C is in C++; specialized for lists and maps. */
template <typename C> struct view_of {
    using type = ki::typed<C>;
};
template <> struct view_of<ki_value> {
    using type = ki::value;
};
template <> struct view_of<ki_text> {
    using type = ki::field_text;
};
template <> struct view_of<ki_bytes> {
    using type = ki::field_bytes;
};
template <> struct view_of<ki_quantity> {
    using type = ki::quantity;
};
template <> struct view_of<ki_timestamp> {
    using type = ki_timestamp;
};
template <> struct view_of<ki_int64> {
    using type = int64_t;
};
template <> struct view_of<ki_bool> {
    using type = bool;
};
template <> struct view_of<ki_double> {
    using type = double;
};
template <> struct view_of<ki_int_or_string> {
    using type = ki_int_or_string;
};
template <typename C> using view_of_t = typename view_of<C>::type;

/* An element of a list or map. */
template <typename C> struct element_of {
    static view_of_t<C> read(const ki_value &value) noexcept
    {
        C c;
        c.value = value;
        return view_of_t<C>(c);
    }
};
#define KI_VIEW_ELEMENT(C, call)                             \
    template <> struct element_of<C> {                       \
        static view_of_t<C> read(const ki_value &v) noexcept \
        {                                                    \
            return view_of_t<C>(call);                       \
        }                                                    \
    };
KI_VIEW_ELEMENT(ki_value, v)
KI_VIEW_ELEMENT(ki_text, ki_view_text(&v, 0, nullptr, nullptr))
KI_VIEW_ELEMENT(ki_bytes, ki_view_bytes(&v, 0, nullptr))
KI_VIEW_ELEMENT(ki_quantity, ki_view_quantity(&v, 0, nullptr))
KI_VIEW_ELEMENT(ki_timestamp, ki_view_time(&v, 0, nullptr))
KI_VIEW_ELEMENT(ki_int64, ki_view_int64(&v, 0, nullptr, 0))
KI_VIEW_ELEMENT(ki_bool, ki_view_bool(&v, 0, nullptr, false))
KI_VIEW_ELEMENT(ki_double, ki_view_double(&v, 0, nullptr, 0))
KI_VIEW_ELEMENT(ki_int_or_string, ki_view_int_or_string(&v, 0, nullptr))
#undef KI_VIEW_ELEMENT

template <typename C> class list_walk
{
  public:
    explicit list_walk(const ki_value &list) noexcept
        : open_(ki_value_type(&list) == KI_TYPE_LIST && ki_value_iter_begin(&list, &iter_) >= 0)
    {
    }
    bool next(view_of_t<C> *ret) noexcept
    {
        ki_value found;
        if (!open_ || !ki_view_next(&iter_, &found)) {
            return false;
        }
        *ret = element_of<C>::read(found);
        return true;
    }

  private:
    ki_value_iter iter_{};
    bool open_;
};

/* The key and value of a map. */
template <typename C> struct map_item {
    std::string key;
    view_of_t<C> value{};
};

template <typename C> class map_walk
{
  public:
    explicit map_walk(const ki_value &map) noexcept
        : open_(ki_value_type(&map) == KI_TYPE_MAP && ki_value_iter_begin(&map, &iter_) >= 0)
    {
    }
    bool next(map_item<C> *ret)
    {
        ki_value key;
        ki_value found;
        if (!open_ || ki_value_iter_next(&iter_, &key, &found) != 1) {
            return false;
        }
        ret->key = ki::value(key).string_or("");
        ret->value = element_of<C>::read(found);
        return true;
    }

  private:
    ki_value_iter iter_{};
    bool open_;
};

/* How the view of an object is made; specialized for kinds. */
template <typename C> struct root_of;

/* What all views have. */
template <typename C> class view_base
{
  public:
    view_base() noexcept : view_()
    {
    }
    explicit view_base(const C &c) noexcept : view_(c)
    {
    }
    const C &get() const noexcept
    {
        return view_;
    }
    bool exists() const noexcept
    {
        return ki_view_exists(view_);
    }
    explicit operator bool() const noexcept
    {
        return exists();
    }
    /** For values and paths below. */
    ki::value value() const noexcept
    {
        return ki::value(view_.value);
    }
    /** The object of an edit, to change it; see typed_edit. */
    template <typename Kind = C> static ki::typed_edit<Kind> edit_of(ki_edit *edit) noexcept
    {
        return ki::typed_edit<Kind>(root_of<Kind>::edit_of(edit));
    }
    template <typename Edit, typename Kind = C>
    static auto edit_of(const Edit &edit) noexcept -> decltype(edit_of<Kind>(edit.get()))
    {
        return edit_of<Kind>(edit.get());
    }
    /** Likewise of an edit that starts from nothing; an empty namespace is not set. */
    template <typename Kind = C>
    static ki::typed_edit<Kind> edit_new(ki_edit *edit, const text &ns, const text &name) noexcept
    {
        return ki::typed_edit<Kind>(root_of<Kind>::edit_new(
            edit, ns.c_str() != nullptr && *ns.c_str() != '\0' ? ns.c_str() : nullptr,
            name.c_str()));
    }
    template <typename Edit, typename Kind = C>
    static auto edit_new(const Edit &edit, const text &ns, const text &name) noexcept
        -> decltype(edit_new<Kind>(edit.get(), ns, name))
    {
        return edit_new<Kind>(edit.get(), ns, name);
    }
    /** The view of an object; of nothing if that is of another kind. */
    template <typename Kind = C> static ki::typed<Kind> of(const ki_object *object) noexcept
    {
        return ki::typed<Kind>(root_of<Kind>::of(object));
    }
    template <typename Object, typename Kind = C>
    static auto of(const Object &object) noexcept -> decltype(of<Kind>(object.get()))
    {
        return of<Kind>(object.get());
    }

  private:
    C view_;
};
} // namespace detail

/** A list of views, strings or numbers: for (auto item : list). */
template <typename C> class view_list
{
  public:
    using iterator = detail::walk_iterator<detail::list_walk<C>, detail::view_of_t<C>>;

    view_list() noexcept : list_()
    {
    }
    explicit view_list(const ki_value &list) noexcept : list_(list)
    {
    }
    template <typename List> explicit view_list(const List &list) noexcept : list_(list.value)
    {
    }
    ki::value value() const noexcept
    {
        return ki::value(list_);
    }
    size_t size() const noexcept
    {
        return ki_value_count(&list_);
    }
    bool empty() const noexcept
    {
        return !(begin() != end());
    }
    /** Of nothing, empty or 0 if there is none. */
    detail::view_of_t<C> operator[](size_t index) const noexcept
    {
        return detail::element_of<C>::read(ki_view_element(&list_, index));
    }
    iterator begin() const
    {
        return iterator(detail::list_walk<C>(list_));
    }
    detail::end_of_walk end() const noexcept
    {
        return {};
    }

  private:
    ki_value list_;
};

/** A map with string keys: for (auto [key, value] : map). */
template <typename C> class view_map
{
  public:
    using iterator = detail::walk_iterator<detail::map_walk<C>, detail::map_item<C>>;

    view_map() noexcept : map_()
    {
    }
    template <typename Map> explicit view_map(const Map &map) noexcept : map_(map.value)
    {
    }
    ki::value value() const noexcept
    {
        return ki::value(map_);
    }
    size_t size() const noexcept
    {
        return ki_value_count(&map_);
    }
    bool contains(const text &key) const noexcept
    {
        return ki_view_entry(&map_, key.c_str()).ops != nullptr;
    }
    /** Of nothing, empty or 0 if there is none. */
    detail::view_of_t<C> operator[](const text &key) const noexcept
    {
        return detail::element_of<C>::read(ki_view_entry(&map_, key.c_str()));
    }
    iterator begin() const
    {
        return iterator(detail::map_walk<C>(map_));
    }
    detail::end_of_walk end() const noexcept
    {
        return {};
    }

  private:
    ki_value map_;
};

namespace detail
{
#define KI_VIEW_CONTAINER(C, suffix)           \
    template <> struct view_of<C##_##suffix> { \
        using type = ki::view_##suffix<C>;     \
    };
KI_VIEW_CONTAINER(ki_text, list)
KI_VIEW_CONTAINER(ki_int64, list)
KI_VIEW_CONTAINER(ki_bool, list)
KI_VIEW_CONTAINER(ki_double, list)
KI_VIEW_CONTAINER(ki_bytes, list)
KI_VIEW_CONTAINER(ki_quantity, list)
KI_VIEW_CONTAINER(ki_timestamp, list)
KI_VIEW_CONTAINER(ki_int_or_string, list)
KI_VIEW_CONTAINER(ki_value, list)
KI_VIEW_CONTAINER(ki_text_list, list)
KI_VIEW_CONTAINER(ki_text_map, list)
KI_VIEW_CONTAINER(ki_text, map)
KI_VIEW_CONTAINER(ki_int64, map)
KI_VIEW_CONTAINER(ki_bool, map)
KI_VIEW_CONTAINER(ki_double, map)
KI_VIEW_CONTAINER(ki_bytes, map)
KI_VIEW_CONTAINER(ki_quantity, map)
KI_VIEW_CONTAINER(ki_timestamp, map)
KI_VIEW_CONTAINER(ki_int_or_string, map)
KI_VIEW_CONTAINER(ki_value, map)
KI_VIEW_CONTAINER(ki_text_list, map)
KI_VIEW_CONTAINER(ki_text_map, map)
} // namespace detail

} // namespace ki

#include <kinformer/cpp/view_edit.hpp>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, lists, paths, selectors and resources in C++. Include <kinformer/kinformer.hpp>.
 */
#ifndef KINFORMER_CPP_OBJECT_HPP
#define KINFORMER_CPP_OBJECT_HPP

#include <iterator>

#include <kinformer/cpp/value.hpp>
#include <kinformer/diff.h>
#include <kinformer/encoding.h>
#include <kinformer/field_selector.h>
#include <kinformer/kinds.h>
#include <kinformer/label_selector.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>

namespace ki
{

/* ---- objects ---- */

class object;
class object_ref;

namespace detail
{
/* What can be read from an object, for those that have one. */
template <typename Self> class object_reads
{
  public:
    /** "namespace/name", or "name" without a namespace. */
    std::string_view key() const noexcept
    {
        return ki_object_key(c());
    }
    std::string_view name() const noexcept
    {
        return ki_object_name(c());
    }
    std::string_view name_space() const noexcept
    {
        return ki_object_namespace(c());
    }
    std::string_view uid() const noexcept
    {
        return ki_object_uid(c());
    }
    std::string_view resource_version() const noexcept
    {
        return ki_object_resource_version(c());
    }
    std::string_view kind() const noexcept
    {
        return ki_object_kind(c());
    }
    std::string_view api_version() const noexcept
    {
        return ki_object_api_version(c());
    }
    int64_t generation() const noexcept
    {
        return ki_object_generation(c());
    }
    bool is_deleting() const noexcept
    {
        return ki_object_is_deleting(c());
    }

    /** Whether the owner is its controller. */
    inline bool is_controlled_by(const object_ref &owner) const noexcept;

    value labels() const noexcept
    {
        return ki_object_labels(c());
    }
    value annotations() const noexcept
    {
        return ki_object_annotations(c());
    }
    value finalizers() const noexcept
    {
        return ki_object_finalizers(c());
    }
    value owner_references() const noexcept
    {
        return ki_object_owner_references(c());
    }
    /** "" without that label. */
    std::string_view label(const text &label_name) const noexcept
    {
        return view(ki_object_label(c(), label_name.c_str()));
    }
    bool has_label(const text &label_name) const noexcept
    {
        return ki_object_has_label(c(), label_name.c_str());
    }
    value annotation(const text &annotation_name) const noexcept
    {
        return ki_object_annotation(c(), annotation_name.c_str());
    }
    bool has_finalizer(const text &finalizer) const noexcept
    {
        return ki_object_has_finalizer(c(), finalizer.c_str());
    }
    /** Whether the condition of a type, such as "Ready", is "True". */
    bool condition_is_true(const text &type) const noexcept
    {
        return ki_object_condition_is_true(c(), type.c_str());
    }

    value root() const noexcept
    {
        return ki_object_root(c());
    }
    /** pod.at("spec.nodeName").string_or("") */
    value at(const text &path) const noexcept
    {
        return ki_object_at(c(), path.c_str());
    }
    std::string json() const
    {
        return root().json();
    }

  private:
    const ki_object *c() const noexcept
    {
        return static_cast<const Self *>(this)->get();
    }
};
} // namespace detail

/** A borrowed object: inside callbacks, and in loops over lists and snapshots.
 *  Assign it to a ki::object to keep it. Text and values are valid as long as the object; key(),
 *  name() and the other plain texts are NUL-terminated. */
class object_ref : public detail::object_reads<object_ref>
{
  public:
    object_ref() noexcept = default;
    object_ref(const ki_object *o) noexcept : object_(o)
    {
    }
    inline object_ref(const object &o) noexcept;

    const ki_object *get() const noexcept
    {
        return object_;
    }
    explicit operator bool() const noexcept
    {
        return object_ != nullptr;
    }

    /* Whether both are the same object in memory. */
    friend bool operator==(object_ref a, object_ref b) noexcept
    {
        return a.object_ == b.object_;
    }
    friend bool operator!=(object_ref a, object_ref b) noexcept
    {
        return a.object_ != b.object_;
    }

  private:
    const ki_object *object_ = nullptr;
};

/** An object: immutable, copied by reference. Has all members of ki::object_ref. */
class object : public shared<ki_object, ki_object_ref, ki_object_unref>,
               public detail::object_reads<object>
{
  public:
    using shared::shared;
    object() noexcept = default;
    object(object_ref o) noexcept : shared(ki_object_ref(o.get()))
    {
    }

    static object from_json(std::string_view bytes, const ki_object_options *options = nullptr)
    {
        return try_from_json(bytes, options).value();
    }
    static result<object> try_from_json(std::string_view bytes,
                                        const ki_object_options *options = nullptr)
    {
        return detail::make<object>([&](ki_object **ret, ki_error *e) {
            return ki_object_from_json(bytes.data(), bytes.size(), options, ret, e);
        });
    }
    static object from_protobuf(std::string_view bytes, const ki_object_options *options = nullptr)
    {
        return try_from_protobuf(bytes, options).value();
    }
    static result<object> try_from_protobuf(std::string_view bytes,
                                            const ki_object_options *options = nullptr)
    {
        return detail::make<object>([&](ki_object **ret, ki_error *e) {
            return ki_object_from_protobuf(bytes.data(), bytes.size(), options, ret, e);
        });
    }
};

inline object_ref::object_ref(const object &o) noexcept : object_(o.get())
{
}

template <typename Self>
inline bool detail::object_reads<Self>::is_controlled_by(const object_ref &owner) const noexcept
{
    return ki_object_is_controlled_by(c(), owner.get());
}

inline object error::status() const noexcept
{
    return object_ref(status_.get());
}

/* ---- lists ---- */

/** Objects of a cache or of a response. A range of ki::object_ref, valid as long as the list. */
class list : public unique<ki_list, ki_list_unref>
{
  public:
    using unique::unique;

    size_t size() const noexcept
    {
        return ki_list_count(get());
    }
    bool empty() const noexcept
    {
        return size() == 0;
    }
    /** Null after the last. */
    object_ref operator[](size_t position) const noexcept
    {
        return ki_list_at(get(), position);
    }
    /** Sorts by key. */
    list &sort() &noexcept
    {
        ki_list_sort(get());
        return *this;
    }
    list sort() &&noexcept
    {
        ki_list_sort(get());
        return std::move(*this);
    }

    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = object_ref;
        using difference_type = std::ptrdiff_t;
        using pointer = const object_ref *;
        using reference = object_ref;

        iterator(const ki_list *in, size_t position) noexcept : list_(in), position_(position)
        {
        }
        object_ref operator*() const noexcept
        {
            return ki_list_at(list_, position_);
        }
        iterator &operator++() noexcept
        {
            position_++;
            return *this;
        }
        iterator operator++(int) noexcept
        {
            iterator before = *this;
            position_++;
            return before;
        }
        friend bool operator==(const iterator &a, const iterator &b) noexcept
        {
            return a.position_ == b.position_;
        }
        friend bool operator!=(const iterator &a, const iterator &b) noexcept
        {
            return a.position_ != b.position_;
        }

      private:
        const ki_list *list_;
        size_t position_;
    };
    iterator begin() const noexcept
    {
        return {get(), 0};
    }
    iterator end() const noexcept
    {
        return {get(), get() != nullptr ? size() : 0};
    }
};

/* ---- paths, selectors, resources, differences ---- */

/** A path that is compiled once, to read many objects. */
class path : public shared<ki_path, ki_path_ref, ki_path_unref>
{
  public:
    using shared::shared;
    path() noexcept = default;
    explicit path(const text &spelling) : path(try_compile(spelling).value())
    {
    }
    static result<path> try_compile(const text &spelling)
    {
        return detail::make<path>([&](ki_path **ret, ki_error *e) {
            return ki_path_compile(spelling.c_str(), nullptr, ret, e);
        });
    }
    /** The first value there; of KI_TYPE_NONE if there is none. */
    value first(object_ref o) const noexcept
    {
        ki_value found;
        return ki_object_get(o.get(), get(), &found) < 0 ? value() : value(found);
    }
    /** All values there. */
    std::vector<value> all(object_ref o) const
    {
        std::vector<value> found;
        const ki_value root = ki_object_root(o.get());
        ki_path_iter *iter = nullptr;
        if (ki_path_iter_begin(get(), &root, &iter) >= 0) {
            const unique<ki_path_iter, ki_path_iter_end> held(iter);
            ki_value one;
            while (ki_path_iter_next(iter, &one) == 1) {
                found.emplace_back(one);
            }
        }
        return found;
    }
};

/** A label selector. */
class selector : public shared<const ki_selector, ki_selector_ref, ki_selector_unref>
{
  public:
    using shared::shared;
    selector() noexcept : shared(ki_selector_everything())
    {
    }
    explicit selector(const text &spelling) : selector(try_parse(spelling).value())
    {
    }
    static result<selector> try_parse(const text &spelling)
    {
        return detail::make<selector>([&](const ki_selector **ret, ki_error *e) {
            ki_selector *made = nullptr;
            int r = ki_selector_parse(spelling.c_str(), nullptr, &made, e);
            *ret = made;
            return r;
        });
    }
    bool matches(object_ref o) const noexcept
    {
        return ki_selector_matches(get(), o.get());
    }
};

/** A field selector. */
class field_selector
    : public shared<const ki_field_selector, ki_field_selector_ref, ki_field_selector_unref>
{
  public:
    using shared::shared;
    explicit field_selector(const text &spelling) : field_selector(try_parse(spelling).value())
    {
    }
    static result<field_selector> try_parse(const text &spelling)
    {
        return detail::make<field_selector>([&](const ki_field_selector **ret, ki_error *e) {
            ki_field_selector *made = nullptr;
            int r = ki_field_selector_parse(spelling.c_str(), nullptr, &made, e);
            *ret = made;
            return r;
        });
    }
    bool matches(object_ref o) const noexcept
    {
        return ki_field_selector_matches(get(), o.get());
    }
};

/** A resource: KI_CORE_V1_PODS and the other constants convert to it, custom ones are created. */
class resource : public shared<const ki_resource, ki_resource_ref, ki_resource_unref>
{
  public:
    using shared::shared;
    resource(const ki_resource *r) noexcept : shared(borrowed, r)
    {
    }
    explicit resource(const ki_resource_options &options) : resource(try_new(options).value())
    {
    }
    /** A custom resource in namespaces: resource("example.com", "v1", "websites", "Website"). */
    resource(const text &group, const text &version, const text &plural, const text &kind)
        : resource(custom(group, version, plural, kind))
    {
    }
    static result<resource> try_new(const ki_resource_options &options)
    {
        ki_resource *made = nullptr;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_resource_new(&options, &made, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        resource created;
        static_cast<shared &>(created) = shared(made);
        return created;
    }
    resource() noexcept = default;
    std::string_view name() const noexcept
    {
        return ki_resource_name(get());
    }
    std::string_view kind() const noexcept
    {
        return ki_resource_kind(get());
    }

  private:
    static resource custom(const text &group, const text &version, const text &plural,
                           const text &kind)
    {
        auto o = options<ki_resource_options>();
        o.group = group.c_str();
        o.version = version.c_str();
        o.resource = plural.c_str();
        o.kind = kind.c_str();
        return try_new(o).value();
    }
};

/** Differences between two objects: a range of ki_diff_change. */
class diff : public unique<ki_diff, ki_diff_unref>
{
  public:
    using unique::unique;
    diff(object_ref before, object_ref after, const ki_diff_options *options = nullptr)
        : diff(try_diff(before, after, options).value())
    {
    }
    static result<diff> try_diff(object_ref before, object_ref after,
                                 const ki_diff_options *options = nullptr)
    {
        return detail::make<diff>([&](ki_diff **ret, ki_error *e) {
            return ki_object_diff(before.get(), after.get(), options, ret, e);
        });
    }
    size_t size() const noexcept
    {
        return ki_diff_count(get());
    }
    const ki_diff_change &operator[](size_t position) const noexcept
    {
        return *ki_diff_at(get(), position);
    }
    std::vector<const ki_diff_change *> changes() const
    {
        std::vector<const ki_diff_change *> all;
        for (size_t i = 0; i < size(); i++) {
            all.push_back(ki_diff_at(get(), i));
        }
        return all;
    }
};

/** Applies a patch in the program; the object stays as it is. */
inline result<object> try_merge(object_ref o, ki_patch_type type, std::string_view patch)
{
    return detail::make<object>([&](ki_object **ret, ki_error *e) {
        return ki_object_merge(o.get(), type, str(patch), nullptr, ret, e);
    });
}
inline object merge(object_ref o, ki_patch_type type, std::string_view patch)
{
    return try_merge(o, type, patch).value();
}

} // namespace ki

#endif

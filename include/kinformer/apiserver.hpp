/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded API server (apiserver.h) in C++. Needs the library kinformer-apiserver. */
#ifndef KINFORMER_APISERVER_HPP
#define KINFORMER_APISERVER_HPP

#include <kinformer/apiserver.h>
#include <kinformer/kinformer.hpp>

namespace ki
{

/** A server that listens as long as it exists. */
class apiserver : public shared<ki_apiserver, ki_apiserver_ref, ki_apiserver_unref>
{
  public:
    using shared::get;
    using shared::shared;

    explicit apiserver(const ki_apiserver_options *options = nullptr)
        : apiserver(try_new(options).value())
    {
    }
    static result<apiserver> try_new(const ki_apiserver_options *options = nullptr)
    {
        return detail::make<apiserver>(
            [&](ki_apiserver **ret, ki_error *e) { return ki_apiserver_new(options, ret, e); });
    }
    std::string_view url() const noexcept
    {
        return ki_apiserver_url(get());
    }
    /** A client of this server. */
    ki::client client(const ki_client_options *options = nullptr) const
    {
        return try_client(options).value();
    }
    result<ki::client> try_client(const ki_client_options *options = nullptr) const
    {
        return detail::make<ki::client>([&](ki_client **ret, ki_error *e) {
            return ki_apiserver_client(get(), options, ret, e);
        });
    }
    /** Objects in JSON or YAML. Returns their number. */
    size_t load(std::string_view objects)
    {
        return try_load(objects).value();
    }
    result<size_t> try_load(std::string_view objects)
    {
        size_t count = 0;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_apiserver_load(get(), str(objects), &count, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        return count;
    }
    /** Objects of a file. Returns their number. */
    size_t load_file(const text &path)
    {
        return try_load_file(path).value();
    }
    result<size_t> try_load_file(const text &path)
    {
        size_t count = 0;
        ki_error failure = KI_ERROR_INIT;
        int r = ki_apiserver_load_file(get(), path.c_str(), &count, &failure);
        if (r < 0) {
            return ki::error(r, failure);
        }
        return count;
    }
    /** The current state of an object, whatever faults are set. */
    ki::object get(const resource &of, const text &name_space, const text &name) const
    {
        return try_get(of, name_space, name).value();
    }
    result<ki::object> try_get(const resource &of, const text &name_space, const text &name) const
    {
        return detail::make<ki::object>([&](ki_object **ret, ki_error *e) {
            return ki_apiserver_get(get(), of.get(), name_space.c_str(), name.c_str(), ret, e);
        });
    }
    /** Deletes an object as a request would: one with finalizers is only marked. */
    void remove(const resource &of, const text &name_space, const text &name)
    {
        try_remove(of, name_space, name).value();
    }
    result<void> try_remove(const resource &of, const text &name_space, const text &name)
    {
        return detail::run([&](ki_error *e) {
            return ki_apiserver_delete(get(), of.get(), name_space.c_str(), name.c_str(), e);
        });
    }
    /** Counters, such as the number of requests. */
    ki_apiserver_stats stats() const noexcept
    {
        auto s = options<ki_apiserver_stats>();
        (void)ki_apiserver_get_stats(get(), &s);
        return s;
    }
    /** Faults to inject; see ki_apiserver_set_faults(). */
    void set_faults(const text &faults)
    {
        try_set_faults(faults).value();
    }
    result<void> try_set_faults(const text &faults)
    {
        return detail::run(
            [&](ki_error *e) { return ki_apiserver_set_faults(get(), faults.c_str(), e); });
    }
};

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reading your own writes (consistency.h) in C++. Not part of <kinformer/kinformer.hpp>.
 *
 *   ki::consistency consistency;
 *   consistency.add(pods);
 *   controller_options.consistency = consistency.get();
 *   ...
 *   auto created = client.create(KI_CORE_V1_PODS, pod);      in the reconcile function
 *   consistency.wrote(pods, key, owner.uid(), created); */
#ifndef KINFORMER_CONSISTENCY_HPP
#define KINFORMER_CONSISTENCY_HPP

#include <kinformer/consistency.h>
#include <kinformer/kinformer.hpp>

namespace ki
{

/** Waits until the store of an informer is at least at a resourceVersion. */
inline result<void> try_wait_version(const informer &of, const text &resource_version,
                                     std::chrono::milliseconds timeout = forever)
{
    return detail::run([&](ki_error *e) {
        return ki_informer_wait_version(of.get(), resource_version.c_str(),
                                        detail::timeout_ms(timeout), e);
    });
}
inline void wait_version(const informer &of, const text &resource_version,
                         std::chrono::milliseconds timeout = forever)
{
    try_wait_version(of, resource_version, timeout).value();
}

/** A record of writes, by key. */
class consistency : public shared<ki_consistency, ki_consistency_ref, ki_consistency_unref>
{
  public:
    using shared::shared;

    explicit consistency(const ki_consistency_options *options = nullptr)
        : consistency(try_new(options).value())
    {
    }
    static result<consistency> try_new(const ki_consistency_options *options = nullptr)
    {
        return detail::make<consistency>(
            [&](ki_consistency **ret, ki_error *e) { return ki_consistency_new(options, ret, e); });
    }

    /** Adds the informer of a resource that is written. */
    void add(const informer &of)
    {
        try_add(of).value();
    }
    result<void> try_add(const informer &of)
    {
        return detail::run(
            [&](ki_error *e) { return ki_consistency_add_informer(get(), of.get(), e); });
    }

    /** Records a write that the server accepted; `written` is the object in the response. `uid` is
     *  that of the object that `key` names; nullptr if unknown. */
    void wrote(const informer &of, const text &key, const text &uid, object_ref written)
    {
        try_wrote(of, key, uid, written).value();
    }
    result<void> try_wrote(const informer &of, const text &key, const text &uid, object_ref written)
    {
        return detail::check(ki_consistency_wrote(get(), of.get(), key.c_str(), uid.c_str(),
                                                  ki_object_resource_version(written.get())));
    }
    /** Records a deletion that is about to be sent. */
    void will_delete(const informer &of, const text &key, const text &uid, object_ref object)
    {
        try_will_delete(of, key, uid, object).value();
    }
    result<void> try_will_delete(const informer &of, const text &key, const text &uid,
                                 object_ref object)
    {
        return detail::check(
            ki_consistency_will_delete(get(), of.get(), key.c_str(), uid.c_str(), object.get()));
    }
    /** Whether the caches are past all recorded writes of a key. */
    bool is_current(const text &key) noexcept
    {
        return ki_consistency_is_current(get(), key.c_str());
    }
    /** Drops the records of a key. */
    void clear(const text &key, const text &uid = nullptr) noexcept
    {
        ki_consistency_clear(get(), key.c_str(), uid.c_str());
    }
    /** The number of records. */
    size_t size() const noexcept
    {
        return ki_consistency_count(get());
    }
};

} // namespace ki

#endif

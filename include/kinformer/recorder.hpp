/* SPDX-License-Identifier: Apache-2.0 */
/* Events about objects (recorder.h) in C++. Not part of <kinformer/kinformer.hpp>.
 *
 *   ki::recorder recorder(client, "example.com/website-controller");
 *   recorder.event(website, KI_EVENT_NORMAL, "Created", "new Service"); */
#ifndef KINFORMER_RECORDER_HPP
#define KINFORMER_RECORDER_HPP

#include <kinformer/kinformer.hpp>
#include <kinformer/recorder.h>

namespace ki
{

/** Records events. Has one owner: the destructor stops it and waits until queued events were sent,
 *  at most `flush_ms` of the options (ki_recorder_close()). Declare it after the client. */
class recorder : public unique<ki_recorder, ki_recorder_close>
{
  public:
    using unique::unique;

    /** `controller` is its name, such as "example.com/website-controller". */
    recorder(client &with, const text &controller) : recorder(try_new(with, controller).value())
    {
    }
    static result<recorder> try_new(client &with, const text &controller)
    {
        auto o = ki::options<ki_recorder_options>();
        o.controller = controller.c_str();
        return try_new(with, o);
    }
    recorder(client &with, const ki_recorder_options &options)
        : recorder(try_new(with, options).value())
    {
    }
    static result<recorder> try_new(client &with, const ki_recorder_options &options)
    {
        return detail::make<recorder>([&](ki_recorder **ret, ki_error *e) {
            return ki_recorder_new(with.get(), &options, ret, e);
        });
    }

    /** Records an event. Never fails and never waits: dropped events are counted in stats(). `note`
     *  is for people; `action` is what was done, nullptr: as `reason`. */
    void event(object_ref regarding, ki_event_type type, const text &reason,
               const text &note = nullptr, const text &action = nullptr) noexcept
    {
        (void)ki_recorder_event(get(), regarding.get(), type, reason.c_str(), action.c_str(),
                                note.c_str());
    }
    /** The same, with the reason why an event was not accepted. */
    result<void> try_event(object_ref regarding, ki_event_type type, const text &reason,
                           const text &note = nullptr, const text &action = nullptr)
    {
        return detail::check(ki_recorder_event(get(), regarding.get(), type, reason.c_str(),
                                               action.c_str(), note.c_str()));
    }

    ki_recorder_stats stats() const noexcept
    {
        auto all = options<ki_recorder_stats>();
        (void)ki_recorder_get_stats(get(), &all);
        return all;
    }
    /** Stops the recorder without waiting. */
    void stop() noexcept
    {
        ki_recorder_stop(get());
    }
    /** Stops the recorder and waits until queued events were sent. */
    void close() noexcept
    {
        reset();
    }
};

} // namespace ki

#endif

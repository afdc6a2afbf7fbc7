/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics (metrics.h), checks and systemd's notifications (checks.h) of a client in C++. Not part
 * of <kinformer/kinformer.hpp>.
 *
 *   std::string text = ki::metrics(client);
 *   if (auto ready = ki::check_ready(client); !ready) { std::cerr << ready.report; }
 *
 * Every function that can fail exists twice, as in <kinformer/kinformer.hpp>. Any thread. */
#ifndef KINFORMER_MONITOR_HPP
#define KINFORMER_MONITOR_HPP

#include <kinformer/checks.h>
#include <kinformer/kinformer.hpp>
#include <kinformer/metrics.h>

namespace ki
{

/** The metrics of a client; their Content-Type is ki_metrics_content_type(format). */
inline result<std::string> try_metrics(const client &of,
                                       ki_metrics_format format = KI_METRICS_PROMETHEUS)
{
    detail::buffer out;
    ki_error failure = KI_ERROR_INIT;
    int r = ki_client_write_metrics(of.get(), format, out.get(), &failure);
    if (r < 0) {
        return ki::error(r, failure);
    }
    return std::string(out.view());
}
inline std::string metrics(const client &of, ki_metrics_format format = KI_METRICS_PROMETHEUS)
{
    return try_metrics(of, format).value();
}

/** Includes a controller in the metrics and checks of a client. start(client) does this; only for
 *  controllers with other workers. */
inline result<void> try_monitor(client &in, controller &what)
{
    return detail::run(
        [&](ki_error *e) { return ki_client_monitor_controller(in.get(), what.get(), e); });
}
inline void monitor(client &in, controller &what)
{
    try_monitor(in, what).value();
}
/** Includes a work queue without a controller. */
inline result<void> try_monitor(client &in, const workqueue &what)
{
    return detail::run(
        [&](ki_error *e) { return ki_client_monitor_queue(in.get(), what.get(), e); });
}
inline void monitor(client &in, const workqueue &what)
{
    try_monitor(in, what).value();
}

/** The result of a check. */
struct checked {
    bool passed;
    std::string report; /* a line for each part that failed; with `verbose`, for all */

    explicit operator bool() const noexcept
    {
        return passed;
    }
};

namespace detail
{

template <typename Check> result<checked> check_with(Check &&check)
{
    buffer out;
    ki_error failure = KI_ERROR_INIT;
    int r = check(out.get(), &failure);
    if (r < 0) {
        return ki::error(r, failure);
    }
    return checked{r > 0, std::string(out.view())};
}

} // namespace detail

/** Whether no thread is stuck. If not, only a restart of the program helps. */
inline result<checked> try_check_live(const client &of, const ki_check_options *options = nullptr)
{
    return detail::check_with([&](ki_buf *report, ki_error *e) {
        return ki_client_check_live(of.get(), options, report, e);
    });
}
inline checked check_live(const client &of, const ki_check_options *options = nullptr)
{
    return try_check_live(of, options).value();
}
/** Whether every informer has synced with its handlers, is current, and within its limits. */
inline result<checked> try_check_ready(const client &of, const ki_check_options *options = nullptr)
{
    return detail::check_with([&](ki_buf *report, ki_error *e) {
        return ki_client_check_ready(of.get(), options, report, e);
    });
}
inline checked check_ready(const client &of, const ki_check_options *options = nullptr)
{
    return try_check_ready(of, options).value();
}

/** Sends READY, STATUS and WATCHDOG to systemd. False: there is no $NOTIFY_SOCKET. */
inline result<bool> try_notify_systemd(const client &of, const ki_check_options *options = nullptr)
{
    ki_error failure = KI_ERROR_INIT;
    int r = ki_client_notify_systemd(of.get(), options, &failure);
    if (r < 0) {
        return ki::error(r, failure);
    }
    return r > 0;
}
inline bool notify_systemd(const client &of, const ki_check_options *options = nullptr)
{
    return try_notify_systemd(of, options).value();
}

} // namespace ki

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor server (monitor_server.h) in C++: metrics, health checks and a page of the caches
 * over HTTP. Not part of <kinformer/kinformer.hpp>; link with kinformer-http.
 *
 *   ki::monitor_server monitor(client);
 *   std::cerr << monitor.url(); */
#ifndef KINFORMER_MONITOR_SERVER_HPP
#define KINFORMER_MONITOR_SERVER_HPP

#include <kinformer/kinformer.hpp>
#include <kinformer/monitor_server.h>

namespace ki
{

/** Serves while the client's loop runs. Declare it after the client: it must be released first. */
class monitor_server
    : public shared<ki_monitor_server, ki_monitor_server_ref, ki_monitor_server_unref>
{
  public:
    using shared::shared;

    explicit monitor_server(client &of, const ki_monitor_server_options *options = nullptr)
        : monitor_server(try_new(of, options).value())
    {
    }
    static result<monitor_server> try_new(client &of,
                                          const ki_monitor_server_options *options = nullptr)
    {
        return detail::make<monitor_server>([&](ki_monitor_server **ret, ki_error *e) {
            return ki_monitor_server_new(of.get(), options, ret, e);
        });
    }
    /** The address, such as "http://127.0.0.1:41234". */
    std::string_view url() const noexcept
    {
        return view(ki_monitor_server_url(get()));
    }
};

} // namespace ki

#endif

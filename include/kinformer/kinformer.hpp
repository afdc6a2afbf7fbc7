/* SPDX-License-Identifier: Apache-2.0 */
/* kinformer for C++17 and later: header only, on top of <kinformer/kinformer.h>, in namespace ki.
 *
 *   ki::client client;                                    configured as kubectl is
 *   auto pods = client.informer(KI_CORE_V1_PODS);
 *   pods.on_change([](const ki::change &c) { std::cout << c.name() << c.object().key(); });
 *   client.start();
 *
 * Handles. Every handle type has a class that releases it. ki::object, ki::informer, ki::workqueue
 * and others are copied by reference counting; ki::list, ki::json, ki::edit, ki::client and
 * ki::controller can only be moved. get() is the pointer for C functions, release() gives it up.
 * ki::object_ref and ki::value are borrowed: they are valid as long as the object is kept.
 *
 * Errors. Every member that can fail exists twice: x.list(...) throws ki::error, x.try_list(...)
 * returns ki::result. Constructors throw; they have a static try_ member too. Besides,
 * std::bad_alloc may be thrown where strings and functions are copied. With -fno-exceptions the
 * members that throw print the message to stderr and abort.
 *
 * Callbacks. No exception passes through the C library: each callback catches everything. What then
 * happens is documented at ki::handler, ki::controller, ki::index, ki::leader_options and
 * client.create_or_patch().
 * Functions are destroyed after their last call, on the thread that made it or ended the handler.
 *
 * Text is std::string_view, or anything that ki::text accepts. Options are the structs of the C
 * API: ki::options<ki_client_options>(). Thread safety is that of the C functions with the same
 * name.
 *
 * To include by name: <kinformer/leader.hpp>, recorder.hpp, consistency.hpp, monitor.hpp,
 * monitor_server.hpp, apiserver.hpp, and typed views, <kinformer/api/core_v1.hpp> and so on. */
#ifndef KINFORMER_KINFORMER_HPP
#define KINFORMER_KINFORMER_HPP

#include <kinformer/cpp/async.hpp>
#include <kinformer/cpp/base.hpp>
#include <kinformer/cpp/client.hpp>
#include <kinformer/cpp/controller.hpp>
#include <kinformer/cpp/error.hpp>
#include <kinformer/cpp/informer.hpp>
#include <kinformer/cpp/object.hpp>
#include <kinformer/cpp/store.hpp>
#include <kinformer/cpp/value.hpp>
#include <kinformer/cpp/workqueue.hpp>
#include <kinformer/cpp/write.hpp>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that an application needs. Its building blocks (engine, transport, source, reflector,
 * queues, transactions and others) are in <kinformer/parts/...>, for programs that assemble their
 * own informers.
 *
 * Conventions. The comment of a function, of its group, or at the head of its header states:
 *   Owner:   who owns a result, and how to release it.
 *   Thread:  "any": any thread, also several at once. "one-at-a-time": any thread, but not two at
 *            once on the same object; the caller must lock.
 *   Blocks:  whether it may wait for other threads or the system.
 *   Errors:  the codes it may return; see <kinformer/error.h>. Outputs (ret_x) are set on success
 *            only.
 *   Since:   the first release with it.
 *
 * Durations are in milliseconds; their names end in _ms. Points in time are nanoseconds of a clock
 * (clock.h); their names end in _ns. They are monotonic, or since 1970 where they become text in
 * objects (time.h). Times that are read from objects are seconds since 1970. Headers in parts/ have
 * durations in nanoseconds (_ns), too.
 *
 * A pointer may be NULL where stated, and wherever a `const ki_alloc *` (the default allocator) or
 * a `ki_error *` (no details) is passed. Functions that return int reject any other NULL with
 * -EINVAL, before anything else, and name it: "client: must not be NULL". */
#ifndef KINFORMER_KINFORMER_H
#define KINFORMER_KINFORMER_H

#include <kinformer/alloc.h>
#include <kinformer/buf.h>
#include <kinformer/builtin_resources.h>
#include <kinformer/client.h>
#include <kinformer/clock.h>
#include <kinformer/config.h>
#include <kinformer/controller.h>
#include <kinformer/defs.h>
#include <kinformer/diff.h>
#include <kinformer/discovery.h>
#include <kinformer/edit.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/handler.h>
#include <kinformer/health.h>
#include <kinformer/informer.h>
#include <kinformer/json.h>
#include <kinformer/key.h>
#include <kinformer/kinds.h>
#include <kinformer/list.h>
#include <kinformer/lister.h>
#include <kinformer/log.h>
#include <kinformer/loop.h>
#include <kinformer/merge.h>
#include <kinformer/object.h>
#include <kinformer/path.h>
#include <kinformer/queue_kind.h>
#include <kinformer/rate_limiter.h>
#include <kinformer/registration.h>
#include <kinformer/request.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/status.h>
#include <kinformer/store.h>
#include <kinformer/str.h>
#include <kinformer/time.h>
#include <kinformer/value.h>
#include <kinformer/version.h>
#include <kinformer/workqueue.h>
#include <kinformer/write.h>

#endif

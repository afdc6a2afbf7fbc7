/* SPDX-License-Identifier: Apache-2.0 */
/* What an application needs. The parts that it is made of (engine, transport, source, reflector,
 * queues, transactions and others) are in <kinformer/parts/...>, for programs that put their own
 * together.
 *
 * How to read the headers. The comment of a function, of the group it stands in, or at the head of
 * its header says:
 *   Owner:   whose a result is, and what releases it.
 *   Thread:  "any": any thread, also several at once. "one-at-a-time": any thread, but not two at
 *            once on the same thing; locking is the caller's.
 *   Blocks:  whether it may wait for others or for the system.
 *   Errors:  what it may return; see <kinformer/error.h>. Outputs (ret_x) are set on success only.
 *   Since:   the release that brought it.
 * A pointer may be NULL where this is said, and wherever a `const ki_alloc *` (the default
 * allocator) or a `ki_error *` (no details wanted) is passed. Functions that return int refuse any
 * other NULL with -EINVAL, before anything else, and name it: "client: must not be NULL". */
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

#endif

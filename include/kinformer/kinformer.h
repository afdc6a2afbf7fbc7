/* SPDX-License-Identifier: Apache-2.0 */
/* What most applications need: client, factory, informers, handlers, reading and writing objects,
 * work queue and controller. The headers are in three groups:
 *   <kinformer/kinformer.h>   this one, with all that it includes;
 *   <kinformer/NAME.h>        more for applications, to include by name: kinds.h (fields of common
 *                             kinds), index.h, path.h, config.h, discovery.h, health.h, worker.h
 *                             (own threads that take keys of a work queue) and others.
 *                             Where a header mentions another, as in "see path.h", and that is not
 *                             in the list below, include it by name;
 *   <kinformer/parts/...>     building blocks (engine, transport, source, reflector, queues,
 *                             transactions and others), for programs that assemble their own
 *                             informers.
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
 * objects (time.h). Times that are read from objects are seconds since 1970.
 *
 * Iteration. Lists and tables are read by number, from 0, with functions that end in _at, such as
 * ki_list_at(); after the last, they return NULL (or KI_ERR_NOT_FOUND). KI_LIST_FOR_EACH() is a
 * loop over a list. Everything else has an iterator: r = ki_value_iter_begin(&map, &iter); while (r
 * == 0 && ki_value_iter_next(&iter, &name, &value) > 0) ... The function that begins an iteration
 * fills the iterator, or returns it if it cannot fail. The one that ends in _iter_next returns 1
 * with the outputs set, 0 at the end, or an error. Only an iterator that holds something has a
 * function that ends in _iter_end.
 *
 * A pointer may be NULL where stated, and wherever a `const ki_alloc *` (the default allocator) or
 * a `ki_error *` (no details) is passed. Functions that return int reject any other NULL with
 * -EINVAL, before anything else, and name it: "client: must not be NULL". */
#ifndef KINFORMER_KINFORMER_H
#define KINFORMER_KINFORMER_H

#include <kinformer/builtin_resources.h>
#include <kinformer/client.h>
#include <kinformer/controller.h>
#include <kinformer/defs.h>
#include <kinformer/edit.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/handler.h>
#include <kinformer/informer.h>
#include <kinformer/json.h>
#include <kinformer/key.h>
#include <kinformer/list.h>
#include <kinformer/lister.h>
#include <kinformer/log.h>
#include <kinformer/object.h>
#include <kinformer/queue_kind.h>
#include <kinformer/request.h>
#include <kinformer/resource.h>
#include <kinformer/selector.h>
#include <kinformer/store.h>
#include <kinformer/str.h>
#include <kinformer/value.h>
#include <kinformer/version.h>
#include <kinformer/workqueue.h>
#include <kinformer/write.h>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Help for tests of the work queue. */
#ifndef TESTS_SUPPORT_WORKQUEUE_H
#define TESTS_SUPPORT_WORKQUEUE_H

#include <kinformer/worker.h>
#include <kinformer/workqueue.h>

#include "workqueue/workqueue_state.h"

/** What must hold between any two calls: every known key is in exactly one state, in the place that
 *  belongs to it and in no other; the counts are right; and there is room to delay every key. */
void wq_check(ki_workqueue *queue);

ki_workqueue_stats wq_stats(ki_workqueue *queue);

/* Short forms that fail the test if the call does. */
int wq_add(ki_workqueue *queue, const char *key);
/** In nanoseconds. */
int wq_add_after(ki_workqueue *queue, const char *key, uint64_t delay_ns);
int wq_add_rate_limited(ki_workqueue *queue, const char *key);
/** Takes a key, which must be there and be this one. */
ki_work wq_take(ki_workqueue *queue, const char *key);
/** There is no key to get. */
void wq_take_none(ki_workqueue *queue);

#endif

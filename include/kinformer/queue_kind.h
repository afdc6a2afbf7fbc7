/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of delta queues for informers; the queues are in <kinformer/parts/queue.h>. */
#ifndef KINFORMER_QUEUE_KIND_H
#define KINFORMER_QUEUE_KIND_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

/** The order in which deltas wait between the reflector and the store. */
typedef enum ki_queue_kind {
    KI_QUEUE_FIFO,       /* in order of arrival, the default; see ki_fifo_new() */
    KI_QUEUE_DELTA_FIFO, /* grouped by key; see ki_delta_fifo_new() */
    KI_QUEUE_KIND_MAX
} ki_queue_kind;

KI_END_DECLS

#endif

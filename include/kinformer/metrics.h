/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a client in the text formats of Prometheus and OpenMetrics. Not part of
 * <kinformer/kinformer.h>.
 *
 *   ki_buf text;
 *   ki_buf_init(&text, NULL, 16 << 20);
 *   r = ki_client_write_metrics(client, KI_METRICS_PROMETHEUS, &text, &error);
 *
 * Included are the requests of the client, the informers of its loop with their handlers, its
 * leader elections and event recorders, and the controllers that were started with the client with
 * their work queues. Those of another client on the same loop are not included, nor are informers
 * that have stopped.
 *
 * Names, types and labels are those of client-go and controller-runtime where the meaning is the
 * same; all others begin with "kinformer_". docs/metrics.md describes each of them.
 * Thread: any, for every function here. */
#ifndef KINFORMER_METRICS_H
#define KINFORMER_METRICS_H

#include <kinformer/buf.h>
#include <kinformer/client.h>
#include <kinformer/controller.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/workqueue.h>

KI_BEGIN_DECLS

typedef enum ki_metrics_format {
    KI_METRICS_PROMETHEUS,  /* the Prometheus text format, version 0.0.4 */
    KI_METRICS_OPENMETRICS, /* OpenMetrics, version 1.0.0 */
    KI_METRICS_FORMAT_MAX
} ki_metrics_format;

/** Returns the Content-Type of an HTTP response with metrics; "" for any other number.
 *  Owner: static text.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_metrics_content_type(ki_metrics_format format);

/** Appends the metrics of a client. `out` needs about 10 KB for each informer. Objects with the
 *  same name get a number, such as "pods#2", so that every series is unique.
 *  Blocks: no.
 *  Errors: -EINVAL  unknown format;  KI_ERR_LIMIT  the maximum size of `out`;  -ENOMEM. After an
 *          error `out` has its previous content.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_write_metrics(ki_client *client, ki_metrics_format format,
                                                ki_buf *out, ki_error *error);

/** Includes a controller in the metrics and checks of a client, with its queue, until either ends.
 *  ki_controller_start() does this. For controllers whose workers are threads of the program.
 *  Times of the queue are measured from then on.
 *  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it is already included in those of a client.  Since: 0.1 */
KI_API KI_NODISCARD int ki_client_monitor_controller(ki_client *client, ki_controller *controller,
                                                     ki_error *error);

/** Includes a work queue without a controller in the metrics and checks of a client, until either
 *  ends. Times of the queue are measured from then on.
 *  Blocks: no.
 *  Errors: KI_ERR_EXISTS  it is already included in those of a client.  Since: 0.1 */
KI_API KI_NODISCARD int ki_client_monitor_queue(ki_client *client, ki_workqueue *queue,
                                                ki_error *error);

KI_END_DECLS

#endif

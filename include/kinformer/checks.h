/* SPDX-License-Identifier: Apache-2.0 */
/* Liveness and readiness of a client's informers and controllers, and systemd's notifications. Not
 * part of <kinformer/kinformer.h>.
 *
 * Live: threads are not stuck. If a client is not live, only a restart of the program helps.
 * Ready: every informer has synced with its handlers, is current, and within its limits. A client
 * that is not ready usually recovers when the API server is reachable again.
 * Thread: any, for every function here. */
#ifndef KINFORMER_CHECKS_H
#define KINFORMER_CHECKS_H

#include <kinformer/buf.h>
#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>

KI_BEGIN_DECLS

typedef struct ki_check_options {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Ready: an informer is stale if it has received nothing from its source for this long. API
     *  servers send bookmarks about every minute. 0: 180,000; UINT32_MAX: never. */
    uint32_t stale_ms;
    /** Live: a handler is stuck if a callback has not returned for this long. This is measured from
     *  the first check or metrics that found it running. 0: 300,000; UINT32_MAX: never. */
    uint32_t handler_stuck_ms;
    /** Live: a controller is stuck if `reconcile` has not returned for this long.
     *  0: 600,000; UINT32_MAX: never. */
    uint32_t worker_stuck_ms;
    /** Live: the loop is stuck if a timer is overdue by this much. 0: 60,000; UINT32_MAX: never. */
    uint32_t loop_stuck_ms;
    /** Ready: the oldest event of a handler may wait this long. 0 or UINT32_MAX: any time. */
    uint32_t handler_lag_ms;
    /** Ready: memory of the objects that all informers of the client hold together, in caches and
     *  queues. 0: no limit. */
    uint64_t max_bytes;
    bool verbose; /* report what passed, too */
} ki_check_options;

/** Checks whether a client is live: returns 1, or 0 if not. Appends a line for each part that
 *  failed to `report` (may be NULL), such as
 *    [-]handler pods/audit: callback running for 312 s (limit 300 s)
 *  and with `verbose` also for those that passed: "[+]handler pods/audit". `options` may be NULL.
 *  Blocks: no.
 *  Errors: KI_ERR_LIMIT  the maximum size of `report`;  -ENOMEM, -E2BIG. After an error `report`
 *          has its previous content.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_check_live(ki_client *client, const ki_check_options *options,
                                             ki_buf *report, ki_error *error);

/** Checks whether a client is ready: returns 1, or 0 if not. As ki_client_check_live(), with lines
 *  such as
 *    [-]informer pods: no data for 240 s (limit 180 s): watch failed: connection refused
 *  A client without informers is ready.  Since: 0.1 */
KI_API KI_NODISCARD int ki_client_check_ready(ki_client *client, const ki_check_options *options,
                                              ki_buf *report, ki_error *error);

/** Notifies systemd, for services of `Type=notify` and with `WatchdogSec=`: READY=1 if the client
 *  is ready, STATUS= with the number of informers or the first reason of a failure, and WATCHDOG=1
 *  if the client is live. Call it regularly, more often than half of `WatchdogSec=`. Returns 1, or
 *  0 without $NOTIFY_SOCKET. Does not need libsystemd. `options` may be NULL.
 *  Thread: any; reads the environment, so no other thread may change it.  Blocks: no.
 *  Errors: -errno  the datagram cannot be sent;  as ki_client_check_live().
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_notify_systemd(ki_client *client, const ki_check_options *options,
                                                 ki_error *error);

KI_END_DECLS

#endif

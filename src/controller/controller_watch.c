/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a controller besides its workers: informers that fill its queue, statistics. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "controller/consistency.h"
#include "controller/controller.h"

ki_workqueue *ki_controller_queue(const ki_controller *controller)
{
    return controller != NULL ? controller->options.queue : NULL;
}

/* An informer may be watched twice, for example for two owners. */
static int add_to_consistency(const ki_controller *controller, ki_informer *informer,
                              ki_error *error)
{
    ki_error failure = KI_ERROR_INIT;
    if (controller->options.consistency == NULL) {
        return 0;
    }
    int r = ki_consistency_add_informer(controller->options.consistency, informer, &failure);
    if (r == KI_ERR_EXISTS || r == KI_ERR_UNSUPPORTED) {
        return r == KI_ERR_EXISTS;
    }
    if (r < 0 && error != NULL) {
        ki__error_copy(error, &failure);
    }
    return r < 0 ? r : 1;
}

static void remember(ki_controller *controller, ki__watched *watched, ki_informer *informer)
{
    watched->informer = ki_informer_ref(informer);
    ki__watched *head = atomic_load(&controller->watched);
    do {
        watched->next = head;
    } while (!atomic_compare_exchange_weak(&controller->watched, &head, watched));
}

int ki_controller_watch(ki_controller *controller, ki_informer *informer,
                        const ki_enqueue_options *options, ki_error *error)
{
    KI__REQUIRE(controller, error);
    KI__REQUIRE(informer, error);
    KI__REQUIRE_OWN(controller->process, error);
    const ki_alloc *alloc = controller->options.alloc;
    ki__watched *watched = ki__alloc_zero(alloc, sizeof(*watched));
    if (watched == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    int recorded = add_to_consistency(controller, informer, error);
    int r = recorded < 0 ? recorded
                         : ki_informer_enqueue(informer, controller->options.queue, options, error);
    if (r >= 0 && recorded > 0) {
        remember(controller, watched, informer);
    } else {
        ki__free(alloc, watched);
    }
    return r < 0 ? r : 0;
}

void ki__controller_unwatch(ki_controller *controller)
{
    ki__watched *watched = atomic_load(&controller->watched);
    while (watched != NULL) {
        ki__watched *next = watched->next;
        (void)ki_informer_unref(watched->informer);
        ki__free(controller->options.alloc, watched);
        watched = next;
    }
}

int ki_controller_get_stats(const ki_controller *controller, ki_controller_stats *ret_stats)
{
    KI__REQUIRE(controller, NULL);
    KI__REQUIRE_SIZED(ki_controller_stats, ret_stats, NULL);
    const ki__controller_stats *stats = &controller->stats;
    const ki_controller_stats now = {
        .size = sizeof(now),
        .succeeded = ki__counter_read(&stats->results[KI__RECONCILE_SUCCESS]) +
                     ki__counter_read(&stats->results[KI__RECONCILE_REQUEUE_AFTER]),
        .requeued = ki__counter_read(&stats->results[KI__RECONCILE_REQUEUE_AFTER]),
        .failed = ki__counter_read(&stats->results[KI__RECONCILE_ERROR]),
        .given_up = ki__counter_read(&stats->given_up),
        .timeouts = ki__counter_read(&stats->timeouts),
        .active = ki__counter_read(&stats->active),
        .workers = ki__counter_read(&stats->workers),
    };
    return KI__GIVE(ki_controller_stats, ret_stats, &now);
}

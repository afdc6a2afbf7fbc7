/* SPDX-License-Identifier: Apache-2.0 */
/* Periodic measurements of an informer. */
#include "cli/gauge.h"

#include <kinformer/encoding.h>
#include <kinformer/packed.h>
#include <kinformer/storage.h>

#include "cli/command_loop.h"

void cli_gauge_measure(cli_gauge *gauge, const ki_health *health)
{
    uint64_t now = cli_now_ns();
    uint64_t passed = now - gauge->time_ns;
    if (gauge->time_ns != 0 && passed != 0) {
        gauge->rate =
            (double)(health->events - gauge->events) * (double)CLI_SECOND_NS / (double)passed;
    }
    gauge->events = health->events;
    gauge->time_ns = now;
}

uint64_t cli_gauge_bytes(const cli_target *target)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(target->informer));
    ki_snapshot_iter iter = ki_snapshot_iter_begin(snapshot);
    const ki_object *object;
    uint64_t bytes = 0;
    while (ki_snapshot_iter_next(&iter, &object) > 0) {
        ki_object *plain = NULL;
        if (ki_object_unpack(object, &plain, NULL) == 0) {
            bytes += ki_object_bytes(plain).len;
        }
        (void)ki_object_unref(plain);
    }
    (void)ki_snapshot_unref(snapshot);
    return bytes;
}

uint64_t cli_gauge_objects(const ki_health *health)
{
    return health->synced ? health->objects : health->arrived;
}

cli_color cli_gauge_color(const ki_health *health)
{
    if (health->over_limit) {
        return CLI_COLOR_RED;
    }
    switch (health->state) {
    case KI_REFLECTOR_WATCHING:
        return health->accepted ? CLI_COLOR_GREEN : CLI_COLOR_YELLOW;
    case KI_REFLECTOR_BACKOFF:
    case KI_REFLECTOR_STOPPED:
        return CLI_COLOR_RED;
    case KI_REFLECTOR_NEW:
    case KI_REFLECTOR_STREAMING:
    case KI_REFLECTOR_LISTING:
    case KI_REFLECTOR_STATE_MAX:
        break;
    }
    return CLI_COLOR_YELLOW;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential backoff as in client-go's reflector: 0.8 s, 1.6 s, ... 25.6 s, 30 s, each plus up to
 * 100% jitter. The sequence restarts after two minutes without a backoff. Since 0.36 client-go
 * restarts it two minutes after the last restart, even if every attempt fails; the older behaviour
 * is kept because it is gentler to an overloaded server. */
#include "base/backoff.h"

#include "base/time_units.h"

/* Keeps doubling and deadlines from overflowing. */
#define LONGEST_NS (UINT64_C(1) << 60)

static uint64_t or_default(uint64_t given, uint64_t otherwise)
{
    uint64_t ns = given != 0 ? given : otherwise;
    return ns < LONGEST_NS ? ns : LONGEST_NS;
}

void ki__backoff_init(ki__backoff *backoff, uint64_t initial_ns, uint64_t max_ns, uint64_t reset_ns)
{
    *backoff = (ki__backoff){
        .initial_ns = or_default(initial_ns, KI__BACKOFF_INITIAL_NS),
        .max_ns = or_default(max_ns, KI__BACKOFF_MAX_NS),
        .reset_ns = or_default(reset_ns, KI__BACKOFF_RESET_NS),
    };
    if (backoff->max_ns < backoff->initial_ns) {
        backoff->max_ns = backoff->initial_ns;
    }
    backoff->step_ns = backoff->initial_ns;
}

uint64_t ki__backoff_next(ki__backoff *backoff, ki_engine *engine)
{
    uint64_t now = ki__engine_now(engine);
    if (backoff->used && now - backoff->last_ns > backoff->reset_ns) {
        backoff->step_ns = backoff->initial_ns;
    }
    backoff->used = true;
    backoff->last_ns = now;
    uint64_t step = backoff->step_ns;
    backoff->step_ns = step < backoff->max_ns / 2 ? step * 2 : backoff->max_ns;
    return step + ki__engine_random(engine, step);
}

void ki__backoff_reset(ki__backoff *backoff)
{
    backoff->step_ns = backoff->initial_ns;
}

uint64_t ki__backoff_requested(ki_engine *engine, uint32_t ms)
{
    ms = ms < KI__RETRY_AFTER_MAX_MS ? ms : KI__RETRY_AFTER_MAX_MS;
    uint64_t ns = ki__ms_to_ns(ms);
    return ns != 0 ? ns + ki__engine_random(engine, ns / 4) : 0;
}

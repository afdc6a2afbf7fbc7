/* SPDX-License-Identifier: Apache-2.0 */
/* The retry policy. */
#include "rest/retry.h"

#include <errno.h>

#include "base/backoff.h"

enum { RETRIES_MAX = 10 };

/* At least a second: ten requests without a pause do not help an overloaded server. */
static bool decide(ki__retry *retry, ki_engine *engine, uint32_t after_s, uint64_t *ret_delay_ns)
{
    bool too_long = retry->longest_s != 0 && after_s > retry->longest_s;
    if (retry->kind == KI__RETRY_NEVER || retry->count >= RETRIES_MAX || too_long) {
        return false;
    }
    uint64_t delay = ki__backoff_requested(engine, ki__seconds_to_ms(after_s != 0 ? after_s : 1));
    uint64_t now = ki__engine_now(engine);
    if (retry->deadline <= now || retry->deadline - now <= delay) {
        return false;
    }
    retry->count++;
    *ret_delay_ns = delay;
    return true;
}

bool ki__retry_response(ki__retry *retry, ki_engine *engine, const ki__http_head *head,
                        uint64_t *ret_delay_ns)
{
    bool refused = head->status == 429 || head->status >= 500;
    retry->status = head->status;
    return refused && head->has_retry_after &&
           decide(retry, engine, head->retry_after_s, ret_delay_ns);
}

/* -EPIPE is a probable EOF in Go's terms. */
static bool is_worth_another(ki__retry_kind kind, int code)
{
    switch (kind) {
    case KI__RETRY_READ:
        return code == -EPIPE || code == -ECONNRESET || code == -ECONNABORTED;
    case KI__RETRY_WATCH:
        return code == -EPIPE || code == -ETIMEDOUT;
    case KI__RETRY_WRITE:
    case KI__RETRY_NEVER:
        break;
    }
    return false;
}

bool ki__retry_failure(ki__retry *retry, ki_engine *engine, int code, uint64_t *ret_delay_ns)
{
    retry->status = 0;
    return is_worth_another(retry->kind, code) && decide(retry, engine, 1, ret_delay_ns);
}

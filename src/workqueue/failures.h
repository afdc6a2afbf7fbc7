/* SPDX-License-Identifier: Apache-2.0 */
/* Failure counts by key, for limiters. Bounded: beyond max_keys the least recently failed key is
 * dropped. Any thread. */
#ifndef KI_WORKQUEUE_FAILURES_H
#define KI_WORKQUEUE_FAILURES_H

#include "base/list.h"
#include "base/map.h"
#include "base/sync.h"

typedef struct ki__failures {
    ki__mutex lock;
    ki__map keys;    /* of entries */
    ki__list oldest; /* all entries, the least recently failed first */
} ki__failures;

/** 0 or -errno. */
int ki__failures_init(ki__failures *failures, const ki_alloc *alloc, const ki_random *random,
                      size_t max_keys);
void ki__failures_done(ki__failures *failures);

/** Counts a failure and returns the previous number of failures. UINT32_MAX, which is also the
 *  limit of the counter, if out of memory. */
uint32_t ki__failures_add(ki__failures *failures, ki_str key);
uint32_t ki__failures_get(ki__failures *failures, ki_str key);
void ki__failures_forget(ki__failures *failures, ki_str key);

#endif

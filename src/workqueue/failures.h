/* SPDX-License-Identifier: Apache-2.0 */
/* Failure counts by key, for limiters. Bounded: beyond max_keys the key that failed longest ago is
 * dropped. Any thread. */
#ifndef KI_WORKQUEUE_FAILURES_H
#define KI_WORKQUEUE_FAILURES_H

#include "base/list.h"
#include "base/map.h"
#include "base/sync.h"

typedef struct ki__failures {
    ki__mutex lock;
    ki__map keys;    /* of entries */
    ki__list oldest; /* all entries, the one that failed longest ago first */
} ki__failures;

/** 0 or -errno. */
int ki__failures_init(ki__failures *failures, const ki_alloc *alloc, const ki_random *random,
                      size_t max_keys);
void ki__failures_done(ki__failures *failures);

/** How often the key has failed before; this is one more. UINT32_MAX if there is no memory to count
 *  it, which is also where counting ends. */
uint32_t ki__failures_add(ki__failures *failures, ki_str key);
uint32_t ki__failures_get(ki__failures *failures, ki_str key);
void ki__failures_forget(ki__failures *failures, ki_str key);

#endif

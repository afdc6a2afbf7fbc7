/* SPDX-License-Identifier: Apache-2.0 */
/* The discovery cache of a client: a caller gets the cached result if it is recent enough, or waits
 * for one discovery together with all other callers. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_CACHE_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_CACHE_H

#include "base/engine.h"
#include "base/list.h"
#include "base/sync.h"
#include "client/discovery/discovery_fetch.h"

typedef struct ki__discovery_cache {
    ki_engine *engine; /* borrowed, like the requester: all of them belong to the client */
    ki__discovery_requester requester;
    ki__task task;

    /* Inside the loop only. */
    ki__discovery_fetch *fetch; /* in progress */
    uint64_t began;             /* its start time */
    ki__list serving;           /* waiters to be notified next */

    /* Protected by the lock. */
    ki__mutex lock;
    ki_discovery *known;  /* NULL: nothing yet */
    uint64_t known_since; /* start of its discovery: it is no newer than that */
    ki__list waiting;
    bool stopped; /* new waiters are rejected */
} ki__discovery_cache;

/** An empty cache. 0 or -errno. */
int ki__discovery_cache_init(ki__discovery_cache *cache, ki_engine *engine,
                             const ki__discovery_requester *requester);
/** Inside the loop, without waiters. A zeroed cache is allowed. */
void ki__discovery_cache_done(ki__discovery_cache *cache);

/** The cached result, if its discovery started at `since` (monotonic time of the engine) or later;
 *  otherwise NULL. The caller releases it. Any thread. */
ki_discovery *ki__discovery_cache_known(ki__discovery_cache *cache, uint64_t since);

/** Calls `on_done` inside the loop with a result of that time or later, or with an error. With
 *  `hold` the requester is referenced until then; without, the caller must hold a reference, and
 *  may drop it once notified. Any thread. -ENOMEM, KI_ERR_STOPPED. */
int ki__discovery_cache_request(ki__discovery_cache *cache, uint64_t since, bool hold,
                                ki__discovery_done on_done, void *user);

/** Cancels all callbacks with this `user`. Ends the discovery if there are no other waiters. Inside
 *  the loop; the caller holds the requester. */
void ki__discovery_cache_withdraw(ki__discovery_cache *cache, const void *user);

/** Ends the discovery in progress, and rejects later calls with KI_ERR_STOPPED. Whether there are
 *  waiters: ki__discovery_cache_notify() then delivers the error to them. Inside the loop, but not
 *  inside a callback; the caller holds the requester, if a request is in progress. */
bool ki__discovery_cache_close(ki__discovery_cache *cache, const ki_error *error);
/** The cache may be gone afterwards. */
void ki__discovery_cache_notify(ki__discovery_cache *cache);

#endif

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
    ki_engine *engine; /* not counted, like the asker: they are of the client, as this is */
    ki__discovery_asker asker;
    ki__task task;

    /* Inside the loop only. */
    ki__discovery_fetch *fetch; /* what is under way */
    uint64_t began;             /* when that was */
    ki__list serving;           /* waiters that are notified next */

    /* With the lock held. */
    ki__mutex lock;
    ki_discovery *known;  /* NULL: nothing yet */
    uint64_t known_since; /* when its reading began: it is no newer than that */
    ki__list waiting;
    bool stopped; /* nobody is put in line any more */
} ki__discovery_cache;

/** An empty cache. 0 or -errno. */
int ki__discovery_cache_init(ki__discovery_cache *cache, ki_engine *engine,
                             const ki__discovery_asker *asker);
/** Inside the loop, while nobody waits. Fine for one that is zeroed. */
void ki__discovery_cache_done(ki__discovery_cache *cache);

/** What is known, if its reading began at `since` (monotonic time of the engine) or later; else
 *  NULL. The caller's to release. Any thread. */
ki_discovery *ki__discovery_cache_known(ki__discovery_cache *cache, uint64_t since);

/** Has `told` called inside the loop with what is known or read since then, or with an error. With
 *  `hold` the asker is held until then; without, the caller does so, and may let go as soon as he
 * is told. Any thread. -ENOMEM, KI_ERR_STOPPED. */
int ki__discovery_cache_ask(ki__discovery_cache *cache, uint64_t since, bool hold,
                            ki__discovery_told told, void *user);

/** Has nothing called any more for those who asked with this `user`. What is read for nobody else
 *  ends. Inside the loop; the caller holds the asker. */
void ki__discovery_cache_withdraw(ki__discovery_cache *cache, const void *user);

/** Ends what is read, and refuses those who ask later with KI_ERR_STOPPED. Whether somebody waits:
 *  ki__discovery_cache_tell() then gives them the error. Inside the loop, but not inside a
 *  callback; the caller holds the asker, if a request is under way. */
bool ki__discovery_cache_close(ki__discovery_cache *cache, const ki_error *error);
/** The cache may be gone after it. */
void ki__discovery_cache_tell(ki__discovery_cache *cache);

#endif

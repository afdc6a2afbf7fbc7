/* SPDX-License-Identifier: Apache-2.0 */
/* The client, for the files that make requests with it. Except for its calls and the discovery
 * cache, it does not change after it was created. */
#ifndef KI_CLIENT_CLIENT_H
#define KI_CLIENT_CLIENT_H

#include <sys/types.h>

#include <kinformer/client.h>

#include "base/list.h"
#include "base/refs.h"
#include "base/sync.h"
#include "client/auth/credentials.h"
#include "client/curl/curl_transport.h"
#include "client/discovery/discovery_cache.h"
#include "loop/loop.h"
#include "rest/throttle.h"

#define KI__STOPPED_BEFORE_ANSWER "the loop was stopped before the response arrived"

/* Calls under way. Tasks of calls are posted with the lock held; otherwise it is never held while
 * something is called. */
typedef struct ki__calls {
    ki__mutex lock;
    ki__list list; /* from their start until they end, which is inside the loop */
    bool stopped;  /* the loop was, and has ended them: there are no new ones */
} ki__calls;

/* Two counts: `users` are the references of the program; with the last of them the client's
 * informers stop. `parts` are the things that need its memory: the users together, and whatever
 * uses the transport or the loop, such as those informers until they have stopped. */
struct ki_client {
    ki__refs users;
    ki__refs parts;
    const ki_alloc *alloc;
    const ki_config *config;
    ki_loop *loop;
    bool own_loop;       /* which ends with the client */
    ki_engine *engine;   /* of the loop */
    pid_t pid;           /* of who made it: a child of fork() only lets go */
    uint32_t timeout_ms; /* of requests that name none */

    ki__mutex lock;
    ki_factory *factory; /* of the client's informers, from the first on; with the lock held */

    ki__discovery_cache discovery; /* what the server has */
    ki__calls calls;
    ki__stop_hook stop_hook;

    /* Inside the loop only. */
    ki__credentials *credentials;
    ki__curl *curl;
    ki__throttle *throttle;
    ki_transport transport; /* of `curl`, with the throttle and the references of the client */
};

/** One more that needs the client's memory; the last one to let go frees it. */
void ki__client_hold(ki_client *client);
void ki__client_release(ki_client *client);

/** Stops the client's informers: nobody can ask for one any more. */
void ki__client_stop_informers(ki_client *client);

/** Prepares `discovery`; that ends with ki__discovery_cache_done(). 0 or -errno. */
int ki__client_init_discovery(ki_client *client);

#endif

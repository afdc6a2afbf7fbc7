/* SPDX-License-Identifier: Apache-2.0 */
/* The client, for the files that make requests. Immutable after creation, except for its calls and
 * the discovery cache. */
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
#include "rest/request_stats.h"
#include "rest/throttle.h"

#define KI__STOPPED_BEFORE_RESPONSE "the loop was stopped before the response arrived"

/* Pending calls. Their tasks are posted with the lock held; otherwise it is never held across
 * calls. */
typedef struct ki__calls {
    ki__mutex lock;
    ki__list list; /* from start to end; they end inside the loop */
    bool stopped;  /* the loop was stopped and has ended all calls: no new ones */
} ki__calls;

/* Two counts: `users` are the references of the program; dropping the last one stops the client's
 * informers. `parts` keep the memory alive: one for all users together, and one for each user of
 * the transport or the loop, such as those informers until they have stopped. */
struct ki_client {
    ki__refs users;
    ki__refs parts;
    const ki_alloc *alloc;
    const ki_config *config;
    ki_loop *loop;
    bool own_loop;       /* it ends with the client */
    ki_engine *engine;   /* of the loop */
    pid_t pid;           /* of the creating process: a child of fork() only drops references */
    uint32_t timeout_ms; /* of requests without a timeout */

    ki__mutex lock;
    ki_factory *factory; /* of the client's informers; protected by the lock */

    ki__discovery_cache discovery; /* resources of the server */
    ki__calls calls;
    ki__stop_hook stop_hook;

    /* Inside the loop only. */
    ki__credentials *credentials;
    ki__curl *curl;
    ki__throttle *throttle;
    ki__request_stats stats; /* of `curl`; read by any thread */
    ki_transport transport;  /* of `curl`, with rate limit and references of the client */
};

/** Takes a reference to the client's memory; the last release frees it. */
void ki__client_hold(ki_client *client);
void ki__client_release(ki_client *client);

/** Stops the client's informers: no further ones can be created. */
void ki__client_stop_informers(ki_client *client);

/** Initializes `discovery`; release with ki__discovery_cache_done(). 0 or -errno. */
int ki__client_init_discovery(ki_client *client);

#endif

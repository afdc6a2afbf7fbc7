/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches all resources of a server: /api and /apis, and each group version if those are
 * incomplete. Inside the loop only. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_FETCH_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_FETCH_H

#include <kinformer/call.h>
#include <kinformer/discovery.h>
#include <kinformer/log.h>
#include <kinformer/request.h>

enum { KI__DISCOVERY_PARALLEL = 8 }; /* maximum number of concurrent group version requests */

/** The requester: the client, or a test. */
typedef struct ki__discovery_requester {
    /** Starts GET of a path; `done` receives the response, as with ki_client_call(), and never
     *  synchronously. With `at_once` the rate limit does not apply. */
    int (*get)(const char *path, const char *accept, bool at_once, ki_call_done done,
               void *done_user, void *user, ki_call **ret_call, ki_error *error);
    /** Releases a call: inside its `done`, or before, in which case `done` is not called. */
    void (*end)(ki_call *call, bool is_done, void *user);
    /** Takes and drops a reference to the requester; any thread. */
    void (*ref)(void *user);
    void (*unref)(void *user);
    void *user;
} ki__discovery_requester;

typedef struct ki__discovery_fetch ki__discovery_fetch;

/** Receives the result once: the discovery (borrowed) or an error; never from inside
 *  ki__discovery_fetch_start(). The fetch has been freed then. */
typedef void (*ki__discovery_done)(const ki_discovery *discovery, const ki_error *error,
                                   void *user);

/** `log` may be NULL. Errors: -ENOMEM, and those of `get`. */
int ki__discovery_fetch_start(const ki_alloc *alloc, const ki_log *log,
                              const ki__discovery_requester *requester, ki__discovery_done on_done,
                              void *user, ki__discovery_fetch **ret_fetch, ki_error *error);

/** Ends it without a callback. NULL is allowed. */
void ki__discovery_fetch_end(ki__discovery_fetch *fetch);

#endif

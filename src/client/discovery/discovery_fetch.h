/* SPDX-License-Identifier: Apache-2.0 */
/* Requests all resources of a server: /api and /apis, and if those are incomplete, each group
 * version. Inside the loop only. */
#ifndef KI_CLIENT_DISCOVERY_DISCOVERY_FETCH_H
#define KI_CLIENT_DISCOVERY_DISCOVERY_FETCH_H

#include <kinformer/discovery.h>
#include <kinformer/log.h>
#include <kinformer/request.h>

enum { KI__DISCOVERY_PARALLEL = 8 }; /* group versions that are requested at once, at most */

/** Who asks: the client, or a test. */
typedef struct ki__discovery_asker {
    /** Starts GET of a path; `done` receives the response, as with ki_client_call(), and not from
     *  inside this. With `at_once` the rate limit does not delay it. */
    int (*get)(const char *path, const char *accept, bool at_once, ki_call_done done,
               void *done_user, void *user, ki_call **ret_call, ki_error *error);
    /** Releases a call: inside its `done`, or before, and then that is not called any more. */
    void (*end)(ki_call *call, bool is_done, void *user);
    /** One more who needs the asker, and one less; on any thread. */
    void (*ref)(void *user);
    void (*unref)(void *user);
    void *user;
} ki__discovery_asker;

typedef struct ki__discovery_fetch ki__discovery_fetch;

/** Hears once what the server has (borrowed) or why that is not known; not from inside
 *  ki__discovery_fetch_start(). The fetch is gone then. */
typedef void (*ki__discovery_told)(const ki_discovery *discovery, const ki_error *error,
                                   void *user);

/** `log` may be NULL. Errors: -ENOMEM, and those of `get`. */
int ki__discovery_fetch_start(const ki_alloc *alloc, const ki_log *log,
                              const ki__discovery_asker *asker, ki__discovery_told told, void *user,
                              ki__discovery_fetch **ret_fetch, ki_error *error);

/** Ends it without a word. NULL is allowed. */
void ki__discovery_fetch_end(ki__discovery_fetch *fetch);

#endif

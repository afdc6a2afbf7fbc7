/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a client: a request (rest/request_call.h) shared between threads. */
#ifndef KI_CLIENT_REQUEST_H
#define KI_CLIENT_REQUEST_H

#include <stdatomic.h>

#include <kinformer/request.h>

#include "base/engine.h"
#include "base/refs.h"
#include "client/client.h"
#include "controller/leader.h"
#include "rest/request_call.h"

struct ki_call {
    ki__refs refs; /* users, itself until it ends, and the task while posted */
    ki_client *client;
    ki_call_done done; /* NULL: the response is kept here for waiters */
    void *user;
    ki__task task; /* posted only while the call is in the client's list */
    ki__list link; /* of client->calls */
    atomic_bool cancelled;
    atomic_bool over; /* no further callbacks */
    bool at_once;     /* not subject to the rate limit */
    ki_leader *fence; /* sent only while it leads in `term`; held; or NULL */
    int64_t term;

    ki__request_call request; /* inside the loop only */

    /* The kept result; readable once `ended`. */
    atomic_bool ended;
    int result;
    ki_response response;
    ki_error error;
};

/** As ki_client_call(); `done` may be NULL, then *ret_call keeps the response. With `at_once` it
 *  bypasses the rate limit. */
int ki__call_start(ki_client *client, const ki_request *request, bool at_once, ki_call_done done,
                   void *user, ki_call **ret_call, ki_error *error);

/** Makes at most five attempts, with a pause between them, until one succeeds or fails permanently.
 *  Otherwise as ki_client_retry_on_conflict(). */
int ki__client_retry(ki_client *client, int (*attempt)(void *user, ki_error *error),
                     bool (*again)(const ki_error *failure, void *user), void *user,
                     ki_error *error);

/** Rejects new calls. Whether any are in progress. */
bool ki__calls_close(ki_client *client);
/** Ends them with KI_ERR_STOPPED; there must be at least one. Inside the loop, but not inside a
 *  callback of a call. The client may be gone afterwards. */
void ki__calls_stop(ki_client *client);

/** Ends a call without a callback, inside the loop but not inside a callback of its own. The caller
 *  holds a reference. */
void ki__call_drop(void *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a client: a request (rest/request_call.h) that is shared between threads. */
#ifndef KI_CLIENT_REQUEST_H
#define KI_CLIENT_REQUEST_H

#include <stdatomic.h>

#include <kinformer/request.h>

#include "base/engine.h"
#include "base/refs.h"
#include "client/client.h"
#include "rest/request_call.h"

struct ki_call {
    ki__refs refs; /* users, itself until it is over, and the task while it is posted */
    ki_client *client;
    ki_call_done done; /* NULL: the answer is kept here for waiters */
    void *user;
    ki__task task; /* posted only while the call is in the client's list */
    ki__list link; /* of client->calls */
    atomic_bool cancelled;
    atomic_bool over; /* no callback is called any more */
    bool at_once;     /* it keeps to no limit of requests in a second */

    ki__request_call request; /* inside the loop only */

    /* What is kept; others may look once it has ended. */
    atomic_bool ended;
    int result;
    ki_response answer;
    ki_error error;
};

/** As ki_client_call(); `done` may be NULL, then *ret_call keeps the answer. With `at_once` it
 *  passes by the throttle. */
int ki__call_start(ki_client *client, const ki_request *request, bool at_once, ki_call_done done,
                   void *user, ki_call **ret_call, ki_error *error);

/** Makes attempts, with a rest between them, until one succeeds or its failure is not to be tried
 *  again: five at most. The rest is as ki_client_retry_on_conflict(). */
int ki__client_retry(ki_client *client, int (*attempt)(void *user, ki_error *error),
                     bool (*again)(const ki_error *failure, void *user), void *user,
                     ki_error *error);

/** Refuses new calls. Whether any are under way. */
bool ki__calls_close(ki_client *client);
/** Ends those with KI_ERR_STOPPED; there is at least one. Inside the loop, but not inside a
 * callback of a call. The client may be gone after it. */
void ki__calls_stop(ki_client *client);

/** Ends it without a word, inside the loop but not inside a callback of its own. The caller holds a
 *  reference. */
void ki__call_drop(void *call);

#endif

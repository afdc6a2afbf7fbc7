/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that do not wait: the response is passed to a callback on the client's thread. Requests
 * that wait for their response are in request.h. */
#ifndef KINFORMER_CALL_H
#define KINFORMER_CALL_H

#include <kinformer/client.h>
#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/request.h>

KI_BEGIN_DECLS

typedef struct ki_call ki_call;

/** Receives the response, once, on the client's thread (see also ki_loop_stop()). `response` is
 *  valid during the call only (take references to its content); `error` is NULL on success. */
typedef void (*ki_call_done)(ki_call *call, const ki_response *response, const ki_error *error,
                             void *user);

/** Starts a request; `done` receives its response, never from inside this call. `ret_call` may be
 *  NULL. If the loop is stopped before the response, `done` receives KI_ERR_STOPPED (see
 *  ki_loop_stop()).
 *  Owner:  caller; release *ret_call with ki_call_unref(); the request continues without it.
 *  Thread: any, including callbacks.  Blocks: no.
 *  Errors: those of ki_client_do() that are known before anything is sent.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_client_call(ki_client *client, const ki_request *request,
                                       ki_call_done done, void *user, ki_call **ret_call,
                                       ki_error *error);

/** Cancels a call: `done` is not called any more, not even if the loop is stopped, unless it is
 *  running on another thread at this moment. The server may still process a request that was sent.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_call_cancel(ki_call *call);

/** Takes and releases references; a call holds its client. ki_call_unref() always returns NULL;
 *  both accept NULL.
 *  Thread: any.  Blocks: no, but see ki_client_unref().  Since: 0.1 */
KI_API ki_call *ki_call_ref(ki_call *call);
KI_API ki_call *ki_call_unref(ki_call *call);

KI_AUTO_DEFINE(ki_call, ki_call_unref)

KI_END_DECLS

#endif

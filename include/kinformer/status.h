/* SPDX-License-Identifier: Apache-2.0 */
/* Status objects, which is how an API server says that something failed, and questions to ask of
 * the errors they become. All functions may be called on any thread and never block. */
#ifndef KINFORMER_STATUS_H
#define KINFORMER_STATUS_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

/** Whether the object is a Status (apiVersion v1 or meta.k8s.io/v1).  Since: 0.1 */
KI_API bool ki_object_is_status(const ki_object *object);

/** Turns a Status into an error: code KI_ERR_STATUS, with HTTP code, reason, message and
 *  retryAfterSeconds. Returns that code, or 0 and leaves `error` alone if the Status says Success.
 *  A message that does not fit is cut, and ends with "..." then; control characters in it become
 * blanks or '?'. Members of a wrong type count as absent. Errors (besides): KI_ERR_INVALID  not a
 * Status. Since:  0.1 */
KI_API int ki_status_to_error(const ki_object *status, ki_error *error);

/** The error for an HTTP answer without a readable Status: the reason that goes with the code, and
 *  a message with verb, resource and name (each may be NULL) and what the body said, cut and with
 *  control characters replaced. `verb` is the HTTP method: a 409 means AlreadyExists to "POST" and
 *  Conflict to the others. Returns KI_ERR_STATUS.
 *  Since:  0.1 */
KI_API int ki_status_from_http(int http_code, const char *verb, const char *resource,
                               const char *name, ki_str body, uint32_t retry_after_s,
                               ki_error *error);

/** The whole message of a Status, a string, where an error has what fits; of KI_TYPE_NONE if it has
 *  none, or is no Status.  Owner: as long as the object.  Since: 0.1 */
KI_API ki_value ki_status_message(const ki_object *status);

/** One of details.causes: strings in the Status, or of KI_TYPE_NONE where it has none. */
typedef struct ki_status_cause {
    ki_value type; /* the `reason` of the cause, such as "FieldValueInvalid" */
    ki_value message;
    ki_value field;
} ki_status_cause;

/** Cause number `index` of a Status, from 0.  Errors: KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_status_cause_at(const ki_object *status, size_t index,
                                           ki_status_cause *ret_cause);

/** Whether a Status has a cause of this type.  Since: 0.1 */
KI_API bool ki_status_has_cause(const ki_object *status, const char *type);

/* The predicates of apimachinery's api/errors, true of KI_ERR_STATUS errors only: by reason, or by
 * HTTP code when the reason is not known; those marked (*) by reason alone, those marked (+) by the
 * code whatever the reason is.  Since: 0.1 */
KI_API bool ki_error_is_not_found(const ki_error *error);
KI_API bool ki_error_is_already_exists(const ki_error *error); /* (*) */
KI_API bool ki_error_is_conflict(const ki_error *error);
KI_API bool ki_error_is_invalid(const ki_error *error);
KI_API bool ki_error_is_gone(const ki_error *error);
KI_API bool ki_error_is_resource_expired(const ki_error *error); /* (*) */
KI_API bool ki_error_is_not_acceptable(const ki_error *error);
KI_API bool ki_error_is_unsupported_media_type(const ki_error *error);
KI_API bool ki_error_is_method_not_supported(const ki_error *error);
KI_API bool ki_error_is_service_unavailable(const ki_error *error);
KI_API bool ki_error_is_bad_request(const ki_error *error);
KI_API bool ki_error_is_unauthorized(const ki_error *error);
KI_API bool ki_error_is_forbidden(const ki_error *error);
KI_API bool ki_error_is_timeout(const ki_error *error);
KI_API bool ki_error_is_server_timeout(const ki_error *error); /* (*) */
KI_API bool ki_error_is_internal_error(const ki_error *error);
KI_API bool ki_error_is_too_many_requests(const ki_error *error);        /* (+) */
KI_API bool ki_error_is_request_entity_too_large(const ki_error *error); /* (+) */
KI_API bool ki_error_is_store_read_error(const ki_error *error);         /* (*) */

/** Whether the server asks to wait before the next try, and for how many seconds: it named a time,
 *  or the reason is ServerTimeout, which asks for a wait even of 0 seconds. ret_seconds may be NULL
 *  and is set only if so.  Since: 0.1 */
KI_API bool ki_error_suggests_delay(const ki_error *error, uint32_t *ret_seconds);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Status objects, in which an API server reports failures, and predicates on the errors made from
 * them. All functions are thread-safe and never block. */
#ifndef KINFORMER_STATUS_H
#define KINFORMER_STATUS_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

KI_BEGIN_DECLS

/** Returns whether an object is a Status (apiVersion v1 or meta.k8s.io/v1).  Since: 0.1 */
KI_API bool ki_object_is_status(const ki_object *object);

/** Converts a Status to an error with HTTP code, reason, message and retryAfterSeconds. The code of
 *  the error is KI_ERR_NOT_FOUND for the reason NotFound, or for 404 with an unknown reason;
 *  KI_ERR_EXISTS for AlreadyExists; KI_ERR_STATUS otherwise. Returns that code, or 0 and leaves
 *  `error` unchanged if the Status is Success. A message that does not fit is truncated and ends
 *  with "..."; control characters in it become blanks or '?'. Members of the wrong type count as
 *  absent.
 *  Errors (besides): KI_ERR_INVALID  not a Status.
 *  Since:  0.1 */
KI_API int ki_status_to_error(const ki_object *status, ki_error *error);

/** Creates the error for an HTTP response without a decodable Status: the reason for the HTTP code,
 *  and a message with verb, resource and name (each may be NULL) and the text of the body,
 *  truncated and with control characters replaced. `verb` is the HTTP method: 409 means
 *  AlreadyExists for "POST" and Conflict for others. Returns the code of the error.
 *  Since:  0.1 */
KI_API int ki_status_from_http(int http_code, const char *verb, const char *resource,
                               const char *name, ki_str body, uint32_t retry_after_ms,
                               ki_error *error);

/** Returns the complete message of a Status, a string, which may be truncated in an error;
 *  KI_TYPE_NONE if it has none, or is not a Status.
 *  Owner: valid as long as the object.  Since: 0.1 */
KI_API ki_value ki_status_message(const ki_object *status);

/** One of details.causes: strings in the Status, KI_TYPE_NONE if absent. */
typedef struct ki_status_cause {
    size_t size;   /* see KI_OPTIONS_INIT */
    ki_value type; /* the `reason` of the cause, such as "FieldValueInvalid" */
    ki_value message;
    ki_value field;
} ki_status_cause;

/** Gets cause number `index` of a Status, from 0.  Errors: KI_ERR_NOT_FOUND.  Since: 0.1 */
KI_API KI_NODISCARD int ki_status_cause_at(const ki_object *status, size_t index,
                                           ki_status_cause *ret_cause);

/** Returns whether a Status has a cause of this type.  Since: 0.1 */
KI_API bool ki_status_has_cause(const ki_object *status, const char *type);

/* Return whether an error has the reason that the function is named after; the predicates of
 * apimachinery's api/errors. True only for errors that a server reported: by reason, or by HTTP
 * code if the reason is unknown; those marked (*) only by reason, those marked (+) by HTTP code,
 * whatever the reason is. ki_error_is_not_found(), ki_error_is_already_exists() (*) and
 * ki_error_is_conflict() are in error.h.  Since: 0.1 */
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

/** Returns the text of a reason as the API server spells it; "" for KI_REASON_UNKNOWN.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reason_text(ki_reason reason);

/** Returns the reason with this text; KI_REASON_UNKNOWN if there is none.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_reason ki_reason_from(ki_str text);

/** Returns whether the server requests a delay before the next attempt, and how many milliseconds:
 *  it sent a time, or the reason is ServerTimeout, which requests a delay even of 0. ret_ms may be
 *  NULL and is set only if true.  Since: 0.1 */
KI_API bool ki_error_suggests_delay(const ki_error *error, uint32_t *ret_ms);

KI_END_DECLS

#endif

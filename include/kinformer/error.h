/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes and details. Functions return int: 0 or more on success, negative on failure. There
 * are two ranges: -1 to -4095 is -errno of the system, KI_ERR_FIRST and below is a code of this
 * table. Details are stored in a ki_error of the caller; it owns no memory and needs no release. */
#ifndef KINFORMER_ERROR_H
#define KINFORMER_ERROR_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/* X(name, code, text) */
#define KI_ERROR_MAP(X)                                                  \
    X(LIMIT, -5000, "limit exceeded")                                    \
    X(NOT_FOUND, -5001, "not found")                                     \
    X(EXISTS, -5002, "already exists")                                   \
    X(TYPE, -5003, "the value has another type")                         \
    X(RANGE, -5004, "number out of range")                               \
    X(SYNTAX, -5005, "syntax error")                                     \
    X(ENCODING, -5006, "invalid UTF-8 or an invalid escape")             \
    X(DEPTH, -5007, "nested too deep")                                   \
    X(KEY, -5008, "invalid key, or the object has no key")               \
    X(INVALID, -5009, "invalid value")                                   \
    X(NOT_PLAIN, -5010, "the string is stored encoded; copy it instead") \
    X(BUSY, -5011, "another operation is in progress")                   \
    X(STOPPED, -5012, "already stopped")                                 \
    X(UNKNOWN_INDEX, -5013, "unknown index")                             \
    X(INDEX_FUNCTION, -5014, "an index function failed")                 \
    X(UNSUPPORTED, -5015, "not supported")                               \
    X(STATUS, -5016, "the API server answered with an error")            \
    X(NO_SCHEMA, -5017, "no schema for this field or kind")              \
    X(TRUNCATED, -5018, "truncated")                                     \
    X(STALE, -5019, "older than a previous version")                     \
    X(TLS, -5020, "the server's certificate is not accepted")            \
    X(DENIED, -5021, "not allowed by the options")                       \
    X(CALLBACK, -5022, "a callback failed")                              \
    X(NOT_KEPT, -5023, "the field was not kept; see keep and drop")      \
    X(DAMAGED, -5024, "the memory of the object was overwritten")        \
    X(OVER_LIMIT, -5025, "over the memory limit; see max_bytes")         \
    X(NOT_LEADER, -5026, "this replica does not lead")

typedef enum ki_error_code {
#define KI_ERROR_ENUM(name, code, text) KI_ERR_##name = (code),
    KI_ERROR_MAP(KI_ERROR_ENUM)
#undef KI_ERROR_ENUM
} ki_error_code;

#define KI_ERR_FIRST (-5000) /* the greatest of these codes */

/* Reasons of an API server, from the `reason` of a Status. X(name, text, HTTP code, or 0) */
#define KI_REASON_MAP(X)                                      \
    X(UNKNOWN, "", 0)                                         \
    X(UNAUTHORIZED, "Unauthorized", 401)                      \
    X(FORBIDDEN, "Forbidden", 403)                            \
    X(NOT_FOUND, "NotFound", 404)                             \
    X(ALREADY_EXISTS, "AlreadyExists", 409)                   \
    X(CONFLICT, "Conflict", 409)                              \
    X(GONE, "Gone", 410)                                      \
    X(INVALID, "Invalid", 422)                                \
    X(SERVER_TIMEOUT, "ServerTimeout", 500)                   \
    X(STORE_READ_ERROR, "StorageReadError", 500)              \
    X(TIMEOUT, "Timeout", 504)                                \
    X(TOO_MANY_REQUESTS, "TooManyRequests", 429)              \
    X(BAD_REQUEST, "BadRequest", 400)                         \
    X(METHOD_NOT_ALLOWED, "MethodNotAllowed", 405)            \
    X(NOT_ACCEPTABLE, "NotAcceptable", 406)                   \
    X(REQUEST_ENTITY_TOO_LARGE, "RequestEntityTooLarge", 413) \
    X(UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", 415)    \
    X(INTERNAL_ERROR, "InternalError", 500)                   \
    X(EXPIRED, "Expired", 410)                                \
    X(SERVICE_UNAVAILABLE, "ServiceUnavailable", 503)

typedef enum ki_reason {
#define KI_REASON_ENUM(name, text, code) KI_REASON_##name,
    KI_REASON_MAP(KI_REASON_ENUM)
#undef KI_REASON_ENUM
        KI_REASON_MAX
} ki_reason;

/** The size of the message in an error. The message of a server can be longer, for example with all
 *  fields in conflict, or the response of a webhook: the Status that requests return has the
 *  complete text (see request.h). */
#define KI_ERROR_MESSAGE_SIZE 1024

/** Details of a failure. Set by the function that failed; unchanged on success. */
typedef struct ki_error {
    size_t size;             /* see KI_OPTIONS_INIT; any that cannot be right counts as 0 */
    int code;                /* the code that the function returned */
    int http_code;           /* of a Status or a response; 0 if none */
    ki_reason reason;        /* of a Status; KI_REASON_UNKNOWN if none or not in the table */
    uint32_t retry_after_ms; /* of a Status or a Retry-After header; 0 if none */
    size_t offset;           /* in bytes from the start of the input */
    uint32_t line;           /* of that position, from 1; 0 if unknown */
    uint32_t column;         /* in bytes, from 1; 0 if unknown */
    char message[KI_ERROR_MESSAGE_SIZE]; /* for users; NUL-terminated. Truncated between characters
                                            if too long; it then ends with "..." */
} ki_error;

#define KI_ERROR_INIT KI_OPTIONS_INIT(ki_error)

/** Receives errors that no caller is waiting for: of a handler, an index function, or a skipped
 *  object. `component` is where it occurred ("queue", "store", "handler", ...), `key` the object,
 *  empty if unknown. All arguments are borrowed for the call. A NULL function ignores errors. */
typedef struct ki_error_hook {
    size_t size; /* see KI_OPTIONS_INIT */
    void (*report)(const char *component, ki_str key, const ki_error *error, void *user);
    void *user;
} ki_error_hook;

/** Returns the name of a code, such as "KI_ERR_LIMIT" or, for -errno, "ENOMEM"; "ok" for 0,
 *  "unknown" for a code without a name.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_error_name(int code);

/** Returns a short description of a code: English, the same on every system and in every locale.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_error_text(int code);

/** Returns whether a retry may succeed. The library uses this function wherever it decides that by
 *  code.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_error_is_retriable(int code);

/** Return whether an error means that the object does not exist, already exists, or has changed
 *  since it was read (a conflict): the reason of the server, or the codes KI_ERR_NOT_FOUND and
 *  KI_ERR_EXISTS. For other reasons see status.h.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_error_is_not_found(const ki_error *error);
KI_API bool ki_error_is_already_exists(const ki_error *error);
KI_API bool ki_error_is_conflict(const ki_error *error);

KI_END_DECLS

#endif

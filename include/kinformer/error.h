/* SPDX-License-Identifier: Apache-2.0 */
/* Errors. Functions return int: 0 or more is success, less than 0 is failure. Two ranges share the
 * int: -1 to -4095 is -errno from the system, KI_ERR_FIRST and below is a code of this table.
 * Details come in a ki_error that the caller passes; it owns no memory and needs no release. */
#ifndef KINFORMER_ERROR_H
#define KINFORMER_ERROR_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

/* X(name, code, text) */
#define KI_ERROR_MAP(X)                                                          \
    X(LIMIT, -5000, "a limit was reached")                                       \
    X(NOT_FOUND, -5001, "not found")                                             \
    X(EXISTS, -5002, "already exists")                                           \
    X(TYPE, -5003, "the value is of another type")                               \
    X(RANGE, -5004, "the number does not fit")                                   \
    X(SYNTAX, -5005, "syntax error")                                             \
    X(ENCODING, -5006, "invalid UTF-8 or an invalid escape")                     \
    X(DEPTH, -5007, "nested too deep")                                           \
    X(KEY, -5008, "the key is not valid, or no key can be made of the object")   \
    X(INVALID, -5009, "the value is not valid")                                  \
    X(NOT_PLAIN, -5010, "the text is stored encoded; copy it instead")           \
    X(BUSY, -5011, "another writer is at work")                                  \
    X(STOPPED, -5012, "already stopped")                                         \
    X(UNKNOWN_INDEX, -5013, "no index of that name")                             \
    X(INDEX_FUNCTION, -5014, "an index function failed")                         \
    X(UNSUPPORTED, -5015, "not supported")                                       \
    X(STATUS, -5016, "the API server answered with an error")                    \
    X(NO_SCHEMA, -5017, "the object has it, but no schema tells how to read it") \
    X(CUT, -5018, "the bytes end too early")                                     \
    X(STALE, -5019, "older than what was seen before")                           \
    X(TLS, -5020, "the certificate of the server is not accepted")               \
    X(DENIED, -5021, "the program does not allow it")

typedef enum ki_error_code {
#define KI_ERROR_ENUM(name, code, text) KI_ERR_##name = (code),
    KI_ERROR_MAP(KI_ERROR_ENUM)
#undef KI_ERROR_ENUM
} ki_error_code;

#define KI_ERR_FIRST (-5000) /* the greatest of them */

/* What an API server says in the `reason` of a Status. X(name, text, HTTP code, or 0) */
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

/** Room for the message of an error. What a server refused can be longer, with all fields that are
 *  in conflict, or all that a webhook has to say: the whole of it is in the Status that requests
 *  give (see request.h). */
#define KI_ERROR_MESSAGE_SIZE 1024

/** Details of a failure. Set by the function that failed; untouched on success. */
typedef struct ki_error {
    int code;               /* what the function returned */
    int http_code;          /* of a Status or a response; 0 if there was none */
    ki_reason reason;       /* of a Status; KI_REASON_UNKNOWN if none or not in the table */
    uint32_t retry_after_s; /* of a Status or a Retry-After header; 0 if there was none */
    size_t offset;          /* bytes from the start of the text that was read */
    uint32_t line;          /* of that place, from 1; 0 if it has none */
    uint32_t column;        /* in bytes, from 1; 0 if it has none */
    char message[KI_ERROR_MESSAGE_SIZE]; /* for a person; terminated. One that is too long is cut
                                            between characters and ends with "..." */
} ki_error;

#ifdef __cplusplus
#define KI_ERROR_INIT (ki_error{})
#else
#define KI_ERROR_INIT ((ki_error){0})
#endif

/** Where errors go that nobody waits for: a handler's, an index function's, an object's that was
 * set aside. `component` says where it happened ("queue", "store", "handler", ...), `key` which
 * object it was, empty if that is not known. All is borrowed for the call. A NULL function:
 * nowhere. */
typedef struct ki_error_hook {
    void (*report)(const char *component, ki_str key, const ki_error *error, void *user);
    void *user;
} ki_error_hook;

/** The name of a code, such as "KI_ERR_LIMIT" or, for -errno, "ENOMEM"; 0 gives "ok", a code that
 *  has no name gives "unknown".
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_error_name(int code);

/** A few words for a code: English, the same on every system and in every locale.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_error_text(int code);

/** Whether trying the same again later may succeed: the one place that decides this for codes.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_error_is_retriable(int code);

/** The text of a reason as the API server spells it; "" for KI_REASON_UNKNOWN.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_reason_text(ki_reason reason);

/** The reason that is spelt so; KI_REASON_UNKNOWN if none is.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_reason ki_reason_from(ki_str text);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Logging through a callback. The library prints nothing; a program provides a hook to receive log
 * records. */
#ifndef KINFORMER_LOG_H
#define KINFORMER_LOG_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef enum ki_log_level {
    KI_LOG_ERROR,
    KI_LOG_WARNING,
    KI_LOG_INFO,
    KI_LOG_DEBUG,
    KI_LOG_LEVEL_MAX
} ki_log_level;

/** A key and value of a record. Values never contain secrets, but may contain data from a server,
 *  such as names and versions, with any bytes: sanitize them before printing. */
typedef struct ki_log_field {
    const char *key;
    ki_str value;
} ki_log_field;

/** A log record. Everything it points to is valid during the call only. */
typedef struct ki_log_record {
    size_t size; /* of the struct in the library */
    ki_log_level level;
    const char *component; /* such as "reflector" */
    const char *message;   /* constant text; variable data is in the fields */
    const ki_log_field *fields;
    size_t field_count;
} ki_log_record;

typedef struct ki_log {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Called on the thread where the event occurred, with no lock held; must not block. */
    void (*write)(const ki_log_record *record, void *user);
    ki_log_level level; /* records above this level are not created; 0: errors only */
    void *user;
} ki_log;

/** Returns the name of a level: "error", "warning", "info", "debug".
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_log_level_name(ki_log_level level);

/** A failure that no caller is waiting for: of a handler, an index function, or an undecodable
 *  object. Everything it points to is valid during the call only. */
typedef struct ki_report {
    size_t size;           /* of the struct in the library */
    const char *component; /* such as "reflector" */
    const char *name;      /* name of the instance, such as "pods"; "" if it has none */
    ki_str key; /* of the object, as sent by the server: may contain any bytes; empty if unknown or
                   not about an object */
    const ki_error *error;
    uint64_t suppressed; /* number of reports dropped by the rate limit since the last one */
} ki_report;

KI_END_DECLS

#endif

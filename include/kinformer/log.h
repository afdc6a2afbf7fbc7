/* SPDX-License-Identifier: Apache-2.0 */
/* The log hook. The library prints nothing; a program that wants to hear gives a hook. */
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

/** One key and value of a record. Secrets never are among the values; what a server sent is, such
 * as names and versions, and it may hold any bytes: whoever prints it makes it fit to print. */
typedef struct ki_log_field {
    const char *key;
    ki_str value;
} ki_log_field;

/** One record. Everything it points to is valid during the call only. */
typedef struct ki_log_record {
    ki_log_level level;
    const char *component; /* such as "reflector" */
    const char *message;   /* constant text; what varies is in the fields */
    const ki_log_field *fields;
    size_t field_count;
} ki_log_record;

typedef struct ki_log {
    /** Called on the thread where the thing happened, with no lock held; must not block. */
    void (*write)(const ki_log_record *record, void *user);
    ki_log_level level; /* records above this level are not made; 0 means errors only */
    void *user;
} ki_log;

/** The name of a level: "error", "warning", "info", "debug".
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_log_level_name(ki_log_level level);

/** A failure that nobody waits for: of a handler, an index function, an object that could not be
 *  read. Everything it points to is valid during the call only. */
typedef struct ki_report {
    const char *component; /* such as "reflector" */
    const char *name;      /* of the one among several, such as "pods"; "" if it has none */
    ki_str key;            /* of the object, as the server sent it, so that it may hold any
                              bytes; empty if it is not about one, or not known */
    const ki_error *error;
    uint64_t suppressed; /* how many were not told since the last one that was */
} ki_report;

KI_END_DECLS

#endif

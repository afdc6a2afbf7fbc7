/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to an optional log hook. */
#ifndef KI_BASE_LOG_H
#define KI_BASE_LOG_H

#include <kinformer/log.h>

#include "base/shared.h"

/** Whether a record of that level would be logged; check before building costly fields. */
static inline bool ki__log_accepts(const ki_log *log, ki_log_level level)
{
    return log != NULL && log->write != NULL && level <= log->level;
}

/** Passes a record to the hook if its level is enabled. `fields` may be NULL if there are none. */
KI__SHARED void ki__log_write(const ki_log *log, ki_log_level level, const char *component,
                              const char *message, const ki_log_field *fields, size_t field_count);

/* The message as the key of a field of its own, followed by the fields. KI__LOG passes an empty
 * last argument because C11 requires at least one for the ellipsis. */
#define KI__LOG_FIELDS(message, ...) {(message), {NULL, 0}}, __VA_ARGS__

/** KI__LOG(log, KI_LOG_INFO, "reflector", "synced", {"resource", name}): component, message, and
 *  any number of fields. If the level is disabled, only `log` and the level are evaluated. */
#define KI__LOG(log, log_level, component, ...)                                               \
    do {                                                                                      \
        if (ki__log_accepts((log), (log_level))) {                                            \
            const ki_log_field ki__fields[] = {KI__LOG_FIELDS(__VA_ARGS__, )};                \
            ki__log_write((log), (log_level), (component), ki__fields[0].key, &ki__fields[1], \
                          sizeof(ki__fields) / sizeof(ki__fields[0]) - 1);                    \
        }                                                                                     \
    } while (0)

#endif

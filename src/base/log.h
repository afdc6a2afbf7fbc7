/* SPDX-License-Identifier: Apache-2.0 */
/* Writing to a log hook that may not be there. */
#ifndef KI_BASE_LOG_H
#define KI_BASE_LOG_H

#include <kinformer/log.h>

/** Whether a record of that level would be heard; ask before building costly fields. */
static inline bool ki__log_wants(const ki_log *log, ki_log_level level)
{
    return log != NULL && log->write != NULL && level <= log->level;
}

/** Hands a record to the hook if it wants the level. */
void ki__log_write(const ki_log *log, ki_log_level level, const char *component,
                   const char *message, const ki_log_field *fields, size_t field_count);

/** KI__LOG(log, KI_LOG_INFO, "reflector", "synced", {"resource", name}); fields are optional. */
#define KI__LOG(log, log_level, component, message, ...)                              \
    do {                                                                              \
        if (ki__log_wants((log), (log_level))) {                                      \
            const ki_log_field ki__fields[] = {{NULL, {NULL, 0}}, __VA_ARGS__};       \
            ki__log_write((log), (log_level), (component), (message), ki__fields + 1, \
                          sizeof(ki__fields) / sizeof(ki__fields[0]) - 1);            \
        }                                                                             \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the log hook. Prints nothing itself and keeps no state. */
#include "base/log.h"

static const char *const level_names[] = {
    [KI_LOG_ERROR] = "error",
    [KI_LOG_WARNING] = "warning",
    [KI_LOG_INFO] = "info",
    [KI_LOG_DEBUG] = "debug",
};
_Static_assert(sizeof(level_names) / sizeof(level_names[0]) == KI_LOG_LEVEL_MAX, "a name each");

const char *ki_log_level_name(ki_log_level level)
{
    return (size_t)level < KI_LOG_LEVEL_MAX ? level_names[level] : "unknown";
}

void ki__log_write(const ki_log *log, ki_log_level level, const char *component,
                   const char *message, const ki_log_field *fields, size_t field_count)
{
    if (!ki__log_accepts(log, level)) {
        return;
    }
    const ki_log_record record = {
        .size = sizeof(record),
        .level = level,
        .component = component,
        .message = message,
        .fields = fields,
        .field_count = field_count,
    };
    log->write(&record, log->user);
}

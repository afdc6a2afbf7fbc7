/* SPDX-License-Identifier: Apache-2.0 */
/* The names of watch event types on the wire. */
#include "wire/event.h"

static const char *const names[] = {
    [KI_WATCH_EVENT_ADDED] = "ADDED",     [KI_WATCH_EVENT_MODIFIED] = "MODIFIED",
    [KI_WATCH_EVENT_DELETED] = "DELETED", [KI_WATCH_EVENT_BOOKMARK] = "BOOKMARK",
    [KI_WATCH_EVENT_ERROR] = "ERROR",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == KI_WATCH_EVENT_MAX, "a name for each type");

const char *ki_watch_event_type_name(ki_watch_event_type type)
{
    return (size_t)type < KI_WATCH_EVENT_MAX ? names[type] : "unknown";
}

ki_watch_event_type ki__event_type_from(ki_str name)
{
    size_t type = 0;
    while (type < KI_WATCH_EVENT_MAX && !ki_str_eq_text(name, names[type])) {
        type++;
    }
    return (ki_watch_event_type)type;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The names of event types, as they stand on the wire. */
#include "wire/event.h"

static const char *const names[] = {
    [KI_EVENT_ADDED] = "ADDED",     [KI_EVENT_MODIFIED] = "MODIFIED",
    [KI_EVENT_DELETED] = "DELETED", [KI_EVENT_BOOKMARK] = "BOOKMARK",
    [KI_EVENT_ERROR] = "ERROR",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == KI_EVENT_MAX, "a name for each type");

const char *ki_event_type_name(ki_event_type type)
{
    return (size_t)type < KI_EVENT_MAX ? names[type] : "unknown";
}

ki_event_type ki__event_type_from(ki_str name)
{
    size_t type = 0;
    while (type < KI_EVENT_MAX && !ki_str_eq_text(name, names[type])) {
        type++;
    }
    return (ki_event_type)type;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Types of watch events. */
#ifndef KINFORMER_PARTS_WATCH_EVENT_H
#define KINFORMER_PARTS_WATCH_EVENT_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef enum ki_watch_event_type {
    KI_WATCH_EVENT_ADDED,
    KI_WATCH_EVENT_MODIFIED,
    KI_WATCH_EVENT_DELETED,
    KI_WATCH_EVENT_BOOKMARK, /* no further changes up to this resourceVersion */
    KI_WATCH_EVENT_ERROR,    /* the watch has ended; a Status has the reason */
    KI_WATCH_EVENT_MAX
} ki_watch_event_type;

/** Returns the name of an event type as the API server spells it, such as "ADDED"; "unknown" for
 *  any other number.
 *  Owner: static text.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_watch_event_type_name(ki_watch_event_type type);

KI_END_DECLS

#endif

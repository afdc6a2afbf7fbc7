/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the names of watch event types. */
#ifndef KI_WIRE_EVENT_H
#define KI_WIRE_EVENT_H

#include <kinformer/parts/watch_event.h>
#include <kinformer/str.h>

/** The type with this name; KI_WATCH_EVENT_MAX if unknown. */
ki_watch_event_type ki__event_type_from(ki_str name);

#endif

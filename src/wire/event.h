/* SPDX-License-Identifier: Apache-2.0 */
/* Names of event types, backwards. */
#ifndef KI_WIRE_EVENT_H
#define KI_WIRE_EVENT_H

#include <kinformer/parts/watch_event.h>
#include <kinformer/str.h>

/** The type that is spelt so; KI_WATCH_EVENT_MAX if none is. */
ki_watch_event_type ki__event_type_from(ki_str name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the callbacks of a handler. */
#ifndef KI_CACHE_INFORMER_HANDLER_H
#define KI_CACHE_INFORMER_HANDLER_H

#include <kinformer/handler.h>

#include "cache/informer/apply_deltas.h"

/** Calls the callback for a notification, after the handler's filter. `left_out`: number of events
 *  before it that cancelled out; it is passed to on_change() and reset to 0. Packed objects are
 *  decompressed unless `as_stored`. */
void ki__handler_notify(const ki_handler *handler, const ki__note *note, bool as_stored,
                        uint64_t *left_out);

/** Reports events that cancelled each other out to on_merged(), and resets their number to 0; for a
 *  handler with on_change() they are part of the next change. */
void ki__handler_notify_left_out(const ki_handler *handler, uint64_t *left_out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the callbacks of a handler. */
#ifndef KI_CACHE_INFORMER_HANDLER_H
#define KI_CACHE_INFORMER_HANDLER_H

#include <kinformer/handler.h>

#include "cache/informer/apply_deltas.h"

/** Calls the callback for a notification, after the handler's filter. An error of the handler is
 *  reported to the hook, and returned. */
int ki__handler_tell(const ki_handler *handler, const ki__note *note, const ki_error_hook *hook);

/** Reports the number of events that were merged into nothing; does nothing if there were none. */
void ki__handler_tell_left_out(const ki_handler *handler, uint64_t left_out);

#endif

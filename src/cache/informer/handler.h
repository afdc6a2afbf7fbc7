/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a handler. */
#ifndef KI_CACHE_INFORMER_HANDLER_H
#define KI_CACHE_INFORMER_HANDLER_H

#include <kinformer/handler.h>

#include "cache/informer/apply_deltas.h"

/** Calls what a note means to this handler, its filter considered. An error of the handler is
 *  reported to the hook, and returned. `left_out`: events before it that cancelled each other out;
 *  on_change() receives their number, which is 0 then. */
int ki__handler_tell(const ki_handler *handler, const ki__note *note, uint64_t *left_out,
                     const ki_error_hook *hook);

/** Reports events that cancelled each other out to on_merged(), and sets their number to 0; for a
 *  handler with on_change() they are part of the next change. */
void ki__handler_tell_left_out(const ki_handler *handler, uint64_t *left_out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a handler. */
#ifndef KI_CACHE_INFORMER_HANDLER_H
#define KI_CACHE_INFORMER_HANDLER_H

#include <kinformer/handler.h>

#include "cache/informer/apply_deltas.h"

/** Calls what a note means to this handler, its filter considered. An error of the handler is told
 *  to the hook, and returned. */
int ki__handler_tell(const ki_handler *handler, const ki__note *note, const ki_error_hook *hook);

/** Tells how many events there were of which nothing else is told; nothing if there were none. */
void ki__handler_tell_left_out(const ki_handler *handler, uint64_t left_out);

#endif

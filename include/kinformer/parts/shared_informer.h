/* SPDX-License-Identifier: Apache-2.0 */
/* Shared informers and factories without a client: on any engine, from any source or transport.
 * Programs with a client use ki_client_informer() and ki_client_factory().
 *
 * "The client's thread" in informer.h, factory.h and handler.h is here the thread that calls
 * ki_engine_run(), which must be called for a stop to complete. Functions that wait with a timeout,
 * such as ki_informer_wait_for_sync(), require an engine whose clock is CLOCK_MONOTONIC. */
#ifndef KINFORMER_PARTS_SHARED_INFORMER_H
#define KINFORMER_PARTS_SHARED_INFORMER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/factory.h>
#include <kinformer/informer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/transport.h>

KI_BEGIN_DECLS

/** Creates an informer; does not start it.
 *  Owner:  caller; release with ki_informer_unref(). On success it owns the source and the indexes.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  engine or source is missing;  as ki_projection_new(), ki_store_new(),
 *          ki_reflector_new();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_new(const ki_informer_options *options,
                                        ki_informer **ret_informer, ki_error *error);

/** Creates a factory without informers.
 *  Owner:  caller; release with ki_factory_unref().  Thread: any.  Blocks: no.
 *  Errors: -EINVAL  no engine, or not exactly one of transport and make_source;
 *          as ki_projection_new();  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_new(const ki_factory_options *options, ki_factory **ret_factory,
                                       ki_error *error);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The factory: one shared informer for each resource, whoever asks for it, all made alike and
 * started and stopped together. Its functions may be called on any thread, also inside callbacks,
 * unless they say otherwise. */
#ifndef KINFORMER_FACTORY_H
#define KINFORMER_FACTORY_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/list.h>
#include <kinformer/resource.h>

KI_BEGIN_DECLS

typedef struct ki_factory ki_factory;
typedef struct ki_transport ki_transport; /* <kinformer/parts/transport.h> */

typedef struct ki_factory_options {
    size_t size;       /* see KI_OPTIONS_INIT */
    ki_engine *engine; /* required; kept by reference */

    /* Where objects come from: one of the two. */
    const ki_transport *transport; /* to an API server; copied */
    bool json_only;                /* with it: as in ki_source_http_options, for all resources */
    bool json_if_incomplete;       /* the same */
    bool metadata_only;            /* the same */
    /** Makes the source of a resource, for the namespace of the factory. */
    int (*make_source)(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error);

    const char *name_space; /* objects of this one only; NULL or "": of all; copied */
    uint32_t resync_ms;     /* of the informers; 0: never */
    ki_transform transform; /* the same */
    void *transform_user;

    /** May change the options of an informer before it is made: its resync period, its indexes, its
     * selectors. What they point to is read before ki_factory_informer() returns. NULL: none. */
    void (*configure)(const ki_resource *resource, ki_informer_options *options, void *user);

    /** May change what is asked of a source, at each list and each watch, inside ki_engine_run().
     * Text that it puts there must live until the source's function returns. NULL: none. */
    void (*tweak)(const ki_resource *resource, ki_list_options *options, void *user);

    void *user; /* of make_source, configure and tweak */
} ki_factory_options;

/** A factory without informers.
 *  Owner:  release with ki_factory_unref().  Blocks: no.
 *  Errors: -EINVAL  no engine, or not exactly one of transport and make_source;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_new(const ki_factory_options *options, ki_factory **ret_factory,
                                       ki_error *error);

/** References. The last one stops the factory. ki_factory_unref() always returns NULL; NULL is fine
 *  for both.  Blocks: no.  Since: 0.1 */
KI_API ki_factory *ki_factory_ref(ki_factory *factory);
KI_API ki_factory *ki_factory_unref(ki_factory *factory);

/** The informer of a resource: made at the first call, the same one from then on.
 *  Owner:  the caller is one of its users from now on, until ki_factory_release(). It lives as long
 *          as that and the factory; ki_informer_ref() keeps it beyond.
 *  Blocks: no.
 *  Errors: KI_ERR_STOPPED;  as ki_informer_new() and ki_source_http_new(), or make_source.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                                            ki_informer **ret_informer, ki_error *error);

/** The caller does not use an informer of the factory any more. With its last user the informer is
 *  stopped and forgotten; whoever asks for the resource later gets a new one. NULL is fine.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_factory_release(ki_factory *factory, ki_informer *informer);

/** Starts the informers that were not started yet; to be called again after new ones were asked
 *  for. One that cannot be started does not keep the others from it.
 *  Blocks: no.  Errors: KI_ERR_STOPPED, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_factory_start(ki_factory *factory, ki_error *error);

/** Stops all informers, for good. It is over when ki_factory_is_stopped() says so, which takes a
 *  ki_engine_run(). Stopping twice is fine.  Blocks: no.  Since: 0.1 */
KI_API void ki_factory_stop(ki_factory *factory);

/** Whether it was stopped and no informer of it runs any more, but for those that were released.
 *  Blocks: no.  Since: 0.1 */
KI_API bool ki_factory_is_stopped(ki_factory *factory);

/** Waits until the informers that were started, and their handlers, have synced. `timeout_ms` of 0
 *  only looks, UINT32_MAX waits for ever; with any other, monotonic_ns of the engine's clock must
 *  be CLOCK_MONOTONIC. The message of `error` names the informer that is furthest behind and
 *  its latest failure; its http_code and reason are that failure's.
 *  Thread: any; but inside ki_engine_run() or a callback it can only look.  Blocks: yes.
 *  Errors: -ETIMEDOUT;  KI_ERR_STOPPED;  -ENOMEM;
 *          KI_ERR_BUSY  called inside, where waiting would never end.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_wait_for_sync(ki_factory *factory, uint32_t timeout_ms,
                                                 ki_error *error);

/** The same for one resource.  Errors (besides): KI_ERR_NOT_FOUND  no informer of it was started.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_factory_wait_for_sync_of(ki_factory *factory,
                                                    const ki_resource *resource,
                                                    uint32_t timeout_ms, ki_error *error);

KI_END_DECLS

#endif

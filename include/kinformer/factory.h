/* SPDX-License-Identifier: Apache-2.0 */
/* The factory: one shared informer per resource, all created with the same options, and started and
 * stopped together. All functions may be called on any thread, including callbacks, unless stated
 * otherwise. */
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
    ki_engine *engine; /* NULL for factories of a client; else required; kept by reference */

    /* The source of objects: none with ki_client_factory(), else one of the two. */
    const ki_transport *transport; /* to an API server; copied */
    bool json_only;          /* with a transport: as in ki_source_http_options, for all resources */
    bool json_if_incomplete; /* as json_only */
    bool metadata_only;      /* as json_only */
    /** Creates the source of a resource, for the namespace of the factory. */
    int (*make_source)(const ki_resource *resource, const char *name_space, void *user,
                       ki_source *ret_source, ki_error *error);

    const char *name_space; /* only objects in this namespace; NULL or "": in all; copied */
    uint32_t resync_ms;     /* of all informers; 0: never */
    ki_transform transform; /* of all informers */
    void *transform_user;
    const char *keep;   /* of all informers that have neither keep nor drop; copied */
    const char *drop;   /* as keep */
    ki_storage storage; /* of all informers whose options have KI_STORAGE_DEFAULT */
    /** Most memory of all informers of the factory together, in addition to their own limits: as
     *  in ki_informer_options; 0: no limit. The informer that needs more when it is reached refuses
     *  it, whichever that is. */
    uint64_t max_bytes;
    ki_at_limit at_limit; /* of all informers that have KI_AT_LIMIT_REFUSE */

    /** May change the options of an informer before it is created: resync period, indexes,
     *  selectors and so on. What they point to is read before ki_factory_informer() returns. NULL:
     *  none. */
    void (*configure)(const ki_resource *resource, ki_informer_options *options, void *user);

    /** May change the options of each list and each watch; called on the client's thread.
     *  Strings that it sets must be valid until the source's function returns. NULL: none. */
    void (*tweak)(const ki_resource *resource, ki_list_options *options, void *user);

    void *user; /* for make_source, configure and tweak */
} ki_factory_options;

/** Takes and releases references. Releasing the last one stops the factory. ki_factory_unref()
 *  always returns NULL; both accept NULL.  Blocks: no.  Since: 0.1 */
KI_API ki_factory *ki_factory_ref(ki_factory *factory);
KI_API ki_factory *ki_factory_unref(ki_factory *factory);

/** Returns an informer of the factory. Without `options` (NULL) it is shared: each resource has
 *  one, which every call returns. With options, such as selectors, each call creates another one,
 *  which starts and stops with the others: `engine` and `source` in them must be NULL;
 *  `name_space`, `resync_ms` and `transform` are those of the factory if they are zero; `configure`
 *  is not called.
 *  Owner:  the caller is a user of the informer until ki_factory_release(). The informer is valid
 *          that long, and as long as the factory; ki_informer_ref() keeps it beyond. The factory
 *          releases an informer with options once it was stopped, also by ki_informer_stop().
 *  Blocks: no.
 *  Errors: KI_ERR_STOPPED;  as ki_informer_new() and ki_source_http_new(), or make_source;
 *          -EINVAL  the options have an engine, a source, another resource, or a namespace for a
 *          cluster-scoped resource.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_informer(ki_factory *factory, const ki_resource *resource,
                                            const ki_informer_options *options,
                                            ki_informer **ret_informer, ki_error *error);

/** Releases an informer of the factory that the caller no longer uses. When its last user has
 *  released it, the informer is stopped and removed; a later ki_factory_informer() creates a new
 *  one. `informer` may be NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API void ki_factory_release(ki_factory *factory, ki_informer *informer);

/** Starts all informers that were not started yet. Call it again after creating more. If one cannot
 *  be started, the others are started nevertheless.
 *  Blocks: no.  Errors: KI_ERR_STOPPED, -ENOMEM.  Since: 0.1 */
KI_API KI_NODISCARD int ki_factory_start(ki_factory *factory, ki_error *error);

/** Stops all informers permanently. This is complete when ki_factory_is_stopped() returns true.
 *  Stopping twice is allowed.  Blocks: no.  Since: 0.1 */
KI_API void ki_factory_stop(ki_factory *factory);

/** Returns whether the factory was stopped and none of its informers runs any more, except those
 *  that were released.
 *  Blocks: no.  Since: 0.1 */
KI_API bool ki_factory_is_stopped(ki_factory *factory);

/** Waits until all started informers and their handlers have synced. A `timeout_ms` of 0 only
 *  checks, UINT32_MAX waits forever. The message of `error` names the informer that is furthest
 *  behind and its latest failure; http_code and reason are those of that failure.
 *  Thread: any; on the client's thread and inside callbacks only with a `timeout_ms` of 0.
 *  Blocks: yes.
 *  Errors: -ETIMEDOUT;  KI_ERR_STOPPED;  -ENOMEM;
 *          KI_ERR_BUSY  called on the client's thread or inside a callback, where it would wait
 *          forever.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_factory_wait_for_sync(ki_factory *factory, uint32_t timeout_ms,
                                                 ki_error *error);

KI_AUTO_DEFINE(ki_factory, ki_factory_unref)

KI_END_DECLS

#endif

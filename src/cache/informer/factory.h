/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a factory:
 *
 *   factory.c       creation, informers, starting and stopping
 *   factory_wait.c  waiting until informers have synced */
#ifndef KI_CACHE_INFORMER_FACTORY_H
#define KI_CACHE_INFORMER_FACTORY_H

#include <kinformer/factory.h>
#include <kinformer/parts/transport.h>

#include "base/engine.h"
#include "base/list.h"
#include "base/refs.h"
#include "base/sync.h"
#include "cache/informer/informer.h"

enum { KI__NAMESPACE_MAX = 253 };

/* State of an informer in the factory. */
enum { KI__FACTORY_STARTED = 1, KI__FACTORY_FAILED = 2, KI__FACTORY_STOPPED = 4 };

typedef struct ki__factory_entry {
    ki__list link;
    ki_informer *informer;
    const ki_resource *resource;
    bool is_own;    /* created with options: not shared with other callers */
    size_t users;   /* number of callers that have not released it */
    unsigned marks; /* KI__FACTORY_... */
} ki__factory_entry;

struct ki_factory {
    ki__refs refs;
    ki_engine *engine;
    const ki_alloc *alloc;
    ki_factory_options options;
    ki_transport transport;
    ki__mutex lock;
    ki__list entries;
    size_t count;
    bool stopped;
    char name_space[KI__NAMESPACE_MAX + 1];
    char *text;             /* of keep and drop */
    ki__limit_group *limit; /* NULL: none */
};

static inline ki__factory_entry *ki__factory_entry_at(ki__list *link)
{
    return KI__CONTAINER_OF(link, ki__factory_entry, link);
}

/** Releases private informers that were stopped individually. */
void ki__factory_drop_stopped(ki_factory *factory);

#endif

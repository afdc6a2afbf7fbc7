/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a factory, which two files share:
 *
 *   factory.c       making, informers, starting and stopping
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

/* What was done with an informer. */
enum { KI__FACTORY_STARTED = 1, KI__FACTORY_FAILED = 2, KI__FACTORY_STOPPED = 4 };

typedef struct ki__factory_entry {
    ki__list link;
    ki_informer *informer;
    const ki_resource *resource;
    bool is_own;    /* made with options: for whoever asked, and nobody else */
    size_t users;   /* those who asked and did not release */
    unsigned marks; /* of the above */
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
};

static inline ki__factory_entry *ki__factory_entry_at(ki__list *link)
{
    return KI__CONTAINER_OF(link, ki__factory_entry, link);
}

/** Whether two resources are the same one of the server. */
bool ki__factory_is_same(const ki_resource *a, const ki_resource *b);

/** Releases own informers that were stopped by themselves. */
void ki__factory_drop_stopped(ki_factory *factory);

#endif

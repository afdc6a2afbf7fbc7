/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a store, from counters that its writer and its collector keep. */
#include "cache/store/store_memory.h"

#include "base/error.h"
#include "base/options.h"
#include "cache/store/version.h"
#include "object/pack/packer.h"

static uint64_t load(const _Atomic(uint64_t) *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

ki_memory ki__store_memory(const ki_store *store)
{
    ki_memory memory = {
        .size = sizeof(memory),
        .objects = load(&store->object_bytes),
        .indexes = load(&store->index_bytes),
        .versions = load(&store->version_bytes),
        .older_versions = ki__store_versions(store) - 1,
    };
    const ki__packer *packer = store->packer;
    if (packer != NULL) {
        const ki__pack_memory packing = ki__packer_memory(packer);
        memory.versions += packing.opened;
        memory.packing = packing.dictionaries + packing.contexts;
    }
    memory.total = memory.objects + memory.indexes + memory.versions;
    return memory;
}

int ki_store_get_memory(const ki_store *store, ki_memory *memory)
{
    KI__REQUIRE(store, NULL);
    KI__REQUIRE(memory, NULL);
    const ki_memory m = ki__store_memory(store);
    return KI__GIVE(ki_memory, memory, &m);
}

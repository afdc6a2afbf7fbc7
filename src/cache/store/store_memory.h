/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a store. */
#ifndef KI_CACHE_STORE_STORE_MEMORY_H
#define KI_CACHE_STORE_STORE_MEMORY_H

#include <kinformer/memory.h>

/** Its memory; a few loads. Any thread. */
ki_memory ki__store_memory(const ki_store *store);

#endif

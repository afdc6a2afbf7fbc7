/* SPDX-License-Identifier: Apache-2.0 */
/* Shard selectors: ranges of the hash of an object's uid or namespace. */
#ifndef KI_OBJECT_SELECTOR_SHARD_H
#define KI_OBJECT_SELECTOR_SHARD_H

#include <kinformer/object.h>
#include <kinformer/shard.h>

#include "base/shared.h"

enum { KI__SHARD_RANGES_MAX = 64 };

typedef struct ki__shard_range {
    uint64_t first;
    uint64_t last; /* inclusive, so that 2^64 need not be represented */
} ki__shard_range;

typedef struct ki__shard {
    bool by_namespace; /* otherwise by uid */
    size_t count;
    ki__shard_range ranges[KI__SHARD_RANGES_MAX];
} ki__shard;

/** Parses a selector; "" is an error.  Errors: KI_ERR_INVALID, named with its position. */
KI__SHARED int ki__shard_parse(const char *text, ki__shard *ret_shard, ki_error *error);

KI__SHARED bool ki__shard_matches(const ki__shard *shard, const ki_object *object);

#endif

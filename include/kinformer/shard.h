/* SPDX-License-Identifier: Apache-2.0 */
/* Shards: several programs, each of which caches a part of the objects.
 *
 *   char shard[KI_SHARD_TEXT_SIZE];
 *   options.shard_selector = ki_shard(1, 3, shard);      (the second of three)
 *
 * A shard is selected by the hash (64-bit FNV-1a) of the uid or the namespace of objects. Neither
 * changes, so an object stays in its shard. Kubernetes 1.36 and newer can filter on the server
 * (feature gate ShardedListAndWatch, off by default); other servers ignore the selector, and
 * informers drop the objects of other shards when they arrive: that costs their transfer and
 * decoding, and no memory. `outside_shard` of ki_health counts them.
 *
 * Syntax of a selector, as in Kubernetes: one or up to 64 ranges of the same field, joined by ||,
 *   shardRange(object.metadata.uid, '0x0000000000000000', '0x5555555555555555')
 * where the field is object.metadata.uid or object.metadata.namespace, the first bound is included,
 * the second is not, and '0x10000000000000000' as the second is the end. */
#ifndef KINFORMER_SHARD_H
#define KINFORMER_SHARD_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

enum { KI_SHARD_TEXT_SIZE = 96 };

/** Writes the selector of shard `index`, from 0, of `count` shards of equal size by uid, to `text`,
 *  and returns `text`. Together, the shards have every object, each in one of them. If `index` is
 *  not less than `count`, the text is not a valid selector, which the functions that use it report.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_shard(uint32_t index, uint32_t count, char text[KI_SHARD_TEXT_SIZE]);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a ki_delta_fifo, each with its deltas: a hash table and a queue of entries. An entry
 * stays in the table while its deltas are being processed, and meanwhile the same key may be queued
 * again. */
#ifndef KI_CACHE_QUEUE_DELTA_TABLE_H
#define KI_CACHE_QUEUE_DELTA_TABLE_H

#include <kinformer/parts/queue.h>

#include "base/hash.h"

/** One delta. Holds a reference to its object; all deltas here have one. */
typedef struct ki__delta_node {
    ki_delta delta;
    struct ki__delta_node *next;
} ki__delta_node;

/** A key: that of its deltas, of which there is at least one. */
typedef struct ki__delta_entry {
    struct ki__delta_entry *next_in_bucket;
    struct ki__delta_entry *next; /* in the queue, among those in flight, or free */
    ki__delta_node *first;        /* the oldest */
    ki__delta_node *last;         /* the newest */
    uint64_t hash;
    size_t count;   /* number of deltas */
    bool in_flight; /* its deltas are being processed */
    bool initial;   /* it belongs to the first list */
} ki__delta_entry;

/** A list of entries. */
typedef struct ki__delta_line {
    ki__delta_entry *first;
    ki__delta_entry *last;
    size_t count;
} ki__delta_line;

typedef struct ki__delta_table {
    const ki_alloc *alloc;
    ki__hash_key hash_key;
    ki__delta_entry **buckets;
    size_t bucket_count; /* 0 or a power of two */
    ki__delta_line queued;
    ki__delta_line in_flight;
    ki__delta_entry *free_entries; /* for reuse, to save allocations */
    ki__delta_node *free_nodes;
    size_t free_entry_count;
    size_t free_node_count;
} ki__delta_table;

/** An empty table. Allocates nothing. */
void ki__delta_table_init(ki__delta_table *table, const ki_alloc *alloc, ki__hash_key hash_key);
/** Frees everything, and releases the objects. */
void ki__delta_table_done(ki__delta_table *table);

/** The entry of a key that is queued, or being processed; NULL if there is none. */
ki__delta_entry *ki__delta_table_find(const ki__delta_table *table, ki_str key, bool in_flight);

/** Reserves space for `count` deltas with any keys. 0 or -ENOMEM. */
int ki__delta_table_reserve(ki__delta_table *table, size_t count);

/** Adds a delta, for which space was reserved, to the entry of its key, or to a new one at the end
 *  of the queue. Takes ownership of its object. */
void ki__delta_table_add(ki__delta_table *table, const ki_delta *delta);

/** Moves the first queued entry to those in flight. */
ki__delta_entry *ki__delta_table_take(ki__delta_table *table);

/** Removes the entries in flight; the caller owns the objects of their deltas. */
void ki__delta_table_drop(ki__delta_table *table);

/** Puts the entries in flight back at the end of the queue; if a key was queued meanwhile, its
 *  deltas are inserted before the newer ones of that entry. Cannot fail. */
void ki__delta_table_put_back(ki__delta_table *table);

/** Frees unused entries beyond what is kept from one burst to the next. */
void ki__delta_table_trim(ki__delta_table *table);

#endif

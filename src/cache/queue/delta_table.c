/* SPDX-License-Identifier: Apache-2.0 */
/* Chained hash table with intrusive links: nothing is hashed twice, and removing an entry needs no
 * lookup. The number of buckets doubles when it equals the number of entries; if out of memory, the
 * chains just get longer. */
#include "cache/queue/delta_table.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "object/object.h"

enum { FIRST_BUCKETS = 16, BUCKETS_KEPT = 1 << 12, SPARE_KEPT = 2 * KI_QUEUE_BATCH };

void ki__delta_table_init(ki__delta_table *table, const ki_alloc *alloc, ki__hash_key hash_key)
{
    *table = (ki__delta_table){.alloc = alloc, .hash_key = hash_key};
}

static void free_line(ki__delta_table *table, ki__delta_line *line)
{
    while (line->first != NULL) {
        ki__delta_entry *entry = line->first;
        line->first = entry->next;
        while (entry->first != NULL) {
            ki__delta_node *node = entry->first;
            entry->first = node->next;
            (void)ki_object_unref(node->delta.object);
            ki__free(table->alloc, node);
        }
        ki__free(table->alloc, entry);
    }
}

static void free_spare(ki__delta_table *table, size_t keep)
{
    while (table->free_entry_count > keep) {
        ki__delta_entry *entry = table->free_entries;
        table->free_entries = entry->next;
        table->free_entry_count--;
        ki__free(table->alloc, entry);
    }
    while (table->free_node_count > keep) {
        ki__delta_node *node = table->free_nodes;
        table->free_nodes = node->next;
        table->free_node_count--;
        ki__free(table->alloc, node);
    }
}

void ki__delta_table_done(ki__delta_table *table)
{
    free_line(table, &table->queued);
    free_line(table, &table->in_flight);
    free_spare(table, 0);
    ki__free(table->alloc, table->buckets);
    table->buckets = NULL;
}

/* Lines */

static void line_add(ki__delta_line *line, ki__delta_entry *entry)
{
    entry->next = NULL;
    if (line->last != NULL) {
        line->last->next = entry;
    } else {
        line->first = entry;
    }
    line->last = entry;
    line->count++;
}

static ki__delta_entry *line_take(ki__delta_line *line)
{
    ki__delta_entry *entry = line->first;
    line->first = entry->next;
    if (line->first == NULL) {
        line->last = NULL;
    }
    line->count--;
    return entry;
}

/* Buckets */

static ki__delta_entry **bucket_of(const ki__delta_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static void rehash_line(const ki__delta_table *table, const ki__delta_line *line)
{
    for (ki__delta_entry *entry = line->first; entry != NULL; entry = entry->next) {
        ki__delta_entry **bucket = bucket_of(table, entry->hash);
        entry->next_in_bucket = *bucket;
        *bucket = entry;
    }
}

/* Resizes the buckets for `count` entries. */
static int grow(ki__delta_table *table, size_t count)
{
    size_t wanted = table->bucket_count != 0 ? table->bucket_count : FIRST_BUCKETS;
    while (wanted < count && wanted <= SIZE_MAX / 2 / sizeof(*table->buckets)) {
        wanted *= 2;
    }
    if (wanted == table->bucket_count) {
        return 0;
    }
    ki__delta_entry **buckets = ki__alloc_array(table->alloc, wanted, sizeof(*buckets));
    if (buckets == NULL) {
        return table->bucket_count != 0 ? 0 : -ENOMEM;
    }
    memset(buckets, 0, wanted * sizeof(*buckets));
    ki__free(table->alloc, table->buckets);
    table->buckets = buckets;
    table->bucket_count = wanted;
    rehash_line(table, &table->in_flight);
    rehash_line(table, &table->queued);
    return 0;
}

static ki_str key_of(const ki__delta_entry *entry)
{
    return ki__object_key(entry->last->delta.object);
}

static ki__delta_entry *find(const ki__delta_table *table, uint64_t hash, ki_str key,
                             bool in_flight)
{
    if (table->bucket_count == 0) {
        return NULL;
    }
    ki__delta_entry *entry = *bucket_of(table, hash);
    while (entry != NULL && !(entry->hash == hash && entry->in_flight == in_flight &&
                              ki_str_eq(key_of(entry), key))) {
        entry = entry->next_in_bucket;
    }
    return entry;
}

ki__delta_entry *ki__delta_table_find(const ki__delta_table *table, ki_str key, bool in_flight)
{
    const ki__delta_line *line = in_flight ? &table->in_flight : &table->queued;
    return line->count != 0 ? find(table, ki__hash_str(table->hash_key, key), key, in_flight)
                            : NULL;
}

static void unlink_from_bucket(ki__delta_table *table, ki__delta_entry *entry)
{
    ki__delta_entry **link = bucket_of(table, entry->hash);
    while (*link != entry) {
        link = &(*link)->next_in_bucket;
    }
    *link = entry->next_in_bucket;
}

/* Free lists */

static void spare_node(ki__delta_table *table, ki__delta_node *node)
{
    node->next = table->free_nodes;
    table->free_nodes = node;
    table->free_node_count++;
}

static void spare_entry(ki__delta_table *table, ki__delta_entry *entry)
{
    entry->next = table->free_entries;
    table->free_entries = entry;
    table->free_entry_count++;
}

int ki__delta_table_reserve(ki__delta_table *table, size_t count)
{
    while (table->free_node_count < count) {
        ki__delta_node *node = ki__alloc(table->alloc, sizeof(*node));
        if (node == NULL) {
            return -ENOMEM;
        }
        spare_node(table, node);
    }
    while (table->free_entry_count < count) {
        ki__delta_entry *entry = ki__alloc(table->alloc, sizeof(*entry));
        if (entry == NULL) {
            return -ENOMEM;
        }
        spare_entry(table, entry);
    }
    return grow(table, table->queued.count + table->in_flight.count + count);
}

void ki__delta_table_trim(ki__delta_table *table)
{
    free_spare(table, SPARE_KEPT);
    bool is_empty = table->queued.count == 0 && table->in_flight.count == 0;
    if (is_empty && table->bucket_count > BUCKETS_KEPT) {
        ki__free(table->alloc, table->buckets);
        table->buckets = NULL;
        table->bucket_count = 0;
    }
}

/* Deltas */

static ki__delta_entry *new_entry(ki__delta_table *table, uint64_t hash)
{
    ki__delta_entry *entry = table->free_entries;
    table->free_entries = entry->next;
    table->free_entry_count--;
    *entry = (ki__delta_entry){.hash = hash};
    ki__delta_entry **bucket = bucket_of(table, hash);
    entry->next_in_bucket = *bucket;
    *bucket = entry;
    line_add(&table->queued, entry);
    return entry;
}

void ki__delta_table_add(ki__delta_table *table, const ki_delta *delta)
{
    ki_str key = ki__object_key(delta->object);
    uint64_t hash = ki__hash_str(table->hash_key, key);
    ki__delta_entry *entry = find(table, hash, key, false);
    if (entry == NULL) {
        entry = new_entry(table, hash);
    }
    ki__delta_node *node = table->free_nodes;
    table->free_nodes = node->next;
    table->free_node_count--;
    *node = (ki__delta_node){.delta = *delta};
    if (entry->last != NULL) {
        entry->last->next = node;
    } else {
        entry->first = node;
    }
    entry->last = node;
    entry->count++;
}

ki__delta_entry *ki__delta_table_take(ki__delta_table *table)
{
    ki__delta_entry *entry = line_take(&table->queued);
    entry->in_flight = true;
    line_add(&table->in_flight, entry);
    return entry;
}

void ki__delta_table_drop(ki__delta_table *table)
{
    while (table->in_flight.first != NULL) {
        ki__delta_entry *entry = line_take(&table->in_flight);
        unlink_from_bucket(table, entry);
        while (entry->first != NULL) {
            ki__delta_node *node = entry->first;
            entry->first = node->next;
            spare_node(table, node);
        }
        spare_entry(table, entry);
    }
}

void ki__delta_table_put_back(ki__delta_table *table)
{
    while (table->in_flight.first != NULL) {
        ki__delta_entry *entry = line_take(&table->in_flight);
        ki__delta_entry *newer = find(table, entry->hash, key_of(entry), false);
        if (newer == NULL) {
            entry->in_flight = false;
            line_add(&table->queued, entry);
            continue;
        }
        entry->last->next = newer->first;
        newer->first = entry->first;
        newer->count += entry->count;
        newer->initial = newer->initial || entry->initial;
        unlink_from_bucket(table, entry);
        spare_entry(table, entry);
    }
}

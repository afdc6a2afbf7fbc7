/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the objects of an incomplete list, in order of arrival. */
#ifndef KI_WIRE_LIST_COLLECTOR_H
#define KI_WIRE_LIST_COLLECTOR_H

#include <stdbool.h>

#include <kinformer/object.h>

#include "base/map.h"

typedef struct ki__collect {
    const ki_alloc *alloc;
    const ki_object **objects; /* references; NULL if removed */
    size_t count;              /* including gaps */
    size_t gaps;               /* never many more than there are objects */
    size_t cap;
    size_t max;
    size_t bytes;    /* set by the user: memory of the objects that only the collection holds, */
    size_t replaced; /* and number of entries replaced or removed since it was counted */
    bool by_key;     /* filled by ki__collect_add() */
    bool indexed;    /* `places` has all objects */
    ki__map places;  /* key to position in `objects`, from 1 */
    ki_str *unread;  /* unique keys of undecodable objects; each separately allocated */
    size_t unread_count;
    size_t unread_cap;
    ki__map unread_places; /* likewise for `unread` */
} ki__collect;

/** An empty collection of up to `max` objects (0: 2^30). Allocates nothing. */
void ki__collect_init(ki__collect *collect, const ki_alloc *alloc, ki__hash_key key, size_t max);

/** Removes everything and frees all memory. The collection may be reused. */
void ki__collect_clear(ki__collect *collect);

/** Appends an object, even if there is one with its key. A collection is filled either by this or
 *  by the functions below, not both.
 *  Errors: KI_ERR_LIMIT, -ENOMEM; nothing changes then. */
int ki__collect_append(ki__collect *collect, const ki_object *object);

/** Adds an object whose key is new. Keys are compared only after something else was put, removed or
 *  unread: most streams need no map, which takes a tenth of the memory of small objects. Errors as
 *  above. */
int ki__collect_add(ki__collect *collect, const ki_object *object);
/** Adds an object, replacing the one with its key, decodable or not. Errors as above. */
int ki__collect_put(ki__collect *collect, const ki_object *object);
/** Removes the object with this key, decodable or not. Errors as above. */
int ki__collect_remove(ki__collect *collect, const char *key);

/** Records the key of an undecodable object; "" is ignored. Errors as above. */
int ki__collect_add_unread(ki__collect *collect, const char *key);

/** Compacts the array: `objects` then has `count` entries, none NULL. */
void ki__collect_pack(ki__collect *collect);

#endif

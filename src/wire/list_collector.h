/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a list that is still coming: kept in the order of arrival until it is complete. */
#ifndef KI_WIRE_LIST_COLLECTOR_H
#define KI_WIRE_LIST_COLLECTOR_H

#include <kinformer/object.h>

#include "base/map.h"

typedef struct ki__collect {
    const ki_alloc *alloc;
    const ki_object **objects; /* references; NULL where one was taken out again */
    size_t count;              /* with the gaps */
    size_t gaps;               /* never many more than there are objects */
    size_t cap;
    size_t max;
    ki__map places; /* key to place in `objects`, counted from 1; only of what came by put */
    ki_str *unread; /* keys of objects that could not be read; each a block of its own, and once */
    size_t unread_count;
    size_t unread_cap;
    ki__map unread_places; /* the same for them */
} ki__collect;

/** An empty collection of up to `max` objects (0: 2^30). Allocates nothing. */
void ki__collect_init(ki__collect *collect, const ki_alloc *alloc, ki__hash_key key, size_t max);

/** Forgets everything and frees what it took. It may be used again. */
void ki__collect_clear(ki__collect *collect);

/** Adds an object at the end. A collection is filled by this or by the two below it, not by both.
 *  Errors: KI_ERR_LIMIT, -ENOMEM; then nothing has changed. */
int ki__collect_append(ki__collect *collect, const ki_object *object);

/** Adds an object, in the place of the one with its key if there is one, read or not. As above. */
int ki__collect_put(ki__collect *collect, const ki_object *object);
/** Takes out what has this key, or was not read under it. */
void ki__collect_remove(ki__collect *collect, const char *key);

/** Notes that there is an object of this key, which could not be read; "" is not kept. As above. */
int ki__collect_add_unread(ki__collect *collect, const char *key);

/** Closes the gaps: now `objects` has `count` of them, none NULL. */
void ki__collect_pack(ki__collect *collect);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator: a table of functions. The library keeps pointers to it: the table must outlive
 * everything that was created with it. Wherever an allocator is an argument or option, NULL means
 * ki_alloc_default(). */
#ifndef KINFORMER_ALLOC_H
#define KINFORMER_ALLOC_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_alloc {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Returns `size` bytes aligned for any type, or NULL. `size` is never 0. */
    void *(*alloc)(size_t size, void *user);
    /** Grows or shrinks `block` (never NULL) to `size` (never 0). If it returns NULL, `block` is
     *  unchanged. */
    void *(*realloc)(void *block, size_t size, void *user);
    /** Frees `block`, which is never NULL. May be called on any thread. */
    void (*free)(void *block, void *user);
    void *user;
    /** Returns unused memory to the system. Called on the client's thread, one second after a
     *  list that freed 1 MiB or more between blocks that remain, as transformed lists do; never for
     *  single events. May be NULL. */
    void (*trim)(void *user);
} ki_alloc;

/** Returns the default allocator: malloc, realloc and free of the C library. With glibc, `trim` is
 *  malloc_trim(), which scans the whole heap of the process; to avoid that, copy the table without
 *  `trim`.
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_alloc *ki_alloc_default(void);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator table. Whatever takes one keeps the pointer: the table must outlive everything that
 * was made with it. NULL, wherever a table may be given, means ki_alloc_default(). */
#ifndef KINFORMER_ALLOC_H
#define KINFORMER_ALLOC_H

#include <kinformer/defs.h>

KI_BEGIN_DECLS

typedef struct ki_alloc {
    /** `size` bytes aligned for any type, or NULL. `size` is never 0. */
    void *(*alloc)(size_t size, void *user);
    /** Grows or shrinks `block` (never NULL) to `size` (never 0); NULL leaves `block` as it was. */
    void *(*realloc)(void *block, size_t size, void *user);
    /** Frees `block`, which is never NULL. May be called on any thread. */
    void (*free)(void *block, void *user);
    void *user;
    /** Gives memory that is not in use back to the system. Called on the thread that runs the
     *  engine, a second after a list that freed 1 MiB or more between blocks that stay, as lists do
     *  that are transformed; never for single events. May be NULL. */
    void (*trim)(void *user);
} ki_alloc;

/** The C library's malloc, realloc and free; with glibc, `trim` is malloc_trim(), which looks
 *  through all of the process' heap. A program that does not want that copies the table without it.
 *  Owner: static.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const ki_alloc *ki_alloc_default(void);

KI_END_DECLS

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A source that the program fills itself: it puts objects in and takes them out, and any number of
 * reflectors and informers list and watch them. It does what a source of one's own has to do
 * otherwise: answering inside ki_engine_run(), calls that are cancelled or paused at any moment,
 * watches that resume without missing a change. Its functions may be called on any thread. */
#ifndef KINFORMER_PARTS_LOCAL_SOURCE_H
#define KINFORMER_PARTS_LOCAL_SOURCE_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/object.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/source.h>

KI_BEGIN_DECLS

typedef struct ki_local_source ki_local_source;

typedef struct ki_local_source_options {
    size_t size;        /* see KI_OPTIONS_INIT */
    ki_engine *engine;  /* required; kept by reference */
    const char *url;    /* of the objects, for logs; NULL: unknown; copied */
    size_t max_objects; /* 0: 2^20 */
    size_t history;     /* changes that are kept for watches; 0: 1024. A watch that falls further
                           behind ends with a 410, and its reflector lists again */
} ki_local_source_options;

/** A source without objects.
 *  Owner:  release with ki_local_source_unref().  Blocks: no.
 *  Errors: -EINVAL  no engine;  -ENOMEM, -E2BIG, or what making a lock gave.  Since: 0.1 */
KI_API KI_NODISCARD int ki_local_source_new(const ki_local_source_options *options,
                                            ki_local_source **ret_source, ki_error *error);

/** References. ki_local_source_unref() always returns NULL; NULL is fine for both.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_local_source *ki_local_source_ref(ki_local_source *source);
KI_API ki_local_source *ki_local_source_unref(ki_local_source *source);

/** The table for one reflector or informer; may be called again for another. Selectors are not
 *  supported: a list or watch with one fails with KI_ERR_UNSUPPORTED.
 *  Owner: the table holds a reference, which its `destroy` gives back.  Blocks: no.  Since: 0.1 */
KI_API ki_source ki_local_source_table(ki_local_source *source);

/** Adds an object, or replaces the one with its key. The object needs a resource version that is a
 *  decimal number; from the first list on it must be greater than that of every change before.
 *  Owner:  the source takes a reference.  Blocks: no.
 *  Errors: KI_ERR_KEY  it has no name;  KI_ERR_INVALID  the resource version is not a number;
 *          KI_ERR_STALE  it is not greater;  KI_ERR_LIMIT  too many objects;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_local_source_put(ki_local_source *source, const ki_object *object,
                                            ki_error *error);

/** Removes the object with the key of `object`, which is its final state, with the resource version
 *  of the removal.
 *  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND;  as ki_local_source_put().  Since: 0.1 */
KI_API KI_NODISCARD int ki_local_source_remove(ki_local_source *source, const ki_object *object,
                                               ki_error *error);

/** Ends every list and watch with this error, and fails new ones, until it is called with NULL:
 *  where the objects come from cannot be reached, say. What a reflector makes of the code stands in
 *  source.h. Objects may be put and removed meanwhile.
 *  Blocks: no.  Errors: -EINVAL  error->code is not negative.  Since: 0.1 */
KI_API int ki_local_source_fail(ki_local_source *source, const ki_error *error);

KI_END_DECLS

#endif

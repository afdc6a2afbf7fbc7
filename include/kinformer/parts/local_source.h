/* SPDX-License-Identifier: Apache-2.0 */
/* A source that serves objects from memory: the program adds and removes objects, and any number of
 * reflectors and informers list and watch them. It handles what a custom source must implement
 * itself: responding inside ki_engine_run(), calls that are cancelled or paused at any time, and
 * watches that resume without missing a change. All functions may be called on any thread. */
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
    const char *url;    /* URL of the objects, for logs; NULL: unknown; copied */
    size_t max_objects; /* 0: 2^20 */
    size_t history;     /* number of changes kept for watches; 0: 1024. A watch that falls further
                           behind ends with 410, and its reflector relists */
} ki_local_source_options;

/** Creates a source without objects.
 *  Owner:  caller; release with ki_local_source_unref().  Blocks: no.
 *  Errors: -EINVAL  `engine` is missing;  -ENOMEM, -E2BIG, or the error of creating a lock.
 *  Since: 0.1 */
KI_API KI_NODISCARD int ki_local_source_new(const ki_local_source_options *options,
                                            ki_local_source **ret_source, ki_error *error);

/** Takes and releases references. ki_local_source_unref() always returns NULL; both accept NULL.
 *  Blocks: no.  Since: 0.1 */
KI_API ki_local_source *ki_local_source_ref(ki_local_source *source);
KI_API ki_local_source *ki_local_source_unref(ki_local_source *source);

/** Returns the source table for one reflector or informer; call it again for each further one.
 *  Selectors are not supported: a list or watch with a selector fails with KI_ERR_UNSUPPORTED.
 *  Owner: the table holds a reference, which its `destroy` releases.  Blocks: no.  Since: 0.1 */
KI_API int ki_local_source_table(ki_local_source *source, ki_source *ret_source);

/** Adds an object, or replaces the object with the same key. The object must have a resourceVersion
 *  that is a decimal number; after the first list, it must be greater than that of every earlier
 *  change.
 *  Owner:  the source takes a reference.  Blocks: no.
 *  Errors: KI_ERR_KEY  the object has no name;  KI_ERR_INVALID  resourceVersion is not a number;
 *          KI_ERR_STALE  it is not greater;  KI_ERR_LIMIT  too many objects;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_local_source_put(ki_local_source *source, const ki_object *object,
                                            ki_error *error);

/** Removes the object with the key of `object`. `object` is its final state, with the
 *  resourceVersion of the removal.
 *  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND;  as ki_local_source_put().  Since: 0.1 */
KI_API KI_NODISCARD int ki_local_source_remove(ki_local_source *source, const ki_object *object,
                                               ki_error *error);

/** Fails every open and new list and watch with this error until called with NULL, for example
 *  while the origin of the objects is unreachable. source.h describes how a reflector handles each
 *  code. Objects may be added and removed meanwhile.
 *  Blocks: no.  Errors: -EINVAL  error->code is not negative.  Since: 0.1 */
KI_API int ki_local_source_fail(ki_local_source *source, const ki_error *error);

KI_AUTO_DEFINE(ki_local_source, ki_local_source_unref)

KI_END_DECLS

#endif

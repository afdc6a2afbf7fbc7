/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the program's transform function. */
#ifndef KI_CACHE_QUEUE_TRANSFORM_H
#define KI_CACHE_QUEUE_TRANSFORM_H

#include <kinformer/error.h>
#include <kinformer/object.h>

typedef int (*ki__transform_function)(const ki_object *object, ki_object **ret_object, void *user);

/** Returns the transformed object as a reference.
 *  Errors: those of `transform`;  KI_ERR_INVALID  it returned nothing;  KI_ERR_KEY  it changed the
 *  key. */
int ki__transform(ki__transform_function transform, void *user, const ki_object *object,
                  ki_object **ret_object, ki_error *error);

#endif

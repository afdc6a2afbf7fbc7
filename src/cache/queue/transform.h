/* SPDX-License-Identifier: Apache-2.0 */
/* Calling the program's transform function. */
#ifndef KI_CACHE_QUEUE_TRANSFORM_H
#define KI_CACHE_QUEUE_TRANSFORM_H

#include <kinformer/error.h>
#include <kinformer/object.h>

typedef int (*ki__transform_function)(const ki_object *object, ki_object **ret_object, void *user);

/** What `transform` makes of an object, as a reference.
 *  Errors: what it returned;  KI_ERR_INVALID  it gave nothing;  KI_ERR_KEY  the key is another. */
int ki__transform(ki__transform_function transform, void *user, const ki_object *object,
                  ki_object **ret_object, ki_error *error);

#endif

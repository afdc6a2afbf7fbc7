/* SPDX-License-Identifier: Apache-2.0 */
/* The annotation in which kubectl's client-side apply stores the last applied object. */
#ifndef KI_APISERVER_PATCH_LAST_APPLIED_H
#define KI_APISERVER_PATCH_LAST_APPLIED_H

#include <kinformer/object.h>

/** Decodes the object in the annotation; NULL if it is missing or undecodable. 0 or -ENOMEM. */
int ki__last_applied_read(const ki_object *object, const ki_alloc *alloc, ki_object **ret_last);

/** Stores `config` in the annotation of *object if the annotation exists; *object is replaced then.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__last_applied_write(const ki_object *config, const ki_alloc *alloc, ki_object **object);

#endif

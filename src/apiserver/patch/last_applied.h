/* SPDX-License-Identifier: Apache-2.0 */
/* The annotation in which kubectl keeps what it applied, when it merges objects itself. */
#ifndef KI_APISERVER_PATCH_LAST_APPLIED_H
#define KI_APISERVER_PATCH_LAST_APPLIED_H

#include <kinformer/object.h>

/** The object in the annotation of another; NULL if there is none that can be read. 0 or -ENOMEM.
 */
int ki__last_applied_read(const ki_object *object, const ki_alloc *alloc, ki_object **ret_last);

/** Puts `config` into the annotation of *object, if it has one: *object is another one then.
 *  Errors: KI_ERR_LIMIT, -ENOMEM. */
int ki__last_applied_write(const ki_object *config, const ki_alloc *alloc, ki_object **object);

#endif

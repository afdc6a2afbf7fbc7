/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces, if enabled in the model: objects require an existing namespace, and deleting a
 * namespace deletes its objects. */
#ifndef KI_APISERVER_VERBS_NAMESPACES_H
#define KI_APISERVER_VERBS_NAMESPACES_H

#include "apiserver/api_failure.h"
#include "apiserver/model.h"

/** Creates the initial namespaces of every cluster, unless there are any. 0 or -ENOMEM. */
int ki__api_namespaces_create(ki__api_model *model);

/** Sets the failure if an object of this type must not be created in a namespace. 0 or -ENOMEM. */
int ki__api_namespaces_check(ki__api_model *model, const ki__api_type *type, const char *name,
                             const char *name_space, ki__api_failure *failure);

/** Whether objects of this type must be emptied before they are deleted. */
bool ki__api_namespaces_is_namespace(const ki__api_model *model, const ki__api_type *type);

/** Continues the deletion of a namespace that is being deleted: deletes its objects, and the
 *  namespace itself once it is empty and has no finalizers. No effect otherwise. 0 or -ENOMEM;
 *  another call continues. */
int ki__api_namespaces_sweep(ki__api_model *model, const char *name_space);

#endif
